//! Which boundary values, transitions and pairs of values the runs tried, of a model with data.

use std::fmt::Write as _;

use iolite::ValuesTried;

use crate::html::escape;
use crate::page;

/// Rows of a list.
const MOST_LISTED: usize = 500;

/// The section, where there are data.
pub(crate) fn write(out: &mut String, values: Option<&ValuesTried>, picture: Option<&str>) {
    let Some(ValuesTried {
        coverage: values,
        steps,
        ..
    }) = values
    else {
        return;
    };
    let (tried, sides) = values.boundaries();
    let (taken, transitions) = values.transitions();
    let _ = write!(
        out,
        "<section aria-labelledby=\"values\"><h2 id=\"values\">Values</h2>\
         <p>A comparison in a guard changes between two neighbouring values: the sides of its boundary. Looked for in {steps} steps.</p>\
         <dl class=\"facts\"><dt>sides of boundaries tried</dt><dd>{tried} of {sides}</dd>\
         <dt>transitions of the model taken</dt><dd>{taken} of {transitions}</dd>"
    );
    for (input, tried, of) in values.pairs() {
        let _ = write!(
            out,
            "<dt>pairs of values of ?{}</dt><dd>{tried} of {of} candidates together</dd>",
            escape(input)
        );
    }
    out.push_str("</dl>");
    if let Some(picture) = picture {
        page::painted_picture(out, picture);
    }
    if sides > 0 {
        out.push_str(
            "<div class=\"scroll\"><table><thead><tr><th>side of a boundary</th><th>tried</th></tr></thead><tbody>",
        );
        for (text, tried) in values.sides().take(MOST_LISTED) {
            let (class, word) = if tried {
                ("v-pass", "yes")
            } else {
                ("v-unknown", "no")
            };
            let _ = write!(
                out,
                "<tr><td class=\"mono\">{}</td><td><span class=\"verdict {class}\">{word}</span></td></tr>",
                escape(text)
            );
        }
        out.push_str("</tbody></table></div>");
        more(out, sides);
    }
    if taken < transitions {
        out.push_str("<h3>Transitions that no run took</h3><ul class=\"plain mono\">");
        for text in values.untaken_transitions().take(MOST_LISTED) {
            let _ = write!(out, "<li>{}</li>", escape(text));
        }
        out.push_str("</ul>");
        more(out, transitions - taken);
    }
    out.push_str("</section>\n");
}

fn more(out: &mut String, all: usize) {
    if all > MOST_LISTED {
        let _ = write!(
            out,
            "<p class=\"soft\">… and {} more</p>",
            all - MOST_LISTED
        );
    }
}

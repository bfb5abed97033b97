//! Runs that `iolite shrink` made shorter, beside the runs that they come from.

use std::fmt::Write as _;

use iolite_exec::{Certificate, Event};
use serde::Deserialize;

use crate::html::escape;

/// What `iolite shrink --json` prints, as far as the page shows it.
#[derive(Clone, Debug, Deserialize)]
pub struct ShrunkRun {
    /// The run that it comes from.
    pub run: u64,
    from_steps: usize,
    to_steps: Option<usize>,
    minimal: bool,
    reproduced: u32,
    confirmations: u32,
    certificate: Option<Certificate>,
}

impl ShrunkRun {
    /// How often the shorter run failed as the longer one had, in words.
    fn reproduced(&self) -> String {
        match self.to_steps {
            None => "the failure did not come again".to_owned(),
            Some(_) => format!("{} of {} times", self.reproduced, self.confirmations),
        }
    }
}

/// The actions of a run, numbered from 1.
fn steps<'a>(actions: impl Iterator<Item = &'a str>) -> String {
    let items = actions.map(|action| format!("<li>{}</li>", escape(action)));
    format!("<ol class=\"mono\">{}</ol>", items.collect::<String>())
}

/// Steps of the original that are shown beside the shorter run.
const MOST_STEPS: usize = 200;

fn original(events: &[Event], number: u64) -> String {
    let actions = events.iter().filter_map(|event| match event {
        Event::Stimulus { run, action, .. } | Event::Output { run, action, .. }
            if *run == number =>
        {
            Some(action.as_str())
        }
        Event::Quiescence { run, .. } if *run == number => Some("δ"),
        _ => None,
    });
    let count = actions.clone().count();
    // The end is what failed.
    let text = steps(actions.skip(count.saturating_sub(MOST_STEPS)));
    match count.checked_sub(MOST_STEPS) {
        Some(left @ 1..) => format!("<p>… after {left} steps</p>{text}"),
        _ => text,
    }
}

/// Both runs side by side.
pub(crate) fn write(out: &mut String, shrunk: &[ShrunkRun], events: &[Event]) {
    if shrunk.is_empty() {
        return;
    }
    out.push_str(
        "<section aria-labelledby=\"shrunk\"><h2 id=\"shrunk\">Shortened runs</h2><div class=\"scroll\"><table><thead><tr>\
         <th>run</th><th>as it was</th><th>shortened</th><th>reproduced</th></tr></thead><tbody>",
    );
    for one in shrunk {
        let short = one
            .certificate
            .as_ref()
            .map_or(String::new(), |certificate| {
                let trace = certificate.trace.iter().chain(&certificate.observed);
                let minimal = if one.minimal {
                    ", none of which can be left out"
                } else {
                    ""
                };
                format!(
                    "<p>{} steps{minimal}</p>{}<p>allowed: <span class=\"mono\">{}</span></p>",
                    one.to_steps.unwrap_or_default(),
                    steps(trace.map(String::as_str)),
                    escape(&certificate.allowed.join("   "))
                )
            });
        let _ = write!(
            out,
            "<tr><td><a href=\"#run-{0}\">{0}</a></td><td><p>{1} steps</p>{2}</td><td>{short}</td><td>{3}</td></tr>",
            one.run,
            one.from_steps,
            original(events, one.run),
            escape(&one.reproduced())
        );
    }
    out.push_str("</tbody></table></div></section>\n");
}

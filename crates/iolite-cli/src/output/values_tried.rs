//! Which boundaries, transitions and pairs of values a campaign tried.

use iolite::ValueCoverage;
use serde::Serialize;

/// Untried items that are printed.
const MOST_SHOWN: usize = 20;

#[derive(Serialize)]
struct TriedDocument<'a> {
    tried: usize,
    of: usize,
    untried: Vec<&'a str>,
}

#[derive(Serialize)]
struct PairsDocument<'a> {
    input: String,
    tried: usize,
    of: usize,
    #[serde(skip)]
    name: &'a str,
}

/// `values` of the JSON document.
#[derive(Serialize)]
pub(super) struct ValuesDocument<'a> {
    /// Sides of comparisons in guards.
    boundaries: TriedDocument<'a>,
    /// Transitions of the model that can be seen.
    transitions: TriedDocument<'a>,
    /// Pairs of candidate values of two parameters of an input.
    pairs: Vec<PairsDocument<'a>>,
}

impl<'a> ValuesDocument<'a> {
    pub(super) fn new(values: &'a ValueCoverage) -> Self {
        let (tried, of) = values.boundaries();
        let (taken, transitions) = values.transitions();
        Self {
            boundaries: TriedDocument {
                tried,
                of,
                untried: values.untried_boundaries().collect(),
            },
            transitions: TriedDocument {
                tried: taken,
                of: transitions,
                untried: values.untaken_transitions().collect(),
            },
            pairs: values
                .pairs()
                .map(|(name, tried, of)| PairsDocument {
                    input: format!("?{name}"),
                    tried,
                    of,
                    name,
                })
                .collect(),
        }
    }
}

/// The same in words.
pub(super) fn tell(values: &ValueCoverage) -> String {
    let document = ValuesDocument::new(values);
    let mut text = String::new();
    let parts = [
        ("boundaries", "sides of comparisons", &document.boundaries),
        (
            "transitions",
            "transitions of the model",
            &document.transitions,
        ),
    ];
    for (name, what, part) in parts {
        text += &format!("{name}: {} of {} {what} tried\n", part.tried, part.of);
        for untried in part.untried.iter().take(MOST_SHOWN) {
            text += &format!("  not tried: {untried}\n");
        }
        if part.untried.len() > MOST_SHOWN {
            let more = part.untried.len() - MOST_SHOWN;
            text += &format!("  … and {more} more\n");
        }
    }
    for pairs in &document.pairs {
        text += &format!(
            "pairs: {} of {} pairs of candidate values tried together in ?{}\n",
            pairs.tried, pairs.of, pairs.name
        );
    }
    text
}

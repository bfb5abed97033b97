//! Properties as JSON.
//!
//! ```json
//! {
//!   "name": "P", "alphabet": ["?a", "!x"], "initial": "1",
//!   "states": [{ "name": "1", "part": "currently-good", "accepts_finite": true }],
//!   "transitions": [{ "source": "1", "action": "?a", "target": "1" }],
//!   "pairs": [{ "recurrent": ["1"], "persistent": [] }],
//!   "finite_by_pairs": true
//! }
//! ```
//!
//! `part` is the state's part of the partition [PROP12, def. 12]: `good`, `currently-good`,
//! `currently-bad`, `bad`.

use iolite_property::{Partition, Quality, StreettAutomaton};
use serde::Serialize;

use super::state_names;

/// A property as one JSON document, with a line break at its end.
pub fn write(automaton: &StreettAutomaton, name: &str) -> String {
    let text = serde_json::to_string_pretty(&document(automaton, name));
    text.expect("strings and truth values only") + "\n"
}

/// The word for a part, in JSON.
pub fn part_name(quality: Quality) -> &'static str {
    match quality {
        Quality::Good => "good",
        Quality::CurrentlyGood => "currently-good",
        Quality::CurrentlyBad => "currently-bad",
        Quality::Bad => "bad",
    }
}

/// The document, for whoever puts it into a larger one.
#[derive(Clone, Debug, Serialize)]
pub struct AutomatonDocument {
    name: String,
    alphabet: Vec<String>,
    initial: String,
    states: Vec<StateDocument>,
    transitions: Vec<TransitionDocument>,
    pairs: Vec<PairDocument>,
    /// Whether finite sequences are accepted as the pairs say (definition 3).
    finite_by_pairs: bool,
}

#[derive(Clone, Debug, Serialize)]
struct StateDocument {
    name: String,
    part: &'static str,
    accepts_finite: bool,
}

#[derive(Clone, Debug, Serialize)]
struct TransitionDocument {
    source: String,
    action: String,
    target: String,
}

#[derive(Clone, Debug, Serialize)]
struct PairDocument {
    recurrent: Vec<String>,
    persistent: Vec<String>,
}

/// The document of a property.
pub fn document(automaton: &StreettAutomaton, name: &str) -> AutomatonDocument {
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let partition = Partition::new(automaton);
    AutomatonDocument {
        name: name.to_owned(),
        alphabet: sigma.iter().map(|l| sigma.text(l)).collect(),
        initial: automaton.name(s.initial()),
        states: s
            .states()
            .map(|q| StateDocument {
                name: automaton.name(q),
                part: part_name(partition.quality(q)),
                accepts_finite: automaton.finite().contains(q),
            })
            .collect(),
        transitions: s
            .states()
            .flat_map(|q| sigma.iter().map(move |l| (q, l)))
            .map(|(q, l)| TransitionDocument {
                source: automaton.name(q),
                action: sigma.text(l),
                target: automaton.name(s.step(q, l)),
            })
            .collect(),
        pairs: automaton
            .pairs()
            .iter()
            .map(|p| PairDocument {
                recurrent: state_names(automaton, &p.recurrent),
                persistent: state_names(automaton, &p.persistent),
            })
            .collect(),
        finite_by_pairs: automaton.follows_definition_3(),
    }
}

//! What oracles that keep several explanations of one observed trace have in common, whatever lies
//! between tester and system.

use crate::{ActionId, Notice, Oracle};

/// The places in which silence is waited for, of all explanations, each once.
pub(super) fn waiting<O: Oracle>(
    inner: &mut O,
    explanations: impl IntoIterator<Item = O::State>,
) -> Vec<String> {
    let mut names = Vec::new();
    for at in explanations {
        for name in inner.waiting(&at) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The same states after the oracle inside was trimmed with all of them in use; `None` where it still
/// has what it had.
pub(super) fn trimmed<O: Oracle>(
    inner: &mut O,
    mut states: Vec<O::State>,
) -> Option<Vec<O::State>> {
    let before = inner.generation();
    inner.trim_all(&mut states);
    (inner.generation() != before).then_some(states)
}

/// What there is to say at the end of a run. What one explanation says of the constants another may not,
/// so that is kept only where there is one and no doubt.
pub(super) fn conclusions<O: Oracle>(
    inner: &mut O,
    explanations: &[&O::State],
    doubtful: bool,
    crossed: Option<ActionId>,
) -> Vec<Notice> {
    let mut notices: Vec<Notice> = Vec::new();
    let one = explanations.len() == 1 && !doubtful;
    for at in explanations {
        for notice in inner.conclude(at) {
            let told = one || !matches!(notice, Notice::Learnt(_));
            if told && !notices.contains(&notice) {
                notices.push(notice);
            }
        }
    }
    if let Some(input) = crossed {
        let input = inner.alphabet().text(input).to_string();
        notices.push(Notice::Crossed { input });
    }
    notices
}

//! A system in words.

use iolite_lts::{LabelKind, Lts, Quiescence, Suspension, missing_input, nondeterminism};

use crate::QuiescenceFlag;

/// Counts and properties of a system, then its transitions.
pub fn system_text(lts: &Lts, policy: QuiescenceFlag) -> String {
    let mut text = format!(
        "{} states, {} transitions, initial state {}\n",
        lts.state_count(),
        lts.transition_count(),
        lts.name(lts.initial())
    );
    let kinds = [
        ("inputs", LabelKind::Input),
        ("outputs", LabelKind::Output),
        ("actions", LabelKind::Undirected),
    ];
    for (what, kind) in kinds {
        let labels: Vec<String> = lts
            .labels()
            .of_kind(kind)
            .map(|l| lts.labels().text(l))
            .collect();
        if !labels.is_empty() {
            text += &format!("{what}: {}\n", labels.join(" "));
        }
    }
    text += &match nondeterminism(lts) {
        None => "deterministic\n".to_owned(),
        Some(witness) => format!("nondeterministic: {}\n", witness.describe(lts)),
    };
    if lts.labels().inputs().next().is_some() {
        text += &match missing_input(lts) {
            None => "input-enabled\n".to_owned(),
            Some((state, input)) => format!(
                "not input-enabled: state {} does not take {}\n",
                lts.name(state),
                lts.labels().text(input)
            ),
        };
    }
    let view = Suspension::new(lts, policy.policy());
    for state in lts.states() {
        let quiescent = match view.quiescence(state) {
            None => "",
            Some(Quiescence::Deadlock) => "  deadlock",
            Some(Quiescence::OutputLock) => "  output-lock",
            Some(Quiescence::Livelock) => "  livelock",
        };
        text += &format!("\n{}{quiescent}\n", lts.name(state));
        for &(label, target) in lts.steps(state) {
            text += &format!("  {} -> {}\n", lts.labels().text(label), lts.name(target));
        }
    }
    text
}

//! δ written out in a foreign file.
//!
//! Some tools draw quiescence as self-loops. In the kernel δ is computed, not stored, so the loops
//! are checked against what the state can do and then left out. A suspension automaton that was
//! determinised has δ-steps between different states: it is another kind of thing, and whoever
//! reads one says so with [`DeltaPolicy::Keep`].

use iolite_lang::{Diagnostic, Span, codes};
use iolite_lts::{LabelKind, Lts, QuiescencePolicy, StateId, Suspension};

/// What a reader does with the δ-transitions of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeltaPolicy {
    /// Each one must be a self-loop of a quiescent state, and is then left out.
    #[default]
    Check,
    /// They are transitions like any other, labelled with the kernel's δ.
    Keep,
}

/// A δ-transition of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeltaStep {
    pub(crate) source: StateId,
    pub(crate) target: StateId,
    pub(crate) span: Span,
}

/// How many findings of one kind are reported before the rest is summed up.
const REPORTED: usize = 20;

/// Checks δ-transitions that were left out of `lts`.
pub(crate) fn check(lts: &Lts, deltas: &[DeltaStep], found: &mut Vec<Diagnostic>) {
    if deltas.is_empty() {
        return;
    }
    let view = Suspension::new(lts, QuiescencePolicy::Livelock);
    let quiescent: Vec<bool> = lts.states().map(|s| view.quiescence(s).is_some()).collect();
    let mut looped = vec![false; lts.state_count()];
    let mut wrong = Vec::new();
    for step in deltas {
        looped[step.source.index()] = true;
        if step.source != step.target {
            wrong.push(
                Diagnostic::error(
                    codes::DELTA_NOT_LOOP,
                    step.span,
                    format!(
                        "δ leads from state {} to state {}, but δ leaves a system where it is",
                        lts.name(step.source),
                        lts.name(step.target)
                    ),
                )
                .hint("a determinised suspension automaton is read with δ kept as an action"),
            );
        } else if !quiescent[step.source.index()] {
            let able = lts
                .steps(step.source)
                .iter()
                .find(|(l, _)| {
                    matches!(
                        lts.labels().kind(*l),
                        LabelKind::Output | LabelKind::Internal
                    )
                })
                .map_or_else(String::new, |&(l, _)| lts.labels().text(l));
            wrong.push(Diagnostic::error(
                codes::DELTA_NOT_QUIESCENT,
                step.span,
                format!(
                    "state {} has a δ-loop but is not quiescent: it can do `{able}`",
                    lts.name(step.source)
                ),
            ));
        }
    }
    if wrong.len() > REPORTED {
        let more = wrong.len() - REPORTED;
        wrong.truncate(REPORTED);
        if let Some(last) = wrong.last_mut() {
            last.hint = Some(format!("{more} more δ-transitions are wrong"));
        }
    }
    let at = deltas[0].span;
    found.append(&mut wrong);
    let missing: Vec<String> = lts
        .states()
        .filter(|s| quiescent[s.index()] && !looped[s.index()])
        .map(|s| lts.name(s))
        .collect();
    if !missing.is_empty() {
        let shown = missing.len().min(REPORTED);
        let dots = if shown < missing.len() { ", …" } else { "" };
        found.push(Diagnostic::warning(
            codes::DELTA_MISSING,
            at,
            format!(
                "the file writes δ out, but not at these quiescent states: {}{dots}",
                missing[..shown].join(", ")
            ),
        ));
    }
}

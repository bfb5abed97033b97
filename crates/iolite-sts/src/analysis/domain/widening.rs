//! When and how to widen.

use std::sync::Arc;

use iolite_expr::{Int, Kind, Op, Term};

use super::evaluation::Evaluation;
use super::{Abstract, Constraint, IntervalBox, NumericDomain, Vocabulary};
use crate::Iosts;

/// Thresholds that are collected at most; each is tried at each widening.
const MAX_THRESHOLDS: usize = 128;
/// Subterms that are looked at for thresholds.
const MAX_SUBTERMS: usize = 10_000;

/// Widening with delay and thresholds.
#[derive(Clone, Debug, Default)]
pub struct Widening {
    /// How often a place is joined before it is widened.
    pub delay: u32,
    /// Constraints over the vocabulary's coordinates that widening stops at.
    pub thresholds: Vec<Constraint>,
}

impl Widening {
    /// The delay, and thresholds from the comparisons in the model's guards and assumptions: for
    /// each comparison of a linear `e` with 0 the bounds `e ≥ 0`, `e ≤ 0` and both widened by one,
    /// which is how far a counter passes the guard that stops it.
    pub fn of(model: &Iosts, vocabulary: &Arc<Vocabulary>, delay: u32) -> Self {
        let mut thresholds: Vec<Constraint> = Vec::new();
        let guards = model.transitions().map(|(_, t)| &t.guard);
        let mut stack: Vec<&Term> = model.assumptions().iter().chain(guards).collect();
        stack.reverse();
        let top = Abstract::<IntervalBox>::top(vocabulary);
        for _ in 0..MAX_SUBTERMS {
            let Some(term) = stack.pop() else { break };
            let Kind::App(op, args) = term.kind() else {
                continue;
            };
            let compares = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
            if !compares || !args[0].sort().is_int() {
                stack.extend(args.iter().rev());
                continue;
            }
            let mut state = top.clone();
            let mut evaluation = Evaluation::new(vocabulary.limits().steps);
            let (Some(a), Some(b)) = (
                evaluation.value(&mut state, &args[0]),
                evaluation.value(&mut state, &args[1]),
            ) else {
                continue;
            };
            // A parameter or what is not linear shows in an auxiliary coordinate.
            if state.auxiliaries > 0 || a == b {
                continue;
            }
            for e in [a.minus(&b), b.minus(&a)] {
                for slack in [Int::ZERO, Int::ONE] {
                    let t = Constraint::at_least(e.plus_constant(&slack)).tightened();
                    if !thresholds.contains(&t) && thresholds.len() < MAX_THRESHOLDS {
                        thresholds.push(t);
                    }
                }
            }
        }
        Self { delay, thresholds }
    }

    /// The state of a place that was `old`, is reached with `new` and has been visited so often:
    /// joined within the delay, widened after it.
    pub fn step<N: NumericDomain>(
        &self,
        visits: u32,
        old: &Abstract<N>,
        new: &Abstract<N>,
    ) -> Abstract<N> {
        let both = old.join(new);
        if visits < self.delay {
            both
        } else {
            old.widen(&both, &self.thresholds)
        }
    }
}

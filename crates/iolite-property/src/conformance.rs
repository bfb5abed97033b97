//! Conformance as a safety property [PROP12, §9.1].

use std::hash::Hash;
use std::sync::Arc;

use iolite_lts::LabelKind;

use crate::alphabet::{Alphabet, Letter};
use crate::state_set::StateSet;
use crate::streett::{Pair, StreettAutomaton};
use crate::structure::{AutomatonError, Structure};

#[derive(Clone, PartialEq, Eq, Hash)]
enum Spec<S> {
    Inside(S),
    /// After an input that the specification does not speak of: everything is allowed.
    Chaos,
    /// After an observation that it forbids.
    Sink,
}

/// The r-property whose canonical tester detects exactly the violations of ioco by a
/// specification, given as its determinised suspension automaton.
///
/// The paper adds a sink for outputs and δ that the specification does not have, and leaves
/// unspecified inputs without a transition; but Streett automata are complete, and ioco allows
/// everything after such an input, so it leads to a state of its own, which is good.
pub fn conformance<S: Clone + Eq + Hash>(
    alphabet: Arc<Alphabet>,
    start: S,
    budget: usize,
    mut step: impl FnMut(&S, Letter) -> Option<S>,
) -> Result<StreettAutomaton, AutomatonError> {
    let kinds: Vec<LabelKind> = alphabet.iter().map(|l| alphabet.kind(l)).collect();
    let (structure, meaning) =
        Structure::explore(alphabet, Spec::Inside(start), budget, |from, l| {
            Ok::<_, AutomatonError>(match from {
                Spec::Inside(s) => match step(s, l) {
                    Some(to) => Spec::Inside(to),
                    None if kinds[l.index()] == LabelKind::Input => Spec::Chaos,
                    None => Spec::Sink,
                },
                Spec::Chaos => Spec::Chaos,
                Spec::Sink => Spec::Sink,
            })
        })?;
    let n = structure.len();
    let pair = Pair {
        recurrent: StateSet::empty(n),
        persistent: StateSet::of(n, |q| meaning[q.index()] != Spec::Sink),
    };
    StreettAutomaton::new(structure, vec![pair])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::canonical_tester::{CanonicalTester, TesterOptions};
    use crate::verdict::PropertyVerdict;

    proptest! {
        /// `fail` exactly after σ·x with σ a suspension trace of the specification and x ∉ out.
        #[test]
        fn fails_exactly_on_forbidden_observations(
            next in prop::collection::vec(0_usize..8, 16),
            word in prop::collection::vec(0_usize..4, 0..10),
        ) {
            // 0 to 3 are states, the rest is "no transition".
            let sigma = Arc::new(Alphabet::of_names(["?a", "?b", "!x", "delta"]).unwrap());
            let spec = |s: usize, l: usize| Some(next[s * 4 + l]).filter(|&t| t < 4);
            let property =
                conformance(sigma.clone(), 0_usize, 100, |&s, l| spec(s, l.index())).unwrap();
            let tester = CanonicalTester::new(&property, TesterOptions::default()).unwrap();
            let mut q = tester.initial();
            let (mut at, mut failed) = (Some(0), false);
            for &l in &word {
                q = tester.step(q, sigma.label(Letter::new(l)));
                if let Some(s) = at {
                    at = spec(s, l);
                    failed |= at.is_none() && l >= 2;
                }
            }
            prop_assert_eq!(tester.verdict(q) == PropertyVerdict::Fail, failed);
        }
    }
}

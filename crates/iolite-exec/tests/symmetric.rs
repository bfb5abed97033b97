//! Test cases for conf, executed: what runs show is what the exact product knows.

use std::collections::BTreeSet;

use iolite_derive::{ConfDerivation, ModelRef, RandomDerivation, Verdict, test_runs};
use iolite_exec::{SymmetricModel, SymmetricSystem, run_symmetric};
use iolite_lts::{LabelId, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;

fn model(states: usize, steps: &[(usize, usize, usize)]) -> Lts {
    let mut b = LtsBuilder::new();
    b.ensure_states(states);
    let mut labels = vec![LabelId::TAU];
    labels.extend(["a", "b", "c"].map(|text| b.labels_mut().intern_text(text)));
    for &(s, l, t) in steps {
        b.transition(StateId::new(s), labels[l], StateId::new(t));
    }
    b.build().unwrap()
}

fn any_model() -> impl Strategy<Value = Lts> {
    let step = (0..4usize, 0..4usize, 0..4usize);
    prop::collection::vec(step, 0..9).prop_map(|steps| model(4, &steps))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs_are_test_runs(s in any_model(), i in any_model(), seed in any::<u64>()) {
        let how = RandomDerivation { count: 3, depth: 4, seed, ..RandomDerivation::default() };
        for case in ConfDerivation::new(&s).random(&how, &ModelRef::default()) {
            let exact = test_runs(&case, &i, QuiescencePolicy::Livelock);
            let exact: BTreeSet<Verdict> = exact.verdicts().map(|(v, _)| v).collect();
            let mut system = SymmetricModel::new(&i);
            let seen: BTreeSet<Verdict> = (0..300)
                .map(|n| run_symmetric(&case, &mut system, seed.wrapping_add(n)).unwrap().verdict)
                .collect();
            prop_assert!(seen.is_subset(&exact), "{}", case);
            // Runs that a livelock holds back are rare, and none ends because of one.
            if i.transition_count() < 6 {
                prop_assert_eq!(seen, exact, "{}", case);
            }
        }
    }
}

/// A system in this process that takes `a` and then nothing.
struct Once(bool);

impl SymmetricSystem for Once {
    fn reset(&mut self, _: u64) {
        self.0 = false;
    }

    fn offer(&mut self, actions: &[String]) -> Option<usize> {
        let taken = actions.iter().position(|a| a == "a").filter(|_| !self.0)?;
        self.0 = true;
        Some(taken)
    }
}

#[test]
fn a_program_is_tested_symmetrically() {
    // a; (b; stop): after a, b must not be refused.
    let s = model(3, &[(0, 1, 1), (1, 2, 2)]);
    let how = RandomDerivation {
        count: 20,
        depth: 3,
        ..RandomDerivation::default()
    };
    let cases = ConfDerivation::new(&s).random(&how, &ModelRef::default());
    let runs: Vec<_> = cases
        .iter()
        .map(|c| run_symmetric(c, &mut Once(false), 0).unwrap())
        .collect();
    let failing = runs
        .iter()
        .find(|run| run.verdict == Verdict::Fail)
        .unwrap();
    assert!(failing.refused);
    assert_eq!(failing.trace, [s.labels().get_text("a").unwrap()]);
}

//! Derivation for any relation with an oracle, compiled once.

use iolite_lts::{BudgetExceeded, Lts};

use crate::{
    CaseWork, CompleteSuite, Completeness, ExhaustiveDerivation, FiniteOracle, FiniteQueueOracle,
    ModelRef, QueueOptions, RandomDerivation, RelationOracle, Undecided,
};

/// Which test cases are derived.
#[derive(Clone, Copy, Debug)]
pub enum CaseSelection<'a> {
    /// At random.
    Random(&'a RandomDerivation),
    /// All there are, up to a bound.
    Exhaustive(&'a ExhaustiveDerivation),
    /// Enough for every implementation with so many states.
    Complete(&'a CompleteSuite),
}

/// What a derivation came to, beside its test cases.
#[derive(Debug, Default)]
pub struct CaseDerivation {
    /// Whether an exhaustive derivation lists all there are up to the depth, or a complete suite is one.
    pub complete: Option<bool>,
    /// What a complete suite came to.
    pub completeness: Option<Completeness>,
    /// Through queues: what was not decided, so that the test cases are not the whole answer.
    pub undecided: Option<Box<Undecided>>,
}

/// Derives test cases, through queues where options for them are given, and publishes each as it is
/// made, until no more are wanted. Nothing of the answer depends on the number of jobs. A complete suite may
/// find the specification too large.
pub fn derive_cases(
    mut oracle: RelationOracle<&Lts>,
    queues: Option<QueueOptions>,
    selection: CaseSelection<'_>,
    model: &ModelRef,
    work: CaseWork<'_>,
) -> Result<CaseDerivation, BudgetExceeded> {
    let Some(queues) = queues else {
        if let CaseSelection::Random(how) = selection {
            how.derive_apart(&oracle, model, work);
            return Ok(CaseDerivation::default());
        }
        return derive(&mut oracle, selection, model, work);
    };
    let mut oracle = FiniteQueueOracle::new(oracle, queues);
    derive(&mut oracle, selection, model, work)
}

fn derive(
    oracle: &mut (impl FiniteOracle<State: Send + Sync> + Send),
    selection: CaseSelection<'_>,
    model: &ModelRef,
    work: CaseWork<'_>,
) -> Result<CaseDerivation, BudgetExceeded> {
    let mut derived = CaseDerivation::default();
    let undecided = match selection {
        CaseSelection::Random(how) => how.derive_each(oracle, model, work),
        CaseSelection::Exhaustive(how) => {
            let done = how.derive_each(oracle, model, work);
            derived.complete = Some(done.complete);
            done.undecided
        }
        CaseSelection::Complete(how) => {
            let done = how.derive_each(oracle, model, work)?;
            derived.complete = Some(done.complete);
            derived.completeness = Some(done);
            oracle.undecided().is_some()
        }
    };
    if undecided {
        derived.undecided = oracle.undecided().cloned().map(Box::new);
    }
    Ok(derived)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use iolite_lts::{LabelId, Labels, LtsBuilder, QuiescencePolicy, SetId, StateId};

    use super::*;
    use crate::{
        ActionId, Alphabet, Criterion, Enumeration, IocoOracle, Meaning, Oracle, Places, Publish,
        Step,
    };

    /// An oracle that leaves everything undecided after so many questions.
    struct Doubting<'a> {
        inner: IocoOracle<&'a Lts>,
        left: usize,
        undecided: Undecided,
    }

    impl Oracle for Doubting<'_> {
        type State = SetId;

        fn criterion(&self) -> Criterion {
            self.inner.criterion()
        }

        fn alphabet(&self) -> &Alphabet {
            self.inner.alphabet()
        }

        fn initial(&mut self) -> Result<SetId, Box<Undecided>> {
            self.inner.initial()
        }

        fn stimuli(&mut self, at: &SetId, menu: &mut Vec<ActionId>) {
            self.inner.stimuli(at, menu);
        }

        fn after(&mut self, at: &SetId, step: Step) -> Result<Meaning<SetId>, Box<Undecided>> {
            self.inner.after(at, step)
        }

        fn out(&mut self, at: &SetId) -> Vec<String> {
            self.inner.out(at)
        }

        fn places(&mut self, at: &SetId) -> Places {
            self.inner.places(at)
        }
    }

    impl FiniteOracle for Doubting<'_> {
        fn labels(&self) -> &Labels {
            self.inner.labels()
        }

        fn members(&mut self, at: SetId) -> Vec<StateId> {
            self.inner.members(at)
        }

        fn livelock(&self) -> Option<String> {
            None
        }

        fn undecided(&self) -> Option<&Undecided> {
            (self.left == 0).then_some(&self.undecided)
        }

        fn start(&mut self) -> SetId {
            self.inner.start()
        }

        fn inputs_from(&mut self, at: SetId, row: &mut Vec<(LabelId, SetId)>) {
            self.inner.inputs_from(at, row);
        }

        fn meaning(&mut self, at: SetId, observation: LabelId) -> Meaning<SetId> {
            self.left = self.left.saturating_sub(1);
            self.inner.meaning(at, observation)
        }
    }

    /// What is undecided in test cases that threads made ahead, and nobody wanted, is not part of the answer.
    #[test]
    fn what_is_undecided_does_not_depend_on_threads() {
        let mut builder = LtsBuilder::new();
        for (source, text, target) in [(0, "?a", 1), (1, "!x", 0), (1, "!y", 1), (0, "?b", 0)] {
            builder.transition_text(StateId::new(source), text, StateId::new(target));
        }
        let lts = builder.build().unwrap();
        let random = RandomDerivation {
            count: 50,
            depth: 5,
            ..RandomDerivation::default()
        };
        let exhaustive = ExhaustiveDerivation {
            depth: 6,
            enumeration: Enumeration::GoalTraces,
            limit: 200,
        };
        let selections = [
            CaseSelection::Random(&random),
            CaseSelection::Exhaustive(&exhaustive),
        ];
        for selection in selections {
            let mut answers = [0; 2];
            for questions in [0, 20, 100, 500, 2000] {
                let undecided = |jobs: usize, wanted: usize| {
                    let mut oracle = Doubting {
                        inner: IocoOracle::new(&lts, QuiescencePolicy::Livelock),
                        left: questions,
                        undecided: Undecided::new("too many questions"),
                    };
                    let taken = AtomicUsize::new(0);
                    let store = |_| -> Publish<'_> {
                        let taken = &taken;
                        Box::new(move || match taken.fetch_add(1, Ordering::Relaxed) + 1 {
                            n if n < wanted => ControlFlow::Continue(()),
                            _ => ControlFlow::Break(()),
                        })
                    };
                    let work = CaseWork {
                        jobs: NonZeroUsize::new(jobs).unwrap(),
                        store: &store,
                    };
                    let model = ModelRef::default();
                    let derived = derive(&mut oracle, selection, &model, work).unwrap();
                    derived.undecided.is_some()
                };
                for wanted in [1, 2, 7, 20, 40, 1000] {
                    let alone = undecided(1, wanted);
                    answers[usize::from(alone)] += 1;
                    for jobs in [2, 5] {
                        assert_eq!(
                            undecided(jobs, wanted),
                            alone,
                            "{questions} {wanted} {jobs}"
                        );
                    }
                }
            }
            assert!(answers.iter().all(|&n| n > 3), "{answers:?}");
        }
    }
}

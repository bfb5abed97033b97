//! What is compiled once for all oracles gives what is compiled for one: testers behind tables against
//! testers over the oracle itself, and derivations and searches over the oracle of any relation.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::property::{any_observer, any_purpose};
use common::{any_implementation, any_model, small_labels, step};
use iolite_derive::{
    CaseSelection, Channel, ChannelOracle, CompleteSuite, ConformanceTester, Criterion,
    Enumeration, ExhaustiveDerivation, FiniteOracle, FiniteQueueOracle, Goal, GoalTester, Guide,
    IocoOracle, IoconfOracle, LabelGoal, Menu, MessageOrder, MixedGoal, ModelRef, Objective,
    Oracle, Progress, QueueGoal, QueueOptions, QueueOracle, QueueRelation, RandomDerivation,
    RelationOracle, Step, TestCase, TestedOracle, Tester, UiocoOracle, collected, derive_cases,
    relate_in_queues,
};
use iolite_lts::relation::{Effort, Relation};
use iolite_lts::{LabelId, Labels, Lts, QuiescencePolicy, System};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

fn labels() -> Arc<Labels> {
    Arc::new(small_labels())
}

fn system(lts: &Lts) -> System {
    System::Explicit(Arc::new(lts.clone()))
}

/// In step, through a FIFO each way, through two channels of which one loses and reorders.
fn contexts() -> [Option<QueueOptions>; 3] {
    let channel = |name: &str, input: &str, output: &str, lossy| Channel {
        name: name.into(),
        inputs: vec![input.into()],
        outputs: vec![output.into()],
        loss: lossy,
        reorder: lossy,
    };
    let channels = [
        channel("one", "a", "x", false),
        channel("two", "b", "y", true),
    ];
    [
        None,
        Some(QueueOptions::default()),
        Some(QueueOptions {
            max_in_flight: 2,
            channels: channels.into(),
            ..QueueOptions::default()
        }),
    ]
}

/// Both testers through the same words, everything they say compared.
fn alike<A, B>(one: &mut A, other: &mut B, words: &[Vec<Step>]) -> Result<(), TestCaseError>
where
    A: Tester + ?Sized,
    B: Tester + ?Sized,
{
    for (seed, word) in words.iter().enumerate() {
        one.begin(seed as u64);
        other.begin(seed as u64);
        for &step in word {
            let (mut a, mut b) = (Menu::default(), Menu::default());
            one.menu(&mut a);
            other.menu(&mut b);
            prop_assert_eq!(a, b);
            prop_assert_eq!(one.allowed(), other.allowed());
            prop_assert_eq!(one.locations(), other.locations());
            prop_assert_eq!(one.places(), other.places());
            let progress = one.step(step);
            prop_assert_eq!(progress, other.step(step));
            prop_assert_eq!(one.verdict(), other.verdict());
            prop_assert_eq!(one.results(), other.results());
            if matches!(progress, Progress::Ended(_)) {
                break;
            }
        }
        prop_assert_eq!(one.conclude(), other.conclude());
    }
    Ok(())
}

/// The same of guides, with their advice.
fn guides_alike(
    one: &mut (impl Guide + ?Sized),
    other: &mut (impl Guide + ?Sized),
    words: &[Vec<Step>],
) -> Result<(), TestCaseError> {
    alike(one, other, words)?;
    for word in words {
        one.reset();
        other.reset();
        for &step in word {
            let mut menu = Menu::default();
            one.menu(&mut menu);
            prop_assert_eq!(one.hint(&menu), other.hint(&menu));
            prop_assert_eq!(one.step(step), other.step(step));
        }
    }
    Ok(())
}

fn conformance<O: Oracle>(
    oracle: O,
    any: TestedOracle,
    queues: Option<QueueOptions>,
    words: &[Vec<Step>],
) -> Result<(), TestCaseError> {
    let mut any = any.conformance_tester(queues.clone());
    match queues {
        None => alike(&mut ConformanceTester::new(oracle), &mut *any, words),
        Some(queues) if queues.channels.is_empty() => {
            let oracle = QueueOracle::new(oracle, queues);
            alike(&mut ConformanceTester::new(oracle), &mut *any, words)
        }
        Some(queues) => {
            let oracle = ChannelOracle::new(oracle, queues);
            alike(&mut ConformanceTester::new(oracle), &mut *any, words)
        }
    }
}

fn towards<T: Objective + Clone>(
    s: &Lts,
    objective: &T,
    criterion: Criterion,
    words: &[Vec<Step>],
) -> Result<(), TestCaseError>
where
    MixedGoal: From<LabelGoal<T>>,
{
    fn compare<O: Oracle, G: Goal>(
        oracle: O,
        goal: G,
        any: &mut dyn Guide,
        words: &[Vec<Step>],
    ) -> Result<(), TestCaseError> {
        guides_alike(&mut GoalTester::new(oracle, vec![goal]), any, words)
    }
    for queues in contexts() {
        let labels = Arc::new(s.labels().clone());
        let oracle = IocoOracle::new(s, POLICY);
        let alphabet = oracle.alphabet().clone();
        let goal = || LabelGoal::own(objective.clone(), &alphabet, &labels);
        let any = IocoOracle::with_alphabet(system(s), POLICY, &alphabet);
        let goals = vec![goal().into()];
        let mut any = TestedOracle::Ioco(any).goal_tester(queues.clone(), goals, criterion);
        let purpose = criterion == Criterion::Purpose;
        match queues {
            None => compare(oracle, goal(), &mut *any, words)?,
            Some(queues) if queues.channels.is_empty() => {
                let oracle = QueueOracle::new(oracle, queues);
                if purpose {
                    compare(oracle, goal(), &mut *any, words)?;
                } else {
                    let goal = QueueGoal::new(goal(), &alphabet, MessageOrder::Fifo);
                    compare(oracle, goal, &mut *any, words)?;
                }
            }
            Some(queues) => {
                let oracle = ChannelOracle::new(oracle, queues);
                if purpose {
                    compare(oracle, goal(), &mut *any, words)?;
                } else {
                    let goal = QueueGoal::new(goal(), &alphabet, MessageOrder::Unknown);
                    compare(oracle, goal, &mut *any, words)?;
                }
            }
        }
    }
    Ok(())
}

fn steps(labels: &Labels, words: Vec<Vec<usize>>) -> Vec<Vec<Step>> {
    let visible: Vec<LabelId> = labels
        .iter()
        .filter(|(_, l)| l.kind.is_visible())
        .map(|(id, _)| id)
        .collect();
    let word = |word: Vec<usize>| word.iter().map(|&k| step(labels, visible[k])).collect();
    words.into_iter().map(word).collect()
}

fn any_words() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0usize..5, 1..8), 12)
}

/// The test cases of an oracle by itself, in step or through queues.
fn cases<O: FiniteOracle<State: Ord + Send + Sync> + Send>(
    mut oracle: O,
    queues: Option<QueueOptions>,
    selection: CaseSelection<'_>,
) -> Vec<TestCase> {
    fn derive(
        oracle: &mut (impl FiniteOracle<State: Send + Sync> + Send),
        selection: CaseSelection<'_>,
    ) -> Vec<TestCase> {
        let model = ModelRef::from("s.aut");
        match selection {
            CaseSelection::Random(how) => how.cases(oracle, &model).collect(),
            CaseSelection::Exhaustive(how) => how.derive(oracle, &model).cases,
            CaseSelection::Complete(how) => {
                how.derive(oracle, &model).expect("a small automaton").0
            }
        }
    }
    match queues {
        None => derive(&mut oracle, selection),
        Some(queues) => derive(&mut FiniteQueueOracle::new(oracle, queues), selection),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn conformance_testers_are_alike(s in any_model(5, 12), words in any_words()) {
        let words = steps(s.labels(), words);
        for queues in contexts() {
            let ioco = || IocoOracle::new(system(&s), POLICY);
            conformance(ioco(), TestedOracle::Ioco(ioco()), queues.clone(), &words)?;
            let uioco = || UiocoOracle::new(system(&s), POLICY);
            conformance(uioco(), TestedOracle::Uioco(uioco()), queues.clone(), &words)?;
            let ioconf = || IoconfOracle::new(system(&s), POLICY);
            conformance(ioconf(), TestedOracle::Ioconf(ioconf()), queues, &words)?;
        }
    }

    #[test]
    fn testers_towards_goals_are_alike(
        s in any_model(4, 10),
        w in any_observer(labels()),
        p in any_purpose(labels()),
        words in any_words(),
    ) {
        let words = steps(s.labels(), words);
        towards(&s, &w, Criterion::Safety, &words)?;
        towards(&s, &p, Criterion::Purpose, &words)?;
    }

    #[test]
    fn derivations_and_searches_are_alike(s in any_model(4, 9), i in any_implementation(4, 9)) {
        let random = RandomDerivation { count: 3, depth: 5, ..RandomDerivation::default() };
        let all = ExhaustiveDerivation { depth: 2, enumeration: Enumeration::Every, limit: 200 };
        let queues = QueueOptions { max_in_flight: 2, ..QueueOptions::default() };
        let complete = CompleteSuite { extra: 0, limit: 50, states: 1000 };
        let selections = [
            (CaseSelection::Random(&random), true),
            (CaseSelection::Exhaustive(&all), true),
            (CaseSelection::Complete(&complete), false),
        ];
        for (selection, also_in_queues) in selections {
            let queues = also_in_queues.then(|| queues.clone());
            for queues in [None, queues] {
                for relation in [Relation::Ioco, Relation::Uioco, Relation::Ioconf] {
                    let (own, any) = match relation {
                        Relation::Ioco => (
                            cases(IocoOracle::new(&s, POLICY), queues.clone(), selection),
                            RelationOracle::ioco(&s, POLICY),
                        ),
                        Relation::Uioco => (
                            cases(UiocoOracle::new(&s, POLICY), queues.clone(), selection),
                            RelationOracle::uioco(&s, POLICY),
                        ),
                        _ => (
                            cases(IoconfOracle::new(&s, POLICY), queues.clone(), selection),
                            RelationOracle::ioconf(&s, POLICY, None),
                        ),
                    };
                    let model = ModelRef::from("s.aut");
                    let (derived, done) = collected(|work| {
                        derive_cases(any, queues.clone(), selection, &model, work)
                    });
                    prop_assert!(done.is_ok());
                    prop_assert_eq!(own, derived);
                }
            }
        }
        let specification = system(&s);
        for relation in [Relation::Ioco, Relation::Uioco, Relation::Ioconf] {
            let mut go = |_: &Effort| ControlFlow::Continue(());
            let any = relate_in_queues(relation, (&i, &specification), POLICY, 2, 3, &mut go);
            let own = match relation {
                Relation::Ioco => QueueRelation::new(IocoOracle::new(&s, POLICY), &i, POLICY, 2)
                    .search(3, &mut go),
                Relation::Uioco => QueueRelation::new(UiocoOracle::new(&s, POLICY), &i, POLICY, 2)
                    .search(3, &mut go),
                _ => QueueRelation::new(IoconfOracle::new(&s, POLICY), &i, POLICY, 2)
                    .search(3, &mut go),
            };
            prop_assert_eq!(any.counterexamples, own.counterexamples);
            prop_assert_eq!(any.complete, own.complete);
            prop_assert_eq!(any.effort.pairs, own.effort.pairs);
        }
    }
}

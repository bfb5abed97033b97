//! Testers in their context: in step, through a FIFO each way, or through channels.

use iolite_derive::{
    ChannelOracle, ConformanceTester, Criterion, Goal, GoalTester, MessageOrder, Oracle, QueueGoal,
    QueueOptions, QueueOracle,
};

use super::explicit_judge::AnyGuide;
use super::judge::AnyTester;

/// The tester for a relation.
pub(super) fn conformance_tester<O: Oracle + 'static>(
    oracle: O,
    queues: Option<QueueOptions>,
) -> AnyTester {
    match queues {
        None => Box::new(ConformanceTester::new(oracle)),
        Some(queues) if queues.channels.is_empty() => {
            Box::new(ConformanceTester::new(QueueOracle::new(oracle, queues)))
        }
        Some(queues) => Box::new(ConformanceTester::new(ChannelOracle::new(oracle, queues))),
    }
}

/// The tester for goals. Failures of safety properties and other properties are about the order of the
/// system; a purpose is reached in the order of the tester.
pub(super) fn goal_tester<O: Oracle + 'static, G: Goal + 'static>(
    oracle: O,
    queues: Option<QueueOptions>,
    goals: Vec<G>,
    criterion: Criterion,
) -> Box<dyn AnyGuide> {
    let Some(queues) = queues else {
        return Box::new(GoalTester::new(oracle, goals));
    };
    if criterion == Criterion::Purpose {
        return through(oracle, queues, goals);
    }
    let order = if queues.channels.is_empty() {
        MessageOrder::Fifo
    } else {
        MessageOrder::Unknown
    };
    let goals = goals.into_iter();
    let goals = goals.map(|goal| QueueGoal::new(goal, oracle.alphabet(), order));
    let goals = goals.collect();
    through(oracle, queues, goals)
}

fn through<O: Oracle + 'static, G: Goal + 'static>(
    oracle: O,
    queues: QueueOptions,
    goals: Vec<G>,
) -> Box<dyn AnyGuide> {
    if queues.channels.is_empty() {
        Box::new(GoalTester::new(QueueOracle::new(oracle, queues), goals))
    } else {
        Box::new(GoalTester::new(ChannelOracle::new(oracle, queues), goals))
    }
}

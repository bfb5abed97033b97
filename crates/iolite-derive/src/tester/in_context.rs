//! Testers in their context: in step, through a FIFO each way, or through channels.

use iolite_lts::System;

use crate::{
    Alphabet, AnyOracle, ChannelOracle, ConformanceTester, Criterion, Goal, GoalTester, Guide,
    IocoOracle, IoconfOracle, MessageOrder, MixedGoal, Oracle, QueueGoal, QueueOptions,
    QueueOracle, RelationOracle, SymbolicOracle, Tester, UiocoOracle,
};

/// The oracles that systems are tested with.
///
/// The testers over them are made here, so that they are compiled once, in this crate. In step, explicit
/// specifications have testers of their own, since a step costs some tens of nanoseconds there. Through
/// queues, and towards goals with data, a step costs far more than a call through a table, so one
/// tester over [`AnyOracle`] serves them all.
pub enum TestedOracle {
    /// ioco, of an explicit specification.
    Ioco(IocoOracle<System>),
    /// uioco.
    Uioco(UiocoOracle<System>),
    /// ioconf and `ioconf_F`.
    Ioconf(IoconfOracle<System>),
    /// A specification with data.
    Symbolic(Box<SymbolicOracle>),
}

impl TestedOracle {
    /// The tester for its relation.
    pub fn conformance_tester(self, queues: Option<QueueOptions>) -> Box<dyn Tester> {
        match (self, queues) {
            (oracle, Some(queues)) => Box::new(ConformanceTester::new(oracle.through(queues))),
            (Self::Ioco(oracle), None) => Box::new(ConformanceTester::new(oracle)),
            (Self::Uioco(oracle), None) => Box::new(ConformanceTester::new(oracle)),
            (Self::Ioconf(oracle), None) => Box::new(ConformanceTester::new(oracle)),
            (Self::Symbolic(oracle), None) => Box::new(ConformanceTester::new(*oracle)),
        }
    }

    /// The tester for goals. Failures of safety properties and other properties are about the order of
    /// the system; a purpose is reached in the order of the tester.
    pub fn goal_tester(
        self,
        queues: Option<QueueOptions>,
        goals: Vec<MixedGoal>,
        criterion: Criterion,
    ) -> Box<dyn Guide> {
        let Some(queues) = queues else {
            return match self {
                Self::Ioco(oracle) => Box::new(GoalTester::new(oracle, goals)),
                oracle => boxed(oracle.any(), goals),
            };
        };
        if criterion == Criterion::Purpose {
            return boxed(self.through(queues), goals);
        }
        let order = if queues.channels.is_empty() {
            MessageOrder::Fifo
        } else {
            MessageOrder::Unknown
        };
        let goal = |goal| QueueGoal::new(goal, self.alphabet(), order);
        let goals: Vec<QueueGoal<MixedGoal>> = goals.into_iter().map(goal).collect();
        boxed(self.through(queues), goals)
    }

    fn alphabet(&self) -> &Alphabet {
        match self {
            Self::Ioco(oracle) => oracle.alphabet(),
            Self::Uioco(oracle) => oracle.alphabet(),
            Self::Ioconf(oracle) => oracle.alphabet(),
            Self::Symbolic(oracle) => oracle.alphabet(),
        }
    }

    /// The oracle seen through queues. A place in queues has many states of the oracle behind them, which are small for
    /// explicit specifications, so there it is not seen through a table.
    fn through(self, queues: QueueOptions) -> AnyOracle {
        match self {
            Self::Ioco(oracle) => through(RelationOracle::Ioco(oracle), queues),
            Self::Uioco(oracle) => through(RelationOracle::Uioco(oracle), queues),
            Self::Ioconf(oracle) => through(RelationOracle::Ioconf(oracle), queues),
            Self::Symbolic(oracle) => through(*oracle, queues),
        }
    }

    fn any(self) -> AnyOracle {
        match self {
            Self::Ioco(oracle) => AnyOracle::new(oracle),
            Self::Uioco(oracle) => AnyOracle::new(oracle),
            Self::Ioconf(oracle) => AnyOracle::new(oracle),
            Self::Symbolic(oracle) => AnyOracle::new(*oracle),
        }
    }
}

fn boxed<G: Goal + 'static>(oracle: AnyOracle, goals: Vec<G>) -> Box<dyn Guide> {
    Box::new(GoalTester::new(oracle, goals))
}

fn through<O>(oracle: O, queues: QueueOptions) -> AnyOracle
where
    O: Oracle<State: 'static> + 'static,
{
    if queues.channels.is_empty() {
        AnyOracle::new(QueueOracle::new(oracle, queues))
    } else {
        AnyOracle::new(ChannelOracle::new(oracle, queues))
    }
}

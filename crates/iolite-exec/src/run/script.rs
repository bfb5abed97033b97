//! A strategy that follows a script instead of choosing.

use iolite_derive::{ActionId, Menu, Step};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Choice, Strategy};

/// One line of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Give this stimulus.
    Give(ActionId),
    /// Wait for an output or δ.
    Observe,
}

impl Op {
    /// What leads to the same step again, if the system does the same.
    pub fn of(step: Step) -> Self {
        match step {
            Step::Stimulus(a) => Self::Give(a),
            Step::Output(_) | Step::Quiescence | Step::Deadlock => Self::Observe,
        }
    }
}

/// Follows a script, whatever the system answers; ends where the tester does not take a stimulus,
/// so it never leaves the specification's suspension traces.
#[derive(Clone, Debug)]
pub struct Script {
    ops: Vec<Op>,
    next: usize,
    /// Outputs that came before a stimulus: each stands for an observation still in the script.
    ahead: usize,
}

impl Script {
    /// The script with these lines.
    pub fn new(ops: Vec<Op>) -> Self {
        Self {
            ops,
            next: 0,
            ahead: 0,
        }
    }

    fn skip_seen(&mut self) {
        while self.ahead > 0 && matches!(self.ops.get(self.next), Some(Op::Observe)) {
            self.ahead -= 1;
            self.next += 1;
        }
    }
}

impl Strategy for Script {
    fn begin(&mut self) {
        self.next = 0;
        self.ahead = 0;
    }

    fn choose(&mut self, _: &Menu, _: &mut Xoshiro256PlusPlus) -> Choice {
        self.skip_seen();
        match self.ops.get(self.next) {
            None => Choice::Finish,
            Some(Op::Give(a)) => Choice::Give(*a),
            Some(Op::Observe) => Choice::Observe,
        }
    }

    fn happened(&mut self, _: Step, preempted: bool) {
        if preempted {
            self.ahead += 1;
        } else {
            self.next += 1;
        }
    }
}

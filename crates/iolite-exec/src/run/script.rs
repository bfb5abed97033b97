//! A strategy that follows a script instead of choosing.

use iolite_derive::Menu;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Choice, Step, Strategy};

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op<A> {
    /// Give this stimulus.
    Give(A),
    /// Wait for an output or δ.
    Observe,
}

impl<A: Clone> Op<A> {
    /// What leads to the same step again, if the system does the same.
    pub fn of(step: &Step<A>) -> Self {
        match step {
            Step::Stimulus(a) => Self::Give(a.clone()),
            Step::Output(_) | Step::Quiescence | Step::Deadlock => Self::Observe,
        }
    }
}

/// Follows a script, whatever the system answers; ends where the tester does not take a stimulus,
/// so it never leaves the specification's suspension traces.
#[derive(Clone, Debug)]
pub struct Script<A> {
    ops: Vec<Op<A>>,
    next: usize,
    /// Outputs that came before a stimulus: each stands for an observation still in the script.
    ahead: usize,
}

impl<A> Script<A> {
    /// The script with these lines.
    pub fn new(ops: Vec<Op<A>>) -> Self {
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

impl<A: Clone + PartialEq> Strategy<A> for Script<A> {
    fn begin(&mut self) {
        self.next = 0;
        self.ahead = 0;
    }

    fn choose(&mut self, _: &Menu<A>, _: &mut Xoshiro256PlusPlus) -> Choice<A> {
        self.skip_seen();
        match self.ops.get(self.next) {
            None => Choice::Finish,
            Some(Op::Give(a)) => Choice::Give(a.clone()),
            Some(Op::Observe) => Choice::Observe,
        }
    }

    fn happened(&mut self, _: &Step<A>, preempted: bool) {
        if preempted {
            self.ahead += 1;
        } else {
            self.next += 1;
        }
    }
}

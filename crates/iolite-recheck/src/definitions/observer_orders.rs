//! An observer behind queues, in every order that a FIFO each way allows.

use std::collections::BTreeSet;

use crate::definitions::observer::observer_step;
use crate::definitions::system::DELTA;
use crate::format::document::Observer;
use crate::{Outcome, rejected};

/// Where the observer is in each order, and how many of the inputs given last are not taken there. A
/// violation stays one; `None` is an observer that was left for good.
#[derive(Clone)]
pub(crate) struct Orders<'o> {
    observer: &'o Observer,
    given: Vec<String>,
    ways: BTreeSet<(Option<usize>, usize)>,
}

impl<'o> Orders<'o> {
    /// The orders of a trace that does not violate before its end.
    pub(crate) fn of(observer: &'o Observer, trace: &[String]) -> Outcome<Self> {
        let mut orders = Self {
            observer,
            given: Vec::new(),
            ways: BTreeSet::from([(Some(observer.initial), 0)]),
        };
        for (k, action) in trace.iter().enumerate() {
            orders = orders.after(action);
            if orders.is_violated() {
                let (name, step) = (&observer.name, k + 1);
                return rejected(format!("{name} is violated before the end, at step {step}"));
            }
        }
        Ok(orders)
    }

    fn step(&self, at: Option<usize>, action: &str) -> Option<usize> {
        at.and_then(|at| {
            if self.observer.marked.contains(&at) {
                Some(at)
            } else {
                observer_step(self.observer, at, action)
            }
        })
    }

    pub(crate) fn after(&self, action: &str) -> Self {
        let mut next = self.clone();
        if action.starts_with('?') {
            next.given.push(action.to_owned());
            next.ways = self.ways.iter().map(|&(at, n)| (at, n + 1)).collect();
            return next;
        }
        next.ways.clear();
        for &(at, untaken) in &self.ways {
            let mut at = at;
            for left in (0..=untaken).rev() {
                if action != DELTA || left == 0 {
                    next.ways.insert((self.step(at, action), left));
                }
                if left > 0 {
                    at = self.step(at, &self.given[self.given.len() - left]);
                }
            }
        }
        next
    }

    /// Whether every order violates. Inputs that are under way have not been taken in every order.
    pub(crate) fn is_violated(&self) -> bool {
        let marked = |at: &Option<usize>| at.is_some_and(|at| self.observer.marked.contains(&at));
        self.ways.iter().all(|(at, _)| marked(at))
    }

    /// The places in all orders, before, while and after inputs under way are taken.
    pub(crate) fn places(&self) -> String {
        let mut places = BTreeSet::new();
        for &(at, untaken) in &self.ways {
            let mut at = at;
            for left in (0..=untaken).rev() {
                places.insert(at.map_or("left for good", |at| self.observer.states[at].as_str()));
                if left > 0 {
                    at = self.step(at, &self.given[self.given.len() - left]);
                }
            }
        }
        let places: Vec<&str> = places.into_iter().collect();
        places.join(" or ")
    }
}

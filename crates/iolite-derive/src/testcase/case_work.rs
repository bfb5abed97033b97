//! Who makes test cases, and in which order they are handed over.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use iolite_lts::in_order;

use crate::TestCase;

/// Batches of test cases that may be made ahead of the one that is handed over, for each thread.
const AHEAD: usize = 2;

/// Test cases that a thread takes at a time where they are small as a rule.
pub(crate) const AT_A_TIME: usize = 32;

/// What the calling thread does with a test case when its turn comes. `Break` says that no more are wanted; those that
/// were made ahead are then dropped without their turn.
pub type Publish<'a> = Box<dyn FnOnce() -> ControlFlow<()> + Send + 'a>;

/// What a thread does with a test case that it has made, whatever the others are at.
pub type StoreCase<'a> = dyn Fn(TestCase) -> Publish<'a> + Sync + 'a;

/// How much of a derivation was published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    /// How many test cases, the last one being that after which no more were wanted.
    pub(crate) cases: usize,
    /// Whether these are all that the source has.
    pub(crate) all: bool,
}

impl Published {
    fn flow(self) -> ControlFlow<()> {
        if self.all {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// How many threads make test cases, and what they make of each.
#[derive(Clone, Copy)]
pub struct CaseWork<'a> {
    /// Threads, the calling one among them. The suite does not depend on their number.
    pub jobs: NonZeroUsize,
    /// The part of taking a test case that the thread does which made it; what it gives is done in the
    /// order of the suite.
    pub store: &'a StoreCase<'a>,
}

impl fmt::Debug for CaseWork<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaseWork")
            .field("jobs", &self.jobs)
            .finish_non_exhaustive()
    }
}

/// The test cases of a derivation by the calling thread alone, and what else it gives.
pub fn collected<R>(derive: impl FnOnce(CaseWork<'_>) -> R) -> (Vec<TestCase>, R) {
    let cases = Mutex::new(Vec::new());
    let store = |case| -> Publish<'_> {
        let cases = &cases;
        Box::new(move || {
            let mut cases = cases.lock().unwrap_or_else(PoisonError::into_inner);
            cases.push(case);
            ControlFlow::Continue(())
        })
    };
    let result = derive(CaseWork {
        jobs: NonZeroUsize::MIN,
        store: &store,
    });
    let cases = cases.into_inner().unwrap_or_else(PoisonError::into_inner);
    (cases, result)
}

impl<'a> CaseWork<'a> {
    /// How many threads there are beside the calling one.
    pub(crate) fn helpers(&self) -> usize {
        self.jobs.get() - 1
    }

    /// Makes so many test cases, by their number.
    pub fn numbered(self, count: u64, make: &(dyn Fn(u64) -> TestCase + Sync)) -> ControlFlow<()> {
        self.each(0..count, 1, make).flow()
    }

    /// Takes test cases that the source makes.
    pub fn take(self, cases: &mut (dyn Iterator<Item = TestCase> + Send)) -> ControlFlow<()> {
        self.each(cases, AT_A_TIME, &|case| case).flow()
    }

    /// Makes a test case of each item of a source, so many at a time, and publishes them in its order. To
    /// hand over something from one thread to another takes as long as making a small test case.
    pub(crate) fn each<I>(
        self,
        source: I,
        at_a_time: usize,
        make: &(dyn Fn(I::Item) -> TestCase + Sync),
    ) -> Published
    where
        I: Iterator<Item: Send> + Send,
    {
        self.each_by(source, at_a_time, vec![make; self.jobs.get()])
    }

    /// The same with something of its own for each thread to make them by, the calling one's first.
    pub(crate) fn each_by<I, F>(
        self,
        mut source: I,
        at_a_time: usize,
        mut makers: Vec<F>,
    ) -> Published
    where
        I: Iterator<Item: Send> + Send,
        F: FnMut(I::Item) -> TestCase + Send,
    {
        let batches = std::iter::from_fn(|| {
            let batch: Vec<_> = source.by_ref().take(at_a_time).collect();
            (!batch.is_empty()).then_some(batch)
        });
        let store = self.store;
        let storing = |mut make: F| {
            move |batch: Vec<I::Item>| -> Vec<Publish<'a>> {
                let cases = batch.into_iter().map(&mut make);
                cases.map(store).collect()
            }
        };
        let helpers = makers.split_off(1).into_iter().map(storing).collect();
        let mut own = makers.into_iter().map(storing);
        let mut own = own.next().expect("the calling thread is one of them");
        let ahead = AHEAD * self.jobs.get();
        let mut cases = 0;
        let end = in_order(
            batches,
            &mut own,
            helpers,
            &|taken| taken + ahead,
            &mut |batch| {
                batch.into_iter().try_for_each(|publish| {
                    cases += 1;
                    publish()
                })
            },
        );
        Published {
            cases,
            all: end.is_continue(),
        }
    }
}

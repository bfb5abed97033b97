//! Who makes test cases, and in which order they are handed over.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use iolite_lts::in_order;

use crate::TestCase;

/// Batches of test cases that may be made ahead of the one that is handed over, for each thread.
const AHEAD: usize = 2;

/// A test case with its text.
#[derive(Clone, Debug)]
pub struct WrittenCase {
    /// The test case.
    pub case: TestCase,
    /// What [`CaseWork::text`] makes of it.
    pub text: String,
}

/// Takes test cases in order; `Break` says that no more are wanted.
pub type TakeCase<'a> = dyn FnMut(WrittenCase) -> ControlFlow<()> + 'a;

/// How many threads make test cases, and what they make of each.
#[derive(Clone, Copy)]
pub struct CaseWork<'a> {
    /// Threads, the calling one among them. The suite does not depend on their number.
    pub jobs: NonZeroUsize,
    /// The text of a test case, made by the thread that made the test case.
    pub text: &'a (dyn Fn(&TestCase) -> String + Sync),
}

impl fmt::Debug for CaseWork<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaseWork")
            .field("jobs", &self.jobs)
            .finish_non_exhaustive()
    }
}

impl CaseWork<'static> {
    /// The calling thread alone, without texts.
    pub fn alone() -> Self {
        Self {
            jobs: NonZeroUsize::MIN,
            text: &|_| String::new(),
        }
    }
}

impl CaseWork<'_> {
    /// How many threads there are beside the calling one.
    pub(crate) fn helpers(&self) -> usize {
        self.jobs.get() - 1
    }

    pub(crate) fn written(&self, case: TestCase) -> WrittenCase {
        let text = (self.text)(&case);
        WrittenCase { case, text }
    }

    /// Makes a test case of each item of a source, so many at a time, and hands them over in its order. To
    /// hand over something from one thread to another takes as long as making a small test case.
    pub(crate) fn each<I>(
        self,
        mut source: I,
        at_a_time: usize,
        make: &(dyn Fn(I::Item) -> TestCase + Sync),
        take: &mut TakeCase<'_>,
    ) -> ControlFlow<()>
    where
        I: Iterator<Item: Send> + Send,
    {
        let batches = std::iter::from_fn(|| {
            let batch: Vec<_> = source.by_ref().take(at_a_time).collect();
            (!batch.is_empty()).then_some(batch)
        });
        let write = |batch: Vec<I::Item>| -> Vec<WrittenCase> {
            let cases = batch.into_iter().map(make);
            cases.map(|case| self.written(case)).collect()
        };
        let ahead = AHEAD * self.jobs.get();
        in_order(
            batches,
            &mut { write },
            vec![write; self.helpers()],
            &|taken| taken + ahead,
            &mut |batch| batch.into_iter().try_for_each(&mut *take),
        )
    }
}

//! Work that several threads share and one takes, in order.
//!
//! What is taken is the same, in the same order, whatever the number of threads: items come from one source,
//! are worked on by whoever is free, and what becomes of them is taken by the calling thread in the order of
//! the source. So a search or a derivation that remembers something while it takes gives the answer of one
//! thread by construction.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Works on what `source` gives, and has what becomes of it taken in the order of the source.
///
/// The calling thread takes, and works (`own`) where the next thing to take is not there yet; each of
/// `helpers` is a thread beside it. The source is asked by one thread at a time. `until` says, of how many
/// things were taken, which number the next item must be below for its work to begin: more than that
/// number, or nothing would ever be taken.
///
/// When `take` breaks, no new work begins, and the threads end with what they are at.
pub fn in_order<I, T, E, H>(
    source: I,
    own: &mut dyn FnMut(I::Item) -> T,
    helpers: Vec<H>,
    until: &(dyn Fn(usize) -> usize + Sync),
    take: &mut dyn FnMut(T) -> ControlFlow<E>,
) -> ControlFlow<E>
where
    I: Iterator + Send,
    T: Send,
    H: FnMut(I::Item) -> T + Send,
{
    if helpers.is_empty() {
        for item in source {
            take(own(item))?;
        }
        return ControlFlow::Continue(());
    }
    let work = Work {
        source: Mutex::new(Source {
            items: source,
            next: 0,
        }),
        progress: Mutex::new(Progress {
            begun: 0,
            taken: 0,
            done: VecDeque::new(),
            first: 0,
            total: None,
            ended: false,
        }),
        changed: Condvar::new(),
        until,
    };
    thread::scope(|scope| {
        for mut helper in helpers {
            let work = &work;
            scope.spawn(move || work.help(&mut helper));
        }
        // Also when taking panics: nobody may wait for a thread that is gone.
        let _end = EndOfWork(&work);
        work.lead(own, take)
    })
}

struct Work<'a, I: Iterator, T> {
    source: Mutex<Source<I>>,
    progress: Mutex<Progress<T>>,
    changed: Condvar,
    until: &'a (dyn Fn(usize) -> usize + Sync),
}

struct Source<I> {
    items: I,
    /// The number of the next item.
    next: usize,
}

struct Progress<T> {
    /// How many items somebody has begun to work on, or is about to ask for.
    begun: usize,
    /// How many were taken.
    taken: usize,
    /// What became of the items from number `first` on, as far as it is known.
    done: VecDeque<Option<T>>,
    /// One more than `taken` while something is being taken, else the same.
    first: usize,
    /// How many items there are, once the source has no more.
    total: Option<usize>,
    /// Whether nothing more is wanted, or a thread has failed.
    ended: bool,
}

impl<T> Progress<T> {
    /// Notes what became of an item. Says whether it is the next one to be taken.
    fn note(&mut self, number: usize, result: T) -> bool {
        let place = number - self.first;
        if self.done.len() <= place {
            self.done.resize_with(place + 1, || None);
        }
        self.done[place] = Some(result);
        place == 0
    }

    /// The next thing to take, if it is there.
    fn pop(&mut self) -> Option<T> {
        let result = self.done.front_mut()?.take()?;
        self.done.pop_front();
        self.first += 1;
        Some(result)
    }
}

/// Ends the work of all threads when it is dropped.
struct EndOfWork<'a, 'b, I: Iterator, T>(&'a Work<'b, I, T>);

impl<I: Iterator, T> Drop for EndOfWork<'_, '_, I, T> {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

impl<I: Iterator, T> Work<'_, I, T> {
    fn lock(&self) -> MutexGuard<'_, Progress<T>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'p>(&self, progress: MutexGuard<'p, Progress<T>>) -> MutexGuard<'p, Progress<T>> {
        let progress = self.changed.wait(progress);
        progress.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another item may be begun.
    fn may_begin(&self, progress: &Progress<T>) -> bool {
        progress.total.is_none() && progress.begun < (self.until)(progress.taken)
    }

    /// Whether those who wait for room should be woken: not for each single item, since to wake a thread and to have it wait
    /// again may take longer than its work. Nobody waits for ever: this thread works itself where it finds nothing to take.
    fn is_worth_waking(&self, progress: &Progress<T>) -> bool {
        let until = (self.until)(progress.taken);
        let room = until.saturating_sub(progress.begun);
        2 * room >= until - progress.taken
    }

    /// Works on the next item, without the lock, and notes what became of it. The items are numbered in
    /// the order in which threads come to the source, which need not be the one in which they said that
    /// they begin; but an item with a number has as many beginnings before it.
    fn work_on_next<'p>(
        &'p self,
        mut progress: MutexGuard<'p, Progress<T>>,
        work: &mut dyn FnMut(I::Item) -> T,
    ) -> MutexGuard<'p, Progress<T>> {
        progress.begun += 1;
        drop(progress);
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let number = source.next;
        let item = source.items.next();
        source.next += usize::from(item.is_some());
        drop(source);
        let result = item.map(work);
        let mut progress = self.lock();
        if let Some(result) = result {
            if progress.note(number, result) {
                self.changed.notify_all();
            }
        } else {
            progress.total = Some(number);
            self.changed.notify_all();
        }
        progress
    }

    /// Works on items until there are none.
    fn help(&self, work: &mut dyn FnMut(I::Item) -> T) {
        let failure = EndOfWork(self);
        let mut progress = self.lock();
        while !progress.ended && progress.total.is_none() {
            progress = if self.may_begin(&progress) {
                self.work_on_next(progress, work)
            } else {
                self.wait(progress)
            };
        }
        drop(progress);
        // This thread has not failed, and others may still be at work.
        std::mem::forget(failure);
    }

    /// Takes everything in order, and works where the next thing is not there yet.
    fn lead<E>(
        &self,
        work: &mut dyn FnMut(I::Item) -> T,
        take: &mut dyn FnMut(T) -> ControlFlow<E>,
    ) -> ControlFlow<E> {
        let mut progress = self.lock();
        while progress.total != Some(progress.taken) {
            if let Some(result) = progress.pop() {
                drop(progress);
                take(result)?;
                progress = self.lock();
                progress.taken += 1;
                if self.is_worth_waking(&progress) {
                    self.changed.notify_all();
                }
                continue;
            }
            assert!(!progress.ended, "a thread that helps has failed");
            progress = if self.may_begin(&progress) {
                self.work_on_next(progress, work)
            } else {
                self.wait(progress)
            };
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many helpers, each of which squares.
    fn squares(helpers: usize, items: usize, enough: usize) -> (Vec<usize>, bool) {
        let square = |item: usize| {
            if item.is_multiple_of(7) {
                thread::yield_now();
            }
            item * item
        };
        let mut taken = Vec::new();
        let end = in_order(
            0..items,
            &mut { square },
            vec![square; helpers],
            &|taken| (2 * taken).min(taken + 5) + 1,
            &mut |result| {
                taken.push(result);
                if taken.len() == enough {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        (taken, end.is_break())
    }

    #[test]
    fn what_is_taken_does_not_depend_on_helpers() {
        for items in [0, 1, 2, 3, 30, 500] {
            for enough in [1, 20, 1000] {
                let alone = squares(0, items, enough);
                for helpers in [1, 2, 5] {
                    assert_eq!(squares(helpers, items, enough), alone, "{items} {enough}");
                }
            }
        }
    }

    #[test]
    fn work_begins_below_the_bound_alone() {
        let taken = Mutex::new(0usize);
        let until = |taken: usize| (2 * taken).min(taken + 4) + 1;
        let check = |item: usize| {
            let taken = *taken.lock().unwrap();
            assert!(item < until(taken), "{item} was begun after {taken}");
        };
        let end = in_order(0..200, &mut { check }, vec![check; 3], &until, &mut |()| {
            *taken.lock().unwrap() += 1;
            ControlFlow::<()>::Continue(())
        });
        assert!(end.is_continue());
        assert_eq!(*taken.lock().unwrap(), 200);
    }

    #[test]
    #[should_panic(expected = "helps has failed")]
    fn a_helper_that_fails_ends_the_work() {
        let fail = |item: usize| assert!(item < 50, "this helper fails");
        let mut own = |_: usize| thread::sleep(std::time::Duration::from_millis(1));
        let _ = in_order(
            0..10_000,
            &mut own,
            vec![fail; 1],
            &|taken| taken + 8,
            &mut |()| ControlFlow::<()>::Continue(()),
        );
    }
}

//! All rows of a determinised view, computed by several threads.

use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

use crate::closure::Closure;
use crate::row_block::{MemberLists, RowBlock};
use crate::{Semantics, SetId, StateId, in_order};

use super::Determinised;

/// How a walk is cut into pieces.
#[derive(Clone, Copy)]
struct Grain {
    /// Levels of fewer sets are not worth the start of threads.
    few_sets: usize,
    /// How many members the sets of a block have together, if there are as many.
    members: usize,
}

const GRAIN: Grain = Grain {
    few_sets: 2048,
    members: RowBlock::MEMBERS,
};

/// Blocks that may be read ahead of the one that is entered, for each thread.
const AHEAD: usize = 8;

/// The sets of a level, to be read in blocks.
struct Blocks<'a, M> {
    /// The first set.
    first: usize,
    level: &'a MemberLists,
    members: usize,
    /// The other threads' models.
    others: &'a mut [(M, Closure)],
    /// The memory of blocks that were entered.
    spare: &'a mut Vec<RowBlock>,
}

impl<M: Semantics<State = StateId> + Send> Determinised<M> {
    /// Computes the rows of the initial set and of all that it leads to, beside the calling thread by one for
    /// each of these copies of the model, which number their states alike. It ends when there are more than `limit`
    /// sets, which whoever walks the rows finds out as well. `told` hears now and then how many rows there are.
    ///
    /// Steps are read and closed by whoever is free. Sets are numbered by the calling thread, in the order of a walk that
    /// asks for one row after the other, so the view is the one that such a walk makes. A view that has met sets before
    /// stays as it is.
    pub fn explore(&mut self, others: Vec<M>, limit: usize, told: &mut dyn FnMut(usize)) {
        self.explore_levels(others, limit, GRAIN, told);
    }

    /// The same, cut into other pieces: tests have small systems.
    fn explore_levels(
        &mut self,
        others: Vec<M>,
        limit: usize,
        grain: Grain,
        told: &mut dyn FnMut(usize),
    ) {
        if self.memo.sets.len() > 0 {
            return;
        }
        self.initial();
        let others = others.into_iter();
        let mut others: Vec<_> = others.map(|model| (model, Closure::default())).collect();
        let mut level = MemberLists::default();
        let mut spare = Vec::new();
        let mut first = 0;
        while first < self.memo.sets.len() && self.memo.sets.len() <= limit {
            let end = self.memo.sets.len();
            if others.is_empty() || end - first < grain.few_sets {
                self.row_in_order(SetId::new(first));
                let is_known = |&set: &usize| self.known_row(SetId::new(set)).is_some();
                first = (first..end).take_while(is_known).count() + first;
                told(first);
                continue;
            }
            // The table grows while the level is entered, so others read from copies.
            level.read(&self.memo.sets, first..end);
            let mut blocks = Blocks {
                first,
                level: &level,
                members: grain.members,
                others: &mut others,
                spare: &mut spare,
            };
            self.enter_level(&mut blocks, limit, told);
            first = end;
        }
    }

    /// Enters the rows of the sets of a level.
    fn enter_level(
        &mut self,
        blocks: &mut Blocks<'_, M>,
        limit: usize,
        told: &mut dyn FnMut(usize),
    ) {
        let &mut Blocks {
            first,
            level,
            members,
            ref mut others,
            ref mut spare,
        } = blocks;
        let Self {
            model,
            memo,
            closure,
            ..
        } = self;
        let ahead = AHEAD * (others.len() + 1);
        let mut next = 0;
        let ranges = std::iter::from_fn(|| {
            let start = next;
            next += level.block(start, members);
            (start < next).then_some(start..next)
        });
        let pool = &Mutex::new(std::mem::take(*spare));
        let locked = || pool.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |model: &M, closure: &mut Closure, sets: Range<usize>| {
            let mut block = locked().pop().unwrap_or_default();
            block.read_copies(model, level, sets.clone());
            block.close(model, closure);
            (sets, block)
        };
        let read = &read;
        let helpers = others.iter_mut().map(|(model, closure)| {
            // A reference to the model may not go to another thread; the only one may.
            move |sets| read(model, closure, sets)
        });
        let _ = in_order(
            ranges,
            &mut |sets| read(model, closure, sets),
            helpers.collect(),
            &|taken| taken + ahead,
            &mut |(sets, mut block): (Range<usize>, RowBlock)| {
                block.find_known(&memo.singletons);
                memo.enter(&block, first + sets.start..first + sets.end);
                told(first + sets.end);
                locked().push(block);
                if memo.sets.len() > limit {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        **spare = std::mem::take(&mut *locked());
        spare.truncate(2 * ahead);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        BudgetExceeded, LabelId, Lts, LtsBuilder, QuiescencePolicy, StateNames, Suspension,
        determinise,
    };

    fn systems() -> impl Strategy<Value = Lts> {
        const LABELS: [&str; 5] = ["?a", "?b", "!x", "!y", "i"];
        let step = (0..12usize, prop::sample::select(&LABELS[..]), 0..12usize);
        prop::collection::vec(step, 1..50).prop_map(|steps| {
            let mut builder = LtsBuilder::new();
            for (source, label, target) in steps {
                builder.transition_text(StateId::new(source), label, StateId::new(target));
            }
            builder.build().unwrap()
        })
    }

    const SMALL: Grain = Grain {
        few_sets: 2,
        members: 2,
    };

    /// The sets with their members and rows, as far as they are known, and the explicit system.
    type View = (
        Vec<(Vec<StateId>, Option<Vec<(LabelId, SetId)>>)>,
        Result<Lts, BudgetExceeded>,
    );

    fn view(lts: &Lts, helpers: Option<usize>, limit: usize) -> View {
        let model = Suspension::new(lts, QuiescencePolicy::Livelock);
        let mut view = Determinised::new(model.clone());
        let mut heard = 0;
        if let Some(helpers) = helpers {
            let others = vec![model; helpers];
            view.explore_levels(others, limit, SMALL, &mut |rows| heard = rows);
            assert!(heard > 0);
        }
        let lts = determinise(&mut view, StateNames::Members, limit);
        if lts.is_ok() && helpers.is_some() {
            assert_eq!(heard, view.set_count());
        }
        let sets = (0..view.set_count()).map(SetId::new);
        let sets = sets.map(|set| {
            let row = view.known_row(set).map(<[_]>::to_vec);
            (view.members(set).to_vec(), row)
        });
        (sets.collect(), lts)
    }

    proptest! {
        #[test]
        fn several_threads_give_what_one_gives(lts in systems(), bound in 1..20usize) {
            for limit in [bound, 1000] {
                let (sets, alone) = view(&lts, None, limit);
                for helpers in 0..4 {
                    let (other_sets, other) = view(&lts, Some(helpers), limit);
                    prop_assert_eq!(&alone, &other);
                    if alone.is_ok() {
                        prop_assert_eq!(&sets, &other_sets);
                    }
                }
            }
        }
    }

    #[test]
    fn the_systems_have_many_sets() {
        use proptest::strategy::ValueTree;
        use proptest::test_runner::TestRunner;
        let mut runner = TestRunner::deterministic();
        let mut counts = (0..100).map(|_| {
            let lts = systems().new_tree(&mut runner).unwrap().current();
            view(&lts, None, 1000).0.len()
        });
        let large = counts.by_ref().filter(|&sets| sets > 20).count();
        assert!(large > 20, "{large} have levels for several threads");
    }

    #[test]
    fn a_view_that_was_walked_stays_as_it_is() {
        let mut builder = LtsBuilder::new();
        let [a, b, c] = [0, 1, 2].map(StateId::new);
        builder.transition_text(a, "?a", b);
        builder.transition_text(b, "!x", c);
        let lts = builder.build().unwrap();
        let mut view = Determinised::new(&lts);
        let initial = view.initial();
        let row = view.row(initial).to_vec();
        view.explore_levels(vec![&lts], 1000, SMALL, &mut |_| ());
        assert_eq!((view.set_count(), view.row(initial)), (2, &row[..]));
    }
}

//! Who expands the pairs of a level: the searching thread alone, or others beside it.
//!
//! Only the expansion is spread over threads. What it gives is taken by the searching thread, pair by
//! pair in the order of the level, so the answer, the counterexample and every number in between are
//! the same whatever the number of threads.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::{LabelId, Semantics, StateId};

use super::expansion::{Expander, Expansion, Places, Taken};
use super::nodes::{Node, Nodes, Place};
use super::rules::PairRules;

/// Pairs that are expanded at a time. Their steps should stay in a cache until they are taken.
const CHUNK: usize = 256;

/// A level with fewer chunks is not worth the start of threads.
const FEW_CHUNKS: usize = 8;

/// Chunks that may be expanded ahead of the one that is taken, for each thread.
const AHEAD: usize = 8;

/// Takes an expansion; the number is the index of its first pair in the level.
pub(super) type Take<'a, E> = dyn FnMut(&mut Nodes, usize, &mut Expansion) -> ControlFlow<E> + 'a;

/// How many threads expand pairs. The trait is there because only some rules and implementations can
/// be copied to other threads.
pub(super) trait Jobs<R, M>: Copy {
    /// What the expansion of levels needs beside the searching thread's own expander.
    type Crew;

    fn crew(self, rules: &R, implementation: &M) -> Self::Crew;

    /// Expands the pairs of a level, those of one node together, and has them taken in order.
    fn level<E>(
        lead: &mut Expander<'_, R, M>,
        crew: &mut Self::Crew,
        level: &[Taken],
        nodes: &mut Nodes,
        map: &[LabelId],
        take: &mut Take<'_, E>,
    ) -> ControlFlow<E>;

    /// Bytes that the crew holds.
    fn bytes(crew: &Self::Crew) -> usize;
}

/// The searching thread alone.
#[derive(Clone, Copy)]
pub(super) struct OneJob;

impl<R: PairRules, M: Semantics<State = StateId>> Jobs<R, M> for OneJob {
    type Crew = Expansion;

    fn crew(self, _: &R, _: &M) -> Expansion {
        Expansion::default()
    }

    fn level<E>(
        lead: &mut Expander<'_, R, M>,
        crew: &mut Expansion,
        level: &[Taken],
        nodes: &mut Nodes,
        map: &[LabelId],
        take: &mut Take<'_, E>,
    ) -> ControlFlow<E> {
        for (k, chunk) in level.chunks(CHUNK).enumerate() {
            lead.expand(chunk, nodes, map, crew);
            take(nodes, k * CHUNK, crew)?;
        }
        ControlFlow::Continue(())
    }

    fn bytes(crew: &Expansion) -> usize {
        crew.bytes()
    }
}

/// So many threads, the searching one among them.
#[derive(Clone, Copy)]
pub(super) struct SeveralJobs {
    jobs: NonZeroUsize,
    /// Pairs that are expanded at a time.
    chunk: usize,
}

impl SeveralJobs {
    pub(super) fn new(jobs: NonZeroUsize) -> Self {
        Self { jobs, chunk: CHUNK }
    }

    /// With another number of pairs that are expanded at a time, for tests on small systems.
    #[cfg(test)]
    pub(super) fn by(self, chunk: usize) -> Self {
        Self { chunk, ..self }
    }
}

/// The other threads' rules and implementations.
pub(super) struct Team<R, M> {
    others: Vec<(R, M)>,
    spare: Vec<Expansion>,
    chunk: usize,
}

impl<R, M> Jobs<R, M> for SeveralJobs
where
    R: PairRules + Clone + Send,
    M: Semantics<State = StateId> + Clone + Send,
{
    type Crew = Team<R, M>;

    fn crew(self, rules: &R, implementation: &M) -> Team<R, M> {
        let other = |_| (rules.clone(), implementation.clone());
        Team {
            others: (1..self.jobs.get()).map(other).collect(),
            spare: vec![Expansion::default()],
            chunk: self.chunk,
        }
    }

    fn level<E>(
        lead: &mut Expander<'_, R, M>,
        crew: &mut Team<R, M>,
        level: &[Taken],
        nodes: &mut Nodes,
        map: &[LabelId],
        take: &mut Take<'_, E>,
    ) -> ControlFlow<E> {
        let Team {
            others,
            spare,
            chunk,
        } = crew;
        if others.is_empty() || level.len() < FEW_CHUNKS * *chunk {
            let mut expansion = spare.pop().unwrap_or_default();
            let end = OneJob::level(lead, &mut expansion, level, nodes, map, take);
            spare.push(expansion);
            return end;
        }
        let places = LevelPlaces::of(level, nodes);
        let work = Work {
            level,
            map,
            chunk: *chunk,
            ahead: AHEAD * (others.len() + 1),
            progress: Mutex::new(Progress {
                next: 0,
                taken: 0,
                ended: false,
                expanded: level.chunks(*chunk).map(|_| None).collect(),
                spare: std::mem::take(spare),
            }),
            changed: Condvar::new(),
            places,
        };
        let end = thread::scope(|scope| {
            for other in others {
                let (rules, implementation) = other;
                let work = &work;
                scope.spawn(move || work.help(&mut Expander::new(rules, implementation)));
            }
            // Also when taking panics: nobody may wait for a thread that is gone.
            let _end = EndOfLevel(&work);
            work.lead(lead, nodes, take)
        });
        *spare = work.into_spare();
        end
    }

    fn bytes(crew: &Team<R, M>) -> usize {
        let rules = crew.others.iter().map(|(rules, _)| rules.bytes());
        let spare = crew.spare.iter().map(Expansion::bytes);
        rules.chain(spare).sum()
    }
}

/// The places of a level, apart from the nodes, which grow while the level is taken.
struct LevelPlaces {
    /// Node, where its members start, and its part, in the order of nodes.
    nodes: Vec<(Node, usize, u32)>,
    members: Vec<StateId>,
}

impl LevelPlaces {
    fn of(level: &[Taken], nodes: &Nodes) -> Self {
        let mut places = Self {
            nodes: Vec::new(),
            members: Vec::new(),
        };
        for group in level.chunk_by(|a, b| a.1 == b.1) {
            let node = group[0].1;
            let place = nodes.place(node);
            places.nodes.push((node, places.members.len(), place.part));
            places.members.extend_from_slice(place.members);
        }
        places
    }
}

impl Places for LevelPlaces {
    fn place(&self, node: Node) -> Place<'_> {
        let i = self.nodes.partition_point(|n| n.0 < node);
        let (_, start, part) = self.nodes[i];
        let end = self.nodes.get(i + 1).map_or(self.members.len(), |n| n.1);
        Place {
            members: &self.members[start..end],
            part,
        }
    }
}

/// A level that several threads expand.
struct Work<'a> {
    level: &'a [Taken],
    map: &'a [LabelId],
    places: LevelPlaces,
    chunk: usize,
    ahead: usize,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    /// The next chunk that nobody expands yet.
    next: usize,
    /// The chunk that is to be taken next.
    taken: usize,
    /// Whether no more chunks are wanted, or a thread has failed.
    ended: bool,
    expanded: Vec<Option<Expansion>>,
    spare: Vec<Expansion>,
}

impl Progress {
    /// A chunk to expand and memory for it, unless all are, or enough of them.
    fn claim(&mut self, ahead: usize) -> Option<(usize, Expansion)> {
        let chunk = self.next;
        (chunk < self.expanded.len().min(self.taken + ahead)).then(|| {
            self.next += 1;
            (chunk, self.spare.pop().unwrap_or_default())
        })
    }
}

/// Ends a level for all threads when it is dropped.
struct EndOfLevel<'a, 'b>(&'a Work<'b>);

impl Drop for EndOfLevel<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

impl Work<'_> {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'p>(&self, progress: MutexGuard<'p, Progress>) -> MutexGuard<'p, Progress> {
        self.changed
            .wait(progress)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn pairs(&self, chunk: usize) -> &[Taken] {
        let end = self.level.len().min((chunk + 1) * self.chunk);
        &self.level[chunk * self.chunk..end]
    }

    /// Expands chunks until there are none.
    fn help<R, M>(&self, expander: &mut Expander<'_, R, M>)
    where
        R: PairRules,
        M: Semantics<State = StateId>,
    {
        let failure = EndOfLevel(self);
        let mut progress = self.lock();
        while !progress.ended && progress.next < progress.expanded.len() {
            let Some((chunk, mut expansion)) = progress.claim(self.ahead) else {
                progress = self.wait(progress);
                continue;
            };
            drop(progress);
            expander.expand(self.pairs(chunk), &self.places, self.map, &mut expansion);
            progress = self.lock();
            progress.expanded[chunk] = Some(expansion);
            if chunk == progress.taken {
                self.changed.notify_all();
            }
        }
        drop(progress);
        // This thread has not failed, and others may still be at work.
        std::mem::forget(failure);
    }

    /// Takes all chunks in order, and expands some where the next one is not there yet.
    fn lead<R, M, E>(
        &self,
        expander: &mut Expander<'_, R, M>,
        nodes: &mut Nodes,
        take: &mut Take<'_, E>,
    ) -> ControlFlow<E>
    where
        R: PairRules,
        M: Semantics<State = StateId>,
    {
        let chunks = self.level.len().div_ceil(self.chunk);
        for chunk in 0..chunks {
            let mut expansion = self.expanded(chunk, expander);
            take(nodes, chunk * self.chunk, &mut expansion)?;
            let mut progress = self.lock();
            progress.taken = chunk + 1;
            progress.spare.push(expansion);
            self.changed.notify_all();
        }
        ControlFlow::Continue(())
    }

    /// The expansion of a chunk, once it is there.
    fn expanded<R, M>(&self, chunk: usize, expander: &mut Expander<'_, R, M>) -> Expansion
    where
        R: PairRules,
        M: Semantics<State = StateId>,
    {
        let mut progress = self.lock();
        loop {
            if let Some(expansion) = progress.expanded[chunk].take() {
                return expansion;
            }
            assert!(!progress.ended, "a thread that expands pairs has failed");
            let Some((own, mut expansion)) = progress.claim(self.ahead) else {
                progress = self.wait(progress);
                continue;
            };
            drop(progress);
            expander.expand(self.pairs(own), &self.places, self.map, &mut expansion);
            progress = self.lock();
            progress.expanded[own] = Some(expansion);
        }
    }

    fn into_spare(self) -> Vec<Expansion> {
        let progress = self.progress.into_inner();
        let mut progress = progress.unwrap_or_else(PoisonError::into_inner);
        progress.spare.truncate(2 * self.ahead);
        progress.spare
    }
}

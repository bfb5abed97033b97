//! Who expands the pairs of a level: the searching thread alone, or others beside it.
//!
//! Only the expansion is spread over threads. What it gives is taken by the searching thread, pair by
//! pair in the order of the level, so the answer, the counterexample and every number in between are
//! the same whatever the number of threads.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::{LabelId, Semantics, StateId, in_order};

use super::expansion::{Expander, Expansion, Taken};
use super::known::Known;
use super::nodes::{Node, Nodes, members_without_table};
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

    /// Expands the pairs of a level, those of one node together, and has them taken in order. `known` are pairs that
    /// were taken or are to be, and grows meanwhile.
    fn level<E>(
        lead: &mut Expander<'_, R, M>,
        crew: &mut Self::Crew,
        level: &[Taken],
        nodes: &mut Nodes,
        map: &[LabelId],
        known: &Known,
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
        known: &Known,
        take: &mut Take<'_, E>,
    ) -> ControlFlow<E> {
        for (k, chunk) in level.chunks(CHUNK).enumerate() {
            let mut places = |node, members: &mut Vec<StateId>| nodes.append(node, members);
            lead.expand(chunk, &mut places, map, known, crew);
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
        known: &Known,
        take: &mut Take<'_, E>,
    ) -> ControlFlow<E> {
        let Team {
            others,
            spare,
            chunk,
        } = crew;
        if others.is_empty() || level.len() < FEW_CHUNKS * *chunk {
            let mut expansion = spare.pop().unwrap_or_default();
            let end = OneJob::level(lead, &mut expansion, level, nodes, map, known, take);
            spare.push(expansion);
            return end;
        }
        let places = &LevelPlaces::of(level, *chunk, nodes);
        let ahead = AHEAD * (others.len() + 1);
        // The memory of chunks that were taken.
        let pool = &Mutex::new(std::mem::take(spare));
        let locked = || pool.lock().unwrap_or_else(PoisonError::into_inner);
        let helpers = others.iter_mut().map(|(rules, implementation)| {
            move |(k, chunk): (usize, &[Taken])| {
                let mut expansion = locked().pop().unwrap_or_default();
                // A reference to the implementation may not go to another thread; the only one may.
                let mut expander = Expander::new(rules, implementation);
                expander.expand(chunk, &mut places.of_chunk(k), map, known, &mut expansion);
                expansion
            }
        });
        let mut first = 0;
        let end = in_order(
            level.chunks(*chunk).enumerate(),
            &mut |(k, chunk)| {
                let mut expansion = locked().pop().unwrap_or_default();
                lead.expand(chunk, &mut places.of_chunk(k), map, known, &mut expansion);
                expansion
            },
            helpers.collect(),
            &|taken| taken + ahead,
            &mut |mut expansion| {
                take(nodes, first, &mut expansion)?;
                first += *chunk;
                locked().push(expansion);
                ControlFlow::Continue(())
            },
        );
        *spare = std::mem::take(&mut *locked());
        spare.truncate(2 * ahead);
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
    has_parts: bool,
    /// For each chunk the first of its places.
    chunks: Vec<usize>,
    /// Where the members of each place end, and its part. Sets that need no table are not among them, unless there
    /// are parts.
    places: Vec<(usize, u32)>,
    members: Vec<StateId>,
}

impl LevelPlaces {
    fn of(level: &[Taken], chunk: usize, nodes: &Nodes) -> Self {
        let mut places = Self {
            has_parts: nodes.has_parts(),
            chunks: Vec::new(),
            places: Vec::new(),
            members: Vec::new(),
        };
        for pairs in level.chunks(chunk) {
            places.chunks.push(places.places.len());
            for group in pairs.chunk_by(|a, b| a.1 == b.1) {
                let node = group[0].1;
                if places.has_parts || members_without_table(node).is_none() {
                    let part = nodes.append(node, &mut places.members);
                    places.places.push((places.members.len(), part));
                }
            }
        }
        places
    }

    /// Gives the places of a chunk, one after the other.
    fn of_chunk(&self, chunk: usize) -> impl FnMut(Node, &mut Vec<StateId>) -> u32 + '_ {
        let mut next = self.chunks[chunk];
        let before = next.checked_sub(1).map(|last| self.places[last].0);
        let mut start = before.unwrap_or(0);
        move |node, members| {
            if !self.has_parts
                && let Some(set) = members_without_table(node)
            {
                members.extend_from_slice(&set);
                return 0;
            }
            let (end, part) = self.places[next];
            members.extend_from_slice(&self.members[start..end]);
            next += 1;
            start = end;
            part
        }
    }
}

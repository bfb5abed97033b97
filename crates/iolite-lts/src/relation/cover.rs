//! Which states of a specification ask for no input that another one leaves open: the order of sets that is right
//! for ioco, ioconf and conf of partial specifications.
//!
//! A set P ⊆ P' forbids whatever P' forbids, but P' may follow a label that P leaves open, and ask for more after it.
//! So P stands for P' only where it follows all that P' follows, now and after every trace that both have. That is
//! decided by a relation of single states. The state t *covers* s, written s ◁ t, where
//!
//! 1. an internal step s → s' has some t' that t reaches internally with s' ◁ t';
//! 2. a step s –a→ s' under a label that may be left open has some t' with t ⇒a→ t' and s' ◁ t';
//! 3. a step s –x→ s' under a label that is forbidden where it is lacking has such a t' as well, or s' ◁ u for
//!    *every* step under x that the specification has anywhere, to u;
//!
//! and ◁ is the largest relation with these properties. P *covers* P' where each state of P' is covered by one of P.
//!
//! *Why that is right.* Let P ⊆ P' be closed under internal steps, P cover P', and let a label lead from P' to Q'. Let
//! Q be where it leads from P. If the label may be left open, 2 gives every state of Q' one that covers it in Q, and by 1
//! those that are reached internally have one too, so Q is not empty, and covers Q'. If it is forbidden where it is
//! lacking and P lacks it, P forbids it, which is a violation after fewer actions. If P has it, Q has a state u to which a
//! step under x leads, so that by either case of 3 every state of Q' has one that covers it in Q. And Q ⊆ Q'. So the
//! second promise of [`PairRules`](super::rules::PairRules) holds without "unspecified", and a search that drops P' for P
//! misses nothing.
//!
//! *Why dropping may go on from pair to pair.* ◁ is reflexive, and it is transitive: the composition of ◁ with itself has
//! the three properties, and the largest relation includes it. So a set that stands for another one may give way to a third.

use crate::{Closure, LabelId, LabelKind, Semantics, StateId, Step};

/// What becomes of an action at a set that does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lacking {
    /// The relation asks nothing about what comes after it.
    Open,
    /// It is a violation.
    Forbidden,
    /// No trace goes on with it, whatever the set has.
    End,
}

/// ◁, of all states of a specification.
#[derive(Debug)]
pub(super) struct Cover {
    /// Words of a row.
    words: usize,
    /// For each state the bits of the states that it covers.
    rows: Vec<u64>,
}

/// A specification with more states is searched without a cover: the bits of so many are half a megabyte.
const MOST_STATES: usize = 2048;

/// Steps, also after internal ones.
const MOST_STEPS: usize = 1 << 16;

/// Words that are looked at until ◁ is there, a second's work at the most.
const MOST_WORK: usize = 1 << 28;

/// The steps of a specification, by state: one after the other, sorted, each state's from its offset on.
struct Steps {
    offsets: Vec<usize>,
    steps: Vec<Step>,
}

impl Steps {
    fn of(&self, state: usize) -> &[Step] {
        &self.steps[self.offsets[state]..self.offsets[state + 1]]
    }

    fn count(&self) -> usize {
        self.offsets.len() - 1
    }
}

impl Cover {
    /// ◁ of a specification whose states are all in memory. `None` where they are not, where there are too many of
    /// them, and where no state covers another one, so that nothing would be gained.
    pub(super) fn of<N: Semantics<State = StateId>>(
        model: &N,
        lacking: impl Fn(LabelKind) -> Lacking,
    ) -> Option<Self> {
        let count = model.explicit_states().filter(|&n| n <= MOST_STATES)?;
        let kinds = model.labels().kinds();
        let lacking: Vec<Lacking> = kinds.iter().map(|&kind| lacking(kind)).collect();
        let strong = strong_steps(model, count, &lacking)?;
        let weak = weak_steps(model, &strong)?;
        let words = count.div_ceil(64);
        let mut fixpoint = Fixpoint {
            cover: Self {
                words,
                rows: vec![u64::MAX; count * words],
            },
            everywhere: vec![0; kinds.len() * words],
            targets: forbidden_targets(&strong, &lacking),
            may: vec![0; kinds.len() * words],
            work: 0,
        };
        fixpoint.run(&strong, &weak)?;
        let cover = fixpoint.cover;
        (0..count).any(|s| cover.covers_another(s)).then_some(cover)
    }

    fn row(&self, state: usize) -> &[u64] {
        &self.rows[state * self.words..][..self.words]
    }

    fn covers_another(&self, state: usize) -> bool {
        let count = self.rows.len() / self.words;
        (0..count).any(|other| other != state && has(self.row(state), other))
    }

    /// Whether each state of `large`, a sorted superset of `small`, is covered by one of `small`.
    pub(super) fn covers(&self, small: &[StateId], large: &[StateId]) -> bool {
        let mut rest = small.iter().peekable();
        large.iter().all(|state| {
            let is_member = rest.next_if_eq(&state).is_some();
            is_member
                || small
                    .iter()
                    .any(|by| has(self.row(by.index()), state.index()))
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<u64>()
    }
}

fn has(bits: &[u64], index: usize) -> bool {
    bits[index / 64] >> (index % 64) & 1 == 1
}

/// The steps that traces go on with; internal ones have the label τ, whatever they are called.
fn strong_steps<N: Semantics<State = StateId>>(
    model: &N,
    count: usize,
    lacking: &[Lacking],
) -> Option<Steps> {
    let kinds = model.labels().kinds();
    let mut strong = Steps {
        offsets: vec![0],
        steps: Vec::new(),
    };
    let mut row = Vec::new();
    for state in (0..count).map(StateId::new) {
        row.clear();
        model.successors(&state, &mut row);
        for (label, _) in &mut row {
            if kinds[label.index()] == LabelKind::Internal {
                *label = LabelId::TAU;
            }
        }
        row.retain(|&(label, _)| label == LabelId::TAU || lacking[label.index()] != Lacking::End);
        row.sort_unstable();
        row.dedup();
        strong.steps.extend_from_slice(&row);
        strong.offsets.push(strong.steps.len());
        if strong.steps.len() > MOST_STEPS {
            return None;
        }
    }
    Some(strong)
}

/// For each state the visible steps of all states that it reaches internally, and an internal step to each of these,
/// itself among them.
fn weak_steps<N: Semantics<State = StateId>>(model: &N, strong: &Steps) -> Option<Steps> {
    let mut weak = Steps {
        offsets: vec![0],
        steps: Vec::new(),
    };
    let mut closure = Closure::default();
    let mut reached = Vec::new();
    let mut row = Vec::new();
    for state in (0..strong.count()).map(StateId::new) {
        reached.clear();
        reached.push(state);
        closure.close(model, &mut reached);
        row.clear();
        for &by in &reached {
            row.push((LabelId::TAU, by));
            let steps = strong.of(by.index()).iter();
            row.extend(steps.filter(|(label, _)| *label != LabelId::TAU));
            if row.len() > MOST_STEPS {
                return None;
            }
        }
        row.sort_unstable();
        row.dedup();
        weak.steps.extend_from_slice(&row);
        weak.offsets.push(weak.steps.len());
        if weak.steps.len() > MOST_STEPS {
            return None;
        }
    }
    Some(weak)
}

/// For each label that is forbidden where it is lacking the states to which it leads.
fn forbidden_targets(strong: &Steps, lacking: &[Lacking]) -> Vec<Vec<usize>> {
    let mut targets = vec![Vec::new(); lacking.len()];
    for &(label, target) in &strong.steps {
        if label != LabelId::TAU && lacking[label.index()] == Lacking::Forbidden {
            targets[label.index()].push(target.index());
        }
    }
    for targets in &mut targets {
        targets.sort_unstable();
        targets.dedup();
    }
    targets
}

/// ◁ while states are struck out that are not covered after all.
struct Fixpoint {
    cover: Cover,
    /// For each label that is forbidden where it is lacking the states that all its targets cover.
    everywhere: Vec<u64>,
    targets: Vec<Vec<usize>>,
    /// For one state and each label: the states that a step under it may lead to.
    may: Vec<u64>,
    work: usize,
}

impl Fixpoint {
    /// Strikes out until nothing changes. `None` where that takes too much work.
    fn run(&mut self, strong: &Steps, weak: &Steps) -> Option<()> {
        let count = strong.count();
        // In which round the row of a state was last changed.
        let mut changed = vec![0; count];
        let mut round = 0;
        loop {
            let everywhere_changed = self.meet_targets();
            let mut is_stable = true;
            for state in 0..count {
                let mut by = weak.of(state).iter();
                let may_change =
                    everywhere_changed || by.any(|(_, t)| changed[t.index()] + 1 >= round);
                if may_change && self.strike(state, strong, weak.of(state)) {
                    changed[state] = round;
                    is_stable = false;
                }
                if self.work > MOST_WORK {
                    return None;
                }
            }
            if is_stable {
                return Some(());
            }
            round += 1;
        }
    }

    /// Computes what all targets of a label cover. Says whether that changed.
    fn meet_targets(&mut self) -> bool {
        let words = self.cover.words;
        let mut is_changed = false;
        for (label, targets) in self.targets.iter().enumerate() {
            let Some((&first, others)) = targets.split_first() else {
                continue;
            };
            self.work += targets.len() * words;
            let mut met = self.cover.row(first).to_vec();
            for &target in others {
                let row = self.cover.row(target).iter();
                met.iter_mut().zip(row).for_each(|(all, bits)| *all &= bits);
            }
            let known = &mut self.everywhere[label * words..][..words];
            is_changed |= *known != *met;
            known.copy_from_slice(&met);
        }
        is_changed
    }

    /// Strikes out the states that `state` does not cover, by its steps. Says whether there were some.
    fn strike(&mut self, state: usize, strong: &Steps, steps: &[Step]) -> bool {
        let words = self.cover.words;
        self.may.copy_from_slice(&self.everywhere);
        self.work += self.may.len() + steps.len() * words + strong.steps.len();
        for (label, target) in steps {
            let may = &mut self.may[label.index() * words..][..words];
            let row = self.cover.row(target.index()).iter();
            may.iter_mut().zip(row).for_each(|(all, bits)| *all |= bits);
        }
        let mut is_changed = false;
        for other in 0..strong.count() {
            let word = &mut self.cover.rows[state * words + other / 64];
            let bit = 1 << (other % 64);
            let may = |&(label, target): &Step| {
                has(&self.may[label.index() * words..][..words], target.index())
            };
            if *word & bit != 0 && !strong.of(other).iter().all(may) {
                *word &= !bit;
                is_changed = true;
            }
        }
        is_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::order_tests::Numbers;
    use crate::{QuiescencePolicy, Suspension};

    fn of_ioco(kind: LabelKind) -> Lacking {
        if kind.is_observation() {
            Lacking::Forbidden
        } else {
            Lacking::Open
        }
    }

    /// The three properties as they are written, for one pair.
    fn has_the_properties(
        cover: &[Vec<bool>],
        strong: &Steps,
        weak: &Steps,
        kinds: &[LabelKind],
        (s, t): (usize, usize),
    ) -> bool {
        strong.of(s).iter().all(|&(label, after)| {
            let mut by = weak.of(t).iter().filter(|&&(l, _)| l == label);
            let is_matched = by.any(|&(_, by)| cover[after.index()][by.index()]);
            let observed = kinds[label.index()].is_observation();
            let mut anywhere = strong.steps.iter().filter(|&&(l, _)| l == label);
            is_matched || observed && anywhere.all(|&(_, u)| cover[after.index()][u.index()])
        })
    }

    /// By striking out one pair at a time from all of them.
    #[test]
    fn the_largest_relation_with_the_three_properties() {
        let mut numbers = Numbers(0x5DEE_CE66_D1CE_4E5B);
        let mut proper = 0;
        for _ in 0..2000 {
            let (_, s) = numbers.pair();
            let view = Suspension::new(&s, QuiescencePolicy::Livelock);
            let kinds = view.labels().kinds();
            let lacking: Vec<Lacking> = kinds.iter().map(|&kind| of_ioco(kind)).collect();
            let count = s.state_count();
            let strong = strong_steps(&view, count, &lacking).unwrap();
            let weak = weak_steps(&view, &strong).unwrap();
            let mut slow = vec![vec![true; count]; count];
            let pairs: Vec<(usize, usize)> = (0..count)
                .flat_map(|s| (0..count).map(move |t| (s, t)))
                .collect();
            while let Some(&(s, t)) = pairs.iter().find(|&&(s, t)| {
                slow[s][t] && !has_the_properties(&slow, &strong, &weak, kinds, (s, t))
            }) {
                slow[s][t] = false;
            }
            match Cover::of(&view, of_ioco) {
                Some(cover) => {
                    for &(s, t) in &pairs {
                        assert_eq!(has(cover.row(t), s), slow[s][t], "{s} {t}");
                    }
                    proper += 1;
                }
                None => assert!(pairs.iter().all(|&(s, t)| slow[s][t] == (s == t))),
            }
        }
        assert!(proper > 1000, "{proper}");
    }

    #[test]
    fn a_set_covers_a_larger_one_by_its_members() {
        // 0 covers 2, and 1 covers 3.
        let cover = Cover {
            words: 1,
            rows: vec![0b0101, 0b1010, 0b0100, 0b1000],
        };
        let set = |states: &[usize]| -> Vec<StateId> {
            states.iter().map(|&s| StateId::new(s)).collect()
        };
        assert!(cover.covers(&set(&[0, 1]), &set(&[0, 1, 2, 3])));
        assert!(cover.covers(&set(&[0, 3]), &set(&[0, 2, 3])));
        assert!(!cover.covers(&set(&[0]), &set(&[0, 2, 3])));
        assert!(!cover.covers(&set(&[]), &set(&[2])));
        assert!(cover.covers(&set(&[]), &set(&[])));
    }
}

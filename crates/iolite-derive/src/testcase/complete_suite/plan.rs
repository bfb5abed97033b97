//! What a tester does from a state on: experiments, and sums of them.

use iolite_lts::LabelId;
use rustc_hash::FxHashMap;

/// A plan by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PlanId(u32);

/// What is done; observations that are not named end it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Plan {
    Stop,
    Stimulate(LabelId, PlanId),
    /// In the order of labels, those that end it left out.
    Observe(Vec<(LabelId, PlanId)>),
}

/// Plans, each once.
pub(super) struct Plans {
    all: Vec<Plan>,
    ids: FxHashMap<Plan, PlanId>,
    sums: FxHashMap<(PlanId, PlanId), Option<PlanId>>,
}

/// Sums that are remembered.
const MOST_SUMS: usize = 1 << 20;

/// Plans of a list that a new one is added to, at most.
const LOOKED_AT: usize = 64;

impl Plans {
    pub(super) const STOP: PlanId = PlanId(0);

    pub(super) fn new() -> Self {
        Self {
            all: vec![Plan::Stop],
            ids: FxHashMap::from_iter([(Plan::Stop, Self::STOP)]),
            sums: FxHashMap::default(),
        }
    }

    pub(super) fn plan(&self, id: PlanId) -> &Plan {
        &self.all[id.0 as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn intern(&mut self, mut plan: Plan) -> PlanId {
        if let Plan::Observe(steps) = &mut plan {
            steps.retain(|step| step.1 != Self::STOP);
        }
        if let Some(&known) = self.ids.get(&plan) {
            return known;
        }
        let id = PlanId(u32::try_from(self.all.len()).expect("fewer than 2^32 plans"));
        self.all.push(plan.clone());
        self.ids.insert(plan, id);
        id
    }

    /// The plan that does all that both do; `None` where one stimulates and the other does something else.
    pub(super) fn sum(&mut self, one: PlanId, other: PlanId) -> Option<PlanId> {
        if one == other || other == Self::STOP {
            return Some(one);
        }
        if one == Self::STOP {
            return Some(other);
        }
        let key = (one.min(other), one.max(other));
        if let Some(&known) = self.sums.get(&key) {
            return known;
        }
        let sum = match (self.plan(one).clone(), self.plan(other).clone()) {
            (Plan::Stimulate(a, mine), Plan::Stimulate(b, theirs)) if a == b => self
                .sum(mine, theirs)
                .map(|next| self.intern(Plan::Stimulate(a, next))),
            (Plan::Observe(mine), Plan::Observe(theirs)) => self.sum_of_steps(mine, &theirs),
            _ => None,
        };
        if self.sums.len() >= MOST_SUMS {
            self.sums.clear();
        }
        self.sums.insert(key, sum);
        sum
    }

    fn sum_of_steps(
        &mut self,
        mut mine: Vec<(LabelId, PlanId)>,
        theirs: &[(LabelId, PlanId)],
    ) -> Option<PlanId> {
        for &(label, plan) in theirs {
            match mine.binary_search_by_key(&label, |step| step.0) {
                Ok(at) => mine[at].1 = self.sum(mine[at].1, plan)?,
                Err(at) => mine.insert(at, (label, plan)),
            }
        }
        Some(self.intern(Plan::Observe(mine)))
    }

    /// Adds a plan to a list: to one that it has a sum with, if there is one among the first.
    pub(super) fn add(&mut self, list: &mut Vec<PlanId>, plan: PlanId) {
        if plan == Self::STOP {
            return;
        }
        for known in list.iter_mut().take(LOOKED_AT) {
            if let Some(sum) = self.sum(*known, plan) {
                *known = sum;
                return;
            }
        }
        list.push(plan);
    }
}

//! The specification's side for systems of a shape known only at run time.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::{Completed, Completion, Labels, Lts, QuiescencePolicy, Semantics, StateId, System};

use super::{Answer, RelateError, Relation, Search, SpecificationSide, TraceSet};

/// A system that is explored on demand.
type OnDemand = Arc<dyn Semantics<State = StateId>>;

/// [`SpecificationSide`] for any [`System`]. The searches that it needs are compiled here and nowhere
/// else: two for explicit pairs, on which all threads work, and one for everything that is explored on
/// demand.
pub struct AnySide {
    relation: Relation,
    policy: QuiescencePolicy,
    traces: Option<TraceSet>,
    specification: System,
    /// Every thread may have its own copy of the pointer.
    explicit: Option<SpecificationSide<Arc<Lts>>>,
    /// States are numbered as they are met, so there is one walk.
    on_demand: Option<SpecificationSide<OnDemand>>,
}

impl AnySide {
    /// Prepares a relation to `specification`; `ioconf-f` needs its set of traces before anything is asked.
    pub fn new(relation: Relation, specification: System, policy: QuiescencePolicy) -> Self {
        Self {
            relation,
            policy,
            traces: None,
            specification,
            explicit: None,
            on_demand: None,
        }
    }

    /// Gives F of `ioconf-f`, over the labels of the specification and then those that the implementation adds: what
    /// was met with another F is forgotten.
    pub fn follow(&mut self, traces: TraceSet) {
        self.traces = Some(traces);
        (self.explicit, self.on_demand) = (None, None);
    }

    /// The side of pairs of explicit systems.
    fn explicit(
        &mut self,
        specification: Arc<Lts>,
    ) -> Result<&mut SpecificationSide<Arc<Lts>>, RelateError> {
        if self.explicit.is_none() {
            let traces = self.traces.clone();
            let new = SpecificationSide::new(self.relation, specification, self.policy, traces)?;
            self.explicit = Some(new);
        }
        Ok(self.explicit.as_mut().expect("just made"))
    }

    /// The side that asks both systems through a table of their functions.
    fn on_demand(&mut self) -> Result<&mut SpecificationSide<OnDemand>, RelateError> {
        if self.on_demand.is_none() {
            let system: OnDemand = match &self.specification {
                System::Explicit(lts) => Arc::clone(lts) as OnDemand,
                System::OnDemand(system) => Arc::clone(system),
            };
            let traces = self.traces.clone();
            let new = SpecificationSide::new(self.relation, system, self.policy, traces)?;
            self.on_demand = Some(new);
        }
        Ok(self.on_demand.as_mut().expect("just made"))
    }

    /// Decides whether `implementation`, with its inputs completed where that is asked for, is in the
    /// relation. Explicit pairs are searched by so many threads, with the answer of one.
    pub fn check(
        &mut self,
        implementation: &System,
        completion: Option<Completion>,
        jobs: NonZeroUsize,
        how: &mut Search<'_>,
    ) -> Result<Answer, RelateError> {
        let (System::Explicit(lts), System::Explicit(specification)) =
            (implementation, &self.specification)
        else {
            let view = self.view(implementation, completion);
            return self.on_demand()?.check(&view.as_ref(), how);
        };
        let side = self.explicit(Arc::clone(specification))?;
        match completion {
            None => side.check_with_jobs(lts, jobs, how),
            Some(completion) => {
                let view = Completed::over(Arc::clone(lts), completion, side.labels());
                side.check_with_jobs(&view, jobs, how)
            }
        }
    }

    /// What the relations with inputs and outputs take for granted of an implementation.
    pub fn check_directed(
        &self,
        implementation: &dyn Semantics<State = StateId>,
    ) -> Result<(), RelateError> {
        super::check_directed(self.specification.labels(), &implementation)
    }

    /// The implementation as it is searched.
    pub fn view<'a>(
        &self,
        implementation: &'a System,
        completion: Option<Completion>,
    ) -> Box<dyn Semantics<State = StateId> + 'a> {
        match completion {
            None => Box::new(implementation),
            Some(how) => Box::new(Completed::over(implementation, how, self.labels())),
        }
    }

    /// The specification's labels.
    pub fn labels(&self) -> &Labels {
        self.specification.labels()
    }

    /// The specification.
    pub fn specification(&self) -> &System {
        &self.specification
    }
}

//! Quiescence: the guard of δ, and the quiescent IOSTS S^δ [SYM04, def. 7].

use iolite_expr::{Solver, Span, Term, Var, qe};

use crate::iosts::{Gate, GateId, Iosts, LabelKind, LocationId, Transition, TransitionId};
use crate::quantified;

/// The guard of δ in a location.
#[derive(Clone, Debug)]
pub struct DeltaGuard {
    /// `⋀ ¬∃π: G` over the outputs and internal actions that leave the location, over V ∪ C.
    pub guard: Term,
    /// Where δ is refused only because the guard of an output or internal action has no value:
    /// whether such a state is silent, nobody can say.
    pub faulty: Term,
    /// Whether all quantifiers could be eliminated, so that the guard can be evaluated.
    pub eliminated: bool,
}

impl Iosts {
    /// The guard of δ in `location`: no output and no internal action can be fired.
    ///
    /// The paper's guards are total. Here a guard may fault (an index out of range), and then
    /// the state has no behaviour at all, rather than being quiescent: the guard also asks that
    /// every guard that it negates has a value, and [`DeltaGuard::faulty`] tells where that is all
    /// that speaks against δ.
    pub(crate) fn delta_guard(&self, location: LocationId) -> DeltaGuard {
        self.delta_guard_by(location, qe::eliminate)
    }

    /// The same, with the solver's help for what has to be eliminated.
    pub(crate) fn delta_guard_with(&self, location: LocationId, solver: &mut Solver) -> DeltaGuard {
        self.delta_guard_by(location, |vars, body| solver.eliminate(vars, body))
    }

    fn delta_guard_by(
        &self,
        location: LocationId,
        mut eliminate: impl FnMut(&[Var], &Term) -> Option<Term>,
    ) -> DeltaGuard {
        let mut eliminated = true;
        let mut exists = |params: &[Var], body: Term| {
            let (found, gone) = quantified::exists(params, &body.simplify(), &mut eliminate);
            eliminated &= gone;
            found
        };
        let (mut silent, mut fireable, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        for &t in self.outgoing(location) {
            let kind = self.kind(t);
            if !matches!(kind, LabelKind::Output | LabelKind::Internal) {
                continue;
            }
            let t = self.transition(t);
            let params = &self.gate(t.action).params;
            let defined = t.guard.defined();
            let either = Term::any([defined.negated(), t.guard.clone()]);
            silent.push(exists(params, either).negated());
            faults.push(exists(params, defined.negated()));
            fireable.push(exists(params, Term::all([defined, t.guard.clone()])));
        }
        let faulty = Term::all([Term::any(faults), Term::any(fireable).negated()]);
        DeltaGuard {
            guard: Term::all(silent).simplify(),
            faulty: faulty.simplify(),
            eliminated,
        }
    }

    /// S^δ: the system with δ as an output whose transitions are self-loops [def. 7]. Locations
    /// where δ is impossible get none.
    #[must_use]
    pub fn quiescent(&self) -> Self {
        self.quiescent_by(|location| self.delta_guard(location).guard)
    }

    /// The same, with the solver's help for what has to be eliminated.
    pub(crate) fn quiescent_with(&self, solver: &mut Solver) -> Self {
        self.quiescent_by(|location| self.delta_guard_with(location, solver).guard)
    }

    fn quiescent_by(&self, mut delta_guard: impl FnMut(LocationId) -> Term) -> Self {
        let mut result = self.clone();
        let delta = GateId::new(result.gates.len());
        result.gates.push(Gate {
            name: "delta".into(),
            kind: LabelKind::Delta,
            params: Vec::new(),
            span: Span::NONE,
        });
        for (id, location) in self.locations() {
            let guard = delta_guard(id);
            if guard.is_false() {
                continue;
            }
            result.transitions.push(Transition {
                source: id,
                action: delta,
                guard,
                assignments: Vec::new(),
                target: id,
                span: location.span,
            });
        }
        result.index_outgoing();
        result
    }

    /// A location on a cycle of internal transitions, if there is one.
    pub fn internal_cycle(&self) -> Option<LocationId> {
        let cycles = self.internal_cycles();
        cycles.iter().position(|on| *on).map(LocationId::new)
    }

    /// A cycle of internal transitions in words, if there is one: `A -t-> B -u-> A`.
    pub(crate) fn internal_circle(&self) -> Option<String> {
        let start = self.internal_cycle()?;
        // The last step of a shortest way to each location, breadth first.
        let mut came: Vec<Option<TransitionId>> = vec![None; self.locations.len()];
        let mut open = std::collections::VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            for &t in self.outgoing(at) {
                let target = self.transition(t).target;
                if self.kind(t) == LabelKind::Internal && came[target.index()].is_none() {
                    came[target.index()] = Some(t);
                    open.push_back(target);
                }
            }
        }
        let name = |l: LocationId| &self.location(l).name;
        let mut text = name(start).to_string();
        let mut at = start;
        loop {
            let t = self.transition(came[at.index()]?);
            let action = &self.gate(t.action).name;
            text = format!("{} -{action}-> {text}", name(t.source));
            at = t.source;
            if at == start {
                return Some(text);
            }
        }
    }

    /// The locations on a cycle of internal transitions: where a livelock could be.
    pub(crate) fn internal_cycles(&self) -> Vec<bool> {
        let n = self.locations.len();
        let internal: Vec<Vec<usize>> = (0..n)
            .map(|l| {
                self.outgoing[l]
                    .iter()
                    .filter(|t| self.kind(**t) == LabelKind::Internal)
                    .map(|t| self.transition(*t).target.index())
                    .collect()
            })
            .collect();
        (0..n)
            .map(|start| {
                let mut seen = vec![false; n];
                let mut stack = internal[start].clone();
                while let Some(l) = stack.pop() {
                    if l == start {
                        return true;
                    }
                    if !std::mem::replace(&mut seen[l], true) {
                        stack.extend(&internal[l]);
                    }
                }
                false
            })
            .collect()
    }
}

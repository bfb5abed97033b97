//! Symbolic test cases: output completion, test(S, ω), mirror and pruning [SYM04, def. 12 to 15].

use iolite_expr::{Answer, Solver, Span, Term};

use crate::analysis::{coreachable, reachable, watched_product};
use crate::closure::DeterminiseError;
use crate::compose::ComposeError;
use crate::iosts::{Iosts, LabelKind, Location, LocationId, Transition};
use crate::symbolic_state::conjuncts;

/// Why there is no symbolic test case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolicTestError {
    /// The specification has no deterministic form.
    #[error(transparent)]
    Determinise(#[from] DeterminiseError),
    /// The observer is not compatible with S^δ.
    #[error(transparent)]
    Compose(#[from] ComposeError),
}

/// test(S, ω) = ω || Σ!(det(S^δ)), with the locations of its verdicts [def. 13].
#[derive(Clone, Debug)]
pub struct SymbolicTest {
    /// The test case; mirrored once it is pruned.
    pub model: Iosts,
    /// Conformance is violated, the property is not.
    pub fail: Vec<LocationId>,
    /// Conformance and the property are violated.
    pub violate_fail: Vec<LocationId>,
    /// Specification and implementation violate the property.
    pub violate: Vec<LocationId>,
    /// No simultaneous violation can be detected any more, once the test case is pruned.
    pub inconc: Option<LocationId>,
}

/// A transition that pruning took away, narrowed, or led to `Inconc`.
#[derive(Clone, Debug)]
pub struct PrunedTransition {
    /// The transition before.
    pub transition: Transition,
    /// The condition under which `ViolateFail` can be reached from its source; it stays there.
    pub coreachable: Term,
    /// Whether it leads to `Inconc` elsewhere, as observations do; stimuli are not given there.
    pub redirected: bool,
}

/// Marks the location Fail while it is composed: a character that no name of a model has.
const MARK: &str = "\u{2}";

impl Iosts {
    /// Σ!(M) for a deterministic M: every output, δ among them, that cannot be fired leads to the new
    /// location Fail [def. 12].
    ///
    /// Def. 8 says nothing of initial states. Where M has several, because of constants or variables
    /// without a value, a trace may lead to Fail from one of them and be a trace of M from another:
    /// Fail then speaks of the instance of M with these values, and of no other.
    #[must_use]
    pub fn output_completed(&self) -> (Self, LocationId) {
        let mut result = self.clone();
        let fail = LocationId::new(result.locations.len());
        let mut name = "Fail".to_owned();
        while self.find_location(&name).is_some() {
            name.push('\'');
        }
        result.locations.push(Location {
            name: name.into(),
            span: Span::NONE,
        });
        for (source, location) in self.locations() {
            for (action, gate) in self.gates() {
                if !gate.kind.is_observation() {
                    continue;
                }
                let same = self.outgoing(source).iter().map(|t| self.transition(*t));
                let same = same.filter(|t| t.action == action);
                // A guard without a value neither allows nor forbids.
                let closed = same.flat_map(|t| [t.guard.defined(), t.guard.negated()]);
                let guard = Term::all(closed).simplify();
                if !guard.is_false() {
                    result.transitions.push(Transition {
                        source,
                        action,
                        guard,
                        assignments: Vec::new(),
                        target: fail,
                        span: location.span,
                    });
                }
            }
        }
        result.index_outgoing();
        (result, fail)
    }

    /// The system as its environment sees it: inputs are outputs and outputs are inputs; δ is
    /// observed by either.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mut result = self.clone();
        for gate in &mut result.gates {
            gate.kind = match gate.kind {
                LabelKind::Input => LabelKind::Output,
                LabelKind::Output => LabelKind::Input,
                kind => kind,
            };
        }
        result
    }
}

impl SymbolicTest {
    /// test(S, ω) for an observer over S^δ with these violating locations [def. 13].
    pub fn new(
        system: &Iosts,
        observer: &Iosts,
        violating: &[LocationId],
        solver: &mut Solver,
        most: usize,
    ) -> Result<Self, SymbolicTestError> {
        let deterministic = system.quiescent().determinised(solver, most)?;
        let (mut tester, fail) = deterministic.output_completed();
        let name = tester.locations[fail.index()].name.clone();
        tester.locations[fail.index()].name = format!("{MARK}{name}").into();
        let (mut model, marked) = watched_product(&tester, observer, violating)?;
        let mut test = Self {
            fail: Vec::new(),
            violate_fail: Vec::new(),
            violate: Vec::new(),
            inconc: None,
            model: model.clone(),
        };
        for (i, l) in model.locations.iter_mut().enumerate() {
            let id = LocationId::new(i);
            let failed = l.name.strip_prefix(MARK).map(Box::from);
            match (&failed, marked.contains(&id)) {
                (Some(_), true) => test.violate_fail.push(id),
                (Some(_), false) => test.fail.push(id),
                (None, true) => test.violate.push(id),
                (None, false) => {}
            }
            l.name = failed.unwrap_or_else(|| l.name.clone());
        }
        // A verdict is final.
        let ends = |l: &LocationId| {
            let verdicts = [&test.fail, &test.violate_fail, &test.violate];
            verdicts.iter().any(|v| v.contains(l))
        };
        model.transitions.retain(|t| !ends(&t.source));
        model.index_outgoing();
        test.model = model;
        Ok(test)
    }

    /// The same without transitions that no reachable state takes, and without what every reachable state
    /// satisfies in the guards; an inductive invariant says so. Verdicts that cannot be reached go.
    #[must_use]
    pub fn trimmed(&self, solver: &mut Solver, steps: u64) -> Self {
        let Some(invariant) = reachable(&self.model, solver, steps) else {
            return self.clone();
        };
        let mut result = self.clone();
        result.model.transitions.clear();
        for t in &self.model.transitions {
            let here = invariant.at(t.source);
            let mut never = |terms: Vec<Term>| {
                let all = Term::all([here.clone()].into_iter().chain(terms));
                matches!(solver.check_with(&all.simplify()), Answer::Unsat)
            };
            if never(vec![t.guard.clone()]) {
                continue;
            }
            let mut parts = conjuncts(&t.guard);
            if t.guard.is_total() {
                let mut i = 0;
                while i < parts.len() {
                    let mut others = parts.clone();
                    let part = others.remove(i);
                    let broken = others.iter().cloned().chain([part.negated()]).collect();
                    if never(broken) {
                        parts = others;
                    } else {
                        i += 1;
                    }
                }
            }
            let guard = Term::all(parts).simplify();
            result
                .model
                .transitions
                .push(Transition { guard, ..t.clone() });
        }
        let entered: Vec<LocationId> = result.model.transitions.iter().map(|t| t.target).collect();
        let lists = [
            &mut result.fail,
            &mut result.violate_fail,
            &mut result.violate,
        ];
        for list in lists {
            list.retain(|l| entered.contains(l));
        }
        result.inconc = result.inconc.filter(|l| entered.contains(l));
        result.model.index_outgoing();
        result
    }

    /// prune(S, ω): mirrored, without outputs after which `ViolateFail` cannot be reached any more,
    /// and with `Inconc` for such inputs [def. 15]. `steps` bounds the search for the coreachable
    /// states [def. 14]; where it is not enough, more is kept than need be.
    #[must_use]
    pub fn pruned(&self, solver: &mut Solver, steps: u64) -> Self {
        self.pruned_with_reasons(solver, steps).0
    }

    /// The same, with the coreachability formula of each transition that was removed, narrowed or led to
    /// `Inconc`.
    pub fn pruned_with_reasons(
        &self,
        solver: &mut Solver,
        steps: u64,
    ) -> (Self, Vec<PrunedTransition>) {
        let mut reasons = Vec::new();
        let mut result = self.clone();
        result.model = self.model.mirrored();
        let inconc = LocationId::new(result.model.locations.len());
        result.model.locations.push(Location {
            name: "Inconc".into(),
            span: Span::NONE,
        });
        result.inconc = Some(inconc);
        let reach = coreachable(&self.model, &self.violate_fail, solver, steps);
        let mut transitions = Vec::new();
        for t in &result.model.transitions {
            let stays = &reach[t.source.index()];
            let guard = Term::all([t.guard.clone(), stays.clone()]).simplify();
            let output = result.model.gate(t.action).kind == LabelKind::Output;
            let mut possible =
                |g: &Term| !g.is_false() && !matches!(solver.check_with(g), Answer::Unsat);
            let lost = Term::all([t.guard.clone(), stays.negated()]).simplify();
            if possible(&lost) {
                reasons.push(PrunedTransition {
                    transition: t.clone(),
                    coreachable: stays.clone(),
                    redirected: !output,
                });
                if !output {
                    transitions.push(Transition {
                        guard: lost,
                        assignments: Vec::new(),
                        target: inconc,
                        ..t.clone()
                    });
                }
            }
            if possible(&guard) {
                transitions.push(Transition { guard, ..t.clone() });
            }
        }
        result.model.transitions = transitions;
        result.model.index_outgoing();
        (result, reasons)
    }
}

//! Symbolic test cases: output completion, test(S, ω), mirror and pruning [SYM04, def. 12 to 15].

use iolite_expr::{Answer, Solver, Span, Term};

use crate::analysis::{Invariant, coreachable, coreachable_within, reachable, watched_product};
use crate::closure::DeterminiseError;
use crate::compose::ComposeError;
use crate::iosts::{GateId, Iosts, LabelKind, Location, LocationId, Transition};
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

/// What a test case heads for, and what its verdicts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestKind {
    /// An observer ω: the implementation is to violate the property [§4].
    Observer,
    /// A test purpose: an accepting location is to be reached.
    Purpose,
}

/// What must be within reach, or the verdict is `Inconc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PruningGoal {
    /// Simultaneous violations of the property and of conformance [def. 15].
    #[default]
    ViolateFail,
    /// Any violation of the property, `Violate` too: the strengthened `Inconc` of [§5].
    Violation,
}

/// test(S, ω) = ω || Σ!(det(S^δ)), with the locations of its verdicts [def. 13]. ω may be a test
/// purpose instead of an observer.
#[derive(Clone, Debug)]
pub struct SymbolicTest {
    /// The test case; mirrored once it is pruned.
    pub model: Iosts,
    /// What ω is.
    pub kind: TestKind,
    /// Conformance is violated, the property is not.
    pub fail: Vec<LocationId>,
    /// Conformance and the property are violated.
    pub violate_fail: Vec<LocationId>,
    /// Specification and implementation violate the property.
    pub violate: Vec<LocationId>,
    /// The purpose is reached, by a trace of the specification.
    pub accept: Vec<LocationId>,
    /// The goal cannot be reached any more: the refusing locations of a purpose and, once the test case
    /// is pruned, the location Inconc.
    pub inconc: Vec<LocationId>,
    /// By location, once the test case is pruned: the condition under which the goal may be reached
    /// from there [def. 14].
    pub coreachable: Vec<Term>,
}

/// A transition that pruning took away, narrowed, or led to `Inconc`.
#[derive(Clone, Debug)]
pub struct PrunedTransition {
    /// The transition before.
    pub transition: Transition,
    /// The condition under which the goal can be reached from its source; it stays there.
    pub coreachable: Term,
    /// Whether it leads to `Inconc` elsewhere, as observations do; stimuli are not given there.
    pub redirected: bool,
    /// Whether something of it is left.
    pub kept: bool,
}

/// A product, its locations that hold Fail, and those that hold one of each list of final locations of ω.
type WatchedTest = (SymbolicTest, Vec<LocationId>, Vec<Vec<LocationId>>);

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
        let fail = result.add_location("Fail");
        for (source, location) in self.locations() {
            for (action, gate) in self.gates() {
                if !gate.kind.is_observation() {
                    continue;
                }
                let guard = self.not_taken(source, action);
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

    /// Where no transition of the location takes the action. A guard without a value neither allows nor
    /// forbids.
    pub(crate) fn not_taken(&self, source: LocationId, action: GateId) -> Term {
        let same = self.outgoing(source).iter().map(|t| self.transition(*t));
        let same = same.filter(|t| t.action == action);
        let closed = same.flat_map(|t| [t.guard.defined(), t.guard.negated()]);
        Term::all(closed).simplify()
    }

    /// A new location, with this name or a longer one.
    pub(crate) fn add_location(&mut self, name: &str) -> LocationId {
        let mut name = name.to_owned();
        while self.find_location(&name).is_some() {
            name.push('\'');
        }
        let span = Span::NONE;
        let name = name.into();
        self.locations.push(Location { name, span });
        LocationId::new(self.locations.len() - 1)
    }

    /// An automaton ω that takes every observation: those that it did not take lead to a new location,
    /// which it never leaves. `finals` are not left either way.
    fn observation_completed(&self, finals: &[LocationId], solver: &mut Solver) -> Self {
        let seen: Vec<GateId> = self
            .gates()
            .filter(|(_, g)| g.kind.is_observation())
            .map(|(id, _)| id)
            .collect();
        let mut open = Vec::new();
        for (source, _) in self.locations().filter(|(l, _)| !finals.contains(l)) {
            for &action in &seen {
                let guard = self.not_taken(source, action);
                let taken = guard.is_false() || matches!(solver.check_with(&guard), Answer::Unsat);
                if !taken {
                    open.push((source, action, guard));
                }
            }
        }
        let mut result = self.clone();
        if open.is_empty() {
            return result;
        }
        let stopped = result.add_location("Stopped");
        open.extend(seen.iter().map(|a| (stopped, *a, true.into())));
        for (source, action, guard) in open {
            result.transitions.push(Transition {
                source,
                action,
                guard,
                assignments: Vec::new(),
                target: stopped,
                span: Span::NONE,
            });
        }
        result.index_outgoing();
        result
    }

    /// The system in which an input is specified only where the condition of the location that it leads
    /// to, over V ∪ C, holds after it. Conditions are by location; one that grows too large is left out.
    #[must_use]
    pub fn aimed(&self, conditions: &[Term]) -> Self {
        let mut result = self.clone();
        for t in &mut result.transitions {
            let condition = &conditions[t.target.index()];
            if self.gate(t.action).kind != LabelKind::Input || condition.is_true() {
                continue;
            }
            let assigned = t.assignments.iter();
            let map = assigned.map(|(x, e)| (self.variables[*x].var.id, e.clone()));
            if let Ok(after) = condition.substitute(&map.collect()) {
                t.guard = Term::all([t.guard.clone(), after]);
            }
        }
        result
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
    ///
    /// Where ω has no step for an observation, the product has none either, and no verdict is defined.
    /// A run that gets there shows no violation any more, so ω gets a location for it that it does not
    /// leave; its language stays what it is.
    pub fn new(
        system: &Iosts,
        observer: &Iosts,
        violating: &[LocationId],
        solver: &mut Solver,
        most: usize,
    ) -> Result<Self, SymbolicTestError> {
        let lists = [violating];
        let (mut test, failing, held) = Self::product(system, observer, &lists, solver, most)?;
        let marked = &held[0];
        for (id, _) in test.model.locations() {
            match (failing.contains(&id), marked.contains(&id)) {
                (true, true) => test.violate_fail.push(id),
                (true, false) => test.fail.push(id),
                (false, true) => test.violate.push(id),
                (false, false) => {}
            }
        }
        test.end_at_verdicts();
        Ok(test)
    }

    /// The same for a test purpose over S^δ. What does not conform fails, whatever the purpose says
    /// of it.
    pub fn towards(
        system: &Iosts,
        purpose: &Iosts,
        accept: &[LocationId],
        refuse: &[LocationId],
        solver: &mut Solver,
        most: usize,
    ) -> Result<Self, SymbolicTestError> {
        let lists = [accept, refuse];
        let (mut test, failing, held) = Self::product(system, purpose, &lists, solver, most)?;
        test.kind = TestKind::Purpose;
        for (id, _) in test.model.locations() {
            if failing.contains(&id) {
                test.fail.push(id);
            } else if held[0].contains(&id) {
                test.accept.push(id);
            } else if held[1].contains(&id) {
                test.inconc.push(id);
            }
        }
        test.end_at_verdicts();
        Ok(test)
    }

    /// ω || Σ!(det(S^δ)), its locations that hold Fail, and those that hold one of each list of final
    /// locations of ω.
    fn product(
        system: &Iosts,
        watcher: &Iosts,
        finals: &[&[LocationId]],
        solver: &mut Solver,
        most: usize,
    ) -> Result<WatchedTest, SymbolicTestError> {
        let deterministic = system.quiescent_with(solver).determinised(solver, most)?;
        let (mut tester, fail) = deterministic.output_completed();
        let name = tester.locations[fail.index()].name.clone();
        tester.locations[fail.index()].name = format!("{MARK}{name}").into();
        let watcher = watcher.observation_completed(&finals.concat(), solver);
        let (mut model, _) = watched_product(&tester, &watcher, &[])?;
        let mut held = Vec::new();
        for list in finals {
            // The product is the same each time.
            held.push(watched_product(&tester, &watcher, list)?.1);
        }
        let mut failing = Vec::new();
        for (i, l) in model.locations.iter_mut().enumerate() {
            if let Some(name) = l.name.strip_prefix(MARK) {
                failing.push(LocationId::new(i));
                l.name = name.into();
            }
        }
        let test = Self::of_parts(model, TestKind::Observer, Vec::new(), Vec::new());
        Ok((test, failing, held))
    }

    /// A test of a model that judges conformance, with the locations Fail and those that are accepted.
    pub(crate) fn of_parts(
        model: Iosts,
        kind: TestKind,
        fail: Vec<LocationId>,
        accept: Vec<LocationId>,
    ) -> Self {
        let mut test = Self {
            model,
            kind,
            fail,
            violate_fail: Vec::new(),
            violate: Vec::new(),
            accept,
            inconc: Vec::new(),
            coreachable: Vec::new(),
        };
        test.end_at_verdicts();
        test
    }

    /// A verdict is final.
    fn end_at_verdicts(&mut self) {
        let ends: Vec<LocationId> = self.verdicts().flatten().copied().collect();
        self.model.transitions.retain(|t| !ends.contains(&t.source));
        self.model.index_outgoing();
    }

    fn verdicts(&self) -> impl Iterator<Item = &Vec<LocationId>> {
        [
            &self.fail,
            &self.violate_fail,
            &self.violate,
            &self.accept,
            &self.inconc,
        ]
        .into_iter()
    }

    pub(crate) fn verdicts_mut(&mut self) -> impl Iterator<Item = &mut Vec<LocationId>> {
        [
            &mut self.fail,
            &mut self.violate_fail,
            &mut self.violate,
            &mut self.accept,
            &mut self.inconc,
        ]
        .into_iter()
    }

    /// The same without transitions that no reachable state takes, and without what every reachable state
    /// satisfies in the guards; an inductive invariant says so. Verdicts that cannot be reached go.
    #[must_use]
    pub fn trimmed(&self, solver: &mut Solver, steps: u64) -> Self {
        let Some(invariant) = reachable(&self.model, solver, steps) else {
            return self.clone();
        };
        let mut result = self.clone();
        let mut never = |terms: Vec<Term>| {
            let all = Term::all(terms).simplify();
            matches!(solver.check_with(&all), Answer::Unsat)
        };
        let transitions = &mut result.model.transitions;
        transitions.retain(|t| {
            let here = invariant.at(t.source).clone();
            !never(vec![here, t.guard.clone()])
        });
        for k in 0..transitions.len() {
            let t = &transitions[k];
            if !t.guard.is_total() {
                continue;
            }
            let here = invariant.at(t.source);
            let others = transitions.iter().enumerate();
            let others =
                others.filter(|(j, o)| *j != k && o.source == t.source && o.action == t.action);
            let others: Vec<Term> = others.map(|(_, o)| o.guard.clone()).collect();
            let mut parts = conjuncts(&t.guard);
            let mut i = 0;
            while i < parts.len() {
                let mut fewer = parts.clone();
                let part = fewer.remove(i);
                let left = Term::all(fewer.iter().cloned());
                // Guards stay exclusive in states that are never reached, too [def. 8].
                let goes = never(vec![here.clone(), left.clone(), part.negated()])
                    && others.iter().all(|o| never(vec![left.clone(), o.clone()]));
                if goes {
                    parts = fewer;
                } else {
                    i += 1;
                }
            }
            transitions[k].guard = Term::all(parts).simplify();
        }
        let entered: Vec<LocationId> = result.model.transitions.iter().map(|t| t.target).collect();
        for list in result.verdicts_mut() {
            list.retain(|l| entered.contains(l));
        }
        result.model.index_outgoing();
        result
    }

    /// prune(S, ω): mirrored, without outputs after which `ViolateFail` cannot be reached any more,
    /// and with `Inconc` for such inputs [def. 15]. `steps` bounds the search for the coreachable
    /// states [def. 14]; where it is not enough, more is kept than need be.
    #[must_use]
    pub fn pruned(&self, solver: &mut Solver, steps: u64) -> Self {
        self.pruned_towards(PruningGoal::ViolateFail, solver, steps)
            .0
    }

    /// The same for a goal, with the coreachability formula of each transition that was removed, narrowed
    /// or led to `Inconc`. The goal of a test purpose are its accepting locations.
    pub fn pruned_towards(
        &self,
        goal: PruningGoal,
        solver: &mut Solver,
        steps: u64,
    ) -> (Self, Vec<PrunedTransition>) {
        let targets: Vec<LocationId> = match (self.kind, goal) {
            (TestKind::Purpose, _) => self.accept.clone(),
            (TestKind::Observer, PruningGoal::ViolateFail) => self.violate_fail.clone(),
            (TestKind::Observer, PruningGoal::Violation) => {
                let all = self.violate_fail.iter().chain(&self.violate);
                all.copied().collect()
            }
        };
        let reach = coreachable(&self.model, &targets, solver, steps);
        self.pruned_by(reach, solver)
    }

    /// The same towards the accepting locations, by conditions that need only be right in states that the
    /// test case reaches: preimages that are never reached need not come to an end.
    pub fn pruned_within_reach(
        &self,
        solver: &mut Solver,
        steps: u64,
    ) -> (Self, Vec<PrunedTransition>) {
        let invariant = reachable(&self.model, solver, steps);
        let invariant = invariant.unwrap_or_else(|| Invariant::trivial(&self.model));
        let reach = coreachable_within(&self.model, &self.accept, &invariant, solver, steps);
        self.pruned_by(reach, solver)
    }

    fn pruned_by(&self, reach: Vec<Term>, solver: &mut Solver) -> (Self, Vec<PrunedTransition>) {
        let mut reasons = Vec::new();
        let mut result = self.clone();
        result.model = self.model.mirrored();
        let inconc = result.model.add_location("Inconc");
        result.inconc.push(inconc);
        let reach = reach.into_iter().map(|condition| total(condition, solver));
        let mut reach: Vec<Term> = reach.collect();
        reach.push(false.into());
        let mut transitions = Vec::new();
        for t in &result.model.transitions {
            let stays = &reach[t.source.index()];
            let guard = both(&t.guard, stays);
            let output = result.model.gate(t.action).kind == LabelKind::Output;
            let mut possible =
                |g: &Term| !g.is_false() && !matches!(solver.check_with(g), Answer::Unsat);
            let lost = both(&t.guard, &stays.negated());
            let (loses, kept) = (possible(&lost), possible(&guard));
            if loses {
                reasons.push(PrunedTransition {
                    transition: t.clone(),
                    coreachable: stays.clone(),
                    redirected: !output,
                    kept,
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
            if kept {
                // What does not narrow the guard need not be said again.
                let guard = if loses { guard } else { t.guard.clone() };
                transitions.push(Transition { guard, ..t.clone() });
            }
        }
        result.model.transitions = transitions;
        result.model.index_outgoing();
        result.coreachable = reach;
        (result, reasons)
    }
}

/// A coreachability condition that has a value everywhere. Where it had none nothing is known, so nothing
/// is pruned.
fn total(condition: Term, solver: &mut Solver) -> Term {
    let lost = condition.defined().negated().simplify();
    if condition.is_total() || matches!(solver.check_with(&lost), Answer::Unsat) {
        condition
    } else {
        Term::any([lost, condition])
    }
}

/// A guard that asks for a condition too. Simplified it could hold where it has no value.
fn both(guard: &Term, condition: &Term) -> Term {
    let both = Term::all([guard.clone(), condition.clone()]);
    if guard.is_total() {
        both.simplify()
    } else {
        both
    }
}

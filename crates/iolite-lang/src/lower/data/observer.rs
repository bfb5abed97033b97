//! Observers and purposes as symbolic systems that watch another one [SYM04, def. 5, 6 and 9].
//!
//! They are lowered over the gates of the system: its inputs and outputs with their parameters, and
//! δ, as S^δ has it. Their variables are their own. An event `!x` without names for the parameters
//! stands for `!x` with whatever values, so an automaton without data is the special case. `*` stands
//! for every valued action that no other transition of the state takes. Where an observer has no step,
//! there is none in the product either: no violation is possible any more. A purpose stays where it is
//! under what it does not name.

use std::collections::BTreeMap;

use iolite_expr::{Answer, Solver, Sort as TermSort, Span as Place, Term, Var};
use iolite_lts::{LabelKind, Labels, StateId};
use iolite_sts::{BuildError, Builder, GateId, Iosts, LocationId};

use super::assignment::Assignments;
use super::machine::MachineLowering;
use super::{Result, build_error};
use crate::lower::automaton::{find, marked};
use crate::lower::machine::{StateTable, initial};
use crate::lower::parse_action;
use crate::lower::term::{Scope, Terms, place, unplace};
use crate::names::unknown_label;
use crate::syntax::ast::{Event, EventKind, File, Machine, Mark, Member, Role, State, Transition};
use crate::{Diagnostic, codes, diagnostic};

/// An observer over the gates of a system.
#[derive(Clone, Debug)]
pub struct DataObserver {
    /// ω, compatible with S^δ.
    pub iosts: Iosts,
    /// The violating locations of ω.
    pub violate: Vec<LocationId>,
    /// What the solver could not decide of the conditions on observers.
    pub warnings: Vec<Diagnostic>,
}

/// A test purpose over the gates of a system.
#[derive(Clone, Debug)]
pub struct DataPurpose {
    /// The automaton, compatible with S^δ.
    pub iosts: Iosts,
    /// The accepting locations.
    pub accept: Vec<LocationId>,
    /// The refusing locations.
    pub refuse: Vec<LocationId>,
    /// What the solver could not decide of the conditions on purposes.
    pub warnings: Vec<Diagnostic>,
}

/// The observer of this name, with or without data, over the gates of a system.
pub fn lower_data_observer(file: &File, name: &str, system: &Iosts) -> Result<DataObserver> {
    let machine = find(file, name, Role::Observer)?;
    let mut found = violation_marks(machine);
    let (iosts, warnings) = match lower(file, machine, system) {
        Ok(lowered) => lowered,
        Err(more) => {
            found.extend(more);
            diagnostic::sort(&mut found);
            return Err(found);
        }
    };
    let violate = locations(machine, Mark::Violate);
    found.extend(warnings);
    found.extend(violating_inputs(&iosts, &violate, machine));
    diagnostic::sort(&mut found);
    if diagnostic::has_errors(&found) {
        return Err(found);
    }
    Ok(DataObserver {
        iosts,
        violate,
        warnings: found,
    })
}

/// What is wrong with an observer with data that names its system, as far as it takes the data to see it: an input that
/// enters a violating state for some of its values. What is wrong with the system is not told here.
pub fn data_observer_lints(file: &File, name: &str) -> Vec<Diagnostic> {
    let Ok(machine) = find(file, name, Role::Observer) else {
        return Vec::new();
    };
    let system = machine.of.as_ref().filter(|_| machine.has_data());
    let Some(Ok(system)) = system.map(|of| super::lower_data(file, &of.text)) else {
        return Vec::new();
    };
    match lower_data_observer(file, name, &system) {
        Ok(observer) => observer.warnings,
        Err(found) => found,
    }
}

/// The purpose of this name, with or without data, over the gates of a system.
pub fn lower_data_purpose(file: &File, name: &str, system: &Iosts) -> Result<DataPurpose> {
    let machine = find(file, name, Role::Purpose)?;
    let (iosts, warnings) = lower(file, machine, system)?;
    let accept = locations(machine, Mark::Accept);
    if accept.is_empty() {
        let none = Diagnostic::error(
            codes::NO_ACCEPT,
            machine.name.span,
            format!("purpose `{}` has no accepting state", machine.name.text),
        );
        return Err(vec![none.hint("write `accept state Done`")]);
    }
    Ok(DataPurpose {
        iosts,
        accept,
        refuse: locations(machine, Mark::Refuse),
        warnings,
    })
}

fn locations(machine: &Machine, mark: Mark) -> Vec<LocationId> {
    let states = marked(machine, mark).into_iter();
    states
        .map(|s: StateId| LocationId::new(s.index()))
        .collect()
}

/// What [SAFE04, def. 5] asks of violating states, as far as it can be seen without data.
fn violation_marks(machine: &Machine) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let violating = |s: &&State| s.marks.contains(&Mark::Violate);
    if machine.states().find(violating).is_none() {
        let none = Diagnostic::error(
            codes::NO_VIOLATE,
            machine.name.span,
            format!("observer `{}` has no violating state", machine.name.text),
        );
        found.push(none.hint("write `violate state Bad`"));
    }
    for state in machine.states().filter(violating) {
        if let Some(first) = state.transitions.first() {
            let left = Diagnostic::error(
                codes::VIOLATE_LEFT,
                first.span,
                format!("violating state `{}` is left again", state.name.text),
            );
            found.push(left.hint("a violation is final; remove the transitions"));
        }
        if state.marks.contains(&Mark::Initial) {
            found.push(Diagnostic::error(
                codes::VIOLATE_INITIAL,
                state.name.span,
                "the initial state cannot be a violating one",
            ));
        }
    }
    found
}

/// Inputs that enter a violating location: the system is not to be blamed for its environment.
fn violating_inputs(iosts: &Iosts, violate: &[LocationId], machine: &Machine) -> Vec<Diagnostic> {
    let mut solver = Solver::embedded();
    let mut found: Vec<Diagnostic> = Vec::new();
    for (_, t) in iosts.transitions() {
        let gate = iosts.gate(t.action);
        if gate.kind != LabelKind::Input || !violate.contains(&t.target) {
            continue;
        }
        let span = unplace(t.span, machine.name.span);
        let message = format!(
            "input `{gate}` enters violating state `{}`, but a violation is an output or δ",
            iosts.location(t.target).name
        );
        let finding = match solver.check_with(&t.guard) {
            Answer::Unsat => continue,
            Answer::Sat(_) => Diagnostic::error(codes::VIOLATE_BY_INPUT, span, message),
            Answer::Unknown(why) => Diagnostic::warning(
                codes::VIOLATE_BY_INPUT,
                span,
                format!("perhaps {message}; not decided: {why}"),
            ),
        };
        if found.iter().all(|d| d.span != span) {
            found.push(finding.hint(
                "the system is blamed for what its environment does; name the inputs apart from `*`",
            ));
        }
    }
    found
}

/// One transition before it is given to the builder.
struct Step {
    gate: GateId,
    guard: Term,
    assignments: Vec<(Var, Term)>,
    target: LocationId,
    span: Place,
}

fn lower(file: &File, machine: &Machine, system: &Iosts) -> Result<(Iosts, Vec<Diagnostic>)> {
    let mut found = Vec::new();
    let table = StateTable::new(machine.states(), &mut found);
    let first = initial(machine, &table, &mut found);
    if !found.is_empty() || first.is_none() {
        return Err(found);
    }
    let terms = Terms::new(file);
    let mut lowering = MachineLowering {
        machine,
        labels: Labels::new(),
        terms: &terms,
        builder: Builder::new(&machine.name.text),
        scope: Scope::new(),
        variables: BTreeMap::new(),
    };
    for member in &machine.members {
        if matches!(
            member,
            Member::Const(_) | Member::Var(_) | Member::Assume { .. }
        ) {
            let none = std::collections::BTreeSet::new();
            lowering.member(member, &none).map_err(|d| vec![d])?;
        }
    }
    let mut watching = Watching {
        file,
        system,
        gates: Vec::new(),
        lowering,
    };
    watching.gates()?;
    watching.locations()?;
    let mut steps: Vec<Vec<Step>> = Vec::new();
    for state in machine.states() {
        steps.push(watching.steps(state, &table)?);
    }
    let mut solver = Solver::embedded();
    for (state, steps) in machine.states().zip(&steps) {
        watching.is_deterministic(state, steps, &mut solver, &mut found);
    }
    if diagnostic::has_errors(&found) {
        diagnostic::sort(&mut found);
        return Err(found);
    }
    let wrong = |e: BuildError| vec![build_error(&e, machine.name.span)];
    let mut builder = watching.lowering.builder;
    for (k, steps) in steps.into_iter().enumerate() {
        for s in steps {
            let source = LocationId::new(k);
            builder
                .transition(
                    source,
                    s.gate,
                    Some(s.guard),
                    s.assignments,
                    s.target,
                    s.span,
                )
                .map_err(wrong)?;
        }
    }
    Ok((builder.build().map_err(wrong)?, found))
}

struct Watching<'a, 'f> {
    file: &'f File,
    system: &'a Iosts,
    /// The visible gates of the system and δ, in the builder.
    gates: Vec<GateId>,
    lowering: MachineLowering<'a, 'f>,
}

impl<'a> Watching<'a, '_> {
    fn gates(&mut self) -> Result<()> {
        let machine = self.lowering.machine;
        let at = place(machine.name.span);
        let visible = |k: LabelKind| matches!(k, LabelKind::Input | LabelKind::Output);
        for (_, gate) in self.system.gates().filter(|(_, g)| visible(g.kind)) {
            let params: Vec<(&str, TermSort)> = gate
                .params
                .iter()
                .map(|p| (&*p.name, p.sort.clone()))
                .collect();
            let id = self
                .lowering
                .builder
                .gate(gate.kind, &gate.name, &params, at)
                .map_err(|e| vec![build_error(&e, machine.name.span)])?;
            self.gates.push(id);
            self.lowering.labels.intern(gate.kind, &gate.name);
        }
        for (_, gate) in self.system.gates().filter(|(_, g)| !visible(g.kind)) {
            self.lowering.labels.intern(gate.kind, &gate.name);
        }
        self.gates.push(self.lowering.builder.delta(at));
        Ok(())
    }

    fn locations(&mut self) -> Result<()> {
        let machine = self.lowering.machine;
        for state in machine.states() {
            let initial = state.marks.contains(&Mark::Initial);
            self.lowering
                .builder
                .location(&state.name.text, initial, place(state.name.span))
                .map_err(|e| vec![build_error(&e, state.name.span)])?;
        }
        Ok(())
    }

    fn steps(&self, state: &'a State, table: &StateTable<'_>) -> Result<Vec<Step>> {
        let mut found = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut rest: Option<(&Transition, LocationId)> = None;
        let machine = self.lowering.machine;
        let own = format!("{} `{}`", machine.role.keyword(), machine.name.text);
        for t in &state.transitions {
            let Some(target) = table.find(&t.target, &own, &mut found) else {
                continue;
            };
            let target = LocationId::new(target.index());
            for event in &t.events {
                if event.kind == EventKind::Any {
                    if let Some((first, _)) = rest {
                        let second = Diagnostic::error(
                            codes::WILDCARD_TWICE,
                            event.span,
                            format!("state `{}` has a second `*`", state.name.text),
                        );
                        found.push(second.related(first.span, "the first one"));
                    } else {
                        rest = Some((t, target));
                    }
                    continue;
                }
                match self.step(t, event, target) {
                    Ok(step) => steps.push(step),
                    Err(error) => found.push(error),
                }
            }
        }
        if let Some((t, target)) = rest {
            match self.others(t, target, &steps) {
                Ok(more) => steps.extend(more),
                Err(error) => found.push(error),
            }
        }
        if machine.role == Role::Purpose
            && let Some(own) = table.find(&state.name, &own, &mut found)
        {
            let stays = self.staying(LocationId::new(own.index()), state, &steps);
            steps.extend(stays);
        }
        if found.is_empty() {
            Ok(steps)
        } else {
            diagnostic::sort(&mut found);
            Err(found)
        }
    }

    /// What `*` stands for: each gate with the values that no other transition takes.
    fn others(
        &self,
        t: &Transition,
        target: LocationId,
        steps: &[Step],
    ) -> Result<Vec<Step>, Diagnostic> {
        let lowering = &self.lowering;
        let guard = self.guard(t, &lowering.scope)?;
        let assignments =
            Assignments::new(lowering.terms, &lowering.scope, &lowering.variables).of(&t.effects)?;
        let mut more = Vec::new();
        for &gate in &self.gates {
            let taken = steps.iter().filter(|s| s.gate == gate);
            let free = taken.flat_map(|s| [s.guard.defined(), s.guard.negated()]);
            // Where a guard has no value nobody knows what is left over.
            let free = free.chain([guard.defined(), guard.clone()]);
            let guard = Term::all(free).simplify();
            if !guard.is_false() {
                more.push(Step {
                    gate,
                    guard,
                    assignments: assignments.clone(),
                    target,
                    span: place(t.span),
                });
            }
        }
        Ok(more)
    }

    /// A purpose stays where it is under what no transition takes.
    fn staying(&self, own: LocationId, state: &State, steps: &[Step]) -> Vec<Step> {
        let mut more = Vec::new();
        for &gate in &self.gates {
            let taken = steps.iter().filter(|s| s.gate == gate);
            let free = taken.flat_map(|s| [s.guard.defined(), s.guard.negated()]);
            let guard = Term::all(free).simplify();
            if !guard.is_false() {
                more.push(Step {
                    gate,
                    guard,
                    assignments: Vec::new(),
                    target: own,
                    span: place(state.name.span),
                });
            }
        }
        more
    }

    fn guard(&self, t: &Transition, scope: &Scope) -> Result<Term, Diagnostic> {
        let guard = t.guard.as_ref();
        let guard = guard.map(|g| self.lowering.terms.term(g, scope, Some(&TermSort::Bool)));
        Ok(guard.transpose()?.unwrap_or_else(|| true.into()))
    }

    fn step(&self, t: &Transition, event: &Event, target: LocationId) -> Result<Step, Diagnostic> {
        let lowering = &self.lowering;
        let (gate, values) = self.gate(event)?;
        let mut scope = lowering.scope.clone();
        let params = lowering.builder.params(gate);
        if let EventKind::Label {
            args: Some(args), ..
        } = &event.kind
        {
            if args.len() != params.len() {
                return Err(Diagnostic::error(
                    codes::EVENT_ARITY,
                    event.span,
                    format!("the label has {} parameters", params.len()),
                ));
            }
            for (arg, param) in args.iter().zip(params).filter(|(a, _)| a.text != "_") {
                scope.insert(arg.text.clone(), param.term());
            }
        }
        let guard = self.guard(t, &scope)?;
        let assignments =
            Assignments::new(lowering.terms, &scope, &lowering.variables).of(&t.effects)?;
        Ok(Step {
            gate,
            guard: Term::all(values.into_iter().chain([guard])),
            assignments,
            target,
            span: place(t.span),
        })
    }

    /// The gate of an event, and what its text says of the values: `?"REQ(1)"`.
    fn gate(&self, event: &Event) -> Result<(GateId, Vec<Term>), Diagnostic> {
        let lowering = &self.lowering;
        let model = lowering.builder.model();
        let machine = lowering.machine;
        let own = format!("{} `{}`", machine.role.keyword(), machine.name.text);
        let internal = || {
            Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                format!("{own} cannot see internal actions"),
            )
        };
        match &event.kind {
            EventKind::Delta => model
                .find_gate(LabelKind::Delta, "delta")
                .map(|id| (id, Vec::new()))
                .ok_or_else(internal),
            EventKind::Tau => Err(internal()),
            EventKind::Label { kind, name, .. } => {
                if let Some(id) = model.find_gate(*kind, &name.text) {
                    return Ok((id, Vec::new()));
                }
                if *kind == LabelKind::Undirected
                    && self
                        .system
                        .find_gate(LabelKind::Internal, &name.text)
                        .is_some()
                {
                    return Err(internal());
                }
                let text = format!("{}{}", kind.sigil(), name.text);
                if let Some(valued) = parse_action(self.file, model, &text) {
                    let params = lowering.builder.params(valued.action).iter();
                    let equal = params
                        .zip(&valued.values)
                        .map(|(p, v)| p.term().equals_value(v).ok())
                        .collect::<Option<Vec<Term>>>();
                    if let Some(equal) = equal {
                        return Ok((valued.action, equal));
                    }
                }
                let whose = format!("system `{}`", self.system.name());
                Err(unknown_label(event, &lowering.labels, &whose))
            }
            EventKind::Any | EventKind::Offer { .. } => Err(Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                "this event cannot stand here",
            )),
        }
    }

    /// The guards of one action from one location exclude one another [SYM04, def. 8].
    fn is_deterministic(
        &self,
        state: &State,
        steps: &[Step],
        solver: &mut Solver,
        found: &mut Vec<Diagnostic>,
    ) {
        let model = self.lowering.builder.model();
        let machine = self.lowering.machine;
        let own = format!("{} `{}`", machine.role.keyword(), machine.name.text);
        for (i, a) in steps.iter().enumerate() {
            for b in steps[i + 1..].iter().filter(|b| b.gate == a.gate) {
                if a.target == b.target && a.assignments == b.assignments {
                    continue;
                }
                let gate = model.gate(a.gate);
                let both = Term::all([a.guard.clone(), b.guard.clone()]);
                let names = [a, b].map(|s| model.location(s.target).name.to_string());
                let (here, there) = (
                    unplace(b.span, machine.name.span),
                    unplace(a.span, machine.name.span),
                );
                let finding = match solver.check_with(&both) {
                    Answer::Unsat => continue,
                    Answer::Sat(values) => {
                        let vars = both.free_vars();
                        let with: Vec<String> = vars
                            .iter()
                            .filter_map(|v| Some(format!("{} = {}", v.name, values.value(v.id)?)))
                            .collect();
                        let with = match with.len() {
                            0 => String::new(),
                            _ => format!(" with {}", with.join(", ")),
                        };
                        Diagnostic::error(
                            codes::NONDETERMINISTIC,
                            here,
                            format!(
                                "`{gate}`{with} leads from state `{}` to `{}` and to `{}`",
                                state.name.text, names[0], names[1]
                            ),
                        )
                        .hint(format!(
                            "{own} must be deterministic: let the guards exclude one another"
                        ))
                    }
                    Answer::Unknown(why) => Diagnostic::warning(
                        codes::NONDETERMINISTIC,
                        here,
                        format!(
                            "`{gate}` may lead from state `{}` to `{}` and to `{}`: not decided, {why}",
                            state.name.text, names[0], names[1]
                        ),
                    ),
                };
                found.push(finding.related(there, "the other transition"));
            }
        }
    }
}

//! Composition with value passing: `|[A]|`, hiding, renaming, and instances.

use std::collections::BTreeMap;

use iolite_expr::{Substitution, Term, Value, Var, VarId};
use iolite_lts::Gates;

use crate::iosts::{
    Constant, Gate, GateId, Iosts, LabelKind, Location, LocationId, Transition, Variable, space,
};

/// Why systems cannot be composed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// An action has two signatures.
    #[error("{action} has different parameters in {left} and {right}")]
    Signature {
        /// The action's name.
        action: Box<str>,
        /// One system.
        left: Box<str>,
        /// The other.
        right: Box<str>,
    },
    /// Alphabets that def. 5 wants to be the same are not.
    #[error("{action} is an action of {has} and not of {lacks}: the systems are not compatible")]
    Incompatible {
        /// The action, with its sigil.
        action: Box<str>,
        /// The system that has it.
        has: Box<str>,
        /// The one that does not.
        lacks: Box<str>,
    },
    /// A value for a constant that is not there, or of a wrong sort.
    #[error("{system} has no constant {constant} of that sort")]
    NoConstant {
        /// The system.
        system: Box<str>,
        /// The constant.
        constant: Box<str>,
    },
    /// Values that the system's assumptions rule out.
    #[error("{system} does not allow these values: {assumption} is false")]
    Assumption {
        /// The system.
        system: Box<str>,
        /// The broken assumption.
        assumption: String,
    },
    /// An action to be hidden or renamed that is not there.
    #[error("{system} has no action {action}")]
    NoAction {
        /// The system.
        system: Box<str>,
        /// The action.
        action: Box<str>,
    },
    /// More locations than ids.
    #[error("the composition has too many locations")]
    TooLarge,
}

/// Locations that a composition may have.
const MAX_LOCATIONS: usize = 1_000_000;

/// The data of a component under new identities and names.
struct Moved {
    map: Substitution,
    first_variable: usize,
}

impl Moved {
    fn term(&self, t: &Term) -> Term {
        // A renaming keeps the size.
        t.substitute(&self.map).unwrap_or_else(|_| t.clone())
    }

    fn assignments(&self, t: &Transition) -> Vec<(usize, Term)> {
        t.assignments
            .iter()
            .map(|(x, e)| (x + self.first_variable, self.term(e)))
            .collect()
    }
}

fn take_name(taken: &[&str], system: &str, name: &str) -> String {
    if taken.contains(&name) {
        format!("{system}.{name}")
    } else {
        name.to_owned()
    }
}

/// Moves the data of `from` into `into`, renamed where names clash.
fn move_data(from: &Iosts, into: &mut Iosts) -> Moved {
    let mut map = Substitution::new();
    let first_variable = into.variables.len();
    let taken: Vec<String> = into
        .variables
        .iter()
        .map(|v| v.var.name.to_string())
        .chain(into.constants.iter().map(|c| c.var.name.to_string()))
        .collect();
    let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
    for c in &from.constants {
        let name = take_name(&taken, &from.name, &c.var.name);
        let id = VarId::new(space::CONSTANT, into.constants.len());
        let var = Var::new(id, &name, c.var.sort.clone());
        map.insert(c.var.id, var.term());
        into.constants.push(Constant { var, span: c.span });
    }
    for v in &from.variables {
        let name = take_name(&taken, &from.name, &v.var.name);
        let id = VarId::new(space::VARIABLE, into.variables.len());
        let var = Var::new(id, &name, v.var.sort.clone());
        map.insert(v.var.id, var.term());
        into.variables.push(Variable {
            var,
            initial: v.initial.clone(),
            span: v.span,
        });
    }
    let moved = Moved {
        map,
        first_variable,
    };
    for v in &mut into.variables[first_variable..] {
        v.initial = v.initial.as_ref().map(|t| moved.term(t));
    }
    into.assumptions
        .extend(from.assumptions.iter().map(|a| moved.term(a)));
    moved
}

fn meets(gates: &Gates, action: &Gate) -> bool {
    action.kind.is_visible()
        && match gates {
            Gates::All => true,
            Gates::Names(names) => names.contains(&*action.name),
            Gates::None => false,
        }
}

fn joint_kind(left: LabelKind, right: LabelKind) -> LabelKind {
    // An output meets an input as the output, as in the explicit composition.
    if left == right {
        left
    } else {
        LabelKind::Output
    }
}

pub(crate) fn same_signature(a: &Gate, b: &Gate) -> bool {
    a.params.len() == b.params.len()
        && a.params
            .iter()
            .zip(&b.params)
            .all(|(p, q)| p.sort == q.sort)
}

impl Iosts {
    /// `self |[A]| other`: actions named in `A` happen in both together and carry the same values;
    /// all others in one alone. An output that meets an input is an output, still visible.
    ///
    /// Only pairs of locations that the transitions connect are built.
    pub fn compose(&self, other: &Self, gates: &Gates) -> Result<Self, ComposeError> {
        let mut result = Self {
            name: format!("{}_{}", self.name, other.name).into(),
            variables: Vec::new(),
            constants: Vec::new(),
            assumptions: Vec::new(),
            locations: Vec::new(),
            initial: LocationId::new(0),
            gates: Vec::new(),
            transitions: Vec::new(),
            outgoing: Vec::new(),
        };
        let left = move_data(self, &mut result);
        let right = move_data(other, &mut result);
        let mut actions: BTreeMap<(LabelKind, Box<str>), GateId> = BTreeMap::new();
        let mut intern = |result: &mut Self, kind: LabelKind, from: &Gate| {
            // Internal actions of two components are different ones, whatever they are called.
            let key = (kind, from.name.clone());
            let known = actions.get(&key).copied();
            if let Some(id) = known.filter(|id| same_signature(&result.gates[id.index()], from)) {
                id
            } else {
                let id = GateId::new(result.gates.len());
                result.gates.push(Gate {
                    kind,
                    ..from.clone()
                });
                actions.entry(key).or_insert(id);
                id
            }
        };
        for a in self.gates.iter().filter(|a| meets(gates, a)) {
            for b in other.gates.iter().filter(|b| meets(gates, b)) {
                if a.name == b.name && !same_signature(a, b) {
                    return Err(ComposeError::Signature {
                        action: a.name.clone(),
                        left: self.name.clone(),
                        right: other.name.clone(),
                    });
                }
            }
        }
        // Declared actions stay in the alphabet even where no transition carries them.
        let alone_left: Vec<GateId> = self
            .gates
            .iter()
            .map(|a| intern(&mut result, a.kind, a))
            .collect();
        let alone_right: Vec<GateId> = other
            .gates
            .iter()
            .map(|a| intern(&mut result, a.kind, a))
            .collect();

        let mut index: BTreeMap<(LocationId, LocationId), LocationId> = BTreeMap::new();
        let mut pairs: Vec<(LocationId, LocationId)> = Vec::new();
        let mut place = |result: &mut Self, pairs: &mut Vec<_>, l: LocationId, r: LocationId| {
            *index.entry((l, r)).or_insert_with(|| {
                let (a, b) = (self.location(l), other.location(r));
                result.locations.push(Location {
                    name: format!("{}.{}", a.name, b.name).into(),
                    span: a.span,
                });
                pairs.push((l, r));
                LocationId::new(pairs.len() - 1)
            })
        };
        place(&mut result, &mut pairs, self.initial, other.initial);
        let mut next = 0;
        while next < pairs.len() {
            if pairs.len() > MAX_LOCATIONS {
                return Err(ComposeError::TooLarge);
            }
            let (l, r) = pairs[next];
            let source = LocationId::new(next);
            next += 1;
            for &t in self.outgoing(l) {
                let t = self.transition(t);
                let a = self.gate(t.action);
                if !meets(gates, a) {
                    let target = place(&mut result, &mut pairs, t.target, r);
                    result.transitions.push(Transition {
                        source,
                        action: alone_left[t.action.index()],
                        guard: left.term(&t.guard),
                        assignments: left.assignments(t),
                        target,
                        span: t.span,
                    });
                    continue;
                }
                for &u in other.outgoing(r) {
                    let u = other.transition(u);
                    let b = other.gate(u.action);
                    if !meets(gates, b) || a.name != b.name {
                        continue;
                    }
                    let kind = joint_kind(a.kind, b.kind);
                    let action = intern(&mut result, kind, a);
                    let target = place(&mut result, &mut pairs, t.target, u.target);
                    let mut assignments = left.assignments(t);
                    assignments.extend(right.assignments(u));
                    result.transitions.push(Transition {
                        source,
                        action,
                        guard: Term::all([left.term(&t.guard), right.term(&u.guard)]),
                        assignments,
                        target,
                        span: t.span,
                    });
                }
            }
            for &u in other.outgoing(r) {
                let u = other.transition(u);
                if meets(gates, other.gate(u.action)) {
                    continue;
                }
                let target = place(&mut result, &mut pairs, l, u.target);
                result.transitions.push(Transition {
                    source,
                    action: alone_right[u.action.index()],
                    guard: right.term(&u.guard),
                    assignments: right.assignments(u),
                    target,
                    span: u.span,
                });
            }
        }
        // An input that always meets an output is no input of the composition.
        let met: Vec<(LabelKind, Box<str>)> = self
            .gates
            .iter()
            .filter(|a| meets(gates, a))
            .flat_map(|a| {
                other
                    .gates
                    .iter()
                    .filter(|b| meets(gates, b) && a.name == b.name)
                    .map(move |b| (joint_kind(a.kind, b.kind), a.name.clone()))
            })
            .collect();
        let gone: Vec<bool> = result
            .gates
            .iter()
            .map(|a| {
                meets(gates, a)
                    && met.iter().any(|(_, n)| *n == a.name)
                    && !met.contains(&(a.kind, a.name.clone()))
            })
            .collect();
        result.drop_actions(&gone);
        result.index_outgoing();
        Ok(result)
    }

    /// Removes actions that no transition carries.
    pub(crate) fn drop_actions(&mut self, gone: &[bool]) {
        let mut map = Vec::new();
        let mut kept = Vec::new();
        for (a, gone) in std::mem::take(&mut self.gates).into_iter().zip(gone) {
            map.push(GateId::new(kept.len()));
            if !gone {
                kept.push(a);
            }
        }
        self.gates = kept;
        for t in &mut self.transitions {
            t.action = map[t.action.index()];
        }
    }

    /// The system with visible actions of these names made internal. Their parameters stay, now
    /// chosen by the system itself.
    pub fn hide(&self, names: &[&str]) -> Result<Self, ComposeError> {
        let mut result = self.clone();
        for name in names {
            let mut found = false;
            for a in result.gates.iter_mut().filter(|a| &*a.name == *name) {
                a.kind = LabelKind::Internal;
                found = true;
            }
            if !found {
                return Err(ComposeError::NoAction {
                    system: self.name.clone(),
                    action: (*name).into(),
                });
            }
        }
        Ok(result)
    }

    /// The system with actions renamed. Two actions of one kind and signature may become one.
    pub fn rename(&self, map: &[(&str, &str)]) -> Result<Self, ComposeError> {
        let mut result = self.clone();
        for (from, _) in map {
            if !self.gates.iter().any(|a| &*a.name == *from) {
                return Err(ComposeError::NoAction {
                    system: self.name.clone(),
                    action: (*from).into(),
                });
            }
        }
        for a in &mut result.gates {
            if let Some((_, to)) = map.iter().find(|(from, _)| &*a.name == *from) {
                a.name = (*to).into();
            }
        }
        let mut first: Vec<GateId> = Vec::new();
        let mut gone = vec![false; result.gates.len()];
        for (i, a) in result.gates.iter().enumerate() {
            let same = result.gates[..i]
                .iter()
                .position(|b| a.kind == b.kind && a.name == b.name);
            match same {
                Some(j) if same_signature(a, &result.gates[j]) => {
                    gone[i] = true;
                    first.push(first[j]);
                }
                Some(_) => {
                    return Err(ComposeError::Signature {
                        action: a.name.clone(),
                        left: self.name.clone(),
                        right: self.name.clone(),
                    });
                }
                None => first.push(GateId::new(i)),
            }
        }
        for t in &mut result.transitions {
            t.action = first[t.action.index()];
        }
        result.drop_actions(&gone);
        result.index_outgoing();
        Ok(result)
    }

    /// An instance, `Sender(max = 3)`: the system with values for some of its constants.
    pub fn instance(&self, name: &str, values: &[(&str, Value)]) -> Result<Self, ComposeError> {
        let mut map = Substitution::new();
        for (constant, value) in values {
            let known = self.constants.iter().find(|c| &*c.var.name == *constant);
            match known {
                Some(c) if c.var.sort.contains(value) => map.insert_value(&c.var, value.clone()),
                _ => {
                    return Err(ComposeError::NoConstant {
                        system: self.name.clone(),
                        constant: (*constant).into(),
                    });
                }
            }
        }
        let mut result = self.clone();
        result.name = name.into();
        // The other constants move together.
        result.constants.clear();
        for c in &self.constants {
            if map.get(c.var.id).is_none() {
                let id = VarId::new(space::CONSTANT, result.constants.len());
                let var = Var {
                    id,
                    ..c.var.clone()
                };
                map.insert(c.var.id, var.term());
                result.constants.push(Constant { var, span: c.span });
            }
        }
        // A value may be larger than its constant's name: then the term stays as it is large.
        let with = |t: &Term| t.substitute(&map).map_err(|_| ComposeError::TooLarge);
        for v in &mut result.variables {
            v.initial = v.initial.as_ref().map(with).transpose()?;
        }
        for t in &mut result.transitions {
            t.guard = with(&t.guard)?;
            for (_, e) in &mut t.assignments {
                *e = with(e)?;
            }
        }
        let mut assumptions = Vec::new();
        for a in &self.assumptions {
            let b = with(a)?;
            let simple = b.simplify();
            if simple.is_false() {
                return Err(ComposeError::Assumption {
                    system: self.name.clone(),
                    assumption: a.to_string(),
                });
            }
            if !(simple.is_true() && b.is_ground()) {
                assumptions.push(b);
            }
        }
        result.assumptions = assumptions;
        Ok(result)
    }
}

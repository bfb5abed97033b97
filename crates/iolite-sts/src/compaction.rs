//! A symbolic test case without what nobody reads: locations that no transition leads to, variables and
//! constants that no guard depends on, and constants under two names.

use std::collections::BTreeSet;

use iolite_expr::{Kind, Op, Substitution, Term, Var, VarId};

use crate::iosts::{Constant, Iosts, LocationId, Transition, Variable, space};
use crate::symbolic_test::SymbolicTest;

impl SymbolicTest {
    /// The same test case, as small as it can be said: the traces and their verdicts are those of
    /// before. Data have names of their own.
    #[must_use]
    pub fn compacted(&self) -> Self {
        let mut result = self.clone();
        result.drop_locations();
        result.join_constants();
        result.drop_data();
        result
    }

    /// Only locations that transitions lead to stay.
    fn drop_locations(&mut self) {
        let model = &mut self.model;
        let mut new: Vec<Option<LocationId>> = vec![None; model.locations.len()];
        let mut open = vec![model.initial];
        let mut seen = BTreeSet::from([model.initial]);
        while let Some(l) = open.pop() {
            for &t in model.outgoing(l) {
                let target = model.transition(t).target;
                if seen.insert(target) {
                    open.push(target);
                }
            }
        }
        for (kept, l) in seen.iter().enumerate() {
            new[l.index()] = Some(LocationId::new(kept));
        }
        let place = |l: LocationId| new[l.index()];
        let mut at = 0;
        model.locations.retain(|_| {
            at += 1;
            new[at - 1].is_some()
        });
        model.initial = place(model.initial).unwrap_or(model.initial);
        model.transitions.retain_mut(|t| {
            let (Some(source), Some(target)) = (place(t.source), place(t.target)) else {
                return false;
            };
            (t.source, t.target) = (source, target);
            true
        });
        model.index_outgoing();
        for list in self.verdicts_mut() {
            *list = list.iter().filter_map(|l| place(*l)).collect();
        }
        let mut at = 0;
        self.coreachable.retain(|_| {
            at += 1;
            new[at - 1].is_some()
        });
    }

    /// A constant of ω that is assumed to be one of S is read as that one.
    fn join_constants(&mut self) {
        let is_constant = |v: &&Var| v.id.space() == space::CONSTANT;
        let twins: Vec<(Var, Var)> = self
            .model
            .assumptions
            .iter()
            .filter_map(|a| match a.kind() {
                Kind::App(Op::Eq, sides) => {
                    let one = sides[0].as_var().filter(is_constant)?;
                    let other = sides[1].as_var().filter(is_constant)?;
                    (one.sort == other.sort).then(|| (one.clone(), other.clone()))
                }
                _ => None,
            })
            .collect();
        let mut map = Substitution::new();
        for (one, other) in twins {
            let (kept, gone) = if one.id < other.id {
                (one, other)
            } else {
                (other, one)
            };
            // Chains of equal constants are left as they are.
            if kept.id != gone.id && map.get(kept.id).is_none() && map.get(gone.id).is_none() {
                map.insert(gone.id, kept.term());
            }
        }
        self.rewrite(|_| Some(map.clone()));
        let trivial = |a: &Term| match a.kind() {
            Kind::App(Op::Eq, sides) => {
                sides[0] == sides[1] && sides[0].as_var().is_some_and(|v| is_constant(&v))
            }
            _ => false,
        };
        self.model.assumptions.retain(|a| !trivial(a));
    }

    /// Data that no guard depends on go, and the names of the others are told apart.
    fn drop_data(&mut self) {
        let model = &self.model;
        let mut live: BTreeSet<VarId> = BTreeSet::new();
        let read = |t: &Term| t.free_vars().into_iter().map(|v| v.id).collect::<Vec<_>>();
        for t in &model.transitions {
            live.extend(read(&t.guard));
            // A term without a value keeps a transition from being taken.
            for (x, e) in t.assignments.iter().filter(|(_, e)| !e.is_total()) {
                live.insert(model.variables[*x].var.id);
                live.extend(read(e));
            }
        }
        for term in model.assumptions.iter().chain(&self.coreachable) {
            live.extend(read(term));
        }
        loop {
            let before = live.len();
            for t in &model.transitions {
                for (x, e) in &t.assignments {
                    if live.contains(&model.variables[*x].var.id) {
                        live.extend(read(e));
                    }
                }
            }
            for v in &model.variables {
                if let Some(initial) = &v.initial
                    && (live.contains(&v.var.id) || !initial.is_total())
                {
                    live.insert(v.var.id);
                    live.extend(read(initial));
                }
            }
            if live.len() == before {
                break;
            }
        }
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut map = Substitution::new();
        let mut constants = Vec::new();
        for c in model.constants.iter().filter(|c| live.contains(&c.var.id)) {
            let id = VarId::new(space::CONSTANT, constants.len());
            let var = Var::new(id, &own_name(&c.var.name, &mut taken), c.var.sort.clone());
            map.insert(c.var.id, var.term());
            constants.push(Constant { var, span: c.span });
        }
        let mut variables: Vec<Variable> = Vec::new();
        let mut places: Vec<Option<usize>> = Vec::new();
        for v in &model.variables {
            places.push(live.contains(&v.var.id).then_some(variables.len()));
            if !live.contains(&v.var.id) {
                continue;
            }
            let id = VarId::new(space::VARIABLE, variables.len());
            let var = Var::new(id, &own_name(&v.var.name, &mut taken), v.var.sort.clone());
            map.insert(v.var.id, var.term());
            variables.push(Variable { var, ..v.clone() });
        }
        for t in &mut self.model.transitions {
            t.assignments = std::mem::take(&mut t.assignments)
                .into_iter()
                .filter_map(|(x, e)| Some((places[x]?, e)))
                .collect();
        }
        self.model.constants = constants;
        self.model.variables = variables;
        // Parameters are told apart from the data by name as well.
        let mut params: Vec<Substitution> = Vec::new();
        for gate in &mut self.model.gates {
            let mut own = map.clone();
            let mut here = taken.clone();
            for p in &mut gate.params {
                let var = Var::new(p.id, &own_name(&p.name, &mut here), p.sort.clone());
                own.insert(p.id, var.term());
                *p = var;
            }
            params.push(own);
        }
        self.rewrite(|transition| match transition {
            Some(t) => params.get(t.action.index()).cloned(),
            None => Some(map.clone()),
        });
    }

    /// Puts terms for variables everywhere.
    fn rewrite(&mut self, map: impl Fn(Option<&Transition>) -> Option<Substitution>) {
        // A renaming keeps the size.
        let put = |term: &Term, map: &Option<Substitution>| {
            let new = map.as_ref().and_then(|map| term.substitute(map).ok());
            new.unwrap_or_else(|| term.clone())
        };
        let Iosts {
            transitions,
            variables,
            assumptions,
            ..
        } = &mut self.model;
        for t in transitions {
            let own = map(Some(t));
            t.guard = put(&t.guard, &own);
            for (_, e) in &mut t.assignments {
                *e = put(e, &own);
            }
        }
        let data = map(None);
        let initial = variables.iter_mut().filter_map(|v| v.initial.as_mut());
        for term in initial.chain(assumptions).chain(&mut self.coreachable) {
            *term = put(term, &data);
        }
    }
}

/// The name, or a longer one where it is taken.
fn own_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut own = name.to_owned();
    let mut n = 1;
    while !taken.insert(own.clone()) {
        n += 1;
        own = format!("{name}_{n}");
    }
    own
}

//! One instance of an action, `on(1)`, apart from the others: what `hide`, `rename` and `|[…]|` need
//! to name it.

use iolite_expr::{Sort, Substitution, Term, Value, Var, VarId};

use crate::compose::same_signature;
use crate::iosts::{Gate, GateId, Iosts, Transition, space};
use crate::{ComposeError, LabelKind};

fn has_instance(action: &Gate, name: &str, values: &[Value]) -> bool {
    action.kind.is_visible()
        && *action.name == *name
        && action.params.len() == values.len()
        && action
            .params
            .iter()
            .zip(values)
            .all(|(param, value)| param.sort.contains(value))
}

/// The parameters have these values.
fn equal(params: &[Var], values: &[Value]) -> Result<Term, ComposeError> {
    let equal = params
        .iter()
        .zip(values)
        .map(|(param, value)| param.term().equals_value(value))
        .collect::<Result<Vec<_>, _>>();
    Ok(Term::all(equal.map_err(|_| ComposeError::TooLarge)?))
}

fn with(map: &Substitution, t: &Transition) -> Result<Transition, ComposeError> {
    let term = |term: &Term| term.substitute(map).map_err(|_| ComposeError::TooLarge);
    Ok(Transition {
        guard: term(&t.guard)?,
        assignments: t
            .assignments
            .iter()
            .map(|(x, e)| Ok((*x, term(e)?)))
            .collect::<Result<_, ComposeError>>()?,
        ..t.clone()
    })
}

impl Iosts {
    /// The parameters of a visible action of this name that can carry these values.
    pub fn instance_params(&self, name: &str, values: &[Value]) -> Option<&[Var]> {
        let action = self.gates.iter().find(|a| has_instance(a, name, values))?;
        Some(&action.params)
    }

    /// The system in which the instance of an action with these values is an action of its own,
    /// called `alone` and without parameters. Each transition becomes two: one with the values put in,
    /// one for all other values.
    pub fn single_out(
        &self,
        name: &str,
        values: &[Value],
        alone: &str,
    ) -> Result<Self, ComposeError> {
        let mut result = self.clone();
        let mut singled: Vec<Option<GateId>> = vec![None; self.gates.len()];
        for (k, action) in self.gates.iter().enumerate() {
            if !has_instance(action, name, values) {
                continue;
            }
            let same = |a: &Gate| a.kind == action.kind && *a.name == *alone && a.params.is_empty();
            let known = result.gates.iter().position(same);
            let index = known.unwrap_or_else(|| {
                result.gates.push(Gate {
                    name: alone.into(),
                    params: Vec::new(),
                    ..action.clone()
                });
                result.gates.len() - 1
            });
            singled[k] = Some(GateId::new(index));
        }
        if singled.iter().all(Option::is_none) {
            return Err(ComposeError::NoAction {
                system: self.name.clone(),
                action: alone.into(),
            });
        }
        result.transitions.clear();
        for t in &self.transitions {
            let Some(own) = singled[t.action.index()] else {
                result.transitions.push(t.clone());
                continue;
            };
            let params = &self.gate(t.action).params;
            let mut map = Substitution::new();
            for (param, value) in params.iter().zip(values) {
                map.insert_value(param, value.clone());
            }
            let one = Transition {
                action: own,
                ..with(&map, t)?
            };
            // The other values come first, so that the guard is not asked about this one.
            let others = equal(params, values)?.negated();
            let rest = Transition {
                guard: Term::all([others, t.guard.clone()]),
                ..t.clone()
            };
            let possible = [one, rest].into_iter();
            result
                .transitions
                .extend(possible.filter(|t| !t.guard.simplify().is_false()));
        }
        result.index_outgoing();
        Ok(result)
    }

    /// The system with the visible actions called `from` renamed to `to`, and these values put before
    /// the parameters. They become one action with those that are called `to` already, and must agree
    /// with them on the parameters.
    pub fn rename_with_values(
        &self,
        from: &str,
        to: &str,
        values: &[(Sort, Value)],
    ) -> Result<Self, ComposeError> {
        let mut result = self.clone();
        let mut into: Vec<GateId> = (0..self.gates.len()).map(GateId::new).collect();
        let mut gone = vec![false; self.gates.len()];
        let renamed = |a: &Gate| a.kind.is_visible() && *a.name == *from;
        for (k, action) in self.gates.iter().enumerate().filter(|(_, a)| renamed(a)) {
            let action = Gate {
                name: to.into(),
                params: prefixed(&action.params, values),
                ..action.clone()
            };
            let same = |(j, other): &(usize, &Gate)| {
                *j != k && other.kind == action.kind && other.name == action.name
            };
            let known = result.gates.iter().enumerate().find(same);
            match known.map(|(j, other)| (j, same_signature(other, &action))) {
                None => result.gates[k] = action,
                Some((j, true)) => {
                    into[k] = GateId::new(j);
                    gone[k] = true;
                }
                Some((_, false)) => {
                    return Err(ComposeError::Signature {
                        action: to.into(),
                        left: self.name.clone(),
                        right: self.name.clone(),
                    });
                }
            }
        }
        let given: Vec<Value> = values.iter().map(|(_, value)| value.clone()).collect();
        result.transitions.clear();
        for t in &self.transitions {
            let old = self.gate(t.action);
            if !renamed(old) {
                result.transitions.push(t.clone());
                continue;
            }
            let target = into[t.action.index()];
            let params = &result.gates[target.index()].params;
            let map: Substitution = old
                .params
                .iter()
                .zip(&params[given.len()..])
                .map(|(old, new)| (old.id, new.term()))
                .collect();
            let moved = with(&map, t)?;
            let guard = Term::all([equal(&params[..given.len()], &given)?, moved.guard.clone()]);
            result.transitions.push(Transition {
                action: target,
                guard,
                ..moved
            });
        }
        result.drop_actions(&gone);
        result.index_outgoing();
        Ok(result)
    }

    /// Whether there is a visible action of this name.
    pub fn has_action(&self, name: &str) -> bool {
        let mut named = self.gates.iter().filter(|a| *a.name == *name);
        named.any(|a| a.kind != LabelKind::Internal)
    }
}

/// The parameters behind new ones for these values, numbered anew.
fn prefixed(params: &[Var], values: &[(Sort, Value)]) -> Vec<Var> {
    let fresh = |k: usize| {
        let mut name = format!("v{k}");
        while params.iter().any(|p| *p.name == *name) {
            name.push('_');
        }
        name
    };
    let first = values
        .iter()
        .enumerate()
        .map(|(k, (sort, _))| Var::new(VarId::new(space::PARAMETER, k), &fresh(k), sort.clone()));
    let then = params.iter().enumerate().map(|(k, param)| Var {
        id: VarId::new(space::PARAMETER, values.len() + k),
        ..param.clone()
    });
    first.chain(then).collect()
}

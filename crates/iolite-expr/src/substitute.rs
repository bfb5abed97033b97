//! Substitution and free variables.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::{Kind, Op};
use crate::{Term, TermTooLarge, Value, Var, VarId};

/// A map from variables to terms, applied in parallel.
#[derive(Clone, Debug, Default)]
pub struct Substitution(FxHashMap<VarId, Term>);

impl Substitution {
    /// The identity.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps `var` to `term`. The term's sort must fit the variable's.
    pub fn insert(&mut self, var: VarId, term: Term) {
        self.0.insert(var, term);
    }

    /// Maps `var` to the value.
    pub fn insert_value(&mut self, var: &Var, value: Value) {
        self.0
            .insert(var.id, Term::value_of_sort(value, var.sort.clone()));
    }

    /// What `var` is mapped to.
    pub fn get(&self, var: VarId) -> Option<&Term> {
        self.0.get(&var)
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(VarId, Term)> for Substitution {
    fn from_iter<I: IntoIterator<Item = (VarId, Term)>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl Term {
    /// The term with variables replaced in parallel. Shared subterms are visited once.
    ///
    /// Bound variables of a quantifier shadow the substitution. What is substituted must not
    /// read them: this crate only quantifies over action parameters, which no value reads.
    pub fn substitute(&self, map: &Substitution) -> Result<Self, TermTooLarge> {
        if map.is_empty() || self.is_ground() {
            return Ok(self.clone());
        }
        self.substituted(map, &mut FxHashMap::default()).bounded()
    }

    pub(crate) fn substituted(
        &self,
        map: &Substitution,
        memo: &mut FxHashMap<usize, Self>,
    ) -> Self {
        if self.is_ground() {
            return self.clone();
        }
        match self.kind() {
            Kind::Lit(_) => self.clone(),
            Kind::Var(v) => map.get(v.id).unwrap_or(self).clone(),
            Kind::App(Op::Exists(vars), args) => {
                let inner: Substitution = map
                    .0
                    .iter()
                    .filter(|(id, _)| vars.iter().all(|v| v.id != **id))
                    .map(|(id, t)| (*id, t.clone()))
                    .collect();
                self.with_args(vec![args[0].substituted(&inner, &mut FxHashMap::default())])
            }
            Kind::App(op @ (Op::ForAll(x) | Op::ForSome(x)), args) => {
                let array = args[0].substituted(map, memo);
                let mut inner: Substitution = map
                    .0
                    .iter()
                    .filter(|(id, _)| **id != x.id)
                    .map(|(id, t)| (*id, t.clone()))
                    .collect();
                // A term that is put in may read a variable of the same name from outside.
                let body_vars = args[1].free_vars();
                let captured = body_vars
                    .iter()
                    .filter_map(|v| inner.get(v.id))
                    .any(|t| t.reads(x.id));
                let mut x = x.clone();
                if captured {
                    let used = body_vars.iter().filter_map(|v| inner.get(v.id));
                    let taken = used
                        .flat_map(Self::free_vars)
                        .chain(body_vars.iter().cloned());
                    let own = taken.filter(|v| v.id.space() == VarId::BOUND_SPACE);
                    let free = own.map(|v| v.id.index() + 1).max().unwrap_or(0);
                    let old = x.id;
                    x.id = VarId::new(VarId::BOUND_SPACE, free);
                    inner.insert(old, x.term());
                }
                let body = args[1].substituted(&inner, &mut FxHashMap::default());
                let op = if matches!(op, Op::ForAll(_)) {
                    Op::ForAll(x)
                } else {
                    Op::ForSome(x)
                };
                Self::bool_app(op, vec![array, body])
            }
            Kind::App(_, args) => {
                if let Some(done) = memo.get(&self.key()) {
                    return done.clone();
                }
                let new: Vec<Self> = args.iter().map(|a| a.substituted(map, memo)).collect();
                let changed = new.iter().zip(args).any(|(n, o)| n.key() != o.key());
                let result = if changed {
                    self.with_args(new)
                } else {
                    self.clone()
                };
                memo.insert(self.key(), result.clone());
                result
            }
        }
    }

    /// The free variables, in the order of their ids.
    pub fn free_vars(&self) -> Vec<Var> {
        let mut vars = BTreeMap::new();
        self.collect_vars(&mut vars, &mut FxHashSet::default());
        vars.into_values().collect()
    }

    /// Adds the free variables to `out`.
    pub(crate) fn collect_vars(&self, out: &mut BTreeMap<VarId, Var>, seen: &mut FxHashSet<usize>) {
        if self.is_ground() {
            return;
        }
        match self.kind() {
            Kind::Lit(_) => {}
            Kind::Var(v) => {
                out.entry(v.id).or_insert_with(|| v.clone());
            }
            Kind::App(Op::Exists(bound), args) => {
                let mut inner = BTreeMap::new();
                args[0].collect_vars(&mut inner, &mut FxHashSet::default());
                for (id, v) in inner {
                    if bound.iter().all(|b| b.id != id) {
                        out.entry(id).or_insert(v);
                    }
                }
            }
            Kind::App(Op::ForAll(x) | Op::ForSome(x), args) => {
                args[0].collect_vars(out, seen);
                for v in args[1].free_vars() {
                    if v.id != x.id {
                        out.entry(v.id).or_insert(v);
                    }
                }
            }
            Kind::App(_, args) => {
                if seen.insert(self.key()) {
                    args.iter().for_each(|a| a.collect_vars(out, seen));
                }
            }
        }
    }

    /// Whether the variable occurs free.
    pub fn reads(&self, var: VarId) -> bool {
        !self.is_ground() && self.free_vars().iter().any(|v| v.id == var)
    }
}

//! Which variables of a model an abstract state describes, and how.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_expr::{Int, Op, Sort, Span, Term, Value, Var, VarId};

use super::{Constraint, Dim};
use crate::Iosts;

/// What an abstract state may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Numeric coordinates; further variables are abstracted away.
    pub dimensions: usize,
    /// Further coordinates while a term is evaluated, for what is not linear.
    pub auxiliaries: usize,
    /// Finite variables; further ones are abstracted away.
    pub finite: usize,
    /// Values of a finite variable; a variable with more is abstracted away.
    pub values: usize,
    /// Valuations of the finite variables that are told apart; beyond that a variable is
    /// forgotten.
    pub parts: usize,
    /// Steps that the evaluation of one guard or assignment takes; what remains is not understood.
    pub steps: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            dimensions: 40,
            auxiliaries: 12,
            finite: 200,
            values: 64,
            parts: 64,
            steps: 2_000,
        }
    }
}

/// What a numeric coordinate stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The value of an integer variable.
    Value(Var),
    /// The length of an array variable.
    Length(Var),
}

impl Quantity {
    /// The term with this value.
    pub fn term(&self) -> Term {
        match self {
            Self::Value(v) => v.term(),
            Self::Length(v) => {
                Term::apply(Op::Len, vec![v.term()], Span::NONE).expect("the variable is an array")
            }
        }
    }

    /// What its sort says of it.
    fn constraints(&self, x: Dim) -> Vec<Constraint> {
        match self {
            Self::Length(_) => vec![Constraint::lower(x, &Int::ZERO)],
            Self::Value(v) => of_sort(&v.sort, x),
        }
    }
}

/// The bounds of a range sort.
pub(super) fn of_sort(sort: &Sort, x: Dim) -> Vec<Constraint> {
    match sort {
        Sort::Range(r) => vec![Constraint::lower(x, &r.lo), Constraint::upper(x, &r.hi)],
        _ => Vec::new(),
    }
}

/// How a variable is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// By a coordinate: its value, or the length of an array.
    Numeric(Dim),
    /// By the valuation, at this index.
    Finite(usize),
}

/// A Boolean or enumeration variable.
#[derive(Clone, Debug)]
pub(super) struct FiniteVariable {
    pub(super) var: Var,
    pub(super) values: Vec<Value>,
}

/// The variables that an abstract state describes: integers and lengths of arrays as coordinates,
/// Booleans and enumerations as finite data. Strings, records and the elements of arrays are
/// abstracted away.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    quantities: Vec<Quantity>,
    pub(super) finite: Vec<FiniteVariable>,
    /// `None` for a variable of which nothing is known.
    roles: BTreeMap<VarId, Option<Role>>,
    ignored: Vec<Var>,
    limits: Limits,
}

impl Vocabulary {
    /// The vocabulary of these variables.
    pub fn new(vars: impl IntoIterator<Item = Var>, limits: Limits) -> Arc<Self> {
        let mut result = Self {
            limits,
            ..Self::default()
        };
        vars.into_iter().for_each(|v| result.add(v));
        Arc::new(result)
    }

    /// The symbolic constants and the variables of a model, C ∪ V.
    pub fn of(model: &Iosts, limits: Limits) -> Arc<Self> {
        let constants = model.constants().iter().map(|c| c.var.clone());
        let variables = model.variables().iter().map(|v| v.var.clone());
        Self::new(constants.chain(variables), limits)
    }

    /// The vocabulary with further variables, such as the parameters of an action. One that is
    /// known already is not added again.
    pub fn extended(&self, vars: impl IntoIterator<Item = Var>) -> Arc<Self> {
        let mut result = self.clone();
        vars.into_iter().for_each(|v| result.add(v));
        Arc::new(result)
    }

    fn add(&mut self, var: Var) {
        if self.knows(&var) {
            return;
        }
        let dim = Dim::new(self.quantities.len());
        let has_room = self.quantities.len() < self.limits.dimensions;
        let role = match &var.sort {
            Sort::Int | Sort::Range(_) if has_room => {
                self.quantities.push(Quantity::Value(var.clone()));
                Some(Role::Numeric(dim))
            }
            Sort::Array(_) if has_room => {
                self.quantities.push(Quantity::Length(var.clone()));
                Some(Role::Numeric(dim))
            }
            // The index of a value is 16 bits wide.
            Sort::Bool | Sort::Enum(_) if self.finite.len() < self.limits.finite => {
                let most = self.limits.values.min(1 << 15) as u64;
                var.sort.values(most).map(|values| {
                    let var = var.clone();
                    self.finite.push(FiniteVariable { var, values });
                    Role::Finite(self.finite.len() - 1)
                })
            }
            _ => None,
        };
        self.roles.insert(var.id, role);
        if role.is_none() {
            self.ignored.push(var);
        }
    }

    /// Whether the variable was given, described or not.
    pub(super) fn knows(&self, var: &Var) -> bool {
        self.roles.contains_key(&var.id)
    }

    /// The coordinates in order.
    pub fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }

    /// The variables of which nothing is known, because of their sorts or the limits.
    pub fn ignored(&self) -> &[Var] {
        &self.ignored
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The coordinate of a variable: its value, or the length of an array.
    pub fn dim(&self, var: VarId) -> Option<Dim> {
        match self.role(var) {
            Some(Role::Numeric(x)) => Some(x),
            _ => None,
        }
    }

    pub(super) fn role(&self, var: VarId) -> Option<Role> {
        self.roles.get(&var).copied().flatten()
    }

    /// What the sorts say of a coordinate.
    pub(super) fn sort_constraints(&self, x: Dim) -> Vec<Constraint> {
        self.quantities
            .get(x.index())
            .map_or_else(Vec::new, |q| q.constraints(x))
    }

    /// What the sorts say of all coordinates from `first` on.
    pub(super) fn sorts_from(&self, first: usize) -> Vec<Constraint> {
        (first..self.quantities.len())
            .flat_map(|x| self.sort_constraints(Dim::new(x)))
            .collect()
    }
}

//! Parts of a row of values: a variable, or what fields of records and variants lead to.

use crate::term::{Kind, Op};
use crate::{Sort, Term, Value, Var};

/// A variable of a row, or a part of its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// The position of the variable.
    pub(super) column: usize,
    fields: Vec<Access>,
}

/// One step into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    /// A field of a record.
    Field(u32),
    /// A field, the second number, of the variant of the first.
    Get(u32, u32),
}

impl Part {
    /// A whole variable.
    pub(super) fn whole(column: usize) -> Self {
        Self {
            column,
            fields: Vec::new(),
        }
    }

    /// What a term reads, if it is nothing but a part of one of the variables.
    pub(super) fn of(term: &Term, vars: &[Var]) -> Option<Self> {
        match term.kind() {
            Kind::Var(v) => Some(Self::whole(vars.iter().position(|x| x == v)?)),
            Kind::App(Op::Field(i), args) => {
                Some(Self::of(&args[0], vars)?.then(Access::Field(*i)))
            }
            Kind::App(Op::Get(variant, i), args) => {
                Some(Self::of(&args[0], vars)?.then(Access::Get(*variant, *i)))
            }
            _ => None,
        }
    }

    fn then(mut self, access: Access) -> Self {
        self.fields.push(access);
        self
    }

    /// A field of a record.
    pub(super) fn field(&self, i: u32) -> Self {
        self.clone().then(Access::Field(i))
    }

    /// A field of a variant of a sum.
    pub(super) fn get(&self, variant: u32, i: u32) -> Self {
        self.clone().then(Access::Get(variant, i))
    }

    /// Whether one is a part of the other, or they are the same.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.column == other.column && self.fields.iter().zip(&other.fields).all(|(a, b)| a == b)
    }

    /// Its sort.
    pub(super) fn sort(&self, vars: &[Var]) -> Option<Sort> {
        let mut sort = vars.get(self.column)?.sort.clone();
        for access in &self.fields {
            sort = match (access, &sort) {
                (Access::Field(i), Sort::Record(r)) => r.fields.get(*i as usize)?.1.clone(),
                (Access::Get(variant, i), Sort::Sum(s)) => s.field_sort(*variant, *i)?,
                _ => return None,
            };
        }
        Some(sort)
    }

    /// Its value in a row; `None` where the value is of another variant.
    pub(super) fn value<'a>(&self, row: &'a [Value]) -> Option<&'a Value> {
        let mut value = row.get(self.column)?;
        for access in &self.fields {
            value = match (access, value) {
                (Access::Field(i), Value::Record(_, fields)) => fields.get(*i as usize)?,
                (Access::Get(variant, i), Value::Sum(sum)) if sum.variant() == *variant => {
                    sum.fields().get(*i as usize)?
                }
                _ => return None,
            };
        }
        Some(value)
    }

    /// The row's value of its variable with this part replaced; a variant that it needs is made with
    /// plain fields. `None` where the value does not fit.
    pub(super) fn replaced(&self, vars: &[Var], row: &[Value], value: Value) -> Option<Value> {
        let sort = &vars.get(self.column)?.sort;
        put(row.get(self.column)?, sort, &self.fields, value)
    }
}

fn put(whole: &Value, sort: &Sort, fields: &[Access], value: Value) -> Option<Value> {
    let Some((first, rest)) = fields.split_first() else {
        return sort.contains(&value).then_some(value);
    };
    match (first, whole) {
        (Access::Field(i), Value::Record(r, items)) => {
            let i = *i as usize;
            let mut items = items.to_vec();
            items[i] = put(items.get(i)?, &r.fields.get(i)?.1, rest, value)?;
            Some(Value::Record(r.clone(), items.into()))
        }
        (Access::Get(variant, i), Value::Sum(sum)) => {
            let sorts = sum.sort().field_sorts(*variant);
            let mut items = if sum.variant() == *variant {
                sum.fields().to_vec()
            } else {
                sorts.iter().map(Sort::default_value).collect()
            };
            let i = *i as usize;
            items[i] = put(items.get(i)?, sorts.get(i)?, rest, value)?;
            Value::sum(sum.sort(), *variant, items)
        }
        _ => None,
    }
}

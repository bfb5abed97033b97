//! Conditions and values of a symbolic model as texts that can be read again.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Sort as TermSort, Substitution, Term, Value, Var};
use iolite_sts::Iosts;

use super::term::{Scope, Terms};
use super::unfolded::expression;
use crate::syntax::ast::File;

/// The names under which the variables and constants of a model stand in texts: their own, unless
/// these are no names of the language, as `Watch.n` in a product, or stand for something else too.
#[derive(Clone, Debug)]
pub struct DataNames {
    /// Variables and then constants, with their names.
    names: Vec<(Var, String)>,
    renaming: Substitution,
    /// Declares the sorts of the model, wherever they were declared.
    sorts: File,
}

impl DataNames {
    /// The names of a model's data.
    pub fn of(model: &Iosts) -> Self {
        let variables = model.variables().iter().map(|v| &v.var);
        let data = variables.chain(model.constants().iter().map(|c| &c.var));
        Self::over(&data.cloned().collect::<Vec<Var>>())
    }

    /// The names of these variables.
    pub fn over(data: &[Var]) -> Self {
        let mut declared = BTreeMap::new();
        for var in data {
            declare(&var.sort, &mut declared);
        }
        let text: String = declared.values().map(|(text, _)| text.as_str()).collect();
        let variants = declared.values().flat_map(|(_, values)| values);
        let mut taken: BTreeSet<String> = variants.cloned().collect();
        let mut names = Vec::new();
        let mut renaming = Substitution::new();
        for var in data {
            let plain = |c: char| {
                let own = c.is_alphanumeric() || c == '\'' && !var.name.starts_with('\'');
                if own { c } else { '_' }
            };
            let wished: String = var.name.chars().map(plain).collect();
            let mut name = wished.clone();
            let mut number = 1;
            while !taken.insert(name.clone()) {
                number += 1;
                name = format!("{wished}_{number}");
            }
            if name != *var.name {
                let other = Var::new(var.id, &name, var.sort.clone());
                renaming.insert(var.id, other.term());
            }
            names.push((var.clone(), name));
        }
        Self {
            names,
            renaming,
            sorts: crate::parse(&text).0,
        }
    }

    /// The name of a variable or constant; `None` for what is not of the model.
    pub fn name(&self, var: &Var) -> Option<&str> {
        let found = self.names.iter().find(|(own, _)| own == var);
        found.map(|(_, name)| name.as_str())
    }

    /// A condition as text.
    pub fn write(&self, condition: &Term) -> String {
        let renamed = condition.substitute(&self.renaming);
        // A renaming keeps the size.
        renamed.unwrap_or_else(|_| condition.clone()).to_string()
    }

    /// The condition that a text means.
    ///
    /// # Errors
    ///
    /// Why it is none over the data of the model.
    pub fn read(&self, text: &str) -> Result<Term, String> {
        let pairs = self.names.iter().map(|(v, name)| (name.clone(), v.term()));
        let scope: Scope = pairs.collect();
        let terms = Terms::new(&self.sorts);
        let term = terms
            .term(&expression(text)?, &scope, Some(&TermSort::Bool))
            .map_err(|d| d.message)?;
        match term.sort() {
            TermSort::Bool => Ok(term),
            other => Err(format!("`{text}` is of sort {other}, and no condition")),
        }
    }

    /// The value of this sort that a text means.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub fn read_value(&self, text: &str, sort: &TermSort) -> Result<Value, String> {
        super::parse_value(&self.sorts, text, sort)
    }
}

/// The declaration of a sort and of those within it, with the values of enumerations.
fn declare(sort: &TermSort, all: &mut BTreeMap<String, (String, Vec<String>)>) {
    match sort {
        TermSort::Array(of) | TermSort::Set(of) => declare(of, all),
        TermSort::Map(m) => {
            declare(&m.0, all);
            declare(&m.1, all);
        }
        TermSort::Enum(e) => {
            let values: Vec<String> = e.variants.iter().map(ToString::to_string).collect();
            let text = format!("enum {} {{ {} }}\n", e.name, values.join(", "));
            all.insert(e.name.to_string(), (text, values));
        }
        TermSort::Record(r) => {
            for (_, field) in &r.fields {
                declare(field, all);
            }
            let fields = r
                .fields
                .iter()
                .map(|(name, sort)| format!("{name}: {sort}"));
            let fields: Vec<String> = fields.collect();
            let text = format!("record {} {{ {} }}\n", r.name, fields.join(", "));
            all.insert(r.name.to_string(), (text, Vec::new()));
        }
        TermSort::Sum(sum) => {
            if all.contains_key(sum.name()) {
                return;
            }
            let (mut text, mut values) = (format!("type {} = ", sum.name()), Vec::new());
            for (k, variant) in sum.variants().iter().enumerate() {
                text += if k == 0 { "" } else { " | " };
                text += &variant.name;
                let sorts = sum.field_sorts(k as u32);
                let fields = variant.fields.iter().zip(&sorts);
                let fields = fields.map(|((name, _), sort)| format!("{name}: {sort}"));
                let fields: Vec<String> = fields.collect();
                if !fields.is_empty() {
                    text += &format!("({})", fields.join(", "));
                }
                values.push(variant.name.to_string());
            }
            // Before its fields, which may be of the same sort.
            all.insert(sum.name().to_owned(), (text + "\n", values));
            for k in 0..sum.variants().len() {
                for sort in sum.field_sorts(k as u32) {
                    declare(&sort, all);
                }
            }
        }
        // Members are only within the declarations of sums.
        TermSort::Member(_)
        | TermSort::Bool
        | TermSort::Int
        | TermSort::Decimal(_)
        | TermSort::Range(_)
        | TermSort::String => {}
    }
}

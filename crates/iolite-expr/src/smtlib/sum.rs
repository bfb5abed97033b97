//! Sums as SMT-LIB datatypes.

use std::fmt::Write as _;

use super::print::{Printed, Printer, Unprintable, has_array};
use crate::{Sort, SumSort};

/// How deep the ranges in a recursive sum are asked for; a model that breaks one further down is
/// refused by evaluation.
const MAX_CONSTRAINED: u32 = 3;

impl Printer {
    /// Declares the sums of a group, and the arrays and records that contain them, at once.
    pub(super) fn declare_sum(&mut self, sum: &SumSort, out: &mut String) {
        let (group, _) = sum.group();
        let members: Vec<SumSort> = (0..group.len() as u32).map(|i| sum.sibling(i)).collect();
        let mut block: Vec<Sort> = members.iter().cloned().map(Sort::Sum).collect();
        for sort in &block {
            self.enter_sort(sort);
        }
        let mut at = 0;
        while at < block.len() {
            let parts = match block[at].clone() {
                Sort::Sum(s) => {
                    let variants = 0..s.variants().len() as u32;
                    variants.flat_map(|v| s.field_sorts(v)).collect()
                }
                Sort::Array(e) => vec![(*e).clone()],
                Sort::Record(r) => r.fields.iter().map(|(_, s)| s.clone()).collect(),
                _ => Vec::new(),
            };
            for part in parts {
                if self.is_entered(&part) {
                    continue;
                }
                if contains_any(&part, &members) {
                    self.enter_sort(&part);
                    block.push(part);
                } else {
                    self.declare_sort(&part, out);
                }
            }
            at += 1;
        }
        let (mut names, mut bodies) = (String::new(), String::new());
        for sort in &block {
            let _ = write!(names, "({} 0)", self.sort_name(sort));
            let _ = write!(bodies, "({})", self.constructors(sort));
        }
        let _ = writeln!(out, "(declare-datatypes ({names}) ({bodies}))");
    }

    /// The constructors of a datatype, as they are declared.
    pub(super) fn constructors(&self, sort: &Sort) -> String {
        let n = self.number(sort);
        let mut text = String::new();
        match sort {
            Sort::Array(e) => {
                let element = self.sort_name(e);
                let _ = write!(
                    text,
                    "(mk-A{n} (len-A{n} Int) (data-A{n} (Array Int {element})))"
                );
            }
            Sort::Record(r) => {
                let _ = write!(text, "(mk-R{n}");
                for (i, (_, s)) in r.fields.iter().enumerate() {
                    let _ = write!(text, " (f{i}-R{n} {})", self.sort_name(s));
                }
                text.push(')');
            }
            Sort::Sum(s) => {
                for v in 0..s.variants().len() as u32 {
                    let _ = write!(text, "(c{v}-S{n}");
                    for (i, field) in s.field_sorts(v).iter().enumerate() {
                        let _ = write!(text, " (g{v}-{i}-S{n} {})", self.sort_name(field));
                    }
                    text.push(')');
                }
            }
            _ => {}
        }
        text
    }

    pub(super) fn construct(&self, sort: &Sort, variant: u32, parts: &[String]) -> String {
        let n = self.number(sort);
        if parts.is_empty() {
            format!("c{variant}-S{n}")
        } else {
            format!("(c{variant}-S{n} {})", parts.join(" "))
        }
    }

    pub(super) fn is_of(&self, term: &str, sort: &Sort, variant: u32) -> String {
        format!("((_ is c{variant}-S{}) {term})", self.number(sort))
    }

    pub(super) fn part_of(&self, term: &str, sort: &Sort, variant: u32, field: u32) -> String {
        format!("(g{variant}-{field}-S{} {term})", self.number(sort))
    }

    /// The number of the variant that a sum is of.
    pub(super) fn tag_of(&self, term: &str, sort: &Sort) -> String {
        let Sort::Sum(s) = sort else {
            return "0".to_owned();
        };
        let last = s.variants().len() as u32 - 1;
        (0..last).rev().fold(last.to_string(), |rest, v| {
            format!("(ite {} {v} {rest})", self.is_of(term, sort, v))
        })
    }

    /// What the sorts of a sum's fields say beyond SMT-LIB's sorts.
    pub(super) fn sum_constraint(
        &mut self,
        term: &str,
        sum: &SumSort,
        depth: u32,
    ) -> Option<String> {
        if sum.is_recursive() && depth >= MAX_CONSTRAINED {
            return None;
        }
        let sort = Sort::Sum(sum.clone());
        let mut parts = Vec::new();
        for v in 0..sum.variants().len() as u32 {
            for (i, field) in sum.field_sorts(v).iter().enumerate() {
                let part = self.part_of(term, &sort, v, i as u32);
                let said = match field {
                    Sort::Sum(inner) => self.sum_constraint(&part, inner, depth + 1),
                    // The constraint of an array is a quantifier of its own.
                    _ if sum.is_recursive() && has_array(field) => None,
                    _ => self.constraint(&part, field),
                };
                if let Some(said) = said {
                    parts.push(format!("(=> {} {said})", self.is_of(term, &sort, v)));
                }
            }
        }
        (!parts.is_empty()).then(|| format!("(and {})", parts.join(" ")))
    }

    /// Arrays are compared up to their length, so sums with arrays field by field.
    pub(super) fn equal_sums(&mut self, sum: &SumSort, a: &str, b: &str) -> Printed {
        let sort = Sort::Sum(sum.clone());
        if !has_array(&sort) {
            return Ok(format!("(= {a} {b})"));
        }
        if sum.is_recursive() {
            return Err(Unprintable("a comparison of recursive values with arrays"));
        }
        let mut cases = Vec::new();
        for v in 0..sum.variants().len() as u32 {
            let mut same = vec![self.is_of(a, &sort, v), self.is_of(b, &sort, v)];
            for (i, field) in sum.field_sorts(v).iter().enumerate() {
                let i = i as u32;
                let (x, y) = (self.part_of(a, &sort, v, i), self.part_of(b, &sort, v, i));
                same.push(self.equal(field, &x, &y)?);
            }
            cases.push(format!("(and {})", same.join(" ")));
        }
        Ok(format!("(or {})", cases.join(" ")))
    }
}

fn contains_any(sort: &Sort, sums: &[SumSort]) -> bool {
    match sort {
        Sort::Sum(s) => sums.contains(s),
        Sort::Array(e) => contains_any(e, sums),
        Sort::Record(r) => r.fields.iter().any(|(_, s)| contains_any(s, sums)),
        _ => false,
    }
}

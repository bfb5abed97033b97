//! Simple conditions that are often invariant: bounds, differences, sums, remainders, and the
//! conditions that the model itself asks for.

use std::collections::BTreeSet;

use iolite_expr::{Int, Kind, Op, Sort, Term, Value};

use super::cube::apply;
use super::problem::Problem;
use crate::iosts::space;

/// Candidates that are tried at each location.
const MOST: usize = 400;
/// Numbers of the model that bounds are tried with.
const NUMBERS: usize = 10;
/// Variables and constants that are related to one another.
const RELATED: usize = 24;
/// Greatest modulus of a remainder.
const MODULUS: i64 = 6;

/// What a model's terms are made of.
#[derive(Default)]
struct Parts {
    numbers: BTreeSet<Int>,
    moduli: BTreeSet<Int>,
    /// Comparisons and flags over V ∪ C.
    atoms: Vec<Term>,
}

impl Parts {
    fn visit(&mut self, term: &Term) {
        if let Some(n) = term.as_value().and_then(Value::as_int) {
            self.numbers.insert(n.clone());
        }
        let Kind::App(op, args) = term.kind() else {
            return;
        };
        if *op == Op::Mod
            && let Some(n) = args[1].as_value().and_then(Value::as_int)
        {
            self.moduli.insert(n.clone());
        }
        let connective = matches!(op, Op::Not | Op::And | Op::Or | Op::Implies | Op::Ite);
        let own = |t: &Term| {
            let vars = t.free_vars();
            let spaces = [space::VARIABLE, space::CONSTANT];
            vars.iter().any(|v| v.id.space() == space::VARIABLE)
                && vars.iter().all(|v| spaces.contains(&v.id.space()))
        };
        if *term.sort() == Sort::Bool && !connective && own(term) && !self.atoms.contains(term) {
            self.atoms.push(term.clone());
        }
        args.iter().for_each(|a| self.visit(a));
    }
}

/// The candidates, the most telling ones first.
pub(super) fn candidates(problem: &Problem<'_>) -> Vec<Term> {
    let model = problem.model;
    let mut parts = Parts::default();
    for (id, t) in model.transitions() {
        parts.visit(problem.enabled(id));
        parts.visit(&t.guard);
        t.assignments.iter().for_each(|(_, e)| parts.visit(e));
    }
    parts.visit(&problem.initial());
    let mut numbers: Vec<Int> = [0, 1].map(Int::from).to_vec();
    let mut own: Vec<Int> = parts.numbers.iter().cloned().collect();
    own.sort_by_key(Int::abs);
    numbers.extend(own.into_iter().take(NUMBERS));
    let steps: Vec<Int> = numbers
        .iter()
        .flat_map(|n| [n.clone(), n + &Int::from(1), n - &Int::from(1)])
        .collect();
    for n in steps {
        if !numbers.contains(&n) {
            numbers.push(n);
        }
    }
    let mut out: Vec<Term> = Vec::new();
    let mut add = |t: Option<Term>| {
        if let Some(t) = t.map(|t| t.simplify())
            && !t.is_true()
            && !t.is_false()
            && t.is_total()
            && !out.contains(&t)
            && out.len() < MOST
        {
            out.push(t);
        }
    };
    let (mut variables, mut constants, mut flags) = (Vec::new(), Vec::new(), Vec::new());
    for v in problem.data() {
        let list = if v.id.space() == space::VARIABLE {
            &mut variables
        } else {
            &mut constants
        };
        match &v.sort {
            Sort::Int | Sort::Range(_) => list.push(v.term()),
            Sort::Array(_) => list.extend(apply(Op::Len, vec![v.term()])),
            Sort::Bool if v.id.space() == space::VARIABLE => flags.push(v.term()),
            sort @ Sort::Enum(_) if v.id.space() == space::VARIABLE => {
                for value in sort.values(8).unwrap_or_default() {
                    add(v.term().equals_value(&value).ok());
                    add(v.term().equals_value(&value).ok().map(|t| t.negated()));
                }
            }
            Sort::Record(r) => {
                let numbers = r.fields.iter().enumerate().filter(|(_, (_, s))| s.is_int());
                for (i, _) in numbers {
                    list.extend(apply(Op::Field(i as u32), vec![v.term()]));
                }
            }
            _ => {}
        }
    }
    variables.truncate(RELATED);
    constants.truncate(RELATED);
    flags.truncate(RELATED);
    parts.atoms.truncate(MOST);
    for f in &flags {
        add(Some(f.clone()));
        add(Some(f.negated()));
    }
    for (i, f) in flags.iter().enumerate() {
        for g in &flags[i + 1..] {
            add(apply(Op::Eq, vec![f.clone(), g.clone()]));
            add(apply(Op::Ne, vec![f.clone(), g.clone()]));
            add(Some(Term::any([f.negated(), g.negated()])));
        }
    }
    for a in &parts.atoms {
        add(Some(a.clone()));
        add(Some(a.negated()));
    }
    for (i, x) in variables.iter().enumerate() {
        for n in &numbers {
            add(x.ge(n.clone()).ok());
            add(x.le(n.clone()).ok());
        }
        for y in variables[i + 1..].iter().chain(&constants) {
            for n in [0, -1, 1] {
                let other = y.plus(n).ok();
                add(other.clone().and_then(|o| x.le(o).ok()));
                add(other.and_then(|o| x.ge(o).ok()));
            }
        }
    }
    let mut moduli = parts.moduli;
    let one = Int::from(1);
    moduli.extend(parts.numbers.iter().filter(|n| **n > one).cloned());
    let most = Int::from(MODULUS);
    for m in moduli.into_iter().filter(|m| *m <= most) {
        for x in &variables {
            let mut r = Int::from(0);
            while r < m {
                let rest = x.modulo(m.clone()).ok();
                add(rest.and_then(|rest| rest.equals(r.clone()).ok()));
                r = &r + &Int::from(1);
            }
        }
    }
    // Sums and differences.
    for (i, x) in variables.iter().enumerate() {
        for y in &variables[i + 1..] {
            for sum in [x.plus(y).ok(), x.minus(y).ok()].into_iter().flatten() {
                let others = variables.iter().chain(&constants);
                for z in others.filter(|z| *z != x && *z != y) {
                    add(sum.le(z).ok());
                    add(sum.ge(z).ok());
                }
                for n in &numbers {
                    add(sum.le(n.clone()).ok());
                    add(sum.ge(n.clone()).ok());
                }
            }
        }
    }
    for f in &flags {
        for a in parts.atoms.iter().filter(|a| !flags.contains(a)) {
            for (f, a) in [(f.clone(), a.clone()), (f.negated(), a.clone())] {
                add(Some(Term::any([f.clone(), a.clone()])));
                add(Some(Term::any([f, a.negated()])));
            }
        }
    }
    out
}

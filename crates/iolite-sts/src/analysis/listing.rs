//! All, or some, values under which a condition holds.

use iolite_expr::{Answer, Model, Term, Value, Var};
use rustc_hash::FxHashMap;

use super::member::{Slice, row};
use super::problem::equation;

/// Values of a condition's variables.
pub(super) struct Listing {
    /// One row for each solution.
    pub(super) rows: Vec<Vec<Value>>,
    /// Whether these are all that differ in the variables that matter.
    pub(super) complete: bool,
}

/// Combinations of values of finite sorts that are tried one by one.
const TRIED: u64 = 64;

/// Values of `vars` under which `condition` holds, at most `most`; two rows differ in a variable for
/// which `matters`.
pub(super) fn listing(
    slice: &mut Slice<'_>,
    vars: &[Var],
    matters: impl Fn(&Var) -> bool,
    condition: &Term,
    most: usize,
) -> Listing {
    if condition.is_false() {
        return Listing {
            rows: Vec::new(),
            complete: true,
        };
    }
    if vars.is_empty() && condition.is_true() {
        return Listing {
            rows: vec![Vec::new()],
            complete: true,
        };
    }
    let different: Vec<Var> = vars.iter().filter(|v| matters(v)).cloned().collect();
    let combinations = vars
        .iter()
        .try_fold(1u64, |n, v| n.checked_mul(v.sort.cardinality()?));
    if combinations.is_some_and(|n| n <= TRIED) {
        return Listing {
            rows: tried(slice, vars, condition),
            complete: true,
        };
    }
    let mut rows = Vec::new();
    let mut terms = vec![condition.clone()];
    let complete = loop {
        let model = match slice.check(&terms, vars) {
            Answer::Sat(model) => model,
            Answer::Unsat => break true,
            Answer::Unknown(_) => break false,
        };
        if rows.len() >= most {
            break false;
        }
        rows.push(row(&model, vars));
        let same = different.iter().zip(row(&model, &different));
        let same = Term::all(same.map(|(v, x)| equation(v, &x)));
        terms.push(same.negated());
    };
    Listing { rows, complete }
}

fn tried(slice: &mut Slice<'_>, vars: &[Var], condition: &Term) -> Vec<Vec<Value>> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for v in vars {
        let values = v.sort.values(TRIED).unwrap_or_default();
        let longer = |row: Vec<Value>| {
            let with = move |x: &Value| row.iter().cloned().chain([x.clone()]).collect();
            values.iter().map(with).collect::<Vec<Vec<Value>>>()
        };
        rows = rows.into_iter().flat_map(longer).collect();
    }
    slice.meter.spend(rows.len() as u64);
    rows.retain(|row| {
        let env: FxHashMap<_, Value> = vars.iter().map(|v| v.id).zip(row.iter().cloned()).collect();
        condition.eval_bool(&Model::new(env.into_iter().collect())) == Ok(true)
    });
    rows
}

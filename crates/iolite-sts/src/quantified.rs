//! `∃ vars: condition` without its quantifier where elimination goes through, else over as few values as the condition
//! allows.

use iolite_expr::{Int, Kind, Op, Sort, Substitution, Term, Value, Var};

use crate::symbolic_state::conjuncts;

/// Values of a variable that evaluation tries one by one.
const MOST_VALUES: u64 = 4_096;

/// `∃ vars: body`, and whether its quantifiers are gone. The body is simplified and has a value for all values.
///
/// Where elimination fails (`v * v == n`), integers that the body keeps between two numbers become variables of that
/// range: a few values are eliminated by trying them all, and what is left can be evaluated and exported.
pub(crate) fn exists(
    vars: &[Var],
    body: &Term,
    mut eliminate: impl FnMut(&[Var], &Term) -> Option<Term>,
) -> (Term, bool) {
    if let Some(known) = eliminate(vars, body) {
        return (known, true);
    }
    let Some((vars, body)) = within_bounds(vars, body) else {
        return (Term::exists(vars.to_vec(), body.clone()), false);
    };
    match eliminate(&vars, &body) {
        Some(known) => (known, true),
        None => (Term::exists(vars, body), false),
    }
}

/// The same over variables of ranges; `None` where no integer is bounded on both sides.
fn within_bounds(vars: &[Var], body: &Term) -> Option<(Vec<Var>, Term)> {
    // Beyond its bounds the body is false, so nothing is lost; it must have a value there too.
    let total = body.defined().simplify().is_true();
    let mut map = Substitution::new();
    let mut narrowed = false;
    let mut all = Vec::new();
    for var in vars {
        let between = (var.sort == Sort::Int).then(|| bounds(var, body)).flatten();
        let Some((low, high)) = between else {
            all.push(var.clone());
            continue;
        };
        if low > high {
            return total.then(|| (Vec::new(), false.into()));
        }
        let sort = Sort::range(low, high).ok()?;
        if sort.cardinality().is_none_or(|n| n > MOST_VALUES) {
            all.push(var.clone());
            continue;
        }
        narrowed = true;
        let var = Var::new(var.id, &var.name, sort);
        map.insert(var.id, var.term());
        all.push(var);
    }
    if !narrowed || !total {
        return None;
    }
    Some((all, body.substitute(&map).ok()?.simplify()))
}

/// The numbers between which conjuncts of a condition keep a variable.
fn bounds(var: &Var, body: &Term) -> Option<(Int, Int)> {
    let (mut low, mut high): (Option<Int>, Option<Int>) = (None, None);
    let at_least = |low: &mut Option<Int>, n: Int| {
        if low.as_ref().is_none_or(|l| *l < n) {
            *low = Some(n);
        }
    };
    let at_most = |high: &mut Option<Int>, n: Int| {
        if high.as_ref().is_none_or(|h| *h > n) {
            *high = Some(n);
        }
    };
    for part in conjuncts(body) {
        let Kind::App(op, sides) = part.kind() else {
            continue;
        };
        let [left, right] = &**sides else { continue };
        let is_var = |t: &Term| t.as_var().is_some_and(|v| v.id == var.id);
        let number = |t: &Term| match t.kind() {
            Kind::Lit(Value::Int(n)) => Some(n.clone()),
            _ => None,
        };
        let (op, n) = match (number(left), number(right)) {
            (None, Some(n)) if is_var(left) => (op.clone(), n),
            (Some(n), None) if is_var(right) => {
                let turned = match op {
                    Op::Lt => Op::Gt,
                    Op::Le => Op::Ge,
                    Op::Gt => Op::Lt,
                    Op::Ge => Op::Le,
                    Op::Eq => Op::Eq,
                    _ => continue,
                };
                (turned, n)
            }
            _ => continue,
        };
        match op {
            Op::Lt => at_most(&mut high, &n - &Int::ONE),
            Op::Le => at_most(&mut high, n),
            Op::Gt => at_least(&mut low, &n + &Int::ONE),
            Op::Ge => at_least(&mut low, n),
            Op::Eq => {
                at_least(&mut low, n.clone());
                at_most(&mut high, n);
            }
            _ => {}
        }
    }
    Some((low?, high?))
}

#[cfg(test)]
mod tests {
    use iolite_expr::{Model, Solver, Span, VarId, qe};

    use super::*;

    fn apply(op: Op, a: Term, b: impl Into<Term>) -> Term {
        Term::apply(op, vec![a, b.into()], Span::NONE).expect("integers")
    }

    /// Whether some integer between -60 and 60 satisfies a condition, by the definition.
    fn some(v: &Var, n: &Var, value: i64, body: &Term) -> bool {
        (-60..=60i64).any(|k| {
            let mut model = Model::default();
            model.insert(v.id, k.into());
            model.insert(n.id, value.into());
            body.eval_bool(&model).expect("it is total")
        })
    }

    #[test]
    fn what_is_left_means_the_same_and_can_be_evaluated() {
        let v = Var::new(VarId::new(3, 0), "v", Sort::Int);
        let n = Var::new(VarId::new(1, 0), "n", Sort::Int);
        let square = apply(Op::Mul, v.term(), v.term());
        let cube = apply(Op::Mul, square.clone(), v.term());
        let mut seed = 7u64;
        let mut below = |n: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((seed >> 33) % n).expect("small")
        };
        let (mut yes, mut no, mut left) = (0, 0, 0);
        for round in 0..120 {
            let (a, b) = (below(50) - 25, below(50) - 25);
            // A bound is written on either side, and there may be two of a kind.
            let low = match below(3) {
                0 => apply(Op::Gt, v.term(), a),
                1 => apply(Op::Le, a.into(), v.term()),
                _ => Term::all([apply(Op::Ge, v.term(), a), apply(Op::Ge, v.term(), a - 3)]),
            };
            let high = match below(2) {
                0 => apply(Op::Lt, v.term(), b),
                _ => apply(Op::Ge, b.into(), v.term()),
            };
            let whole = match below(3) {
                0 => apply(Op::Eq, square.clone(), n.term()),
                1 => apply(Op::Eq, cube.clone(), n.term()),
                _ => apply(
                    Op::Eq,
                    apply(Op::Add, square.clone(), apply(Op::Mul, v.term(), n.term())),
                    below(40),
                ),
            };
            let body = Term::all([low, high, whole]).simplify();
            let mut solver = Solver::embedded();
            let (found, gone) = match round % 2 {
                0 => exists(std::slice::from_ref(&v), &body, |vars, body| {
                    solver.eliminate(vars, body)
                }),
                // Nothing is eliminated: what is left is over a range, unless it is true or false.
                _ => exists(std::slice::from_ref(&v), &body, |_, _| None),
            };
            left += usize::from(!gone);
            for value in [-8, -1, 0, 1, 4, 9, 27, 30] {
                let mut model = Model::default();
                model.insert(n.id, value.into());
                let expected = some(&v, &n, value, &body);
                assert_eq!(
                    found.eval_bool(&model),
                    Ok(expected),
                    "n = {value}: {body}\n{found}"
                );
                if expected { yes += 1 } else { no += 1 }
            }
        }
        assert!(yes > 50 && no > 200 && left > 30, "{yes} {no} {left}");
        // A condition without bounds keeps all integers.
        let open = apply(Op::Eq, square, n.term());
        let (found, gone) = exists(std::slice::from_ref(&v), &open, qe::eliminate);
        assert!(!gone && found.eval_bool(&Model::default()).is_err());
    }
}

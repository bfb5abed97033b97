//! Conjunctions of literals: implicants of a formula, and literals that can be weakened one by one.

use iolite_expr::{Kind, Model, Op, Sort, Span, Term, Value};

/// A conjunction of literals over V ∪ C.
pub(super) type Cube = Vec<Term>;

pub(super) fn apply(op: Op, args: Vec<Term>) -> Option<Term> {
    Term::apply(op, args, Span::NONE).ok()
}

/// Literals that are true under the model and together imply the term; `None` where the term is
/// not true under the model.
pub(super) fn implicant(term: &Term, model: &Model) -> Option<Cube> {
    let mut cube = Vec::new();
    collect(term, true, model, &mut cube)?;
    cube.dedup();
    Some(cube)
}

fn holds(term: &Term, model: &Model) -> Option<bool> {
    term.eval_bool(model).ok()
}

fn collect(term: &Term, positive: bool, model: &Model, out: &mut Cube) -> Option<()> {
    if let Some(Value::Bool(b)) = term.as_value() {
        return (*b == positive).then_some(());
    }
    let Kind::App(op, args) = term.kind() else {
        return literal(term, positive, model, out);
    };
    match (op, positive) {
        (Op::Not, _) => collect(&args[0], !positive, model, out),
        (Op::And, true) => args.iter().try_for_each(|a| collect(a, true, model, out)),
        (Op::Or, false) => args.iter().try_for_each(|a| collect(a, false, model, out)),
        (Op::And | Op::Or, _) => {
            let chosen = args.iter().find(|a| holds(a, model) == Some(positive))?;
            if !term.is_total() {
                // What protects the chosen operand stands to its left.
                for a in args.iter().take_while(|a| *a != chosen) {
                    collect(a, !positive, model, out)?;
                }
            }
            collect(chosen, positive, model, out)
        }
        (Op::Implies, true) => {
            if holds(&args[0], model) == Some(false) {
                collect(&args[0], false, model, out)
            } else {
                collect(&args[1], true, model, out)
            }
        }
        (Op::Implies, false) => {
            collect(&args[0], true, model, out)?;
            collect(&args[1], false, model, out)
        }
        (Op::Ite, _) => {
            let condition = holds(&args[0], model)?;
            collect(&args[0], condition, model, out)?;
            collect(&args[if condition { 1 } else { 2 }], positive, model, out)
        }
        (Op::Eq | Op::Ne, _) if *args[0].sort() == Sort::Bool => {
            for a in args {
                collect(a, holds(a, model)?, model, out)?;
            }
            (holds(term, model) == Some(positive)).then_some(())
        }
        _ => literal(term, positive, model, out),
    }
}

fn literal(term: &Term, positive: bool, model: &Model, out: &mut Cube) -> Option<()> {
    if holds(term, model) != Some(positive) {
        return None;
    }
    let Kind::App(op, args) = term.kind() else {
        out.push(if positive {
            term.clone()
        } else {
            term.negated()
        });
        return Some(());
    };
    let numbers = args.len() == 2 && args[0].sort().is_int() && args[1].sort().is_int();
    let different = (*op == Op::Ne) == positive;
    if numbers && matches!(op, Op::Eq | Op::Ne) && different {
        // x != y is a choice between two sides.
        let less = apply(Op::Lt, args.to_vec())?;
        let more = apply(Op::Gt, args.to_vec())?;
        let side = if holds(&less, model)? { less } else { more };
        out.push(side.simplify());
    } else if positive {
        out.push(term.clone());
    } else {
        out.push(term.negated().simplify());
    }
    Some(())
}

/// The literals with equations of integers split into two bounds, so that each can be dropped.
pub(super) fn split(cube: &Cube) -> Cube {
    let mut out = Vec::new();
    for l in cube {
        match l.kind() {
            Kind::App(Op::Eq, args) if args[0].sort().is_int() && args[1].sort().is_int() => {
                for op in [Op::Le, Op::Ge] {
                    out.extend(apply(op, args.to_vec()));
                }
            }
            Kind::App(Op::And, args) => out.extend(split(&args.to_vec())),
            _ => out.push(l.clone()),
        }
    }
    out.dedup();
    out
}

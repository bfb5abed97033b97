//! What can be changed within one expression.

use crate::syntax::ast::{ArrayQuantifier, BinaryOp, Expr, ExprKind, File, Item, Name, UnaryOp};

/// How one node of an expression changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A number becomes this much larger.
    Shift(bool),
    /// The node becomes this.
    Become(ExprKind),
    /// A comparison becomes another one.
    Compare(BinaryOp),
    /// `a && b` becomes `a` or `b`.
    Keep(Side),
    /// The node becomes its negation.
    Not,
    /// One more than the node.
    Increment,
}

/// A side of a binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Calls `found` for every change of a constant within an expression, with the number of its node in
/// preorder.
pub(super) fn constants(file: &File, expr: &Expr, found: &mut dyn FnMut(usize, Change)) {
    let mut node = 0;
    walk(expr, &mut node, &mut |k, e| match &e.kind {
        ExprKind::Int(_) | ExprKind::Decimal(_) => {
            found(k, Change::Shift(true));
            found(k, Change::Shift(false));
        }
        ExprKind::Bool(b) => found(k, Change::Become(ExprKind::Bool(!b))),
        ExprKind::Str(text) => {
            let other = if text.is_empty() { "x" } else { "" };
            found(k, Change::Become(ExprKind::Str(other.to_owned())));
        }
        ExprKind::Name(name) => {
            for other in siblings(file, name) {
                found(k, Change::Become(ExprKind::Name(other.to_owned())));
            }
        }
        // A set or a map that loses an entry.
        ExprKind::Set(items) if !items.is_empty() => {
            let rest = items[1..].to_vec();
            found(k, Change::Become(ExprKind::Set(rest)));
        }
        ExprKind::Map(pairs) if pairs.len() > 1 => {
            let rest = pairs[1..].to_vec();
            found(k, Change::Become(ExprKind::Map(rest)));
        }
        ExprKind::Call(name, args) => {
            let declared = |text: &str| {
                let mut items = file.items.iter();
                items.any(|i| matches!(i, Item::Function(f) if f.name.text == text))
            };
            if let Some(other) = other_operation(&name.text)
                && !declared(&name.text)
                && !declared(other)
            {
                let name = Name {
                    text: other.to_owned(),
                    span: name.span,
                };
                found(k, Change::Become(ExprKind::Call(name, args.clone())));
            }
        }
        ExprKind::Quantified(q, name, array, body) => {
            let other = match q {
                ArrayQuantifier::ForAll => ArrayQuantifier::Exists,
                ArrayQuantifier::Exists => ArrayQuantifier::ForAll,
            };
            let (array, body) = (array.clone(), body.clone());
            let swapped = ExprKind::Quantified(other, name.clone(), array, body);
            found(k, Change::Become(swapped));
        }
        ExprKind::Is(of, variant) => {
            for other in siblings(file, &variant.text) {
                let text = other.to_owned();
                let other = Name {
                    text,
                    span: variant.span,
                };
                found(k, Change::Become(ExprKind::Is(of.clone(), other)));
            }
        }
        _ => {}
    });
}

/// An operation of the same sorts on sets.
fn other_operation(name: &str) -> Option<&'static str> {
    Some(match name {
        "insert" => "remove",
        "union" => "intersection",
        "intersection" | "difference" => "union",
        _ => return None,
    })
}

/// The other values of the enumeration that a name is a value of, or the other variants of a sum with
/// the same number of fields.
fn siblings<'f>(file: &'f File, name: &str) -> impl Iterator<Item = &'f str> {
    let declared = file.items.iter().find_map(|item| {
        let names: Vec<(&str, usize)> = match item {
            Item::Enum(e) => e.values.iter().map(|v| (v.text.as_str(), 0)).collect(),
            Item::Sum(s) => {
                let variants = s.variants.iter();
                variants
                    .map(|v| (v.name.text.as_str(), v.fields.len()))
                    .collect()
            }
            _ => return None,
        };
        let (_, fields) = *names.iter().find(|(n, _)| *n == name)?;
        let others = names
            .into_iter()
            .filter(|(n, f)| *n != name && *f == fields);
        Some(others.map(|(n, _)| n).collect::<Vec<_>>())
    });
    declared.into_iter().flatten()
}

/// Calls `found` for every weakening of a guard: within conjunctions and disjunctions alone, where
/// whatever makes a part weaker makes the whole weaker.
pub(super) fn weakenings(guard: &Expr, found: &mut dyn FnMut(usize, Change)) {
    let mut node = 0;
    weaken(guard, &mut node, found);
}

fn weaken(expr: &Expr, node: &mut usize, found: &mut dyn FnMut(usize, Change)) {
    let here = *node;
    match &expr.kind {
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            if *op == BinaryOp::And {
                found(here, Change::Keep(Side::Left));
                found(here, Change::Keep(Side::Right));
            }
            *node += 1;
            weaken(a, node, found);
            weaken(b, node, found);
        }
        kind => {
            if let ExprKind::Binary(op, ..) = kind {
                for &other in wider(*op) {
                    found(here, Change::Compare(other));
                }
            }
            walk(expr, node, &mut |_, _| ());
        }
    }
}

fn wider(op: BinaryOp) -> &'static [BinaryOp] {
    match op {
        BinaryOp::Lt => &[BinaryOp::Le],
        BinaryOp::Gt => &[BinaryOp::Ge],
        BinaryOp::Eq => &[BinaryOp::Le, BinaryOp::Ge],
        _ => &[],
    }
}

/// Visits the nodes in preorder, counting on from `node`.
fn walk(expr: &Expr, node: &mut usize, visit: &mut dyn FnMut(usize, &Expr)) {
    visit(*node, expr);
    *node += 1;
    expr.parts(&mut |part| walk(part, node, visit));
}

/// Changes a node; `None` where the change does not fit it.
pub(super) fn apply(expr: &mut Expr, node: usize, change: &Change) -> Option<()> {
    let mut left = node;
    let expr = node_mut(expr, &mut left)?;
    let span = expr.span;
    let new = |kind| Expr { kind, span };
    let old = std::mem::replace(&mut expr.kind, ExprKind::Error);
    expr.kind = match (change, old) {
        (Change::Shift(up), ExprKind::Int(digits)) => {
            // Integers are unbounded, so that nothing is computed with a machine number.
            match (digits.trim_start_matches('0'), up) {
                ("", true) => ExprKind::Int("1".to_owned()),
                ("", false) => {
                    let one = new(ExprKind::Int("1".to_owned()));
                    ExprKind::Unary(UnaryOp::Neg, Box::new(one))
                }
                ("1", false) => ExprKind::Int("0".to_owned()),
                (digits, true) => ExprKind::Int(successor(digits)),
                (digits, false) => ExprKind::Int(predecessor(digits)),
            }
        }
        // By one unit of the last place.
        (Change::Shift(up), ExprKind::Decimal(text)) => {
            let places = text.split_once('.').map_or(0, |(_, places)| places.len());
            let digits = text.replace('.', "");
            let digits = digits.trim_start_matches('0');
            let pointed = |digits: &str| {
                let digits = format!("{digits:0>width$}", width = places + 1);
                let (whole, part) = digits.split_at(digits.len() - places);
                format!("{whole}.{part}")
            };
            match (digits, up) {
                ("", true) => ExprKind::Decimal(pointed("1")),
                ("", false) => {
                    let one = new(ExprKind::Decimal(pointed("1")));
                    ExprKind::Unary(UnaryOp::Neg, Box::new(one))
                }
                (digits, true) => ExprKind::Decimal(pointed(&successor(digits))),
                ("1", false) => ExprKind::Decimal(pointed("0")),
                (digits, false) => ExprKind::Decimal(pointed(&predecessor(digits))),
            }
        }
        (Change::Become(kind), _) => kind.clone(),
        (Change::Compare(op), ExprKind::Binary(_, a, b)) => ExprKind::Binary(*op, a, b),
        (Change::Keep(Side::Left), ExprKind::Binary(BinaryOp::And, kept, _))
        | (Change::Keep(Side::Right), ExprKind::Binary(BinaryOp::And, _, kept)) => kept.kind,
        (Change::Not, kind) => ExprKind::Unary(UnaryOp::Not, Box::new(new(kind))),
        (Change::Increment, kind) => {
            let one = new(ExprKind::Int("1".to_owned()));
            ExprKind::Binary(BinaryOp::Add, Box::new(new(kind)), Box::new(one))
        }
        _ => return None,
    };
    Some(())
}

fn successor(digits: &str) -> String {
    let mut digits: Vec<u8> = digits.bytes().collect();
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return String::from_utf8_lossy(&digits).into_owned();
        }
        *digit = b'0';
    }
    format!("1{}", String::from_utf8_lossy(&digits))
}

/// Of a number above one.
fn predecessor(digits: &str) -> String {
    let mut digits: Vec<u8> = digits.bytes().collect();
    for digit in digits.iter_mut().rev() {
        if *digit > b'0' {
            *digit -= 1;
            break;
        }
        *digit = b'9';
    }
    let text = String::from_utf8_lossy(&digits);
    text.trim_start_matches('0').to_owned()
}

fn node_mut<'e>(expr: &'e mut Expr, left: &mut usize) -> Option<&'e mut Expr> {
    if *left == 0 {
        return Some(expr);
    }
    *left -= 1;
    match &mut expr.kind {
        ExprKind::Unary(_, a) | ExprKind::Field(a, _) | ExprKind::Is(a, _) => node_mut(a, left),
        ExprKind::Binary(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::Let(_, a, b)
        | ExprKind::Quantified(_, _, a, b) => [a, b].into_iter().find_map(|e| node_mut(e, left)),
        ExprKind::If(a, b, c) => [a, b, c].into_iter().find_map(|e| node_mut(e, left)),
        ExprKind::Map(pairs) => pairs
            .iter_mut()
            .find_map(|(key, value)| [key, value].into_iter().find_map(|e| node_mut(e, left))),
        ExprKind::Call(_, list) | ExprKind::Array(list) | ExprKind::Set(list) => {
            list.iter_mut().find_map(|e| node_mut(e, left))
        }
        ExprKind::Record(_, fields) => fields.iter_mut().find_map(|(_, e)| node_mut(e, left)),
        ExprKind::Match(of, arms) => node_mut(of, left).or_else(|| {
            let mut bodies = arms.iter_mut().map(|arm| &mut arm.body);
            bodies.find_map(|e| node_mut(e, left))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_numbers_of_any_size() {
        assert_eq!(successor("199"), "200");
        assert_eq!(successor("99"), "100");
        assert_eq!(predecessor("200"), "199");
        assert_eq!(predecessor("100"), "99");
        let large = "18446744073709551615";
        assert_eq!(predecessor(&successor(large)), large);
    }
}

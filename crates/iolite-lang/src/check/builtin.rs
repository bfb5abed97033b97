//! Built-in functions of numbers, sets and maps.

use super::sorts::{ResolvedSort, constant};
use crate::syntax::ast::Expr;
use crate::{Diagnostic, codes};

/// A call with the sorts of its arguments.
pub(super) struct Given<'a> {
    pub(super) expr: &'a Expr,
    pub(super) name: &'a str,
    pub(super) args: &'a [Expr],
    pub(super) sorts: &'a [ResolvedSort],
}

impl Given<'_> {
    /// The sort of its value, if it is one of these functions.
    pub(super) fn result(&self, found: &mut Vec<Diagnostic>) -> Option<ResolvedSort> {
        use ResolvedSort::{Bool, Map, Set, Unknown};
        let counts: &[usize] = match self.name {
            "abs" | "floor" | "ceil" | "units" | "keys" => &[1],
            "round" => &[1, 2],
            "min" | "max" | "decimal" | "insert" | "remove" | "union" | "intersection"
            | "difference" | "subset" => &[2],
            "put" => &[3],
            _ => return None,
        };
        if !counts.contains(&self.args.len()) {
            let wanted: Vec<String> = counts.iter().map(ToString::to_string).collect();
            let message = format!(
                "function `{}` takes {} arguments, not {}",
                self.name,
                wanted.join(" or "),
                self.args.len()
            );
            found.push(Diagnostic::error(codes::ARITY, self.expr.span, message));
            return Some(Unknown);
        }
        let first = &self.sorts[0];
        Some(match self.name {
            "abs" | "floor" | "ceil" | "units" | "round" | "min" | "max" | "decimal" => {
                self.number(found)
            }
            "keys" => match first {
                Map(key, _) => Set(key.clone()),
                _ => self.wrong(0, "a map", found),
            },
            "put" => {
                if let Map(key, value) = first {
                    self.expect(1, key, "the key", found);
                    self.expect(2, value, "the value", found);
                    first.clone()
                } else {
                    self.wrong(0, "a map", found)
                }
            }
            "insert" | "remove" => match first {
                Set(of) if **of == Unknown => Set(Box::new(self.sorts[1].clone())),
                Set(of) => {
                    self.expect(1, of, "the element", found);
                    first.clone()
                }
                Map(key, _) if self.name == "remove" => {
                    self.expect(1, key, "the key", found);
                    first.clone()
                }
                Map(..) => {
                    let error = Diagnostic::error(
                        codes::OPERAND_SORT,
                        self.args[0].span,
                        format!("`insert` needs a set, this is {first}"),
                    );
                    found.push(error.hint("a map has `put(m, key, value)`"));
                    first.clone()
                }
                _ if self.name == "insert" => self.wrong(0, "a set", found),
                _ => self.wrong(0, "a set or a map", found),
            },
            _ => {
                for (k, sort) in self.sorts.iter().enumerate() {
                    if !matches!(sort, Set(_) | Unknown) {
                        self.wrong(k, "a set", found);
                        return Some(Unknown);
                    }
                }
                if !first.goes_with(&self.sorts[1]) {
                    let message = format!("`{}` of {first} and {}", self.name, self.sorts[1]);
                    let error = Diagnostic::error(codes::OPERAND_SORT, self.expr.span, message);
                    found.push(error);
                }
                match (self.name, first) {
                    ("subset", _) => Bool,
                    (_, Set(of)) if **of == Unknown => self.sorts[1].clone(),
                    _ => first.clone(),
                }
            }
        })
    }

    /// Whether an argument can stand where this sort is wanted.
    fn expect(&self, k: usize, sort: &ResolvedSort, what: &str, found: &mut Vec<Diagnostic>) {
        let actual = &self.sorts[k];
        if !actual.fits(sort) {
            let message = format!("{what} is of sort {sort}, but this is {actual}");
            let span = self.args[k].span;
            found.push(Diagnostic::error(codes::SORT_MISMATCH, span, message));
        }
    }

    fn wrong(&self, k: usize, needs: &str, found: &mut Vec<Diagnostic>) -> ResolvedSort {
        let sort = &self.sorts[k];
        if *sort != ResolvedSort::Unknown {
            let message = format!("`{}` needs {needs}, this is {sort}", self.name);
            found.push(Diagnostic::error(
                codes::OPERAND_SORT,
                self.args[k].span,
                message,
            ));
        }
        ResolvedSort::Unknown
    }

    fn number(&self, found: &mut Vec<Diagnostic>) -> ResolvedSort {
        use ResolvedSort::{Decimal, Int};
        for (k, sort) in self.sorts.iter().enumerate() {
            if sort.places().is_none() {
                let needs = if self.name == "abs" {
                    "int"
                } else {
                    "a number"
                };
                return self.wrong(k, needs, found);
            }
        }
        let places = |k: usize| self.sorts[k].places().unwrap_or(0);
        let said = |k: usize, found: &mut Vec<Diagnostic>| {
            let value = constant(&self.args[k]).and_then(|n| u8::try_from(n).ok());
            if let Some(n) = value.filter(|n| *n <= iolite_expr::MAX_SCALE) {
                n
            } else {
                let message = format!(
                    "the number of places is written out, at most {}",
                    iolite_expr::MAX_SCALE
                );
                let span = self.args[k].span;
                found.push(Diagnostic::error(codes::OPERAND_SORT, span, message));
                0
            }
        };
        let number = |places: u8| if places == 0 { Int } else { Decimal(places) };
        match self.name {
            "abs" => number(places(0)),
            "min" | "max" => number(places(0).max(places(1))),
            "round" if self.args.len() == 2 => number(said(1, found)),
            "decimal" => {
                if places(0) > 0 {
                    return self.wrong(0, "int", found);
                }
                number(said(1, found))
            }
            _ => Int,
        }
    }
}

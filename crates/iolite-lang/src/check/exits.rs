//! What processes exit with: LOTOS's functionality.
//!
//! A behaviour never exits, or exits with values of certain sorts. Alternatives have to agree on these;
//! parts that run together exit together, so they exit if all of them do.

use std::collections::BTreeMap;

use super::behaviour::{Walk, offers, unbind};
use super::expr::infer;
use super::sorts::ResolvedSort;
use crate::syntax::ast::{Behaviour, Offer, Param};
use crate::{Diagnostic, Span, codes};

/// The sorts of the values that a behaviour exits with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exit(Vec<ResolvedSort>);

/// What definitions exit with; those that never do are not among them.
pub(super) type ExitTable<'f> = BTreeMap<&'f str, Exit>;

impl Exit {
    fn fits(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs.into_iter().all(|(a, b)| a.fits(b))
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sorts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        match sorts.len() {
            0 => f.write_str("without values"),
            _ => write!(f, "with ({})", sorts.join(", ")),
        }
    }
}

impl Walk<'_, '_> {
    /// `exit(…)`.
    pub(super) fn exit(&mut self, values: &[Offer]) -> Exit {
        let mut sorts = Vec::new();
        for value in values {
            match value {
                Offer::Value(expr) => sorts.push(infer(expr, &self.scope, self.found)),
                Offer::Variable(param) => {
                    let bound = offers(std::slice::from_ref(value), &mut self.scope, self.found);
                    unbind(bound, &mut self.scope);
                    sorts.push(self.scope.sorts.resolve(&param.sort));
                }
            }
        }
        Exit(sorts)
    }

    /// Alternatives: the first that exits says how.
    pub(super) fn any_exit(&mut self, parts: &[Behaviour]) -> Option<Exit> {
        let exits: Vec<(Span, Option<Exit>)> =
            parts.iter().map(|p| (p.span, self.behaviour(p))).collect();
        self.agree(&exits)
    }

    /// Parts that exit together.
    pub(super) fn all_exit(&mut self, parts: &[Behaviour]) -> Option<Exit> {
        let exits: Vec<(Span, Option<Exit>)> =
            parts.iter().map(|p| (p.span, self.behaviour(p))).collect();
        if exits.iter().any(|(_, exit)| exit.is_none()) {
            return None;
        }
        self.agree(&exits)
    }

    fn agree(&mut self, exits: &[(Span, Option<Exit>)]) -> Option<Exit> {
        let mut known = exits.iter().filter_map(|(s, e)| e.as_ref().map(|e| (s, e)));
        let (first_span, first) = known.next()?;
        for (span, other) in known {
            if !first.fits(other) {
                let message = format!("this exits {other}, and what stands beside it {first}");
                self.found.push(
                    Diagnostic::error(codes::EXIT_VALUES, *span, message)
                        .related(*first_span, "the other one"),
                );
            }
        }
        Some(first.clone())
    }

    /// `left >> accept …`.
    pub(super) fn accepts(&mut self, left: &Behaviour, exit: Option<Exit>, accept: &[Param]) {
        let Some(exit) = exit else {
            let message = "this never exits, so what follows `>>` never begins";
            self.found
                .push(Diagnostic::warning(codes::NEVER_EXITS, left.span, message));
            return;
        };
        let sorts = &self.scope.sorts;
        let accepted = Exit(accept.iter().map(|p| sorts.resolve(&p.sort)).collect());
        if !accepted.fits(&exit) {
            let message = format!("this exits {exit}, and what follows begins {accepted}");
            let hint = match (exit.0.len(), accept.len()) {
                (n, 0) => Some(format!("name the {n} values: `>> accept x: … in`")),
                (0, _) => Some("give values: `exit(1)`".to_owned()),
                _ => None,
            };
            let error = Diagnostic::error(codes::EXIT_VALUES, left.span, message);
            self.found.push(error.maybe_hint(hint));
        }
    }
}

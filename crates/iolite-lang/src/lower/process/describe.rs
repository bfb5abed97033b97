//! Terms as people read them.

use super::rules::Rules;
use super::term::{ScopeId, Term, TermId};
use crate::gate_parameters;
use crate::syntax::ast::BehaviourKind;

const LONGEST: usize = 120;

impl Rules<'_> {
    /// The term in the notation of the language; long ones are cut.
    pub(super) fn describe(&self, term: TermId) -> String {
        let mut text = String::new();
        self.describe_into(term, &mut text);
        text
    }

    fn describe_into(&self, term: TermId, out: &mut String) {
        if out.len() > LONGEST {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        match self.table().get(term) {
            Term::Stop => out.push_str("stop"),
            Term::State(machine, state) => {
                out.push_str(&self.machine_states(*machine).name(*state));
            }
            Term::At(node, k, scope) => {
                let text = crate::fmt::behaviour_text(node.0, *k as usize);
                let mut text = gate_parameters::unmarked(&text);
                self.describe_scope(*scope, &mut text);
                out.extend(text.chars().take(LONGEST));
                if text.chars().count() > LONGEST {
                    out.push('…');
                }
            }
            Term::Relabelled(_, _, inner) | Term::Gated(_, inner) => {
                self.describe_into(*inner, out);
            }
            Term::Enable(node, scope, left) => {
                self.describe_into(*left, out);
                out.push_str(" >> ");
                if let BehaviourKind::Enable { parts, .. } = &node.0.kind {
                    let text = crate::fmt::behaviour_text(&parts[1], 0);
                    out.extend(gate_parameters::unmarked(&text).chars().take(LONGEST));
                }
                self.describe_scope(*scope, out);
            }
            Term::Disable(left, right) => {
                self.describe_into(*left, out);
                out.push_str(" [> ");
                self.describe_into(*right, out);
            }
            Term::Parallel(_, _, parts) => {
                out.push('(');
                for (k, part) in parts.iter().enumerate() {
                    if k > 0 {
                        out.push_str(", ");
                    }
                    self.describe_into(*part, out);
                }
                out.push(')');
            }
        }
    }

    fn describe_scope(&self, scope: ScopeId, out: &mut String) {
        for (k, (name, value)) in self.table().scope(scope).iter().enumerate() {
            let separator = if k == 0 { " with" } else { "," };
            out.push_str(&format!("{separator} {name} = {value}"));
        }
    }

    /// The line that the term stands on.
    pub(super) fn line(&self, term: TermId) -> Option<u32> {
        match self.table().get(term) {
            Term::Stop => None,
            Term::State(machine, state) => self.machine_states(*machine).line(*state),
            Term::At(node, k, _) => {
                let span = match &node.0.kind {
                    BehaviourKind::Prefix { events, .. } => events[*k as usize].span,
                    _ => node.0.span,
                };
                Some(self.line_of(span))
            }
            Term::Relabelled(_, _, inner)
            | Term::Gated(_, inner)
            | Term::Enable(_, _, inner)
            | Term::Disable(inner, _) => self.line(*inner),
            Term::Parallel(_, _, parts) => parts.first().and_then(|&p| self.line(p)),
        }
    }
}

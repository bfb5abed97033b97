//! Which formulas imply which, as far as their syntax shows.

use rustc_hash::FxHashSet;

use super::{Formulas, Id, Node};
use crate::ltl::bdd::Bdd;

/// Temporal formulas that are compared with each other.
const MAX_COMPARED: usize = 64;
/// Implications beyond which those that follow from others are left out.
const MANY_IMPLICATIONS: usize = 128;

impl Formulas {
    /// Without the parts that another one makes superfluous.
    pub(super) fn without_implied(&mut self, parts: Vec<Id>, conjunction: bool) -> Vec<Id> {
        let mut kept = parts;
        let mut i = 0;
        while i < kept.len() {
            let f = kept[i];
            let superfluous = (0..kept.len()).any(|j| {
                let g = kept[j];
                f != g
                    && if conjunction {
                        self.implies(g, f)
                    } else {
                        self.implies(f, g)
                    }
            });
            if superfluous {
                kept.remove(i);
            } else {
                i += 1;
            }
        }
        kept
    }

    /// Whether one formula implies another, as far as their syntax shows.
    pub(super) fn implies(&mut self, f: Id, g: Id) -> bool {
        if f == g || f == self.falsity || g == self.truth {
            return true;
        }
        if g == self.falsity || f == self.truth {
            return false;
        }
        if let Some(&known) = self.implied.get(&(f, g)) {
            return known;
        }
        let holds = self.implies_by_parts(f, g);
        self.implied.insert((f, g), holds);
        holds
    }

    fn implies_by_parts(&mut self, f: Id, g: Id) -> bool {
        use Node::{And, Letters, Next, Or, Release, StrongRelease, Until, WeakUntil};
        let (left, right) = (self.node(f).clone(), self.node(g).clone());
        if let (&Letters(a), &Letters(b)) = (&left, &right) {
            return self.bdds.ite(a, b, Bdd::TRUE) == Bdd::TRUE;
        }
        // Operators of the same form are monotone in both operands.
        if let (Until(a, b), Until(c, d) | WeakUntil(c, d))
        | (WeakUntil(a, b), WeakUntil(c, d))
        | (Release(a, b), Release(c, d))
        | (StrongRelease(a, b), Release(c, d) | StrongRelease(c, d)) = (&left, &right)
            && self.implies(*a, *c)
            && self.implies(*b, *d)
        {
            return true;
        }
        if let (Next(a), Next(b)) = (&left, &right)
            && self.implies(*a, *b)
        {
            return true;
        }
        // G a implies a W b.
        if let (Release(a, b), WeakUntil(c, _)) = (&left, &right)
            && *a == self.falsity
            && self.implies(*b, *c)
        {
            return true;
        }
        let by_left = match left {
            And(parts) => parts.iter().any(|&p| self.implies(p, g)),
            Or(parts) => parts.iter().all(|&p| self.implies(p, g)),
            Until(a, b) | WeakUntil(a, b) => self.implies(a, g) && self.implies(b, g),
            Release(_, b) | StrongRelease(_, b) => self.implies(b, g),
            Next(a) => self.is_eventual(g) && self.implies(a, g),
            Letters(_) => false,
        };
        by_left
            || match right {
                And(parts) => parts.iter().all(|&p| self.implies(f, p)),
                Or(parts) => parts.iter().any(|&p| self.implies(f, p)),
                Until(_, b) | WeakUntil(_, b) => self.implies(f, b),
                Release(a, b) | StrongRelease(a, b) => self.implies(f, a) && self.implies(f, b),
                Next(a) => self.is_universal(f) && self.implies(f, a),
                Letters(_) => false,
            }
    }

    /// Whether a formula is G of one that, once true, was true all along: such as G F a. Then the one under the
    /// G, if it can be shown within a finite prefix.
    pub(in crate::ltl) fn recurring(&self, f: Id) -> Option<Id> {
        match *self.node(f) {
            Node::Release(a, b)
                if a == self.falsity && self.is_eventual(b) && self.level(b).sigma <= 1 =>
            {
                Some(b)
            }
            _ => None,
        }
    }

    /// Pairs of temporal formulas so far of which the first implies the second.
    pub(in crate::ltl) fn implications(&mut self) -> Vec<(Id, Id)> {
        let temporal: Vec<Id> = (0..self.nodes.len() as u32)
            .map(Id)
            .filter(|&f| !matches!(self.node(f), Node::Letters(_) | Node::And(_) | Node::Or(_)))
            .take(MAX_COMPARED)
            .collect();
        let mut found = Vec::new();
        for &f in &temporal {
            for &g in &temporal {
                if f != g && self.implies(f, g) {
                    found.push((f, g));
                }
            }
        }
        if found.len() > MANY_IMPLICATIONS {
            // Those that follow from two others, which are strict, say nothing new.
            let all: FxHashSet<(Id, Id)> = found.iter().copied().collect();
            let strict = |f, g| all.contains(&(f, g)) && !all.contains(&(g, f));
            found.retain(|&(f, h)| !temporal.iter().any(|&g| strict(f, g) && strict(g, h)));
        }
        found
    }

    /// The operands one step later, where both are X or true at every position alike.
    pub(super) fn both_later(&self, a: Id, b: Id) -> Option<(Id, Id)> {
        let later = |f: Id| match *self.node(f) {
            Node::Next(inner) => Some(inner),
            _ => self.is_constant(f).then_some(f),
        };
        let (x, y) = (later(a)?, later(b)?);
        ((x, y) != (a, b)).then_some((x, y))
    }
}

//! The "after" function: what a formula leaves to be shown once a letter has been read
//! [Esparza, Křetínský & Sickert 2020]. Formulas are kept up to propositional equivalence, so that
//! finitely many are met.

use rustc_hash::FxHashMap;

use crate::alphabet::Letter;

use super::bdd::{Bdd, Bdds};
use super::core::{Formulas, Id, Node};

/// Formulas as functions of their temporal parts, with the after function on them.
pub(super) struct Derivatives {
    pub(super) formulas: Formulas,
    pub(super) bdds: Bdds,
    as_bdd: FxHashMap<Id, Bdd>,
    after_node: FxHashMap<(Id, Letter), Bdd>,
    after_bdd: FxHashMap<(Bdd, Letter), Bdd>,
    owed: FxHashMap<Bdd, Bdd>,
    promises: bool,
}

/// The variable that marks an eventuality as put off, beside the formula's own variable.
pub(super) const PUT_OFF: u32 = 1 << 31;

impl Derivatives {
    pub(super) fn new(formulas: Formulas) -> Self {
        Self {
            formulas,
            bdds: Bdds::new(),
            as_bdd: FxHashMap::default(),
            after_node: FxHashMap::default(),
            after_bdd: FxHashMap::default(),
            owed: FxHashMap::default(),
            promises: false,
        }
    }

    /// From now on (or no longer), an eventuality that is put off by a step leaves a mark.
    pub(super) fn mark_promises(&mut self, promises: bool) {
        self.promises = promises;
        self.after_node.clear();
        self.after_bdd.clear();
    }

    /// The eventuality or its dual, still to be shown after this step.
    fn again(&mut self, f: Id) -> Bdd {
        let again = self.bdd(f);
        if !self.promises || !self.is_eventuality(f) {
            return again;
        }
        let mark = self.bdds.var(f.index() as u32 | PUT_OFF);
        self.bdds.and(again, mark)
    }

    /// A formula as a function of its outermost temporal parts.
    pub(super) fn bdd(&mut self, f: Id) -> Bdd {
        if f == self.formulas.truth {
            return Bdd::TRUE;
        }
        if f == self.formulas.falsity {
            return Bdd::FALSE;
        }
        if let Some(&b) = self.as_bdd.get(&f) {
            return b;
        }
        let b = match self.formulas.node(f).clone() {
            Node::And(fs) => fs.into_iter().fold(Bdd::TRUE, |all, f| {
                let f = self.bdd(f);
                self.bdds.and(all, f)
            }),
            Node::Or(fs) => fs.into_iter().fold(Bdd::FALSE, |any, f| {
                let f = self.bdd(f);
                self.bdds.or(any, f)
            }),
            _ => self.bdds.var(f.index() as u32),
        };
        self.as_bdd.insert(f, b);
        b
    }

    fn after_node(&mut self, f: Id, l: Letter) -> Bdd {
        if let Some(&b) = self.after_node.get(&(f, l)) {
            return b;
        }
        let b = match self.formulas.node(f).clone() {
            Node::Letters(set) => {
                if Formulas::has_letter(&set, l) {
                    Bdd::TRUE
                } else {
                    Bdd::FALSE
                }
            }
            Node::And(_) | Node::Or(_) => {
                let b = self.bdd(f);
                self.after(b, l)
            }
            Node::Next(a) => self.bdd(a),
            Node::Until(a, b) | Node::WeakUntil(a, b) => {
                let (a, b) = (self.after_node(a, l), self.after_node(b, l));
                let again = self.again(f);
                let wait = self.bdds.and(a, again);
                self.bdds.or(b, wait)
            }
            Node::Release(a, b) | Node::StrongRelease(a, b) => {
                let (a, b) = (self.after_node(a, l), self.after_node(b, l));
                let again = self.again(f);
                let freed = self.bdds.or(a, again);
                self.bdds.and(b, freed)
            }
        };
        self.after_node.insert((f, l), b);
        b
    }

    /// What is left of a formula after a letter.
    pub(super) fn after(&mut self, f: Bdd, l: Letter) -> Bdd {
        let Some((var, low, high)) = self.bdds.node(f) else {
            return f;
        };
        if let Some(&b) = self.after_bdd.get(&(f, l)) {
            return b;
        }
        let test = self.after_node(Id::of(var), l);
        let (low, high) = (self.after(low, l), self.after(high, l));
        let b = self.bdds.ite(test, high, low);
        self.after_bdd.insert((f, l), b);
        b
    }

    /// What a formula of Π₂ owes now: its W and R taken as true.
    pub(super) fn obligations(&mut self, f: Bdd) -> Bdd {
        let Some((var, low, high)) = self.bdds.node(f) else {
            return f;
        };
        if let Some(&b) = self.owed.get(&f) {
            return b;
        }
        let owed = self.formulas.obligations(Id::of(var));
        let test = self.bdd(owed);
        let (low, high) = (self.obligations(low), self.obligations(high));
        let b = self.bdds.ite(test, high, low);
        self.owed.insert(f, b);
        b
    }

    pub(super) fn is_eventuality(&self, f: Id) -> bool {
        matches!(
            self.formulas.node(f),
            Node::Until(..) | Node::StrongRelease(..)
        )
    }
}

//! The "after" function: what a formula leaves to be shown once a letter has been read
//! [Esparza, Křetínský & Sickert 2020]. Formulas are kept up to propositional equivalence, so that
//! finitely many are met.

use rustc_hash::FxHashMap;

use crate::alphabet::Letter;

use super::bdd::Bdd;
use super::core::{Formulas, Id, Node};

/// Formulas as functions of their temporal parts, with the after function on them.
pub(super) struct Derivatives {
    pub(super) formulas: Formulas,
    as_bdd: FxHashMap<Id, Bdd>,
    after_node: FxHashMap<Id, Bdd>,
    after_bdd: FxHashMap<Bdd, Bdd>,
    owed: FxHashMap<Bdd, Bdd>,
    promises: bool,
    /// What holds of the temporal parts anyhow; see [`Self::constrain`].
    known: Bdd,
}

/// The variable that marks an eventuality as put off, beside the formula's own variable.
pub(super) const PUT_OFF: u32 = 1 << 31;
/// Variables below this one are the bits of a letter: what is left after a letter is one function of the letter
/// too, and not a table of as many entries as there are letters.
const FIRST_FORMULA: u32 = 64;

fn variable(f: Id) -> u32 {
    f.index() as u32 + FIRST_FORMULA
}

fn formula(variable: u32) -> Id {
    Id::of(variable - FIRST_FORMULA)
}

impl Derivatives {
    pub(super) fn new(formulas: Formulas) -> Self {
        Self {
            formulas,
            as_bdd: FxHashMap::default(),
            after_node: FxHashMap::default(),
            after_bdd: FxHashMap::default(),
            owed: FxHashMap::default(),
            promises: false,
            known: Bdd::TRUE,
        }
    }

    /// From now on (or no longer), formulas are taken as equal if they are so wherever the temporal
    /// parts that imply others do. Only implications that hold after every letter, if all of them held
    /// before, are used: then equal formulas leave equal ones, and what is true is found to be.
    /// For constructions that look at nothing but the formula's meaning.
    pub(super) fn constrain(&mut self, constrain: bool) {
        self.known = Bdd::TRUE;
        self.after_node.clear();
        self.after_bdd.clear();
        if !constrain {
            return;
        }
        let mut pairs = self.formulas.implications();
        while !pairs.is_empty() {
            let mut all = Bdd::TRUE;
            for &(f, g) in &pairs {
                let (f, g) = (self.bdd(f), self.bdd(g));
                let implication = self.formulas.bdds.ite(f, g, Bdd::TRUE);
                all = self.formulas.bdds.and(all, implication);
            }
            // What is left is compared where all of them hold, and so may be simplified by them meanwhile.
            self.known = all;
            self.after_node.clear();
            self.after_bdd.clear();
            let before = pairs.len();
            pairs.retain(|&(f, g)| {
                let (f, g) = (self.after_node(f), self.after_node(g));
                let kept = self.formulas.bdds.ite(f, g, Bdd::TRUE);
                self.formulas.bdds.ite(all, kept, Bdd::TRUE) == Bdd::TRUE
            });
            if pairs.len() == before {
                return;
            }
        }
        self.known = Bdd::TRUE;
        self.after_node.clear();
        self.after_bdd.clear();
    }

    /// A formula where what is known holds.
    fn settled(&mut self, f: Bdd) -> Bdd {
        if self.known == Bdd::TRUE {
            return f;
        }
        let f = self.formulas.bdds.and(f, self.known);
        if f == self.known { Bdd::TRUE } else { f }
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
        let mark = self.formulas.bdds.var(variable(f) | PUT_OFF);
        self.formulas.bdds.and(again, mark)
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
                self.formulas.bdds.and(all, f)
            }),
            Node::Or(fs) => fs.into_iter().fold(Bdd::FALSE, |any, f| {
                let f = self.bdd(f);
                self.formulas.bdds.or(any, f)
            }),
            _ => self.formulas.bdds.var(variable(f)),
        };
        self.as_bdd.insert(f, b);
        b
    }

    fn after_node(&mut self, f: Id) -> Bdd {
        if let Some(&b) = self.after_node.get(&f) {
            return b;
        }
        let b = match self.formulas.node(f).clone() {
            Node::Letters(set) => set,
            Node::And(_) | Node::Or(_) => {
                let b = self.bdd(f);
                self.after_any(b)
            }
            Node::Next(a) => self.bdd(a),
            Node::Until(a, b) | Node::WeakUntil(a, b) => {
                let (a, b) = (self.after_node(a), self.after_node(b));
                let again = self.again(f);
                let wait = self.formulas.bdds.and(a, again);
                self.formulas.bdds.or(b, wait)
            }
            Node::Release(a, b) | Node::StrongRelease(a, b) => {
                let (a, b) = (self.after_node(a), self.after_node(b));
                let again = self.again(f);
                let freed = self.formulas.bdds.or(a, again);
                self.formulas.bdds.and(b, freed)
            }
        };
        let b = self.settled(b);
        self.after_node.insert(f, b);
        b
    }

    /// What is left of a formula after a letter, as a function of the letter.
    pub(super) fn after_any(&mut self, f: Bdd) -> Bdd {
        let Some((var, low, high)) = self.formulas.bdds.node(f) else {
            return f;
        };
        if let Some(&b) = self.after_bdd.get(&f) {
            return b;
        }
        let test = self.after_node(formula(var));
        let (low, high) = (self.after_any(low), self.after_any(high));
        let b = self.formulas.bdds.ite(test, high, low);
        let b = self.settled(b);
        self.after_bdd.insert(f, b);
        b
    }

    /// A function of the letter at one letter.
    pub(super) fn at(&self, mut f: Bdd, l: Letter) -> Bdd {
        while let Some((var, low, high)) = self.asked(f) {
            let bit = self.formulas.bit(var);
            f = if l.bits() >> bit & 1 == 1 { high } else { low };
        }
        f
    }

    /// A letter as functions of it ask for its bits: the bit at each variable.
    pub(super) fn key(&self, l: Letter) -> u64 {
        let bits = 0..self.formulas.letter_bits();
        bits.map(|v| (l.bits() >> self.formulas.bit(v) & 1) << v)
            .sum()
    }

    /// The bit of the letter that a function asks for first, and what is left for either answer; nothing where
    /// the letter does not matter.
    pub(super) fn asked(&self, f: Bdd) -> Option<(u32, Bdd, Bdd)> {
        self.formulas.bdds.node(f).filter(|n| n.0 < FIRST_FORMULA)
    }

    /// What is left of a formula after a letter.
    pub(super) fn after(&mut self, f: Bdd, l: Letter) -> Bdd {
        let any = self.after_any(f);
        let left = self.at(any, l);
        self.told(left)
    }

    /// What is left, where nothing but what is known means that it is true.
    pub(super) fn told(&self, left: Bdd) -> Bdd {
        if left == self.known { Bdd::TRUE } else { left }
    }

    /// What a formula of Π₂ owes now: its W and R taken as true.
    pub(super) fn obligations(&mut self, f: Bdd) -> Bdd {
        let Some((var, low, high)) = self.formulas.bdds.node(f) else {
            return f;
        };
        if let Some(&b) = self.owed.get(&f) {
            return b;
        }
        let owed = self.formulas.obligations(formula(var));
        let test = self.bdd(owed);
        let (low, high) = (self.obligations(low), self.obligations(high));
        let b = self.formulas.bdds.ite(test, high, low);
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

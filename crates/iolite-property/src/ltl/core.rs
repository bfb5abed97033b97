//! Formulas in negation normal form, interned. Everything that speaks of one position only is
//! folded into a set of letters, which makes actions (one at a time) and valuations the same.

mod implication;
mod letter_classes;

use rustc_hash::FxHashMap;

use super::bdd::{Bdd, Bdds};
use super::{LetterSet, Ltl, LtlError};

/// The letters at which an atom or a past formula holds.
pub(super) type Resolver<'a> = &'a dyn Fn(&Ltl) -> Result<LetterSet, LtlError>;

/// What letters are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// So many, each with a number. Variables are the bits of that number, the highest first.
    Numbered(usize),
    /// The valuations of so many propositions, which are the variables.
    Valuations(usize),
}

/// An interned formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(u32);

impl Id {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn of(index: u32) -> Self {
        Self(index)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// The first letter is one of these, as a function of its bits.
    Letters(Bdd),
    /// Sorted, without doubles, at least two.
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    Until(Id, Id),
    WeakUntil(Id, Id),
    Release(Id, Id),
    StrongRelease(Id, Id),
}

/// Least i such that the formula is in `Σ_i` and in `Π_i` of the syntactic hierarchy: Σ₁ without W
/// and R, Π₁ without U and M, and so on by alternation [Chang, Manna & Pnueli 1992].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) sigma: u32,
    pub(super) pi: u32,
}

/// What a formula has in common at all positions of a sequence [after Etessami & Holzmann 2000].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    eventual: bool,
    universal: bool,
}

pub(super) struct Formulas {
    nodes: Vec<Node>,
    levels: Vec<Level>,
    kinds: Vec<Kind>,
    index: FxHashMap<Node, Id>,
    implied: FxHashMap<(Id, Id), bool>,
    letters: Letters,
    pub(super) bdds: Bdds,
    pub(super) truth: Id,
    pub(super) falsity: Id,
}

impl Formulas {
    pub(super) fn new(letters: Letters) -> Self {
        let mut f = Self {
            nodes: Vec::new(),
            levels: Vec::new(),
            kinds: Vec::new(),
            index: FxHashMap::default(),
            implied: FxHashMap::default(),
            letters,
            bdds: Bdds::new(),
            truth: Id(0),
            falsity: Id(0),
        };
        f.truth = f.intern(Node::Letters(Bdd::TRUE));
        f.falsity = f.intern(Node::Letters(Bdd::FALSE));
        f
    }

    pub(super) fn node(&self, f: Id) -> &Node {
        &self.nodes[f.index()]
    }

    /// The bit of a letter's number that a variable stands for.
    pub(super) fn bit(&self, variable: u32) -> u32 {
        match self.letters {
            Letters::Numbered(count) => count.next_power_of_two().trailing_zeros() - 1 - variable,
            Letters::Valuations(_) => variable,
        }
    }

    /// How many variables stand for bits of a letter.
    pub(super) fn letter_bits(&self) -> u32 {
        match self.letters {
            Letters::Numbered(count) => count.next_power_of_two().trailing_zeros(),
            Letters::Valuations(count) => count as u32,
        }
    }

    pub(super) fn level(&self, f: Id) -> Level {
        self.levels[f.index()]
    }

    /// Whether the formula, once true, was true all along: a sequence satisfies it if a suffix does.
    fn is_eventual(&self, f: Id) -> bool {
        self.kinds[f.index()].eventual
    }

    /// Whether the formula, once true, stays true: with a sequence each suffix satisfies it.
    fn is_universal(&self, f: Id) -> bool {
        self.kinds[f.index()].universal
    }

    /// Both: true always or never, as G F a is.
    fn is_constant(&self, f: Id) -> bool {
        self.is_eventual(f) && self.is_universal(f)
    }

    /// The operands of a conjunction or disjunction that are of a kind, and the others; nothing where
    /// none is.
    fn split(
        &mut self,
        f: Id,
        conjunction: bool,
        kind: impl Fn(&Self, Id) -> bool,
    ) -> Option<(Vec<Id>, Id)> {
        let parts = match self.node(f) {
            Node::And(parts) if conjunction => parts.clone(),
            Node::Or(parts) if !conjunction => parts.clone(),
            _ => return None,
        };
        let (mut of_kind, others): (Vec<Id>, Vec<Id>) =
            parts.into_iter().partition(|&p| kind(self, p));
        if of_kind.is_empty() {
            return None;
        }
        of_kind.sort_unstable();
        let rest = self.many(&others, conjunction);
        Some((of_kind, rest))
    }

    fn letter_set(&mut self, set: &LetterSet) -> Bdd {
        match *set {
            LetterSet::Proposition(i) => self.bdds.var(i as u32),
            LetterSet::Listed(ref holds) => {
                let bits = holds.len().next_power_of_two().trailing_zeros();
                self.listed(holds, 0, 0, bits)
            }
        }
    }

    /// The letters from `first` on. A number without a letter does as the one without its highest bit.
    fn listed(&mut self, holds: &[bool], first: usize, variable: u32, bits: u32) -> Bdd {
        if variable == bits {
            return if holds[first] { Bdd::TRUE } else { Bdd::FALSE };
        }
        let half = 1 << (bits - 1 - variable);
        let low = self.listed(holds, first, variable + 1, bits);
        if first + half >= holds.len() {
            return low;
        }
        let high = self.listed(holds, first + half, variable + 1, bits);
        let test = self.bdds.var(variable);
        self.bdds.ite(test, high, low)
    }

    fn negated(&mut self, set: Bdd) -> Bdd {
        self.bdds.ite(set, Bdd::FALSE, Bdd::TRUE)
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let level = |f: &Id| self.levels[f.index()];
        let join = |fs: &mut dyn Iterator<Item = Level>| {
            fs.fold(Level { sigma: 0, pi: 0 }, |a, b| Level {
                sigma: a.sigma.max(b.sigma),
                pi: a.pi.max(b.pi),
            })
        };
        let here = match &node {
            Node::Letters(_) => Level { sigma: 0, pi: 0 },
            Node::And(fs) | Node::Or(fs) => join(&mut fs.iter().map(level)),
            Node::Next(f) => level(f),
            Node::Until(a, b) | Node::StrongRelease(a, b) => {
                let sigma = join(&mut [a, b].into_iter().map(level)).sigma.max(1);
                Level {
                    sigma,
                    pi: sigma + 1,
                }
            }
            Node::WeakUntil(a, b) | Node::Release(a, b) => {
                let pi = join(&mut [a, b].into_iter().map(level)).pi.max(1);
                Level { sigma: pi + 1, pi }
            }
        };
        let here = Level {
            sigma: here.sigma.min(here.pi + 1),
            pi: here.pi.min(here.sigma + 1),
        };
        let kind = |f: &Id| self.kinds[f.index()];
        let constant = Kind {
            eventual: true,
            universal: true,
        };
        let kind = match &node {
            &Node::Letters(set) => {
                let constant = set == Bdd::TRUE || set == Bdd::FALSE;
                Kind {
                    eventual: constant,
                    universal: constant,
                }
            }
            Node::And(fs) | Node::Or(fs) => fs.iter().map(kind).fold(constant, |a, b| Kind {
                eventual: a.eventual && b.eventual,
                universal: a.universal && b.universal,
            }),
            Node::Next(f) => kind(f),
            Node::Until(a, b)
            | Node::Release(a, b)
            | Node::WeakUntil(a, b)
            | Node::StrongRelease(a, b) => {
                let until = matches!(node, Node::Until(..)) && *a == self.truth;
                let release = matches!(node, Node::Release(..)) && *a == self.falsity;
                Kind {
                    eventual: until || kind(a).eventual && kind(b).eventual,
                    universal: release || kind(a).universal && kind(b).universal,
                }
            }
        };
        let id = Id(u32::try_from(self.nodes.len()).expect("fewer than 2^32 formulas"));
        self.kinds.push(kind);
        self.nodes.push(node.clone());
        self.levels.push(here);
        self.index.insert(node, id);
        id
    }

    /// Conjunction or disjunction, flat, with the letter sets folded into one.
    fn many(&mut self, parts: &[Id], conjunction: bool) -> Id {
        let (neutral, absorbing) = if conjunction {
            (self.truth, self.falsity)
        } else {
            (self.falsity, self.truth)
        };
        let mut flat = Vec::new();
        let mut set: Option<Bdd> = None;
        let mut todo: Vec<Id> = parts.to_vec();
        while let Some(p) = todo.pop() {
            match self.node(p) {
                Node::And(fs) if conjunction => todo.extend_from_slice(fs),
                Node::Or(fs) if !conjunction => todo.extend_from_slice(fs),
                &Node::Letters(s) => {
                    set = Some(match set {
                        None => s,
                        Some(old) if conjunction => self.bdds.and(old, s),
                        Some(old) => self.bdds.or(old, s),
                    });
                }
                _ => flat.push(p),
            }
        }
        if let Some(set) = set {
            let set = self.intern(Node::Letters(set));
            if set == absorbing {
                return absorbing;
            }
            if set != neutral {
                flat.push(set);
            }
        }
        flat.sort_unstable();
        flat.dedup();
        // a & (a | b) = a, and a | (a & b) = a.
        let absorbed = |f: &Id| match self.node(*f) {
            Node::And(fs) if !conjunction => fs.iter().any(|g| flat.binary_search(g).is_ok()),
            Node::Or(fs) if conjunction => fs.iter().any(|g| flat.binary_search(g).is_ok()),
            _ => false,
        };
        let flat: Vec<Id> = flat.iter().copied().filter(|f| !absorbed(f)).collect();
        let flat = self.without_implied(flat, conjunction);
        // X a & X b = X (a & b)
        let inner: Vec<Id> = flat
            .iter()
            .filter_map(|&f| match *self.node(f) {
                Node::Next(inner) => Some(inner),
                _ => None,
            })
            .collect();
        if inner.len() > 1 && inner.len() == flat.len() {
            let inner = self.many(&inner, conjunction);
            return self.next(inner);
        }
        match flat[..] {
            [] => neutral,
            [f] => f,
            _ => self.intern(if conjunction {
                Node::And(flat)
            } else {
                Node::Or(flat)
            }),
        }
    }

    pub(super) fn and(&mut self, parts: &[Id]) -> Id {
        self.many(parts, true)
    }

    pub(super) fn or(&mut self, parts: &[Id]) -> Id {
        self.many(parts, false)
    }

    pub(super) fn next(&mut self, f: Id) -> Id {
        if self.is_constant(f) {
            f
        } else {
            self.intern(Node::Next(f))
        }
    }

    pub(super) fn until(&mut self, a: Id, b: Id) -> Id {
        if b == self.truth || b == self.falsity || a == self.falsity || a == b {
            return b;
        }
        if self.is_eventual(b) || self.implies(a, b) {
            return b;
        }
        if let Some((a, b)) = self.both_later(a, b) {
            let until = self.until(a, b);
            return self.next(until);
        }
        if let Node::Until(c, _) = *self.node(b)
            && self.implies(a, c)
        {
            return b;
        }
        if let Some((now, rest)) = self.split(b, false, Self::is_eventual) {
            // a U (b | c) = (a U b) | c
            let until = self.until(a, rest);
            return self.or(&[&now[..], &[until]].concat());
        }
        if let Some((now, rest)) = self.split(b, true, Self::is_constant) {
            let until = self.until(a, rest);
            return self.and(&[&now[..], &[until]].concat());
        }
        if a == self.truth {
            // F F b = F b, and F (a U b) = F b.
            if let &Node::Until(_, inner) = self.node(b) {
                return self.until(a, inner);
            }
        }
        if let Node::Or(parts) = self.node(b) {
            // a U (b | G a) = a W b, which lies lower in the hierarchy.
            let is_always_a = |&p: &Id| *self.node(p) == Node::Release(self.falsity, a);
            if parts.iter().any(is_always_a) {
                let rest: Vec<Id> = parts.iter().copied().filter(|p| !is_always_a(p)).collect();
                let rest = self.or(&rest);
                return self.weak_until(a, rest);
            }
        }
        self.intern(Node::Until(a, b))
    }

    pub(super) fn weak_until(&mut self, a: Id, b: Id) -> Id {
        if a == self.truth || b == self.truth || a == b {
            return if a == b { a } else { self.truth };
        }
        if a == self.falsity {
            return b;
        }
        if b == self.falsity {
            let falsity = self.falsity;
            return self.release(falsity, a);
        }
        if self.implies(a, b) {
            return b;
        }
        if let Some((a, b)) = self.both_later(a, b) {
            let weak = self.weak_until(a, b);
            return self.next(weak);
        }
        if self.is_universal(a) {
            return self.or(&[a, b]);
        }
        if self.is_eventual(b) {
            let falsity = self.falsity;
            let always = self.release(falsity, a);
            return self.or(&[always, b]);
        }
        self.intern(Node::WeakUntil(a, b))
    }

    pub(super) fn release(&mut self, a: Id, b: Id) -> Id {
        if b == self.truth || b == self.falsity || a == self.truth || a == b {
            return b;
        }
        if self.is_universal(b) || self.implies(b, a) {
            return b;
        }
        if let Some((a, b)) = self.both_later(a, b) {
            let release = self.release(a, b);
            return self.next(release);
        }
        if let Node::Release(c, _) = *self.node(b)
            && self.implies(c, a)
        {
            return b;
        }
        if let Some((now, rest)) = self.split(b, true, Self::is_universal) {
            // a R (b & c) = (a R b) & c
            let release = self.release(a, rest);
            return self.and(&[&now[..], &[release]].concat());
        }
        if let Some((now, rest)) = self.split(b, false, Self::is_constant) {
            let release = self.release(a, rest);
            return self.or(&[&now[..], &[release]].concat());
        }
        if a == self.falsity {
            // G G b = G b, and G (a R b) = G b.
            if let &Node::Release(_, inner) = self.node(b) {
                return self.release(a, inner);
            }
        }
        self.intern(Node::Release(a, b))
    }

    pub(super) fn strong_release(&mut self, a: Id, b: Id) -> Id {
        if a == self.falsity || b == self.falsity {
            return self.falsity;
        }
        if a == self.truth || a == b {
            return b;
        }
        if b == self.truth {
            let truth = self.truth;
            return self.until(truth, a);
        }
        if self.implies(b, a) {
            return b;
        }
        if let Some((a, b)) = self.both_later(a, b) {
            let strong = self.strong_release(a, b);
            return self.next(strong);
        }
        if self.is_eventual(a) {
            return self.and(&[a, b]);
        }
        if self.is_universal(b) {
            let truth = self.truth;
            let eventually = self.until(truth, a);
            return self.and(&[eventually, b]);
        }
        self.intern(Node::StrongRelease(a, b))
    }

    /// The normal form of a formula, or of its negation.
    pub(super) fn normal_form(
        &mut self,
        f: &Ltl,
        negated: bool,
        sigma: Resolver<'_>,
    ) -> Result<Id, LtlError> {
        Ok(match f {
            Ltl::True => {
                if negated {
                    self.falsity
                } else {
                    self.truth
                }
            }
            Ltl::False => {
                if negated {
                    self.truth
                } else {
                    self.falsity
                }
            }
            Ltl::Atom(_)
            | Ltl::Previous(_)
            | Ltl::Once(_)
            | Ltl::Historically(_)
            | Ltl::Since(..) => {
                let mut set = self.letter_set(&sigma(f)?);
                if negated {
                    set = self.negated(set);
                }
                self.intern(Node::Letters(set))
            }
            Ltl::AnyOf(names) => {
                let mut any = Bdd::FALSE;
                for name in names {
                    let set = self.letter_set(&sigma(&Ltl::Atom(name.clone()))?);
                    any = self.bdds.or(any, set);
                }
                if negated {
                    any = self.negated(any);
                }
                self.intern(Node::Letters(any))
            }
            Ltl::Not(a) => self.normal_form(a, !negated, sigma)?,
            Ltl::And(fs) | Ltl::Or(fs) => {
                let parts = fs
                    .iter()
                    .map(|f| self.normal_form(f, negated, sigma))
                    .collect::<Result<Vec<_>, _>>()?;
                self.many(&parts, matches!(f, Ltl::And(_)) != negated)
            }
            Ltl::Implies(a, b) => {
                let a = self.normal_form(a, !negated, sigma)?;
                let b = self.normal_form(b, negated, sigma)?;
                self.many(&[a, b], negated)
            }
            Ltl::Iff(a, b) => {
                let (a1, a0) = (
                    self.normal_form(a, false, sigma)?,
                    self.normal_form(a, true, sigma)?,
                );
                let (b1, b0) = (
                    self.normal_form(b, negated, sigma)?,
                    self.normal_form(b, !negated, sigma)?,
                );
                let (both, neither) = (self.and(&[a1, b1]), self.and(&[a0, b0]));
                self.or(&[both, neither])
            }
            Ltl::Next(a) => {
                let a = self.normal_form(a, negated, sigma)?;
                self.next(a)
            }
            Ltl::Eventually(a) | Ltl::Always(a) => {
                let inner = self.normal_form(a, negated, sigma)?;
                let (truth, falsity) = (self.truth, self.falsity);
                if matches!(f, Ltl::Eventually(_)) == negated {
                    self.release(falsity, inner)
                } else {
                    self.until(truth, inner)
                }
            }
            Ltl::Until(a, b)
            | Ltl::Release(a, b)
            | Ltl::WeakUntil(a, b)
            | Ltl::StrongRelease(a, b) => {
                let (a, b) = (
                    self.normal_form(a, negated, sigma)?,
                    self.normal_form(b, negated, sigma)?,
                );
                match (f, negated) {
                    (Ltl::Until(..), false) | (Ltl::Release(..), true) => self.until(a, b),
                    (Ltl::Release(..), false) | (Ltl::Until(..), true) => self.release(a, b),
                    (Ltl::WeakUntil(..), false) | (Ltl::StrongRelease(..), true) => {
                        self.weak_until(a, b)
                    }
                    _ => self.strong_release(a, b),
                }
            }
        })
    }

    /// The formula as a conjunction (true) or disjunction of others with smaller operands, where an
    /// operator lets through one of an operand's.
    pub(super) fn distributed(&mut self, f: Id) -> Option<(Vec<Id>, bool)> {
        type Make = fn(&mut Formulas, Id, Id) -> Id;
        let (a, b, make, until): (Id, Id, Make, bool) = match *self.node(f) {
            Node::Until(a, b) => (a, b, Self::until, true),
            Node::WeakUntil(a, b) => (a, b, Self::weak_until, true),
            Node::Release(a, b) => (a, b, Self::release, false),
            Node::StrongRelease(a, b) => (a, b, Self::strong_release, false),
            _ => return None,
        };
        // a U (b | c), a W (b | c), (a | b) R c and (a | b) M c are disjunctions of two, and
        // (a & b) U c, (a & b) W c, a R (b & c) and a M (b & c) conjunctions.
        let (disjoined, conjoined) = if until { (b, a) } else { (a, b) };
        let (parts, conjunction) = match (self.node(disjoined), self.node(conjoined)) {
            (_, Node::And(parts)) => (parts.clone(), true),
            (Node::Or(parts), _) => (parts.clone(), false),
            _ => return None,
        };
        let at_left = until == conjunction;
        let made = parts
            .into_iter()
            .map(|p| {
                if at_left {
                    make(self, p, b)
                } else {
                    make(self, a, p)
                }
            })
            .collect();
        Some((made, conjunction))
    }

    /// The negation of a normal form.
    pub(super) fn negation(&mut self, f: Id) -> Id {
        match self.node(f).clone() {
            Node::Letters(set) => {
                let set = self.negated(set);
                self.intern(Node::Letters(set))
            }
            Node::And(fs) | Node::Or(fs) => {
                let conjunction = matches!(self.node(f), Node::Or(_));
                let parts: Vec<Id> = fs.iter().map(|&f| self.negation(f)).collect();
                self.many(&parts, conjunction)
            }
            Node::Next(a) => {
                let a = self.negation(a);
                self.next(a)
            }
            Node::Until(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                self.release(a, b)
            }
            Node::Release(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                self.until(a, b)
            }
            Node::WeakUntil(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                self.strong_release(a, b)
            }
            Node::StrongRelease(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                self.weak_until(a, b)
            }
        }
    }

    /// Every W and R outside U and M replaced by true: what a formula of Π₂ still owes.
    pub(super) fn obligations(&mut self, f: Id) -> Id {
        match self.node(f).clone() {
            Node::Letters(_) | Node::Until(..) | Node::StrongRelease(..) => f,
            Node::WeakUntil(..) | Node::Release(..) => self.truth,
            Node::And(fs) => {
                let parts: Vec<Id> = fs.iter().map(|&f| self.obligations(f)).collect();
                self.and(&parts)
            }
            Node::Or(fs) => {
                let parts: Vec<Id> = fs.iter().map(|&f| self.obligations(f)).collect();
                self.or(&parts)
            }
            Node::Next(a) => {
                let a = self.obligations(a);
                self.next(a)
            }
        }
    }
}

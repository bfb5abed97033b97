//! Formulas in negation normal form, interned. Everything that speaks of one position only is
//! folded into a set of letters, which makes actions (one at a time) and valuations the same.

use rustc_hash::FxHashMap;

use crate::alphabet::Letter;

use super::{Ltl, LtlError};

/// The letters at which an atom or a past formula holds, by position.
pub(super) type Resolver<'a> = &'a dyn Fn(&Ltl) -> Result<Vec<bool>, LtlError>;

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
    /// The first letter is one of these.
    Letters(Box<[u64]>),
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
    letters: usize,
    pub(super) truth: Id,
    pub(super) falsity: Id,
}

impl Formulas {
    pub(super) fn new(letters: usize) -> Self {
        let mut f = Self {
            nodes: Vec::new(),
            levels: Vec::new(),
            kinds: Vec::new(),
            index: FxHashMap::default(),
            letters,
            truth: Id(0),
            falsity: Id(0),
        };
        f.truth = f.letter_set(|_| true);
        f.falsity = f.letter_set(|_| false);
        f
    }

    pub(super) fn node(&self, f: Id) -> &Node {
        &self.nodes[f.index()]
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

    fn letter_set(&mut self, holds: impl Fn(usize) -> bool) -> Id {
        let mut words = vec![0_u64; self.letters.div_ceil(64)];
        (0..self.letters)
            .filter(|&l| holds(l))
            .for_each(|l| words[l / 64] |= 1 << (l % 64));
        self.intern(Node::Letters(words.into()))
    }

    pub(super) fn has_letter(set: &[u64], l: Letter) -> bool {
        set[l.index() / 64] >> (l.index() % 64) & 1 == 1
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
            Node::Letters(set) => {
                let none = set.iter().all(|w| *w == 0);
                let count: u32 = set.iter().map(|w| w.count_ones()).sum();
                let constant = none || count as usize == self.letters;
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
            Node::Until(a, b) => Kind {
                eventual: *a == self.truth,
                universal: *a == self.truth && kind(b).universal,
            },
            Node::Release(a, b) => Kind {
                eventual: *a == self.falsity && kind(b).eventual,
                universal: *a == self.falsity,
            },
            Node::WeakUntil(..) | Node::StrongRelease(..) => Kind {
                eventual: false,
                universal: false,
            },
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
        let mut set: Option<Box<[u64]>> = None;
        let mut todo: Vec<Id> = parts.to_vec();
        while let Some(p) = todo.pop() {
            match self.node(p) {
                Node::And(fs) if conjunction => todo.extend_from_slice(fs),
                Node::Or(fs) if !conjunction => todo.extend_from_slice(fs),
                Node::Letters(s) => match &mut set {
                    None => set = Some(s.clone()),
                    Some(old) if conjunction => old.iter_mut().zip(s).for_each(|(a, b)| *a &= b),
                    Some(old) => old.iter_mut().zip(s).for_each(|(a, b)| *a |= b),
                },
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
        if self.is_eventual(b) {
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
        if self.is_universal(b) {
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
                let holds = sigma(f)?;
                self.letter_set(|l| holds[l] != negated)
            }
            Ltl::AnyOf(names) => {
                let each = names
                    .iter()
                    .map(|n| sigma(&Ltl::Atom(n.clone())))
                    .collect::<Result<Vec<_>, _>>()?;
                self.letter_set(|l| each.iter().any(|h| h[l]) != negated)
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

    /// The negation of a normal form.
    pub(super) fn negation(&mut self, f: Id) -> Id {
        match self.node(f).clone() {
            Node::Letters(set) => self.letter_set(|l| !Self::has_letter(&set, Letter::new(l))),
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

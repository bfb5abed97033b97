//! Letters that a formula does not tell apart, and formulas over classes of them.

use rustc_hash::FxHashMap;

use super::{Formulas, Id, Node};
use crate::alphabet::Letter;
use crate::ltl::LetterSet;
use crate::ltl::bdd::Bdd;

impl Formulas {
    /// The sets of letters that a formula speaks of, each once.
    pub(super) fn letter_sets(&self, f: Id) -> Vec<Bdd> {
        let mut seen = vec![false; self.nodes.len()];
        let mut sets = Vec::new();
        let mut todo = vec![f];
        while let Some(f) = todo.pop() {
            if std::mem::replace(&mut seen[f.index()], true) {
                continue;
            }
            match self.node(f) {
                &Node::Letters(set) => sets.push(set),
                Node::And(fs) | Node::Or(fs) => todo.extend(fs),
                Node::Next(a) => todo.push(*a),
                Node::Until(a, b)
                | Node::WeakUntil(a, b)
                | Node::Release(a, b)
                | Node::StrongRelease(a, b) => todo.extend([*a, *b]),
            }
        }
        sets.sort_unstable();
        sets
    }

    /// Of numbered letters: which class each is of, where a class is what no part of a formula tells apart, and a
    /// letter of each class.
    pub(in crate::ltl) fn numbered_classes(&self, f: Id, count: usize) -> (Vec<u32>, Vec<Letter>) {
        let mut of = vec![0_u32; count];
        let mut first = vec![Letter::new(0)];
        for set in self.letter_sets(f) {
            let mut seen: FxHashMap<(u32, bool), u32> = FxHashMap::default();
            first = Vec::new();
            for (l, class) in of.iter_mut().enumerate() {
                let fresh = seen.len() as u32;
                let key = (*class, self.has_letter(set, Letter::new(l)));
                *class = *seen.entry(key).or_insert_with(|| {
                    first.push(Letter::new(l));
                    fresh
                });
            }
        }
        (of, first)
    }

    pub(super) fn has_letter(&self, mut set: Bdd, l: Letter) -> bool {
        while let Some((variable, low, high)) = self.bdds.node(set) {
            let holds = l.bits() >> self.bit(variable) & 1 == 1;
            set = if holds { high } else { low };
        }
        set == Bdd::TRUE
    }

    /// Classes of letters that no part of a formula tells apart; nothing if there are more than `limit`.
    pub(in crate::ltl) fn letter_classes(&mut self, f: Id, limit: usize) -> Option<Vec<Bdd>> {
        let mut classes = vec![Bdd::TRUE];
        for set in self.letter_sets(f) {
            let outside = self.negated(set);
            let mut split = Vec::new();
            for class in classes {
                let halves = [self.bdds.and(class, set), self.bdds.and(class, outside)];
                split.extend(halves.into_iter().filter(|&c| c != Bdd::FALSE));
            }
            if split.len() > limit || self.bdds.overflowed() {
                return None;
            }
            classes = split;
        }
        Some(classes)
    }

    /// A formula of another one's over letters that are its classes.
    pub(in crate::ltl) fn narrowed(
        &mut self,
        wide: &mut Self,
        f: Id,
        classes: &[Bdd],
        memo: &mut FxHashMap<Id, Id>,
    ) -> Id {
        if let Some(&known) = memo.get(&f) {
            return known;
        }
        let node = wide.node(f).clone();
        if let Node::Letters(set) = node {
            let holds = |&c: &Bdd| wide.bdds.and(c, set) != Bdd::FALSE;
            let holds = classes.iter().map(holds).collect();
            let set = self.letter_set(&LetterSet::Listed(holds));
            return self.intern(Node::Letters(set));
        }
        let mut inner = |g: Id| self.narrowed(wide, g, classes, memo);
        let made = match node {
            Node::Letters(_) => unreachable!("was told above"),
            Node::And(fs) => {
                let parts: Vec<Id> = fs.into_iter().map(inner).collect();
                self.and(&parts)
            }
            Node::Or(fs) => {
                let parts: Vec<Id> = fs.into_iter().map(inner).collect();
                self.or(&parts)
            }
            Node::Next(a) => {
                let a = inner(a);
                self.next(a)
            }
            Node::Until(a, b) => {
                let (a, b) = (inner(a), inner(b));
                self.until(a, b)
            }
            Node::WeakUntil(a, b) => {
                let (a, b) = (inner(a), inner(b));
                self.weak_until(a, b)
            }
            Node::Release(a, b) => {
                let (a, b) = (inner(a), inner(b));
                self.release(a, b)
            }
            Node::StrongRelease(a, b) => {
                let (a, b) = (inner(a), inner(b));
                self.strong_release(a, b)
            }
        };
        memo.insert(f, made);
        made
    }
}

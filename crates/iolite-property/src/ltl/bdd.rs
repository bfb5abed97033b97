//! Small shared decision diagrams: formulas up to propositional equivalence.

use rustc_hash::FxHashMap;

/// A function of the variables, equal iff the ids are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Bdd(u32);

impl Bdd {
    pub(super) const FALSE: Self = Self(0);
    pub(super) const TRUE: Self = Self(1);

    /// Its number; equal functions have equal ones.
    pub(super) fn index(self) -> u32 {
        self.0
    }

    pub(super) fn of(index: u32) -> Self {
        Self(index)
    }
}

#[derive(Default)]
pub(super) struct Bdds {
    nodes: Vec<(u32, Bdd, Bdd)>,
    unique: FxHashMap<(u32, Bdd, Bdd), Bdd>,
    memo: FxHashMap<(Bdd, Bdd, Bdd), Bdd>,
    overflow: bool,
}

/// Nodes and remembered results; beyond, the diagrams give up rather than let memory grow.
const MAX_NODES: usize = 1 << 21;
/// Minimal models of one function.
const MAX_MODELS: usize = 1 << 12;

impl Bdds {
    pub(super) fn new() -> Self {
        let leaf = (u32::MAX, Bdd::FALSE, Bdd::FALSE);
        Self {
            nodes: vec![leaf, leaf],
            ..Self::default()
        }
    }

    /// Whether a limit was met; results since then mean nothing.
    pub(super) fn overflowed(&self) -> bool {
        self.overflow
    }

    /// Variable, value if false, value if true; nothing for a constant.
    pub(super) fn node(&self, f: Bdd) -> Option<(u32, Bdd, Bdd)> {
        (f.0 > 1).then(|| self.nodes[f.0 as usize])
    }

    fn make(&mut self, var: u32, low: Bdd, high: Bdd) -> Bdd {
        if low == high {
            return low;
        }
        *self.unique.entry((var, low, high)).or_insert_with(|| {
            self.nodes.push((var, low, high));
            Bdd(self.nodes.len() as u32 - 1)
        })
    }

    pub(super) fn var(&mut self, var: u32) -> Bdd {
        self.make(var, Bdd::FALSE, Bdd::TRUE)
    }

    pub(super) fn ite(&mut self, f: Bdd, g: Bdd, h: Bdd) -> Bdd {
        if f == Bdd::TRUE || g == h {
            return g;
        }
        if f == Bdd::FALSE {
            return h;
        }
        if g == Bdd::TRUE && h == Bdd::FALSE {
            return f;
        }
        if let Some(&r) = self.memo.get(&(f, g, h)) {
            return r;
        }
        if self.nodes.len() > MAX_NODES || self.memo.len() > 2 * MAX_NODES {
            self.overflow = true;
        }
        if self.overflow {
            return Bdd::FALSE;
        }
        let top = [f, g, h]
            .iter()
            .map(|x| self.nodes[x.0 as usize].0)
            .min()
            .expect("three");
        let cofactor = |x: Bdd, value: bool| match self.nodes[x.0 as usize] {
            (v, low, high) if v == top && x.0 > 1 => {
                if value {
                    high
                } else {
                    low
                }
            }
            _ => x,
        };
        let (f0, g0, h0) = (cofactor(f, false), cofactor(g, false), cofactor(h, false));
        let (f1, g1, h1) = (cofactor(f, true), cofactor(g, true), cofactor(h, true));
        let low = self.ite(f0, g0, h0);
        let high = self.ite(f1, g1, h1);
        let r = self.make(top, low, high);
        self.memo.insert((f, g, h), r);
        r
    }

    pub(super) fn and(&mut self, f: Bdd, g: Bdd) -> Bdd {
        self.ite(f, g, Bdd::FALSE)
    }

    pub(super) fn or(&mut self, f: Bdd, g: Bdd) -> Bdd {
        self.ite(f, Bdd::TRUE, g)
    }

    /// The minimal sets of variables (each sorted) that make a monotone function true.
    pub(super) fn minimal_models(&mut self, f: Bdd) -> Vec<Vec<u32>> {
        match self.node(f) {
            None if f == Bdd::TRUE => vec![Vec::new()],
            None => Vec::new(),
            Some((var, low, high)) => {
                let without = self.minimal_models(low);
                let mut all = without.clone();
                if all.len() > MAX_MODELS {
                    self.overflow = true;
                    return all;
                }
                for model in self.minimal_models(high) {
                    // Monotone: low implies high, so only models that low does not have are new.
                    let covered = |m: &Vec<u32>| m.iter().all(|v| model.binary_search(v).is_ok());
                    if !without.iter().any(covered) {
                        let mut with = Vec::with_capacity(model.len() + 1);
                        with.push(var);
                        with.extend(model);
                        all.push(with);
                    }
                }
                all
            }
        }
    }
}

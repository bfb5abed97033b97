//! A query in the form that the search works on: clauses over literals, some of which are bounds
//! on integer variables or statements on string variables; and the definitions of what was
//! abstracted.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::interval::Interval;
use super::sat::{Lit, Sat};
use super::simplex::{Because, IntVar, Simplex};
use crate::Int;
use crate::linear::Linear;
use crate::regex::{Language, Re};

pub(super) type Lin = Linear<IntVar>;

/// A string variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StrVar(pub(super) usize);

/// A string: a variable or a known one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Str {
    Lit(String),
    Var(StrVar),
}

/// `literal ⇔ variable ∈ language`.
pub(super) struct Member {
    pub(super) lit: Lit,
    pub(super) var: StrVar,
    pub(super) re: Re,
}

/// Something that the search treats as free and the final check compares with its definition.
pub(super) enum Definition {
    /// product = a · b.
    Product { product: IntVar, a: Lin, b: Lin },
    /// a = b · quotient + remainder, 0 ≤ remainder < |b|, where b ≠ 0. The clauses say so, with a
    /// product; this is for the intervals.
    Quotient {
        quotient: IntVar,
        remainder: IntVar,
        a: Lin,
        b: Lin,
    },
    /// whole = the parts, one after the other.
    Concat { whole: StrVar, parts: Vec<Str> },
    /// lit ⇔ test(a, b).
    Test {
        lit: Lit,
        test: StrTest,
        a: Str,
        b: Str,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StrTest {
    /// a is a prefix of b.
    Prefix,
    /// a is a suffix of b.
    Suffix,
    /// a contains b.
    Contains,
}

impl StrTest {
    pub(super) fn holds(self, a: &str, b: &str) -> bool {
        match self {
            Self::Prefix => b.starts_with(a),
            Self::Suffix => b.ends_with(a),
            Self::Contains => a.contains(b),
        }
    }
}

pub(super) struct Problem {
    pub(super) sat: Sat,
    pub(super) simplex: Simplex,
    pub(super) truth: Lit,
    /// By Boolean variable: `x ≤ n` when it is true, `x ≥ n + 1` when it is false.
    pub(super) atoms: Vec<Option<(IntVar, Int)>>,
    /// By integer variable: its bounds that have a literal.
    bounds: Vec<BTreeMap<Int, Lit>>,
    /// By integer variable: the interval that it never leaves.
    ranges: Vec<Interval>,
    slacks: FxHashMap<Lin, IntVar>,
    gates: FxHashMap<Vec<Lit>, Lit>,
    /// Length of each string variable.
    pub(super) lengths: Vec<IntVar>,
    pub(super) members: Vec<Member>,
    member_index: FxHashMap<(StrVar, Re), Lit>,
    /// `literal ⇔ a = b`.
    pub(super) equal: Vec<(Lit, StrVar, StrVar)>,
    equal_index: FxHashMap<(StrVar, StrVar), Lit>,
    pub(super) definitions: Vec<Definition>,
    /// Languages of texts that were explored, or found to have too many states: rounds ask for the same ones.
    languages: FxHashMap<(Re, usize), Option<Rc<Language>>>,
}

/// Nodes that the expression of a language may have: a derivative copies most of them, so each state costs as much.
const MAX_SIZE: usize = 8_000;

impl Problem {
    /// The language of an expression, explored; `None` where it has too many states. What that costs is taken off
    /// `automata`.
    pub(super) fn language(
        &mut self,
        re: Re,
        states: usize,
        automata: &mut u64,
    ) -> Option<Rc<Language>> {
        let key = (re, states);
        if let Some(known) = self.languages.get(&key) {
            return known.clone();
        }
        let found = if key.0.size() > MAX_SIZE {
            None
        } else {
            let mut language = Language::new(key.0.clone(), states);
            let explored = language.explore_all();
            *automata = automata.saturating_sub(language.work());
            explored.then(|| Rc::new(language))
        };
        self.languages.insert(key, found.clone());
        found
    }

    pub(super) fn new() -> Self {
        let mut sat = Sat::new();
        let truth = sat.new_var().positive();
        sat.add_clause(vec![truth]);
        Self {
            sat,
            simplex: Simplex::default(),
            truth,
            atoms: vec![None],
            bounds: Vec::new(),
            ranges: Vec::new(),
            slacks: FxHashMap::default(),
            gates: FxHashMap::default(),
            lengths: Vec::new(),
            members: Vec::new(),
            member_index: FxHashMap::default(),
            equal: Vec::new(),
            equal_index: FxHashMap::default(),
            definitions: Vec::new(),
            languages: FxHashMap::default(),
        }
    }

    pub(super) fn new_bool(&mut self) -> Lit {
        self.atoms.push(None);
        self.sat.new_var().positive()
    }

    pub(super) fn constant(&self, b: bool) -> Lit {
        if b { self.truth } else { !self.truth }
    }

    pub(super) fn new_int(&mut self) -> IntVar {
        self.bounds.push(BTreeMap::new());
        self.ranges.push(Interval::default());
        self.simplex.new_var()
    }

    /// A variable within bounds.
    pub(super) fn new_bounded(&mut self, lo: Option<Int>, hi: Option<Int>) -> IntVar {
        let x = self.new_int();
        // A variable without other bounds cannot contradict a non-empty range.
        self.ranges[x.0] = Interval::new(lo.clone(), hi.clone());
        if let Some(lo) = lo {
            let _ = self.simplex.assert_lower(x, lo, Because::Axiom);
        }
        if let Some(hi) = hi {
            let _ = self.simplex.assert_upper(x, hi, Because::Axiom);
        }
        x
    }

    /// The interval that a form never leaves.
    pub(super) fn range_of(&self, l: &Lin) -> Interval {
        let constant = Interval::point(l.constant.clone());
        l.terms.iter().fold(constant, |sum, (x, a)| {
            sum.plus(&self.ranges[x.0].times(&Interval::point(a.clone())))
        })
    }

    /// The interval that a variable never leaves.
    pub(super) fn range(&self, x: IntVar) -> &Interval {
        &self.ranges[x.0]
    }

    pub(super) fn clause(&mut self, lits: Vec<Lit>) {
        self.sat.add_clause(lits);
    }

    /// `x ≤ n`. Bounds of one variable imply their neighbours, so that the SAT core propagates
    /// what the simplex would have to refute.
    fn at_most(&mut self, x: IntVar, n: Int) -> Lit {
        let Interval { lo, hi } = &self.ranges[x.0];
        if hi.as_ref().is_some_and(|hi| *hi <= n) {
            return self.truth;
        }
        if lo.as_ref().is_some_and(|lo| n < *lo) {
            return !self.truth;
        }
        if let Some(&lit) = self.bounds[x.0].get(&n) {
            return lit;
        }
        let lit = self.new_bool();
        self.atoms[lit.var().index()] = Some((x, n.clone()));
        let bounds = &mut self.bounds[x.0];
        let below = bounds.range(..&n).next_back().map(|(_, l)| *l);
        let above = bounds.range(&n..).next().map(|(_, l)| *l);
        bounds.insert(n, lit);
        if let Some(below) = below {
            self.clause(vec![!below, lit]);
        }
        if let Some(above) = above {
            self.clause(vec![!lit, above]);
        }
        lit
    }

    /// The variable that holds the primitive form.
    fn form_var(&mut self, form: Lin) -> IntVar {
        if let Some((x, a)) = form.terms.first_key_value()
            && form.terms.len() == 1
            && a.is_one()
        {
            return *x;
        }
        if let Some(&s) = self.slacks.get(&form) {
            return s;
        }
        let s = self.simplex.new_slack(&form);
        let range = self.range_of(&form);
        self.bounds.push(BTreeMap::new());
        self.ranges.push(range);
        self.slacks.insert(form, s);
        s
    }

    /// `l ≤ 0`.
    pub(super) fn le_zero(&mut self, l: &Lin) -> Lit {
        let Some((form, factor, constant)) = l.primitive() else {
            return self.constant(l.constant.signum() <= 0);
        };
        // factor·form ≤ −constant
        let rest = -constant;
        let x = self.form_var(form);
        if factor.signum() > 0 {
            self.at_most(x, rest.div_floor(&factor))
        } else {
            let least = (-rest).div_ceil(&-factor);
            !self.at_most(x, least - Int::ONE)
        }
    }

    /// `a ≤ b`.
    pub(super) fn le(&mut self, a: &Lin, b: &Lin) -> Lit {
        self.le_zero(&a.minus(b))
    }

    /// `a = b`.
    pub(super) fn eq_int(&mut self, a: &Lin, b: &Lin) -> Lit {
        let d = a.minus(b);
        let Some((form, factor, constant)) = d.primitive() else {
            return self.constant(d.constant.is_zero());
        };
        if !constant.modulo(&factor).is_zero() {
            return self.constant(false);
        }
        let n = (-constant).div_mod(&factor).map_or(Int::ZERO, |(q, _)| q);
        let x = self.form_var(form);
        let le = self.at_most(x, n.clone());
        let ge = !self.at_most(x, n - Int::ONE);
        self.and(vec![le, ge])
    }

    pub(super) fn and(&mut self, mut lits: Vec<Lit>) -> Lit {
        lits.sort_unstable();
        lits.dedup();
        lits.retain(|l| *l != self.truth);
        if lits.contains(&!self.truth) || lits.iter().any(|l| lits.contains(&!*l)) {
            return !self.truth;
        }
        match lits.len() {
            0 => return self.truth,
            1 => return lits[0],
            _ => {}
        }
        if let Some(&g) = self.gates.get(&lits) {
            return g;
        }
        let g = self.new_bool();
        for &l in &lits {
            self.clause(vec![!g, l]);
        }
        let mut all: Vec<Lit> = lits.iter().map(|l| !*l).collect();
        all.push(g);
        self.clause(all);
        self.gates.insert(lits, g);
        g
    }

    pub(super) fn or(&mut self, lits: Vec<Lit>) -> Lit {
        !self.and(lits.into_iter().map(|l| !l).collect())
    }

    pub(super) fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        let both = self.and(vec![a, b]);
        let none = self.and(vec![!a, !b]);
        self.or(vec![both, none])
    }

    pub(super) fn ite(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        let then = self.and(vec![c, a]);
        let otherwise = self.and(vec![!c, b]);
        self.or(vec![then, otherwise])
    }

    pub(super) fn new_str(&mut self) -> StrVar {
        let length = self.new_bounded(Some(Int::ZERO), None);
        self.lengths.push(length);
        StrVar(self.lengths.len() - 1)
    }

    pub(super) fn length(&self, s: &Str) -> Lin {
        match s {
            Str::Lit(text) => Lin::constant(text.chars().count().into()),
            Str::Var(v) => Lin::atom(self.lengths[v.0]),
        }
    }

    /// `v ∈ L(re)`.
    pub(super) fn member(&mut self, var: StrVar, re: Re) -> Lit {
        if let Some(&lit) = self.member_index.get(&(var, re.clone())) {
            return lit;
        }
        let lit = self.new_bool();
        self.member_index.insert((var, re.clone()), lit);
        self.members.push(Member { lit, var, re });
        lit
    }

    pub(super) fn eq_str(&mut self, a: &Str, b: &Str) -> Lit {
        match (a, b) {
            (Str::Lit(x), Str::Lit(y)) => self.constant(x == y),
            (Str::Var(v), Str::Lit(text)) | (Str::Lit(text), Str::Var(v)) => {
                let lit = self.member(*v, Re::literal(text));
                let same = {
                    let (x, y) = (
                        self.length(&Str::Var(*v)),
                        self.length(&Str::Lit(text.clone())),
                    );
                    self.eq_int(&x, &y)
                };
                self.clause(vec![!lit, same]);
                lit
            }
            (Str::Var(x), Str::Var(y)) => {
                let (x, y) = (*x.min(y), *x.max(y));
                if x == y {
                    return self.truth;
                }
                if let Some(&lit) = self.equal_index.get(&(x, y)) {
                    return lit;
                }
                let lit = self.new_bool();
                self.equal_index.insert((x, y), lit);
                self.equal.push((lit, x, y));
                let (lx, ly) = (self.length(&Str::Var(x)), self.length(&Str::Var(y)));
                let same = self.eq_int(&lx, &ly);
                self.clause(vec![!lit, same]);
                lit
            }
        }
    }
}

//! Strings in the solver's own shape: what is known of one side becomes a language of the other.

use super::lower::Lowering;
use super::problem::{Definition, Lin, Str, StrTest};
use super::sat::Lit;
use crate::Int;
use crate::regex::Re;

/// Longest string constant whose substrings are listed.
const MAX_LISTED: usize = 64;
/// Ways to split a known text that are listed.
const MAX_SPLITS: usize = 512;

impl Lowering {
    pub(super) fn concat(&mut self, parts: Vec<Str>) -> Str {
        let mut joined: Vec<Str> = Vec::new();
        for p in parts {
            match (joined.last_mut(), p) {
                (_, Str::Lit(text)) if text.is_empty() => {}
                (Some(Str::Lit(before)), Str::Lit(text)) => before.push_str(&text),
                (_, p) => joined.push(p),
            }
        }
        match joined.len() {
            0 => return Str::Lit(String::new()),
            1 => return joined.remove(0),
            _ => {}
        }
        let whole = self.problem.new_str();
        let mut sum = Lin::constant(Int::ZERO);
        for p in &joined {
            sum.add_scaled(&self.problem.length(p), &Int::ONE);
        }
        let length = self.problem.length(&Str::Var(whole));
        let same = self.problem.eq_int(&length, &sum);
        self.problem.clause(vec![same]);
        // Known ends narrow the language of the whole.
        if let Some(Str::Lit(text)) = joined.first() {
            let lit = self
                .problem
                .member(whole, Re::concat(vec![Re::literal(text), Re::all()]));
            self.problem.clause(vec![lit]);
        }
        if let Some(Str::Lit(text)) = joined.last() {
            let lit = self
                .problem
                .member(whole, Re::concat(vec![Re::all(), Re::literal(text)]));
            self.problem.clause(vec![lit]);
        }
        self.problem.definitions.push(Definition::Concat {
            whole,
            parts: joined,
        });
        Str::Var(whole)
    }

    /// `a = b`. A concatenation that equals a known text is one of the ways to split it.
    pub(super) fn equal_text(&mut self, a: &Str, b: &Str) -> Lit {
        let lit = self.problem.eq_str(a, b);
        let (Str::Var(whole), Str::Lit(text)) = (match a {
            Str::Var(_) => (a, b),
            Str::Lit(_) => (b, a),
        }) else {
            return lit;
        };
        let parts = self.problem.definitions.iter().find_map(|d| match d {
            Definition::Concat { whole: w, parts } if w == whole => Some(parts.clone()),
            _ => None,
        });
        let chars: Vec<char> = text.chars().collect();
        let Some(parts) = parts.filter(|parts| splits(parts, chars.len()) <= MAX_SPLITS) else {
            return lit;
        };
        let ways = self.split(&parts, &chars);
        let any = self.problem.or(ways);
        self.problem.clause(vec![!lit, any]);
        self.problem.clause(vec![lit, !any]);
        lit
    }

    /// The ways in which the parts can be the text.
    fn split(&mut self, parts: &[Str], text: &[char]) -> Vec<Lit> {
        let Some((first, rest)) = parts.split_first() else {
            return Vec::from_iter(text.is_empty().then_some(self.problem.truth));
        };
        let mut ways = Vec::new();
        let ends = match first {
            Str::Lit(known) => {
                let n = known.chars().count();
                n..=n
            }
            Str::Var(_) if rest.is_empty() => text.len()..=text.len(),
            Str::Var(_) => 0..=text.len(),
        };
        for end in ends.filter(|end| *end <= text.len()) {
            let head = Str::Lit(text[..end].iter().collect());
            let here = self.problem.eq_str(first, &head);
            if here == !self.problem.truth {
                continue;
            }
            for tail in self.split(rest, &text[end..]) {
                ways.push(self.problem.and(vec![here, tail]));
            }
        }
        ways
    }

    pub(super) fn test(&mut self, test: StrTest, a: Str, b: Str) -> Lit {
        let all = Re::all;
        match (&a, &b) {
            (Str::Lit(x), Str::Lit(y)) => return self.problem.constant(test.holds(x, y)),
            (Str::Lit(x), Str::Var(v)) if test != StrTest::Contains || x.len() <= MAX_LISTED => {
                let re = match test {
                    StrTest::Prefix => Re::concat(vec![Re::literal(x), all()]),
                    StrTest::Suffix => Re::concat(vec![all(), Re::literal(x)]),
                    StrTest::Contains => Re::alt(substrings(x, true, true)),
                };
                return self.problem.member(*v, re);
            }
            (Str::Var(v), Str::Lit(y)) if test == StrTest::Contains || y.len() <= MAX_LISTED => {
                let re = match test {
                    StrTest::Prefix => Re::alt(substrings(y, false, true)),
                    StrTest::Suffix => Re::alt(substrings(y, true, false)),
                    StrTest::Contains => Re::concat(vec![all(), Re::literal(y), all()]),
                };
                return self.problem.member(*v, re);
            }
            _ => {}
        }
        let lit = self.problem.new_bool();
        self.problem
            .definitions
            .push(Definition::Test { lit, test, a, b });
        lit
    }
}

/// At most so many ways to split a text of this length into the parts.
fn splits(parts: &[Str], length: usize) -> usize {
    let open = parts.iter().filter(|p| matches!(p, Str::Var(_))).count();
    (1..open).fold(1, |n: usize, _| n.saturating_mul(length + 1))
}

/// The prefixes, suffixes or substrings of a text, as literals.
fn substrings(text: &str, any_start: bool, any_end: bool) -> Vec<Re> {
    let chars: Vec<char> = text.chars().collect();
    let n = chars.len();
    let mut out = Vec::new();
    for start in 0..=(if any_start { n } else { 0 }) {
        for end in (if any_end { start } else { n })..=n {
            out.push(Re::literal(&chars[start..end].iter().collect::<String>()));
        }
    }
    out
}

//! Strings in the solver's own shape: what is known of one side becomes a language of the other.

use super::lower::Lowering;
use super::problem::{Definition, Lin, Str, StrTest, StrVar};
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

    /// What a string is put together from; itself where it is not a concatenation.
    fn parts_of(&self, s: &Str) -> Vec<Str> {
        let parts = self.problem.definitions.iter().find_map(|d| match d {
            Definition::Concat { whole, parts } if *s == Str::Var(*whole) => Some(parts.clone()),
            _ => None,
        });
        parts.unwrap_or_else(|| vec![s.clone()])
    }

    /// `s ∈ L(re)`. Known ends of a concatenation are taken off the language.
    pub(super) fn matches(&mut self, s: StrVar, re: &Re) -> Lit {
        let parts = self.parts_of(&Str::Var(s));
        let unknown = |p: &&Str| matches!(p, Str::Var(_));
        if parts.len() == 1 || parts.iter().filter(unknown).count() != 1 {
            return self.problem.member(s, re.clone());
        }
        let (mut before, mut after) = (String::new(), String::new());
        let mut inner = s;
        for p in &parts {
            match p {
                Str::Var(v) => inner = *v,
                Str::Lit(text) if inner == s => before.push_str(text),
                Str::Lit(text) => after.push_str(text),
            }
        }
        let re = re.between(&before, &after);
        self.problem.member(inner, re)
    }

    /// Both sides without the parts that they begin and end with alike.
    fn stripped(&self, a: &Str, b: &Str) -> Option<(Vec<Str>, Vec<Str>)> {
        let (mut x, mut y) = (self.parts_of(a), self.parts_of(b));
        let before = (x.len(), y.len());
        while !x.is_empty() && !y.is_empty() && x[0] == y[0] {
            x.remove(0);
            y.remove(0);
        }
        while !x.is_empty() && x.last() == y.last() {
            x.pop();
            y.pop();
        }
        (before != (x.len(), y.len())).then_some((x, y))
    }

    /// `a = b`. A concatenation that equals a known text is one of the ways to split it.
    pub(super) fn equal_text(&mut self, a: &Str, b: &Str) -> Lit {
        if a == b {
            return self.problem.truth;
        }
        if let Some((x, y)) = self.stripped(a, b) {
            let (x, y) = (self.concat(x), self.concat(y));
            return self.equal_text(&x, &y);
        }
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
        let (inner, outer) = if test == StrTest::Contains {
            (&b, &a)
        } else {
            (&a, &b)
        };
        let parts = self.parts_of(outer);
        let known = match test {
            StrTest::Prefix => parts.first() == Some(inner),
            StrTest::Suffix => parts.last() == Some(inner),
            StrTest::Contains => parts.contains(inner),
        };
        if known || inner == outer {
            return self.problem.truth;
        }
        match (&a, &b) {
            (Str::Lit(x), Str::Lit(y)) => return self.problem.constant(test.holds(x, y)),
            (Str::Lit(x), Str::Var(v)) if test != StrTest::Contains || x.len() <= MAX_LISTED => {
                let re = match test {
                    StrTest::Prefix => Re::concat(vec![Re::literal(x), all()]),
                    StrTest::Suffix => Re::concat(vec![all(), Re::literal(x)]),
                    StrTest::Contains => Re::alt(substrings(x, true, true)),
                };
                return self.matches(*v, &re);
            }
            (Str::Var(v), Str::Lit(y)) if test == StrTest::Contains || y.len() <= MAX_LISTED => {
                let re = match test {
                    StrTest::Prefix => Re::alt(substrings(y, false, true)),
                    StrTest::Suffix => Re::alt(substrings(y, true, false)),
                    StrTest::Contains => Re::concat(vec![all(), Re::literal(y), all()]),
                };
                return self.matches(*v, &re);
            }
            _ => {}
        }
        let lit = self.problem.new_bool();
        self.placed(lit, test, inner, outer);
        self.problem
            .definitions
            .push(Definition::Test { lit, test, a, b });
        lit
    }

    /// Where the test holds, the outer string is the inner one with others around it. Where a
    /// prefix or suffix does not hold, the outer one is shorter or has another one in that place.
    fn placed(&mut self, lit: Lit, test: StrTest, inner: &Str, outer: &Str) {
        let (short, long) = (self.problem.length(inner), self.problem.length(outer));
        let fits = self.problem.le(&short, &long);
        self.problem.clause(vec![!lit, fits]);
        let around = |this: &mut Self, middle: &Str| {
            let mut fresh = || Str::Var(this.problem.new_str());
            let parts = match test {
                StrTest::Prefix => vec![middle.clone(), fresh()],
                StrTest::Suffix => vec![fresh(), middle.clone()],
                StrTest::Contains => vec![fresh(), middle.clone(), fresh()],
            };
            let whole = this.concat(parts);
            this.equal_text(outer, &whole)
        };
        let holds = around(self, inner);
        self.problem.clause(vec![!lit, holds]);
        if test == StrTest::Contains {
            return;
        }
        let other = Str::Var(self.problem.new_str());
        let instead = around(self, &other);
        let length = self.problem.length(&other);
        let as_long = self.problem.eq_int(&length, &short);
        let same = self.problem.eq_str(&other, inner);
        for l in [instead, as_long, !same] {
            self.problem.clause(vec![lit, !fits, l]);
        }
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

//! Random typed terms, seeded.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::cast_possible_wrap,
    clippy::struct_excessive_bools
)]

pub mod query_kind;

use iolite_expr::{Op, Sort, Span, Term, Value, Var, VarId};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Regular expressions of random queries.
const PATTERNS: [&str; 10] = [
    "[ab]*",
    "a+b?",
    "(ab)*",
    "b{1,2}",
    "a.*",
    "(a|ba)*b",
    "[0-9]{2,4}",
    "(aa|bbb)+",
    "[a-c]+:[0-9]+",
    ".{3}",
];

pub struct Gen {
    pub rng: Xoshiro256PlusPlus,
    pub vars: Vec<Var>,
    /// Products of variables and division by variables too.
    pub nonlinear: bool,
    pub divisions: bool,
    /// Division by variables without products of them.
    pub unknown_divisors: bool,
    /// Records and operations on arrays.
    pub structures: bool,
    pub constants: i64,
}

impl Gen {
    pub fn new(seed: u64, sorts: &[Sort]) -> Self {
        let vars = sorts
            .iter()
            .enumerate()
            .map(|(i, s)| Var::new(VarId::new(0, i), &format!("x{i}"), s.clone()))
            .collect();
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            vars,
            nonlinear: false,
            divisions: true,
            unknown_divisors: false,
            structures: false,
            constants: 6,
        }
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.rng.random_range(0..n)
    }

    pub fn var(&mut self, fits: impl Fn(&Sort) -> bool) -> Option<Term> {
        let fitting: Vec<usize> = (0..self.vars.len())
            .filter(|i| fits(&self.vars[*i].sort))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let i = fitting[self.below(fitting.len())];
        Some(self.vars[i].term())
    }

    pub fn app(op: Op, args: Vec<Term>) -> Term {
        Term::apply(op, args, Span::new(1, 2)).expect("generated terms are well-typed")
    }

    pub fn constant(&mut self) -> Term {
        let c = self.constants;
        self.rng.random_range(-c..=c).into()
    }

    pub fn int(&mut self, depth: u32) -> Term {
        if depth == 0 || self.below(5) == 0 {
            return match self.below(3) {
                0 => self.constant(),
                _ => self.var(Sort::is_int).unwrap_or_else(|| 1.into()),
            };
        }
        let d = depth - 1;
        if self.structures
            && self.below(3) == 0
            && let Some(t) = self.part_of_structure(d)
        {
            return t;
        }
        match self.below(if self.divisions { 10 } else { 7 }) {
            0 | 1 => Self::app(Op::Add, vec![self.int(d), self.int(d)]),
            2 => Self::app(Op::Sub, vec![self.int(d), self.int(d)]),
            3 => {
                let factor = if self.nonlinear {
                    self.int(d)
                } else {
                    self.constant()
                };
                Self::app(Op::Mul, vec![factor, self.int(d)])
            }
            4 => Self::app(Op::Neg, vec![self.int(d)]),
            5 => Self::app(Op::Ite, vec![self.boolean(d), self.int(d), self.int(d)]),
            6 => {
                if let Some(a) = self.var(|s| matches!(s, Sort::Array(e) if e.is_int())) {
                    if self.below(3) == 0 {
                        Self::app(Op::Len, vec![a])
                    } else {
                        Self::app(Op::Select, vec![a, self.int(d.min(1))])
                    }
                } else if let Some(s) = self.var(|s| *s == Sort::String) {
                    Self::app(Op::StrLen, vec![s])
                } else {
                    Self::app(Op::Abs, vec![self.int(d)])
                }
            }
            n => {
                let divisor = if self.nonlinear || (self.unknown_divisors && self.below(3) == 0) {
                    self.int(d)
                } else {
                    let k = self.rng.random_range(1..=5i64);
                    if self.below(3) == 0 {
                        (-k).into()
                    } else {
                        k.into()
                    }
                };
                Self::app(
                    if n == 7 { Op::Div } else { Op::Mod },
                    vec![self.int(d), divisor],
                )
            }
        }
    }

    pub fn string(&mut self, depth: u32) -> Term {
        if depth == 0 || self.below(3) > 0 {
            if self.below(3) > 0
                && let Some(v) = self.var(|s| *s == Sort::String)
            {
                return v;
            }
            return ["", "a", "b", "ab", "ba", "aab"][self.below(6)].into();
        }
        Self::app(
            Op::Concat,
            vec![self.string(depth - 1), self.string(depth - 1)],
        )
    }

    pub fn boolean(&mut self, depth: u32) -> Term {
        if depth == 0 {
            return self
                .var(|s| *s == Sort::Bool)
                .unwrap_or_else(|| true.into());
        }
        let d = depth - 1;
        if self.structures
            && self.below(4) == 0
            && let Some(t) = self.equal_structures(d)
        {
            return t;
        }
        match self.below(10) {
            0 => Self::app(Op::Not, vec![self.boolean(d)]),
            1 => Self::app(Op::And, vec![self.boolean(d), self.boolean(d)]),
            2 => Self::app(
                Op::Or,
                vec![self.boolean(d), self.boolean(d), self.boolean(d)],
            ),
            3 => Self::app(Op::Implies, vec![self.boolean(d), self.boolean(d)]),
            4 => Self::app(
                Op::Ite,
                vec![self.boolean(d), self.boolean(d), self.boolean(d)],
            ),
            5 => {
                let ops = [Op::Eq, Op::Ne];
                let op = ops[self.below(2)].clone();
                if let Some(e) = self.var(|s| matches!(s, Sort::Enum(_))) {
                    let Sort::Enum(sort) = e.sort().clone() else {
                        unreachable!()
                    };
                    let i = self.below(sort.variants.len()) as u32;
                    return Self::app(op, vec![e, Value::Enum(sort, i).into()]);
                }
                Self::app(op, vec![self.boolean(d), self.boolean(d)])
            }
            6..=8 if self.vars.iter().any(|v| v.sort == Sort::String) => match self.below(6) {
                0 => Self::app(Op::Eq, vec![self.string(2), self.string(2)]),
                3 => Self::app(Op::Suffix, vec![self.string(1), self.string(1)]),
                1 => Self::app(Op::Prefix, vec![self.string(1), self.string(1)]),
                2 => Self::app(Op::Contains, vec![self.string(1), self.string(1)]),
                _ => {
                    let re = PATTERNS[self.below(PATTERNS.len())];
                    let s = self.string(1);
                    Term::matches(s, re, Span::NONE).unwrap()
                }
            },
            _ => {
                let ops = [Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne];
                let op = ops[self.below(6)].clone();
                Self::app(op, vec![self.int(d), self.int(d)])
            }
        }
    }
}

/// All valuations of finite variables.
pub fn valuations(vars: &[Var]) -> Vec<std::collections::BTreeMap<VarId, Value>> {
    let mut all = vec![std::collections::BTreeMap::new()];
    for v in vars {
        let values = v.sort.values(1_000).expect("finite");
        all = all
            .into_iter()
            .flat_map(|row: std::collections::BTreeMap<VarId, Value>| {
                values.iter().map(move |x| {
                    let mut row = row.clone();
                    row.insert(v.id, x.clone());
                    row
                })
            })
            .collect();
    }
    all
}

pub fn small_sorts() -> Vec<Sort> {
    vec![
        Sort::range(-3, 3).unwrap(),
        Sort::range(0, 4).unwrap(),
        Sort::range(-2, 2).unwrap(),
        Sort::Bool,
        Sort::enumeration("Colour", &["red", "green", "blue"]).unwrap(),
    ]
}

/// The first random case: `IOLITE_FIRST` in the environment, else none is left out.
pub fn first_case() -> u64 {
    let first = std::env::var("IOLITE_FIRST").ok();
    first.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// CPU time of this thread where the system says it, else the time that has passed.
pub fn cpu_time() -> std::time::Duration {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let begin = BEGIN.get_or_init(std::time::Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse().ok())
        .map_or_else(|| begin.elapsed(), std::time::Duration::from_nanos)
}

/// How many random cases: `IOLITE_CASES` in the environment, else the default.
pub fn cases(default: u64) -> u64 {
    std::env::var("IOLITE_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

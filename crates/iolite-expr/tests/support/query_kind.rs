//! Random queries of six kinds, seeded.

use iolite_expr::{Op, Sort, Span, Term, Value};

use super::Gen;

/// What a random query is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    Linear,
    Nonlinear,
    DivMod,
    Text,
    Array,
    Record,
}

impl QueryKind {
    pub const ALL: [Self; 6] = [
        Self::Linear,
        Self::Nonlinear,
        Self::DivMod,
        Self::Text,
        Self::Array,
        Self::Record,
    ];

    /// Queries out of a thousand that the embedded solver may leave open.
    pub fn open_per_mille(self) -> u64 {
        match self {
            Self::Linear | Self::Nonlinear => 10,
            _ => 50,
        }
    }

    fn sorts(self) -> Vec<Sort> {
        let range = |lo, hi| Sort::range(lo, hi).expect("a range");
        let colour = || Sort::enumeration("Colour", &["red", "green", "blue"]).expect("colours");
        match self {
            Self::Linear => vec![Sort::Int, Sort::Int, range(-20, 100), Sort::Bool, colour()],
            Self::Nonlinear => vec![
                Sort::Int,
                Sort::Int,
                range(-9, 9),
                range(0, 100),
                Sort::Bool,
            ],
            Self::DivMod => vec![Sort::Int, Sort::Int, range(-9, 9), Sort::Bool],
            Self::Text => vec![
                Sort::String,
                Sort::String,
                Sort::String,
                Sort::Int,
                Sort::Bool,
            ],
            Self::Array => {
                let list = |e| Sort::array(e).expect("an array");
                vec![
                    list(range(0, 9)),
                    list(range(0, 9)),
                    Sort::Int,
                    range(0, 4),
                    Sort::Bool,
                ]
            }
            Self::Record => {
                let point = Sort::record(
                    "Point",
                    vec![("x".into(), Sort::Int), ("y".into(), range(-5, 50))],
                )
                .expect("a record");
                let named = vec![
                    ("at".into(), point.clone()),
                    ("name".into(), Sort::String),
                    ("colour".into(), colour()),
                ];
                let pin = Sort::record("Pin", named).expect("a record");
                vec![point.clone(), point, pin, Sort::Int, Sort::Bool]
            }
        }
    }

    /// One to three Boolean terms.
    pub fn query(self, seed: u64) -> Vec<Term> {
        let mut g = Gen::new(seed ^ ((self as u64 + 1) << 40), &self.sorts());
        g.nonlinear = self == Self::Nonlinear;
        g.divisions = self == Self::DivMod;
        g.unknown_divisors = self == Self::DivMod;
        g.structures = matches!(self, Self::Array | Self::Record);
        g.constants = [6, 30, 1_000][(seed % 3) as usize];
        (0..=(seed % 3)).map(|_| g.boolean(4)).collect()
    }
}

impl Gen {
    /// An array of this sort.
    pub fn array(&mut self, sort: &Sort, depth: u32) -> Term {
        let known = |g: &mut Self| {
            let items = (0..g.below(3))
                .map(|_| (g.below(10) as i64).into())
                .collect();
            Term::array(sort, items, Span::NONE).expect("items of the sort")
        };
        if depth == 0 || self.below(3) == 0 {
            if self.below(4) == 0 {
                return known(self);
            }
            let found = self.var(|s| s == sort);
            return found.unwrap_or_else(|| known(self));
        }
        let d = depth - 1;
        let a = self.array(sort, d);
        match self.below(3) {
            0 => {
                let item = (self.below(10) as i64).into();
                Self::app(Op::Store, vec![a, self.int(1), item])
            }
            1 => Self::app(Op::Append, vec![a, self.array(sort, d)]),
            _ => {
                let (lo, hi) = (self.below(3) as i64, self.int(1));
                Self::app(Op::Slice, vec![a, lo.into(), hi])
            }
        }
    }

    /// A record of this sort.
    pub fn record(&mut self, sort: &Sort, depth: u32) -> Term {
        let Sort::Record(r) = sort else {
            unreachable!("only asked for records")
        };
        let fields = r.fields.clone();
        let var = self.var(|s| s == sort);
        match (var, self.below(3)) {
            (Some(v), 0 | 1) if depth == 0 || self.below(2) == 0 => v,
            (Some(v), 0) => {
                let (name, field) = &fields[self.below(fields.len())];
                let value = self.of_sort(field, depth.saturating_sub(1));
                Term::update(v, name, value, Span::NONE).expect("a field of its sort")
            }
            _ => {
                let values = fields
                    .iter()
                    .map(|(_, s)| self.of_sort(s, depth.saturating_sub(1)))
                    .collect();
                Self::app_record(sort, values)
            }
        }
    }

    fn app_record(sort: &Sort, values: Vec<Term>) -> Term {
        Term::record(sort, values, Span::NONE).expect("fields of their sorts")
    }

    /// A term of this sort.
    fn of_sort(&mut self, sort: &Sort, depth: u32) -> Term {
        match sort {
            Sort::Bool => self.boolean(depth.max(1)),
            Sort::Range(r) => {
                // A value outside would be a fault; a few are wanted.
                let inside = self
                    .var(|s| s == sort)
                    .unwrap_or_else(|| r.lo.clone().into());
                if self.below(4) == 0 {
                    Self::app(Op::Add, vec![inside, self.constant()])
                } else {
                    inside
                }
            }
            Sort::Int => self.int(depth),
            Sort::String => self.string(depth),
            Sort::Enum(e) => {
                let i = self.below(e.variants.len()) as u32;
                let known = Value::Enum(e.clone(), i).into();
                self.var(|s| s == sort).unwrap_or(known)
            }
            Sort::Array(_) => self.array(sort, depth),
            _ => self.record(sort, depth),
        }
    }

    fn structure(&mut self) -> Option<Sort> {
        let v = self.var(|s| matches!(s, Sort::Array(_) | Sort::Record(_)))?;
        Some(v.sort().clone())
    }

    /// A number inside a record, or an item or the length of an array.
    pub fn part_of_structure(&mut self, depth: u32) -> Option<Term> {
        let sort = self.structure()?;
        let whole = self.of_sort(&sort, depth.min(2));
        Some(match &sort {
            Sort::Array(_) if self.below(3) == 0 => Self::app(Op::Len, vec![whole]),
            Sort::Array(_) => Self::app(Op::Select, vec![whole, self.int(depth.min(1))]),
            Sort::Record(r) => {
                let field = |t, name: &str| Term::field(t, name, Span::NONE).expect("a field");
                let name = ["x", "y"][self.below(2)];
                if r.fields.iter().any(|(n, _)| **n == *"at") {
                    if self.below(3) == 0 {
                        Self::app(Op::StrLen, vec![field(whole, "name")])
                    } else {
                        field(field(whole, "at"), name)
                    }
                } else {
                    field(whole, name)
                }
            }
            _ => unreachable!("arrays and records only"),
        })
    }

    /// Two structures of one sort, compared.
    pub fn equal_structures(&mut self, depth: u32) -> Option<Term> {
        let sort = self.structure()?;
        let d = depth.min(2);
        let (a, b) = (self.of_sort(&sort, d), self.of_sort(&sort, d));
        Some(Self::app(Op::Eq, vec![a, b]))
    }
}

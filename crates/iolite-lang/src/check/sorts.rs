//! Sorts as declared, resolved through aliases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use iolite_expr::MAX_SCALE;

use super::duplicates;
use crate::syntax::ast::{
    BinaryOp, Enum, Expr, ExprKind, File, Function, Item, Name, Param, Record, Sort, SortKind,
    SpoiltDeclarations, Sum, UnaryOp, Variant,
};
use crate::{Diagnostic, Span, codes, diagnostic};

/// A sort without aliases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedSort {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// A range with its ends, where they are numbers.
    Range(Option<i128>, Option<i128>),
    /// `string`.
    String,
    /// An enumeration.
    Enum(String),
    /// A record.
    Record(String),
    /// A sum.
    Sum(String),
    /// `T[]`.
    Array(Box<ResolvedSort>),
    /// `decimal(n)`.
    Decimal(u8),
    /// `set<T>`; of the empty one nothing is known, and it may be a map.
    Set(Box<ResolvedSort>),
    /// `map<K, V>`.
    Map(Box<ResolvedSort>, Box<ResolvedSort>),
    /// Something wrong that is reported where it stands.
    Unknown,
}

impl ResolvedSort {
    /// Whether values of one sort can stand where the other is wanted. Ranges are integers, and numbers
    /// are decimals that have no more places than are wanted.
    pub fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => true,
            (Self::Array(a), Self::Array(b)) | (Self::Set(a), Self::Set(b)) => a.fits(b),
            (Self::Map(k, v), Self::Map(l, w)) => k.fits(l) && v.fits(w),
            (Self::Set(e), Self::Map(..)) | (Self::Map(..), Self::Set(e)) => **e == Self::Unknown,
            (Self::Decimal(a), Self::Decimal(b)) => a <= b,
            (a, Self::Decimal(_)) => a.is_int(),
            (a, b) if a.is_int() && b.is_int() => true,
            (a, b) => a == b,
        }
    }

    /// Whether values of both sorts can stand beside one another.
    pub fn goes_with(&self, other: &Self) -> bool {
        self.fits(other) || other.fits(self)
    }

    /// The places after the point of numbers of this sort.
    pub fn places(&self) -> Option<u8> {
        match self {
            Self::Decimal(places) => Some(*places),
            _ => self.is_int().then_some(0),
        }
    }

    /// Whether a set or a map is within.
    fn has_collection(&self, sorts: &Sorts<'_>, depth: u32) -> bool {
        let within = |sort: &Sort| sorts.resolve(sort).has_collection(sorts, depth + 1);
        match self {
            Self::Set(_) | Self::Map(..) => true,
            _ if depth > 16 => false,
            Self::Array(of) => of.has_collection(sorts, depth + 1),
            Self::Record(name) => {
                let record = sorts.record(name);
                record.is_some_and(|r| r.fields.iter().any(|f| within(&f.sort)))
            }
            Self::Sum(name) => sorts.sum(name).is_some_and(|s| {
                let mut fields = s.variants.iter().flat_map(|v| &v.fields);
                fields.any(|f| within(&f.sort))
            }),
            _ => false,
        }
    }

    /// Whether it is an integer or a range.
    pub fn is_int(&self) -> bool {
        matches!(self, Self::Int | Self::Range(..) | Self::Unknown)
    }
}

impl fmt::Display for ResolvedSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Range(Some(a), Some(b)) => write!(f, "{a}..{b}"),
            Self::Range(..) => f.write_str("a range"),
            Self::String => f.write_str("string"),
            Self::Enum(name) | Self::Record(name) | Self::Sum(name) => f.write_str(name),
            Self::Array(of) => write!(f, "{of}[]"),
            Self::Decimal(places) => write!(f, "decimal({places})"),
            Self::Set(of) => write!(f, "set<{of}>"),
            Self::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Self::Unknown => f.write_str("?"),
        }
    }
}

/// The sorts, enumeration values and functions of a file.
#[derive(Debug)]
pub struct Sorts<'f> {
    enums: BTreeMap<&'f str, &'f Enum>,
    records: BTreeMap<&'f str, &'f Record>,
    sums: BTreeMap<&'f str, &'f Sum>,
    /// The sum and the variant of each constructor.
    variants: BTreeMap<&'f str, (&'f Sum, &'f Variant)>,
    aliases: BTreeMap<&'f str, &'f Sort>,
    functions: BTreeMap<&'f str, &'f Function>,
    /// Enumeration of each value.
    values: BTreeMap<&'f str, &'f str>,
    spoilt: &'f SpoiltDeclarations,
}

/// Aliases of aliases deeper than this are cyclic or absurd.
const DEEPEST_ALIAS: u32 = 64;

impl<'f> Sorts<'f> {
    /// Collects and checks the declarations of sorts.
    pub fn new(file: &'f File, found: &mut Vec<Diagnostic>) -> Self {
        let mut sorts = Self {
            enums: BTreeMap::new(),
            records: BTreeMap::new(),
            sums: BTreeMap::new(),
            variants: BTreeMap::new(),
            aliases: BTreeMap::new(),
            functions: BTreeMap::new(),
            values: BTreeMap::new(),
            spoilt: &file.spoilt,
        };
        for item in file.sound_items() {
            match item {
                Item::Enum(e) => {
                    for value in &e.values {
                        sorts.values.entry(&value.text).or_insert(&e.name.text);
                    }
                    sorts.enums.insert(&e.name.text, e);
                }
                Item::Record(r) => {
                    sorts.records.insert(&r.name.text, r);
                }
                Item::Sum(s) => {
                    for variant in &s.variants {
                        let name = variant.name.text.as_str();
                        sorts.variants.entry(name).or_insert((s, variant));
                    }
                    sorts.sums.insert(&s.name.text, s);
                }
                Item::Alias(a) => {
                    sorts.aliases.insert(&a.name.text, &a.sort);
                }
                Item::Function(f) => {
                    sorts.functions.insert(&f.name.text, f);
                }
                _ => {}
            }
        }
        let values = file.sound_items().map(|item| match item {
            Item::Enum(e) => e.values.iter().collect(),
            Item::Sum(s) => s.variants.iter().map(|v| &v.name).collect(),
            Item::Function(f) if sorts.variants.contains_key(f.name.text.as_str()) => {
                vec![&f.name]
            }
            _ => Vec::new(),
        });
        duplicates(
            values.flatten(),
            "value or variant",
            codes::DUPLICATE_NAME,
            found,
        );
        for item in file.sound_items() {
            match item {
                Item::Record(r) => {
                    let names = r.fields.iter().map(|f| &f.name);
                    duplicates(names, "field", codes::DUPLICATE_NAME, found);
                    sorts.params(&r.fields, found);
                }
                Item::Sum(s) => {
                    for variant in &s.variants {
                        let names = variant.fields.iter().map(|f| &f.name);
                        duplicates(names, "field", codes::DUPLICATE_NAME, found);
                        sorts.params(&variant.fields, found);
                    }
                }
                Item::Alias(a) => sorts.check(&a.sort, found),
                Item::Function(f) => {
                    let names = f.params.iter().map(|p| &p.name);
                    duplicates(names, "parameter", codes::DUPLICATE_NAME, found);
                    sorts.params(&f.params, found);
                    sorts.check(&f.result, found);
                }
                _ => {}
            }
        }
        cycles(file, found);
        sorts.bottomless(found);
        sorts
    }

    /// Sums all of whose values would be infinite.
    fn bottomless(&self, found: &mut Vec<Diagnostic>) {
        let mut finite: BTreeSet<&str> = BTreeSet::new();
        loop {
            let grown = self.sums.iter().filter(|(name, sum)| {
                let grounded = |v: &Variant| {
                    let mut fields = v.fields.iter();
                    fields.all(|f| self.has_value(&f.sort, &finite, 0))
                };
                !finite.contains(*name) && sum.variants.iter().any(grounded)
            });
            let grown: Vec<&str> = grown.map(|(name, _)| *name).collect();
            if grown.is_empty() {
                break;
            }
            finite.extend(grown);
        }
        for (name, sum) in self.sums.iter().filter(|(name, _)| !finite.contains(*name)) {
            let message = format!("type `{name}` has no finite value");
            found.push(
                Diagnostic::error(codes::NO_FINITE_VALUE, sum.name.span, message)
                    .hint("one variant does without the sort itself: `type List = Nil | Cons(…)`"),
            );
        }
    }

    fn has_value(&self, sort: &Sort, finite: &BTreeSet<&str>, depth: u32) -> bool {
        match self.resolve(sort) {
            ResolvedSort::Sum(name) => finite.contains(name.as_str()),
            // A record that contains itself is reported where it is declared.
            ResolvedSort::Record(name) if depth < DEEPEST_ALIAS => {
                self.record(&name).is_none_or(|r| {
                    let mut fields = r.fields.iter();
                    fields.all(|f| self.has_value(&f.sort, finite, depth + 1))
                })
            }
            _ => true,
        }
    }

    /// A declared sum.
    pub fn sum(&self, name: &str) -> Option<&'f Sum> {
        self.sums.get(name).copied()
    }

    /// The sum and the variant that a constructor belongs to.
    pub fn variant(&self, name: &str) -> Option<(&'f Sum, &'f Variant)> {
        self.variants.get(name).copied()
    }

    /// A declared enumeration.
    pub fn enumeration(&self, name: &str) -> Option<&'f Enum> {
        self.enums.get(name).copied()
    }

    /// A declared record.
    pub fn record(&self, name: &str) -> Option<&'f Record> {
        self.records.get(name).copied()
    }

    /// A declared function.
    pub fn function(&self, name: &str) -> Option<&'f Function> {
        self.functions.get(name).copied()
    }

    /// The names of the declared functions.
    pub(crate) fn function_names(&self) -> impl Iterator<Item = &'f str> + '_ {
        self.functions.keys().copied()
    }

    /// The enumeration that a value belongs to.
    pub fn value(&self, name: &str) -> Option<&'f str> {
        self.values.get(name).copied()
    }

    /// What syntax errors leave unknown.
    pub(super) fn spoilt(&self) -> &'f SpoiltDeclarations {
        self.spoilt
    }

    /// The values of all enumerations, and the variants of all sums.
    pub fn values(&self) -> impl Iterator<Item = &'f str> + '_ {
        self.values.keys().chain(self.variants.keys()).copied()
    }

    /// Whether a sort has finitely many values.
    pub(crate) fn is_finite(&self, sort: &ResolvedSort) -> bool {
        self.is_finite_at(sort, 0)
    }

    fn is_finite_at(&self, sort: &ResolvedSort, depth: u32) -> bool {
        match sort {
            ResolvedSort::Bool
            | ResolvedSort::Range(..)
            | ResolvedSort::Enum(_)
            | ResolvedSort::Unknown => true,
            ResolvedSort::Int
            | ResolvedSort::Decimal(_)
            | ResolvedSort::String
            | ResolvedSort::Array(_) => false,
            ResolvedSort::Set(of) => self.is_finite_at(of, depth + 1),
            ResolvedSort::Map(key, value) => {
                self.is_finite_at(key, depth + 1) && self.is_finite_at(value, depth + 1)
            }
            // A record that contains itself is reported where it is declared.
            ResolvedSort::Record(_) if depth >= DEEPEST_ALIAS => true,
            ResolvedSort::Sum(_) if depth >= DEEPEST_ALIAS => false,
            ResolvedSort::Sum(name) => self.sum(name).is_none_or(|s| {
                let fields = s.variants.iter().flat_map(|v| &v.fields);
                let mut fields = fields.map(|f| self.resolve(&f.sort));
                fields.all(|f| self.is_finite_at(&f, depth + 1))
            }),
            ResolvedSort::Record(name) => self.record(name).is_none_or(|r| {
                let mut fields = r.fields.iter().map(|f| self.resolve(&f.sort));
                fields.all(|f| self.is_finite_at(&f, depth + 1))
            }),
        }
    }

    /// The sort behind what is written.
    pub fn resolve(&self, sort: &Sort) -> ResolvedSort {
        self.resolve_at(sort, 0)
    }

    fn resolve_at(&self, sort: &Sort, depth: u32) -> ResolvedSort {
        match &sort.kind {
            SortKind::Bool => ResolvedSort::Bool,
            SortKind::Int => ResolvedSort::Int,
            SortKind::String => ResolvedSort::String,
            SortKind::Range(a, b) => ResolvedSort::Range(constant(a), constant(b)),
            SortKind::Array(of) => ResolvedSort::Array(Box::new(self.resolve_at(of, depth))),
            SortKind::Decimal(places) => places
                .parse()
                .map_or(ResolvedSort::Unknown, ResolvedSort::Decimal),
            SortKind::Set(of) => ResolvedSort::Set(Box::new(self.resolve_at(of, depth))),
            SortKind::Map(key, value) => {
                let (key, value) = (self.resolve_at(key, depth), self.resolve_at(value, depth));
                ResolvedSort::Map(Box::new(key), Box::new(value))
            }
            SortKind::Name(name) if self.enums.contains_key(name.as_str()) => {
                ResolvedSort::Enum(name.clone())
            }
            SortKind::Name(name) if self.records.contains_key(name.as_str()) => {
                ResolvedSort::Record(name.clone())
            }
            SortKind::Name(name) if self.sums.contains_key(name.as_str()) => {
                ResolvedSort::Sum(name.clone())
            }
            SortKind::Name(name) if depth < DEEPEST_ALIAS => self
                .aliases
                .get(name.as_str())
                .map_or(ResolvedSort::Unknown, |s| self.resolve_at(s, depth + 1)),
            SortKind::Name(_) | SortKind::Error => ResolvedSort::Unknown,
        }
    }

    fn params(&self, params: &[Param], found: &mut Vec<Diagnostic>) {
        for param in params {
            self.check(&param.sort, found);
        }
    }

    /// Reports unknown names and bad ranges.
    pub(super) fn check(&self, sort: &Sort, found: &mut Vec<Diagnostic>) {
        match &sort.kind {
            SortKind::Array(of) => self.check(of, found),
            SortKind::Decimal(places) => {
                let known = places.parse::<u8>().ok();
                if !known.is_some_and(|n| (1..=MAX_SCALE).contains(&n)) {
                    let message = format!("a decimal has 1 to {MAX_SCALE} places after the point");
                    found.push(
                        Diagnostic::error(codes::EMPTY_RANGE, sort.span, message)
                            .hint("numbers without any are `int`"),
                    );
                }
            }
            SortKind::Set(key) | SortKind::Map(key, _) => {
                self.check(key, found);
                if let SortKind::Map(_, value) = &sort.kind {
                    self.check(value, found);
                }
                if self.resolve(key).has_collection(self, 0) {
                    let message = "elements of sets and keys of maps contain no sets or maps";
                    found.push(
                        Diagnostic::error(codes::CYCLIC_SORT, key.span, message)
                            .hint("the values of a map may: `map<int, set<int>>`"),
                    );
                }
            }
            SortKind::Range(a, b) => {
                let pointed = |e: &Expr| matches!(e.kind, ExprKind::Decimal(_));
                if pointed(a) || pointed(b) {
                    let message = "the ends of a range are integers";
                    found.push(
                        Diagnostic::error(codes::EMPTY_RANGE, sort.span, message)
                            .hint("take `decimal(2)`, and say in guards how far it goes"),
                    );
                }
                if let (Some(first), Some(last)) = (constant(a), constant(b))
                    && first > last
                {
                    found.push(Diagnostic::error(
                        codes::EMPTY_RANGE,
                        sort.span,
                        format!("the range {first}..{last} is empty"),
                    ));
                }
            }
            SortKind::Name(name) => {
                let name = name.as_str();
                let known = self
                    .enums
                    .keys()
                    .chain(self.records.keys())
                    .chain(self.sums.keys())
                    .chain(self.aliases.keys())
                    .copied()
                    .chain(["bool", "int", "string"]);
                if known.clone().any(|k| k == name) || self.spoilt.may_declare(name) {
                    return;
                }
                found.push(
                    Diagnostic::error(
                        codes::UNKNOWN_SORT,
                        sort.span,
                        format!("no sort is called `{name}`"),
                    )
                    .maybe_hint(
                        sort_elsewhere(name).or_else(|| diagnostic::did_you_mean(name, known)),
                    ),
                );
            }
            _ => {}
        }
    }
}

/// What sorts of other languages are called here.
fn sort_elsewhere(name: &str) -> Option<String> {
    let here = match name.to_ascii_lowercase().as_str() {
        "integer" | "long" | "short" | "uint" | "nat" | "natural" | "u8" | "u16" | "u32"
        | "u64" | "i8" | "i16" | "i32" | "i64" => "write `int`, or a range such as `0..255`",
        "boolean" => "write `bool`",
        "str" | "text" | "char" => "write `string`",
        "decimal" => "a decimal has a number of places: `decimal(2)`",
        "float" | "double" | "real" | "number" | "f32" | "f64" => {
            "numbers with a point are decimals of fixed places: `decimal(2)`"
        }
        "set" => "a set has elements of a sort: `set<int>`",
        "map" | "dict" => "a map has keys and values: `map<string, int>`",
        "array" | "list" => "an array of integers is `int[]`",
        _ => return None,
    };
    Some(here.to_owned())
}

/// Aliases and records that contain themselves, and functions that call themselves whatever happens.
fn cycles(file: &File, found: &mut Vec<Diagnostic>) {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut places: BTreeMap<&str, (Span, &str)> = BTreeMap::new();
    for item in file.sound_items() {
        let mut to = BTreeSet::new();
        match item {
            Item::Record(r) => r.fields.iter().for_each(|f| mentioned(&f.sort, &mut to)),
            Item::Alias(a) => mentioned(&a.sort, &mut to),
            Item::Function(f) => {
                if always_calls(&f.body, &f.name.text) {
                    let message = format!("fn `{}` calls itself whatever happens", f.name.text);
                    found.push(
                        Diagnostic::error(codes::RECURSIVE_FUNCTION, f.name.span, message)
                            .hint("let an `if` or a `match` say where it ends"),
                    );
                }
                continue;
            }
            _ => continue,
        }
        places.insert(&item.name().text, (item.name().span, item.keyword()));
        edges.insert(&item.name().text, to);
    }
    for (&name, &(span, keyword)) in &places {
        let mut seen = BTreeSet::new();
        let mut open = vec![name];
        let mut cyclic = false;
        while let Some(next) = open.pop() {
            for &to in edges.get(next).into_iter().flatten() {
                cyclic |= to == name;
                if seen.insert(to) {
                    open.push(to);
                }
            }
        }
        if cyclic {
            let message = format!("{keyword} `{name}` contains itself");
            found.push(
                Diagnostic::error(codes::CYCLIC_SORT, span, message).hint(
                    "a sort with variants may: `type List = Nil | Cons(head: int, tail: List)`",
                ),
            );
        }
    }
}

fn mentioned<'a>(sort: &'a Sort, out: &mut BTreeSet<&'a str>) {
    for part in sort.parts() {
        if let SortKind::Name(name) = &part.kind {
            out.insert(name);
        }
    }
}

/// Whether every evaluation of the expression calls this function.
fn always_calls(expr: &Expr, name: &str) -> bool {
    let calls = |e: &Expr| always_calls(e, name);
    match &expr.kind {
        ExprKind::Call(called, _) if called.text == name => true,
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, a, _)
        | ExprKind::Quantified(_, _, a, _) => calls(a),
        ExprKind::If(c, a, b) => calls(c) || calls(a) && calls(b),
        ExprKind::Match(of, arms) => calls(of) || arms.iter().all(|arm| calls(&arm.body)),
        _ => {
            let mut found = false;
            expr.parts(&mut |part| found |= calls(part));
            found
        }
    }
}

/// The value of an expression of literals, where it is small.
pub(super) fn constant(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Int(digits) => digits.parse().ok(),
        ExprKind::Unary(UnaryOp::Neg, a) => constant(a)?.checked_neg(),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (constant(a)?, constant(b)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A name with the place it stands at, for messages about fields.
pub(super) fn field_names(record: &Record) -> impl Iterator<Item = &Name> {
    record.fields.iter().map(|f| &f.name)
}

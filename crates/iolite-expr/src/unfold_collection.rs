//! Sets and maps for solvers that know neither: an unknown one is a few entries, each of which may be
//! there or not.
//!
//! What is asked of a set with more entries than that is cut off, as the calls and elements in
//! [`unfold`](crate::unfold) are: a variable that nothing is known of stands for the answer.

use std::sync::Arc;

use crate::sort::RecordSort;
use crate::term::{Kind, MAX_DEPTH, Op};
use crate::unfold::Unfolding;
use crate::{Env, Model, Sort, Span, Term, Value, Var};

/// Size of what is asked of one set or map.
const MAX_OBSERVED: u32 = 50_000;

/// A value in which sets and maps are taken apart.
#[derive(Clone)]
pub(crate) enum Shape {
    /// Of a sort without sets and maps.
    Plain(Term),
    Set(Entries),
    Map(Entries),
    Record(Arc<RecordSort>, Vec<Shape>),
}

/// The entries of a set or a map. Those that are there have different keys.
#[derive(Clone)]
pub(crate) struct Entries {
    items: Vec<Entry>,
    /// Whether there may be others.
    more: Term,
}

#[derive(Clone)]
struct Entry {
    present: Term,
    key: Term,
    /// Of a map.
    value: Option<Shape>,
}

fn and(a: &Term, b: &Term) -> Term {
    if a.is_false() || b.is_false() {
        return false.into();
    }
    Term::all([a.clone(), b.clone()])
}

fn or(a: &Term, b: &Term) -> Term {
    if a.is_true() || b.is_true() {
        return true.into();
    }
    Term::any([a.clone(), b.clone()])
}

fn equal(a: &Term, b: &Term) -> Term {
    Term::bool_app(Op::Eq, vec![a.clone(), b.clone()]).simplify()
}

fn ite(c: &Term, a: &Term, b: &Term) -> Term {
    if c.is_true() || a == b {
        return a.clone();
    }
    if c.is_false() {
        return b.clone();
    }
    let parts = vec![c.clone(), a.clone(), b.clone()];
    Term::app(Op::Ite, parts, b.sort().clone(), Span::NONE)
}

impl Entries {
    fn none() -> Self {
        Self {
            items: Vec::new(),
            more: false.into(),
        }
    }

    fn push(&mut self, present: Term, key: Term, value: Option<Shape>) {
        if !present.is_false() {
            self.items.push(Entry {
                present,
                key,
                value,
            });
        }
    }

    /// Whether one of the entries has this key.
    fn has(&self, key: &Term) -> Term {
        let here = |e: &Entry| and(&e.present, &equal(&e.key, key));
        let mut found: Vec<Term> = Vec::new();
        for entry in &self.items {
            let here = here(entry);
            if here.is_true() {
                return here;
            }
            found.push(here);
        }
        Term::any(found)
    }

    /// Those entries for which something holds.
    fn kept(&self, mut keeps: impl FnMut(&Entry) -> Term) -> Self {
        let mut kept = Self {
            items: Vec::new(),
            more: self.more.clone(),
        };
        for e in &self.items {
            kept.push(and(&e.present, &keeps(e)), e.key.clone(), e.value.clone());
        }
        kept
    }

    fn without(&self, key: &Term) -> Self {
        self.kept(|e| equal(&e.key, key).negated())
    }

    fn with(&self, key: &Term, value: Option<Shape>) -> Self {
        let mut result = if value.is_some() {
            self.without(key)
        } else {
            self.clone()
        };
        let present = if value.is_some() {
            true.into()
        } else {
            self.has(key).negated()
        };
        result.push(present, key.clone(), value);
        result
    }

    fn count(&self) -> Term {
        let ones = self.items.iter();
        let ones = ones.map(|e| ite(&e.present, &1.into(), &0.into()));
        Term::int_app(Op::Add, ones.collect())
    }

    /// Where these are the same entries, if neither has others.
    fn equal(&self, other: &Self) -> Option<Term> {
        let mut parts = Vec::new();
        for e in &self.items {
            let mut matches: Term = false.into();
            for f in &other.items {
                let mut same = and(&f.present, &equal(&e.key, &f.key));
                if let (Some(v), Some(w)) = (&e.value, &f.value) {
                    same = and(&same, &v.equal(w)?);
                }
                matches = or(&matches, &same);
            }
            parts.push(or(&e.present.negated(), &matches));
        }
        for f in &other.items {
            parts.push(or(&f.present.negated(), &self.has(&f.key)));
        }
        Some(parts.iter().fold(true.into(), |all: Term, p| and(&all, p)))
    }
}

impl Shape {
    fn entries(self) -> Option<Entries> {
        match self {
            Self::Set(entries) | Self::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Where they are equal, if no set or map has more entries than are known.
    fn equal(&self, other: &Self) -> Option<Term> {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => Some(equal(a, b)),
            (Self::Set(a), Self::Set(b)) | (Self::Map(a), Self::Map(b)) => a.equal(b),
            (Self::Record(_, a), Self::Record(_, b)) => {
                let mut all: Term = true.into();
                for (x, y) in a.iter().zip(b) {
                    all = and(&all, &x.equal(y)?);
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// Whether some set or map in it may have more entries than are known.
    fn more(&self) -> Term {
        match self {
            Self::Plain(_) => false.into(),
            Self::Set(e) => e.more.clone(),
            Self::Map(e) => {
                let values = e.items.iter().filter_map(|e| e.value.as_ref());
                values.fold(e.more.clone(), |more, v| or(&more, &v.more()))
            }
            Self::Record(_, parts) => parts.iter().fold(false.into(), |m, p| or(&m, &p.more())),
        }
    }

    fn choice(c: &Term, a: &Self, b: &Self) -> Option<Self> {
        let merged = |a: &Entries, b: &Entries| {
            let mut both = a.kept(|_| c.clone());
            both.items.extend(b.kept(|_| c.negated()).items);
            both.more = ite(c, &a.more, &b.more);
            both
        };
        Some(match (a, b) {
            (Self::Plain(a), Self::Plain(b)) => Self::Plain(ite(c, a, b)),
            (Self::Set(a), Self::Set(b)) => Self::Set(merged(a, b)),
            (Self::Map(a), Self::Map(b)) => Self::Map(merged(a, b)),
            (Self::Record(r, a), Self::Record(_, b)) => {
                let parts = a.iter().zip(b).map(|(x, y)| Self::choice(c, x, y));
                Self::Record(r.clone(), parts.collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    fn of_value(value: &Value, sort: &Sort) -> Option<Self> {
        Some(match (value, sort) {
            _ if !sort.has_collection() => {
                Self::Plain(Term::value_of_sort(value.clone(), sort.clone()))
            }
            (Value::Set(items), Sort::Set(e)) => {
                let mut entries = Entries::none();
                for v in items.iter() {
                    let key = Term::value_of_sort(v.clone(), (**e).clone());
                    entries.push(true.into(), key, None);
                }
                Self::Set(entries)
            }
            (Value::Map(pairs), Sort::Map(m)) => {
                let mut entries = Entries::none();
                for (k, v) in pairs.iter() {
                    let key = Term::value_of_sort(k.clone(), m.0.clone());
                    entries.push(true.into(), key, Some(Self::of_value(v, &m.1)?));
                }
                Self::Map(entries)
            }
            (Value::Record(_, items), Sort::Record(r)) => {
                let parts = items.iter().zip(&r.fields);
                let parts = parts.map(|(v, (_, s))| Self::of_value(v, s));
                Self::Record(r.clone(), parts.collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// The value that a model gives it; what the model leaves open is absent, or plain.
    pub(crate) fn value(&self, model: &Model) -> Option<Value> {
        let of = |t: &Term| match t.eval(model) {
            Ok(value) => Some(value),
            Err(_) => t.as_var().map(|v| v.sort.default_value()),
        };
        let there = |e: &&Entry| of(&e.present) == Some(Value::Bool(true));
        Some(match self {
            Self::Plain(t) => of(t)?,
            Self::Set(e) => {
                let items = e.items.iter().filter(there).map(|e| of(&e.key));
                Value::set(items.collect::<Option<_>>()?)
            }
            Self::Map(e) => {
                let pairs = e.items.iter().filter(there);
                let pairs = pairs.map(|e| Some((of(&e.key)?, e.value.as_ref()?.value(model)?)));
                Value::map(pairs.collect::<Option<_>>()?)
            }
            Self::Record(r, parts) => {
                let parts: Option<Vec<Value>> = parts.iter().map(|p| p.value(model)).collect();
                Value::Record(r.clone(), parts?.into())
            }
        })
    }
}

impl Unfolding {
    /// What is asked of sets and maps, `None` where it cannot be told. The arguments have been unfolded.
    pub(crate) fn observed(&mut self, term: &Term, fuel: u32) -> Option<Term> {
        let Kind::App(op, args) = term.kind() else {
            return None;
        };
        let (more, exact) = match op {
            Op::Has => {
                let entries = self.shape(&args[1], fuel)?.entries()?;
                (entries.more.clone(), entries.has(&args[0]))
            }
            Op::Len => {
                let entries = self.shape(&args[0], fuel)?.entries()?;
                (entries.more.clone(), entries.count())
            }
            Op::Lookup => {
                let map = self.shape(&args[0], fuel)?;
                let more = map.more();
                let Shape::Plain(value) = self.looked_up(map, &args[1], term.sort(), fuel)? else {
                    return None;
                };
                (more, value)
            }
            Op::Eq | Op::Ne => {
                let (a, b) = (self.shape(&args[0], fuel)?, self.shape(&args[1], fuel)?);
                let same = a.equal(&b)?;
                let same = if *op == Op::Eq { same } else { same.negated() };
                (or(&a.more(), &b.more()), same)
            }
            Op::Field(i) => match self.shape(&args[0], fuel)? {
                Shape::Record(_, parts) => match parts.into_iter().nth(*i as usize)? {
                    Shape::Plain(value) => (false.into(), value),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        if exact.size() > MAX_OBSERVED || exact.depth() > MAX_DEPTH / 2 {
            return None;
        }
        Some(self.unless(&more, exact, term))
    }

    /// What is known, unless there are entries beyond those.
    pub(crate) fn unless(&mut self, more: &Term, exact: Term, asked: &Term) -> Term {
        if more.is_false() {
            return exact;
        }
        let cut = if let Some(known) = self.answers.get(asked) {
            known.clone()
        } else {
            let new = self.fresh(asked.sort()).term();
            self.answers.insert(asked.clone(), new.clone());
            new
        };
        ite(more, &cut, &exact)
    }

    /// The elements of a set with the conditions under which they are there, and whether there may be more.
    pub(crate) fn elements(&mut self, set: &Term, fuel: u32) -> Option<(Vec<(Term, Term)>, Term)> {
        let entries = self.shape(set, fuel)?.entries()?;
        let items = entries.items.into_iter().map(|e| (e.present, e.key));
        Some((items.collect(), entries.more))
    }

    fn shape(&mut self, term: &Term, fuel: u32) -> Option<Shape> {
        if !term.sort().has_collection() {
            return Some(Shape::Plain(term.clone()));
        }
        let (op, args) = match term.kind() {
            Kind::Lit(value) => return Shape::of_value(value, term.sort()),
            Kind::Var(v) => return self.unknown(v, fuel),
            Kind::App(op, args) => (op, args),
        };
        let wrap = |entries: Entries| match term.sort() {
            Sort::Map(_) => Shape::Map(entries),
            _ => Shape::Set(entries),
        };
        Some(match op {
            Op::Set => {
                let items = args.iter();
                wrap(items.fold(Entries::none(), |e, item| e.with(item, None)))
            }
            Op::Map => {
                let mut entries = Entries::none();
                for pair in args.chunks(2) {
                    let value = self.shape(&pair[1], fuel)?;
                    entries = entries.with(&pair[0], Some(value));
                }
                wrap(entries)
            }
            Op::Insert => {
                let entries = self.shape(&args[0], fuel)?.entries()?;
                wrap(entries.with(&args[1], None))
            }
            Op::Put => {
                let entries = self.shape(&args[0], fuel)?.entries()?;
                let value = self.shape(&args[2], fuel)?;
                wrap(entries.with(&args[1], Some(value)))
            }
            Op::Remove => wrap(self.shape(&args[0], fuel)?.entries()?.without(&args[1])),
            Op::Keys => {
                let mut entries = self.shape(&args[0], fuel)?.entries()?;
                entries.items.iter_mut().for_each(|e| e.value = None);
                Shape::Set(entries)
            }
            Op::Union | Op::Intersection | Op::Difference => {
                let a = self.shape(&args[0], fuel)?.entries()?;
                let b = self.shape(&args[1], fuel)?.entries()?;
                let mut result = match op {
                    Op::Union => {
                        let others = b.kept(|e| a.has(&e.key).negated());
                        let mut both = a.clone();
                        both.items.extend(others.items);
                        both
                    }
                    Op::Intersection => a.kept(|e| b.has(&e.key)),
                    _ => a.kept(|e| b.has(&e.key).negated()),
                };
                // Elements that are not known of may be in the other one.
                result.more = or(&a.more, &b.more);
                wrap(result)
            }
            Op::Ite => {
                let (a, b) = (self.shape(&args[1], fuel)?, self.shape(&args[2], fuel)?);
                Shape::choice(&args[0], &a, &b)?
            }
            Op::Lookup => {
                let map = self.shape(&args[0], fuel)?;
                self.looked_up(map, &args[1], term.sort(), fuel)?
            }
            Op::Field(i) => match self.shape(&args[0], fuel)? {
                Shape::Record(_, parts) => parts.into_iter().nth(*i as usize)?,
                _ => return None,
            },
            Op::Record | Op::Update(_) => {
                let Sort::Record(r) = term.sort() else {
                    return None;
                };
                let parts = if let Op::Update(i) = op {
                    let Shape::Record(_, mut parts) = self.shape(&args[0], fuel)? else {
                        return None;
                    };
                    *parts.get_mut(*i as usize)? = self.shape(&args[1], fuel)?;
                    parts
                } else {
                    let parts = args.iter().map(|a| self.shape(a, fuel));
                    parts.collect::<Option<_>>()?
                };
                Shape::Record(r.clone(), parts)
            }
            _ => {
                let inner = args.iter().find(|a| a.sort().has_collection());
                self.whole = inner.map(|a| a.sort().clone());
                return None;
            }
        })
    }

    fn looked_up(&mut self, map: Shape, key: &Term, sort: &Sort, fuel: u32) -> Option<Shape> {
        let entries = map.entries()?;
        let absent = Term::value_of_sort(sort.default_value(), sort.clone());
        let mut found = self.shape(&absent, fuel)?;
        for e in &entries.items {
            let here = and(&e.present, &equal(&e.key, key));
            found = Shape::choice(&here, e.value.as_ref()?, &found)?;
        }
        // A value that comes from beyond the known entries may have any elements.
        match &mut found {
            Shape::Plain(_) => {}
            Shape::Set(e) | Shape::Map(e) => e.more = or(&e.more, &entries.more),
            Shape::Record(..) if entries.more.is_false() => {}
            Shape::Record(..) => return None,
        }
        Some(found)
    }

    fn fresh(&mut self, sort: &Sort) -> Var {
        self.new_var("entry", sort.clone())
    }

    /// An unknown value: so many entries as there is fuel.
    fn unknown(&mut self, var: &Var, fuel: u32) -> Option<Shape> {
        if let Some((_, known)) = self.shapes.get(&var.id) {
            return Some(known.clone());
        }
        let shape = match &var.sort {
            Sort::Set(key) => Shape::Set(self.unknown_entries(key, None, fuel)?),
            Sort::Map(m) => Shape::Map(self.unknown_entries(&m.0, Some(&m.1), fuel)?),
            Sort::Record(r) => {
                let mut parts = Vec::new();
                for (_, sort) in &r.fields {
                    let field = self.fresh(sort).term();
                    parts.push(self.shape(&field, fuel)?);
                }
                Shape::Record(r.clone(), parts)
            }
            _ => {
                self.whole = Some(var.sort.clone());
                return None;
            }
        };
        self.shapes.insert(var.id, (var.clone(), shape.clone()));
        Some(shape)
    }

    fn unknown_entries(&mut self, key: &Sort, value: Option<&Sort>, fuel: u32) -> Option<Entries> {
        let all = key.cardinality().filter(|n| *n <= u64::from(fuel));
        let count = all.map_or(fuel, |n| n as u32);
        let more = if all.is_some() {
            false.into()
        } else {
            let more = self.fresh(&Sort::Bool).term();
            self.beyond.push(more.clone());
            more
        };
        let mut items: Vec<Entry> = Vec::new();
        for _ in 0..count {
            let present = self.fresh(&Sort::Bool).term();
            let own = self.fresh(key).term();
            let value = match value {
                None => None,
                Some(sort) => {
                    let value = self.fresh(sort).term();
                    Some(self.shape(&value, fuel)?)
                }
            };
            // Those that are there come first, and have different keys; numbers in their order.
            if let Some(last) = items.last() {
                self.facts.push(or(&present.negated(), &last.present));
            }
            let apart: Vec<Term> = match key {
                Sort::Int | Sort::Range(_) | Sort::Decimal(_) => {
                    let units = |t: &Term| t.clone().units(Span::NONE).ok();
                    let last = items.last();
                    let order = last.and_then(|l| {
                        let sides = vec![units(&l.key)?, units(&own)?];
                        Some(Term::bool_app(Op::Lt, sides))
                    });
                    order.into_iter().collect()
                }
                _ => {
                    let others = items.iter();
                    others.map(|e| equal(&e.key, &own).negated()).collect()
                }
            };
            for a in apart {
                self.facts.push(or(&present.negated(), &a).simplify());
            }
            items.push(Entry {
                present,
                key: own,
                value,
            });
        }
        Some(Entries { items, more })
    }
}

/// The values of unknown sets and maps under a model of what they were taken apart into.
pub(crate) fn rebuilt(shapes: &[(Var, Shape)], model: &Model) -> Vec<(Var, Value)> {
    let values = shapes.iter().filter_map(|(var, shape)| {
        let value = match Env::get(model, var.id) {
            Some(value) => value.clone(),
            None => shape.value(model)?,
        };
        Some((var.clone(), value))
    });
    values.collect()
}

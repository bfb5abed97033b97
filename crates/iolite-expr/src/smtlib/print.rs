//! Terms in SMT-LIB. Enumerations are integers, records and arrays datatypes; an array is its
//! length and a total array, so that equality looks at the elements that are there.

use std::collections::BTreeMap;
use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::regex::{MAX_CHAR, Re, ReNode};
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value, Var, VarId};

/// The largest character of SMT-LIB strings.
const LAST_CHAR: u32 = 0x2_FFFF;

/// What SMT-LIB cannot say.
#[derive(Debug)]
pub(super) struct Unprintable(pub(super) &'static str);

const COLLECTION: Unprintable = Unprintable("a set or a map that is not unfolded");

pub(super) type Printed = Result<String, Unprintable>;

/// Prints terms and remembers what is declared.
#[derive(Debug, Default)]
pub(super) struct Printer {
    sorts: FxHashMap<Sort, usize>,
    vars: FxHashSet<(VarId, usize)>,
    fresh: usize,
}

impl Printer {
    /// Declarations that are new, and the assertion with the constraints of its variables' sorts.
    pub(super) fn assertion(&mut self, term: &Term) -> Result<(String, String), Unprintable> {
        // Printed first: what cannot be printed must not leave declarations half made.
        let mut vars = BTreeMap::new();
        term.collect_vars(&mut vars, &mut FxHashSet::default());
        let mut declarations = String::new();
        let mut parts = Vec::new();
        for v in vars.values() {
            self.declare_sort(&v.sort, &mut declarations);
            let name = self.name(v);
            if self.vars.insert((v.id, self.sorts[&v.sort])) {
                let sort = self.sort_name(&v.sort);
                let _ = writeln!(declarations, "(declare-const {name} {sort})");
            }
            parts.extend(self.constraint(&name, &v.sort));
        }
        self.declare_inner_sorts(term, &mut declarations);
        match self.print(term) {
            Ok(text) => {
                parts.push(text);
                let text = if parts.len() == 1 {
                    parts.remove(0)
                } else {
                    format!("(and {})", parts.join(" "))
                };
                Ok((declarations, text))
            }
            Err(e) => {
                // The declarations are not sent: forget them.
                *self = Self {
                    fresh: self.fresh,
                    ..Self::default()
                };
                Err(e)
            }
        }
    }

    pub(super) fn declare_inner_sorts(&mut self, term: &Term, out: &mut String) {
        let mut stack = vec![term.clone()];
        let mut seen = FxHashSet::default();
        while let Some(t) = stack.pop() {
            if !seen.insert(t.key()) {
                continue;
            }
            self.declare_sort(t.sort(), out);
            if let Kind::App(op, args) = t.kind() {
                if let Op::Exists(vars) = op {
                    for v in vars.iter() {
                        self.declare_sort(&v.sort, out);
                    }
                }
                stack.extend(args.iter().cloned());
            }
        }
    }

    pub(super) fn is_entered(&self, sort: &Sort) -> bool {
        self.sorts.contains_key(sort)
    }

    /// Gives the sort its number.
    pub(super) fn enter_sort(&mut self, sort: &Sort) {
        let n = self.sorts.len();
        self.sorts.entry(sort.clone()).or_insert(n);
    }

    pub(super) fn declare_sort(&mut self, sort: &Sort, out: &mut String) {
        if self.is_entered(sort) {
            return;
        }
        match sort {
            Sort::Array(e) => self.declare_sort(e, out),
            Sort::Record(r) => r.fields.iter().for_each(|(_, s)| self.declare_sort(s, out)),
            Sort::Sum(s) => return self.declare_sum(s, out),
            _ => return self.enter_sort(sort),
        }
        // A sum inside may have declared it with itself.
        if !self.is_entered(sort) {
            self.enter_sort(sort);
            let (name, body) = (self.sort_name(sort), self.constructors(sort));
            let _ = writeln!(out, "(declare-datatypes (({name} 0)) (({body})))");
        }
    }

    pub(super) fn sort_name(&self, sort: &Sort) -> String {
        match sort {
            Sort::Bool => "Bool".into(),
            // No term with a set or a map is printed.
            Sort::Int
            | Sort::Range(_)
            | Sort::Enum(_)
            | Sort::Decimal(_)
            | Sort::Set(_)
            | Sort::Map(_) => "Int".into(),
            Sort::String => "String".into(),
            Sort::Array(_) => format!("A{}", self.number(sort)),
            Sort::Record(_) => format!("R{}", self.number(sort)),
            Sort::Sum(_) | Sort::Member(_) => format!("S{}", self.number(sort)),
        }
    }

    pub(super) fn number(&self, sort: &Sort) -> usize {
        self.sorts.get(sort).copied().unwrap_or(usize::MAX)
    }

    // An id may come back with another sort (parameters are numbered by position), so the sort
    // is part of the name.
    pub(super) fn name(&self, v: &Var) -> String {
        format!(
            "v{}_{}_{}",
            v.id.space(),
            v.id.index(),
            self.number(&v.sort)
        )
    }

    /// The name, if the variable was declared.
    pub(super) fn known_name(&self, v: &Var) -> Option<String> {
        self.vars
            .contains(&(v.id, self.number(&v.sort)))
            .then(|| self.name(v))
    }

    pub(super) fn length_of(&self, term: &str, sort: &Sort) -> String {
        format!("(len-A{} {term})", self.number(sort))
    }

    pub(super) fn element_of(&self, term: &str, sort: &Sort, i: usize) -> String {
        format!("(select (data-A{} {term}) {i})", self.number(sort))
    }

    pub(super) fn field_of(&self, term: &str, sort: &Sort, i: usize) -> String {
        format!("(f{i}-R{} {term})", self.number(sort))
    }

    /// What the sort says beyond what SMT-LIB's sort says.
    pub(super) fn constraint(&mut self, term: &str, sort: &Sort) -> Option<String> {
        match sort {
            Sort::Bool
            | Sort::Int
            | Sort::Decimal(_)
            | Sort::Set(_)
            | Sort::Map(_)
            | Sort::String
            | Sort::Member(_) => None,
            Sort::Sum(s) => self.sum_constraint(term, s, 0),
            Sort::Range(r) => Some(format!("(<= {} {term} {})", int(&r.lo), int(&r.hi))),
            Sort::Enum(e) => Some(format!("(<= 0 {term} {})", e.variants.len() - 1)),
            Sort::Record(r) => {
                let parts: Vec<String> = r
                    .fields
                    .iter()
                    .enumerate()
                    .filter_map(|(i, (_, s))| self.constraint(&self.field_of(term, sort, i), s))
                    .collect();
                (!parts.is_empty()).then(|| format!("(and {})", parts.join(" ")))
            }
            Sort::Array(e) => {
                let length = self.length_of(term, sort);
                self.fresh += 1;
                let k = format!("k{}", self.fresh);
                let element = format!("(select (data-A{} {term}) {k})", self.number(sort));
                Some(match self.constraint(&element, e) {
                    None => format!("(<= 0 {length})"),
                    Some(c) => format!(
                        "(and (<= 0 {length}) (forall (({k} Int)) (=> (and (<= 0 {k}) (< {k} {length})) {c})))"
                    ),
                })
            }
        }
    }

    fn value(&self, value: &Value, sort: &Sort) -> Printed {
        Ok(match (value, sort) {
            (Value::Bool(b), _) => b.to_string(),
            (Value::Int(n) | Value::Decimal(n, _), _) => int(n),
            (Value::Enum(_, i), _) => i.to_string(),
            (Value::Str(s), _) => text(s)?,
            (Value::Record(r, items), _) => {
                let parts = items
                    .iter()
                    .zip(&r.fields)
                    .map(|(v, (_, s))| self.value(v, s))
                    .collect::<Result<Vec<_>, _>>()?;
                self.record(sort, &parts)
            }
            (Value::Array(items), Sort::Array(e)) => {
                let parts = items
                    .iter()
                    .map(|v| self.value(v, e))
                    .collect::<Result<Vec<_>, _>>()?;
                self.array(sort, &parts)?
            }
            (Value::Sum(s), _) => {
                let parts = s
                    .fields()
                    .iter()
                    .zip(s.sort().field_sorts(s.variant()))
                    .map(|(v, sort)| self.value(v, &sort))
                    .collect::<Result<Vec<_>, _>>()?;
                self.construct(sort, s.variant(), &parts)
            }
            _ => return Err(Unprintable("ill-sorted value")),
        })
    }

    fn record(&self, sort: &Sort, parts: &[String]) -> String {
        let n = self.number(sort);
        if parts.is_empty() {
            format!("mk-R{n}")
        } else {
            format!("(mk-R{n} {})", parts.join(" "))
        }
    }

    fn array(&self, sort: &Sort, parts: &[String]) -> Printed {
        let Sort::Array(e) = sort else {
            return Err(Unprintable("ill-sorted value"));
        };
        let mut data = format!(
            "((as const (Array Int {})) {})",
            self.sort_name(e),
            self.value(&e.default_value(), e)?
        );
        for (i, p) in parts.iter().enumerate() {
            data = format!("(store {data} {i} {p})");
        }
        Ok(format!(
            "(mk-A{} {} {data})",
            self.number(sort),
            parts.len()
        ))
    }

    pub(super) fn print(&mut self, term: &Term) -> Printed {
        if term.sort().has_collection() {
            return Err(COLLECTION);
        }
        match term.kind() {
            Kind::Lit(v) => self.value(v, term.sort()),
            Kind::Var(v) => Ok(self.name(v)),
            Kind::App(op, args) => {
                let printed = args
                    .iter()
                    .map(|a| self.print(a))
                    .collect::<Result<Vec<_>, _>>()?;
                self.app(term, op, args, &printed)
            }
        }
    }

    fn app(&mut self, term: &Term, op: &Op, args: &[Term], p: &[String]) -> Printed {
        let plain = |name: &str| format!("({name} {})", p.join(" "));
        let chain = |name: &str, none: &str| match p.len() {
            0 => none.to_owned(),
            1 => p[0].clone(),
            _ => plain(name),
        };
        Ok(match op {
            Op::Not => plain("not"),
            Op::And => chain("and", "true"),
            Op::Or => chain("or", "false"),
            Op::Implies => plain("=>"),
            Op::Ite => plain("ite"),
            Op::Eq => self.equal(args[0].sort(), &p[0], &p[1])?,
            Op::Ne => format!("(not {})", self.equal(args[0].sort(), &p[0], &p[1])?),
            Op::Lt => plain("<"),
            Op::Le => plain("<="),
            Op::Gt => plain(">"),
            Op::Ge => plain(">="),
            Op::Neg | Op::Sub => plain("-"),
            Op::Add => chain("+", "0"),
            Op::Mul => chain("*", "1"),
            Op::Div => plain("div"),
            Op::Mod => plain("mod"),
            Op::Abs => plain("abs"),
            Op::Concat => chain("str.++", "\"\""),
            Op::StrLen => plain("str.len"),
            Op::Prefix => plain("str.prefixof"),
            Op::Suffix => plain("str.suffixof"),
            Op::Contains => plain("str.contains"),
            Op::At => plain("str.at"),
            Op::Substring => format!("(str.substr {} {} (- {} {}))", p[0], p[1], p[2], p[1]),
            Op::IndexOf => format!("(str.indexof {} {} 0)", p[0], p[1]),
            Op::Matches(re) => format!("(str.in_re {} {})", p[0], regex(re.re())?),
            Op::Array => self.array(term.sort(), p)?,
            Op::Select => {
                let n = self.number(args[0].sort());
                format!("(select (data-A{n} {}) {})", p[0], p[1])
            }
            Op::Store => {
                let n = self.number(term.sort());
                format!(
                    "(mk-A{n} (len-A{n} {}) (store (data-A{n} {}) {} {}))",
                    p[0], p[0], p[1], p[2]
                )
            }
            Op::Len => self.length_of(&p[0], args[0].sort()),
            Op::Append => {
                let n = self.number(term.sort());
                self.fresh += 1;
                let k = format!("k{}", self.fresh);
                let (a, b) = (&p[0], &p[1]);
                format!(
                    "(mk-A{n} (+ (len-A{n} {a}) (len-A{n} {b})) (lambda (({k} Int)) (ite (< {k} \
                     (len-A{n} {a})) (select (data-A{n} {a}) {k}) (select (data-A{n} {b}) (- {k} \
                     (len-A{n} {a}))))))"
                )
            }
            Op::Slice => {
                let n = self.number(term.sort());
                self.fresh += 1;
                let k = format!("k{}", self.fresh);
                format!(
                    "(mk-A{n} (- {} {}) (lambda (({k} Int)) (select (data-A{n} {}) (+ {k} {}))))",
                    p[2], p[1], p[0], p[1]
                )
            }
            Op::Record => self.record(term.sort(), p),
            Op::Field(i) => self.field_of(&p[0], args[0].sort(), *i as usize),
            Op::Update(i) => {
                let Sort::Record(r) = term.sort() else {
                    return Err(Unprintable("ill-sorted term"));
                };
                let parts: Vec<String> = (0..r.fields.len())
                    .map(|j| {
                        if j == *i as usize {
                            p[1].clone()
                        } else {
                            self.field_of(&p[0], term.sort(), j)
                        }
                    })
                    .collect();
                self.record(term.sort(), &parts)
            }
            Op::Construct(variant) => self.construct(term.sort(), *variant, p),
            Op::Is(variant) => self.is_of(&p[0], args[0].sort(), *variant),
            Op::Get(variant, field) => self.part_of(&p[0], args[0].sort(), *variant, *field),
            Op::Call(_) | Op::ForAll(_) | Op::ForSome(_) => {
                return Err(Unprintable("a call or a quantifier that is not unfolded"));
            }
            Op::Narrow | Op::Units | Op::Decimal => p[0].clone(),
            Op::Set
            | Op::Map
            | Op::Has
            | Op::Insert
            | Op::Put
            | Op::Remove
            | Op::Lookup
            | Op::Keys
            | Op::Union
            | Op::Intersection
            | Op::Difference => return Err(COLLECTION),
            Op::Exists(vars) => {
                let mut bound = String::new();
                let mut parts = Vec::new();
                for v in vars.iter() {
                    let name = self.name(v);
                    let _ = write!(bound, "({name} {})", self.sort_name(&v.sort));
                    parts.extend(self.constraint(&name, &v.sort));
                }
                parts.push(p[0].clone());
                format!("(exists ({bound}) (and {}))", parts.join(" "))
            }
        })
    }

    pub(super) fn equal(&mut self, sort: &Sort, a: &str, b: &str) -> Printed {
        Ok(match sort {
            Sort::Array(e) => {
                self.fresh += 1;
                let (k, n) = (format!("k{}", self.fresh), self.number(sort));
                let same = self.equal(
                    e,
                    &format!("(select (data-A{n} {a}) {k})"),
                    &format!("(select (data-A{n} {b}) {k})"),
                )?;
                format!(
                    "(and (= (len-A{n} {a}) (len-A{n} {b})) (forall (({k} Int)) (=> (and (<= 0 {k}) (< {k} (len-A{n} {a}))) {same})))"
                )
            }
            Sort::Record(r) if r.fields.iter().any(|(_, s)| has_array(s)) => {
                let parts = r
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(i, (_, s))| {
                        let (x, y) = (self.field_of(a, sort, i), self.field_of(b, sort, i));
                        self.equal(s, &x, &y)
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                format!("(and {})", parts.join(" "))
            }
            Sort::Sum(s) => self.equal_sums(s, a, b)?,
            _ => format!("(= {a} {b})"),
        })
    }
}

pub(super) fn has_array(sort: &Sort) -> bool {
    match sort {
        Sort::Array(_) => true,
        Sort::Sum(s) => {
            let fields = s.group().0.iter().flat_map(|s| &s.variants);
            fields.flat_map(|v| &v.fields).any(|(_, s)| has_array(s))
        }
        Sort::Record(r) => r.fields.iter().any(|(_, s)| has_array(s)),
        _ => false,
    }
}

fn int(n: &Int) -> String {
    if n.signum() < 0 {
        format!("(- {})", n.abs())
    } else {
        n.to_string()
    }
}

fn text(s: &str) -> Printed {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\"\""),
            ' '..='~' if c != '\\' => out.push(c),
            c if c as u32 > LAST_CHAR => return Err(Unprintable("a character beyond SMT-LIB's")),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
        }
    }
    out.push('"');
    Ok(out)
}

/// Reads the escapes of an SMT-LIB string; `None` for what is no scalar value.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let (digits, used) = match after.strip_prefix('{') {
            Some(inner) => match inner.find('}') {
                Some(end) => (&inner[..end], end + 2),
                None => ("", 0),
            },
            None => (after.get(..4).unwrap_or(""), 4),
        };
        if let Ok(code) = u32::from_str_radix(digits, 16) {
            out.push(char::from_u32(code)?);
            rest = &after[used..];
        } else {
            out.push_str("\\u");
            rest = after;
        }
    }
    out.push_str(rest);
    Some(out)
}

fn class(ranges: &[(u32, u32)]) -> Printed {
    if ranges == [(0, MAX_CHAR)] {
        return Ok("re.allchar".into());
    }
    let mut parts = Vec::new();
    for &(lo, hi) in ranges {
        // A range that reaches the end of Unicode means "everything else"; one that lies beyond
        // SMT-LIB's characters cannot be said.
        if lo > LAST_CHAR || (hi > LAST_CHAR && hi != MAX_CHAR) {
            return Err(Unprintable("a character beyond SMT-LIB's"));
        }
        let letter = |c: u32| format!("\"\\u{{{c:x}}}\"");
        parts.push(format!(
            "(re.range {} {})",
            letter(lo),
            letter(hi.min(LAST_CHAR))
        ));
    }
    Ok(match parts.len() {
        0 => "re.none".into(),
        1 => parts.remove(0),
        _ => format!("(re.union {})", parts.join(" ")),
    })
}

fn regex(re: &Re) -> Printed {
    let list = |name: &str, v: &[Re], none: &str| -> Printed {
        let parts = v.iter().map(regex).collect::<Result<Vec<_>, _>>()?;
        Ok(match parts.len() {
            0 => none.to_owned(),
            1 => parts[0].clone(),
            _ => format!("({name} {})", parts.join(" ")),
        })
    };
    Ok(match re.node() {
        ReNode::Class(ranges) => class(ranges)?,
        ReNode::Concat(v) => list("re.++", v, "(str.to_re \"\")")?,
        ReNode::Alt(v) => list("re.union", v, "re.none")?,
        ReNode::Inter(v) => list("re.inter", v, "re.all")?,
        ReNode::Not(r) => format!("(re.comp {})", regex(r)?),
        ReNode::Loop(r, 0, None) => format!("(re.* {})", regex(r)?),
        ReNode::Loop(r, 1, None) => format!("(re.+ {})", regex(r)?),
        ReNode::Loop(r, min, None) => {
            let r = regex(r)?;
            format!("(re.++ ((_ re.^ {min}) {r}) (re.* {r}))")
        }
        ReNode::Loop(r, min, Some(max)) => format!("((_ re.loop {min} {max}) {})", regex(r)?),
    })
}

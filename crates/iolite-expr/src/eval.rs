//! Exact evaluation.

use std::sync::Arc;

use crate::collection;
use crate::eval_call::{Frame, call};
use crate::sequence::part;
use crate::term::{Kind, Op};
use crate::{Int, Sequence, Sort, Span, SumValue, Term, Value, Var, VarId};

/// Where evaluation finds the values of variables.
pub trait Env {
    /// The value of a variable.
    fn get(&self, var: VarId) -> Option<&Value>;
}

impl<S: std::hash::BuildHasher> Env for std::collections::HashMap<VarId, Value, S> {
    fn get(&self, var: VarId) -> Option<&Value> {
        Self::get(self, &var)
    }
}

impl Env for std::collections::BTreeMap<VarId, Value> {
    fn get(&self, var: VarId) -> Option<&Value> {
        Self::get(self, &var)
    }
}

/// A run-time fault, and the place of the term that caused it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct EvalError {
    /// What happened.
    pub fault: Fault,
    /// The place of the term.
    pub span: Span,
}

/// What can go wrong in a well-typed term.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// `a / 0` or `a % 0`.
    #[error("division by zero")]
    DivisionByZero,
    /// An index outside its array or string.
    #[error("index {index} out of range for {what} of length {length}")]
    IndexOutOfRange {
        /// An array or a string.
        what: &'static str,
        /// The index.
        index: Int,
        /// Its length.
        length: usize,
    },
    /// A slice that is not `0 ≤ lo ≤ hi ≤ len`.
    #[error("slice {lo}..{hi} out of range for {what} of length {length}")]
    SliceOutOfRange {
        /// An array or a string.
        what: &'static str,
        /// First index.
        lo: Int,
        /// End.
        hi: Int,
        /// Its length.
        length: usize,
    },
    /// A value that a range sort does not have.
    #[error("{value} is outside {sort}")]
    RangeOverflow {
        /// The value.
        value: Int,
        /// The range.
        sort: Sort,
    },
    /// A key that a map does not have.
    #[error("the map has no key {0}")]
    NoKey(Value),
    /// A field of another variant than the value is of.
    #[error("{found} is no {wanted}")]
    WrongVariant {
        /// The variant that has the field.
        wanted: Box<str>,
        /// The value's variant.
        found: Box<str>,
    },
    /// A function called itself too often.
    #[error("{0} calls itself too often to be evaluated")]
    OutOfFuel(Box<str>),
    /// A variable without value.
    #[error("variable {0} has no value")]
    Unbound(Arc<str>),
    /// A string or array beyond what memory should be spent on.
    #[error("value grows too large")]
    TooLarge,
    /// A quantifier that ranges over too many values to try.
    #[error("cannot decide a quantifier by evaluation")]
    Quantifier,
    /// A value of another sort than its variable: the environment is broken.
    #[error("value of a wrong sort")]
    WrongSort,
}

impl Fault {
    /// Whether a bound of ours ran out, so that the model may well have a value there.
    pub fn is_bound(&self) -> bool {
        matches!(self, Self::OutOfFuel(_) | Self::TooLarge | Self::Quantifier)
    }
}

/// Longest string (in bytes) and array that evaluation builds; a model that appends to itself in
/// a loop must not eat the machine.
const MAX_LENGTH: usize = 1 << 24;
/// Largest integer that evaluation builds, in bits.
const MAX_BITS: u64 = 1 << 20;

impl Term {
    /// The value of the term. `&&`, `||`, `=>` and `?:` evaluate from left to right and only what
    /// they need, so `i < len(a) && a[i] == 0` never faults.
    pub fn eval(&self, env: &impl Env) -> Result<Value, EvalError> {
        eval(self, &Outermost(env))
    }

    /// The value of a Boolean term.
    pub fn eval_bool(&self, env: &impl Env) -> Result<bool, EvalError> {
        boolean(self, &Outermost(env))
    }
}

/// Where the values of variables are found while a term is evaluated.
pub(crate) trait Scope {
    fn get(&self, var: VarId) -> Option<&Value>;

    /// The call whose body is evaluated.
    fn frame(&self) -> Option<&Frame>;
}

/// The values that an evaluation was asked with.
struct Outermost<'a, E>(&'a E);

impl<E: Env> Scope for Outermost<'_, E> {
    fn get(&self, var: VarId) -> Option<&Value> {
        self.0.get(var)
    }

    fn frame(&self) -> Option<&Frame> {
        None
    }
}

struct Nothing;

impl Env for Nothing {
    fn get(&self, _: VarId) -> Option<&Value> {
        None
    }
}

/// The value of an operation on values, for folding.
pub(crate) fn fold(term: &Term) -> Option<Value> {
    term.eval(&Nothing).ok()
}

/// A few variables on top. A trait object underneath keeps nested quantifiers from instantiating
/// types without end.
struct Over<'a> {
    below: &'a dyn Scope,
    vars: &'a [(VarId, Value)],
}

impl Scope for Over<'_> {
    fn get(&self, var: VarId) -> Option<&Value> {
        match self.vars.iter().find(|(id, _)| *id == var) {
            Some((_, v)) => Some(v),
            None => self.below.get(var),
        }
    }

    fn frame(&self) -> Option<&Frame> {
        self.below.frame()
    }
}

pub(crate) fn fault(term: &Term, fault: Fault) -> EvalError {
    EvalError {
        fault,
        span: term.span(),
    }
}

pub(crate) fn boolean(term: &Term, env: &impl Scope) -> Result<bool, EvalError> {
    match term.kind() {
        Kind::Lit(Value::Bool(b)) => Ok(*b),
        Kind::App(op, args) => match op {
            Op::Not => Ok(!boolean(&args[0], env)?),
            Op::And => {
                for a in args {
                    if !boolean(a, env)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Op::Or => {
                for a in args {
                    if boolean(a, env)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Op::Implies => Ok(!boolean(&args[0], env)? || boolean(&args[1], env)?),
            Op::Ite => boolean(&args[if boolean(&args[0], env)? { 1 } else { 2 }], env),
            Op::Eq => equal(&args[0], &args[1], env),
            Op::Ne => Ok(!equal(&args[0], &args[1], env)?),
            Op::Lt => Ok(int(&args[0], env)? < int(&args[1], env)?),
            Op::Le => Ok(int(&args[0], env)? <= int(&args[1], env)?),
            Op::Gt => Ok(int(&args[0], env)? > int(&args[1], env)?),
            Op::Ge => Ok(int(&args[0], env)? >= int(&args[1], env)?),
            Op::Prefix => {
                let (a, b) = (string(&args[0], env)?, string(&args[1], env)?);
                Ok(b.starts_with(&*a))
            }
            Op::Suffix => {
                let (a, b) = (string(&args[0], env)?, string(&args[1], env)?);
                Ok(b.ends_with(&*a))
            }
            Op::Contains => {
                let (a, b) = (string(&args[0], env)?, string(&args[1], env)?);
                Ok(a.contains(&*b))
            }
            Op::Matches(re) => Ok(re.is_match(&string(&args[0], env)?)),
            Op::Exists(vars) => exists(term, vars, &args[0], env),
            Op::Has => {
                let (key, of) = (eval(&args[0], env)?, eval(&args[1], env)?);
                collection::has(&of, &key).ok_or_else(|| fault(term, Fault::WrongSort))
            }
            Op::ForAll(x) => quantified(x, args, env, true),
            Op::ForSome(x) => quantified(x, args, env, false),
            Op::Is(variant) => Ok(sum(&args[0], env)?.variant() == *variant),
            _ => as_bool(term, &general(term, op, args, env)?),
        },
        _ => as_bool(term, &eval(term, env)?),
    }
}

fn as_bool(term: &Term, value: &Value) -> Result<bool, EvalError> {
    value.as_bool().ok_or_else(|| fault(term, Fault::WrongSort))
}

fn equal(a: &Term, b: &Term, env: &impl Scope) -> Result<bool, EvalError> {
    match a.sort() {
        Sort::Bool => Ok(boolean(a, env)? == boolean(b, env)?),
        Sort::Int | Sort::Range(_) => Ok(int(a, env)? == int(b, env)?),
        _ => Ok(eval(a, env)? == eval(b, env)?),
    }
}

fn int(term: &Term, env: &impl Scope) -> Result<Int, EvalError> {
    match term.kind() {
        Kind::Lit(Value::Int(n)) => Ok(n.clone()),
        Kind::Var(v) => match env.get(v.id) {
            Some(Value::Int(n)) => Ok(n.clone()),
            Some(_) => Err(fault(term, Fault::WrongSort)),
            None => Err(fault(term, Fault::Unbound(v.name.clone()))),
        },
        Kind::App(op, args) => match op {
            Op::Neg => Ok(-int(&args[0], env)?),
            Op::Abs => Ok(int(&args[0], env)?.abs()),
            Op::Add => {
                let mut sum = Int::ZERO;
                for a in args {
                    sum += &int(a, env)?;
                }
                Ok(sum)
            }
            Op::Sub => Ok(int(&args[0], env)? - int(&args[1], env)?),
            Op::Mul => {
                let mut product = Int::ONE;
                for a in args {
                    product = &product * &int(a, env)?;
                    if product.bits() > MAX_BITS {
                        return Err(fault(term, Fault::TooLarge));
                    }
                }
                Ok(product)
            }
            Op::Div | Op::Mod => {
                let (a, b) = (int(&args[0], env)?, int(&args[1], env)?);
                let (q, r) = a
                    .div_mod(&b)
                    .ok_or_else(|| fault(term, Fault::DivisionByZero))?;
                Ok(if *op == Op::Div { q } else { r })
            }
            Op::StrLen => Ok(string(&args[0], env)?.chars().count().into()),
            Op::IndexOf => {
                let (text, part) = (string(&args[0], env)?, string(&args[1], env)?);
                Ok(match text.find(&*part) {
                    Some(at) => text[..at].chars().count().into(),
                    None => Int::from(-1),
                })
            }
            Op::Len => match eval(&args[0], env)? {
                Value::Array(items) => Ok(items.len().into()),
                Value::Set(items) => Ok(items.len().into()),
                Value::Map(pairs) => Ok(pairs.len().into()),
                _ => Err(fault(term, Fault::WrongSort)),
            },
            Op::Units => match eval(&args[0], env)? {
                Value::Decimal(n, _) => Ok(n),
                _ => Err(fault(term, Fault::WrongSort)),
            },
            Op::Ite => int(&args[if boolean(&args[0], env)? { 1 } else { 2 }], env),
            Op::Narrow => {
                let n = int(&args[0], env)?;
                match term.sort() {
                    Sort::Range(r) if r.lo <= n && n <= r.hi => Ok(n),
                    sort => Err(fault(
                        term,
                        Fault::RangeOverflow {
                            value: n,
                            sort: sort.clone(),
                        },
                    )),
                }
            }
            _ => as_int(term, general(term, op, args, env)?),
        },
        Kind::Lit(_) => Err(fault(term, Fault::WrongSort)),
    }
}

fn as_int(term: &Term, value: Value) -> Result<Int, EvalError> {
    if let Value::Int(n) = value {
        Ok(n)
    } else {
        Err(fault(term, Fault::WrongSort))
    }
}

fn string(term: &Term, env: &impl Scope) -> Result<Arc<str>, EvalError> {
    match eval(term, env)? {
        Value::Str(s) => Ok(s),
        _ => Err(fault(term, Fault::WrongSort)),
    }
}

fn array(term: &Term, env: &impl Scope) -> Result<Sequence, EvalError> {
    match eval(term, env)? {
        Value::Array(items) => Ok(items),
        _ => Err(fault(term, Fault::WrongSort)),
    }
}

/// What an operation looks into.
fn sequence(term: &Term) -> &'static str {
    match term.kind() {
        Kind::App(Op::At | Op::Substring, _) => "a string",
        _ => "an array",
    }
}

/// The indices of a slice.
fn range(
    term: &Term,
    args: &[Term],
    length: usize,
    env: &impl Scope,
) -> Result<std::ops::Range<usize>, EvalError> {
    let (lo, hi) = (int(&args[1], env)?, int(&args[2], env)?);
    match (lo.to_usize(), hi.to_usize()) {
        (Some(a), Some(b)) if a <= b && b <= length => Ok(a..b),
        _ => {
            let what = sequence(term);
            let out = Fault::SliceOutOfRange {
                what,
                lo,
                hi,
                length,
            };
            Err(fault(term, out))
        }
    }
}

fn sum(term: &Term, env: &impl Scope) -> Result<Arc<SumValue>, EvalError> {
    match eval(term, env)? {
        Value::Sum(s) => Ok(s),
        _ => Err(fault(term, Fault::WrongSort)),
    }
}

fn index(term: &Term, i: &Int, length: usize) -> Result<usize, EvalError> {
    i.to_usize().filter(|i| *i < length).ok_or_else(|| {
        fault(
            term,
            Fault::IndexOutOfRange {
                what: sequence(term),
                index: i.clone(),
                length,
            },
        )
    })
}

pub(crate) fn eval(term: &Term, env: &impl Scope) -> Result<Value, EvalError> {
    match term.kind() {
        Kind::Lit(v) => Ok(v.clone()),
        Kind::Var(v) => env
            .get(v.id)
            .cloned()
            .ok_or_else(|| fault(term, Fault::Unbound(v.name.clone()))),
        Kind::App(op, args) => match term.sort() {
            Sort::Bool if !is_general(op) => Ok(Value::Bool(boolean(term, env)?)),
            Sort::Int | Sort::Range(_) if !is_general(op) => Ok(Value::Int(int(term, env)?)),
            _ => general(term, op, args, env),
        },
    }
}

/// Operations whose result can be of any sort; `boolean` and `int` leave them to `general`.
fn is_general(op: &Op) -> bool {
    matches!(
        op,
        Op::Select | Op::Lookup | Op::Field(_) | Op::Get(..) | Op::Call(_)
    )
}

fn general(term: &Term, op: &Op, args: &[Term], env: &impl Scope) -> Result<Value, EvalError> {
    match op {
        Op::Ite => eval(&args[if boolean(&args[0], env)? { 1 } else { 2 }], env),
        Op::Concat => {
            let mut text = String::new();
            for a in args {
                text.push_str(&string(a, env)?);
                if text.len() > MAX_LENGTH {
                    return Err(fault(term, Fault::TooLarge));
                }
            }
            Ok(Value::Str(text.into()))
        }
        Op::Array => Ok(Value::array(
            args.iter()
                .map(|a| eval(a, env))
                .collect::<Result<_, _>>()?,
        )),
        Op::Select => {
            let items = array(&args[0], env)?;
            let i = index(term, &int(&args[1], env)?, items.len())?;
            Ok(items[i].clone())
        }
        Op::Store => {
            let items = array(&args[0], env)?;
            let i = index(term, &int(&args[1], env)?, items.len())?;
            Ok(Value::Array(items.with(i, eval(&args[2], env)?)))
        }
        Op::Append => {
            let (items, more) = (array(&args[0], env)?, array(&args[1], env)?);
            if items.len() + more.len() > MAX_LENGTH {
                return Err(fault(term, Fault::TooLarge));
            }
            Ok(Value::Array(items.followed_by(&more)))
        }
        Op::Slice => {
            let items = array(&args[0], env)?;
            let range = range(term, args, items.len(), env)?;
            Ok(Value::Array(items.slice(range)))
        }
        Op::Substring => {
            let text = string(&args[0], env)?;
            let range = range(term, args, text.chars().count(), env)?;
            let part = text.chars().skip(range.start).take(range.len());
            Ok(Value::Str(part.collect::<String>().into()))
        }
        Op::At => {
            let text = string(&args[0], env)?;
            let i = index(term, &int(&args[1], env)?, text.chars().count())?;
            Ok(Value::Str(
                text.chars().skip(i).take(1).collect::<String>().into(),
            ))
        }
        Op::Decimal => match term.sort() {
            Sort::Decimal(scale) => Ok(Value::Decimal(int(&args[0], env)?, *scale)),
            _ => Err(fault(term, Fault::WrongSort)),
        },
        Op::Set
        | Op::Map
        | Op::Insert
        | Op::Put
        | Op::Remove
        | Op::Keys
        | Op::Union
        | Op::Intersection
        | Op::Difference => {
            let mut values = args
                .iter()
                .map(|a| eval(a, env))
                .collect::<Result<Vec<_>, _>>()?;
            let value = match op {
                Op::Set => Some(Value::set(values)),
                Op::Map => {
                    let pairs = values.chunks(2).map(|p| (p[0].clone(), p[1].clone()));
                    Some(Value::map(pairs.collect()))
                }
                Op::Keys => match &values[0] {
                    Value::Map(pairs) => {
                        let keys = pairs.iter().map(|(k, _)| k.clone());
                        Some(Value::Set(Arc::new(keys.collect())))
                    }
                    _ => None,
                },
                Op::Insert | Op::Put => {
                    let value = if *op == Op::Put { values.pop() } else { None };
                    let key = values.pop();
                    let of = values.pop();
                    of.zip(key)
                        .and_then(|(of, key)| collection::inserted(of, key, value))
                }
                Op::Remove => {
                    let key = values.pop();
                    let of = values.pop();
                    of.zip(key)
                        .and_then(|(of, key)| collection::removed(of, &key))
                }
                _ => collection::combined(op, &values[0], &values[1]),
            };
            let value = value.ok_or_else(|| fault(term, Fault::WrongSort))?;
            let size = match &value {
                Value::Set(items) => items.len(),
                Value::Map(pairs) => pairs.len(),
                _ => 0,
            };
            if size > MAX_LENGTH {
                return Err(fault(term, Fault::TooLarge));
            }
            Ok(value)
        }
        Op::Lookup => {
            let (of, key) = (eval(&args[0], env)?, eval(&args[1], env)?);
            let Value::Map(pairs) = of else {
                return Err(fault(term, Fault::WrongSort));
            };
            let value = Value::looked_up(&pairs, &key).cloned();
            value.ok_or_else(|| fault(term, Fault::NoKey(key)))
        }
        Op::Record => {
            let items = args
                .iter()
                .map(|a| eval(a, env))
                .collect::<Result<_, _>>()?;
            let Sort::Record(r) = term.sort() else {
                return Err(fault(term, Fault::WrongSort));
            };
            Ok(Value::Record(r.clone(), items))
        }
        Op::Construct(variant) => {
            let fields = args
                .iter()
                .map(|a| eval(a, env))
                .collect::<Result<_, _>>()?;
            let Sort::Sum(sort) = term.sort() else {
                return Err(fault(term, Fault::WrongSort));
            };
            Value::sum_of(sort.clone(), *variant, fields)
                .ok_or_else(|| fault(term, Fault::TooLarge))
        }
        Op::Get(variant, field) => {
            let value = sum(&args[0], env)?;
            if value.variant() == *variant {
                let field = value.fields().get(*field as usize);
                return field.cloned().ok_or_else(|| fault(term, Fault::WrongSort));
            }
            let wanted = value.sort().variant(*variant).map(|v| v.name.clone());
            Err(fault(
                term,
                Fault::WrongVariant {
                    wanted: wanted.unwrap_or_default(),
                    found: value.variant_name().into(),
                },
            ))
        }
        Op::Call(callee) => call(term, callee, args, env),
        Op::Field(i) => match eval(&args[0], env)? {
            Value::Record(_, items) if (*i as usize) < items.len() => {
                Ok(items[*i as usize].clone())
            }
            _ => Err(fault(term, Fault::WrongSort)),
        },
        Op::Update(i) => match eval(&args[0], env)? {
            Value::Record(r, items) if (*i as usize) < items.len() => {
                let mut items = items.to_vec();
                items[*i as usize] = eval(&args[1], env)?;
                Ok(Value::Record(r, items.into()))
            }
            _ => Err(fault(term, Fault::WrongSort)),
        },
        _ => Err(fault(term, Fault::WrongSort)),
    }
}

/// Values that a quantifier may range over, all its variables together.
const MAX_QUANTIFIED: u64 = 4_096;

fn exists(
    term: &Term,
    vars: &[crate::Var],
    body: &Term,
    env: &impl Scope,
) -> Result<bool, EvalError> {
    let mut rows: Vec<Vec<(VarId, Value)>> = vec![Vec::new()];
    let mut count = 1u64;
    for v in vars {
        let values = v.sort.values(MAX_QUANTIFIED);
        let values = values.ok_or_else(|| fault(term, Fault::Quantifier))?;
        count = count.saturating_mul(values.len() as u64);
        if count > MAX_QUANTIFIED {
            return Err(fault(term, Fault::Quantifier));
        }
        rows = rows
            .into_iter()
            .flat_map(|row| {
                values.iter().map(move |value| {
                    let mut row = row.clone();
                    row.push((v.id, value.clone()));
                    row
                })
            })
            .collect();
    }
    for vars in &rows {
        if boolean(body, &Over { below: env, vars })? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the body holds for an element of the array or set, or for each of them. It is evaluated for all,
/// so that a fault is one whatever the order.
fn quantified(x: &Var, args: &[Term], env: &impl Scope, all: bool) -> Result<bool, EvalError> {
    let of = eval(&args[0], env)?;
    if let Some(result) = compared(x, &args[1], &of, env, all) {
        return result;
    }
    let items: Box<dyn Iterator<Item = &Value>> = match &of {
        Value::Array(items) => Box::new(items.iter()),
        Value::Set(items) => Box::new(items.iter()),
        _ => return Err(fault(&args[0], Fault::WrongSort)),
    };
    let mut result = all;
    for item in items {
        let vars = &[(x.id, item.clone())];
        let holds = boolean(&args[1], &Over { below: env, vars })?;
        result = if all {
            result && holds
        } else {
            result || holds
        };
    }
    Ok(result)
}

/// The same where the body compares a part of the element with a value that does not depend on it:
/// `exists k in known: k.id == n` looks at long lists without building anything, and without reading them where
/// one equal part decides.
fn compared(
    x: &Var,
    body: &Term,
    of: &Value,
    env: &impl Scope,
    all: bool,
) -> Option<Result<bool, EvalError>> {
    let Kind::App(op @ (Op::Eq | Op::Ne), sides) = body.kind() else {
        return None;
    };
    let (own, other) = match (field_path(&sides[0], x), field_path(&sides[1], x)) {
        (Some(path), None) => (path, &sides[1]),
        (None, Some(path)) => (path, &sides[0]),
        _ => return None,
    };
    let is_empty = match of {
        Value::Array(items) => items.is_empty(),
        Value::Set(items) => items.is_empty(),
        _ => return None,
    };
    if is_empty || other.reads(x.id) {
        return None;
    }
    let value = match eval(other, env) {
        Ok(value) => value,
        Err(e) => return Some(Err(e)),
    };
    let equal_decides = (*op == Op::Eq) != all;
    let decided = match of {
        Value::Array(items) if equal_decides => items.has_part(&own, &value)?,
        Value::Array(items) => some_part(items, &own, |part| *part != value)?,
        Value::Set(items) => {
            some_part(items.iter(), &own, |part| (*part == value) == equal_decides)?
        }
        _ => return None,
    };
    Some(Ok(decided != all))
}

/// Whether the test holds for the part of some item that the fields lead to; `None` where there is no such part.
fn some_part<'a>(
    items: impl IntoIterator<Item = &'a Value>,
    path: &[u32],
    test: impl Fn(&Value) -> bool,
) -> Option<bool> {
    for item in items {
        if test(part(item, path)?) {
            return Some(true);
        }
    }
    Some(false)
}

/// The fields that lead from a variable to a term.
fn field_path(term: &Term, x: &Var) -> Option<Vec<u32>> {
    match term.kind() {
        Kind::Var(v) if v == x => Some(Vec::new()),
        Kind::App(Op::Field(i), args) => {
            let mut path = field_path(&args[0], x)?;
            path.push(*i);
            Some(path)
        }
        _ => None,
    }
}

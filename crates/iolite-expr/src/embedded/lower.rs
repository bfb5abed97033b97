//! From terms to a [`Problem`]. Enumerations become integers, records their fields, array reads
//! fresh values that agree where indices do (Ackermann), division by constants its definition;
//! what is not linear becomes a [`Definition`](super::problem::Definition).

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::lower_array::{Arr, ArrVar, MAX_ARRAY};
use super::lower_sum::{Sum, SumVar};
use super::problem::{Lin, Problem, Str, StrTest};
use super::sat::Lit;
use super::simplex::IntVar;
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value, Var, VarId};

/// Longest string constant that is reasoned about, in bytes.
const MAX_TEXT: usize = 20_000;

/// Steps of making the problem, above all comparisons of the places where arrays are read.
const MOST_STEPS: u64 = 250_000;

/// What counts for one unit of work: coefficients in the simplex, clauses in the SAT core, steps here.
const COEFFICIENTS: u64 = 64;
const VISITS: u64 = 512;
const STEPS: u64 = 2;

/// A term in the solver's own shape.
#[derive(Clone)]
pub(super) enum Low {
    Bool(Lit),
    Int(Lin),
    Str(Str),
    Record(Rc<[Low]>),
    Array(Rc<Arr>),
    Sum(Rc<Sum>),
}

/// Why a term cannot be given to the embedded solver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unsupported(pub(super) &'static str);

/// Sets and maps are given unfolded.
const COLLECTION: Unsupported = Unsupported("a set or a map could not be unfolded");

pub(super) struct Lowering {
    pub(super) problem: Problem,
    pub(super) vars: FxHashMap<VarId, Low>,
    pub(super) arrays: Vec<ArrVar>,
    /// Arrays of unknown length that are equal where the literal holds.
    pub(super) equalities: Vec<(Lit, Rc<Arr>, Rc<Arr>)>,
    memo: FxHashMap<usize, (Term, Low)>,
    /// Lengths of arrays, and what was read from them, by array and index.
    pub(super) lengths: FxHashMap<usize, (Rc<Arr>, Lin)>,
    pub(super) selected: FxHashMap<(usize, Lin), (Rc<Arr>, Low)>,
    /// Steps of making the problem.
    steps: u64,
    /// Variables that stand for forms, where these are factors.
    pub(super) names: FxHashMap<Lin, IntVar>,
    /// The variable of a product by its factors, and the other way round.
    pub(super) monomials: FxHashMap<Vec<IntVar>, IntVar>,
    pub(super) factors: FxHashMap<IntVar, Vec<IntVar>>,
    /// Quotient and remainder by dividend and divisor.
    pub(super) quotients: FxHashMap<(Lin, Lin), (Lin, Lin)>,
    /// Whether arrays are kept short and sums shallow.
    pub(super) bound_arrays: bool,
    pub(super) sums: Vec<SumVar>,
    /// Comparisons of unknown sums that this one is within.
    pub(super) compared: u32,
    /// Whether unknown sums are compared no deeper than a bound.
    pub(super) cut: bool,
}

pub(super) type Lowered<T> = Result<T, Unsupported>;

impl Lowering {
    pub(super) fn new(bound_arrays: bool) -> Self {
        Self {
            problem: Problem::new(),
            vars: FxHashMap::default(),
            arrays: Vec::new(),
            equalities: Vec::new(),
            memo: FxHashMap::default(),
            lengths: FxHashMap::default(),
            selected: FxHashMap::default(),
            steps: 0,
            names: FxHashMap::default(),
            monomials: FxHashMap::default(),
            factors: FxHashMap::default(),
            quotients: FxHashMap::default(),
            bound_arrays,
            sums: Vec::new(),
            compared: 0,
            cut: false,
        }
    }

    /// What making the problem and searching it has cost, in units that a query of some operations
    /// is a hundred of.
    pub(super) fn work(&self) -> u64 {
        let (sat, simplex) = (&self.problem.sat, &self.problem.simplex);
        let looks = simplex.coefficients / COEFFICIENTS + sat.visits / VISITS;
        sat.conflicts + simplex.pivots + looks + self.steps / STEPS
    }

    /// Counts steps; an error when there are too many of them.
    pub(super) fn spend(&mut self, steps: usize) -> Lowered<()> {
        self.steps += steps as u64;
        if self.steps > MOST_STEPS {
            return Err(Unsupported("the query grows too long"));
        }
        Ok(())
    }

    /// Asserts a Boolean term.
    pub(super) fn assert(&mut self, term: &Term) -> Lowered<()> {
        if let Kind::App(Op::And, args) = term.kind() {
            return args.iter().try_for_each(|a| self.assert(a));
        }
        if let Kind::App(Op::Or, args) = term.kind() {
            let lits = args.iter().map(|a| self.bool(a)).collect::<Lowered<_>>()?;
            self.problem.clause(lits);
            return Ok(());
        }
        let lit = self.bool(term)?;
        self.problem.clause(vec![lit]);
        Ok(())
    }

    /// The shape of a variable, made when it is met first.
    pub(super) fn var(&mut self, var: &Var) -> Lowered<Low> {
        if let Some(low) = self.vars.get(&var.id) {
            return Ok(low.clone());
        }
        let low = self.fresh(&var.sort)?;
        self.vars.insert(var.id, low.clone());
        Ok(low)
    }

    pub(super) fn fresh(&mut self, sort: &Sort) -> Lowered<Low> {
        let bounded = |p: &mut Problem, lo, hi| Low::Int(Lin::atom(p.new_bounded(lo, hi)));
        Ok(match sort {
            Sort::Bool => Low::Bool(self.problem.new_bool()),
            Sort::Int | Sort::Decimal(_) => bounded(&mut self.problem, None, None),
            Sort::Range(r) => bounded(&mut self.problem, Some(r.lo.clone()), Some(r.hi.clone())),
            Sort::Enum(e) => {
                let last = Int::from(e.variants.len()) - Int::ONE;
                bounded(&mut self.problem, Some(Int::ZERO), Some(last))
            }
            Sort::String => Low::Str(Str::Var(self.problem.new_str())),
            Sort::Record(r) => Low::Record(
                r.fields
                    .iter()
                    .map(|(_, s)| self.fresh(s))
                    .collect::<Lowered<Rc<[_]>>>()?,
            ),
            Sort::Array(e) => {
                let hi = self.bound_arrays.then(|| Int::from(MAX_ARRAY));
                let length = self.problem.new_bounded(Some(Int::ZERO), hi);
                self.arrays.push(ArrVar {
                    length,
                    element: (**e).clone(),
                    reads: Vec::new(),
                });
                Low::Array(Rc::new(Arr::Var(self.arrays.len() - 1)))
            }
            Sort::Sum(s) => self.fresh_sum(s),
            // They are unfolded before, where that is possible.
            Sort::Set(_) | Sort::Map(_) => return Err(COLLECTION),
            Sort::Member(_) => return Err(Unsupported("ill-sorted term")),
        })
    }

    fn bool(&mut self, term: &Term) -> Lowered<Lit> {
        match self.lower(term)? {
            Low::Bool(l) => Ok(l),
            _ => Err(Unsupported("ill-sorted term")),
        }
    }

    fn int(&mut self, term: &Term) -> Lowered<Lin> {
        match self.lower(term)? {
            Low::Int(l) => Ok(l),
            _ => Err(Unsupported("ill-sorted term")),
        }
    }

    fn str(&mut self, term: &Term) -> Lowered<Str> {
        match self.lower(term)? {
            Low::Str(Str::Lit(text)) if text.len() > MAX_TEXT => {
                Err(Unsupported("a very long string"))
            }
            Low::Str(s) => Ok(s),
            _ => Err(Unsupported("ill-sorted term")),
        }
    }

    fn array(&mut self, term: &Term) -> Lowered<Rc<Arr>> {
        match self.lower(term)? {
            Low::Array(a) => Ok(a),
            _ => Err(Unsupported("ill-sorted term")),
        }
    }

    fn sum(&mut self, term: &Term) -> Lowered<Rc<Sum>> {
        match self.lower(term)? {
            Low::Sum(s) => Ok(s),
            _ => Err(Unsupported("ill-sorted term")),
        }
    }

    pub(super) fn value(&self, value: &Value, sort: &Sort) -> Low {
        match value {
            Value::Bool(b) => Low::Bool(self.problem.constant(*b)),
            Value::Int(n) | Value::Decimal(n, _) => Low::Int(Lin::constant(n.clone())),
            Value::Str(s) => Low::Str(Str::Lit(s.to_string())),
            Value::Enum(_, i) => Low::Int(Lin::constant((*i).into())),
            Value::Array(items) => {
                let element = match sort {
                    Sort::Array(e) => (**e).clone(),
                    _ => Sort::Int,
                };
                let items = items.iter().map(|v| self.value(v, &element)).collect();
                Low::Array(Rc::new(Arr::Items(items, element)))
            }
            Value::Record(r, items) => Low::Record(
                items
                    .iter()
                    .zip(&r.fields)
                    .map(|(v, (_, s))| self.value(v, s))
                    .collect(),
            ),
            Value::Sum(s) => Low::Sum(Rc::new(Sum::Known(s.clone()))),
            // Refused where the literal stands.
            Value::Set(_) | Value::Map(_) => Low::Bool(self.problem.constant(false)),
        }
    }

    fn lower(&mut self, term: &Term) -> Lowered<Low> {
        match term.kind() {
            Kind::Lit(_) if term.sort().has_collection() => Err(COLLECTION),
            Kind::Lit(v) => Ok(self.value(v, term.sort())),
            Kind::Var(v) => self.var(v),
            Kind::App(op, args) => {
                if let Some((_, low)) = self.memo.get(&term.key()) {
                    return Ok(low.clone());
                }
                self.spend(args.len())?;
                let low = self.app(term, op, args)?;
                self.memo.insert(term.key(), (term.clone(), low.clone()));
                Ok(low)
            }
        }
    }

    fn app(&mut self, term: &Term, op: &Op, args: &[Term]) -> Lowered<Low> {
        let bools = |s: &mut Self| args.iter().map(|a| s.bool(a)).collect::<Lowered<Vec<_>>>();
        Ok(match op {
            Op::Not => Low::Bool(!self.bool(&args[0])?),
            Op::And => {
                let lits = bools(self)?;
                Low::Bool(self.problem.and(lits))
            }
            Op::Or => {
                let lits = bools(self)?;
                Low::Bool(self.problem.or(lits))
            }
            Op::Implies => {
                let lits = bools(self)?;
                Low::Bool(self.problem.or(vec![!lits[0], lits[1]]))
            }
            Op::Ite => {
                let c = self.bool(&args[0])?;
                let (a, b) = (self.lower(&args[1])?, self.lower(&args[2])?);
                self.ite(c, &a, &b)?
            }
            Op::Eq | Op::Ne => {
                let (a, b) = (self.lower(&args[0])?, self.lower(&args[1])?);
                let lit = self.equal(&a, &b)?;
                Low::Bool(if *op == Op::Eq { lit } else { !lit })
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let (a, b) = (self.int(&args[0])?, self.int(&args[1])?);
                Low::Bool(match op {
                    Op::Le => self.problem.le(&a, &b),
                    Op::Ge => self.problem.le(&b, &a),
                    Op::Lt => !self.problem.le(&b, &a),
                    _ => !self.problem.le(&a, &b),
                })
            }
            Op::Neg => Low::Int(self.int(&args[0])?.scaled(&Int::from(-1))),
            Op::Add => {
                let mut sum = Lin::constant(Int::ZERO);
                for a in args {
                    sum.add_scaled(&self.int(a)?, &Int::ONE);
                }
                Low::Int(sum)
            }
            Op::Sub => Low::Int(self.int(&args[0])?.minus(&self.int(&args[1])?)),
            Op::Mul => {
                let mut product = Lin::constant(Int::ONE);
                for a in args {
                    let b = self.int(a)?;
                    product = self.product(&product, &b);
                }
                Low::Int(product)
            }
            Op::Div | Op::Mod => {
                let (a, b) = (self.int(&args[0])?, self.int(&args[1])?);
                let (q, r) = self.quotient(&a, &b);
                Low::Int(if *op == Op::Div { q } else { r })
            }
            Op::Abs => {
                let a = self.int(&args[0])?;
                let negative = self.problem.le(&a, &Lin::constant(Int::from(-1)));
                let minus = a.scaled(&Int::from(-1));
                self.ite(negative, &Low::Int(minus), &Low::Int(a))?
            }
            Op::Narrow | Op::Units | Op::Decimal => self.lower(&args[0])?,
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
            Op::Concat => {
                let parts = args
                    .iter()
                    .map(|a| self.str(a))
                    .collect::<Lowered<Vec<_>>>()?;
                Low::Str(self.concat(parts))
            }
            Op::StrLen => {
                let s = self.str(&args[0])?;
                Low::Int(self.problem.length(&s))
            }
            Op::Prefix | Op::Suffix | Op::Contains => {
                let test = match op {
                    Op::Prefix => StrTest::Prefix,
                    Op::Suffix => StrTest::Suffix,
                    _ => StrTest::Contains,
                };
                let (a, b) = (self.str(&args[0])?, self.str(&args[1])?);
                Low::Bool(self.test(test, a, b))
            }
            Op::At => {
                let s = self.str(&args[0])?;
                let from = self.int(&args[1])?;
                let to = from.plus(&Lin::constant(Int::ONE));
                Low::Str(self.substring(&s, &from, &to))
            }
            Op::Substring => {
                let s = self.str(&args[0])?;
                let (from, to) = (self.int(&args[1])?, self.int(&args[2])?);
                Low::Str(self.substring(&s, &from, &to))
            }
            Op::IndexOf => {
                let (s, part) = (self.str(&args[0])?, self.str(&args[1])?);
                Low::Int(self.index_of(&s, &part))
            }
            Op::Matches(re) => Low::Bool(match self.str(&args[0])? {
                Str::Lit(text) => self.problem.constant(re.is_match(&text)),
                Str::Var(v) => self.matches(v, re.re()),
            }),
            Op::Array => {
                let element = match term.sort() {
                    Sort::Array(e) => (**e).clone(),
                    _ => Sort::Int,
                };
                let items = args
                    .iter()
                    .map(|a| self.lower(a))
                    .collect::<Lowered<Vec<_>>>()?;
                Low::Array(Rc::new(Arr::Items(items, element)))
            }
            Op::Select => {
                let a = self.array(&args[0])?;
                let i = self.int(&args[1])?;
                self.select(&a, &i)?
            }
            Op::Store => {
                let a = self.array(&args[0])?;
                let (i, v) = (self.int(&args[1])?, self.lower(&args[2])?);
                Low::Array(Rc::new(Arr::Store(a, i, v)))
            }
            Op::Len => {
                let a = self.array(&args[0])?;
                Low::Int(self.len(&a)?)
            }
            Op::Append => {
                let (a, b) = (self.array(&args[0])?, self.array(&args[1])?);
                Low::Array(Rc::new(Arr::Append(a, b)))
            }
            Op::Slice => {
                let a = self.array(&args[0])?;
                let (lo, hi) = (self.int(&args[1])?, self.int(&args[2])?);
                Low::Array(Rc::new(Arr::Slice(a, lo, hi)))
            }
            Op::Record => Low::Record(
                args.iter()
                    .map(|a| self.lower(a))
                    .collect::<Lowered<Rc<[_]>>>()?,
            ),
            Op::Field(i) => match self.lower(&args[0])? {
                Low::Record(fields) => fields[*i as usize].clone(),
                _ => return Err(Unsupported("ill-sorted term")),
            },
            Op::Update(i) => match self.lower(&args[0])? {
                Low::Record(fields) => {
                    let mut fields = fields.to_vec();
                    fields[*i as usize] = self.lower(&args[1])?;
                    Low::Record(fields.into())
                }
                _ => return Err(Unsupported("ill-sorted term")),
            },
            Op::Construct(variant) => {
                let Sort::Sum(sort) = term.sort() else {
                    return Err(Unsupported("ill-sorted term"));
                };
                let fields = args
                    .iter()
                    .map(|a| self.lower(a))
                    .collect::<Lowered<Rc<[_]>>>()?;
                self.make(sort, *variant, fields)?
            }
            Op::Is(variant) => {
                let s = self.sum(&args[0])?;
                Low::Bool(self.is_variant(&s, *variant))
            }
            Op::Get(variant, field) => {
                let s = self.sum(&args[0])?;
                self.get(&s, *variant, *field)?
            }
            Op::Exists(_) | Op::ForAll(_) | Op::ForSome(_) => {
                return Err(Unsupported("a quantifier could not be eliminated"));
            }
            Op::Call(_) => return Err(Unsupported("a function that calls itself")),
        })
    }

    pub(super) fn ite(&mut self, c: Lit, a: &Low, b: &Low) -> Lowered<Low> {
        if c == self.problem.truth {
            return Ok(a.clone());
        }
        if c == !self.problem.truth {
            return Ok(b.clone());
        }
        Ok(match (a, b) {
            (Low::Bool(x), Low::Bool(y)) => Low::Bool(self.problem.ite(c, *x, *y)),
            (Low::Int(x), Low::Int(y)) if x == y => a.clone(),
            (Low::Int(x), Low::Int(y)) => {
                let range = self.problem.range_of(x).hull(&self.problem.range_of(y));
                let v = Lin::atom(self.problem.new_bounded(range.lo, range.hi));
                let (then, otherwise) = (self.problem.eq_int(&v, x), self.problem.eq_int(&v, y));
                self.problem.clause(vec![!c, then]);
                self.problem.clause(vec![c, otherwise]);
                Low::Int(v)
            }
            (Low::Str(x), Low::Str(y)) => {
                let v = Str::Var(self.problem.new_str());
                let (then, otherwise) = (self.problem.eq_str(&v, x), self.problem.eq_str(&v, y));
                self.problem.clause(vec![!c, then]);
                self.problem.clause(vec![c, otherwise]);
                Low::Str(v)
            }
            (Low::Record(x), Low::Record(y)) => Low::Record(
                x.iter()
                    .zip(y.iter())
                    .map(|(a, b)| self.ite(c, a, b))
                    .collect::<Lowered<_>>()?,
            ),
            (Low::Array(x), Low::Array(y)) => {
                Low::Array(Rc::new(Arr::Ite(c, x.clone(), y.clone())))
            }
            (Low::Sum(x), Low::Sum(y)) => Low::Sum(Rc::new(Sum::Ite(c, x.clone(), y.clone()))),
            _ => return Err(Unsupported("ill-sorted term")),
        })
    }

    pub(super) fn equal(&mut self, a: &Low, b: &Low) -> Lowered<Lit> {
        self.spend(1)?;
        Ok(match (a, b) {
            (Low::Bool(x), Low::Bool(y)) => self.problem.iff(*x, *y),
            (Low::Int(x), Low::Int(y)) => self.problem.eq_int(x, y),
            (Low::Str(x), Low::Str(y)) => self.equal_text(x, y),
            (Low::Record(x), Low::Record(y)) => {
                let parts = x
                    .iter()
                    .zip(y.iter())
                    .map(|(a, b)| self.equal(a, b))
                    .collect::<Lowered<Vec<_>>>()?;
                self.problem.and(parts)
            }
            (Low::Array(x), Low::Array(y)) => self.equal_arrays(x, y)?,
            (Low::Sum(x), Low::Sum(y)) => self.equal_sums(x, y)?,
            _ => return Err(Unsupported("ill-sorted term")),
        })
    }
}

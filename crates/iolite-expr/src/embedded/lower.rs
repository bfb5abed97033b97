//! From terms to a [`Problem`]. Enumerations become integers, records their fields, array reads
//! fresh values that agree where indices do (Ackermann), division by constants its definition;
//! what is not linear becomes a [`Definition`].

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::problem::{Definition, Lin, Problem, Str, StrTest};
use super::sat::Lit;
use super::simplex::IntVar;
use crate::regex::Re;
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value, Var, VarId};

/// Longest array that a model may have; a query that needs a longer one is "unknown".
pub(super) const MAX_ARRAY: i64 = 4_096;

/// Longest string constant that is reasoned about, in bytes.
const MAX_TEXT: usize = 20_000;
/// Longest string constant whose substrings are listed.
const MAX_LISTED: usize = 64;

/// A term in the solver's own shape.
#[derive(Clone)]
pub(super) enum Low {
    Bool(Lit),
    Int(Lin),
    Str(Str),
    Record(Rc<[Low]>),
    Array(Rc<Arr>),
}

/// An array.
pub(super) enum Arr {
    Var(usize),
    Items(Vec<Low>, Sort),
    Store(Rc<Arr>, Lin, Low),
    Ite(Lit, Rc<Arr>, Rc<Arr>),
    Append(Rc<Arr>, Rc<Arr>),
    Slice(Rc<Arr>, Lin, Lin),
}

/// An unknown array: its length and the reads made so far.
pub(super) struct ArrVar {
    pub(super) length: IntVar,
    element: Sort,
    pub(super) reads: Vec<(Lin, Low)>,
}

/// Why a term cannot be given to the embedded solver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unsupported(pub(super) &'static str);

pub(super) struct Lowering {
    pub(super) problem: Problem,
    pub(super) vars: FxHashMap<VarId, Low>,
    pub(super) arrays: Vec<ArrVar>,
    memo: FxHashMap<usize, (Term, Low)>,
    bound_arrays: bool,
}

type Lowered<T> = Result<T, Unsupported>;

impl Lowering {
    pub(super) fn new(bound_arrays: bool) -> Self {
        Self {
            problem: Problem::new(),
            vars: FxHashMap::default(),
            arrays: Vec::new(),
            memo: FxHashMap::default(),
            bound_arrays,
        }
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

    fn fresh(&mut self, sort: &Sort) -> Lowered<Low> {
        let bounded = |p: &mut Problem, lo, hi| Low::Int(Lin::atom(p.new_bounded(lo, hi)));
        Ok(match sort {
            Sort::Bool => Low::Bool(self.problem.new_bool()),
            Sort::Int => bounded(&mut self.problem, None, None),
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

    fn value(&self, value: &Value, sort: &Sort) -> Low {
        match value {
            Value::Bool(b) => Low::Bool(self.problem.constant(*b)),
            Value::Int(n) => Low::Int(Lin::constant(n.clone())),
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
        }
    }

    fn lower(&mut self, term: &Term) -> Lowered<Low> {
        match term.kind() {
            Kind::Lit(v) => Ok(self.value(v, term.sort())),
            Kind::Var(v) => self.var(v),
            Kind::App(op, args) => {
                if let Some((_, low)) = self.memo.get(&term.key()) {
                    return Ok(low.clone());
                }
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
            Op::Narrow => self.lower(&args[0])?,
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
            Op::Matches(re) => Low::Bool(match self.str(&args[0])? {
                Str::Lit(text) => self.problem.constant(re.is_match(&text)),
                Str::Var(v) => self.problem.member(v, re.re().clone()),
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
            Op::Exists(_) => return Err(Unsupported("a quantifier could not be eliminated")),
        })
    }

    fn product(&mut self, a: &Lin, b: &Lin) -> Lin {
        if let Some(n) = a.as_constant() {
            return b.scaled(n);
        }
        if let Some(n) = b.as_constant() {
            return a.scaled(n);
        }
        let p = self.problem.new_int();
        let product = Lin::atom(p);
        if a == b {
            // Squares: known from the start, what point lemmas would never tell.
            for l in [
                Lin::constant(Int::ZERO),
                a.clone(),
                a.scaled(&Int::from(-1)),
            ] {
                let lit = self.problem.le(&l, &product);
                self.problem.clause(vec![lit]);
            }
        } else {
            self.sign_lemmas(a, b, &product);
        }
        self.problem.definitions.push(Definition::Product {
            product: p,
            a: a.clone(),
            b: b.clone(),
        });
        product
    }

    fn sign_lemmas(&mut self, a: &Lin, b: &Lin, product: &Lin) {
        let zero = Lin::constant(Int::ZERO);
        let one = Lin::constant(Int::ONE);
        let p = &mut self.problem;
        let (a_pos, b_pos) = (p.le(&one, a), p.le(&one, b));
        let (a_neg, b_neg) = (p.le(&a.plus(&one), &zero), p.le(&b.plus(&one), &zero));
        let minus = |l: &Lin| l.scaled(&Int::from(-1));
        for (s, t, u, v) in [
            (a_pos, b_pos, a.clone(), b.clone()),
            (a_neg, b_neg, minus(a), minus(b)),
        ] {
            // Both of one sign: the product is at least either factor's size.
            for l in [u, v] {
                let ge = p.le(&l, product);
                p.clause(vec![!s, !t, ge]);
            }
        }
        for (s, t, u, v) in [
            (a_pos, b_neg, minus(a), b.clone()),
            (a_neg, b_pos, a.clone(), minus(b)),
        ] {
            for l in [u, v] {
                let le = p.le(product, &l);
                p.clause(vec![!s, !t, le]);
            }
        }
        let product_zero = p.eq_int(product, &zero);
        let a_zero = p.eq_int(a, &zero);
        let b_zero = p.eq_int(b, &zero);
        p.clause(vec![!a_zero, product_zero]);
        p.clause(vec![!b_zero, product_zero]);
    }

    fn quotient(&mut self, a: &Lin, b: &Lin) -> (Lin, Lin) {
        if let (Some(n), Some(d)) = (a.as_constant(), b.as_constant())
            && let Some((q, r)) = n.div_mod(d)
        {
            return (Lin::constant(q), Lin::constant(r));
        }
        if let Some(d) = b.as_constant().filter(|d| !d.is_zero()) {
            let last = d.abs() - Int::ONE;
            let q = Lin::atom(self.problem.new_int());
            let r = Lin::atom(self.problem.new_bounded(Some(Int::ZERO), Some(last)));
            let whole = q.scaled(d).plus(&r);
            let lit = self.problem.eq_int(a, &whole);
            self.problem.clause(vec![lit]);
            return (q, r);
        }
        let quotient = self.problem.new_int();
        let remainder = self.problem.new_bounded(Some(Int::ZERO), None);
        self.problem.definitions.push(Definition::Quotient {
            quotient,
            remainder,
            a: a.clone(),
            b: b.clone(),
        });
        (Lin::atom(quotient), Lin::atom(remainder))
    }

    fn concat(&mut self, parts: Vec<Str>) -> Str {
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

    fn test(&mut self, test: StrTest, a: Str, b: Str) -> Lit {
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

    fn ite(&mut self, c: Lit, a: &Low, b: &Low) -> Lowered<Low> {
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
                let v = Lin::atom(self.problem.new_int());
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
            _ => return Err(Unsupported("ill-sorted term")),
        })
    }

    fn equal(&mut self, a: &Low, b: &Low) -> Lowered<Lit> {
        Ok(match (a, b) {
            (Low::Bool(x), Low::Bool(y)) => self.problem.iff(*x, *y),
            (Low::Int(x), Low::Int(y)) => self.problem.eq_int(x, y),
            (Low::Str(x), Low::Str(y)) => self.problem.eq_str(x, y),
            (Low::Record(x), Low::Record(y)) => {
                let parts = x
                    .iter()
                    .zip(y.iter())
                    .map(|(a, b)| self.equal(a, b))
                    .collect::<Lowered<Vec<_>>>()?;
                self.problem.and(parts)
            }
            (Low::Array(x), Low::Array(y)) => self.equal_arrays(x, y)?,
            _ => return Err(Unsupported("ill-sorted term")),
        })
    }

    fn equal_arrays(&mut self, a: &Rc<Arr>, b: &Rc<Arr>) -> Lowered<Lit> {
        if Rc::ptr_eq(a, b) {
            return Ok(self.problem.truth);
        }
        let (la, lb) = (self.len(a)?, self.len(b)?);
        let same_length = self.problem.eq_int(&la, &lb);
        let known = [&la, &lb]
            .into_iter()
            .find_map(|l| l.as_constant().and_then(Int::to_usize));
        let Some(n) = known.filter(|n| *n <= 64) else {
            // Equality of two unknown arrays: a free literal that implies equal lengths. A model
            // that does not mean it is caught by evaluation and becomes "unknown".
            let lit = self.problem.new_bool();
            self.problem.clause(vec![!lit, same_length]);
            return Ok(lit);
        };
        let mut parts = vec![same_length];
        for i in 0..n {
            let i = Lin::constant(i.into());
            let (x, y) = (self.select(a, &i)?, self.select(b, &i)?);
            parts.push(self.equal(&x, &y)?);
        }
        Ok(self.problem.and(parts))
    }

    fn len(&mut self, a: &Rc<Arr>) -> Lowered<Lin> {
        Ok(match &**a {
            Arr::Var(v) => Lin::atom(self.arrays[*v].length),
            Arr::Items(items, _) => Lin::constant(items.len().into()),
            Arr::Store(a, _, _) => self.len(a)?,
            Arr::Ite(c, x, y) => {
                let (x, y) = (self.len(x)?, self.len(y)?);
                match self.ite(*c, &Low::Int(x), &Low::Int(y))? {
                    Low::Int(l) => l,
                    _ => return Err(Unsupported("ill-sorted term")),
                }
            }
            Arr::Append(x, y) => self.len(x)?.plus(&self.len(y)?),
            Arr::Slice(_, lo, hi) => hi.minus(lo),
        })
    }

    fn select(&mut self, a: &Rc<Arr>, i: &Lin) -> Lowered<Low> {
        match &**a {
            Arr::Var(v) => {
                if let Some((_, low)) = self.arrays[*v].reads.iter().find(|(j, _)| j == i) {
                    return Ok(low.clone());
                }
                let element = self.arrays[*v].element.clone();
                let low = self.fresh(&element)?;
                let before: Vec<(Lin, Low)> = self.arrays[*v].reads.clone();
                for (j, other) in before {
                    let same_index = self.problem.eq_int(i, &j);
                    let same = self.equal(&low, &other)?;
                    self.problem.clause(vec![!same_index, same]);
                }
                self.arrays[*v].reads.push((i.clone(), low.clone()));
                Ok(low)
            }
            Arr::Items(items, element) => {
                if let Some(n) = i.as_constant() {
                    return match n.to_usize().and_then(|n| items.get(n)) {
                        Some(item) => Ok(item.clone()),
                        // Out of range: never read where the term is defined.
                        None => self.fresh(element),
                    };
                }
                if items.len() > 256 {
                    return Err(Unsupported("an unknown index into a long array"));
                }
                let Some(last) = items.last() else {
                    return self.fresh(element);
                };
                let mut low = last.clone();
                for (n, item) in items.iter().enumerate().rev().skip(1) {
                    let here = self.problem.eq_int(i, &Lin::constant(n.into()));
                    low = self.ite(here, item, &low)?;
                }
                Ok(low)
            }
            Arr::Store(b, j, v) => {
                let same = self.problem.eq_int(i, j);
                if same == self.problem.truth {
                    return Ok(v.clone());
                }
                let other = self.select(b, i)?;
                self.ite(same, v, &other)
            }
            Arr::Ite(c, x, y) => {
                let (a, b) = (self.select(x, i)?, self.select(y, i)?);
                self.ite(*c, &a, &b)
            }
            Arr::Append(x, y) => {
                let n = self.len(x)?;
                let first = !self.problem.le(&n, i);
                let (a, b) = (self.select(x, i)?, self.select(y, &i.minus(&n))?);
                self.ite(first, &a, &b)
            }
            Arr::Slice(b, lo, _) => self.select(b, &lo.plus(i)),
        }
    }
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

//! Expressions of the tree as typed terms.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use iolite_expr::{
    Callee, EvalError, Function, Int, MAX_SCALE, Op, Sort as TermSort, SortError, Term, TypeError,
    Value, Var, VarId,
};
use rustc_hash::FxHashMap;

use super::collection::{alike, decimal, decimal_call, joint};
use crate::check::Sorts;
use crate::syntax::ast::{
    ArrayQuantifier, BinaryOp, Expr, ExprKind, File, Name, Sort, SortKind, UnaryOp,
};
use crate::{Diagnostic, Span, codes};

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// Sorts and functions that mention one another deeper than this are cyclic or absurd.
const DEEPEST: u32 = 64;

/// A place as terms carry it.
pub(super) fn place(span: Span) -> iolite_expr::Span {
    match (u32::try_from(span.start), u32::try_from(span.end)) {
        (Ok(start), Ok(end)) => iolite_expr::Span::new(start, end),
        _ => iolite_expr::Span::NONE,
    }
}

/// A place as diagnostics carry it.
pub(super) fn unplace(span: iolite_expr::Span, otherwise: Span) -> Span {
    if span.is_some() {
        Span::new(span.start as usize, span.end as usize)
    } else {
        otherwise
    }
}

pub(super) fn type_error(error: &TypeError, otherwise: Span) -> Diagnostic {
    Diagnostic::error(
        codes::BAD_TERM,
        unplace(error.span, otherwise),
        error.to_string(),
    )
}

fn eval_error(error: &EvalError, otherwise: Span) -> Diagnostic {
    Diagnostic::error(
        codes::BAD_TERM,
        unplace(error.span, otherwise),
        error.to_string(),
    )
}

pub(super) fn sort_error(error: &SortError, span: Span) -> Diagnostic {
    Diagnostic::error(codes::BAD_TERM, span, error.to_string())
}

pub(super) fn literal(value: Value, sort: &TermSort, span: Span) -> Result<Term> {
    Term::literal(value, sort, place(span)).map_err(|e| type_error(&e, span))
}

/// What the names of an expression stand for.
pub(super) type Scope = BTreeMap<String, Term>;

/// Makes terms from the expressions of one file.
pub(super) struct Terms<'f> {
    pub(super) sorts: Sorts<'f>,
    aliases: BTreeMap<&'f str, &'f Sort>,
    /// Built when first called: a body is translated once, however many functions call it.
    functions: RefCell<BTreeMap<String, Function>>,
    /// The functions that call themselves, and those that are being translated.
    pub(super) recursive: RefCell<BTreeMap<String, Callee>>,
    /// Records and enumerations by name: values whose sorts are shared are compared at a glance.
    named: RefCell<FxHashMap<String, TermSort>>,
    /// The sums, once they are met.
    pub(super) sums: RefCell<BTreeMap<String, TermSort>>,
    /// The sums whose group is being made, in the order of the group.
    pub(super) open_sums: RefCell<Vec<String>>,
    /// Variables that quantifiers have bound so far.
    bound: Cell<usize>,
    depth: RefCell<u32>,
}

impl<'f> Terms<'f> {
    pub(super) fn new(file: &'f File) -> Self {
        let aliases = file.items.iter().filter_map(|item| match item {
            crate::syntax::ast::Item::Alias(a) => Some((a.name.text.as_str(), &a.sort)),
            _ => None,
        });
        Self {
            // What is wrong with the declarations was reported when the file was checked.
            sorts: Sorts::new(file, &mut Vec::new()),
            aliases: aliases.collect(),
            functions: RefCell::default(),
            recursive: RefCell::default(),
            named: RefCell::default(),
            sums: RefCell::default(),
            open_sums: RefCell::default(),
            bound: Cell::new(0),
            depth: RefCell::default(),
        }
    }

    fn deeper<T>(&self, span: Span, inner: impl FnOnce() -> Result<T>) -> Result<T> {
        if *self.depth.borrow() >= DEEPEST {
            return Err(Diagnostic::error(
                codes::BAD_TERM,
                span,
                "sorts or functions that contain one another too deeply",
            ));
        }
        *self.depth.borrow_mut() += 1;
        let result = inner();
        *self.depth.borrow_mut() -= 1;
        result
    }

    /// The sort behind what is written.
    pub(super) fn sort(&self, sort: &Sort) -> Result<TermSort> {
        let span = sort.span;
        self.deeper(span, || match &sort.kind {
            SortKind::Bool => Ok(TermSort::Bool),
            SortKind::Int => Ok(TermSort::Int),
            SortKind::String => Ok(TermSort::String),
            SortKind::Range(first, last) => {
                let end = |e: &Expr| match self.value(e, &Scope::new(), Some(&TermSort::Int))? {
                    Value::Int(n) => Ok(n),
                    _ => Err(Diagnostic::error(
                        codes::BAD_TERM,
                        e.span,
                        "the end of a range is a number",
                    )),
                };
                TermSort::range(end(first)?, end(last)?).map_err(|e| sort_error(&e, span))
            }
            SortKind::Array(of) => {
                TermSort::array(self.sort(of)?).map_err(|e| sort_error(&e, span))
            }
            SortKind::Decimal(places) => match places.parse() {
                Ok(places) if (1..=MAX_SCALE).contains(&places) => Ok(TermSort::Decimal(places)),
                _ => Err(Diagnostic::error(
                    codes::BAD_TERM,
                    span,
                    "no number of places",
                )),
            },
            SortKind::Set(of) => TermSort::set(self.sort(of)?).map_err(|e| sort_error(&e, span)),
            SortKind::Map(key, value) => {
                TermSort::map(self.sort(key)?, self.sort(value)?).map_err(|e| sort_error(&e, span))
            }
            SortKind::Name(name) => self.named_sort(name, span),
            SortKind::Error => Err(Diagnostic::error(codes::BAD_TERM, span, "no sort")),
        })
    }

    pub(super) fn named_sort(&self, name: &str, span: Span) -> Result<TermSort> {
        if self.sorts.sum(name).is_some() {
            return self.sum_sort(name, span);
        }
        if let Some(known) = self.named.borrow().get(name) {
            return Ok(known.clone());
        }
        let keep = |sort: TermSort| {
            // Within a group of sums a record may be of members of the group.
            if !sort.is_open() {
                let mut named = self.named.borrow_mut();
                named.insert(name.to_owned(), sort.clone());
            }
            sort
        };
        if let Some(e) = self.sorts.enumeration(name) {
            let values: Vec<&str> = e.values.iter().map(|v| v.text.as_str()).collect();
            let sort = TermSort::enumeration(name, &values);
            return sort.map(keep).map_err(|e| sort_error(&e, span));
        }
        if let Some(r) = self.sorts.record(name) {
            let fields = r
                .fields
                .iter()
                .map(|f| Ok((f.name.text.as_str().into(), self.sort(&f.sort)?)))
                .collect::<Result<Vec<_>>>()?;
            let sort = TermSort::record(name, fields);
            return sort.map(keep).map_err(|e| sort_error(&e, span));
        }
        match self.aliases.get(name) {
            Some(sort) => self.sort(sort),
            None => Err(Diagnostic::error(
                codes::UNKNOWN_SORT,
                span,
                format!("no sort is called `{name}`"),
            )),
        }
    }

    /// The sort that an alias stands for.
    pub(super) fn alias(&self, name: &str) -> Option<&'f Sort> {
        self.aliases.get(name).copied()
    }

    /// The value of an expression without unknowns.
    pub(super) fn value(
        &self,
        expr: &Expr,
        scope: &Scope,
        wanted: Option<&TermSort>,
    ) -> Result<Value> {
        let term = self.term(expr, scope, wanted)?;
        let term = match wanted {
            Some(sort) => term.coerce(sort).map_err(|e| type_error(&e, expr.span))?,
            None => term,
        };
        if !term.is_ground() {
            return Err(Diagnostic::error(
                codes::BAD_TERM,
                expr.span,
                "a value is needed here, and this depends on constants or variables",
            ));
        }
        term.eval(&FxHashMap::default())
            .map_err(|e| eval_error(&e, expr.span))
    }

    /// The term of an expression. `wanted` only tells what sort an empty array has.
    pub(super) fn term(
        &self,
        expr: &Expr,
        scope: &Scope,
        wanted: Option<&TermSort>,
    ) -> Result<Term> {
        let apply = |op: Op, args: Vec<Term>| {
            Term::apply(op, args, place(expr.span)).map_err(|e| type_error(&e, expr.span))
        };
        match &expr.kind {
            ExprKind::Int(digits) => {
                let n: Int = digits.parse().map_err(|_| {
                    Diagnostic::error(codes::BAD_TERM, expr.span, "this is no number")
                })?;
                literal(Value::Int(n), &TermSort::Int, expr.span)
            }
            ExprKind::Decimal(text) => decimal(text, expr.span),
            ExprKind::Bool(b) => literal(Value::Bool(*b), &TermSort::Bool, expr.span),
            ExprKind::Str(text) => literal(Value::str(text), &TermSort::String, expr.span),
            ExprKind::Name(name) => self.name(name, expr.span, scope),
            ExprKind::Unary(op, a) => {
                let op = match op {
                    UnaryOp::Neg => Op::Neg,
                    UnaryOp::Not => Op::Not,
                };
                let a = self.term(a, scope, None)?;
                if let TermSort::Decimal(places) = *a.sort() {
                    let at = place(expr.span);
                    let negative = a.units(at).and_then(|u| Term::apply(op, vec![u], at));
                    let negative = negative.and_then(|u| Term::of_units(u, places, at));
                    return negative.map_err(|e| type_error(&e, expr.span));
                }
                apply(op, vec![a])
            }
            ExprKind::Binary(BinaryOp::In, a, b) => {
                let array = self.term(b, scope, None)?;
                let key = match array.sort() {
                    TermSort::Set(of) => Some((**of).clone()),
                    TermSort::Map(m) => Some(m.0.clone()),
                    _ => None,
                };
                if let Some(key) = key {
                    let item = self.key(a, scope, &key)?;
                    return apply(Op::Has, vec![item, array]);
                }
                let TermSort::Array(element) = array.sort() else {
                    return apply(Op::Len, vec![array]);
                };
                let element = (**element).clone();
                let item = self.key(a, scope, &element)?;
                let x = self.bound_var("x", element);
                let equal = apply(Op::Eq, vec![x.term(), item])?;
                apply(Op::ForSome(x), vec![array, equal])
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = self.pair(a, b, scope, wanted)?;
                let op = match op {
                    BinaryOp::Implies => Op::Implies,
                    BinaryOp::Or => Op::Or,
                    BinaryOp::And => Op::And,
                    BinaryOp::Eq => Op::Eq,
                    BinaryOp::Ne => Op::Ne,
                    BinaryOp::Lt => Op::Lt,
                    BinaryOp::Le => Op::Le,
                    BinaryOp::Gt => Op::Gt,
                    BinaryOp::Ge | BinaryOp::In => Op::Ge,
                    BinaryOp::Concat if *a.sort() == TermSort::String => Op::Concat,
                    BinaryOp::Concat => Op::Append,
                    BinaryOp::Add => Op::Add,
                    BinaryOp::Sub => Op::Sub,
                    BinaryOp::Mul => Op::Mul,
                    BinaryOp::Div => Op::Div,
                    BinaryOp::Mod => Op::Mod,
                };
                if Term::is_decimal_pair(&a, &b) {
                    return Term::decimal_op(op, a, b, place(expr.span))
                        .map_err(|e| type_error(&e, expr.span));
                }
                apply(op, vec![a, b])
            }
            ExprKind::If(c, a, b) => {
                let c = self.term(c, scope, Some(&TermSort::Bool))?;
                let (a, b) = self.pair(a, b, scope, wanted)?;
                let (a, b) = alike(a, b, expr.span)?;
                apply(Op::Ite, vec![c, a, b])
            }
            ExprKind::Call(name, args) => self.call(expr, name, args, scope),
            ExprKind::Is(a, variant) => {
                let a = self.term(a, scope, None)?;
                super::sum::is_variant(&a, variant)
            }
            ExprKind::Match(of, arms) => self.cases(expr, of, arms, scope, wanted),
            ExprKind::Let(name, a, b) => {
                let mut inner = scope.clone();
                inner.insert(name.text.clone(), self.term(a, scope, None)?);
                self.term(b, &inner, wanted)
            }
            ExprKind::Quantified(q, name, a, b) => {
                let mut array = self.term(a, scope, None)?;
                if let TermSort::Map(_) = array.sort() {
                    array = apply(Op::Keys, vec![array])?;
                }
                let (TermSort::Array(element) | TermSort::Set(element)) = array.sort() else {
                    return apply(Op::Len, vec![array]);
                };
                let x = self.bound_var(&name.text, (**element).clone());
                let mut inner = scope.clone();
                inner.insert(name.text.clone(), x.term());
                let body = self.term(b, &inner, Some(&TermSort::Bool))?;
                let op = match q {
                    ArrayQuantifier::ForAll => Op::ForAll(x),
                    ArrayQuantifier::Exists => Op::ForSome(x),
                };
                apply(op, vec![array, body])
            }
            ExprKind::Index(base, index) => {
                let base = self.term(base, scope, None)?;
                if *base.sort() == TermSort::String {
                    return apply(Op::At, vec![base, self.term(index, scope, None)?]);
                }
                if let TermSort::Map(m) = base.sort() {
                    let key = self.key(index, scope, &m.0)?;
                    return apply(Op::Lookup, vec![base, key]);
                }
                apply(Op::Select, vec![base, self.term(index, scope, None)?])
            }
            ExprKind::Field(base, field) => {
                let base = self.term(base, scope, None)?;
                Term::field(base, &field.text, place(expr.span))
                    .map_err(|e| type_error(&e, field.span))
            }
            ExprKind::Array(items) => self.array(expr, items, scope, wanted),
            ExprKind::Set(items) => self.set(expr, items, scope, wanted),
            ExprKind::Map(pairs) => self.map(expr, pairs, scope, wanted),
            ExprKind::Record(name, fields) => self.record(expr, name, fields, scope),
            ExprKind::Error => Err(Diagnostic::error(
                codes::BAD_TERM,
                expr.span,
                "no expression",
            )),
        }
    }

    /// A variable that no other quantifier binds.
    pub(super) fn bound_var(&self, name: &str, sort: TermSort) -> Var {
        let n = self.bound.get();
        self.bound.set(n + 1);
        Var::new(VarId::new(VarId::BOUND_SPACE, n), name, sort)
    }

    fn name(&self, name: &str, span: Span, scope: &Scope) -> Result<Term> {
        if let Some(term) = scope.get(name) {
            return Ok(match term.as_var() {
                Some(var) => var.at(place(span)),
                None => term.clone(),
            });
        }
        if self.sorts.variant(name).is_some() {
            return self.variant(name, Vec::new(), span);
        }
        let value = match self.sorts.value(name) {
            Some(of) => Value::variant(&self.named_sort(of, span)?, name),
            None => None,
        };
        value.map(Term::from).ok_or_else(|| {
            Diagnostic::error(
                codes::UNDECLARED,
                span,
                format!("`{name}` is not declared here"),
            )
        })
    }

    /// Two terms of one sort: an empty array takes the sort of its partner.
    pub(super) fn pair(
        &self,
        a: &Expr,
        b: &Expr,
        scope: &Scope,
        wanted: Option<&TermSort>,
    ) -> Result<(Term, Term)> {
        if matches!(&a.kind, ExprKind::Array(items) | ExprKind::Set(items) if items.is_empty()) {
            let b = self.term(b, scope, wanted)?;
            return Ok((self.term(a, scope, Some(b.sort()))?, b));
        }
        let a = self.term(a, scope, wanted)?;
        let b = self.term(b, scope, Some(a.sort()))?;
        Ok((a, b))
    }

    fn array(
        &self,
        expr: &Expr,
        items: &[Expr],
        scope: &Scope,
        wanted: Option<&TermSort>,
    ) -> Result<Term> {
        let wanted = wanted.filter(|s| matches!(s, TermSort::Array(_)));
        let element = match wanted {
            Some(TermSort::Array(e)) => Some(&**e),
            _ => None,
        };
        let items = items
            .iter()
            .map(|i| self.term(i, scope, element))
            .collect::<Result<Vec<_>>>()?;
        let sort = match (wanted, items.first()) {
            (Some(sort), _) => sort.clone(),
            (None, Some(_)) => {
                TermSort::array(joint(&items)).map_err(|e| sort_error(&e, expr.span))?
            }
            (None, None) => {
                TermSort::array(TermSort::Int).map_err(|e| sort_error(&e, expr.span))?
            }
        };
        Term::array(&sort, items, place(expr.span)).map_err(|e| type_error(&e, expr.span))
    }

    fn record(
        &self,
        expr: &Expr,
        name: &Name,
        fields: &[(Name, Expr)],
        scope: &Scope,
    ) -> Result<Term> {
        if let Some((_, variant)) = self.sorts.variant(&name.text) {
            let mut values = Vec::new();
            for field in &variant.fields {
                let given = fields.iter().find(|(n, _)| n.text == field.name.text);
                let Some((_, value)) = given else {
                    let (name, field) = (&name.text, &field.name.text);
                    let message = format!("variant `{name}` lacks `{field}`");
                    return Err(Diagnostic::error(codes::MISSING_FIELD, expr.span, message));
                };
                let of = self.sort(&field.sort)?;
                values.push(self.term(value, scope, Some(&of))?);
            }
            return self.variant(&name.text, values, expr.span);
        }
        let sort = self.named_sort(&name.text, name.span)?;
        let TermSort::Record(declared) = &sort else {
            return Err(Diagnostic::error(
                codes::UNKNOWN_SORT,
                name.span,
                format!("no record is called `{}`", name.text),
            ));
        };
        let mut values = Vec::new();
        for (field, of) in &declared.fields {
            let given = fields.iter().find(|(n, _)| *n.text == **field);
            let Some((_, value)) = given else {
                return Err(Diagnostic::error(
                    codes::MISSING_FIELD,
                    expr.span,
                    format!("record `{}` lacks `{field}`", name.text),
                ));
            };
            values.push(self.term(value, scope, Some(of))?);
        }
        Term::record(&sort, values, place(expr.span)).map_err(|e| type_error(&e, expr.span))
    }

    fn call(&self, expr: &Expr, name: &Name, args: &[Expr], scope: &Scope) -> Result<Term> {
        let at = place(expr.span);
        let typed = |e: TypeError| type_error(&e, expr.span);
        if let Some((_, variant)) = self.sorts.variant(&name.text)
            && self.sorts.function(&name.text).is_none()
        {
            let terms = args
                .iter()
                .zip(&variant.fields)
                .map(|(a, f)| self.term(a, scope, Some(&self.sort(&f.sort)?)))
                .collect::<Result<Vec<_>>>()?;
            return self.variant(&name.text, terms, expr.span);
        }
        if let Some(callee) = self.recursive(&name.text)? {
            let terms = args
                .iter()
                .zip(callee.params())
                .map(|(a, p)| self.term(a, scope, Some(&p.sort)))
                .collect::<Result<Vec<_>>>()?;
            return Term::call(&callee, terms, at).map_err(typed);
        }
        if let Some(function) = self.function(&name.text)? {
            if args.len() != function.params().len() {
                let message = format!(
                    "`{}` takes {} arguments",
                    name.text,
                    function.params().len()
                );
                return Err(Diagnostic::error(codes::ARITY, expr.span, message));
            }
            let terms = args
                .iter()
                .zip(function.params())
                .map(|(a, p)| self.term(a, scope, Some(&p.sort)))
                .collect::<Result<Vec<_>>>()?;
            return function.call(terms, at).map_err(typed);
        }
        if name.text == "matches"
            && let [text, pattern] = args
        {
            let text = self.term(text, scope, None)?;
            let pattern = self.value(pattern, scope, Some(&TermSort::String))?;
            return Term::matches(text, pattern.as_str().unwrap_or_default(), at).map_err(typed);
        }
        if let Some(term) = self.collection_call(expr, name, args, scope)? {
            return Ok(term);
        }
        let mut terms = Vec::with_capacity(args.len());
        for arg in args {
            let wanted = match (name.text.as_str(), terms.first()) {
                ("store", Some(array)) => match Term::sort(array) {
                    TermSort::Array(e) => Some((**e).clone()),
                    _ => None,
                },
                _ => None,
            };
            terms.push(self.term(arg, scope, wanted.as_ref())?);
        }
        if let Some(term) = decimal_call(&name.text, &terms, at) {
            return term.map_err(typed);
        }
        let op = match (name.text.as_str(), terms.len()) {
            ("abs", 1) => Op::Abs,
            ("min" | "max", 2) => {
                let op = if name.text == "min" { Op::Le } else { Op::Ge };
                let first = Term::apply(op, terms.clone(), at).map_err(typed)?;
                terms.insert(0, first);
                Op::Ite
            }
            ("prefix", 2) => Op::Prefix,
            ("suffix", 2) => Op::Suffix,
            ("contains", 2) => Op::Contains,
            ("len", 1) if *terms[0].sort() == TermSort::String => Op::StrLen,
            ("len", 1) => Op::Len,
            ("store", 3) => Op::Store,
            ("slice", 3) if *terms[0].sort() == TermSort::String => Op::Substring,
            ("slice", 3) => Op::Slice,
            ("at", 2) => Op::At,
            ("indexOf", 2) => Op::IndexOf,
            _ => {
                return Err(Diagnostic::error(
                    codes::UNKNOWN_FUNCTION,
                    name.span,
                    format!(
                        "no function is called `{}` with {} arguments",
                        name.text,
                        args.len()
                    ),
                ));
            }
        };
        Term::apply(op, terms, at).map_err(typed)
    }

    fn function(&self, name: &str) -> Result<Option<Function>> {
        if let Some(known) = self.functions.borrow().get(name) {
            return Ok(Some(known.clone()));
        }
        let Some(declared) = self.sorts.function(name) else {
            return Ok(None);
        };
        let mut params = Vec::new();
        let mut scope = Scope::new();
        for (i, p) in declared.params.iter().enumerate() {
            let id = VarId::new(VarId::FUNCTION_SPACE, i);
            let var = Var::new(id, &p.name.text, self.sort(&p.sort)?);
            scope.insert(p.name.text.clone(), var.term());
            params.push(var);
        }
        let result = self.sort(&declared.result)?;
        let body = self.deeper(declared.name.span, || {
            self.term(&declared.body, &scope, Some(&result))
        })?;
        let function = Function::new(name, params, result, body)
            .map_err(|e| type_error(&e, declared.body.span))?;
        self.functions
            .borrow_mut()
            .insert(declared.name.text.clone(), function.clone());
        Ok(Some(function))
    }
}

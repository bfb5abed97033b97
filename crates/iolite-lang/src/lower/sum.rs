//! Sums and functions that call themselves, as terms know them.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{
    Callee, Op, ResultSort, Signature, Sort as TermSort, SumDeclaration, Term, Value, Var, VarId,
    Variant,
};

use super::collection::alike;
use super::term::{Scope, Terms, place, sort_error, type_error};
use crate::syntax::ast::{
    Arm, Expr, ExprKind, Function, Name, Pattern, PatternKind, Sort, SortKind,
};
use crate::{Diagnostic, Span, codes};

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

impl Terms<'_> {
    /// A declared sum. Sums that contain one another are made together; one whose variants have no
    /// fields is an enumeration.
    pub(super) fn sum_sort(&self, name: &str, span: Span) -> Result<TermSort> {
        let open = self.open_sums.borrow().iter().position(|n| n == name);
        if let Some(member) = open {
            return Ok(TermSort::Member(member as u32));
        }
        if let Some(known) = self.sums.borrow().get(name) {
            return Ok(known.clone());
        }
        let Some(sum) = self.sorts.sum(name) else {
            let message = format!("no sort is called `{name}`");
            return Err(Diagnostic::error(codes::UNKNOWN_SORT, span, message));
        };
        if sum.is_enumeration() {
            let names: Vec<&str> = sum.variants.iter().map(|v| v.name.text.as_str()).collect();
            return TermSort::enumeration(name, &names).map_err(|e| sort_error(&e, span));
        }
        let group = self.group_of(name);
        // What is not in the group must not see its members.
        let outer = self.open_sums.replace(group.clone());
        let declared = group.iter().map(|n| self.declaration(n, span));
        let declared = declared.collect::<Result<Vec<_>>>();
        self.open_sums.replace(outer);
        let sorts = TermSort::sums(declared?).map_err(|e| sort_error(&e, span))?;
        let mut sums = self.sums.borrow_mut();
        sums.extend(group.into_iter().zip(sorts));
        Ok(sums[name].clone())
    }

    /// The sums that this one contains and that contain it, itself first.
    fn group_of(&self, name: &str) -> Vec<String> {
        let reached = self.contained(name);
        let mut group = vec![name.to_owned()];
        for other in &reached {
            let is_sum = self.sorts.sum(other).is_some_and(|s| !s.is_enumeration());
            if other != name && is_sum && self.contained(other).contains(name) {
                group.push(other.clone());
            }
        }
        group
    }

    /// The named sorts in the fields of a sum, and in their fields.
    fn contained(&self, name: &str) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut open = vec![name.to_owned()];
        while let Some(next) = open.pop() {
            let mut sorts: Vec<&Sort> = Vec::new();
            if let Some(sum) = self.sorts.sum(&next) {
                sorts.extend(sum.variants.iter().flat_map(|v| &v.fields).map(|f| &f.sort));
            } else if let Some(record) = self.sorts.record(&next) {
                sorts.extend(record.fields.iter().map(|f| &f.sort));
            } else if let Some(sort) = self.alias(&next) {
                sorts.push(sort);
            }
            for sort in sorts.into_iter().flat_map(Sort::parts) {
                if let SortKind::Name(inner) = &sort.kind
                    && seen.insert(inner.clone())
                {
                    open.push(inner.clone());
                }
            }
        }
        seen
    }

    fn declaration(&self, name: &str, span: Span) -> Result<SumDeclaration> {
        let variants = self.sorts.sum(name).map_or(&[][..], |s| &s.variants);
        let variants = variants.iter().map(|v| {
            let fields = v.fields.iter().map(|f| {
                let sort = self.field_sort(&f.sort, span)?;
                Ok((f.name.text.as_str().into(), sort))
            });
            Ok(Variant {
                name: v.name.text.as_str().into(),
                fields: fields.collect::<Result<_>>()?,
            })
        });
        Ok(SumDeclaration {
            name: name.into(),
            variants: variants.collect::<Result<_>>()?,
        })
    }

    /// The sort of a field, in which the group's sums are members. A sum of another group is closed.
    fn field_sort(&self, sort: &Sort, span: Span) -> Result<TermSort> {
        for inner in sort.parts() {
            if let SortKind::Name(name) = &inner.kind
                && self.sorts.sum(name).is_some()
                && !self.open_sums.borrow().contains(name)
            {
                let outer = self.open_sums.take();
                let made = self.sum_sort(name, span);
                self.open_sums.replace(outer);
                self.sums.borrow_mut().insert(name.clone(), made?);
            }
        }
        self.sort(sort)
    }

    /// A variant of these fields.
    pub(super) fn variant(&self, name: &str, fields: Vec<Term>, span: Span) -> Result<Term> {
        let unknown = || {
            let message = format!("`{name}` is not declared here");
            Diagnostic::error(codes::UNDECLARED, span, message)
        };
        let (sum, _) = self.sorts.variant(name).ok_or_else(unknown)?;
        let sort = self.sum_sort(&sum.name.text, span)?;
        if let TermSort::Enum(_) = &sort {
            return Value::variant(&sort, name)
                .map(Term::from)
                .ok_or_else(unknown);
        }
        let TermSort::Sum(sort) = &sort else {
            return Err(unknown());
        };
        let variant = sort.variant_index(name).ok_or_else(unknown)?;
        let made = Term::construct(sort, variant, fields, place(span));
        made.map_err(|e| type_error(&e, span))
    }

    /// `match`: the last case takes what those before it leave.
    pub(super) fn cases(
        &self,
        expr: &Expr,
        of: &Expr,
        arms: &[Arm],
        scope: &Scope,
        wanted: Option<&TermSort>,
    ) -> Result<Term> {
        let typed = |e| type_error(&e, expr.span);
        let of = self.term(of, scope, None)?;
        let mut bodies: Vec<(Option<Term>, Term)> = Vec::new();
        let mut sort = wanted.cloned();
        for arm in arms {
            let mut inner = scope.clone();
            let mut tests = Vec::new();
            self.take_apart(&of, &arm.pattern, &mut tests, &mut inner)?;
            let test = match tests.len() {
                0 => None,
                _ => Some(Term::all(tests)),
            };
            let body = self.term(&arm.body, &inner, sort.as_ref())?;
            sort.get_or_insert_with(|| body.sort().clone());
            bodies.push((test, body));
        }
        let Some((_, last)) = bodies.pop() else {
            return Err(Diagnostic::error(codes::MATCH_CASES, expr.span, "no case"));
        };
        bodies
            .into_iter()
            .rev()
            .try_fold(last, |rest, (test, body)| {
                let test = test.unwrap_or_else(|| true.into());
                let (body, rest) = alike(body, rest, expr.span)?;
                Term::apply(Op::Ite, vec![test, body, rest], place(expr.span)).map_err(typed)
            })
    }

    /// What a value has to meet so that a pattern takes it, from the outside in, and what names of the
    /// pattern stand for then.
    fn take_apart(
        &self,
        of: &Term,
        pattern: &Pattern,
        tests: &mut Vec<Term>,
        scope: &mut Scope,
    ) -> Result<()> {
        let typed = |e| type_error(&e, pattern.span);
        match &pattern.kind {
            PatternKind::Any => {}
            PatternKind::Literal(literal) => {
                let value = self.term(literal, scope, Some(of.sort()))?;
                let (a, b) = alike(of.clone(), value, pattern.span)?;
                tests.push(Term::apply(Op::Eq, vec![a, b], place(pattern.span)).map_err(typed)?);
            }
            PatternKind::Name(name) if self.is_constructor(&name.text) => {
                tests.push(is_variant(of, name)?);
            }
            PatternKind::Name(name) => {
                scope.insert(name.text.clone(), of.clone());
            }
            PatternKind::Variant(variant, fields) => {
                tests.push(is_variant(of, variant)?);
                let TermSort::Sum(sort) = of.sort() else {
                    return Ok(());
                };
                let Some(v) = sort.variant_index(&variant.text) else {
                    return Ok(());
                };
                for (i, field) in fields.iter().enumerate() {
                    if field.kind == PatternKind::Any {
                        continue;
                    }
                    let get = Op::Get(v, i as u32);
                    let get = Term::apply(get, vec![of.clone()], place(field.span));
                    self.take_apart(&get.map_err(typed)?, field, tests, scope)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a name in a pattern is a variant or a value of an enumeration.
    fn is_constructor(&self, name: &str) -> bool {
        self.sorts.variant(name).is_some() || self.sorts.value(name).is_some()
    }

    /// The function of this name, if it calls itself, directly or through others.
    pub(super) fn recursive(&self, name: &str) -> Result<Option<Callee>> {
        if let Some(known) = self.recursive.borrow().get(name) {
            return Ok(Some(known.clone()));
        }
        let called = |name: &str| {
            let mut seen = BTreeSet::new();
            let mut open = vec![name.to_owned()];
            while let Some(next) = open.pop() {
                let Some(function) = self.sorts.function(&next) else {
                    continue;
                };
                calls(&function.body, &mut |to| {
                    if seen.insert(to.to_owned()) {
                        open.push(to.to_owned());
                    }
                });
            }
            seen
        };
        let reached = called(name);
        if !reached.contains(name) {
            return Ok(None);
        }
        let group: Vec<&Function> = std::iter::once(name)
            .chain(reached.iter().map(String::as_str).filter(|n| *n != name))
            .filter(|n| *n == name || called(n).contains(name))
            .filter_map(|n| self.sorts.function(n))
            .collect();
        let mut members = Vec::new();
        for (i, function) in group.iter().enumerate() {
            let callee = Callee::member(self.signature(function)?, i as u32);
            members.push(callee.clone());
            self.recursive
                .borrow_mut()
                .insert(function.name.text.clone(), callee);
        }
        let bodies = group.iter().zip(members).map(|(function, member)| {
            let params = member.params().iter().zip(&function.params);
            let scope: BTreeMap<String, Term> = params
                .map(|(var, p)| (p.name.text.clone(), var.term()))
                .collect();
            let body = self.term(&function.body, &scope, Some(member.result()))?;
            Ok((member, body))
        });
        let bodies = bodies.collect::<Result<Vec<_>>>();
        let made = bodies.and_then(|bodies| {
            Callee::group(bodies).map_err(|e| type_error(&e, group[0].body.span))
        });
        let mut recursive = self.recursive.borrow_mut();
        for function in &group {
            recursive.remove(&function.name.text);
        }
        for (function, callee) in group.iter().zip(made?) {
            recursive.insert(function.name.text.clone(), callee);
        }
        Ok(recursive.get(name).cloned())
    }

    fn signature(&self, function: &Function) -> Result<Signature> {
        let mut params = Vec::new();
        for (i, p) in function.params.iter().enumerate() {
            let id = VarId::new(VarId::FUNCTION_SPACE, i);
            params.push(Var::new(id, &p.name.text, self.sort(&p.sort)?));
        }
        Ok(Signature {
            name: function.name.text.as_str().into(),
            params,
            result: ResultSort(self.sort(&function.result)?),
        })
    }
}

fn calls(expr: &Expr, found: &mut dyn FnMut(&str)) {
    if let ExprKind::Call(name, _) = &expr.kind {
        found(&name.text);
    }
    expr.parts(&mut |part| calls(part, found));
}

/// Whether a sum is of a variant, or a value of an enumeration this one.
pub(super) fn is_variant(of: &Term, variant: &Name) -> Result<Term> {
    let (at, name) = (place(variant.span), variant.text.as_str());
    let test = match of.sort() {
        TermSort::Sum(sort) => sort
            .variant_index(name)
            .map(|v| Term::apply(Op::Is(v), vec![of.clone()], at)),
        sort => Value::variant(sort, name)
            .map(|v| Term::apply(Op::Eq, vec![of.clone(), Term::from(v)], at)),
    };
    let Some(test) = test else {
        let message = format!("{} has no variant `{name}`", of.sort());
        return Err(Diagnostic::error(
            codes::UNKNOWN_VARIANT,
            variant.span,
            message,
        ));
    };
    test.map_err(|e| type_error(&e, variant.span))
}

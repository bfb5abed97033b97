//! Names in expressions.

use iolite_lang::check::ResolvedSort;
use iolite_lang::syntax::ast::{Arm, Expr, ExprKind, Item, Name, Pattern, PatternKind};

use super::SymbolKind;
use super::builder::{Builder, FieldOf, New};

impl<'f> Builder<'f> {
    /// A name that is bound within an expression or a behaviour, in scope from now on.
    pub(super) fn bind_local(&mut self, name: &'f Name, word: &'static str, sort: ResolvedSort) {
        let detail = match &sort {
            ResolvedSort::Unknown => String::new(),
            sort => format!(": {sort}"),
        };
        let id = self.symbol(New {
            name,
            kind: SymbolKind::Local,
            word,
            detail,
            whole: name.span,
            owner: None,
        });
        self.bind(&name.text, id, sort);
    }

    pub(super) fn expr(&mut self, e: &'f Expr) {
        match &e.kind {
            ExprKind::Name(name) => {
                let local = self.local(name).map(|(id, _)| *id);
                if let Some(id) = local.or_else(|| self.values.get(name.as_str()).copied()) {
                    self.occurs(e.span, name, id);
                }
            }
            ExprKind::Let(name, value, body) => {
                self.expr(value);
                let sort = self.sort_of(value);
                self.bind_local(name, "let", sort);
                self.expr(body);
                self.unbind(&name.text);
            }
            ExprKind::Quantified(_, name, over, body) => {
                self.expr(over);
                let sort = match self.sort_of(over) {
                    ResolvedSort::Array(of) | ResolvedSort::Set(of) | ResolvedSort::Map(of, _) => {
                        *of
                    }
                    _ => ResolvedSort::Unknown,
                };
                self.bind_local(name, "", sort);
                self.expr(body);
                self.unbind(&name.text);
            }
            ExprKind::Call(name, args) => {
                let function = self.items.get(name.text.as_str());
                let function = function.filter(|(_, item)| matches!(item, Item::Function(_)));
                let called = function.map(|(id, _)| *id);
                if let Some(id) = called.or_else(|| self.values.get(name.text.as_str()).copied()) {
                    self.occurs(name.span, &name.text, id);
                }
                for arg in args {
                    self.expr(arg);
                }
            }
            ExprKind::Record(name, fields) => {
                let variant = self.values.get(name.text.as_str()).copied();
                let record = self.items.get(name.text.as_str()).map(|(id, _)| *id);
                let of = match variant {
                    Some(_) => FieldOf::Variant,
                    None => FieldOf::Record,
                };
                if let Some(id) = variant.or(record) {
                    self.occurs(name.span, &name.text, id);
                }
                for (field, value) in fields {
                    self.field(of, &name.text, field);
                    self.expr(value);
                }
            }
            ExprKind::Field(base, field) => {
                self.expr(base);
                match self.sort_of(base) {
                    ResolvedSort::Record(of) => self.field(FieldOf::Record, &of, field),
                    ResolvedSort::Sum(of) => self.field(FieldOf::Sum, &of, field),
                    _ => {}
                }
            }
            ExprKind::Is(of, variant) => {
                self.expr(of);
                self.value_named(variant);
            }
            ExprKind::Match(of, arms) => {
                self.expr(of);
                let sort = self.sort_of(of);
                for arm in arms {
                    self.arm(arm, &sort);
                }
            }
            _ => {
                let mut parts = Vec::new();
                e.parts(&mut |part| parts.push(part));
                for part in parts {
                    self.expr(part);
                }
            }
        }
    }

    fn value_named(&mut self, name: &Name) {
        if let Some(&id) = self.values.get(name.text.as_str()) {
            self.occurs(name.span, &name.text, id);
        }
    }

    fn field(&mut self, of: FieldOf, owner: &str, field: &Name) {
        if let Some(&id) = self.fields.get(&(of, owner, field.text.as_str())) {
            self.occurs(field.span, &field.text, id);
        }
    }

    fn arm(&mut self, arm: &'f Arm, sort: &ResolvedSort) {
        let mut bound = Vec::new();
        self.pattern(&arm.pattern, sort, &mut bound);
        self.expr(&arm.body);
        for name in bound {
            self.unbind(name);
        }
    }

    fn pattern(&mut self, pattern: &'f Pattern, sort: &ResolvedSort, bound: &mut Vec<&'f str>) {
        match &pattern.kind {
            PatternKind::Any => {}
            PatternKind::Literal(literal) => self.expr(literal),
            PatternKind::Name(name) if self.values.contains_key(name.text.as_str()) => {
                self.value_named(name);
            }
            PatternKind::Name(name) => {
                self.bind_local(name, "", sort.clone());
                bound.push(&name.text);
            }
            PatternKind::Variant(name, parts) => {
                self.value_named(name);
                let declared = self.sorts.variant(&name.text);
                let fields = declared.map_or(&[][..], |(_, variant)| &variant.fields);
                for (k, part) in parts.iter().enumerate() {
                    let sort = fields.get(k).map(|f| self.sorts.resolve(&f.sort));
                    self.pattern(part, &sort.unwrap_or(ResolvedSort::Unknown), bound);
                }
            }
        }
    }

    /// The sort of an expression, as far as declarations tell it at once: enough for the fields of what models
    /// have in variables.
    fn sort_of(&self, e: &Expr) -> ResolvedSort {
        use ResolvedSort::{Array, Bool, Enum, Int, Map, Record, String, Sum, Unknown};
        match &e.kind {
            ExprKind::Int(_) => Int,
            ExprKind::Bool(_) | ExprKind::Is(..) | ExprKind::Quantified(..) => Bool,
            ExprKind::Str(_) => String,
            ExprKind::Name(name) => match self.local(name) {
                Some((_, sort)) => sort.clone(),
                None => match (self.sorts.value(name), self.sorts.variant(name)) {
                    (Some(of), _) => Enum(of.to_owned()),
                    (_, Some((sum, _))) => Sum(sum.name.text.clone()),
                    (None, None) => Unknown,
                },
            },
            ExprKind::Index(base, _) => match self.sort_of(base) {
                Array(of) | Map(_, of) => *of,
                String => String,
                _ => Unknown,
            },
            ExprKind::Field(base, field) => {
                let declared = match self.sort_of(base) {
                    Record(of) => self.sorts.record(&of).map(|r| r.fields.as_slice()),
                    // In whatever variant it is, it is of one sort.
                    Sum(of) => self.sorts.sum(&of).and_then(|s| {
                        let mut variants = s.variants.iter().map(|v| v.fields.as_slice());
                        variants.find(|f| f.iter().any(|f| f.name.text == field.text))
                    }),
                    _ => None,
                };
                let mut fields = declared.into_iter().flatten();
                let declared = fields.find(|f| f.name.text == field.text);
                declared.map_or(Unknown, |f| self.sorts.resolve(&f.sort))
            }
            ExprKind::Call(name, args) => {
                if let Some(function) = self.sorts.function(&name.text) {
                    self.sorts.resolve(&function.result)
                } else if let Some((sum, _)) = self.sorts.variant(&name.text) {
                    Sum(sum.name.text.clone())
                } else if matches!(name.text.as_str(), "slice" | "store" | "put" | "remove") {
                    args.first().map_or(Unknown, |first| self.sort_of(first))
                } else {
                    Unknown
                }
            }
            ExprKind::Record(name, _) => match self.sorts.variant(&name.text) {
                Some((sum, _)) => Sum(sum.name.text.clone()),
                None => Record(name.text.clone()),
            },
            ExprKind::Array(items) => {
                let first = items.first().map_or(Unknown, |first| self.sort_of(first));
                Array(Box::new(first))
            }
            ExprKind::If(_, yes, _) => self.sort_of(yes),
            _ => Unknown,
        }
    }
}

//! Values in processes: those of indices and parameters, and of the actions they stand in.

use iolite_expr::{Sort as TermSort, Term, Value};

use super::parts::MOST_COMPONENTS;
use super::term::{Scope, Terms, literal};
use crate::gate::Pattern;
use crate::syntax::ast::{Behaviour, Definition, Expr, Gate, Name, Offer, Param, Sort};
use crate::{Diagnostic, Span, codes};

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// Elements and characters that a value of a process may have: labels and states are made of it.
const MOST_PARTS: usize = 1 << 16;

/// One way in which an action with values can happen.
pub(super) struct Instance {
    pub(super) values: Vec<Value>,
    /// With the variables that the action binds.
    pub(super) scope: Scope,
}

impl Terms<'_> {
    /// The ways in which an action can happen, in order of their values; `None` when there are more
    /// than `most`.
    pub(super) fn instances(
        &self,
        offers: &[Offer],
        scope: &Scope,
        most: usize,
    ) -> Result<Option<Vec<Instance>>> {
        let mut all = vec![Instance {
            values: Vec::new(),
            scope: scope.clone(),
        }];
        for offer in offers {
            let mut longer = Vec::with_capacity(all.len());
            for instance in all {
                match offer {
                    Offer::Value(expr) => {
                        let mut instance = instance;
                        let value = self.small(expr, &instance.scope, None)?;
                        instance.values.push(value);
                        longer.push(instance);
                    }
                    Offer::Variable(param) => {
                        let sort = self.sort(&param.sort)?;
                        let left = most.saturating_sub(longer.len());
                        if sort.cardinality().is_none() {
                            return Err(infinite(&param.name, &sort));
                        }
                        let Some(values) = sort.values(left as u64) else {
                            return Ok(None);
                        };
                        for value in values {
                            let mut values = instance.values.clone();
                            values.push(value.clone());
                            let mut scope = instance.scope.clone();
                            let term = literal(value, &sort, param.name.span)?;
                            scope.insert(param.name.text.clone(), term);
                            longer.push(Instance { values, scope });
                        }
                    }
                }
            }
            all = longer;
        }
        Ok(Some(all))
    }

    /// The scopes in which the names of a choice have values, one for each combination; `None` when
    /// there are more than `most`.
    pub(super) fn choices(
        &self,
        params: &[Param],
        scope: &Scope,
        most: usize,
    ) -> Result<Option<Vec<Scope>>> {
        let offers: Vec<Offer> = params.iter().cloned().map(Offer::Variable).collect();
        let instances = self.instances(&offers, scope, most)?;
        Ok(instances.map(|all| all.into_iter().map(|i| i.scope).collect()))
    }

    /// What `let` binds.
    pub(super) fn bound(&self, sort: Option<&Sort>, value: &Expr, scope: &Scope) -> Result<Term> {
        let sort = sort.map(|s| self.sort(s)).transpose()?;
        let known = self.small(value, scope, sort.as_ref())?;
        match sort.or_else(|| known.sort()) {
            Some(sort) => literal(known, &sort, value.span),
            None => Ok(Term::from(known)),
        }
    }

    /// Gives the names after `accept` the values of an exit.
    pub(super) fn accept(
        &self,
        params: &[Param],
        values: &[Value],
        scope: &mut Scope,
        at: Span,
    ) -> Result<()> {
        if params.len() != values.len() {
            let (n, m) = (values.len(), params.len());
            let message = format!("{n} values are handed on, and {m} accepted");
            return Err(Diagnostic::error(codes::EXIT_VALUES, at, message));
        }
        for (param, value) in params.iter().zip(values) {
            let sort = self.sort(&param.sort)?;
            let term = literal(value.clone(), &sort, param.name.span)?;
            scope.insert(param.name.text.clone(), term);
        }
        Ok(())
    }

    fn small(&self, expr: &Expr, scope: &Scope, wanted: Option<&TermSort>) -> Result<Value> {
        let value = self.value(expr, scope, wanted)?;
        if parts(&value) > MOST_PARTS {
            return Err(Diagnostic::error(
                codes::BAD_TERM,
                expr.span,
                "this value grows too large for a process",
            ));
        }
        Ok(value)
    }

    /// Whether a guard holds.
    pub(super) fn holds(&self, condition: &Expr, scope: &Scope) -> Result<bool> {
        let value = self.value(condition, scope, Some(&TermSort::Bool))?;
        Ok(value.as_bool().unwrap_or_default())
    }

    /// The values of `each`, at least one.
    pub(super) fn indices(
        &self,
        range: &(Box<Expr>, Box<Expr>),
        body: &Behaviour,
        scope: &Scope,
    ) -> Result<Vec<Term>> {
        let span = range.0.span.to(range.1.span);
        let end = |e: &Expr| {
            let value = self.value(e, scope, Some(&TermSort::Int))?;
            Ok(value.as_int().cloned().unwrap_or_default())
        };
        let (first, last) = (end(&range.0)?, end(&range.1)?);
        let values = TermSort::range(first, last)
            .ok()
            .and_then(|sort| sort.values(MOST_COMPONENTS as u64));
        let Some(values) = values else {
            return Err(Diagnostic::error(
                codes::EACH_RANGE,
                span,
                format!("`each` makes between 1 and {MOST_COMPONENTS} instances"),
            )
            .related(body.span, "of this"));
        };
        Ok(values.into_iter().map(Term::from).collect())
    }

    /// What the parameters of a definition stand for in a call at `at`.
    pub(super) fn parameters(
        &self,
        definition: &Definition,
        args: &[(Name, Expr)],
        scope: &Scope,
        at: Span,
    ) -> Result<Scope> {
        let name = &definition.name.text;
        let known = |arg: &Name| definition.params.iter().any(|p| p.name.text == arg.text);
        if let Some((stranger, _)) = args.iter().find(|(arg, _)| !known(arg)) {
            return Err(Diagnostic::error(
                codes::INSTANCE_ARGUMENT,
                stranger.span,
                format!("process `{name}` has no parameter `{}`", stranger.text),
            ));
        }
        let mut inner = Scope::new();
        for param in &definition.params {
            let given = args.iter().find(|(arg, _)| arg.text == param.name.text);
            let Some((_, expr)) = given else {
                return Err(Diagnostic::error(
                    codes::INSTANCE_ARGUMENT,
                    at,
                    format!("process `{name}` needs a value for `{}`", param.name.text),
                )
                .hint(format!("call it: `{name}({} = …)`", param.name.text)));
            };
            let sort = self.sort(&param.sort)?;
            let value = self.small(expr, scope, Some(&sort))?;
            let term = literal(value, &sort, expr.span)?;
            inner.insert(param.name.text.clone(), term);
        }
        Ok(inner)
    }

    /// A gate with its values.
    pub(super) fn pattern(&self, gate: &Gate, scope: &Scope) -> Result<Pattern> {
        let values = gate
            .values
            .iter()
            .flatten()
            .map(|e| self.small(e, scope, None))
            .collect::<Result<Vec<_>>>()?;
        Ok(Pattern::new(&gate.name.text, values))
    }

    pub(super) fn patterns(&self, gates: &[Gate], scope: &Scope) -> Result<Vec<Pattern>> {
        gates.iter().map(|g| self.pattern(g, scope)).collect()
    }

    pub(super) fn pattern_pairs(
        &self,
        pairs: &[(Gate, Gate)],
        scope: &Scope,
    ) -> Result<Vec<(Pattern, Pattern)>> {
        pairs
            .iter()
            .map(|(old, new)| Ok((self.pattern(old, scope)?, self.pattern(new, scope)?)))
            .collect()
    }
}

fn parts(value: &Value) -> usize {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Decimal(..) | Value::Enum(..) => 1,
        Value::Str(text) => text.len(),
        Value::Array(items) => items.iter().map(parts).sum(),
        Value::Set(items) => items.iter().map(parts).sum(),
        Value::Map(pairs) => pairs.iter().map(|(k, v)| parts(k) + parts(v)).sum(),
        Value::Record(_, items) => items.iter().map(parts).sum(),
        Value::Sum(s) => 1 + s.fields().iter().map(parts).sum::<usize>(),
    }
}

fn infinite(name: &Name, sort: &TermSort) -> Diagnostic {
    Diagnostic::error(
        codes::INFINITE_DATA,
        name.span,
        format!(
            "`{}` takes infinitely many values of sort {sort}",
            name.text
        ),
    )
    .hint("give it a range, as in `x: 0..7`")
}

//! User functions.

use std::sync::Arc;

use crate::typing::{Typed, error};
use crate::{Sort, Span, Term, TypeError, TypeErrorKind, Var};

/// A user function without recursion. Calls are inlined: a body can only call functions that
/// exist before it, so there is no way to write a recursion.
#[derive(Clone, Debug)]
pub struct Function {
    name: Arc<str>,
    params: Vec<Var>,
    result: Sort,
    body: Term,
}

impl Function {
    /// A function; the body must not read other variables than the parameters, and is coerced to
    /// the result sort.
    pub fn new(name: &str, params: Vec<Var>, result: Sort, body: Term) -> Result<Self, TypeError> {
        let body = body.coerce(&result)?;
        Ok(Self {
            name: name.into(),
            params,
            result,
            body,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters.
    pub fn params(&self) -> &[Var] {
        &self.params
    }

    /// Its result sort.
    pub fn result(&self) -> &Sort {
        &self.result
    }

    /// The call, inlined.
    pub fn call(&self, args: Vec<Term>, span: Span) -> Typed {
        if args.len() != self.params.len() {
            let kind = TypeErrorKind::Arity {
                expected: self.params.len(),
                found: args.len(),
            };
            return Err(error(kind, span));
        }
        let mut map = crate::Substitution::new();
        for (p, a) in self.params.iter().zip(args) {
            map.insert(p.id, a.coerce(&p.sort)?);
        }
        self.body
            .substitute(&map)
            .map_err(|_| error(TypeErrorKind::TooLarge, span))
    }
}

//! Functions that call themselves.
//!
//! The functions that call one another form a group. Within their bodies a call names a member of the
//! group by number, so that bodies are finite trees; a call outside carries its group along.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::term::{Kind, Op};
use crate::typing::{Typed, error};
use crate::{Sort, Span, Substitution, Term, TermTooLarge, TypeError, TypeErrorKind, Var};

/// What a caller knows of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters.
    pub params: Vec<Var>,
    /// The sort of its value.
    pub result: ResultSort,
}

/// The sort of a function's value. The order of signatures follows names and parameters alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResultSort(pub Sort);

impl PartialOrd for ResultSort {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ResultSort {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        format!("{:?}", self.0).cmp(&format!("{:?}", other.0))
    }
}

/// The functions of a group. A type of its own, so that shared ones are equal at a glance.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Group {
    definitions: Vec<Definition>,
    /// How many of them, from the first, a model states; the others say where those have a value.
    stated: usize,
}

/// A function of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Definition {
    signature: Arc<Signature>,
    body: Term,
}

/// The function that a call calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Callee {
    signature: Arc<Signature>,
    index: u32,
    /// The function of the group that says where this one has a value, if it can fault.
    defined: Option<u32>,
    /// None within the bodies of the group.
    group: Option<Arc<Group>>,
}

impl Callee {
    /// The member `index` of the group that is being defined, for calls in its bodies.
    pub fn member(signature: Signature, index: u32) -> Self {
        Self {
            signature: Arc::new(signature),
            index,
            defined: None,
            group: None,
        }
    }

    /// The functions of a group, from the members that their bodies call and their bodies, in order.
    pub fn group(members: Vec<(Self, Term)>) -> Result<Vec<Self>, TypeError> {
        let count = members.len() as u32;
        let mut bodies = Vec::with_capacity(members.len());
        for (member, body) in &members {
            bodies.push(body.clone().coerce(&member.signature.result.0)?);
        }
        // Guards of a body often rule its faults out, if the calls in it do not fault.
        let sound = |b: &Term| b.is_total() || b.defined().simplify().is_true();
        let total = bodies.iter().all(sound);
        let mut definitions: Vec<Definition> = Vec::new();
        let mut callees: Vec<Self> = Vec::new();
        for ((mut member, _), body) in members.into_iter().zip(bodies) {
            let body = if total {
                body
            } else {
                member.defined = Some(member.index + count);
                body.with_callees(&mut |c| Self {
                    defined: Some(c.index + count),
                    ..c.clone()
                })
            };
            definitions.push(Definition {
                signature: member.signature.clone(),
                body,
            });
            callees.push(member);
        }
        if !total {
            for i in 0..count as usize {
                let body = definitions[i].body.defined().bounded();
                let body = body.map_err(|_| error(TypeErrorKind::TooLarge, Span::NONE))?;
                let signature = callees[i].definedness().signature;
                definitions.push(Definition { signature, body });
            }
        }
        let stated = callees.len();
        let group = Arc::new(Group {
            definitions,
            stated,
        });
        for callee in &mut callees {
            callee.group = Some(group.clone());
        }
        Ok(callees)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.signature.name
    }

    /// Its parameters.
    pub fn params(&self) -> &[Var] {
        &self.signature.params
    }

    /// The sort of its value.
    pub fn result(&self) -> &Sort {
        &self.signature.result.0
    }

    /// Whether no call faults, though it may not end.
    pub fn is_total(&self) -> bool {
        self.defined.is_none()
    }

    /// The function that says where this one does not fault. It faults nowhere itself.
    #[must_use]
    pub fn definedness(&self) -> Self {
        let signature = Signature {
            name: format!("{} is defined", self.signature.name).into(),
            params: self.signature.params.clone(),
            result: ResultSort(Sort::Bool),
        };
        Self {
            signature: Arc::new(signature),
            index: self.defined.unwrap_or(self.index),
            defined: None,
            group: self.group.clone(),
        }
    }

    /// The body, in which calls name members of the group by number; `None` within a body.
    pub fn body(&self) -> Option<&Term> {
        let group = self.group.as_ref()?;
        Some(&group.definitions.get(self.index as usize)?.body)
    }

    /// The functions of its group that a model states, with their bodies; none within a body.
    pub fn definitions(&self) -> impl Iterator<Item = (&Signature, &Term)> {
        let group = self.group.iter();
        let stated = group.flat_map(|g| &g.definitions[..g.stated]);
        stated.map(|d| (&*d.signature, &d.body))
    }

    /// Whether both are functions of one group.
    pub fn is_of_group(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group
    }

    /// The callee of a call in a body, seen from outside.
    #[must_use]
    pub fn outside(&self, caller: &Self) -> Self {
        Self {
            group: self.group.clone().or_else(|| caller.group.clone()),
            ..self.clone()
        }
    }

    /// What a call with these arguments comes to, in one step.
    pub(crate) fn unfolded(&self, args: &[Term]) -> Option<Result<Term, TermTooLarge>> {
        let body = self.body()?;
        let map: Substitution = self
            .params()
            .iter()
            .zip(args)
            .map(|(p, a)| (p.id, a.clone()))
            .collect();
        let closed = body.with_callees(&mut |c| c.outside(self));
        Some(closed.substitute(&map))
    }
}

impl Term {
    /// The call of a function that may call itself.
    pub fn call(callee: &Callee, args: Vec<Self>, span: Span) -> Typed {
        if args.len() != callee.params().len() {
            let kind = TypeErrorKind::Arity {
                expected: callee.params().len(),
                found: args.len(),
            };
            return Err(error(kind, span));
        }
        let args = args
            .into_iter()
            .zip(callee.params())
            .map(|(a, p)| a.coerce(&p.sort))
            .collect::<Result<Vec<_>, _>>()?;
        let sort = callee.result().clone();
        Self::sized(Op::Call(callee.clone()), args, sort, span)
    }

    /// The term with other functions called.
    fn with_callees(&self, change: &mut dyn FnMut(&Callee) -> Callee) -> Self {
        fn go(
            term: &Term,
            change: &mut dyn FnMut(&Callee) -> Callee,
            memo: &mut FxHashMap<usize, Term>,
        ) -> Term {
            let Kind::App(op, args) = term.kind() else {
                return term.clone();
            };
            if !term.unfolds() {
                return term.clone();
            }
            if let Some(done) = memo.get(&term.key()) {
                return done.clone();
            }
            let args: Vec<Term> = args.iter().map(|a| go(a, change, memo)).collect();
            let result = match op {
                Op::Call(c) => {
                    Term::app(Op::Call(change(c)), args, term.sort().clone(), term.span())
                }
                _ => term.with_args(args),
            };
            memo.insert(term.key(), result.clone());
            result
        }
        go(self, change, &mut FxHashMap::default())
    }
}

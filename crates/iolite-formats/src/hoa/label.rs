//! Labels of edges: Boolean expressions over propositions and aliases.

use std::rc::Rc;

use iolite_property::diagram::{Diagrams, Function};
use iolite_property::structure::AutomatonError;
use rustc_hash::FxHashMap;

use super::HoaError;
use super::lex::{Lexer, Token};

const MAX_DEPTH: usize = 200;
/// How deep an expression may go with its aliases written out: it is followed by recursion.
const MAX_NESTED: usize = 1 << 12;

pub(super) type Aliases = FxHashMap<String, Label>;
/// Functions of labels by where these are kept, with the label itself, so that the place stays its own.
pub(super) type LabelMemo = FxHashMap<*const (), (Label, Function)>;

#[derive(Debug)]
enum Guard {
    Constant(bool),
    Proposition(usize),
    Not(Label),
    And(Label, Label),
    Or(Label, Label),
}

/// An expression, shared where aliases repeat it.
#[derive(Clone, Debug)]
pub(super) struct Label {
    guard: Rc<Guard>,
    /// Nodes, shared ones counted each time: what an evaluation costs at most. Aliases of aliases grow fast.
    pub(super) size: usize,
    nested: usize,
    /// Propositions that there must be for it to have a meaning.
    pub(super) propositions: usize,
}

impl Label {
    fn new(guard: Guard, lexer: &Lexer<'_>) -> Result<Self, HoaError> {
        let (size, nested, propositions) = match &guard {
            Guard::Constant(_) => (1, 1, 0),
            Guard::Proposition(p) => (1, 1, p.saturating_add(1)),
            Guard::Not(a) => (a.size.saturating_add(1), a.nested + 1, a.propositions),
            Guard::And(a, b) | Guard::Or(a, b) => (
                a.size.saturating_add(b.size).saturating_add(1),
                a.nested.max(b.nested) + 1,
                a.propositions.max(b.propositions),
            ),
        };
        if nested > MAX_NESTED {
            return Err(lexer.error("label is nested too deep"));
        }
        Ok(Self {
            guard: Rc::new(guard),
            size,
            nested,
            propositions,
        })
    }

    /// The valuations in which it holds, as a function that is 1 there and else 0. What aliases share is made
    /// once: `memo` keeps the labels that it knows.
    pub(super) fn function(
        &self,
        diagrams: &mut Diagrams,
        memo: &mut LabelMemo,
    ) -> Result<Function, AutomatonError> {
        let key = Rc::as_ptr(&self.guard).cast::<()>();
        if let Some((_, known)) = memo.get(&key) {
            return Ok(*known);
        }
        let made = match &*self.guard {
            Guard::Constant(b) => Function::constant(u32::from(*b)),
            Guard::Proposition(p) => {
                let (no, yes) = (Function::constant(0), Function::constant(1));
                diagrams.make(*p as u32, no, yes)?
            }
            Guard::Not(a) => {
                let a = a.function(diagrams, memo)?;
                diagrams.combined(a, a, |x, _| 1 - x)?
            }
            Guard::And(a, b) | Guard::Or(a, b) => {
                let (a, b) = (a.function(diagrams, memo)?, b.function(diagrams, memo)?);
                match &*self.guard {
                    Guard::And(..) => diagrams.combined(a, b, |x, y| x & y)?,
                    _ => diagrams.combined(a, b, |x, y| x | y)?,
                }
            }
        };
        memo.insert(key, (self.clone(), made));
        Ok(made)
    }

    pub(super) fn holds(&self, valuation: &dyn Fn(usize) -> bool) -> bool {
        match &*self.guard {
            Guard::Constant(b) => *b,
            Guard::Proposition(p) => valuation(*p),
            Guard::Not(a) => !a.holds(valuation),
            Guard::And(a, b) => a.holds(valuation) && b.holds(valuation),
            Guard::Or(a, b) => a.holds(valuation) || b.holds(valuation),
        }
    }
}

/// `[…]`, if it is there.
pub(super) fn label(lexer: &mut Lexer<'_>, aliases: &Aliases) -> Result<Option<Label>, HoaError> {
    if !lexer.eat('[')? {
        return Ok(None);
    }
    let value = expression(lexer, aliases, 0)?;
    lexer.expect(']')?;
    Ok(Some(value))
}

pub(super) fn expression(
    lexer: &mut Lexer<'_>,
    aliases: &Aliases,
    depth: usize,
) -> Result<Label, HoaError> {
    let mut all = conjunction(lexer, aliases, depth)?;
    while lexer.eat('|')? {
        let next = conjunction(lexer, aliases, depth)?;
        all = Label::new(Guard::Or(all, next), lexer)?;
    }
    Ok(all)
}

fn conjunction(lexer: &mut Lexer<'_>, aliases: &Aliases, depth: usize) -> Result<Label, HoaError> {
    let mut all = atom(lexer, aliases, depth)?;
    while lexer.eat('&')? {
        let next = atom(lexer, aliases, depth)?;
        all = Label::new(Guard::And(all, next), lexer)?;
    }
    Ok(all)
}

fn atom(lexer: &mut Lexer<'_>, aliases: &Aliases, depth: usize) -> Result<Label, HoaError> {
    if depth > MAX_DEPTH {
        return Err(lexer.error("label is nested too deep"));
    }
    let guard = match lexer.next()? {
        Some(Token::Sign('!')) => Guard::Not(atom(lexer, aliases, depth + 1)?),
        Some(Token::Sign('(')) => {
            let inner = expression(lexer, aliases, depth + 1)?;
            lexer.expect(')')?;
            return Ok(inner);
        }
        Some(Token::Name(n)) if n == "t" => Guard::Constant(true),
        Some(Token::Name(n)) if n == "f" => Guard::Constant(false),
        Some(Token::Number(p)) => Guard::Proposition(p),
        Some(Token::Alias(a)) => {
            let found = aliases.get(&a).cloned();
            return found.ok_or_else(|| lexer.error(format!("unknown alias @{a}")));
        }
        _ => return Err(lexer.error("label expected")),
    };
    Label::new(guard, lexer)
}

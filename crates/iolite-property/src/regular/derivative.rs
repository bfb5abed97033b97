//! Derivatives of regular expressions [Brzozowski 1964].

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::alphabet::{Alphabet, Letter};
use crate::structure::AutomatonError;

use super::{MAX_DEPTH, MAX_STATES, Regular, RegularError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Expr(u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    /// One letter of a set; ∅ is the empty set.
    Letters(Vec<Letter>),
    Epsilon,
    Concat(Expr, Expr),
    /// Sorted, flat, without doubles: what keeps the number of derivatives finite.
    Alt(Vec<Expr>),
    And(Vec<Expr>),
    Star(Expr),
    Not(Expr),
}

/// Expressions, interned and kept similar to a normal form.
pub(super) struct Pool {
    alphabet: Arc<Alphabet>,
    nodes: Vec<Node>,
    nullable: Vec<bool>,
    index: FxHashMap<Node, Expr>,
    derivatives: FxHashMap<(Expr, Letter), Expr>,
}

impl Pool {
    pub(super) fn new(alphabet: Arc<Alphabet>) -> Self {
        Self {
            alphabet,
            nodes: Vec::new(),
            nullable: Vec::new(),
            index: FxHashMap::default(),
            derivatives: FxHashMap::default(),
        }
    }
}

impl Pool {
    pub(super) fn is_nullable(&self, e: Expr) -> bool {
        self.nullable[e.0 as usize]
    }

    fn intern(&mut self, node: Node) -> Expr {
        if let Some(&e) = self.index.get(&node) {
            return e;
        }
        let nullable = |e: &Expr| self.nullable[e.0 as usize];
        let is_nullable = match &node {
            Node::Letters(_) => false,
            Node::Epsilon | Node::Star(_) => true,
            Node::Concat(a, b) => nullable(a) && nullable(b),
            Node::Alt(es) => es.iter().any(nullable),
            Node::And(es) => es.iter().all(nullable),
            Node::Not(e) => !nullable(e),
        };
        let e = Expr(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.nullable.push(is_nullable);
        self.index.insert(node, e);
        e
    }

    fn node(&self, e: Expr) -> &Node {
        &self.nodes[e.0 as usize]
    }

    fn empty(&mut self) -> Expr {
        self.intern(Node::Letters(Vec::new()))
    }

    fn everything(&mut self) -> Expr {
        let empty = self.empty();
        self.intern(Node::Not(empty))
    }

    fn concat(&mut self, a: Expr, b: Expr) -> Expr {
        let empty = self.empty();
        match (self.node(a).clone(), self.node(b)) {
            (Node::Epsilon, _) => b,
            (_, Node::Epsilon) => a,
            _ if a == empty || b == empty => empty,
            // To the right, so that equal expressions meet.
            (Node::Concat(x, y), _) => {
                let rest = self.concat(y, b);
                self.intern(Node::Concat(x, rest))
            }
            _ => self.intern(Node::Concat(a, b)),
        }
    }

    fn alt(&mut self, parts: &[Expr]) -> Expr {
        let (empty, everything) = (self.empty(), self.everything());
        let mut flat = Vec::new();
        for &p in parts {
            match self.node(p) {
                Node::Alt(es) => flat.extend_from_slice(es),
                _ => flat.push(p),
            }
        }
        flat.retain(|&e| e != empty);
        flat.sort_unstable();
        flat.dedup();
        match flat[..] {
            [] => empty,
            [e] => e,
            _ if flat.contains(&everything) => everything,
            _ => self.intern(Node::Alt(flat)),
        }
    }

    fn and(&mut self, parts: &[Expr]) -> Expr {
        let (empty, everything) = (self.empty(), self.everything());
        let mut flat = Vec::new();
        for &p in parts {
            match self.node(p) {
                Node::And(es) => flat.extend_from_slice(es),
                _ => flat.push(p),
            }
        }
        flat.retain(|&e| e != everything);
        flat.sort_unstable();
        flat.dedup();
        match flat[..] {
            [] => everything,
            [e] => e,
            _ if flat.contains(&empty) => empty,
            _ => self.intern(Node::And(flat)),
        }
    }

    fn not(&mut self, e: Expr) -> Expr {
        match *self.node(e) {
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(e)),
        }
    }

    fn star(&mut self, e: Expr) -> Expr {
        match self.node(e) {
            Node::Star(_) | Node::Epsilon => e,
            Node::Letters(ls) if ls.is_empty() => self.intern(Node::Epsilon),
            _ => self.intern(Node::Star(e)),
        }
    }

    pub(super) fn build(&mut self, e: &Regular, depth: usize) -> Result<Expr, RegularError> {
        if depth > MAX_DEPTH * 8 {
            return Err(RegularError::TooDeep);
        }
        let d = depth + 1;
        Ok(match e {
            Regular::Empty => self.empty(),
            Regular::Epsilon => self.intern(Node::Epsilon),
            Regular::Any => {
                let all = self.alphabet.iter().collect();
                self.intern(Node::Letters(all))
            }
            Regular::Symbol(name) => {
                let letter = self
                    .alphabet
                    .letter_of_text(name)
                    .ok_or_else(|| RegularError::UnknownAction(name.clone()))?;
                self.intern(Node::Letters(vec![letter]))
            }
            Regular::Concat(a, b) => {
                let (a, b) = (self.build(a, d)?, self.build(b, d)?);
                self.concat(a, b)
            }
            Regular::Alt(a, b) => {
                let (a, b) = (self.build(a, d)?, self.build(b, d)?);
                self.alt(&[a, b])
            }
            Regular::And(a, b) => {
                let (a, b) = (self.build(a, d)?, self.build(b, d)?);
                self.and(&[a, b])
            }
            Regular::Star(a) => {
                let a = self.build(a, d)?;
                self.star(a)
            }
            Regular::Plus(a) => {
                let a = self.build(a, d)?;
                let star = self.star(a);
                self.concat(a, star)
            }
            Regular::Opt(a) => {
                let (a, eps) = (self.build(a, d)?, self.intern(Node::Epsilon));
                self.alt(&[a, eps])
            }
            Regular::Not(a) => {
                let a = self.build(a, d)?;
                self.not(a)
            }
        })
    }

    pub(super) fn derivative(&mut self, e: Expr, l: Letter) -> Result<Expr, RegularError> {
        if let Some(&d) = self.derivatives.get(&(e, l)) {
            return Ok(d);
        }
        if self.nodes.len() > MAX_STATES * 16 {
            return Err(AutomatonError::TooManyStates(MAX_STATES).into());
        }
        let d = match self.node(e).clone() {
            Node::Letters(ls) if ls.contains(&l) => self.intern(Node::Epsilon),
            Node::Letters(_) | Node::Epsilon => self.empty(),
            Node::Concat(a, b) => {
                let da = self.derivative(a, l)?;
                let first = self.concat(da, b);
                if self.nullable[a.0 as usize] {
                    let second = self.derivative(b, l)?;
                    self.alt(&[first, second])
                } else {
                    first
                }
            }
            Node::Alt(es) => {
                let ds = es
                    .iter()
                    .map(|&e| self.derivative(e, l))
                    .collect::<Result<Vec<_>, _>>()?;
                self.alt(&ds)
            }
            Node::And(es) => {
                let ds = es
                    .iter()
                    .map(|&e| self.derivative(e, l))
                    .collect::<Result<Vec<_>, _>>()?;
                self.and(&ds)
            }
            Node::Star(a) => {
                let da = self.derivative(a, l)?;
                self.concat(da, e)
            }
            Node::Not(a) => {
                let da = self.derivative(a, l)?;
                self.not(da)
            }
        };
        self.derivatives.insert((e, l), d);
        Ok(d)
    }
}

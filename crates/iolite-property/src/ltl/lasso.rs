//! A formula on a lasso word, straight from the meaning of the operators: the slow route that the
//! translation is checked against.

use crate::alphabet::{Alphabet, Letter};
use crate::structure::Lasso;

use super::{Ltl, LtlError, letters};

impl Ltl {
    /// Whether the infinite sequence satisfies the formula.
    pub fn holds(&self, word: &Lasso, alphabet: &Alphabet) -> Result<bool, LtlError> {
        assert!(!word.cycle.is_empty(), "the cycle of a lasso is not empty");
        // With past operators, rounds of the cycle differ until what is remembered repeats: the
        // word is unrolled that far. What past operators say at the end of a round decides the next.
        let mut todo = vec![(self, false)];
        let mut past = Vec::new();
        while let Some((f, inside)) = todo.pop() {
            if inside && f.is_future() {
                return Err(LtlError::FutureInPast);
            }
            if f.is_past() {
                past.push(f);
            }
            todo.extend(f.operands().into_iter().map(|g| (g, inside || f.is_past())));
        }
        let mut all = word.stem.clone();
        let mut ends: Vec<(Vec<bool>, usize)> = Vec::new();
        loop {
            all.extend(&word.cycle);
            let mut end = Vec::new();
            for f in &past {
                let each = f.at_each(&all, 0, alphabet)?;
                end.push(each[all.len() - 1]);
            }
            // The round after the first end like this one begins where this round will lead.
            if let Some((_, back)) = ends.iter().find(|(e, _)| *e == end) {
                return Ok(self.at_each(&all, *back, alphabet)?[0]);
            }
            ends.push((end, all.len()));
        }
    }

    /// The truth at each position; after the last comes position `back` again.
    fn at_each(
        &self,
        word: &[Letter],
        back: usize,
        alphabet: &Alphabet,
    ) -> Result<Vec<bool>, LtlError> {
        let n = word.len();
        let eval = |f: &Self| f.at_each(word, back, alphabet);
        let next = |i: usize| if i + 1 == n { back } else { i + 1 };
        let atom = |name: &String| -> Result<Vec<bool>, LtlError> {
            let holds = letters(alphabet, name)?;
            Ok(word.iter().map(|&l| holds.has(l)).collect())
        };
        // A fixed point over the positions: `start` falls or rises until it is stable.
        let fixed = |start: bool, rule: &dyn Fn(usize, bool) -> bool| {
            let mut value = vec![start; n];
            loop {
                let new: Vec<bool> = (0..n).map(|i| rule(i, value[next(i)])).collect();
                if new == value {
                    return value;
                }
                value = new;
            }
        };
        Ok(match self {
            Self::True => vec![true; n],
            Self::False => vec![false; n],
            Self::Atom(name) => atom(name)?,
            Self::AnyOf(names) => {
                let each = names.iter().map(atom).collect::<Result<Vec<_>, _>>()?;
                (0..n).map(|i| each.iter().any(|v| v[i])).collect()
            }
            Self::Not(f) => eval(f)?.into_iter().map(|v| !v).collect(),
            Self::And(fs) => {
                let each = fs.iter().map(eval).collect::<Result<Vec<_>, _>>()?;
                (0..n).map(|i| each.iter().all(|v| v[i])).collect()
            }
            Self::Or(fs) => {
                let each = fs.iter().map(eval).collect::<Result<Vec<_>, _>>()?;
                (0..n).map(|i| each.iter().any(|v| v[i])).collect()
            }
            Self::Implies(a, b) => {
                let (a, b) = (eval(a)?, eval(b)?);
                (0..n).map(|i| !a[i] || b[i]).collect()
            }
            Self::Iff(a, b) => {
                let (a, b) = (eval(a)?, eval(b)?);
                (0..n).map(|i| a[i] == b[i]).collect()
            }
            Self::Next(f) => {
                let f = eval(f)?;
                (0..n).map(|i| f[next(i)]).collect()
            }
            Self::Eventually(f) => {
                let f = eval(f)?;
                fixed(false, &|i, later| f[i] || later)
            }
            Self::Always(f) => {
                let f = eval(f)?;
                fixed(true, &|i, later| f[i] && later)
            }
            Self::Until(a, b) => {
                let (a, b) = (eval(a)?, eval(b)?);
                fixed(false, &|i, later| b[i] || a[i] && later)
            }
            Self::WeakUntil(a, b) => {
                let (a, b) = (eval(a)?, eval(b)?);
                fixed(true, &|i, later| b[i] || a[i] && later)
            }
            Self::Release(a, b) => {
                let (a, b) = (eval(a)?, eval(b)?);
                fixed(true, &|i, later| b[i] && (a[i] || later))
            }
            // Past operators look back along the word as it is, never around the cycle.
            Self::Previous(a) => {
                let a = eval(a)?;
                (0..n).map(|i| i > 0 && a[i - 1]).collect()
            }
            Self::Once(a) => {
                let a = eval(a)?;
                (0..n).map(|i| a[..=i].iter().any(|&v| v)).collect()
            }
            Self::Historically(a) => {
                let a = eval(a)?;
                (0..n).map(|i| a[..=i].iter().all(|&v| v)).collect()
            }
            Self::Since(a, b) => {
                let (a, b) = (eval(a)?, eval(b)?);
                (0..n)
                    .map(|i| (0..=i).any(|j| b[j] && a[j + 1..=i].iter().all(|&v| v)))
                    .collect()
            }
            Self::StrongRelease(a, b) => {
                let (a, b) = (eval(a)?, eval(b)?);
                fixed(false, &|i, later| b[i] && (a[i] || later))
            }
        })
    }
}

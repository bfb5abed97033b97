//! Parts of strings in the solver's own shape: a string is what comes before, the part, and the rest.

use super::lower::Lowering;
use super::problem::{Lin, Str, StrTest};
use crate::Int;

impl Lowering {
    /// The characters `from` to `to - 1`; anything where there are none such.
    pub(super) fn substring(&mut self, s: &Str, from: &Lin, to: &Lin) -> Str {
        if let (Str::Lit(text), Some(a), Some(b)) = (s, from.as_constant(), to.as_constant())
            && let (Some(a), Some(b)) = (a.to_usize(), b.to_usize())
            && a <= b
        {
            return Str::Lit(text.chars().skip(a).take(b - a).collect());
        }
        let [before, part, behind] = [0; 3].map(|_| Str::Var(self.problem.new_str()));
        let whole = self.concat(vec![before.clone(), part.clone(), behind]);
        let length = self.problem.length(s);
        let inside = vec![
            self.problem.le(&Lin::constant(Int::ZERO), from),
            self.problem.le(from, to),
            self.problem.le(to, &length),
        ];
        let inside = self.problem.and(inside);
        let (before, long) = (self.problem.length(&before), self.problem.length(&part));
        let consequences = [
            self.equal_text(&whole, s),
            self.problem.eq_int(&before, from),
            self.problem.eq_int(&long, &to.minus(from)),
        ];
        for lit in consequences {
            self.problem.clause(vec![!inside, lit]);
        }
        part
    }

    /// Where `part` occurs first, or -1.
    pub(super) fn index_of(&mut self, s: &Str, part: &Str) -> Lin {
        if let (Str::Lit(text), Str::Lit(part)) = (s, part) {
            let at = text.find(part.as_str());
            let at = at.map(|at| Int::from(text[..at].chars().count()));
            return Lin::constant(at.unwrap_or(Int::from(-1)));
        }
        let (zero, one) = (Lin::constant(Int::ZERO), Lin::constant(Int::ONE));
        let at = Lin::atom(self.problem.new_bounded(Some(Int::from(-1)), None));
        let found = self.test(StrTest::Contains, s.clone(), part.clone());
        let natural = self.problem.le(&zero, &at);
        self.problem.clause(vec![!found, natural]);
        self.problem.clause(vec![found, !natural]);
        let long = self.problem.length(part);
        let end = at.plus(&long);
        let here = self.substring(s, &at, &end);
        let inside = self.problem.le(&end, &self.problem.length(s));
        let same = self.equal_text(&here, part);
        self.problem.clause(vec![!found, inside]);
        self.problem.clause(vec![!found, same]);
        // Up to the last character of this occurrence there is none.
        let empty = self.problem.le(&long, &zero);
        let first = self.problem.le(&at, &zero);
        let until = self.substring(s, &zero, &end.minus(&one));
        let earlier = self.test(StrTest::Contains, until, part.clone());
        self.problem.clause(vec![!found, !empty, first]);
        self.problem.clause(vec![!found, empty, !earlier]);
        at
    }
}

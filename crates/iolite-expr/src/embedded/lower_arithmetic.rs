//! Products and quotients in the solver's own shape.

use super::lower::Lowering;
use super::problem::{Definition, Lin};
use super::simplex::IntVar;
use crate::Int;

impl Lowering {
    pub(super) fn product(&mut self, a: &Lin, b: &Lin) -> Lin {
        if let Some(n) = a.as_constant() {
            return b.scaled(n);
        }
        if let Some(n) = b.as_constant() {
            return a.scaled(n);
        }
        let ((x, n), (y, m)) = (self.factor(a), self.factor(b));
        let mut factors = self.factors_of(x);
        factors.extend(self.factors_of(y));
        factors.sort_unstable();
        Lin::atom(self.monomial(&factors)).scaled(&(n * m))
    }

    /// `l = n · x`: a variable for what is left when the common factor is taken out.
    fn factor(&mut self, l: &Lin) -> (IntVar, Int) {
        let Some(first) = l.terms.values().next() else {
            unreachable!("constants are no factors")
        };
        let content = l.content().gcd(&l.constant);
        let n = if first.signum() < 0 {
            -content
        } else {
            content
        };
        let by = |a: &Int| a.div_mod(&n).map_or(Int::ZERO, |(q, _)| q);
        let plain = Lin {
            terms: l.terms.iter().map(|(x, a)| (*x, by(a))).collect(),
            constant: by(&l.constant),
        };
        if plain.constant.is_zero()
            && let Some((x, a)) = plain.terms.first_key_value()
            && plain.terms.len() == 1
            && a.is_one()
        {
            return (*x, n);
        }
        if let Some(x) = self.names.get(&plain) {
            return (*x, n);
        }
        let x = self.problem.new_int();
        let same = self.problem.eq_int(&Lin::atom(x), &plain);
        self.problem.clause(vec![same]);
        self.names.insert(plain, x);
        (x, n)
    }

    fn factors_of(&self, x: IntVar) -> Vec<IntVar> {
        self.factors.get(&x).cloned().unwrap_or_else(|| vec![x])
    }

    /// The product of these variables, which are sorted: one variable, however it was written.
    fn monomial(&mut self, factors: &[IntVar]) -> IntVar {
        if let Some(p) = self.monomials.get(factors) {
            return *p;
        }
        let Some((last, before)) = factors.split_last().filter(|(_, b)| !b.is_empty()) else {
            return factors[0];
        };
        let head = self.monomial(before);
        let (a, b) = (Lin::atom(head), Lin::atom(*last));
        let range = self.problem.range(head).times(self.problem.range(*last));
        let p = self.problem.new_bounded(range.lo, range.hi);
        let product = Lin::atom(p);
        if a == b {
            // Squares: known from the start, what point lemmas would never tell.
            for l in [
                Lin::constant(Int::ZERO),
                a.clone(),
                a.scaled(&Int::from(-1)),
            ] {
                let lit = self.problem.le(&l, &product);
                self.problem.clause(vec![lit]);
            }
        } else {
            self.sign_lemmas(&a, &b, &product);
        }
        let definition = Definition::Product { product: p, a, b };
        self.problem.definitions.push(definition);
        self.monomials.insert(factors.to_vec(), p);
        self.factors.insert(p, factors.to_vec());
        p
    }

    pub(super) fn sign_lemmas(&mut self, a: &Lin, b: &Lin, product: &Lin) {
        let zero = Lin::constant(Int::ZERO);
        let one = Lin::constant(Int::ONE);
        let p = &mut self.problem;
        let (a_pos, b_pos) = (p.le(&one, a), p.le(&one, b));
        let (a_neg, b_neg) = (p.le(&a.plus(&one), &zero), p.le(&b.plus(&one), &zero));
        let minus = |l: &Lin| l.scaled(&Int::from(-1));
        for (s, t, u, v) in [
            (a_pos, b_pos, a.clone(), b.clone()),
            (a_neg, b_neg, minus(a), minus(b)),
        ] {
            // Both of one sign: the product is at least either factor's size.
            for l in [u, v] {
                let ge = p.le(&l, product);
                p.clause(vec![!s, !t, ge]);
            }
        }
        for (s, t, u, v) in [
            (a_pos, b_neg, minus(a), b.clone()),
            (a_neg, b_pos, a.clone(), minus(b)),
        ] {
            for l in [u, v] {
                let le = p.le(product, &l);
                p.clause(vec![!s, !t, le]);
            }
        }
        let product_zero = p.eq_int(product, &zero);
        let a_zero = p.eq_int(a, &zero);
        let b_zero = p.eq_int(b, &zero);
        p.clause(vec![!a_zero, product_zero]);
        p.clause(vec![!b_zero, product_zero]);
    }

    pub(super) fn quotient(&mut self, a: &Lin, b: &Lin) -> (Lin, Lin) {
        if let (Some(n), Some(d)) = (a.as_constant(), b.as_constant())
            && let Some((q, r)) = n.div_mod(d)
        {
            return (Lin::constant(q), Lin::constant(r));
        }
        let key = (a.clone(), b.clone());
        if let Some((q, r)) = self.quotients.get(&key) {
            return (q.clone(), r.clone());
        }
        let result = self.new_quotient(a, b);
        self.quotients.insert(key, result.clone());
        result
    }

    fn new_quotient(&mut self, a: &Lin, b: &Lin) -> (Lin, Lin) {
        if let Some(d) = b.as_constant().filter(|d| !d.is_zero()) {
            let last = d.abs() - Int::ONE;
            let q = Lin::atom(self.problem.new_int());
            let r = Lin::atom(self.problem.new_bounded(Some(Int::ZERO), Some(last)));
            let whole = q.scaled(d).plus(&r);
            let lit = self.problem.eq_int(a, &whole);
            self.problem.clause(vec![lit]);
            return (q, r);
        }
        let quotient = self.problem.new_int();
        let remainder = self.problem.new_bounded(Some(Int::ZERO), None);
        // a = b·q + r and r < |b|, but for division by zero, which is outside every guard that is
        // defined.
        let (zero, one) = (Lin::constant(Int::ZERO), Lin::constant(Int::ONE));
        let rest = Lin::atom(remainder);
        let whole = self.product(b, &Lin::atom(quotient)).plus(&rest);
        let p = &mut self.problem;
        let by_zero = p.eq_int(b, &zero);
        let equal = p.eq_int(a, &whole);
        p.clause(vec![by_zero, equal]);
        for size in [b.clone(), b.scaled(&Int::from(-1))] {
            let is_size = p.le(&one, &size);
            let small = p.le(&rest.plus(&one), &size);
            p.clause(vec![!is_size, small]);
        }
        self.problem.definitions.push(Definition::Quotient {
            quotient,
            remainder,
            a: a.clone(),
            b: b.clone(),
        });
        (Lin::atom(quotient), Lin::atom(remainder))
    }
}

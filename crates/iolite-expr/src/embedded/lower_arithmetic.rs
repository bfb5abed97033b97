//! Products and quotients in the solver's own shape.

use super::lower::Lowering;
use super::problem::{Definition, Lin};
use crate::Int;

impl Lowering {
    pub(super) fn product(&mut self, a: &Lin, b: &Lin) -> Lin {
        if let Some(n) = a.as_constant() {
            return b.scaled(n);
        }
        if let Some(n) = b.as_constant() {
            return a.scaled(n);
        }
        let p = self.problem.new_int();
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
            self.sign_lemmas(a, b, &product);
        }
        self.problem.definitions.push(Definition::Product {
            product: p,
            a: a.clone(),
            b: b.clone(),
        });
        product
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
        self.problem.definitions.push(Definition::Quotient {
            quotient,
            remainder,
            a: a.clone(),
            b: b.clone(),
        });
        (Lin::atom(quotient), Lin::atom(remainder))
    }
}

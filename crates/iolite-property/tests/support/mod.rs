//! Random formulas that several tests draw.

use iolite_property::Ltl;
use proptest::prelude::*;

/// Formulas with past operators over formulas of the present and the past.
pub(crate) fn with_past(atoms: &'static [&'static str]) -> impl Strategy<Value = Ltl> {
    let leaf = prop::sample::select(atoms).prop_map(|a| Ltl::Atom(a.to_owned()));
    let past = leaf.prop_recursive(3, 8, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|a| Ltl::Not(Box::new(a))),
            inner.clone().prop_map(|a| Ltl::Previous(Box::new(a))),
            inner.clone().prop_map(|a| Ltl::Once(Box::new(a))),
            inner.prop_map(|a| Ltl::Historically(Box::new(a))),
            two.clone().prop_map(|(a, b)| Ltl::And(vec![a, b])),
            two.clone()
                .prop_map(|(a, b)| Ltl::Iff(Box::new(a), Box::new(b))),
            two.prop_map(|(a, b)| Ltl::Since(Box::new(a), Box::new(b))),
        ]
    });
    past.prop_recursive(3, 6, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|a| Ltl::Next(Box::new(a))),
            inner.clone().prop_map(|a| Ltl::Eventually(Box::new(a))),
            inner.prop_map(|a| Ltl::Always(Box::new(a))),
            two.clone().prop_map(|(a, b)| Ltl::Or(vec![a, b])),
            two.prop_map(|(a, b)| Ltl::Until(Box::new(a), Box::new(b))),
        ]
    })
}

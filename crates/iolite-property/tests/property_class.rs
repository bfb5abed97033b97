//! The class of finite and infinite sequences together, against the operators of the language view.

use std::sync::Arc;

use iolite_property::ltl::Options;
use iolite_property::{
    Alphabet, Class, Classification, Dfa, Ltl, Operator, Regular, StateId, StateSet,
    StreettAutomaton,
};
use proptest::prelude::*;

prop_compose! {
    fn any_property()(
        n in 1_usize..5,
        rows in prop::collection::vec(prop::collection::vec(0_usize..60, 2), 4),
        pairs in prop::collection::vec((any::<u8>(), any::<u8>()), 0..3),
        finite in prop::option::of(any::<u8>()),
    ) -> StreettAutomaton {
        let sigma = Arc::new(Alphabet::of_names(["a", "b"]).unwrap());
        let rows: Vec<Vec<usize>> =
            rows.iter().take(n).map(|r| r.iter().map(|q| q % n).collect()).collect();
        let list = |bits: u8| (0..n).filter(|i| bits >> i & 1 == 1).collect::<Vec<_>>();
        let pairs: Vec<(Vec<usize>, Vec<usize>)> =
            pairs.iter().map(|&(r, p)| (list(r), list(p))).collect();
        let pairs: Vec<(&[usize], &[usize])> =
            pairs.iter().map(|(r, p)| (&r[..], &p[..])).collect();
        let made = StreettAutomaton::from_rows(sigma, 0, &rows, &pairs).unwrap();
        match finite {
            Some(bits) => made.with_finite(StateSet::of(n, |q| bits >> q.index() & 1 == 1)),
            None => made,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3000, ..ProptestConfig::default() })]

    /// Π = (`X_f(φ)`, X(φ)), both parts compared as languages.
    #[test]
    fn forms(a in any_property()) {
        let class = Classification::new(&a).unwrap();
        let psi = Dfa { structure: a.structure().clone(), accepting: a.finite().clone() };
        let same = |form: &StreettAutomaton| {
            form.finitary_difference(&a).unwrap().is_none()
                && form.infinitary_difference(&a).unwrap().is_none()
        };
        // Of A and E the language view; of R and P the automata view, as some ψ has the form that φ has not: P = ∅, or R = ∅.
        let has_form = |operator: Operator| match operator {
            Operator::Always | Operator::Eventually => same(&operator.apply(&psi).unwrap()),
            Operator::Recurrently | Operator::Persistently => {
                let states: Vec<usize> = a.finite().iter().map(StateId::index).collect();
                let pair: (&[usize], &[usize]) = match operator {
                    Operator::Recurrently => (&states, &[]),
                    _ => (&[], &states),
                };
                let rows: Vec<Vec<usize>> = a
                    .structure()
                    .states()
                    .map(|q| a.structure().row(q).iter().map(|p| p.index()).collect())
                    .collect();
                let sigma = a.structure().alphabet().clone();
                let initial = a.structure().initial().index();
                same(&StreettAutomaton::from_rows(sigma, initial, &rows, &[pair]).unwrap())
            }
        };
        let found = class.property;
        let both = Class::SafetyAndGuarantee;
        prop_assert_eq!(found == both || found == Class::Safety, has_form(Operator::Always));
        prop_assert_eq!(found == both || found == Class::Guarantee, has_form(Operator::Eventually));
        match found {
            Class::Response => prop_assert!(
                has_form(Operator::Recurrently) || class.infinitary.class == Class::Response
            ),
            Class::Persistence => prop_assert!(
                has_form(Operator::Persistently) || class.infinitary.class == Class::Persistence
            ),
            Class::Reactivity(_) => prop_assert!(
                !has_form(Operator::Recurrently) && !has_form(Operator::Persistently)
            ),
            // A Boolean combination of safety and guarantee is one in either part.
            _ => prop_assert!(
                class.infinitary.class.is_within(found) && class.finitary.is_within(found)
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    /// What an operator makes of any language lies in its class.
    #[test]
    fn operators_stay_in_their_class(a in any_property()) {
        let psi = Dfa { structure: a.structure().clone(), accepting: a.finite().clone() };
        for (operator, class) in [
            (Operator::Always, Class::Safety),
            (Operator::Eventually, Class::Guarantee),
            (Operator::Recurrently, Class::Response),
            (Operator::Persistently, Class::Persistence),
        ] {
            let found = Classification::new(&operator.apply(&psi).unwrap()).unwrap().property;
            // A language may be of response and of persistence; response is told then.
            let is_both = (class, found) == (Class::Persistence, Class::Response);
            prop_assert!(found.is_within(class) || is_both, "{operator:?}: {found}");
        }
    }
}

#[test]
fn operators_have_their_class() {
    let sigma = Arc::new(Alphabet::of_names(["a", "b"]).unwrap());
    let psi = Dfa::new(&Regular::parse("(a b)+").unwrap(), &sigma).unwrap();
    for (operator, property, infinitary) in [
        (
            Operator::Eventually,
            Class::Guarantee,
            Class::SafetyAndGuarantee,
        ),
        (Operator::Recurrently, Class::Response, Class::Safety),
    ] {
        let class = Classification::new(&operator.apply(&psi).unwrap()).unwrap();
        assert_eq!(
            (class.property, class.infinitary.class),
            (property, infinitary)
        );
    }
}

#[test]
fn formulas_have_their_class() {
    let sigma = Arc::new(Alphabet::of_names(["a", "b", "c"]).unwrap());
    for (formula, expected) in [
        ("G ! c", Class::Safety),
        ("F c", Class::Guarantee),
        ("X c", Class::Safety),
        ("G !a | F b", Class::Obligation(1)),
        ("G(a -> F b)", Class::Response),
        ("GF b", Class::Response),
        ("GF b & GF c", Class::Response),
        ("GF(b & X b)", Class::Response),
        ("FG ! a", Class::Persistence),
        ("GF a -> GF b", Class::Reactivity(1)),
    ] {
        let f = Ltl::parse(formula, &sigma).unwrap();
        let t = f.translate(&sigma, Options::default()).unwrap();
        let class = Classification::new(&t.automaton).unwrap();
        assert_eq!(class.property, expected, "{formula}");
    }
}

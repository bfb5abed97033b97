//! The examples of \[PROP12\], as tables through one check.
//!
//! The paper's figures are rebuilt from its text: state numbers follow the words of examples 2, 5, 7,
//! 8, 10 and 11 and the XML of figure 18, transitions that the text leaves open are the plainest ones
//! that fit.

use std::sync::Arc;

use iolite_property::class::{finitary, syntactic};
use iolite_property::{
    Alphabet, Basis, CanonicalTester, Class, Determinacy, Dfa, Lasso, Operator, Partition,
    PropertyVerdict as V, Quality, Quiescence, Reading, Regular, Relation, Selection,
    SemanticClass, StateSet, StreettAutomaton, Testability, TesterOptions,
};

/// Rows `"1: a->2 b->sink"`, the first one initial; `* -> q` takes what a row leaves out, and
/// `default` takes the rest.
fn streett(
    letters: &str,
    default: &str,
    rows: &[&str],
    pairs: &[(&str, &str)],
) -> StreettAutomaton {
    let sigma = Arc::new(Alphabet::of_names(letters.split_whitespace()).unwrap());
    let names: Vec<&str> = rows
        .iter()
        .map(|r| r.split(':').next().unwrap().trim())
        .collect();
    let state = |name: &str| {
        names
            .iter()
            .position(|n| *n == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let table: Vec<Vec<usize>> = rows
        .iter()
        .map(|row| {
            let mut next: Vec<Option<usize>> = vec![None; sigma.len()];
            let mut rest = None;
            for step in row.split(':').nth(1).unwrap().split_whitespace() {
                let (letter, to) = step.split_once("->").unwrap();
                if letter == "*" {
                    rest = Some(state(to));
                } else {
                    let l = sigma
                        .letter_of_text(letter)
                        .unwrap_or_else(|| panic!("{letter}"));
                    next[l.index()] = Some(state(to));
                }
            }
            next.into_iter()
                .map(|to| to.or(rest).unwrap_or_else(|| state(default)))
                .collect()
        })
        .collect();
    let list = |text: &str| text.split_whitespace().map(state).collect::<Vec<_>>();
    let pairs: Vec<(Vec<usize>, Vec<usize>)> =
        pairs.iter().map(|(r, p)| (list(r), list(p))).collect();
    let pairs: Vec<(&[usize], &[usize])> = pairs.iter().map(|(r, p)| (&r[..], &p[..])).collect();
    StreettAutomaton::from_rows(sigma, 0, &table, &pairs)
        .unwrap()
        .with_names(names.iter().map(|&n| n.to_owned()).collect())
}

/// Figure 4a and 18 left.
fn pi_1() -> StreettAutomaton {
    let rows = ["1: a->1 b->2 c->3", "2: b->2", "3:"];
    streett("a b c", "3", &rows, &[("", "1 2")])
}

/// Figure 4b and 18 right. The text calls the sink 4 (examples 5 and 7) and 5 (example 8).
fn pi_2() -> StreettAutomaton {
    streett(
        "a b",
        "5",
        &["1: a->2", "2: b->3", "3: *->3", "5:"],
        &[("3", "")],
    )
}

/// Figure 4c.
fn pi_3() -> StreettAutomaton {
    streett(
        "a b",
        "5",
        &["1: a->2", "2: b->3", "3: a->4", "4: b->3", "5:"],
        &[("3", "")],
    )
}

/// Figure 14b.
fn pi_4() -> StreettAutomaton {
    streett(
        "?a !b",
        "1",
        &["1: ?a->2 !b->1", "2: !b->1 ?a->2"],
        &[("1", "")],
    )
}

const OS: &str = "?op-uns ?op-sec ?auth-req ?logout ?maintain !grant !deny !log !crypt !uncrypt";

/// Figure 5: non-secure mode {1, 4}, secure mode {3, 5, 6}, maintenance {9}, waiting {2, 8}, error 7.
/// Denying for ever is excluded by 2 ∉ P; maintenance, where everything is permitted, is good.
fn os() -> StreettAutomaton {
    let rows = [
        "1: ?op-uns->4 ?auth-req->2",
        "2: !deny->1 !grant->3",
        "3: ?op-sec->5 ?logout->1 ?maintain->8",
        "4: !uncrypt->1",
        "5: !log->6",
        "6: !crypt->3",
        "7:",
        "8: !grant->9 !deny->3",
        "9: *->9",
    ];
    streett(OS, "7", &rows, &[("3 9", "1 4")])
}

/// Figure 7a: no secure operation, and no encrypted result, in the non-secure mode.
fn os_1() -> StreettAutomaton {
    let rows = [
        "1: ?op-uns->4 ?auth-req->2 ?op-sec->7 !crypt->7 *->1",
        "2: !deny->1 !grant->3 ?op-sec->7 *->2",
        "3: ?logout->1 *->3",
        "4: !uncrypt->1 !crypt->7 ?op-sec->7 *->4",
        "7:",
    ];
    streett(OS, "7", &rows, &[("", "1 2 3 4")])
}

/// Figure 7c: maintenance is entered, from the secure mode.
fn os_2() -> StreettAutomaton {
    let rows = [
        "1: ?auth-req->2 ?maintain->7 *->1",
        "2: !grant->3 !deny->1 *->2",
        "3: ?maintain->8 ?logout->1 *->3",
        "8: !grant->9 !deny->3 *->8",
        "9: *->9",
        "7:",
    ];
    streett(OS, "7", &rows, &[("9", "")])
}

/// Figure 7b: no secure operation in the non-secure mode, or maintenance with no operation ongoing.
fn os_3() -> StreettAutomaton {
    let rows = [
        "1: ?op-uns->4 ?op-sec->5 ?maintain->9 *->1",
        "4: !uncrypt->1 ?op-sec->7 ?maintain->7 *->4",
        "5: !log->6 ?maintain->7 *->5",
        "6: ?maintain->9 ?op-sec->5 *->6",
        "9: *->9",
        "7:",
    ];
    streett(OS, "7", &rows, &[("9", "1 4")])
}

/// Figure 7d: each secure operation is logged, before the next one.
fn os_4() -> StreettAutomaton {
    let rows = ["1: ?op-sec->2 *->1", "2: !log->1 ?op-sec->7 *->2", "7:"];
    streett(OS, "7", &rows, &[("1", "")])
}

/// Figure 7e: in the end the user is disconnected for good.
fn os_5() -> StreettAutomaton {
    streett(
        OS,
        "1",
        &["1: !grant->3 *->1", "3: ?logout->1 *->3"],
        &[("", "1")],
    )
}

struct Row {
    name: &'static str,
    automaton: StreettAutomaton,
    class: Class,
    /// Testable with respect to inclusion, without and with quiescence (examples 5, 6, 11, 12).
    inclusion: (bool, bool),
    /// Weak verdicts for inclusion too.
    weak: bool,
    /// Testable with respect to non-disjointness (example 7).
    intersection: bool,
    /// States with `fail` and with `weak-pass` in the canonical tester (examples 8 and 9).
    fail: &'static str,
    weak_pass: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |name, automaton, class, inclusion, weak, intersection, fail, weak_pass| Row {
        name,
        automaton,
        class,
        inclusion,
        weak,
        intersection,
        fail,
        weak_pass,
    };
    vec![
        row(
            "Π₁",
            pi_1(),
            Class::Safety,
            (true, true),
            true,
            false,
            "3",
            "",
        ),
        row(
            "Π₂",
            pi_2(),
            Class::Guarantee,
            (true, true),
            true,
            true,
            "5",
            "3",
        ),
        row(
            "Π₃",
            pi_3(),
            Class::Response,
            (true, true),
            true,
            false,
            "5",
            "",
        ),
        row(
            "Π₄",
            pi_4(),
            Class::Response,
            (false, true),
            false,
            false,
            "",
            "",
        ),
        row(
            "Π^op",
            os(),
            Class::Reactivity(1),
            (true, true),
            true,
            true,
            "7",
            "9",
        ),
        row(
            "Π₁^op",
            os_1(),
            Class::Safety,
            (true, true),
            true,
            false,
            "7",
            "",
        ),
        row(
            "Π₂^op",
            os_2(),
            Class::Guarantee,
            (true, true),
            true,
            true,
            "7",
            "9",
        ),
        // Example 7 calls Π₃^op not testable for non-disjointness. Its words ("…, or, the
        // maintenance mode is called") have a guarantee part, and where that is fulfilled the
        // property is satisfied for good, so `pass` can be had; table 2 says the same of R ≠ ∅.
        row(
            "Π₃^op",
            os_3(),
            Class::Obligation(1),
            (true, true),
            true,
            true,
            "7",
            "9",
        ),
        row(
            "Π₄^op",
            os_4(),
            Class::Response,
            (true, true),
            true,
            false,
            "7",
            "",
        ),
        row(
            "Π₅^op",
            os_5(),
            Class::Persistence,
            (false, true),
            false,
            false,
            "",
            "",
        ),
    ]
}

#[test]
fn classes_testability_and_testers() {
    for r in rows() {
        let a = &r.automaton;
        assert_eq!(syntactic(a), r.class, "{}", r.name);
        let semantic = SemanticClass::new(a).unwrap().class;
        match r.name {
            // As sets of infinite sequences, a·b·Σ^ω is decided after two letters, and {(a·b)^ω} is
            // closed: the shapes of figures 4b and 4c show more than there is.
            "Π₂" => assert_eq!(semantic, Class::SafetyAndGuarantee),
            "Π₃" => assert_eq!(semantic, Class::Safety),
            _ => assert_eq!(semantic, r.class, "{}", r.name),
        }
        let ask = |relation, quiescence| {
            Testability::new(a, relation, quiescence, Basis::Partition).unwrap()
        };
        let plain = ask(Relation::Inclusion, false);
        let quiet = ask(Relation::Inclusion, true);
        assert_eq!(
            (plain.is_testable(), quiet.is_testable()),
            r.inclusion,
            "{}",
            r.name
        );
        assert_eq!(plain.is_testable_with_weak_verdicts(), r.weak, "{}", r.name);
        assert_eq!(
            ask(Relation::Equality, false).is_testable(),
            r.inclusion.0,
            "{}",
            r.name
        );
        let dual = ask(Relation::NonDisjointness, false);
        assert_eq!(dual.is_testable(), r.intersection, "{}", r.name);
        assert_eq!(dual.is_testable_with_weak_verdicts(), r.weak, "{}", r.name);
        assert!(
            !ask(Relation::Implementation, false).is_testable(),
            "{}",
            r.name
        );

        let tester = CanonicalTester::new(a, TesterOptions::default()).unwrap();
        let named = |v: V| {
            let names: Vec<&str> = tester
                .with_verdict(v)
                .iter()
                .map(|q| tester.name(q))
                .collect();
            names.join(" ")
        };
        assert_eq!(
            (named(V::Fail), named(V::WeakPass)),
            (r.fail.into(), r.weak_pass.into()),
            "{}",
            r.name
        );

        // Every witness earns its verdict on the tester that observes the same things.
        for relation in [
            Relation::Inclusion,
            Relation::Equality,
            Relation::NonDisjointness,
        ] {
            for quiescence in [false, true] {
                let options = TesterOptions {
                    relation,
                    quiescence,
                    basis: Basis::Partition,
                };
                let tester = CanonicalTester::new(a, options).unwrap();
                for o in ask(relation, quiescence).verdicts {
                    let Ok(w) = o.outcome else { continue };
                    let mut q = tester.structure().after(tester.initial(), &w.word);
                    if let Some(kind) = w.quiescence {
                        q = tester.step_quiescent(q, kind);
                    }
                    assert_eq!(tester.verdict(q), o.verdict, "{} {relation}", r.name);
                }
            }
        }
    }
}

/// Table 1, column of the automata view, on each row.
#[test]
fn tables_1_and_2() {
    for r in rows() {
        let a = &r.automaton;
        let s = a.structure();
        let outside =
            |set: &StateSet, of: &StateSet| set.intersection(&s.co_reach(of).complement());
        let Some(pair) = a.pairs().first() else {
            continue;
        };
        let (rec, per) = (&pair.recurrent, &pair.persistent);
        let (not_rec, not_per) = (rec.complement(), per.complement());
        let (fail, weak_pass) = match r.class {
            Class::Safety => (not_per.clone(), outside(per, &not_per)),
            Class::Guarantee => (outside(&not_rec, rec), rec.clone()),
            Class::Obligation(_) => (
                not_per.intersection(&outside(&not_rec, rec)),
                outside(per, &not_per).union(rec),
            ),
            Class::Response => (outside(&not_rec, rec), outside(rec, &not_rec)),
            Class::Persistence => (outside(&not_per, per), outside(per, &not_per)),
            _ => continue,
        };
        let t = Testability::new(a, Relation::Inclusion, false, Basis::Partition).unwrap();
        assert_eq!(t.witness(V::Fail).is_some(), !fail.is_empty(), "{}", r.name);
        assert_eq!(
            t.witness(V::WeakPass).is_some(),
            !weak_pass.is_empty(),
            "{}",
            r.name
        );
    }
}

type Case = (
    Operator,
    u8,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

#[test]
fn example_1_operators() {
    let sigma = Arc::new(Alphabet::of_names(["a", "b", "c"]).unwrap());
    let psi_1 = Dfa::new(&Regular::parse("a* (b* | c (c|a)* b+)").unwrap(), &sigma).unwrap();
    let two = Arc::new(Alphabet::of_names(["a", "b"]).unwrap());
    let psi_2 = Dfa::new(&Regular::parse("(a b)+").unwrap(), &two).unwrap();
    // Operator, ψ, the finite words as an expression, infinite words in and out.
    let tail = "a* (() | (b | c (a|c)* b) b*)";
    let cases: [Case; 8] = [
        // b^ω is in A(ψ₁) by definition 16 although the example writes a⁺·b^ω.
        (
            Operator::Always,
            1,
            "a* b*",
            &[("", "a"), ("a", "b"), ("", "b")],
            &[("c", "b"), ("a b", "a")],
        ),
        (Operator::Eventually, 1, ".*", &[("", "a"), ("c", "c")], &[]),
        (
            Operator::Recurrently,
            1,
            tail,
            &[("", "a"), ("c a", "b")],
            &[("", "c"), ("b", "a")],
        ),
        (
            Operator::Persistently,
            1,
            tail,
            &[("", "a"), ("c a", "b")],
            &[("", "c"), ("b", "a")],
        ),
        (Operator::Always, 2, "∅", &[], &[("", "a b"), ("", "a")]),
        (
            Operator::Eventually,
            2,
            "a b .*",
            &[("a b", "b")],
            &[("a a", "b")],
        ),
        (
            Operator::Recurrently,
            2,
            "a b (a b)*",
            &[("", "a b")],
            &[("a b", "a")],
        ),
        (Operator::Persistently, 2, "∅", &[], &[("", "a b")]),
    ];
    for (op, which, finite, inside, outside) in cases {
        let (psi, sigma) = if which == 1 {
            (&psi_1, &sigma)
        } else {
            (&psi_2, &two)
        };
        let a = op.apply(psi).unwrap();
        let expected = Dfa::new(&Regular::parse(finite).unwrap(), sigma).unwrap();
        let n = expected.structure.len();
        let as_streett = StreettAutomaton::new(expected.structure.clone(), vec![])
            .unwrap()
            .with_finite(StateSet::of(n, |q| expected.accepting.contains(q)));
        assert_eq!(
            a.finitary_difference(&as_streett).unwrap(),
            None,
            "{op:?}(ψ{which})"
        );
        let lasso = |(stem, cycle): &(&str, &str)| Lasso {
            stem: sigma.word(stem).unwrap(),
            cycle: sigma.word(cycle).unwrap(),
        };
        assert!(
            inside.iter().all(|w| a.accepts_lasso(&lasso(w))),
            "{op:?}(ψ{which})"
        );
        assert!(
            outside.iter().all(|w| !a.accepts_lasso(&lasso(w))),
            "{op:?}(ψ{which})"
        );
    }
}

#[test]
fn example_2_and_3_views_agree() {
    let sigma = pi_1().alphabet().clone();
    let psi_1 = Dfa::new(&Regular::parse("a* (b* | c (c|a)* b+)").unwrap(), &sigma).unwrap();
    let two = pi_2().alphabet().clone();
    let psi_2 = Dfa::new(&Regular::parse("(a b)+").unwrap(), &two).unwrap();
    for (op, psi, figure) in [
        (Operator::Always, &psi_1, pi_1()),
        (Operator::Eventually, &psi_2, pi_2()),
        (Operator::Recurrently, &psi_2, pi_3()),
    ] {
        let a = op.apply(psi).unwrap();
        assert_eq!(a.finitary_difference(&figure).unwrap(), None, "{op:?}");
        assert_eq!(a.infinitary_difference(&figure).unwrap(), None, "{op:?}");
    }
    // Duality (§6.3): the negation of A(ψ) is E of the complement of ψ.
    let not_psi = Dfa {
        accepting: psi_1.accepting.complement(),
        ..psi_1.clone()
    };
    let not = Operator::Always.apply(&psi_1).unwrap().negation().unwrap();
    let dual = Operator::Eventually.apply(&not_psi).unwrap();
    assert_eq!(not.finitary_difference(&dual).unwrap(), None);
    assert_eq!(not.infinitary_difference(&dual).unwrap(), None);
}

#[test]
fn example_4_denial_for_ever_is_rejected() {
    let a = os();
    let sigma = a.alphabet();
    let word = |stem: &str, cycle: &str| Lasso {
        stem: sigma.word(stem).unwrap(),
        cycle: sigma.word(cycle).unwrap(),
    };
    assert!(!a.accepts_lasso(&word("", "?auth-req !deny")));
    assert!(a.accepts_lasso(&word("", "?op-uns !uncrypt")));
    assert!(a.accepts_lasso(&word("?auth-req !grant", "?op-sec !log !crypt")));
    assert!(!a.accepts_lasso(&word("?op-sec", "!log")));
}

#[test]
fn example_10_selection() {
    let tester = CanonicalTester::new(&os_1(), TesterOptions::default()).unwrap();
    // Following the sequences of the example: op-uns first.
    let state = |name: &str| {
        let mut states = tester.structure().states();
        states.find(|&q| tester.name(q) == name).expect("a state")
    };
    let letter = |text: &str| tester.alphabet().letter_of_text(text).expect("a letter");
    let selection = Selection {
        inputs: vec![
            (state("1"), letter("?op-uns")),
            (state("4"), letter("?op-sec")),
        ],
        ..Selection::shortest(V::Fail)
    };
    let case = tester.select_by(&selection).expect("a test case");
    let sigma = case.alphabet();
    let follow = |word: &str| {
        let mut q = iolite_property::StateId::new(0);
        for l in sigma.word(word).unwrap() {
            q = case
                .steps(q)
                .iter()
                .find(|(label, _)| *label == sigma.label(l))
                .expect(word)
                .1;
        }
        case.verdict(q)
    };
    for word in [
        "?op-uns !crypt",
        "?op-uns ?op-sec",
        "?op-uns !uncrypt ?op-uns !crypt",
    ] {
        assert_eq!(follow(word), V::Fail, "{word}");
    }
    assert_eq!(follow("?op-uns !uncrypt"), V::Unknown);
    // The shortest test case plays the forbidden operation at once, and is controllable.
    let short = tester.select(V::Fail);
    for i in 0..short.len() {
        let q = iolite_property::StateId::new(i);
        let inputs = short.steps(q).iter().filter(|(l, _)| {
            short
                .alphabet()
                .text(short.alphabet().letter(*l).unwrap())
                .starts_with('?')
        });
        assert!(inputs.count() <= 1);
        assert!(short.steps(q).is_empty() || short.verdict(q) == V::Unknown);
    }
    let first = short.input(iolite_property::StateId::new(0)).unwrap();
    assert_eq!(short.alphabet().labels().text(first), "?op-sec");
}

#[test]
fn selection_ends_inconclusive_where_the_target_is_lost() {
    // Weak pass needs !x; after !y it is out of reach but nothing is violated for good.
    let a = streett(
        "?go !x !y",
        "w",
        &[
            "w: !x->g !y->l",
            "g: *->g",
            "l: !x->m *->l",
            "m: !x->l *->m",
        ],
        &[("g m", "")],
    );
    let tester = CanonicalTester::new(&a, TesterOptions::default()).unwrap();
    let case = tester.select(V::WeakPass);
    let lost = (0..case.len())
        .map(iolite_property::StateId::new)
        .find(|&q| case.name(q) == "l");
    assert_eq!(case.verdict(lost.unwrap()), V::Inconc);
    assert!(case.steps(lost.unwrap()).is_empty());
}

#[test]
fn example_11_quiescence() {
    let options = TesterOptions {
        quiescence: true,
        ..TesterOptions::default()
    };
    let tester = CanonicalTester::new(&pi_4(), options).unwrap();
    let after = |word: &str| {
        tester
            .structure()
            .after(tester.initial(), &tester.alphabet().word(word).unwrap())
    };
    let verdict = |word: &str| tester.verdict(after(word));
    assert_eq!(verdict("?a !b ?a delta"), V::Fail);
    assert_eq!(verdict("?a !b delta"), V::Unknown);
    assert_eq!(verdict("?a !b delta_d"), V::WeakPass);
    assert_eq!(verdict("?a delta_d"), V::Fail);
    assert_eq!(verdict("?a delta !b"), V::Fail);
    assert_eq!(
        tester.step_quiescent(after("?a"), Quiescence::OutputLock),
        after("?a delta")
    );
    let t = Testability::new(&pi_4(), Relation::Inclusion, true, Basis::Partition).unwrap();
    assert_eq!(
        t.witness(V::Fail).unwrap().show(pi_4().alphabet()),
        "?a·delta_o"
    );
}

/// Figure 16.
#[test]
fn example_12_quiescence_for_the_operating_system() {
    let options = TesterOptions {
        quiescence: true,
        ..TesterOptions::default()
    };
    for (automaton, cases) in [
        (
            os(),
            &[
                ("?auth-req delta", V::Fail),
                ("?auth-req delta_d", V::Fail),
                ("?auth-req !grant ?op-sec delta", V::Fail),
                ("?auth-req !grant ?op-sec !log delta_d", V::Fail),
                ("delta", V::Unknown),
                ("?auth-req !grant delta", V::Unknown),
                ("?auth-req !grant delta_d", V::WeakPass),
                ("?auth-req !grant ?maintain !grant", V::WeakPass),
                ("?logout", V::Fail),
            ][..],
        ),
        (
            os_5(),
            &[
                ("!grant delta", V::Fail),
                ("!grant delta_d", V::Fail),
                ("!grant ?logout delta", V::Unknown),
                ("!grant ?logout delta_d", V::WeakPass),
            ],
        ),
    ] {
        let tester = CanonicalTester::new(&automaton, options).unwrap();
        for (word, verdict) in cases {
            let word = tester.alphabet().word(word).unwrap();
            let q = tester.structure().after(tester.initial(), &word);
            assert_eq!(
                tester.verdict(q),
                *verdict,
                "{}",
                tester.alphabet().show(&word)
            );
        }
    }
}

#[test]
fn non_disjointness_is_the_dual_of_inclusion_in_the_negation() {
    for r in rows() {
        let not = r.automaton.negation().unwrap();
        for quiescence in [false, true] {
            let build = |a: &StreettAutomaton, relation| {
                let options = TesterOptions {
                    relation,
                    quiescence,
                    basis: Basis::Partition,
                };
                CanonicalTester::new(a, options).unwrap()
            };
            let (x, y) = (
                build(&r.automaton, Relation::NonDisjointness),
                build(&not, Relation::Inclusion),
            );
            let (product, meaning) = x.structure().product(y.structure(), usize::MAX).unwrap();
            for q in product.states() {
                let (p, q) = meaning[q.index()];
                let dual = match y.verdict(q) {
                    V::Fail => V::Pass,
                    V::WeakPass => V::WeakFail,
                    v => v,
                };
                assert_eq!(x.verdict(p), dual, "{}", r.name);
            }
        }
    }
}

/// Where definition 1 and the partition part; see the documentation of `determinacy`.
#[test]
fn lemma_1_does_not_hold_as_stated() {
    let check = |a: &StreettAutomaton, quality: Quality, positive: bool, negative: bool| {
        let q = a.structure().initial();
        assert_eq!(Partition::new(a).quality(q), quality);
        let one = Determinacy::new(a, Reading::Infinite).unwrap();
        assert_eq!(
            (one.positive.contains(q), one.negative.contains(q)),
            (positive, negative)
        );
        let two = Determinacy::new(a, Reading::FiniteAndInfinite).unwrap();
        assert!(!two.positive.contains(q) && !two.negative.contains(q));
        assert!(Determinacy::parting(a).unwrap().contains(&q));
    };
    let chain = ["1: a->2", "2: a->2"];
    check(
        &streett("a", "1", &chain, &[("2", "")]),
        Quality::CurrentlyBad,
        true,
        false,
    );
    check(
        &streett("a", "1", &chain, &[("", "1")]),
        Quality::CurrentlyGood,
        false,
        true,
    );
    let turn = streett("a", "1", &["1: a->2", "2: a->1"], &[("1", ""), ("2", "")]);
    check(&turn, Quality::Bad, true, false);
}

#[test]
fn the_trivial_properties() {
    let everything = streett("a b", "1", &["1:"], &[("", "1")]);
    let nothing = streett("a b", "1", &["1:"], &[("", "")]);
    let ask = |a, r| Testability::new(a, r, false, Basis::Partition).unwrap();
    let empty = |t: &Testability, v| t.witness(v).is_some_and(|w| w.word.is_empty());
    assert!(empty(&ask(&everything, Relation::Inclusion), V::Pass));
    assert!(!ask(&everything, Relation::Equality).is_testable());
    assert!(empty(&ask(&nothing, Relation::Inclusion), V::Fail));
    // §6.3: (∅, ∅) never leads to pass.
    let dual = ask(&nothing, Relation::NonDisjointness);
    assert!(dual.witness(V::Pass).is_none() && empty(&dual, V::Fail));
    // One finite branch is implemented as soon as it is seen; two are not.
    let branch = streett(
        "a b",
        "x",
        &["1: a->2", "2: b->3", "3:", "x:"],
        &[("", "1 3")],
    );
    let t = ask(&branch, Relation::Implementation);
    assert_eq!(t.witness(V::Pass).unwrap().show(branch.alphabet()), "a·b");
    let fork = streett("a b", "x", &["1: a->2 b->2", "2:", "x:"], &[("", "1 2")]);
    assert!(!ask(&fork, Relation::Implementation).is_testable());
}

#[test]
fn finitary_and_infinitary_parts_may_differ() {
    let a = streett("a", "1", &["1: a->2", "2: a->2"], &[("2", "")]);
    assert_eq!(
        SemanticClass::new(&a).unwrap().class,
        Class::SafetyAndGuarantee
    );
    assert_eq!(finitary(&a), Class::Guarantee);
}

//! Random Streett automata: every fast answer against one written from the definitions, on lasso
//! words that cover all sets of states a run can visit infinitely often.

use std::sync::Arc;

use iolite_property::acceptance::{AcceptanceFormula, Colours};
use iolite_property::class::{finitary, syntactic};
use iolite_property::ltl::Options;
use iolite_property::minimisation::DEFAULT_STEPS;
use iolite_property::{
    Alphabet, Class, Determinacy, Lasso, Letter, Ltl, Minimised, Normalised, OmegaAutomaton, Pair,
    Partition, Quality, Reading, SemanticClass, StateId, StateSet, StreettAutomaton, Structure,
};
use proptest::prelude::*;

fn automaton(n: usize, rows: &[Vec<usize>], pairs: &[(u8, u8)]) -> StreettAutomaton {
    let sigma = Arc::new(Alphabet::of_names(["a", "b"]).unwrap());
    let rows: Vec<Vec<usize>> = rows
        .iter()
        .take(n)
        .map(|r| r.iter().map(|q| q % n).collect())
        .collect();
    let list = |bits: u8| (0..n).filter(|i| bits >> i & 1 == 1).collect::<Vec<_>>();
    let pairs: Vec<(Vec<usize>, Vec<usize>)> =
        pairs.iter().map(|&(r, p)| (list(r), list(p))).collect();
    let pairs: Vec<(&[usize], &[usize])> = pairs.iter().map(|(r, p)| (&r[..], &p[..])).collect();
    StreettAutomaton::from_rows(sigma, 0, &rows, &pairs).unwrap()
}

prop_compose! {
    fn any_streett()(
        n in 1_usize..6,
        rows in prop::collection::vec(prop::collection::vec(0_usize..60, 2), 5),
        pairs in prop::collection::vec((any::<u8>(), any::<u8>()), 0..5),
    ) -> StreettAutomaton {
        automaton(n, &rows, &pairs)
    }
}

/// For every set S that some run from `from` visits infinitely often, a lasso that does.
fn lassos(a: &StreettAutomaton, from: StateId) -> Vec<(StateSet, Lasso)> {
    let s = a.structure();
    let n = s.len();
    let mut found = Vec::new();
    for bits in 1_u32..1 << n {
        let set = StateSet::of(n, |q| bits >> q.index() & 1 == 1);
        let Some(stem) = s.shortest(from, &set) else {
            continue;
        };
        let start = s.after(from, &stem);
        // A closed walk through all of S inside S.
        let inside = |q: StateId, l: Letter| set.contains(q) && set.contains(s.step(q, l));
        let single = |q: StateId| StateSet::of(n, |p| p == q);
        let mut cycle = Vec::new();
        let mut at = start;
        let mut ok = true;
        for target in set.iter().chain([start]) {
            match s.shortest_within(at, &single(target), inside) {
                Some(w) => {
                    at = target;
                    cycle.extend(w);
                }
                None => ok = false,
            }
        }
        if ok && cycle.is_empty() {
            // S = {start}: a self-loop is needed.
            match s.alphabet().iter().find(|&l| s.step(start, l) == start) {
                Some(l) => cycle.push(l),
                None => ok = false,
            }
        }
        if ok {
            let lasso = Lasso { stem, cycle };
            assert_eq!(lasso.vinf(s, from), set);
            found.push((set, lasso));
        }
    }
    found
}

fn words(max: usize) -> Vec<Vec<Letter>> {
    let mut all = vec![vec![]];
    let mut layer = all.clone();
    for _ in 0..max {
        layer = layer
            .iter()
            .flat_map(|w| (0..2).map(move |l| [&w[..], &[Letter::new(l)]].concat()))
            .collect();
        all.extend(layer.clone());
    }
    all
}

fn small_lassos() -> Vec<Lasso> {
    let mut all = Vec::new();
    for stem in words(3) {
        for cycle in words(4).into_iter().filter(|c| !c.is_empty()) {
            all.push(Lasso {
                stem: stem.clone(),
                cycle,
            });
        }
    }
    all
}

fn from_state(a: &StreettAutomaton, q: StateId) -> Vec<(StateSet, bool)> {
    // Acceptance from q on, by shifting the initial state.
    let k = a.alphabet().len();
    let rows: Vec<Vec<usize>> = a
        .structure()
        .states()
        .map(|p| {
            (0..k)
                .map(|l| a.structure().step(p, Letter::new(l)).index())
                .collect()
        })
        .collect();
    let pairs: Vec<(Vec<usize>, Vec<usize>)> = a
        .pairs()
        .iter()
        .map(|p| {
            let list = |s: &StateSet| s.iter().map(StateId::index).collect();
            (list(&p.recurrent), list(&p.persistent))
        })
        .collect();
    let pairs: Vec<(&[usize], &[usize])> = pairs.iter().map(|(r, p)| (&r[..], &p[..])).collect();
    let moved =
        StreettAutomaton::from_rows(a.alphabet().clone(), q.index(), &rows, &pairs).unwrap();
    lassos(&moved, q)
        .into_iter()
        .map(|(s, w)| (s, moved.accepts_lasso(&w)))
        .collect()
}

/// The class from the definitions of the hierarchy, over all sets that runs visit infinitely often.
fn slow_class(a: &StreettAutomaton) -> (Class, usize) {
    let loops: Vec<(StateSet, bool)> = lassos(a, a.structure().initial())
        .into_iter()
        .map(|(s, w)| (s, a.accepts_lasso(&w)))
        .collect();
    let reaches = |x: &StateSet, y: &StateSet| {
        !a.structure()
            .reach(x.iter().next().unwrap())
            .intersection(y)
            .is_empty()
    };
    let live =
        |x: &StateSet, verdict: bool| loops.iter().any(|(y, v)| *v == verdict && reaches(x, y));
    // Safety: a rejected sequence has a prefix after which nothing is accepted.
    let safety = loops.iter().all(|(x, v)| *v || !live(x, true));
    let guarantee = loops.iter().all(|(x, v)| !*v || !live(x, false));
    let nested = |inner: bool| {
        loops
            .iter()
            .any(|(x, v)| *v == inner && loops.iter().any(|(y, w)| *w != inner && x.is_subset(y)))
    };
    let response = !nested(true);
    let persistence = !nested(false);
    let chain = |by_inclusion: bool, counted: bool| {
        // Longest chain by simple search: the relation "strictly after" on loops is acyclic for
        // alternating verdicts where it is used.
        fn longest(
            i: usize,
            loops: &[(StateSet, bool)],
            next: &dyn Fn(usize, usize) -> bool,
            counted: bool,
        ) -> usize {
            let below = (0..loops.len())
                .filter(|&j| loops[j].1 != loops[i].1 && next(i, j))
                .map(|j| longest(j, loops, next, counted))
                .max()
                .unwrap_or(0);
            below + usize::from(loops[i].1 == counted)
        }
        let next = |i: usize, j: usize| {
            if by_inclusion {
                loops[i].0 != loops[j].0 && loops[i].0.is_subset(&loops[j].0)
            } else {
                reaches(&loops[i].0, &loops[j].0)
            }
        };
        (0..loops.len())
            .map(|i| longest(i, &loops, &next, counted))
            .max()
            .unwrap_or(0)
    };
    if response && persistence {
        let class = match (safety, guarantee) {
            (true, true) => Class::SafetyAndGuarantee,
            (true, false) => Class::Safety,
            (false, true) => Class::Guarantee,
            (false, false) => Class::Obligation(chain(false, false)),
        };
        return (class, chain(false, true));
    }
    assert!(!safety && !guarantee);
    let class = match (response, persistence) {
        (true, _) => Class::Response,
        (_, true) => Class::Persistence,
        _ => Class::Reactivity(chain(true, false)),
    };
    (class, chain(true, true))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn classification(a in any_streett()) {
        let fast = SemanticClass::new(&a).unwrap();
        let (class, disjuncts) = slow_class(&a.reachable_part());
        prop_assert_eq!(fast.class, class);
        prop_assert_eq!(fast.disjuncts, disjuncts);
        prop_assert!(class.is_within(syntactic(&a)), "{} in {}", class, syntactic(&a));
    }

    #[test]
    fn partition_and_determinacy(a in any_streett()) {
        let partition = Partition::new(&a);
        let one = Determinacy::new(&a, Reading::Infinite).unwrap();
        let two = Determinacy::new(&a, Reading::FiniteAndInfinite).unwrap();
        for q in a.structure().states() {
            // Words up to |Q| reach all that can be reached.
            let ends: Vec<bool> = words(a.structure().len())
                .iter()
                .map(|w| a.finite().contains(a.structure().after(q, w)))
                .collect();
            let quality = match (ends[0], ends.iter().all(|&e| e), ends.iter().any(|&e| e)) {
                (true, true, _) => Quality::Good,
                (true, false, _) => Quality::CurrentlyGood,
                (false, _, true) => Quality::CurrentlyBad,
                (false, _, false) => Quality::Bad,
            };
            prop_assert_eq!(partition.quality(q), quality);
            let infinite = from_state(&a, q);
            let (all, none) = (infinite.iter().all(|(_, v)| *v), infinite.iter().all(|(_, v)| !*v));
            prop_assert_eq!(one.positive.contains(q), all);
            prop_assert_eq!(one.negative.contains(q), none);
            prop_assert_eq!(two.positive.contains(q), all && quality == Quality::Good);
            prop_assert_eq!(two.negative.contains(q), none && quality == Quality::Bad);
            // What of lemma 1 holds: good states determine, and bad ones do with a single pair.
            prop_assert!(quality != Quality::Good || all);
            prop_assert!(quality != Quality::Bad || none || a.pairs().len() > 1);
        }
    }

    #[test]
    fn boolean_combinations(a in any_streett(), b in any_streett()) {
        let (and, or, not) = (a.intersection(&b).unwrap(), a.union(&b).unwrap(), a.negation().unwrap());
        for w in words(5) {
            prop_assert_eq!(and.accepts(&w), a.accepts(&w) && b.accepts(&w));
            prop_assert_eq!(or.accepts(&w), a.accepts(&w) || b.accepts(&w));
            prop_assert_eq!(not.accepts(&w), !a.accepts(&w));
        }
        for w in small_lassos() {
            let (x, y) = (a.accepts_lasso(&w), b.accepts_lasso(&w));
            prop_assert_eq!(and.accepts_lasso(&w), x && y);
            prop_assert_eq!(or.accepts_lasso(&w), x || y);
            prop_assert_eq!(not.accepts_lasso(&w), !x);
        }
        // No deterministic Streett automaton has fewer pairs than the cycles alternate.
        let m = match SemanticClass::new(&or).unwrap().class {
            Class::Reactivity(m) => m,
            _ => 1,
        };
        prop_assert!(or.pairs().len() <= m, "{} pairs for {}", or.pairs().len(), m);
    }

    #[test]
    fn normal_forms(a in any_streett()) {
        let normal = Normalised::new(&a).unwrap();
        prop_assert_eq!(normal.class, SemanticClass::new(&a).unwrap());
        let shape = syntactic(&normal.automaton);
        let class = normal.class.class;
        prop_assert!(shape == class || class == Class::SafetyAndGuarantee && shape == Class::Safety);
        prop_assert!(normal.automaton.follows_definition_3());
        for w in small_lassos() {
            prop_assert_eq!(normal.automaton.accepts_lasso(&w), a.accepts_lasso(&w));
        }
        let difference = words(5).into_iter().find(|w| normal.automaton.accepts(w) != a.accepts(w));
        match (&normal.finite_change, difference) {
            (Some(w), _) => prop_assert!(normal.automaton.accepts(w) != a.accepts(w)),
            (None, found) => prop_assert_eq!(found, None),
        }
    }

    #[test]
    fn definition_3_form(a in any_streett(), bits in any::<u8>()) {
        let n = a.structure().len();
        let free = a.with_finite(StateSet::of(n, |q| bits >> q.index() & 1 == 1)).reachable_part();
        if let Ok(tied) = free.to_definition_3() {
            prop_assert!(tied.follows_definition_3());
            for w in words(5) {
                prop_assert_eq!(tied.accepts(&w), free.accepts(&w));
            }
            for w in small_lassos() {
                prop_assert_eq!(tied.accepts_lasso(&w), free.accepts_lasso(&w));
            }
        } else {
            // Then a run rejected by the pairs stays in states that accept finite sequences.
            let bad = lassos(&free, free.structure().initial())
                .into_iter()
                .any(|(s, w)| s.is_subset(free.finite()) && !free.accepts_lasso(&w));
            prop_assert!(bad);
        }
    }

    #[test]
    fn finitary_class(a in any_streett()) {
        let class = finitary(&a);
        let small = a.reachable_part();
        let s = small.structure();
        let accepts = |q: StateId| small.finite().contains(q);
        let step = |from: bool| {
            s.states().any(|q| accepts(q) == from && s.row(q).iter().any(|&p| accepts(p) != from))
        };
        // Prefix-closed: no step from rejecting to accepting; extension-closed: none back.
        prop_assert_eq!(class.is_within(Class::Safety), !step(false));
        prop_assert_eq!(class.is_within(Class::Guarantee), !step(true));
    }
}

/// Each of many letters again and again, with a colour for each, and the negation.
#[test]
fn many_colours() {
    for n in [20, 150] {
        all_recur(n);
    }
}

fn all_recur(n: usize) {
    let names: Vec<String> = (0..n).map(|i| format!("a{i}")).collect();
    let sigma = Arc::new(Alphabet::of_names(names.iter().map(String::as_str)).unwrap());
    let row: Vec<StateId> = (0..n).map(StateId::new).collect();
    let structure = Structure::new(sigma, StateId::new(0), row.repeat(n)).unwrap();
    let infinitely = |f: fn(u32) -> AcceptanceFormula| (0..n as u32).map(f).collect();
    let omega = OmegaAutomaton {
        structure,
        colours: (0..n as u32).map(Colours::of).collect(),
        acceptance: AcceptanceFormula::And(infinitely(AcceptanceFormula::Inf)),
        finite: StateSet::empty(n),
    };
    let all = omega.to_streett(100_000).unwrap();
    assert_eq!(SemanticClass::new(&all).unwrap().class, Class::Response);
    let some_not = omega.negation().to_streett(100_000).unwrap();
    assert_eq!(
        SemanticClass::new(&some_not).unwrap().class,
        Class::Persistence
    );
    let negated = some_not.negation().unwrap();
    assert_eq!(all.infinitary_difference(&negated).unwrap(), None);
}

fn is_equal(one: &StreettAutomaton, other: &StreettAutomaton) -> bool {
    one.infinitary_difference(other).unwrap().is_none()
        && one.finitary_difference(other).unwrap().is_none()
}

/// The digits of a number, the last first.
fn digits(number: u32, base: u32, count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|i| number / base.pow(i) % base)
        .collect()
}

/// A pair for each odd priority: a run is accepted iff the least priority that recurs is even.
fn nested(priority: &[u32]) -> Vec<Pair> {
    let n = priority.len();
    let odd = [1, 3].into_iter();
    odd.map(|bad| Pair {
        recurrent: StateSet::of(n, |q| {
            let p = priority[q.index()];
            p < bad && p.is_multiple_of(2)
        }),
        persistent: StateSet::of(n, |q| priority[q.index()] != bad),
    })
    .collect()
}

/// Whether some automaton with `n` states and nested pairs has these finite and infinite words, tried one by
/// one.
fn some_has_it(n: usize, wanted: &StreettAutomaton, lassos: &[(Lasso, bool)]) -> bool {
    let tables = (n as u32).pow(2 * n as u32);
    (0..tables).any(|number| {
        let next = digits(number, n as u32, 2 * n);
        let next = next.iter().map(|&q| StateId::new(q as usize)).collect();
        let s = Structure::new(wanted.alphabet().clone(), StateId::new(0), next).unwrap();
        let mut marks: Vec<Option<bool>> = vec![None; n];
        let one_mark = words(4).iter().all(|w| {
            let judged = wanted.accepts(w);
            let mark = &mut marks[s.after(s.initial(), w).index()];
            *mark.get_or_insert(judged) == judged
        });
        let finite = StateSet::of(n, |q| marks[q.index()] == Some(true));
        one_mark
            && (0..4_u32.pow(n as u32)).any(|number| {
                let pairs = nested(&digits(number, 4, n));
                let found = StreettAutomaton::new(s.clone(), pairs).unwrap();
                let found = found.with_finite(finite.clone());
                let mut told = lassos.iter();
                told.all(|(lasso, accepted)| found.accepts_lasso(lasso) == *accepted)
                    && is_equal(wanted, &found)
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]

    /// The smallest automaton has the same words, and none with fewer states has them.
    #[test]
    fn minimised(a in any_streett()) {
        let found = Minimised::new(&a, DEFAULT_STEPS).unwrap();
        prop_assert!(found.is_smallest);
        let small = &found.automaton;
        prop_assert!(small.structure().len() <= a.reachable_part().structure().len());
        prop_assert!(is_equal(&a, small));
        let mut lassos = Vec::new();
        for lasso in small_lassos() {
            let accepted = a.accepts_lasso(&lasso);
            prop_assert_eq!(accepted, small.accepts_lasso(&lasso));
            lassos.push((lasso, accepted));
        }
        // Few enough to be tried all: 3^6 tables with 4^3 priorities.
        let n = small.structure().len();
        if (2..=4).contains(&n) {
            prop_assert!(!some_has_it(n - 1, &a, &lassos));
        }
    }
}

/// The automaton of a formula over these actions; all finite words are accepted, so that infinite ones alone count.
fn of_formula(formula: &str, actions: &[&str]) -> StreettAutomaton {
    let alphabet = Arc::new(Alphabet::of_names(actions.iter().copied()).unwrap());
    let formula = Ltl::parse(formula, &alphabet).unwrap();
    let translation = formula.translate(&alphabet, Options::default()).unwrap();
    let n = translation.automaton.structure().len();
    translation.automaton.with_finite(StateSet::full(n))
}

#[test]
fn a_search_that_is_given_up_says_so() {
    let a = of_formula("GF a & GF b & GF c", &["a", "b", "c"]);
    let given = a.reachable_part().reduced().structure().len();
    let found = Minimised::new(&a, 0).unwrap();
    assert!(!found.is_smallest);
    assert_eq!(found.automaton.structure().len(), given);
    assert!(found.at_least < given);
    let found = Minimised::new(&a, DEFAULT_STEPS).unwrap();
    assert!(found.is_smallest);
    assert_eq!(found.at_least, found.automaton.structure().len());
}

/// Every language over two letters that is decided by the letters that recur: its smallest automaton is found,
/// and none with fewer states has it.
#[test]
fn recurring_letters() {
    let recur = ["!GF b", "!GF a", "(GF a & GF b)"];
    for accepted in 0..8 {
        let sets = (0..3).filter(|i| accepted >> i & 1 == 1);
        let sets: Vec<&str> = sets.map(|i| recur[i]).collect();
        let formula = if sets.is_empty() {
            "false".to_owned()
        } else {
            sets.join(" | ")
        };
        let a = of_formula(&formula, &["a", "b"]);
        let found = Minimised::new(&a, DEFAULT_STEPS).unwrap();
        assert!(found.is_smallest, "{formula}");
        assert!(is_equal(&a, &found.automaton), "{formula}");
        let judged = |lasso: Lasso| {
            let accepted = a.accepts_lasso(&lasso);
            (lasso, accepted)
        };
        let lassos: Vec<(Lasso, bool)> = small_lassos().into_iter().map(judged).collect();
        let n = found.automaton.structure().len();
        if (2..=4).contains(&n) {
            assert!(!some_has_it(n - 1, &a, &lassos), "{formula}");
        }
    }
}

/// Nested pairs need a state for each node of the Zielonka tree: the whole, and what lacks one of the letters.
#[test]
fn recurring_letters_need_their_tree() {
    for n in 2..=6 {
        let letters: Vec<String> = (0..n).map(|i| format!("a{i}")).collect();
        let all: Vec<String> = letters.iter().map(|l| format!("GF {l}")).collect();
        let names: Vec<&str> = letters.iter().map(String::as_str).collect();
        let a = of_formula(&all.join(" & "), &names);
        let found = Minimised::new(&a, DEFAULT_STEPS).unwrap();
        assert!(found.is_smallest, "{n}");
        assert!(is_equal(&a, &found.automaton), "{n}");
        assert_eq!(found.automaton.structure().len(), n + 1);
    }
}

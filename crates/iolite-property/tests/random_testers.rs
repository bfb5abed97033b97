//! Testability, canonical testers and test selection on random automata, against the definitions on
//! words.

use std::sync::Arc;

use iolite_property::{
    Alphabet, Basis, CanonicalTester, Letter, PropertyVerdict as V, Quiescence, Relation,
    Selection, StateId, StreettAutomaton, Testability, TesterOptions,
};
use proptest::prelude::*;

prop_compose! {
    fn any_streett()(
        n in 1_usize..5,
        rows in prop::collection::vec(prop::collection::vec(0_usize..60, 3), 4),
        pairs in prop::collection::vec((any::<u8>(), any::<u8>()), 0..3),
    ) -> StreettAutomaton {
        let sigma = Arc::new(Alphabet::of_names(["?a", "!b", "?c"]).unwrap());
        let rows: Vec<Vec<usize>> =
            rows.iter().take(n).map(|r| r.iter().map(|q| q % n).collect()).collect();
        let list = |bits: u8| (0..n).filter(|i| bits >> i & 1 == 1).collect::<Vec<_>>();
        let pairs: Vec<(Vec<usize>, Vec<usize>)> =
            pairs.iter().map(|&(r, p)| (list(r), list(p))).collect();
        let pairs: Vec<(&[usize], &[usize])> =
            pairs.iter().map(|(r, p)| (&r[..], &p[..])).collect();
        StreettAutomaton::from_rows(sigma, 0, &rows, &pairs).unwrap()
    }
}

fn words(letters: usize, max: usize) -> Vec<Vec<Letter>> {
    let mut all = vec![vec![]];
    let mut layer = all.clone();
    for _ in 0..max {
        layer = layer
            .iter()
            .flat_map(|w| (0..letters).map(move |l| [&w[..], &[Letter::new(l)]].concat()))
            .collect();
        all.extend(layer.clone());
    }
    all
}

/// The verdict on a sequence, from property 2 with "every finite continuation" for determinacy,
/// and definitions 14 and 15 for quiescence after it.
fn slow_verdict(
    a: &StreettAutomaton,
    relation: Relation,
    word: &[Letter],
    quiet: Option<Quiescence>,
) -> V {
    let tails = words(3, a.structure().len());
    let accepted = |w: &[Letter]| a.accepts(&[word, w].concat());
    let now = a.accepts(word);
    let mut verdict = if tails.iter().all(|w| accepted(w)) {
        Some(true)
    } else if tails.iter().all(|w| !accepted(w)) {
        Some(false)
    } else {
        None
    };
    if verdict.is_none() {
        let dual = relation == Relation::NonDisjointness;
        verdict = match quiet {
            Some(Quiescence::Deadlock) => Some(now),
            // Fail in a currently bad state; its dual, pass in a currently good one.
            Some(Quiescence::OutputLock) if now == dual => Some(now),
            _ => None,
        };
    }
    match (relation, verdict) {
        (_, None) => V::Unknown,
        (Relation::NonDisjointness, Some(true)) => V::Pass,
        (Relation::NonDisjointness, Some(false)) => V::WeakFail,
        (_, Some(true)) => V::WeakPass,
        (_, Some(false)) => V::Fail,
    }
}

const RELATIONS: [Relation; 3] = [
    Relation::Inclusion,
    Relation::Equality,
    Relation::NonDisjointness,
];
const QUIET: [Option<Quiescence>; 3] = [
    None,
    Some(Quiescence::OutputLock),
    Some(Quiescence::Deadlock),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn verdicts_and_witnesses(a in any_streett()) {
        for relation in RELATIONS {
            for quiescence in [false, true] {
                let basis = Basis::Partition;
                let tester =
                    CanonicalTester::new(&a, TesterOptions { relation, quiescence, basis }).unwrap();
                let mut seen: Vec<(V, usize)> = Vec::new();
                // Every state is reached by a word shorter than the number of states.
                for w in words(3, a.structure().len() - 1) {
                    let q = tester.structure().after(tester.initial(), &w);
                    for quiet in QUIET.into_iter().take(if quiescence { 3 } else { 1 }) {
                        let expected = slow_verdict(&a, relation, &w, quiet);
                        let at = quiet.map_or(q, |k| tester.step_quiescent(q, k));
                        prop_assert_eq!(tester.verdict(at), expected);
                        seen.push((expected, w.len() + usize::from(quiet.is_some())));
                    }
                }
                let t = Testability::new(&a, relation, quiescence, basis).unwrap();
                for o in &t.verdicts {
                    let vacuous = matches!(
                        (relation, o.verdict),
                        (Relation::Inclusion | Relation::Equality, V::Pass)
                            | (Relation::NonDisjointness, V::Fail)
                    );
                    if vacuous {
                        continue;
                    }
                    let shortest =
                        seen.iter().filter(|(v, _)| *v == o.verdict).map(|(_, n)| *n).min();
                    let found = o
                        .outcome
                        .as_ref()
                        .ok()
                        .map(|w| w.word.len() + usize::from(w.quiescence.is_some()));
                    prop_assert_eq!(found, shortest, "{} {}", relation, o.verdict);
                }
            }
        }
    }

    #[test]
    fn selection(a in any_streett(), quiescence in any::<bool>()) {
        for relation in RELATIONS {
            let options = TesterOptions { relation, quiescence, basis: Basis::Partition };
            let tester = CanonicalTester::new(&a, options).unwrap();
            for target in [V::Pass, V::Fail, V::WeakPass, V::WeakFail] {
                let case = tester.select(target);
                let reaches = |from: StateId| {
                    let mut seen = vec![false; case.len()];
                    let mut todo = vec![from];
                    while let Some(q) = todo.pop() {
                        if std::mem::replace(&mut seen[q.index()], true) {
                            continue;
                        }
                        if case.verdict(q) == target {
                            return true;
                        }
                        todo.extend(case.steps(q).iter().map(|&(_, to)| to));
                    }
                    false
                };
                let own = |q: StateId| {
                    tester.structure().states().find(|&p| tester.name(p) == case.name(q)).unwrap()
                };
                for q in (0..case.len()).map(StateId::new) {
                    let p = own(q);
                    let lost =
                        tester.structure().shortest(p, &tester.with_verdict(target)).is_none();
                    let expected = match tester.verdict(p) {
                        V::Unknown if lost => V::Inconc,
                        v => v,
                    };
                    prop_assert_eq!(case.verdict(q), expected);
                    // Where it goes on, the target stays in reach.
                    prop_assert_eq!(case.verdict(q) == V::Unknown, !case.steps(q).is_empty());
                    prop_assert!(case.verdict(q) != V::Unknown || reaches(q));
                    let labels = case.alphabet().labels();
                    let is_input = |l| labels.text(l).starts_with('?');
                    let inputs: Vec<_> =
                        case.steps(q).iter().filter(|(l, _)| is_input(*l)).collect();
                    prop_assert!(inputs.len() <= 1);
                    prop_assert!(inputs.iter().all(|(_, to)| case.verdict(*to) != V::Inconc));
                    for &(l, to) in case.steps(q) {
                        prop_assert_eq!(tester.step(p, l), own(to));
                    }
                    if !case.steps(q).is_empty() {
                        let outputs = case.alphabet().len() - 2;
                        prop_assert_eq!(case.steps(q).len() - inputs.len(), outputs);
                    }
                }
            }
        }
    }

    /// Chosen inputs are given, visited states come in their order before the verdict, avoided ones end the test,
    /// and what a word leads to in the test case is what it leads to in the tester.
    #[test]
    fn selection_by_states_and_inputs(
        a in any_streett(),
        picks in prop::collection::vec(0..64_usize, 4),
    ) {
        let tester = CanonicalTester::new(&a, TesterOptions::default()).unwrap();
        let (s, sigma) = (tester.structure(), tester.alphabet());
        let state = |k: usize| StateId::new(picks[k] % s.len());
        let input = sigma.iter().filter(|&l| sigma.text(l).starts_with('?'));
        let input: Vec<Letter> = input.collect();
        prop_assume!(!input.is_empty());
        for target in [V::Fail, V::WeakPass] {
            let selection = Selection {
                target,
                inputs: vec![(state(0), input[picks[1] % input.len()])],
                visit: vec![state(2)],
                avoid: vec![state(3)],
            };
            let Ok(case) = tester.select_by(&selection) else {
                // Out of reach: no word without the avoided state goes through the visited one to the target.
                let free = Selection { inputs: Vec::new(), ..selection.clone() };
                if tester.select_by(&free).is_err() {
                    for w in words(sigma.len(), 4) {
                        let mut at = vec![tester.initial()];
                        at.extend(w.iter().scan(tester.initial(), |q, &l| {
                            *q = s.step(*q, l);
                            Some(*q)
                        }));
                        let before = at.iter().position(|&q| tester.verdict(q).is_final());
                        let seen = &at[..=before.unwrap_or(at.len() - 1)];
                        let reached = seen.last().is_some_and(|&q| tester.verdict(q) == target)
                            && seen.contains(&state(2))
                            && !seen.contains(&state(3));
                        prop_assert!(!reached, "{:?} {:?}", w, free);
                    }
                }
                continue;
            };
            for w in words(sigma.len(), 4) {
                let (mut q, mut p) = (StateId::new(0), tester.initial());
                let mut seen = vec![p];
                for &l in &w {
                    let step = case.steps(q).iter().find(|(label, _)| *label == sigma.label(l));
                    let Some(&(_, to)) = step else { break };
                    q = to;
                    p = s.step(p, l);
                    seen.push(p);
                }
                let verdict = case.verdict(q);
                if tester.verdict(p).is_final() {
                    prop_assert_eq!(verdict, tester.verdict(p));
                } else {
                    prop_assert!(matches!(verdict, V::Unknown | V::Inconc));
                }
                if seen.contains(&state(3)) && !tester.verdict(p).is_final() {
                    prop_assert_eq!(verdict, V::Inconc);
                }
                let labels = case.alphabet().labels();
                let given = case.steps(q).iter().filter(|(l, _)| labels.text(*l).starts_with('?'));
                prop_assert!(given.count() <= 1);
            }
        }
    }

    /// An input that is asked for is given wherever it leaves the target in reach.
    #[test]
    fn selection_by_inputs(a in any_streett(), state in 0..64_usize, input in 0..64_usize) {
        let tester = CanonicalTester::new(&a, TesterOptions::default()).unwrap();
        let (s, sigma) = (tester.structure(), tester.alphabet());
        let inputs: Vec<Letter> = sigma.iter().filter(|&l| sigma.text(l).starts_with('?')).collect();
        prop_assume!(!inputs.is_empty());
        let (q, wanted) = (StateId::new(state % s.len()), inputs[input % inputs.len()]);
        for target in [V::Fail, V::WeakPass] {
            let selection = Selection { inputs: vec![(q, wanted)], ..Selection::shortest(target) };
            let reach = |from| s.shortest(from, &tester.with_verdict(target)).is_some();
            match tester.select_by(&selection) {
                Err(_) => prop_assert!(!reach(tester.initial()) || !reach(s.step(q, wanted))),
                Ok(case) => {
                    prop_assert!(reach(tester.initial()) && reach(s.step(q, wanted)));
                    for at in (0..case.len()).map(StateId::new) {
                        if case.name(at) == tester.name(q) && !case.steps(at).is_empty() {
                            prop_assert_eq!(case.input(at), Some(sigma.label(wanted)));
                        }
                    }
                }
            }
        }
    }
}

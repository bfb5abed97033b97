//! Monitors of several properties at once.

use std::sync::Arc;

use iolite_property::{
    Alphabet, CanonicalTester, Monitor, PropertyVerdict, StateId, StateSet, StreettAutomaton,
    Structure, TesterOptions,
};
use proptest::prelude::*;

fn random(n: usize, letters: usize, next: &[usize]) -> Structure {
    let names: Vec<String> = (0..letters).map(|i| format!("?a{i}")).collect();
    let sigma = Arc::new(Alphabet::of_names(names.iter().map(String::as_str)).unwrap());
    let next = next
        .iter()
        .take(n * letters)
        .map(|q| StateId::new(q % n))
        .collect();
    Structure::new(sigma, StateId::new(0), next).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A monitor of three testers says what each says alone, also when its table is dropped.
    #[test]
    fn monitor_is_the_testers(
        nexts in prop::collection::vec(prop::collection::vec(0_usize..60, 12), 3),
        sets in prop::collection::vec(any::<u8>(), 3),
        word in prop::collection::vec(0_usize..4, 0..60),
        limit in 2_usize..9,
    ) {
        let testers: Vec<CanonicalTester> = (0..3)
            .map(|i| {
                // Different alphabets: two to four letters.
                let letters = i + 2;
                let n = 3;
                let structure = random(n, letters, &nexts[i]);
                let p = StateSet::of(n, |q| sets[i] >> q.index() & 1 == 1);
                let pair = iolite_property::Pair { recurrent: StateSet::empty(n), persistent: p };
                let a = StreettAutomaton::new(structure, vec![pair]).unwrap();
                CanonicalTester::new(&a, TesterOptions::default()).unwrap()
            })
            .collect();
        let mut monitor = Monitor::new(testers.clone(), limit);
        let mut states: Vec<StateId> = testers.iter().map(CanonicalTester::initial).collect();
        for l in word {
            let name = format!("?a{l}");
            monitor.step(monitor.labels().get_text(&name).unwrap());
            for (t, q) in testers.iter().zip(&mut states) {
                if let Some(label) = t.alphabet().labels().get_text(&name) {
                    *q = t.step(*q, label);
                }
            }
            let verdicts: Vec<PropertyVerdict> =
                testers.iter().zip(&states).map(|(t, &q)| t.verdict(q)).collect();
            prop_assert_eq!(monitor.verdicts(), &verdicts[..]);
            prop_assert_eq!(monitor.states(), &states[..]);
            prop_assert_eq!(monitor.is_finished(), verdicts.iter().all(|v| v.is_final()));
        }
    }
}

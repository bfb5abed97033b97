//! Races against the definition: two orders that look alike to a tester and do not commute.

mod common;

use std::collections::BTreeSet;

use common::{after, any_model, initial, show};
use iolite_derive::{RaceLoss, RaceReport, location, races};
use iolite_lts::{LabelId, LabelKind, Lts, QuiescencePolicy, StateId};
use proptest::prelude::*;

type States = BTreeSet<StateId>;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

fn visible(lts: &Lts) -> Vec<LabelId> {
    let labels = lts.labels().iter().filter(|(_, l)| l.kind.is_visible());
    labels.map(|(id, _)| id).collect()
}

fn step(lts: &Lts, from: &States, label: LabelId) -> States {
    after(lts, from, Some(label))
}

/// Whether two sets have the same suspension traces up to a length.
fn alike(lts: &Lts, one: &States, other: &States, length: usize) -> bool {
    if one == other || length == 0 {
        return true;
    }
    visible(lts).into_iter().all(|label| {
        let (a, b) = (step(lts, one, label), step(lts, other, label));
        a.is_empty() == b.is_empty() && (a.is_empty() || alike(lts, &a, &b, length - 1))
    })
}

fn follow(lts: &Lts, from: &States, trace: &[String]) -> States {
    trace.iter().fold(from.clone(), |at, text| {
        let label = lts.labels().get_text(text).expect("a label of the model");
        step(lts, &at, label)
    })
}

/// What is told of a place, an input and an output.
fn told<'a>(
    lts: &Lts,
    report: &'a RaceReport,
    at: &States,
    input: LabelId,
    output: LabelId,
) -> Option<&'a RaceLoss> {
    let places: BTreeSet<String> = at.iter().map(|&q| location(lts, q)).collect();
    let race = report.races.iter().find(|race| {
        race.locations.iter().cloned().collect::<BTreeSet<_>>() == places
            && race.input == lts.labels().text(input)
            && race.output == lts.labels().text(output)
    });
    race.map(|race| &race.loss)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn races_are_what_does_not_commute(s in any_model(4, 11)) {
        let report = races(&s, POLICY, 10_000, 10_000);
        prop_assert!(report.complete && report.more == 0);
        for race in &report.races {
            let at = follow(&s, &initial(&s), &race.trace);
            prop_assert!(!at.is_empty());
            let [one, other] = race.confused().map(|trace| follow(&s, &initial(&s), &trace));
            match &race.loss {
                RaceLoss::Unjudged => prop_assert!(other.is_empty()),
                RaceLoss::Excused => prop_assert!(one.is_empty() && !other.is_empty()),
                RaceLoss::Futures(None) => prop_assert!(false, "small models are compared"),
                RaceLoss::Futures(Some(trace)) => {
                    let one = follow(&s, &one, trace).is_empty();
                    prop_assert_ne!(one, follow(&s, &other, trace).is_empty());
                }
            }
        }
        // Every place that short traces come to, and every pair there.
        let mut level = vec![(Vec::new(), initial(&s))];
        for _ in 0..4 {
            let mut next = Vec::new();
            for (trace, at) in level {
                for label in visible(&s) {
                    let to = step(&s, &at, label);
                    if !to.is_empty() {
                        next.push(([&trace[..], &[label]].concat(), to));
                    }
                }
                let kind = |l: &LabelId| s.labels().kind(*l);
                let all = visible(&s);
                let inputs = all.iter().copied().filter(|l| kind(l) == LabelKind::Input);
                for input in inputs {
                    let taken = step(&s, &at, input);
                    for output in all.iter().copied().filter(|l| kind(l) == LabelKind::Output) {
                        let sent = step(&s, &at, output);
                        if taken.is_empty() || sent.is_empty() {
                            continue;
                        }
                        let (one, other) = (step(&s, &taken, output), step(&s, &sent, input));
                        let loss = told(&s, &report, &at, input, output);
                        let shown = show(s.labels(), &trace);
                        if other.is_empty() {
                            prop_assert_eq!(loss, Some(&RaceLoss::Unjudged), "{}", shown);
                        } else if one.is_empty() {
                            prop_assert_eq!(loss, Some(&RaceLoss::Excused), "{}", shown);
                        } else if !alike(&s, &one, &other, 3) {
                            prop_assert!(matches!(loss, Some(RaceLoss::Futures(_))), "{}", shown);
                        }
                    }
                }
            }
            level = next;
        }
    }
}

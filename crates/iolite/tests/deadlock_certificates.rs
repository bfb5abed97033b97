//! Certificates of logs that go on after a deadlock, which a relation sees as δ.

mod common;
mod support;

use std::path::Path;

use common::explain;
use iolite::{Certificate, CheckOutcome, Criterion, JudgeOptions, JudgedBy, Workspace};
use iolite_lts::relation::Relation;
use support::judged;

/// Without data, which has a table, and with data, for which formulas take its place.
const MODELS: [(&str, &str); 2] = [
    (
        "Start (line 1)",
        "system S { input a output b initial state Start { ?a -> Start } state Never { !b -> Never } }",
    ),
    (
        "Start (n = 0)",
        "system S { var n: int = 0 input a output b
           initial state Start { ?a / n := n + 1 -> Start !b [n > 5] -> Start } }",
    ),
];

#[test]
fn a_deadlock_within_a_log_is_the_silence_that_the_relation_sees() {
    for (place, text) in MODELS {
        for queues in [false, true] {
            let workspace = Workspace::new();
            workspace.insert(Path::new("m.iol"), text);
            let strings = |texts: &[&str]| texts.iter().map(|&t| t.to_owned()).collect();
            let judged = Certificate {
                trace: strings(&["delta", "deadlock"]),
                observed: Some("!b".to_owned()),
                allowed: strings(&["delta"]),
                locations: strings(&[place]),
                ..judged(Criterion::Relation(Relation::Ioco), "m.iol#S", queues)
            };
            let options = JudgeOptions::default();
            let whole = workspace.certify_run(&judged, JudgedBy::Model(&options));
            let mut whole = whole.expect("an answer").expect("a certificate");
            assert_eq!(
                explain(&workspace, &whole),
                CheckOutcome::Confirmed,
                "{text}"
            );
            // Nobody writes it into a trace, and nobody confirms it there.
            "deadlock".clone_into(&mut whole.trace[1]);
            let forged = explain(&workspace, &whole);
            assert!(matches!(forged, CheckOutcome::Refuted(_)), "{forged:?}");
        }
    }
}

//! One order of verdicts: what `test` says of runs, `monitor` says of their journal and `replay` of
//! each run.

mod common;

use common::{iolite, scratch, write};

/// The specification answers `?a` with `!x`; the observer minds `!z`.
const MODEL: &str = "
    system Spec {
      input a, b
      output x, y, z
      initial state Ready { ?a -> Asked  ?b -> Ready }
      state Asked { !x -> Ready  ?a -> Asked  ?b -> Asked }
    }
    observer NoZ {
      initial state Calm { ?a -> Armed  * -> Calm }
      state Armed { !z -> Bad  * -> Armed }
      violate state Bad
    }
    // Gives a wrong answer of one kind or of the other, or a right one.
    system Impl {
      input a, b
      output x, y, z
      initial state Ready { ?a -> Asked  ?b -> Ready }
      state Asked { !x -> Ready  !y -> Ready  !z -> Ready  ?a -> Asked  ?b -> Asked }
    }";

#[test]
fn test_monitor_and_replay_agree() {
    let folder = scratch("verdicts");
    let model = write(&folder, "model.iol", MODEL);
    let journal = folder.join("journal.jsonl").display().to_string();
    let (spec, observer) = (format!("{model}#Spec"), format!("{model}#NoZ"));
    let sut = format!("model:{model}#Impl");
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let seed = seed.to_string();
        let ran = iolite(&[
            "test",
            &spec,
            "--observer",
            &observer,
            "--sut",
            &sut,
            "--runs",
            "3",
            "--steps",
            "6",
            "--seed",
            &seed,
            "--journal",
            &journal,
            "--json",
        ]);
        let tested = ran.json();
        let verdict = tested["verdict"].as_str().expect("a verdict").to_owned();
        let monitored = iolite(&[
            "monitor",
            &spec,
            &journal,
            "--observer",
            &observer,
            "--json",
        ]);
        assert_eq!(monitored.json()["verdict"], verdict.as_str(), "seed {seed}");
        assert_eq!(monitored.code, ran.code, "seed {seed}");
        for run in 0..3 {
            let run = run.to_string();
            let replayed = iolite(&["replay", "--trust", &journal, "--run", &run, "--json"]).json();
            assert_eq!(
                replayed["verdict"], replayed["recorded_verdict"],
                "run {run}"
            );
        }
        seen.insert(verdict);
    }
    // Among so many seeds all kinds of answers come first.
    assert!(
        seen.contains("fail") && seen.contains("violate-fail"),
        "{seen:?}"
    );
}

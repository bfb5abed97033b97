//! A short version of the experiment.

use std::path::{Path, PathBuf};

use conference::{Experiment, FAULTS};

/// Which mutants differ from the model only where it says nothing. The tester never sees this list.
const CORRECT: [u8; 2] = [26, 27];

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conference.iol")
}

#[test]
fn the_wrong_mutants_fail_and_the_others_pass() {
    let short = Experiment {
        seeds: 2,
        runs: 10,
        steps: 1_500,
        coverage: false,
        context: iolite::Context::Queues,
    };
    for fault in 0..=FAULTS {
        let row = short.row(&model(), fault).expect("a verdict");
        let correct = fault == 0 || CORRECT.contains(&fault);
        let shown = row.seeds.iter().find_map(|r| r.failure.as_ref());
        assert_eq!(row.fails(), !correct, "fault {fault}: {shown:?}");
    }
}

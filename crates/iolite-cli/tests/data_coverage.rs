//! Coverage of models with data from the command line.
#![allow(missing_docs)]

mod common;

use common::{iolite, scratch, write};

/// `n` grows without a bound; one transition needs ten steps, one is out of reach.
const COUNTER: &str = "system Counter {
  var n: int = 0
  input up(k: int), reset, never
  output low, high, bad
  initial state Idle {
    ?up(k) [k > 0 && k < 3] / n := n + k -> Idle
    ?reset [n >= 20 || n == 7] / n := 0 -> Told
    ?never [n < 0] -> Broken
  }
  state Told { !low [n == 0] -> Idle !high [n > 0] -> Idle }
  state Broken { !bad -> Idle }
}
";

fn counter(name: &str) -> (String, String) {
    let folder = scratch(name);
    let model = write(&folder, "counter.iol", COUNTER);
    (model, folder.join("suite").display().to_string())
}

#[test]
fn transitions_of_infinite_data_are_covered_or_proved_out_of_reach() {
    let (model, suite) = counter("data_coverage_transitions");
    let args = [
        "derive",
        &model,
        "--cover",
        "transitions",
        "-o",
        &suite,
        "--json",
    ];
    let derived = iolite(&args).expect(0).json();
    assert_eq!(derived["covered"]["seen"], 3, "{derived}");
    assert_eq!(derived["covered"]["total"], 3, "{derived}");
    let proofs = derived["proofs"].as_array().unwrap();
    let names: Vec<&str> = proofs.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(proofs.len(), 3, "{names:?}");
    assert!(
        names
            .iter()
            .all(|n| n.contains("never") || n.contains("high") || n.contains("bad"))
    );
    assert!(
        proofs.iter().all(|p| p["invariant"].is_object()),
        "{derived}"
    );
    // The model plays the system: every test case reaches its goal.
    let sut = format!("model:{model}");
    let run = [
        "test", &model, "--suite", &suite, "--sut", &sut, "--steps", "100", "--json",
    ];
    let ran = iolite(&run).expect(0).json();
    assert_eq!(ran["verdicts"]["pass"], 3, "{ran}");
}

#[test]
fn branches_and_switch_pairs_are_goals_too() {
    let (model, suite) = counter("data_coverage_branches");
    let args = ["derive", &model, "--cover", "branches", "-o", &suite];
    let told = iolite(&args).expect(0).stdout;
    assert!(told.contains("covered: 4 of 4"), "{told}");
    assert!(
        told.contains("with n == 7") && told.contains("with n >= 20"),
        "{told}"
    );
    assert!(
        told.contains("cannot be covered: Idle ?never [n < 0] -> Broken"),
        "{told}"
    );
    let args = [
        "derive",
        &model,
        "--cover",
        "switch-pairs",
        "-o",
        &suite,
        "--json",
    ];
    let derived = iolite(&args).expect(0).json();
    // up up, up reset, reset low, low up; low reset needs n == 7 or n >= 20, and n is 0 then.
    assert_eq!(derived["covered"]["seen"], 4, "{derived}");
    assert_eq!(derived["covered"]["total"], 4, "{derived}");
}

#[test]
fn runs_are_led_to_what_chance_does_not_reach() {
    let (model, _) = counter("data_coverage_led");
    let sut = format!("model:{model}");
    let base = [
        "test", &model, "--sut", &sut, "--steps", "30", "--runs", "20",
    ];
    let led = [
        &base[..],
        &[
            "--strategy",
            "coverage",
            "--cover",
            "branches",
            "--until-coverage",
            "100%",
            "--json",
        ],
    ]
    .concat();
    let ran = iolite(&led).expect(0).json();
    assert_eq!(ran["coverage"]["seen"], 4, "{ran}");
    assert_eq!(ran["coverage"]["total"], 4, "{ran}");
    assert!(
        ran["runs"].as_u64() < Some(20),
        "it ends when all is covered: {ran}"
    );
}

#[test]
fn mistakes_are_told() {
    let (model, suite) = counter("data_coverage_mistakes");
    let depth = [
        "derive",
        &model,
        "--cover",
        "transitions",
        "--depth",
        "9",
        "-o",
        &suite,
    ];
    let told = iolite(&depth).expect(2).stderr;
    assert!(
        told.contains("--depth has no effect on test cases with data"),
        "{told}"
    );
    let sut = format!("model:{model}");
    let idle = ["test", &model, "--sut", &sut, "--cover", "branches"];
    let told = iolite(&idle).expect(2).stderr;
    assert!(told.contains("neither is given"), "{told}");
    let folder = scratch("data_coverage_plain");
    let plain = write(
        &folder,
        "plain.iol",
        "system P { input a output x initial state S { ?a -> T } state T { !x -> S } }\n",
    );
    let pairs = ["derive", &plain, "--cover", "switch-pairs", "-o", &suite];
    let told = iolite(&pairs).expect(2).stderr;
    assert!(told.contains("models with data"), "{told}");
}

//! Z3's Spacer as a source of invariants, from the command line; skipped where Z3 is not installed.
#![allow(missing_docs)]

mod common;

use common::{iolite, root, scratch, write};

const PROGRAMS: &str = "\
system P {
  var x: int = 0, y: int = 0
  input go  output bad
  initial state S {
    ?go / x := x + 1, y := y + 2 -> S
    !bad [y < x] -> S
  }
}
observer Never for P { initial state I { !bad -> B  * -> I } violate state B }
system Q {
  var x: int = 0
  input go(n: int)  output bad
  initial state S {
    ?go(n) [n > 0 && n < 4] / x := x + n -> S
    !bad [x == 11] -> S
  }
}
observer NeverQ for Q { initial state I { !bad -> B  * -> I } violate state B }
";

#[test]
fn spacer_proves_and_its_refutations_get_a_run() {
    let z3 = root().join(".tools/z3/bin/z3");
    if !z3.is_file() {
        println!("skipped: no Z3 under .tools; scripts/install-solver fetches it");
        return;
    }
    let z3 = z3.display().to_string();
    let folder = scratch("spacer");
    let file = write(&folder, "programs.iol", PROGRAMS);
    let verify = |system: &str, observer: &str, more: &[&str]| {
        let (system, observer) = (format!("{file}#{system}"), format!("{file}#{observer}"));
        let args = ["verify", &system, "--property", &observer, "--solver", &z3];
        iolite(&[&args[..], more].concat())
    };
    let proved = verify("P", "Never", &["--json"]).expect(0).json();
    let property = &proved["properties"][0];
    assert_eq!(property["result"], "proved", "{proved}");
    assert_eq!(property["how"], "Z3's Spacer", "{proved}");
    // The invariant is looked at again, by the embedded solver.
    let certificate = folder.join("proof.json").display().to_string();
    verify("P", "Never", &["--certificate", &certificate]).expect(0);
    let explained = iolite(&["explain", &certificate]).expect(0).stdout;
    assert!(explained.contains("confirmed"), "{explained}");
    let refuted = verify("Q", "NeverQ", &["--json"]).expect(1).json();
    assert_eq!(refuted["properties"][0]["result"], "refuted", "{refuted}");
    let trace = refuted["properties"][0]["trace"].as_array();
    assert_eq!(trace.map(Vec::len), Some(5), "{refuted}");
}

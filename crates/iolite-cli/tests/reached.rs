//! What a campaign reached of its model, what it did not, and what one more run may show.

mod common;

use common::{iolite, scratch, write};

/// `Hidden` has no way to it, `Rare` one that the system below never goes.
const PLAIN: &str = "system S {
  input a
  output x, y
  initial state Idle { ?a -> Busy }
  state Busy {
    !x -> Idle
    !y -> Rare
  }
  state Rare { ?a -> Rare }
  state Hidden { !x -> Idle }
}
system Always {
  input a
  output x
  initial state Idle { ?a -> Busy }
  state Busy { ?a -> Busy  !x -> Idle }
}";

#[test]
fn what_was_not_reached_is_named_with_its_line() {
    let folder = scratch("reached-plain");
    let model = write(&folder, "s.iol", PLAIN);
    let file = folder.join("reached.json").display().to_string();
    let (spec, sut) = (format!("{model}#S"), format!("model:{model}#Always"));
    let args = ["test", &spec, "--sut", &sut, "--no-journal", "--runs", "20"];
    let more = ["--steps", "20", "--coverage", &file];
    let told = iolite(&[&args[..], &more].concat()).expect(0).stdout;
    assert!(
        told.contains("reached: 2 of 3 states, 2 of 4 transitions"),
        "{told}"
    );
    assert!(told.contains("not reached: Rare ("), "{told}");
    assert!(told.contains("next run: something new"), "{told}");
    let text = std::fs::read_to_string(&file).unwrap();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names = |list: &str| -> Vec<String> {
        let list = found[list].as_array().unwrap().iter();
        list.map(|g| g["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let missed = ["Rare", "Busy !y -> Rare", "Rare ?a -> Rare"];
    assert_eq!(names("missed"), missed, "{text}");
    // What nothing leads to is not counted; of a composed or lowered model it is not even there.
    assert!(!text.contains("Hidden"), "{text}");
    assert_eq!(found["missed"][0]["line"], 9, "{text}");
    // The nearest known way to what leaves Busy ends there.
    assert_eq!(
        found["missed"][1]["nearest"],
        serde_json::json!(["?a"]),
        "{text}"
    );
    assert_eq!(found["complete"], true);
}

/// The guard allows 0 to 7; the system under test is a model that takes all of them. Beyond the upper end
/// of the counter nothing goes, which the portfolio proves.
#[test]
fn guards_have_branches_and_boundaries() {
    let folder = scratch("reached-data");
    let model = "system D {
  var n: 0..3 = 0
  input put(k: int)
  output small, large
  initial state Idle {
    ?put(k) [0 <= k && k <= 1 || k == 9] / n := min(n + 1, 3) -> Busy
    ?put(k) [n > 3] -> Idle
  }
  state Busy {
    !small [n < 2] -> Idle
    !large [n >= 2] -> Idle
  }
}";
    let model = write(&folder, "d.iol", model);
    let file = folder.join("reached.json").display().to_string();
    let sut = format!("model:{model}");
    let args = [
        "test",
        &model,
        "--sut",
        &sut,
        "--no-journal",
        "--runs",
        "30",
    ];
    let more = ["--steps", "40", "--coverage", &file, "--json"];
    let json = iolite(&[&args[..], &more].concat()).expect(0).json();
    let found = &json["reached"];
    let count = |kind: &str| {
        (
            found["reached"][kind]["seen"].clone(),
            found["reached"][kind]["total"].clone(),
        )
    };
    assert_eq!(count("state"), (2.into(), 2.into()), "{found}");
    assert_eq!(count("transition"), (3.into(), 3.into()), "{found}");
    assert_eq!(count("branch"), (2.into(), 2.into()), "{found}");
    let unreachable = found["unreachable"].as_array().unwrap();
    assert!(
        unreachable.iter().all(|g| g["line"] == 7) && !unreachable.is_empty(),
        "{found}"
    );
    // k = 0, k = 1, n = 1 and n = 2: values at the edges are among those that are tried first.
    assert_eq!(count("boundary"), (4.into(), 4.into()), "{found}");
    let next = &json["next_run"];
    assert!(next["chance"].as_f64().unwrap() <= next["interval"][1].as_f64().unwrap());
    assert!(
        next["assumptions"]
            .as_str()
            .unwrap()
            .contains("independent")
    );
}

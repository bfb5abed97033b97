//! Positive answers that say little come with a warning, and those that say much with none.

mod common;

use common::{Ran, iolite, scratch, write};

const MODELS: &str = "system Lamp {
  input press  output on, off
  initial state Dark { ?press -> Rising }
  state Rising { !on -> Lit  ?press -> Rising }
  state Lit { ?press -> Falling }
  state Falling { !off -> Dark  ?press -> Falling }
}
system Mute { input press  initial state s { ?press -> s } }
system Rest { input press  output on  initial state s { ?press -> s } }
system Other { input kick  output bang  initial state s { ?kick -> t } state t { !bang -> s  ?kick -> t } }
system Still { input kick  output bang  initial state s { ?kick -> s } }
observer Idle for Lamp {
  initial state A { * -> A }
  violate state Bad
}
observer Never for Lamp {
  initial state A { ?press -> B  * -> A }
  state B { delta -> Bad  * -> A }
  violate state Bad
}
observer Real for Lamp {
  initial state A { !on -> B  * -> A }
  state B { !on -> Bad  !off -> A  * -> B }
  violate state Bad
}
traces None for Lamp { initial state a { ?press -> a } }
traces All for Lamp { initial accept state a { * -> a } }
property Anything for Lamp = ltl G(!on -> !on)
";

fn warnings(ran: &Ran) -> Vec<String> {
    match ran.json().get("warnings") {
        None => Vec::new(),
        Some(all) => {
            let all = all.as_array().unwrap().iter();
            all.map(|w| w.as_str().unwrap().to_owned()).collect()
        }
    }
}

#[test]
fn holds_warns_where_nothing_could_go_wrong() {
    let folder = scratch("vacuous-relations");
    let file = write(&folder, "lamp.iol", MODELS);
    let relate = |relation: &str, i: &str, s: &str, more: &[&str]| {
        let (i, s) = (format!("{file}#{i}"), format!("{file}#{s}"));
        let args = [
            "relate",
            relation,
            &i,
            &s,
            "--complete-inputs",
            "self-loop",
            "--json",
        ];
        iolite(&[&args[..], more].concat()).expect(0)
    };
    let plain = relate("ioco", "Lamp", "Lamp", &[]);
    assert!(
        warnings(&plain).is_empty() && plain.stderr.is_empty(),
        "{}",
        plain.stderr
    );
    let rest = relate("ioco", "Rest", "Mute", &[]);
    assert_eq!(warnings(&rest).len(), 1, "{}", rest.stderr);
    assert!(warnings(&rest)[0].contains("never gives an output"));
    assert!(rest.stderr.contains("warning: "), "{}", rest.stderr);
    let other = relate("ioco", "Still", "Rest", &[]);
    let told = warnings(&other);
    assert!(
        told.iter().any(|w| w.contains("share no action")),
        "{told:?}"
    );
    let none = format!("{file}#None");
    let told = warnings(&relate("ioconf-f", "Other", "Lamp", &["--traces", &none]));
    assert!(
        told.iter().any(|w| w.contains("holds no trace")),
        "{told:?}"
    );
    let all = format!("{file}#All");
    let told = warnings(&relate("ioconf-f", "Lamp", "Lamp", &["--traces", &all]));
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn proved_warns_where_nothing_could_go_wrong() {
    let folder = scratch("vacuous-proofs");
    let file = write(&folder, "lamp.iol", MODELS);
    let model = format!("{file}#Lamp");
    let verify = |name: &str| {
        let property = format!("{file}#{name}");
        iolite(&["verify", &model, "--property", &property, "--json"]).expect(0)
    };
    for (name, part) in [
        ("Idle", "no violating state"),
        ("Anything", "holds of every sequence"),
    ] {
        let ran = verify(name);
        let told = warnings(&ran);
        assert!(told.len() == 1 && told[0].contains(part), "{told:?}");
        assert!(ran.stderr.contains("warning: "), "{}", ran.stderr);
    }
    // The lamp is silent before it is pressed, so δ is nothing that it never does.
    assert!(warnings(&verify("Never")).is_empty());
    let real = verify("Real");
    assert!(
        warnings(&real).is_empty() && real.stderr.is_empty(),
        "{}",
        real.stderr
    );
}

#[test]
fn passing_warns_where_nothing_could_go_wrong() {
    let folder = scratch("vacuous-passes");
    let file = write(&folder, "lamp.iol", MODELS);
    let suite = folder.join("suite").display().to_string();
    let derive = [
        "derive",
        &format!("{file}#Mute"),
        "--depth",
        "3",
        "-o",
        &suite,
    ];
    iolite(&derive).expect(0);
    let passes = |name: &str| {
        let model = format!("{file}#{name}");
        iolite(&[
            "passes",
            &model,
            &suite,
            "--complete-inputs",
            "self-loop",
            "--json",
        ])
        .expect(0)
    };
    let told = warnings(&passes("Still"));
    assert!(
        told.iter().any(|w| w.contains("knows no input")),
        "{told:?}"
    );
    let told = warnings(&passes("Mute"));
    assert!(
        told.len() == 1 && told[0].contains("never gives an output"),
        "{told:?}"
    );
}

const SUMS: &str = "system Sum { var s: int = 0  input add(n: int), ask  output is(v: int)
  initial state I { ?add(n) / s := s + n -> I  ?ask -> A }
  state A { !is(v) [v == s] -> I  ?add(n) -> A  ?ask -> A } }
system Silent { var s: int = 0  input add(n: int), ask  output is(v: int)
  initial state I { ?add(n) / s := s + n -> I  ?ask -> I } }
system Lazy { var s: int = 0  input add(n: int), ask  output is(v: int)
  initial state I { ?add(n) / s := s + n -> I  !is(v) [v == s && s < 0 && s > 0] -> I } }
system Strange { var s: int = 0  input go(n: int)  output gone(n: int)
  initial state I { ?go(n) / s := n -> J }  state J { !gone(n) [n == s] -> I  ?go(n) -> J } }
observer Contrary for Sum { var m: int = 0
  initial state O { !is(v) [v > m && v < m] -> Bad  * -> O }  violate state Bad }
observer Counted for Sum { var m: int = 0
  initial state O { ?ask / m := m + 1 -> O  !is(v) [m < 0] -> Bad  * -> O }  violate state Bad }
observer Early for Sum { var m: int = 0
  initial state O { ?ask / m := 1 -> O  !is(v) [m == 0] -> Bad  * -> O }  violate state Bad }
";

/// With data it is asked of the observer alone whether anything can violate it.
#[test]
fn data_are_no_excuse() {
    let folder = scratch("vacuous-data");
    let file = write(&folder, "sums.iol", SUMS);
    let verify = |name: &str| {
        let (model, property) = (format!("{file}#Sum"), format!("{file}#{name}"));
        iolite(&["verify", &model, "--property", &property, "--json"]).expect(0)
    };
    for name in ["Contrary", "Counted"] {
        let told = warnings(&verify(name));
        assert!(told.len() == 1, "{name}: {told:?}");
        assert!(told[0].contains("no violating state"), "{told:?}");
    }
    assert!(warnings(&verify("Early")).is_empty());
    let relate = |i: &str, s: &str| {
        let (i, s) = (format!("{file}#{i}"), format!("{file}#{s}"));
        let complete = ["--complete-inputs", "self-loop", "--json"];
        iolite(&[&["relate", "ioco", &i, &s][..], &complete].concat()).expect(0)
    };
    let told = warnings(&relate("Silent", "Lazy"));
    assert!(
        told.len() == 1 && told[0].contains("never gives an output"),
        "{told:?}"
    );
    assert!(warnings(&relate("Sum", "Sum")).is_empty());
}

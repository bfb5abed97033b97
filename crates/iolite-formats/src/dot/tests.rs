use iolite_lts::LabelKind;

use super::*;

fn load(text: &str, mode: DotMode) -> Result<Loaded<Acceptor>, Rejected> {
    read_acceptor(
        text.as_bytes(),
        &DotOptions {
            mode,
            ..DotOptions::default()
        },
    )
}

fn kinds(lts: &Lts) -> Vec<LabelKind> {
    lts.labels().iter().skip(2).map(|(_, l)| l.kind).collect()
}

fn codes_of(text: &str) -> Vec<String> {
    match load(text, DotMode::Iolts) {
        Ok(loaded) => loaded.lints,
        Err(Rejected(found)) => found,
    }
    .iter()
    .map(|d| d.code.to_string())
    .collect()
}

#[test]
fn the_language_is_tolerated() {
    let text = r#"
# a preprocessor line
strict digraph "a \"b\"" { /* comment */ rankdir=LR; graph [fontsize=9]
  node [shape=circle, label="\N"]; // names come from the ids
  subgraph cluster_0 { label=x; a -> b -> c [label="?x"; color=red] }
  start -> a; { b c } -> a [label="!" + "y"]; a:n -> "q 1":s:w [label=i];
}"#;
    let lts = load(text, DotMode::Iolts).expect("tolerated").value.lts;
    assert_eq!((lts.state_count(), lts.transition_count()), (4, 5));
    assert_eq!(lts.name(lts.initial()), "a");
    assert_eq!(kinds(&lts), [LabelKind::Input, LabelKind::Output]);
    assert_eq!(lts.line(StateId::new(0)), Some(5));
}

#[test]
fn initial_states() {
    for (text, name) in [
        ("digraph { __start0 -> b; a -> b [label=x] }", "b"),
        (
            "digraph { a; start [shape=point]; start -> b; b -> a [label=x] }",
            "b",
        ),
        ("digraph { a; b [initial=true]; b -> a [label=x] }", "b"),
        ("digraph { a; b [init=1]; b -> a [label=x] }", "b"),
        (
            "digraph { \"\" [shape=none]; \"\" -> a; a -> b [label=x] }",
            "a",
        ),
        ("digraph { b -> a [label=x] }", "b"),
    ] {
        let lts = load(text, DotMode::Iolts).expect(text).value.lts;
        assert_eq!(lts.name(lts.initial()), name, "{text}");
        assert_eq!(lts.state_count(), 2, "{text}");
    }
    assert_eq!(codes_of("digraph { a -> b [label=x] }"), ["IOL835"]);
    assert_eq!(
        codes_of("digraph { __start0 -> a; __start1 -> b; a -> b [label=x] }"),
        ["IOL836"]
    );
}

#[test]
fn what_is_refused() {
    for (text, code) in [
        ("", "IOL800"),
        ("graph { a -- b }", "IOL831"),
        ("digraph { a -- b }", "IOL831"),
        ("digraph { a -> b [label=<x>] }", "IOL832"),
        ("digraph { __start0 -> a a -> b }", "IOL837"),
        ("digraph {}", "IOL834"),
        ("digraph { a -> ", "IOL830"),
        ("digraph { a [label=\"x", "IOL830"),
        ("digraph { /* ", "IOL830"),
        ("digraph { } }", "IOL830"),
    ] {
        assert!(
            codes_of(text).contains(&code.to_owned()),
            "{text}: {:?}",
            codes_of(text)
        );
    }
    let deep = format!("digraph {{ {}", "{".repeat(100_000));
    assert_eq!(codes_of(&deep), ["IOL833"]);
    let wide = (0..3000)
        .map(|i| format!("n{i}"))
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(
        codes_of(&format!(
            "digraph {{ {{ {wide} }} -> {{ {wide} }} [label=x] }}"
        )),
        ["IOL833"]
    );
}

#[test]
fn mealy_edges_become_two_steps_and_silent_ones_one() {
    let text = "digraph { __start0 -> s; s -> t [label=\"coin / beep\"]; t -> s [label=<a | b<br />x &amp; y / z>]; t -> t [label=\"c/-\"] }";
    let mode = DotMode::Mealy(MealyOptions {
        silent_outputs: vec!["-".into()],
    });
    let lts = load(text, mode).expect("a machine").value.lts;
    assert_eq!((lts.state_count(), lts.transition_count()), (5, 7));
    let texts: Vec<_> = lts
        .labels()
        .iter()
        .skip(2)
        .map(|(_, l)| l.to_string())
        .collect();
    assert_eq!(texts, ["?coin", "!beep", "?a", "!x & y / z", "?b", "?c"]);
    assert!(looks_like_mealy(text.as_bytes()));
    assert!(!looks_like_mealy(b"digraph { a -> b [label=\"?x\"] }"));
    assert!(
        load(
            "digraph { a -> b [label=\"x\"] }",
            DotMode::Mealy(MealyOptions::default())
        )
        .is_err()
    );
}

#[test]
fn moore_outputs_come_from_the_target() {
    let text = "digraph { a [label=N]; b [label=A]; a -> b [label=d]; b -> b [label=l] }";
    let lts = load(text, DotMode::Moore(MealyOptions::default()))
        .expect("a machine")
        .value
        .lts;
    assert_eq!((lts.state_count(), lts.transition_count()), (4, 4));
    assert_eq!(lts.labels().outputs().count(), 1);
    assert_eq!(lts.name(StateId::new(0)), "a");
}

#[test]
fn double_circles_accept() {
    let text = "digraph { a [shape=doublecircle]; b; c [peripheries=2]; a -> b -> c [label=x] }";
    let acceptor = load(text, DotMode::Iolts).expect("an acceptor").value;
    assert_eq!(acceptor.accepting, [StateId::new(0), StateId::new(2)]);
}

#[test]
fn delta_loops_are_checked() {
    let good = "digraph { __start0 -> a; a -> a [label=QUIESCENCE]; a -> b [label=\"?x\"]; b -> a [label=\"!y\"] }";
    let lts = load(good, DotMode::Iolts).expect("good").value.lts;
    assert_eq!(lts.transition_count(), 2);
    let bad = good.replace("a -> a", "b -> b");
    assert_eq!(codes_of(&bad), ["IOL821", "IOL822"]);
}

#[test]
fn a_file_with_many_wrong_edges_is_not_read_on() {
    let good = "a -> b [label=\"?x/y\"];".repeat(5);
    let bad = "a -> b [label=\"\"];".repeat(100);
    let text = format!("digraph {{ __start0 -> a; {good} {bad} {good} {bad} }}");
    let modes = [
        DotMode::Iolts,
        DotMode::Mealy(MealyOptions::default()),
        DotMode::Moore(MealyOptions::default()),
    ];
    for mode in modes {
        let Err(Rejected(found)) = load(&text, mode) else {
            panic!("edges without labels");
        };
        assert_eq!(found.iter().filter(|d| d.is_error()).count(), MOST_ERRORS);
    }
}

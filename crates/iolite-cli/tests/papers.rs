//! Every "holds" and "does not hold" that the papers state of their example systems.
//!
//! Each negative answer is a certificate, and `iolite explain` must confirm it.

mod common;

use common::{iolite, scratch, write};

const HOLDS: bool = true;
const DOES_NOT_HOLD: bool = false;

fn check(figures: [&str; 2], statements: &[(&str, &str, &str, bool)]) {
    let folder = scratch(&format!("papers-{}-{}", figures[0], figures[1]));
    for &(implementation, relation, specification, expected) in statements {
        let model = |name: &str| {
            let figure = figures.iter().find(|f| {
                let text = std::fs::read_to_string(
                    common::root().join(format!("examples/papers/{f}.iol")),
                );
                let text = text.expect("the figure is there");
                ["process", "system"]
                    .iter()
                    .any(|k| text.contains(&format!("\n{k} {name} ")))
            });
            format!(
                "examples/papers/{}.iol#{name}",
                figure.expect("a figure declares it")
            )
        };
        let args = [relation, &model(implementation), &model(specification)];
        let ran = iolite(&[&["relate"], args.as_slice(), &["--json"]].concat());
        let statement = format!("{implementation} {relation} {specification}");
        assert_eq!(ran.json()["holds"], expected, "{statement}\n{}", ran.stderr);
        assert_eq!(ran.code, i32::from(!expected), "{statement}");
        if !expected {
            let certificate = write(&folder, "certificate.json", &ran.stdout);
            let explained = iolite(&["explain", &certificate]);
            assert_eq!(explained.code, 0, "{statement}\n{}", explained.stdout);
        }
    }
}

/// [LTS96, examples 4.2, 4.6 and 4.10]. In 4.10 the text has lost the strokes through conf
/// for p2, p1 and for p4, p3; the reasons it gives are those of "does not hold".
#[test]
fn symmetric_interaction() {
    check(
        ["lts96_fig1", "lts96_fig1"],
        &[
            ("p1", "trace", "p2", HOLDS),
            ("p2", "trace", "p1", HOLDS),
            ("p4", "trace", "p1", HOLDS),
            ("p1", "trace", "p4", DOES_NOT_HOLD),
            ("p1", "testing", "p2", HOLDS),
            ("p2", "testing", "p1", DOES_NOT_HOLD),
            ("p4", "testing", "p3", DOES_NOT_HOLD),
            ("p5", "testing", "p3", HOLDS),
            ("p1", "testing", "p3", HOLDS),
            ("p1", "testing", "p4", DOES_NOT_HOLD),
            ("p1", "conf", "p2", HOLDS),
            ("p5", "conf", "p3", HOLDS),
            ("p1", "conf", "p3", HOLDS),
            ("p2", "conf", "p1", DOES_NOT_HOLD),
            ("p4", "conf", "p3", DOES_NOT_HOLD),
            ("p1", "conf", "p4", HOLDS),
        ],
    );
}

/// The refusals that example 4.6 names.
#[test]
fn refusals_of_example_4_6() {
    let relate = |i: &str, s: &str| {
        let model = |name: &str| format!("examples/papers/lts96_fig1.iol#{name}");
        iolite(&["relate", "testing", &model(i), &model(s), "--json"]).json()["counterexample"]
            .clone()
    };
    let p2_p1 = relate("p2", "p1");
    assert_eq!(p2_p1["trace"], serde_json::json!(["shil"]));
    let refused = p2_p1["observed"]["refuses"]
        .as_array()
        .expect("a refusal")
        .clone();
    assert!(refused == ["liq"] || refused == ["choc"], "{refused:?}");
    let p4_p3 = relate("p4", "p3");
    assert_eq!(p4_p3["observed"]["refuses"], serde_json::json!(["choc"]));
    let p1_p4 = relate("p1", "p4");
    assert_eq!(p1_p4["trace"], serde_json::json!(["shil", "choc"]));
    assert_eq!(p1_p4["observed"]["refuses"], serde_json::json!([]));
}

/// [LTS96, examples 6.7 and 6.11]. In 6.11 the text has lost the stroke through ioconf for
/// q2, s1 and for q3, s1 and q3, s2.
#[test]
fn inputs_and_outputs() {
    let mut statements = vec![
        ("q1", "iot", "q2", HOLDS),
        ("q2", "iot", "q1", DOES_NOT_HOLD),
        ("q2", "iot", "q3", DOES_NOT_HOLD),
        ("q1", "iot", "q3", HOLDS),
        ("q3", "iot", "q1", DOES_NOT_HOLD),
        ("q3", "iot", "q2", DOES_NOT_HOLD),
        ("q1", "ioconf", "q2", HOLDS),
        ("q2", "ioconf", "q1", DOES_NOT_HOLD),
        ("q2", "ioconf", "q3", DOES_NOT_HOLD),
        ("q1", "ioconf", "q3", HOLDS),
        ("q3", "ioconf", "q1", DOES_NOT_HOLD),
        ("q3", "ioconf", "q2", DOES_NOT_HOLD),
        ("q1", "ioconf", "s1", HOLDS),
        ("q2", "ioconf", "s1", DOES_NOT_HOLD),
        ("q1", "ioconf", "s2", HOLDS),
        ("q2", "ioconf", "s2", HOLDS),
        ("q3", "ioconf", "s1", DOES_NOT_HOLD),
        ("q3", "ioconf", "s2", DOES_NOT_HOLD),
    ];
    for q in ["q1", "q2", "q3"] {
        for s in ["s1", "s2"] {
            statements.push((q, "iot", s, DOES_NOT_HOLD));
        }
    }
    check(["lts96_fig3", "lts96_fig5"], &statements);
}

/// [IOCO99, example 1]; ioconf cannot tell the two apart, so repetitive quiescence matters.
#[test]
fn repetitive_quiescence() {
    check(
        ["ioco99_fig1", "ioco99_fig1"],
        &[
            ("r2", "ioco", "r1", HOLDS),
            ("r1", "ioco", "r2", DOES_NOT_HOLD),
            ("r1", "ioconf", "r2", HOLDS),
        ],
    );
    let model = |name: &str| format!("examples/papers/ioco99_fig1.iol#{name}");
    let found = iolite(&["relate", "ioco", &model("r1"), &model("r2"), "--json"]).json();
    let found = &found["counterexample"];
    assert_eq!(found["trace"], serde_json::json!(["?but", "delta", "?but"]));
    assert_eq!(found["observed"], "!liq");
    assert_eq!(found["allowed"], serde_json::json!(["!choc"]));
}

/// [SAFE04, example 5].
#[test]
fn safety() {
    check(
        ["safe04_fig1", "safe04_fig4"],
        &[
            ("I1", "ioco", "S", DOES_NOT_HOLD),
            ("I2", "ioco", "S", HOLDS),
        ],
    );
}

/// [SAFE04, examples 2, 7 and 8]: S ⊨ ω, ω is not relevant for S, I2 violates ω.
#[test]
fn the_observer_of_figure_2() {
    let verify = |system: &str| {
        let args = [
            "--property",
            "examples/papers/safe04_fig2.iol#ω",
            "--relevant",
            "--json",
        ];
        iolite(&[&["verify", system], args.as_slice()].concat())
    };
    let s = verify("examples/papers/safe04_fig1.iol#S").expect(0).json();
    assert_eq!(s["properties"][0]["result"], "proved");
    assert_eq!(s["properties"][0]["relevant"], false);
    let i2 = verify("examples/papers/safe04_fig4.iol#I2")
        .expect(1)
        .json();
    assert_eq!(i2["properties"][0]["result"], "refuted");
    assert_eq!(
        i2["properties"][0]["trace"],
        serde_json::json!(["?a", "?a", "!c"])
    );
}

/// [SAFE04, example 4] and the δ-trace automata of [LTS96, example 6.4].
#[test]
fn views_of_the_figures() {
    let show = |model: &str, view: &str| iolite(&["show", model, "--view", view]).expect(0).stdout;
    let s = show("examples/papers/safe04_fig1.iol#S", "model");
    for place in ["q3  deadlock", "q1  output-lock", "q6  livelock"] {
        assert!(s.contains(&format!("\n{place}\n")), "{place}\n{s}");
    }
    let suspension = show("examples/papers/safe04_fig1.iol#S", "suspension");
    assert_eq!(suspension.matches("  delta -> ").count(), 3, "{suspension}");

    let delta = |q: &str| {
        show(
            &format!("examples/papers/lts96_fig3.iol#{q}"),
            "delta-trace",
        )
    };
    expect_test::expect![[r"
        4 states, 7 transitions, initial state s0
        inputs: ?but
        outputs: !liq !choc
        deterministic
        not input-enabled: state stop does not take ?but

        s0  output-lock
          delta -> stop
          ?but -> {s1,s2}

        stop  deadlock

        {s1,s2}
          delta -> stop
          ?but -> {s1,s2}
          !liq -> s3

        s3  output-lock
          delta -> stop
          ?but -> s3
    "]]
    .assert_eq(&delta("q3"));
    for q in ["q1", "q2"] {
        // Only before the button and after the sweet nothing may come.
        assert!(!delta(q).contains("q'\n  delta"), "{}", delta(q));
    }
}

//! The papers' models parse, check and lower, and are what the papers say they are.

use std::fs;
use std::path::{Path, PathBuf};

use iolite_lang::syntax::ast::{Item, Mark};
use iolite_lang::{
    DEFAULT_BUDGET, File, Names, Severity, fmt, lower_observer, lower_system, lower_test,
    parse_and_check, systems,
};
use iolite_lts::{Lts, StateId};

fn folder() -> PathBuf {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/papers"
    ))
    .to_owned()
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("an example")
}

fn load(name: &str) -> File {
    let (file, found) = parse_and_check(&text(name));
    let errors: Vec<_> = found
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
    file
}

fn system(name: &str, declaration: &str) -> Lts {
    lower_system(&load(name), declaration, DEFAULT_BUDGET).expect("an explicit system")
}

#[test]
fn every_example_is_free_of_errors_and_in_canonical_layout() {
    let mut seen = 0;
    for entry in fs::read_dir(folder()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "iol") {
            continue;
        }
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .to_string();
        let file = load(&name);
        assert_eq!(
            fmt::format(&text(&name)).as_deref(),
            Ok(&*text(&name)),
            "{name}"
        );
        for s in systems(&file) {
            let lts = lower_system(&file, s, DEFAULT_BUDGET);
            assert_eq!(lts.is_ok(), s != "Sender", "{name}#{s}");
        }
        seen += 1;
    }
    assert!(seen >= 11, "{seen} examples");
}

#[test]
fn sizes() {
    let expected = [
        ("lts96_fig1.iol", "p1", 3, 3),
        ("lts96_fig1.iol", "p2", 4, 4),
        ("lts96_fig1.iol", "p3", 4, 4),
        ("lts96_fig1.iol", "p4", 3, 2),
        ("lts96_fig1.iol", "p5", 3, 2),
        ("lts96_fig3.iol", "q1", 3, 4),
        ("lts96_fig3.iol", "q2", 4, 6),
        ("lts96_fig3.iol", "q3", 4, 6),
        ("lts96_fig5.iol", "s1", 3, 2),
        ("lts96_fig5.iol", "s2", 3, 3),
        ("ioco99_fig1.iol", "r1", 7, 11),
        ("ioco99_fig1.iol", "r2", 6, 9),
        ("safe04_fig1.iol", "S", 7, 8),
        ("safe04_fig4.iol", "I1", 1, 1),
        ("safe04_fig4.iol", "I2", 6, 9),
    ];
    for (file, name, states, transitions) in expected {
        let lts = system(file, name);
        assert_eq!(
            (lts.state_count(), lts.transition_count()),
            (states, transitions),
            "{file}#{name}"
        );
    }
}

/// Example 2.5: `p3` is deterministic in its first step, and its alphabet is the paper's L.
#[test]
fn candy_machines_share_an_alphabet() {
    for p in ["p1", "p2", "p3", "p4", "p5"] {
        let lts = system("lts96_fig1.iol", p);
        let labels: Vec<_> = lts
            .labels()
            .iter()
            .skip(2)
            .map(|(_, l)| l.to_string())
            .collect();
        assert_eq!(labels, ["shil", "liq", "choc"], "{p}");
    }
}

/// Definition 5.1: the machines of figure 3 never refuse their input.
#[test]
fn implementations_are_input_enabled() {
    for (file, names) in [
        ("lts96_fig3.iol", &["q1", "q2", "q3"][..]),
        ("ioco99_fig1.iol", &["r1", "r2"]),
        ("safe04_fig4.iol", &["I1", "I2"]),
    ] {
        for name in names {
            assert_eq!(
                iolite_lts::missing_input(&system(file, name)),
                None,
                "{name}"
            );
        }
    }
    assert!(iolite_lts::missing_input(&system("lts96_fig5.iol", "s1")).is_some());
}

/// The verdicts that examples 3.3, 4.13, 7.2 \[LTS96\] and 3 \[IOCO99\] give, along their runs.
#[test]
fn test_cases_have_the_verdicts_of_their_runs() {
    let runs: &[(&str, &str, &[&str], Mark)] = &[
        ("lts96_fig2.iol", "t1", &["shil", "liq"], Mark::Pass),
        ("lts96_fig2.iol", "t1", &["shil"], Mark::Fail),
        ("lts96_fig2.iol", "t2", &["shil", "choc"], Mark::Pass),
        ("lts96_fig2.iol", "t2", &["shil"], Mark::Fail),
        ("lts96_fig2.iol", "t3", &["shil", "liq"], Mark::Pass),
        ("lts96_fig2.iol", "t3", &["shil", "choc"], Mark::Pass),
        ("lts96_fig2.iol", "t4", &["shil"], Mark::Pass),
        ("lts96_fig6.iol", "t", &["?but", "!liq"], Mark::Pass),
        ("lts96_fig6.iol", "t", &["?but", "!choc"], Mark::Fail),
        ("ioco99_fig2.iol", "t", &["?but", "!liq"], Mark::Pass),
        (
            "ioco99_fig2.iol",
            "t",
            &["?but", "delta", "?but", "!liq"],
            Mark::Fail,
        ),
        (
            "ioco99_fig2.iol",
            "t",
            &["?but", "delta", "?but", "!choc", "delta"],
            Mark::Pass,
        ),
    ];
    for (file, name, run, verdict) in runs {
        let (lts, verdicts) = lower_test(&load(file), name).expect("a test case");
        assert_eq!(iolite_lts::nondeterminism(&lts), None, "{name}");
        let mut state = lts.initial();
        for action in *run {
            let label = lts.labels().get_text(action).expect("a label");
            state = lts.steps_on(state, label)[0].1;
        }
        assert_eq!(verdicts[state.index()], *verdict, "{name} {run:?}");
    }
}

/// Example 2 \[SAFE04\]: what enters Violate, and what leads back.
#[test]
fn the_observer_reads_the_labels_of_its_system() {
    let s = system("safe04_fig1.iol", "S");
    let labels = s.labels();
    let file = load("safe04_fig2.iol");
    let omega = lower_observer(&file, "ω", labels).expect("an observer");
    let id = |text: &str| labels.get_text(text).expect("a label");
    let run = |trace: &[&str]| {
        trace.iter().try_fold(omega.automaton.initial, |state, a| {
            omega.automaton.next(state, id(a))
        })
    };
    assert_eq!(omega.violate, [StateId::new(2)]);
    assert_eq!(run(&["?a", "!c"]), Some(StateId::new(2)));
    assert_eq!(run(&["?a", "?a", "delta", "!c"]), Some(StateId::new(2)));
    assert_eq!(run(&["?a", "!b", "!c", "delta"]), Some(StateId::new(0)));
    assert_eq!(run(&["?a", "!c", "!b"]), None, "a violation is final");
    assert_eq!(omega.automaton.states[2].name, "Violate");
    assert_eq!(omega.automaton.states[2].line, 15);
}

#[test]
fn the_brp_observer_fits_its_system() {
    let file = load("sym04_fig1.iol");
    let labels = Names::new(&file).alphabet("Sender").expect("an alphabet");
    let observer = lower_observer(&file, "NoSilence", &labels).expect("an observer");
    assert_eq!(observer.automaton.states.len(), 3);
    let Some(Item::Machine(sender)) = Names::new(&file).get("Sender") else {
        panic!("a machine");
    };
    let states: Vec<_> = sender.states().map(|s| s.name.text.as_str()).collect();
    assert_eq!(
        states,
        [
            "Wait_Req",
            "Send_File",
            "Wait_Ack",
            "Wait_Timeout2",
            "Send_Complete"
        ]
    );
}

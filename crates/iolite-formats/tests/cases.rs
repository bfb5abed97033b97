//! Files that others made load, with the sizes that are known.

use std::fs;
use std::path::{Path, PathBuf};

use iolite_formats::aut::{self, AutOptions};
use iolite_formats::dot::{self, DotMode, DotOptions, MealyOptions};
use iolite_formats::{DeltaPolicy, Directions};
use iolite_lang::Loaded;
use iolite_lts::{Lts, Semantics};

fn cases() -> Option<PathBuf> {
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/cases"
    ));
    if path.is_dir() {
        return Some(path.to_owned());
    }
    println!("skipped: the cases are not here");
    None
}

fn sizes(lts: &Lts) -> (usize, usize) {
    (lts.state_count(), lts.transition_count())
}

fn dot_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "dot"))
        .collect();
    files.sort();
    files
}

fn load(path: &Path, mode: DotMode) -> Loaded<Lts> {
    let options = DotOptions {
        mode,
        ..DotOptions::default()
    };
    dot::read(&fs::read(path).expect("readable"), &options)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Edge statements counted with nothing but the text: an independent number to compare with.
fn edges_in(text: &str) -> usize {
    text.lines()
        .filter(|l| l.contains("->") && !l.contains("__start"))
        .count()
}

#[test]
fn aut() {
    let Some(cases) = cases() else { return };
    for (name, states, transitions) in [("cwi_1_2", 1952, 2387), ("vasy_0_1", 289, 1224)] {
        let bytes = fs::read(cases.join(format!("aut/{name}.aut"))).expect("readable");
        let loaded = aut::read(&bytes, &AutOptions::default()).expect("a good file");
        assert_eq!(loaded.lints, []);
        assert_eq!(sizes(&loaded.value), (states, transitions), "{name}");
    }
}

#[test]
fn ioco_pairs_with_their_quiescence() {
    let Some(cases) = cases() else { return };
    let expected = [
        ("01_ioco_P", 4, 10),
        ("01_ioco_S", 4, 11),
        ("02_ioco_P", 4, 10),
        ("02_ioco_S", 4, 6),
        ("03_ioco_P", 4, 10),
        ("03_ioco_S", 4, 6),
        ("04_ioco_P", 3, 7),
        ("04_ioco_S", 4, 6),
        ("05_ioco_P", 5, 12),
        ("05_ioco_S", 4, 6),
    ];
    for (name, states, transitions) in expected {
        let path = cases.join(format!("ioco/{name}.dot"));
        let text = fs::read_to_string(&path).expect("readable");
        let deltas = text.matches("QUIESCENCE").count();
        let loaded = load(&path, DotMode::Iolts);
        assert_eq!(loaded.lints, [], "{name}");
        assert_eq!(sizes(&loaded.value), (states, transitions), "{name}");
        assert_eq!(edges_in(&text), transitions + deltas, "{name}");
        let kept = DotOptions {
            delta: DeltaPolicy::Keep,
            ..DotOptions::default()
        };
        let kept = dot::read(text.as_bytes(), &kept).expect("δ kept").value;
        assert_eq!(kept.transition_count(), transitions + deltas);
        assert_eq!(loaded.value.name(loaded.value.initial()), "s1");
    }
}

#[test]
fn mealy_machines() {
    let Some(cases) = cases() else { return };
    // States of the machine and edges; an edge is one state and two transitions more.
    let expected = [
        ("mqtt/ActiveMQ__two_client_will_retain", 18, 162),
        ("mqtt/VerneMQ__two_client_will_retain", 17, 153),
        ("mqtt/emqtt__two_client_will_retain", 18, 162),
        ("mqtt/hbmqtt__two_client_will_retain", 17, 153),
        ("mqtt/mosquitto__two_client_will_retain", 18, 162),
        ("tls/NSS_3.17.4_server_regular", 8, 64),
        ("tls/OpenSSL_1.0.2_server_regular", 7, 49),
        ("tls/RSA_BSAFE_C_4.0.4_server_regular", 9, 72),
        ("tls/miTLS_0.1.3_server_regular", 6, 48),
        ("coffee_mealy", 2, 4),
    ];
    for (name, states, edges) in expected {
        let path = cases.join(format!("mealy/{name}.dot"));
        let text = fs::read(&path).expect("readable");
        assert!(dot::looks_like_mealy(&text), "{name}");
        let loaded = load(&path, DotMode::Mealy(MealyOptions::default()));
        assert_eq!(loaded.lints, [], "{name}");
        assert_eq!(sizes(&loaded.value), (states + edges, 2 * edges), "{name}");
    }
}

/// This file joins inputs with ` | ` in its markup, and labels the mark of the initial state.
#[test]
fn a_mealy_machine_in_markup() {
    let Some(cases) = cases() else { return };
    let path = cases.join("mealy/tls/JSSE_1.8.0_25_server_regular.dot");
    let text = fs::read_to_string(&path).expect("readable");
    let inputs: usize = text
        .lines()
        .filter(|l| l.contains("->") && !l.contains("__start"))
        .map(|l| 1 + l.split("<br").next().unwrap_or("").matches(" | ").count())
        .sum();
    let loaded = load(&path, DotMode::Mealy(MealyOptions::default()));
    assert_eq!(
        loaded.lints.iter().map(|d| d.code).collect::<Vec<_>>(),
        [iolite_lang::codes::DOT_START_LABEL]
    );
    assert_eq!(sizes(&loaded.value), (9 + inputs, 2 * inputs));
}

#[test]
fn silent_outputs_are_quiescence() {
    let Some(cases) = cases() else { return };
    let path = cases.join("mealy/tls/OpenSSL_1.0.2_server_regular.dot");
    let text = fs::read_to_string(&path).expect("readable");
    let silent = text.matches("/Empty\"").count();
    let mode = DotMode::Mealy(MealyOptions {
        silent_outputs: vec!["Empty".to_owned()],
    });
    let lts = load(&path, mode).value;
    assert!(silent > 0);
    assert_eq!(sizes(&lts), (7 + 49 - silent, 2 * 49 - silent));
    assert!(lts.labels().get_text("!Empty").is_none());
}

#[test]
fn a_moore_machine() {
    let Some(cases) = cases() else { return };
    let path = cases.join("mealy/car_alarm.dot");
    let moore = load(&path, DotMode::Moore(MealyOptions::default())).value;
    assert_eq!(sizes(&moore), (6 + 12, 24));
    assert_eq!(moore.describe(&moore.initial()), "q1_locked_closed");
    // As it stands it is an automaton over plain actions.
    assert_eq!(sizes(&load(&path, DotMode::Iolts).value), (6, 12));
}

#[test]
fn ssh_observers_are_acceptors() {
    let Some(cases) = cases() else { return };
    let options = DotOptions {
        directions: Directions {
            input_prefixes: vec!["I_".to_owned()],
            output_prefixes: vec!["O_".to_owned()],
            strip_prefixes: true,
            ..Directions::default()
        },
        ..DotOptions::default()
    };
    let files = dot_files(&cases.join("ssh-observers"));
    assert_eq!(files.len(), 24);
    for path in files {
        let text = fs::read_to_string(&path).expect("readable");
        let loaded = dot::read_acceptor(text.as_bytes(), &options)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(loaded.lints, [], "{}", path.display());
        let acceptor = loaded.value;
        let states = text
            .lines()
            .filter(|l| l.contains("circle\"") && !l.contains("->"))
            .count();
        assert_eq!(
            sizes(&acceptor.lts),
            (states, edges_in(&text)),
            "{}",
            path.display()
        );
        assert_eq!(
            acceptor.accepting.len(),
            text.matches("doublecircle").count()
        );
        assert_eq!(acceptor.lts.labels().inputs().count(), 13);
        assert_eq!(acceptor.lts.labels().outputs().count(), 14);
    }
}

//! Whatever comes in, every reader ends in time, without panic, and says what is wrong.

use std::time::{Duration, Instant};

use iolite_formats::aut::{self, AutOptions};
use iolite_formats::dot::{self, DotMode, DotOptions, MealyOptions};
use iolite_formats::hoa::{self, HoaReading};
use iolite_formats::{javapt, json, test_case};
use iolite_lang::{Diagnostic, Rejected, Style, render};
use proptest::prelude::*;

const IOL: &str = include_str!("../../iolite-lang/tests/data/everything.iol");
const AUT: &str = "des (0, 4, 3)\n(0, \"?a\", 1)\n(1, \"!x(1, 2)\", 2)\n(2, i, 0)\n(0, delta, 0)\n";
const DOT: &str = "digraph g {\n  rankdir=LR; __start0 [shape=none, label=\"\"];\n  s0 [label=\"a b\"]; /* c */\n  __start0 -> s0;\n  s0 -> s1 -> s0 [label=\"?a\"]; // d\n  subgraph { s1 -> s2 [label=<x<br />y>] }\n}\n";
const JSON: &str = r#"{"schema":"iolite/lts/1","initial":0,"labels":[{"kind":"internal","name":"i"},{"kind":"delta","name":"delta"},{"kind":"input","name":"a"}],"states":[{"name":"s"},{}],"transitions":[{"source":0,"label":2,"target":1}]}"#;
const HOA: &str = "HOA: v1 States: 2 Start: 0 AP: 1 \"p\" Acceptance: 1 Inf(0) --BODY-- State: 0 [0] 1 [!0] 0 State: 1 {0} [0] 1 [!0] 0 --END--";
const XML: &str = r#"<?xml version="1.0"?><!-- c --><StreettAutomaton><Alphabet><Event id="a"/></Alphabet><States class='tree-set'><no-comparator/><State id="é" initial="true"><Transition event="a" nextState="é"/></State></States><Description>&lt;d&#65; <![CDATA[<x>]]></Description><AcceptingCondition><Pair P="é" R=""/></AcceptingCondition></StreettAutomaton>"#;
const CASE: &str = r#"{"format":"iolite-test-case","version":1,"name":"t","relation":"ioco","model":{"name":"","hash":""},"inputs":["a"],"outputs":["x"],"states":[{"stimulate":"?a","next":1,"verdict":"pass"},{"observe":[["!x",2],["delta",2]],"verdict":"inconc"},{"verdict":"pass"}]}"#;
const SEEDS: [&str; 7] = [IOL, AUT, DOT, JSON, HOA, XML, CASE];

/// Feeds every reader. Spans must be within the text.
fn feed(bytes: &[u8]) {
    let within = |found: &[Diagnostic]| {
        for d in found {
            assert!(
                d.span.start <= d.span.end && d.span.end <= bytes.len() + 1,
                "{d:?}"
            );
        }
        render("f", bytes, found, Style { colour: true });
    };
    match aut::read(bytes, &AutOptions::default()) {
        Ok(loaded) => within(&loaded.lints),
        Err(Rejected(found)) => within(&found),
    }
    for mode in [
        DotMode::Iolts,
        DotMode::Mealy(MealyOptions::default()),
        DotMode::Moore(MealyOptions::default()),
    ] {
        let options = DotOptions {
            mode,
            ..DotOptions::default()
        };
        match dot::read_acceptor(bytes, &options) {
            Ok(loaded) => within(&loaded.lints),
            Err(Rejected(found)) => within(&found),
        }
    }
    match json::read(bytes) {
        Ok(loaded) => within(&loaded.lints),
        Err(Rejected(found)) => within(&found),
    }
    let text = String::from_utf8_lossy(bytes);
    let _ = hoa::read(&text, HoaReading::AsMarked);
    if let Err(javapt::JavaPtError::Xml { at, .. }) = javapt::read(&text) {
        assert!(at <= text.len() && text.is_char_boundary(at), "byte {at}");
    }
    let _ = test_case::json::read(&text);
}

fn in_time(what: &str, bytes: &[u8]) {
    let start = Instant::now();
    println!("{what}");
    feed(bytes);
    let time = start.elapsed();
    assert!(time < Duration::from_secs(20), "{what} took {time:?}");
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<prop::sample::Index>(),
        0..5u8,
        any::<u8>(),
        1..40usize,
    );
    (
        prop::sample::select(SEEDS.to_vec()),
        proptest::collection::vec(change, 1..6),
    )
        .prop_map(|(text, changes)| {
            let mut bytes = text.as_bytes().to_vec();
            for (at, what, byte, length) in changes {
                if bytes.is_empty() {
                    break;
                }
                let at = at.index(bytes.len());
                let end = (at + length).min(bytes.len());
                match what {
                    0 => bytes[at] = byte,
                    1 => {
                        bytes.drain(at..end);
                    }
                    2 => {
                        let piece = bytes[at..end].to_vec();
                        bytes.splice(at..at, piece);
                    }
                    3 => bytes.truncate(at),
                    _ => bytes.insert(at, b"{}()[]|;\"<>*?!-="[usize::from(byte) % 16]),
                }
            }
            bytes
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        feed(&bytes);
    }

    #[test]
    fn mutated_files(bytes in mutated()) {
        feed(&bytes);
    }
}

#[test]
fn every_prefix_of_a_file() {
    for text in SEEDS {
        for end in (0..text.len()).step_by(7) {
            feed(&text.as_bytes()[..end]);
        }
    }
}

#[test]
fn the_seeds_are_good_files() {
    assert!(aut::read(AUT.as_bytes(), &AutOptions::default()).is_ok());
    assert!(json::read(JSON.as_bytes()).is_ok());
    assert!(hoa::read(HOA, HoaReading::AsMarked).is_ok());
    assert_eq!(javapt::read(XML).unwrap().description, "<dA <x>");
    assert!(test_case::json::read(CASE).is_ok());
}

#[test]
fn deep_nesting() {
    for (open, count) in [
        ("(", 200_000),
        ("[", 200_000),
        ("{", 200_000),
        ("!", 200_000),
        ("-", 200_000),
        ("<", 200_000),
        ("/*", 50_000),
        ("<a>", 100_000),
        ("<![CDATA[", 50_000),
    ] {
        let pile = open.repeat(count);
        in_time("a pile", pile.as_bytes());
        for head in [
            "digraph { ",
            "digraph { a -> ",
            "{\"schema\":",
            "{\"format\":",
            "HOA: v1 Acceptance: 1 ",
            "<StreettAutomaton>",
        ] {
            in_time(head, format!("{head}{pile}").as_bytes());
        }
    }
}

/// What the XML reader bounds before it builds a tree: nesting, attributes, declarations.
#[test]
fn xml_is_bounded() {
    let fault = |text: &str| match javapt::read(text) {
        Err(javapt::JavaPtError::Xml { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    let start = Instant::now();
    let nested = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
    assert_eq!(fault(&nested(33)), "elements are nested too deep");
    assert_eq!(fault(&nested(200_000)), "elements are nested too deep");
    assert!(!matches!(
        javapt::read(&nested(32)),
        Err(javapt::JavaPtError::Xml { .. })
    ));
    // Each of these would remember all namespaces of those around it.
    let namespaces = (0..100_000)
        .map(|k| format!("<a xmlns:n{k}='{k}'>"))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(fault(&namespaces), "elements are nested too deep");
    let wide = (0..200_000)
        .map(|k| format!(" a{k}='>'"))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(
        fault(&format!("<a{wide}/>")),
        "an element has too many attributes"
    );
    let bomb = r#"<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>"#;
    assert_eq!(fault(bomb), "document type declarations are not read");
    assert_eq!(
        fault("<!DOCTYPE a><a/>"),
        "document type declarations are not read"
    );
    // Closed and quoted marks are no nesting.
    let many = XML.replace(
        "<no-comparator/>",
        &"<b/><!-- <c> --><d e='<' /><?f <g> ?>"
            .replace("'<'", "'/>'")
            .repeat(10_000),
    );
    assert!(javapt::read(&many).is_ok());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn long_chains() {
    for (head, link) in [
        ("digraph { a", " -> a"),
        ("digraph { a [label=\"x\"", " + \"y\""),
        ("HOA: v1 Acceptance: 1 Inf(0)", " & Inf(0)"),
        ("<StreettAutomaton", " a='b'"),
    ] {
        in_time(head, format!("{head}{}", link.repeat(60_000)).as_bytes());
    }
}

#[test]
fn a_label_of_a_megabyte() {
    let long = "x".repeat(1 << 20);
    for text in [
        format!("des (0, 1, 2)\n(0, \"{long}\", 1)\n"),
        format!("digraph {{ a -> b [label=\"{long}\"] }}"),
        XML.replace('é', &long),
    ] {
        in_time("a megabyte", text.as_bytes());
    }
    let aut_text = format!("des (0, 1, 2)\n(0, \"{long}\", 1)\n");
    assert!(aut::read(aut_text.as_bytes(), &AutOptions::default()).is_ok());
}

#[test]
fn many_lines() {
    let deltas = (0..20_000)
        .map(|k| format!("({k}, delta, {k})\n"))
        .collect::<Vec<_>>()
        .concat();
    in_time(
        "deltas",
        format!("des (0, 20000, 20000)\n{deltas}").as_bytes(),
    );
}

#[test]
fn crlf_and_byte_order_marks_change_nothing() {
    let aut_text = format!("\u{feff}{}", AUT.replace('\n', "\r\n"));
    let loaded = aut::read(aut_text.as_bytes(), &AutOptions::default()).expect("read");
    assert_eq!(loaded.value.state_count(), 3);
    let xml = format!("\u{feff}\r\n{XML}");
    assert_eq!(javapt::read(&xml), javapt::read(XML));
}

//! Whatever comes in, the language ends in time, without panic, and says what is wrong.

use std::time::{Duration, Instant};

use iolite_lang::{
    Diagnostic, Style, check, fmt, lower_lazily, lower_observer, lower_purpose, lower_system,
    lower_test, lower_traces, parse, parse_bytes, render, systems,
};
use iolite_lts::Labels;
use proptest::prelude::*;

const IOL: &str = include_str!("data/everything.iol");

/// Feeds the parser and everything behind it. Spans must be within the text.
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
    let (file, found) = parse_bytes(bytes);
    within(&found);
    // The checker and the lowering take any tree, a broken one, too.
    within(&check::check(&file));
    let labels = Labels::new();
    for name in systems(&file).into_iter().take(8) {
        let _ = lower_system(&file, name, 200);
        let _ = lower_lazily(&file, name, 200);
    }
    for item in file.items.iter().take(40) {
        let name = &item.name().text;
        let _ = lower_observer(&file, name, &labels);
        let _ = lower_purpose(&file, name, &labels);
        let _ = lower_test(&file, name);
        let _ = lower_traces(&file, name, &labels);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = fmt::format(text);
    }
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
    proptest::collection::vec(change, 1..6).prop_map(|changes| {
        let mut bytes = IOL.as_bytes().to_vec();
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

/// Tokens in any order reach further into the parser than bytes do.
fn token_soup() -> impl Strategy<Value = Vec<u8>> {
    let tokens = vec![
        "system", "process", "observer", "property", "traces", "S", "P", "x", "=", "{", "}", "(",
        ")", "[", "]", "->", ";", ",", "[]", "|||", "||", "|[", "|", "hide", "in", "each", "0..2",
        "state", "initial", "violate", "?a", "!b", "*", "delta", "i", "stop", "ltl", "G", "U",
        "not", "always", "streett", "pair", "if", "then", "else", ":=", "/", "var", "const", ":",
        "int", "+", "==", "rename", "over", "for", "\"q\"", "1", ".", "@", "// c\n", "/* d */",
    ];
    proptest::collection::vec(prop::sample::select(tokens), 0..60)
        .prop_map(|t| t.join(" ").into_bytes())
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

    #[test]
    fn arbitrary_tokens(bytes in token_soup()) {
        feed(&bytes);
    }
}

#[test]
fn every_prefix_of_a_file() {
    for end in (0..IOL.len()).step_by(7) {
        feed(&IOL.as_bytes()[..end]);
    }
}

#[test]
fn the_seed_is_a_good_file() {
    assert_eq!(parse(IOL).1, []);
}

#[test]
fn deep_nesting() {
    for (open, count) in [
        ("process P = (", 1),
        ("(", 200_000),
        ("[", 200_000),
        ("{", 200_000),
        ("!", 200_000),
        ("-", 200_000),
        ("not ", 100_000),
        ("<", 200_000),
        ("a;", 100_000),
        ("/*", 50_000),
    ] {
        let pile = open.repeat(count);
        in_time("a pile", pile.as_bytes());
        for head in [
            "process P = ",
            "property P = ltl ",
            "property P = always ",
            "property P = ",
            "fn f(): int = ",
            "system S { assume ",
            "system S { state s { a [",
            "type T = ",
        ] {
            in_time(head, format!("{head}{pile}").as_bytes());
        }
    }
}

#[test]
fn long_chains() {
    for (head, link) in [
        ("fn f(): int = 1", " + 1"),
        ("fn f(): int = x", ".y"),
        ("fn f(): int = x", "[0]"),
        ("process P = a; stop", " [] a; stop"),
        ("process P = stop", " ||| stop"),
        ("property P = ltl a", " U a"),
        ("property P = ltl a", " and a"),
        ("property P = always a", "*"),
        ("property P = always a", " | a"),
        ("property P = Q", " and Q"),
        ("type T = int", "[]"),
    ] {
        in_time(head, format!("{head}{}", link.repeat(60_000)).as_bytes());
    }
}

/// Each label is looked for among all, and each of its uses too.
#[test]
fn many_labels() {
    let (mut declared, mut used) = (String::new(), String::new());
    for k in 0..3_000 {
        declared += &format!("input a{k}\n");
        used += &format!("?a{k} -> s\n");
    }
    let text = format!("system S {{ {declared} initial state s {{ {used} }} }}");
    in_time("labels", text.as_bytes());
}

/// Small texts whose meaning explodes.
#[test]
fn explosions() {
    let doubling: String = (0..40)
        .map(|k| format!("process P{k} = P{n} ||| P{n}\n", n = k + 1))
        .chain(["process P40 = a; stop\n".to_owned()])
        .collect();
    in_time("doubling", doubling.as_bytes());
    let chain: String = (0..3000)
        .map(|k| format!("process P{k} = P{}\n", k + 1))
        .chain(["process P3000 = a; stop\n".to_owned()])
        .collect();
    in_time("a chain of calls", chain.as_bytes());
    in_time(
        "growth",
        b"process P = a; (P ||| b; P)\nprocess Q = a; hide a in (Q || Q)",
    );
    in_time(
        "sync",
        b"process P = each k in 0..1000 || (a; stop [] a; a; stop)",
    );
    let aliases = (0..2000)
        .map(|k| format!("type T{k} = T{}[]\n", k + 1))
        .collect::<Vec<_>>()
        .concat();
    in_time("aliases", aliases.as_bytes());
}

#[test]
fn budgets_are_kept_and_named() {
    let (file, found) = parse("process Grow = a; (Grow ||| b; stop)");
    assert_eq!(found, []);
    let found = lower_system(&file, "Grow", 500).expect_err("infinite");
    assert_eq!(found[0].code, iolite_lang::codes::OVER_BUDGET);
    assert!(found[0].message.contains("`Grow`"), "{}", found[0].message);
}

#[test]
fn a_label_of_a_megabyte() {
    let long = "x".repeat(1 << 20);
    for text in [
        format!("system {long} {{ initial state {long} {{ ?{long} -> {long} }} }}"),
        format!("system S {{ initial state \"{long}\" {{ ?a -> {long}y }} }}"),
        format!("process P = {long}"),
        format!("// {long}"),
    ] {
        in_time("a megabyte", text.as_bytes());
    }
}

#[test]
fn many_states_and_lines() {
    let states = (0..20_000)
        .map(|k| format!("state s{k} {{ a -> s{} }}\n", (k + 1) % 20_000))
        .collect::<Vec<_>>()
        .concat();
    in_time(
        "states",
        format!("system S {{ initial {states} }}").as_bytes(),
    );
    let wrong = (0..20_000)
        .map(|k| format!("state s{k} {{ a -> }}\n"))
        .collect::<Vec<_>>()
        .concat();
    in_time("errors", format!("system S {{ {wrong} }}").as_bytes());
}

#[test]
fn crlf_and_byte_order_marks_change_nothing() {
    let (file, found) = parse(&format!("\u{feff}{}", IOL.replace('\n', "\r\n")));
    assert_eq!(found, []);
    assert_eq!(file.items.len(), parse(IOL).0.items.len());
}

#[test]
fn invalid_utf8_has_a_place() {
    let (_, found) = parse_bytes(b"system S {\n  \xff\n}");
    assert_eq!(found[0].code, iolite_lang::codes::NOT_UTF8);
    assert_eq!(found[0].span.start, 13);
    assert!(
        render("f.iol", b"system S {\n  \xff\n}", &found, Style::default()).contains("f.iol:2:3")
    );
}

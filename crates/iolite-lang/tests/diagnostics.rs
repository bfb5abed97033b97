//! What people see when something is wrong: one snapshot a mistake, from `data/mistakes.txt`.

use std::fmt::Write;

use iolite_lang::{Style, parse_and_check, render};

/// Cases are separated by lines of dashes.
const MISTAKES: &str = include_str!("data/mistakes.txt");

#[test]
fn mistakes() {
    let mut out = String::new();
    for case in MISTAKES.split("-----\n") {
        let (_, found) = parse_and_check(case);
        let text = render("m.iol", case.as_bytes(), &found, Style::default());
        assert!(!found.is_empty(), "no mistake in:\n{case}");
        writeln!(out, "{}\n{text}", "=".repeat(60)).expect("a string");
    }
    expect_test::expect_file!["data/mistakes.expected.txt"].assert_eq(&out);
}

#[test]
fn all_mistakes_of_a_file_come_at_once() {
    let text = "system S {\n  state a { ?x -> }\n  state b { -> c }\n  sate c\n}\nproces P = stop\nprocess Q = a; [] b\n";
    let (file, found) = parse_and_check(text);
    let lines: Vec<u32> = found
        .iter()
        .map(|d| file.lines.line(d.span.start))
        .collect();
    assert_eq!(lines, [2, 3, 4, 6, 7]);
}

//! The layout keeps the tree, keeps the comments, and is its own layout.

use iolite_lang::{fmt, parse};
use proptest::prelude::*;

const SEED: &str = include_str!("data/everything.iol");

/// The tree without places.
fn tree(text: &str) -> String {
    let (file, found) = parse(text);
    assert_eq!(found, [], "{text}");
    let debug = format!("{:?}", file.items);
    let mut result = String::new();
    let mut rest = debug.as_str();
    while let Some(at) = rest.find('@') {
        result.push_str(&rest[..at]);
        rest = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    }
    result + rest
}

fn comments(text: &str) -> Vec<String> {
    parse(text).0.comments.into_iter().map(|c| c.text).collect()
}

fn check(text: &str) {
    let once = fmt::format(text).expect("parses");
    assert_eq!(tree(&once), tree(text), "{once}");
    assert_eq!(comments(&once), comments(text), "{once}");
    assert_eq!(
        fmt::format(&once).expect("parses"),
        once,
        "not idempotent:\n{text}"
    );
}

#[test]
fn the_seed_is_in_canonical_layout() {
    check(SEED);
    expect_test::expect_file!["data/everything.formatted.iol"]
        .assert_eq(&fmt::format(SEED).expect("parses"));
}

#[test]
fn a_file_with_mistakes_is_left_alone() {
    assert!(fmt::format("system S {").is_err());
    assert_eq!(
        fmt::format("// only this\n").as_deref(),
        Ok("// only this\n")
    );
    assert_eq!(fmt::format("").as_deref(), Ok(""));
    // With the parentheses of the layout it would be nested too deep to be read again.
    let deep = format!("system S = {}(a; stop)", "hide a in ".repeat(90));
    assert_eq!(parse(&deep).1, []);
    let found = fmt::format(&deep).expect_err("too deep");
    assert_eq!(found[0].code, iolite_lang::codes::TOO_DEEP);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// White space and comments between any two tokens.
    #[test]
    fn any_layout_of_the_seed(noise in proptest::collection::vec((any::<prop::sample::Index>(), 0..6u8), 1..12)) {
        let mut text = SEED.to_owned();
        for (k, (at, what)) in noise.into_iter().enumerate() {
            // Only at a blank outside of comments and strings is there room between tokens.
            let places: Vec<usize> = blanks(&text);
            let at = places[at.index(places.len())];
            let piece = match what {
                0 => "\n".to_owned(),
                1 => "\n\n\n".to_owned(),
                2 => format!(" /* n{k} */ "),
                3 => format!(" // n{k}\n"),
                4 => format!("\n// n{k}\n"),
                _ => format!("\n/* n{k}\n   two lines */\n"),
            };
            text.insert_str(at, &piece);
        }
        check(&text);
    }
}

fn blanks(text: &str) -> Vec<usize> {
    let (file, _) = parse(text);
    let inside = |at: usize| {
        file.comments
            .iter()
            .any(|c| c.span.start < at && at <= c.span.end)
    };
    let mut quoted = false;
    let mut result = Vec::new();
    for (at, c) in text.char_indices() {
        if inside(at) {
            continue;
        }
        if c == '"' {
            quoted = !quoted;
        }
        if c == ' ' && !quoted {
            result.push(at);
        }
    }
    result
}

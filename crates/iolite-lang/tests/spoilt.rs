//! A syntax error in one declaration hides no mistake in another, and invents none.

use iolite_lang::syntax::ast::Item;
use iolite_lang::{Diagnostic, parse, parse_and_check};

const SEED: &str = include_str!("data/everything.iol");

fn codes(text: &str) -> Vec<String> {
    let (_, found) = parse_and_check(text);
    found.iter().map(|d| d.code.to_string()).collect()
}

/// One line a finding: its line in the file, its code, its message.
fn lines(text: &str) -> Vec<String> {
    let (file, found) = parse_and_check(text);
    let line = |d: &Diagnostic| {
        let line = file.lines.line(d.span.start);
        format!("{line} {} {}", d.code, d.message)
    };
    found.iter().map(line).collect()
}

#[test]
fn syntax_and_type_errors_come_together() {
    let text = "system A {\n  var n: int = true\n  input a\n  initial state s { ?a [n] / m := 1 -> t }\n}\nsystem B {\n  initial state s { ?a -> }\n}\nprocess C = D\n";
    assert_eq!(
        lines(text),
        [
            "2 IOL201 `n` is of sort int, but this is bool",
            "4 IOL201 a guard is of sort bool, but this is int",
            "4 IOL203 `m` is not declared",
            "4 IOL104 system `A` has no state `t`",
            "7 IOL004 expected the name of a state, found `}`",
            "9 IOL101 no system or process is called `D`",
        ]
    );
}

/// Everything in the second half of each text is right once the first half is.
#[test]
fn nothing_is_said_about_what_a_broken_declaration_may_declare() {
    for text in [
        // A machine, in its header, in a member, in a transition, at its end.
        "system S [ input a initial state s { ?a -> s } }\nsystem N = hide a in (S ||| S)",
        "system S { input a, output x initial state s { ?a -> s } }\nobserver O for S { initial state p { !x -> v * -> p } violate state v }",
        "system S { input a(n: int) initial state s { ?a(n) [n > ] -> s } }\nobserver O for S { var k: int = 0 initial state p { ?a(m) / k := m -> p !y -> v } violate state v }\nproperty P for S = ltl G ?a",
        "system S { input a initial state s { ?a -> s }\ntraces F for S = { ?a }\nproperty P for S = always @F",
        // A brace that closes too early, one too many, a keyword that is none.
        "system S { input a initial state s { ?a -> t } } state t { ?a -> s } }\nsystem N = S",
        "system S { input a initial state s { ?a -> s } } }\nsystem N = hide a in S",
        "sistem S { input a initial state s { ?a -> s } }\nsystem N = hide a in S",
        "process P = a; stop garbage Q = b; stop\nsystem N = P || Q",
        "process P = a; stop }\nsystem N = rename a -> b in P",
        // Sorts, values, functions.
        "enum Colour { red green }\nsystem S { var c: Colour = red input a initial state s { ?a [c == green] -> s } }",
        "enm Colour { red, green }\nsystem S { var c: Colour = red input a initial state s { ?a [c == green] -> s } }",
        "record Point { x: int y: int }\nfn f(p: Point): int = p.x + Point { x = 1, y = 2 }.y",
        "type Path = int[\nfn f(p: Path): int = p[0]",
        "fn twice(n: int: int = n + n\nfn f(n: int): int = twice(n)",
        // Characters, strings and comments.
        "enum Colour { red, # green }\nfn f(c: Colour): bool = c == green",
        "process P = \"open\nsystem N = hide open in P",
        "system N = P\n/* process P = stop",
        // Properties and sets of traces.
        "property P over { a } = always (a\nproperty Q = not P",
        "traces F = { ?a.?b\nproperty Q over { ?a, ?b } = always @F",
        "property P over { a } = ltl G (a U)\nproperty Q = not P and P",
    ] {
        let syntax = parse(text).1;
        assert!(!syntax.is_empty(), "{text}");
        assert_eq!(
            lines(text).len(),
            syntax.len(),
            "{text}\n{:#?}",
            lines(text)
        );
    }
}

#[test]
fn words_of_a_broken_declaration_excuse_no_variable() {
    let text = "system A { var m: int = 0 input a initial state s { ?a [m > ] -> s } }\nsystem B { input b initial state s { ?b [m > 0] -> s } }";
    assert_eq!(codes(text), ["IOL004", "IOL203"]);
}

#[test]
fn a_file_that_is_given_up_is_not_checked_from_there_on() {
    let deep = format!(
        "process P = Q\nprocess R = {}\nprocess Q = stop\nenum E {{ a }}\nfn f(): E = a",
        "(".repeat(200)
    );
    assert_eq!(codes(&deep), ["IOL008"]);
    let noise = format!(
        "process P = Q\nsystem S {{ {} }}\nprocess Q = stop",
        "# ".repeat(80)
    );
    assert!(!codes(&noise).contains(&"IOL101".to_owned()));
}

/// A file without mistakes in which one token is lost or doubled may have errors of names or types
/// in the declaration where the token stood; a syntax error causes none elsewhere.
#[test]
fn one_token_too_few_or_too_many() {
    let mut spoilt = 0;
    for (start, token) in tokens(SEED) {
        for doubled in [false, true] {
            let mut text = SEED.to_owned();
            if doubled {
                text.insert_str(start, &format!("{token} "));
            } else {
                text.replace_range(start..start + token.len(), " ");
            }
            let (file, syntax) = parse(&text);
            if syntax.is_empty() {
                continue;
            }
            spoilt += 1;
            let (_, found) = parse_and_check(&text);
            let mut items = file.items.iter().map(Item::span);
            let own = items.find(|s| s.start <= start && start < s.end);
            for d in found.iter().filter(|d| d.is_error() && !syntax.contains(d)) {
                let inside = own.is_some_and(|s| s.start <= d.span.start && d.span.end <= s.end);
                assert!(inside, "{doubled} `{token}` at {start}: {d:?}");
            }
        }
    }
    assert!(spoilt > 1000, "{spoilt} texts with syntax errors");
}

/// The words and signs outside of comments, with their places.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let (file, _) = parse(text);
    let inside = |at: usize| {
        file.comments
            .iter()
            .any(|c| c.span.start <= at && at < c.span.end)
    };
    let mut result = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if c.is_alphanumeric() {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())
        } else {
            c.len_utf8()
        };
        if !c.is_whitespace() && !inside(at) {
            result.push((at, &rest[..length]));
        }
        at += length;
    }
    result
}

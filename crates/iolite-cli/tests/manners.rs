//! How much a command says, and in colour or not.

mod common;

use common::{iolite, scratch, write};

const CANDY: &str = "examples/candy/candy.iol";

#[test]
fn quiet_leaves_the_answer() {
    let sut = format!("model:{CANDY}");
    let args = ["test", CANDY, "--sut", &sut, "--runs", "20", "--no-journal"];
    let long = iolite(&args).expect(0);
    assert!(long.stdout.contains("pass means"), "{}", long.stdout);
    assert!(long.stdout.contains("next run"), "{}", long.stdout);
    let short = iolite(&[&args[..], &["-q"]].concat()).expect(0);
    assert!(short.stdout.contains("20 pass"), "{}", short.stdout);
    assert!(!short.stdout.contains("pass means"), "{}", short.stdout);
    assert!(!short.stdout.contains("next run"), "{}", short.stdout);
}

/// Warnings go, errors stay.
#[test]
fn quiet_leaves_errors() {
    let mut args = vec!["relate", "ioco", CANDY, CANDY, "--input", "shil"];
    args.extend(["--complete-inputs", "self-loop"]);
    let warned = iolite(&args).expect(0);
    assert!(warned.stderr.contains("warning"), "{}", warned.stderr);
    let quiet = iolite(&[&args[..], &["--quiet"]].concat()).expect(0);
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, warned.stdout);
    let wrong = iolite(&["-q", "check", "no-such-file.iol"]).expect(2);
    assert!(
        wrong.stderr.contains("no-such-file.iol"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn colour_is_as_asked() {
    let folder = scratch("manners");
    let model = write(
        &folder,
        "wrong.iol",
        "system S { initial state A { ?a -> B } }",
    );
    let plain = iolite(&["check", &model]).expect(2);
    assert!(!plain.stderr.contains('\x1b'), "{}", plain.stderr);
    let coloured = iolite(&["check", &model, "--color", "always"]).expect(2);
    assert!(coloured.stderr.contains('\x1b'), "{}", coloured.stderr);
    let never = iolite(&["check", &model, "--color", "never"]).expect(2);
    assert_eq!(never.stderr, plain.stderr);
    iolite(&["check", &model, "--color", "sometimes"]).expect(2);
}

//! The pictures of the gallery are what the commands below them draw.

mod common;

use common::{iolite, root, scratch, write};

#[test]
fn pictures_are_what_their_commands_draw() {
    let folder = scratch("gallery");
    let page = std::fs::read_to_string(root().join("docs/gallery.md")).expect("the gallery");
    let mut drawn = 0;
    for line in page.lines() {
        let Some(command) = line.strip_prefix("    iolite ") else {
            continue;
        };
        let (rest, picture) = command.split_once(" -o ").expect("a picture");
        let again = folder.join("again.svg").display().to_string();
        let mut args: Vec<&str> = rest.split(' ').collect();
        args.extend(["-o", &again]);
        iolite(&args).expect(0);
        let now = std::fs::read_to_string(&again).expect("a picture");
        let kept = std::fs::read_to_string(root().join(picture)).expect("a kept picture");
        assert!(
            now == kept,
            "{picture} has changed: look at it, and run scripts/gallery"
        );
        assert!(
            page.contains(picture.trim_start_matches("docs/")),
            "{picture}"
        );
        drawn += 1;
    }
    assert!(drawn >= 6, "{drawn} pictures");
}

/// The product with an observer has a violating location that can be reached where `verify` refutes the
/// observer, and none where it proves it.
#[test]
fn products_show_what_verify_decides() {
    let folder = scratch("products");
    let observers = write(
        &folder,
        "w.iol",
        "observer NoChoc { initial state s { !choc -> bad  * -> s }  violate state bad }
         observer Paid { initial state s { ?shil, ?dub -> t  !liq, !choc -> bad  * -> s }
                         state t { * -> t }  violate state bad }",
    );
    let candy = "examples/candy/candy.iol";
    for (observer, refuted) in [("NoChoc", true), ("Paid", false)] {
        let observer = format!("{observers}#{observer}");
        let verified =
            iolite(&["verify", candy, "--property", &observer]).expect(i32::from(refuted));
        assert!(verified.stderr.is_empty(), "{}", verified.stderr);
        let args = ["show", candy, "--view", "product", "--observer", &observer];
        let drawn = iolite(&[&args[..], &["--format", "svg"]].concat())
            .expect(0)
            .stdout;
        assert_eq!(drawn.contains("(violate)"), refuted, "{drawn}");
        // Silence is observed too.
        assert!(drawn.contains("δ"), "{drawn}");
    }
}

/// Parts of a composition are boxes, in each format; states that somebody folds are one node.
#[test]
fn compositions_and_folding_by_hand() {
    let folder = scratch("boxes");
    let net = write(
        &folder,
        "net.iol",
        "system Left { input a  output mid  initial state s { ?a -> t }  state t { !mid -> s } }
         system Right { input mid  output x  initial state s { ?mid -> t }  state t { !x -> s } }
         system Net = hide mid in (Left |[mid]| Right)",
    );
    let net = format!("{net}#Net");
    let shown = |more: &[&str]| iolite(&[&["show", &net], more].concat()).expect(0).stdout;
    for format in ["svg", "dot", "mermaid", "plantuml"] {
        let text = shown(&["--view", "composition", "--format", format]);
        for part in ["Left", "Right", "environment", "mid"] {
            assert!(text.contains(part), "{format}: {text}");
        }
    }
    let whole = shown(&["--format", "svg"]);
    let states = |svg: &str| svg.matches("data-state=").count();
    let folded = shown(&["--format", "svg", "--collapse", "0,1"]);
    assert_eq!(states(&folded), states(&whole) - 1, "{folded}");
    assert!(folded.contains("data-members=\"0 1\""), "{folded}");
}

//! The pictures of the gallery are what the commands below them draw.

mod common;

use common::{iolite, root, scratch};

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

//! How long silence must last, and what is said of a verdict that rests on it.

mod common;

use common::{iolite, scratch, write};

/// A timeout for a state counts there, by its bare name: in a plain model, where data are solved for,
/// where they are unfolded, and beside a purpose.
#[test]
fn a_state_has_its_own_timeout() {
    let folder = scratch("timeouts");
    let plain = write(
        &folder,
        "plain.iol",
        "system M { input go, back
           initial state Idle { ?go -> Slow }  state Slow { ?back -> Idle } }
         purpose Both for M {
           initial state n { ?go -> g  * -> n }  state g { delta -> d  * -> g }
           state d { ?back -> b  * -> d }  state b { delta -> Yes  * -> b }  accept state Yes }",
    );
    let data = write(
        &folder,
        "data.iol",
        "system M { input go(n: 0..2), back  var last: 0..2 = 0
           initial state Idle { ?go(n) / last := n -> Slow }  state Slow { ?back -> Idle } }",
    );
    let sut = write(
        &folder,
        "sut.toml",
        "command = \"sh -c 'cat > /dev/null'\"
         [quiescence]
         timeout-ms = 30
         states = { Slow = 45, Idle = 15 }",
    );
    let events = folder.join("events.jsonl");
    let to = events.display().to_string();
    let (system, purpose) = (format!("{plain}#M"), format!("{plain}#Both"));
    for (model, more) in [
        (&system, &[][..]),
        (&system, &["--purpose", &purpose]),
        (&system, &["--relation", "ioconf"]),
        (&data, &[]),
        (&data, &["--unfold"]),
    ] {
        let args = [
            "test",
            model,
            "--sut",
            &sut,
            "--no-journal",
            "--events",
            &to,
        ];
        iolite(
            &[
                args.as_slice(),
                &["--runs", "8", "--steps", "8", "--seed", "1"],
                more,
            ]
            .concat(),
        );
        let mut slow = false;
        let mut seen = [0, 0];
        for line in std::fs::read_to_string(&events).unwrap().lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            if event["event"] == "run-started" {
                slow = false;
            }
            if let Some(action) = event["action"].as_str() {
                slow = action.starts_with("?go");
            }
            if event["event"] == "quiescence" {
                let expected = if slow { 45_000 } else { 15_000 };
                assert_eq!(event["patience"], expected, "{model} {more:?}");
                seen[usize::from(slow)] += 1;
            }
        }
        assert!(seen[0] > 0 && seen[1] > 0, "{model} {more:?}");
    }
}

//! How a crate tests itself against a model, without the command line.

use std::collections::VecDeque;
use std::time::Duration;

use iolite::{EmbeddedError, Model, SystemUnderTest, Tests};

const MODEL: &str = "
    // A turnstile: a coin unlocks it for one push, a push at the locked arm rings the bell.
    system Turnstile {
      input coin, push
      output pass, bell
      initial state Locked { ?coin -> Unlocked  ?push -> Alarm }
      state Unlocked { ?coin -> Unlocked  ?push -> Passing }
      state Passing { !pass -> Locked }
      state Alarm { !bell -> Locked }
    }";

/// The crate's own code; `swallows` makes it forget a coin that comes after another one.
struct Turnstile {
    unlocked: bool,
    swallows: bool,
    outputs: VecDeque<String>,
}

impl Turnstile {
    fn new(swallows: bool) -> Self {
        Self {
            unlocked: false,
            swallows,
            outputs: VecDeque::new(),
        }
    }
}

impl SystemUnderTest<String> for Turnstile {
    fn reset(&mut self) {
        *self = Self::new(self.swallows);
    }

    fn stimulate(&mut self, stimulus: &String) {
        if stimulus == "coin" {
            self.unlocked = !(self.swallows && self.unlocked);
            return;
        }
        let said = if self.unlocked { "pass" } else { "bell" };
        self.unlocked = false;
        self.outputs.push_back(said.to_owned());
    }

    fn output(&mut self, _patience: Duration) -> Option<String> {
        self.outputs.pop_front()
    }
}

fn tests() -> Tests {
    let model = Model::parse(MODEL.as_bytes(), "turnstile.iol", None).expect("a sound model");
    Tests::new(&model).runs(50).steps(50).seed(1)
}

#[test]
fn the_turnstile_conforms() {
    let passed = tests().check(Turnstile::new(false)).expect("it conforms");
    assert_eq!((passed.runs, passed.steps), (50, 2500));
}

#[test]
fn a_swallowed_coin_is_found() {
    match tests().check(Turnstile::new(true)) {
        Err(EmbeddedError::Fails(certificate)) => {
            assert_eq!(certificate.observed.as_deref(), Some("!bell"));
            assert_eq!(certificate.allowed, ["!pass"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mistake_in_the_model_is_shown_with_its_place() {
    let wrong = MODEL.replace("-> Unlocked  ?push -> Alarm", "-> Unloked  ?push -> Alarm");
    let error = Model::parse(wrong.as_bytes(), "turnstile.iol", None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean `Unlocked`?"), "{error}");
}

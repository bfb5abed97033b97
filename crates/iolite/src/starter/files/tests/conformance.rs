// The crate's own code against its model, as a test like any other.

use std::collections::VecDeque;
use std::time::Duration;

use iolite::{Campaign, SystemUnderTest, Workspace};
use turnstile::Turnstile;

/// What the test drives: stimuli go in, outputs are fetched.
struct TestedTurnstile {
    broken: bool,
    turnstile: Turnstile,
    outputs: VecDeque<String>,
}

impl TestedTurnstile {
    fn new(broken: bool) -> Self {
        Self {
            broken,
            turnstile: Turnstile::new(broken),
            outputs: VecDeque::new(),
        }
    }
}

impl SystemUnderTest<String> for TestedTurnstile {
    fn reset(&mut self) {
        *self = Self::new(self.broken);
    }

    fn stimulate(&mut self, stimulus: &String) {
        let answer = match stimulus.as_str() {
            "coin" => self.turnstile.coin(),
            "push" => self.turnstile.push(),
            other => panic!("the model has no input {other}"),
        };
        self.outputs.push_back(answer.to_owned());
    }

    fn output(&mut self, _patience: Duration) -> Option<String> {
        self.outputs.pop_front()
    }
}

fn campaign() -> Campaign {
    let workspace = Workspace::new();
    workspace.insert("turnstile.iol".as_ref(), include_str!("../turnstile.iol"));
    let campaign = Campaign::of(&workspace, "turnstile.iol").expect("a sound model");
    campaign.runs(20).steps(50).seed(1)
}

#[test]
fn the_turnstile_conforms() {
    campaign().check(TestedTurnstile::new(false)).unwrap();
}

#[test]
fn the_planted_fault_is_found() {
    let failed = campaign().check(TestedTurnstile::new(true)).unwrap_err();
    println!("{failed}");
}

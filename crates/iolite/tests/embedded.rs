//! How a crate tests itself against a model, without the command line.

use std::collections::VecDeque;
use std::time::Duration;

use iolite::{
    Campaign, CheckError, ConcreteAction, Event, Judge, JudgeOptions, SystemUnderTest, Verdict,
    WireValue, Workspace,
};

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

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.insert("turnstile.iol".as_ref(), MODEL);
    workspace
}

fn campaign() -> Campaign {
    let campaign = Campaign::of(&workspace(), "turnstile.iol").expect("a sound model");
    campaign.runs(50).steps(50).seed(1)
}

#[test]
fn the_turnstile_conforms() {
    let passed = campaign()
        .check(Turnstile::new(false))
        .expect("it conforms");
    assert_eq!((passed.summary.runs(), passed.summary.steps), (50, 2500));
    let coverage = passed.summary.coverage.expect("an explicit model");
    assert_eq!(coverage.seen, coverage.total);
}

#[test]
fn a_swallowed_coin_is_found_and_shrunk() {
    let error = campaign().check(Turnstile::new(true)).unwrap_err();
    let CheckError::Fails(certificate) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(certificate.trace, ["?coin", "?coin", "?push"]);
    assert_eq!(certificate.observed.as_deref(), Some("!bell"));
    assert_eq!(certificate.allowed, ["!pass"]);
    // What `.unwrap()` and a test that returns a `Result` print.
    assert!(format!("{error:?}").contains("✗ fail"), "{error:?}");
}

/// Shows an output to those who wait long enough, as a system with threads of its own may.
struct Sluggish {
    turnstile: Turnstile,
    needs: Duration,
}

impl SystemUnderTest<String> for Sluggish {
    fn reset(&mut self) {
        self.turnstile.reset();
    }

    fn stimulate(&mut self, stimulus: &String) {
        self.turnstile.stimulate(stimulus);
    }

    fn output(&mut self, patience: Duration) -> Option<String> {
        let enough = patience >= self.needs;
        enough.then(|| self.turnstile.output(patience)).flatten()
    }
}

#[test]
fn a_failure_by_silence_is_repeated_before_it_counts() {
    let campaign = || campaign().silence_after(Duration::from_millis(5));
    let slow = |needs| Sluggish {
        turnstile: Turnstile::new(false),
        needs,
    };
    // Slower than its time, and faster than what a repetition waits: nothing is proved.
    let mut events: Vec<Event> = Vec::new();
    let error = campaign()
        .check_with(slow(Duration::from_millis(50)), &mut events)
        .unwrap_err();
    assert!(matches!(error, CheckError::Flaky(_)), "{error:?}");
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Confirmation { .. }))
    );
    assert!(error.to_string().contains("flaky"), "{error}");
    // Silent for whoever waits.
    let error = campaign().check(slow(Duration::MAX)).unwrap_err();
    let CheckError::Fails(certificate) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(certificate.observed.as_deref(), Some("delta"));
    // The campaign that sums up does the same.
    let summary = campaign()
        .runs(3)
        .run_in_process(slow(Duration::from_millis(50)));
    let summary = summary.expect("it runs");
    assert!(
        summary.verdicts.contains_key(&Verdict::Flaky),
        "{summary:?}"
    );
    assert!(
        !summary.verdicts.contains_key(&Verdict::Fail),
        "{summary:?}"
    );
    campaign()
        .runs(3)
        .steps(5)
        .check(slow(Duration::ZERO))
        .expect("it conforms");
}

#[test]
fn safety_properties_and_journals() {
    let workspace = workspace();
    workspace.insert(
        "quiet.iol".as_ref(),
        "observer NoBell {
           initial state Calm { ?coin -> Paid  * -> Calm }
           state Paid { !bell -> Bad  !pass -> Calm  * -> Paid }
           violate state Bad
         }",
    );
    let options = JudgeOptions {
        observers: vec!["quiet.iol".into()],
        ..JudgeOptions::default()
    };
    let judge = Judge::new(&workspace, &"turnstile.iol".into(), &options).expect("sound");
    let campaign = Campaign::new(judge).runs(50).steps(50);
    let mut events: Vec<Event> = Vec::new();
    let error = campaign
        .check_with(Turnstile::new(true), &mut events)
        .unwrap_err();
    let CheckError::Fails(certificate) = error else {
        panic!("{error:?}");
    };
    assert_eq!(certificate.verdict, Verdict::ViolateFail);
    assert!(events.iter().any(|e| matches!(e, Event::Stimulus { .. })));
    campaign.check(Turnstile::new(false)).expect("it conforms");
}

/// Adds up what it is given; `greedy` gives one more from ten on.
struct Adder {
    sum: i64,
    greedy: bool,
    outputs: VecDeque<ConcreteAction>,
}

impl SystemUnderTest<ConcreteAction> for Adder {
    fn reset(&mut self) {
        self.sum = 0;
        self.outputs.clear();
    }

    fn stimulate(&mut self, stimulus: &ConcreteAction) {
        let n: i64 = stimulus.args[0].to_string().parse().expect("an integer");
        self.sum += n;
        let more = i64::from(self.greedy && self.sum >= 10);
        self.outputs.push_back(ConcreteAction {
            name: "sum".to_owned(),
            args: vec![WireValue::from(self.sum + more)],
        });
    }

    fn output(&mut self, _patience: Duration) -> Option<ConcreteAction> {
        self.outputs.pop_front()
    }
}

#[test]
fn data_are_tested_as_they_are() {
    let workspace = Workspace::new();
    workspace.insert(
        "adder.iol".as_ref(),
        "system Adder {
           input add(n: int)
           output sum(s: int)
           var total: int = 0
           initial state Ready { ?add(n) [0 <= n && n < 100] / total := total + n -> Say }
           state Say { !sum(s) [s == total] -> Ready }
         }",
    );
    let adder = |greedy| Adder {
        sum: 0,
        greedy,
        outputs: VecDeque::new(),
    };
    let campaign = Campaign::of(&workspace, "adder.iol#Adder").expect("a sound model");
    campaign.check(adder(false)).expect("it adds");
    let error = campaign.check(adder(true)).unwrap_err();
    assert!(matches!(error, CheckError::Fails(_)), "{error:?}");
}

#[test]
fn a_mistake_in_the_model_is_shown_with_its_place() {
    let wrong = MODEL.replace("-> Unlocked  ?push -> Alarm", "-> Unloked  ?push -> Alarm");
    let workspace = Workspace::new();
    workspace.insert("turnstile.iol".as_ref(), wrong);
    let Err(error) = Campaign::of(&workspace, "turnstile.iol") else {
        panic!("the model has a mistake");
    };
    let error = error.to_string();
    assert!(error.contains("did you mean `Unlocked`?"), "{error}");
}

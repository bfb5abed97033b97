//! How a crate tests itself against a model, without the command line.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use iolite::{
    Campaign, CheckError, ConcreteAction, Event, Judge, JudgeOptions, ModelRef, Partition,
    PropertyJudge, PropertyOptions, Share, SystemUnderTest, Verdict, WireValue, Workspace,
};
use iolite_exec::report::JUnit;
use iolite_exec::{Order, Steering};
use iolite_property::Relation as PropertyRelation;

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

/// A turnstile that says when it is given up.
struct Watched {
    turnstile: Turnstile,
    dropped: Rc<Cell<bool>>,
}

impl Watched {
    fn new(swallows: bool) -> Self {
        Self {
            turnstile: Turnstile::new(swallows),
            dropped: Rc::default(),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.dropped.set(true);
    }
}

impl SystemUnderTest<String> for Watched {
    fn reset(&mut self) {
        self.turnstile.reset();
    }

    fn stimulate(&mut self, stimulus: &String) {
        self.turnstile.stimulate(stimulus);
    }

    fn output(&mut self, patience: Duration) -> Option<String> {
        self.turnstile.output(patience)
    }
}

#[test]
fn what_a_campaign_is_told_holds_for_systems_in_this_process() {
    // Time.
    let begin = Instant::now();
    let endless = || {
        campaign()
            .runs(u64::MAX)
            .time(Some(Duration::from_millis(200)))
    };
    let passed = endless().check(Turnstile::new(false)).expect("it conforms");
    assert!(passed.summary.runs() > 0 && begin.elapsed() < Duration::from_secs(60));
    endless()
        .run_in_process(Turnstile::new(false))
        .expect("it conforms");
    let error = campaign().time(Some(Duration::ZERO));
    let error = error.check(Turnstile::new(false)).unwrap_err();
    assert!(
        matches!(&error, CheckError::Unknown(why) if why == "no run was made"),
        "{error:?}"
    );
    // Shares.
    let mut events: Vec<Event> = Vec::new();
    let share = Share::Partition(Partition::new(2, 25).expect("a part"));
    let second = campaign().share(share);
    second
        .check_with(Turnstile::new(false), &mut events)
        .expect("it conforms");
    let runs = events.iter().filter_map(|event| match event {
        Event::RunStarted { run, .. } => Some(*run),
        _ => None,
    });
    assert_eq!(runs.collect::<Vec<_>>(), [1, 26]);
    // Jobs.
    for error in [
        campaign()
            .jobs(2)
            .check(Turnstile::new(false))
            .unwrap_err()
            .to_string(),
        campaign()
            .jobs(2)
            .run_in_process(Turnstile::new(false))
            .unwrap_err()
            .to_string(),
    ] {
        assert!(error.contains("2 jobs need as many systems"), "{error}");
    }
    // Whoever steers may end it.
    let steering = Steering::new(|_, _| ());
    steering.order(Order::Stop);
    let error = campaign()
        .steered(steering)
        .check(Turnstile::new(false))
        .unwrap_err();
    assert!(matches!(error, CheckError::Unknown(_)), "{error:?}");
}

#[test]
fn readers_and_the_system_are_told_of_the_end() {
    for swallows in [false, true] {
        let (mut xml, mut events) = (Vec::new(), Vec::<Event>::new());
        let system = Watched::new(swallows);
        let dropped = Rc::clone(&system.dropped);
        let mut junit = JUnit::new(&mut xml, "turnstile");
        let result = campaign().check_with(system, &mut junit);
        assert_eq!(result.is_err(), swallows);
        assert!(dropped.get());
        drop(junit);
        let xml = String::from_utf8(xml).expect("a text");
        let failures = format!("failures=\"{}\"", u8::from(swallows));
        assert!(xml.contains(&failures), "{xml}");
        let _ = campaign().check_with(Turnstile::new(swallows), &mut events);
        assert!(matches!(events.last(), Some(Event::CampaignEnded { .. })));
    }
}

#[test]
fn runs_towards_a_purpose_that_none_reaches_are_inconclusive() {
    let workspace = workspace();
    workspace.insert(
        "rings.iol".as_ref(),
        "purpose Rings {
           initial state Calm { !bell -> Rung  * -> Calm }
           accept state Rung
         }",
    );
    let options = JudgeOptions {
        purposes: vec!["rings.iol".into()],
        ..JudgeOptions::default()
    };
    let judge = Judge::new(&workspace, &"turnstile.iol".into(), &options).expect("sound");
    // One step is not enough for the bell.
    let campaign = Campaign::new(judge).runs(5).steps(1);
    let error = campaign.check(Turnstile::new(false)).unwrap_err();
    let CheckError::Inconclusive(why) = &error else {
        panic!("{error:?}");
    };
    assert!(why.contains("no run reached"), "{why}");
}

/// Says `b` in its first run and `a` afterwards.
struct Improving(u64, Option<String>);

impl SystemUnderTest<String> for Improving {
    fn reset(&mut self) {
        self.0 += 1;
        self.1 = Some(if self.0 == 1 { "b" } else { "a" }.to_owned());
    }

    fn stimulate(&mut self, _: &String) {}

    fn output(&mut self, _: Duration) -> Option<String> {
        self.1.take()
    }
}

#[test]
fn properties_alone_are_judged_as_on_the_command_line() {
    let workspace = Workspace::new();
    workspace.insert(
        "said.iol".as_ref(),
        "property First over {!a, !b} = ltl !a
         property Never over {!a, !c} = ltl G not !c",
    );
    let judged = |name: &str, relation| {
        let options = PropertyOptions {
            properties: vec![ModelRef::from("said.iol").with_name(name)],
            relation,
            ..PropertyOptions::default()
        };
        let judge = PropertyJudge::new(&workspace, &options).expect("a property");
        Campaign::new(Judge::Properties(judge)).runs(3).steps(5)
    };
    // The second run is inside: one execution is enough.
    let inside = judged("First", PropertyRelation::NonDisjointness);
    let passed = inside
        .check(Improving(0, None))
        .expect("one execution inside");
    assert_eq!(passed.summary.verdicts.get(&Verdict::WeakFail), Some(&1));
    // A safety property is never settled by runs that keep it.
    let never = judged("Never", PropertyRelation::Inclusion);
    let error = never.check(Improving(0, None)).unwrap_err();
    let told = "unknown: no run settled the property, and nothing wrong was seen";
    assert_eq!(error.to_string(), told);
}

//! Shares of a campaign, merged, are the campaign: on random models, in process.

use std::fmt::Write as _;

use iolite::{
    Campaign, Event, Journal, Judge, JudgeOptions, MergeError, MergeOptions, ModelRef, Partition,
    QueueOptions, RunRange, Share, Summary, Target, TargetOptions, Workspace, merge,
};
use iolite_lts::Completion;
use proptest::prelude::*;

/// A small source of numbers: `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// A system of a few states in Aldebaran's format.
fn system(random: &mut Random) -> String {
    let states = 2 + random.below(4);
    let edges = 3 + random.below(8);
    let mut text = format!("des (0, {edges}, {states})\n");
    for _ in 0..edges {
        let label = ["?a", "?b", "!x", "!y", "i"][random.below(5) as usize];
        let (from, to) = (random.below(states), random.below(states));
        // No internal cycles: those of ever higher states end.
        let to = if label == "i" && to <= from {
            from + 1
        } else {
            to
        };
        if to < states {
            let _ = writeln!(text, "({from}, \"{label}\", {to})");
        } else {
            let _ = writeln!(text, "({from}, \"?a\", {from})");
        }
    }
    text
}

struct Setting {
    workspace: Workspace,
    target: Target,
    queues: bool,
    seed: u64,
}

impl Setting {
    fn random(seed: u64, queues: bool) -> Self {
        let mut random = Random(seed);
        let workspace = Workspace::new().on_warning(|_| {});
        let spec = system(&mut random);
        // Half of the systems conform.
        let sut = if random.below(2) == 0 {
            spec.clone()
        } else {
            system(&mut random)
        };
        workspace.insert("spec.aut".as_ref(), spec);
        workspace.insert("sut.aut".as_ref(), sut);
        let options = TargetOptions {
            sut: "model:sut.aut".to_owned(),
            complete_inputs: Some(Completion::SelfLoop),
            ..TargetOptions::default()
        };
        let target = Target::new(&workspace, &options).expect("a target");
        Self {
            workspace,
            target,
            queues,
            seed,
        }
    }

    fn campaign(&self, runs: u64) -> Campaign {
        let options = JudgeOptions {
            queues: self.queues.then(QueueOptions::default),
            ..JudgeOptions::default()
        };
        let model = ModelRef::from("spec.aut");
        let judge = Judge::new(&self.workspace, &model, &options).expect("a judge");
        Campaign::new(judge)
            .runs(runs)
            .steps(12)
            .seed(self.seed)
            .keep_going(true)
    }

    fn run(&self, runs: u64, share: Share) -> (Journal, Summary) {
        let campaign = self.campaign(runs).share(share);
        let header = campaign.journal_header(self.target.config(), Vec::new());
        let mut events: Vec<Event> = Vec::new();
        let summary = campaign.run(&self.target, &mut events).expect("runs");
        let journal = Journal {
            header,
            events,
            torn: false,
        };
        (journal, summary)
    }
}

/// The events without times, signs of life, and the end.
fn untimed(journal: &Journal) -> Vec<serde_json::Value> {
    let steps = journal
        .events
        .iter()
        .filter(|e| !matches!(e, Event::Progress { .. }));
    let value = |event: &Event| {
        let mut value = serde_json::to_value(event).expect("JSON");
        let map = value.as_object_mut().expect("an event");
        map.remove("at");
        map.remove("elapsed");
        value
    };
    steps.map(value).collect()
}

fn named(journals: Vec<Journal>) -> Vec<(String, Journal)> {
    let name = |(k, journal): (usize, Journal)| (format!("share {k}"), journal);
    journals.into_iter().enumerate().map(name).collect()
}

/// Cuts `0..runs` at random places.
fn slices(runs: u64, random: &mut Random) -> Vec<Share> {
    let mut cuts = vec![0, runs];
    cuts.extend((0..random.below(4)).map(|_| random.below(runs)));
    cuts.sort_unstable();
    cuts.dedup();
    let slice = |w: &[u64]| Share::Range(RunRange::new(w[0], w[1]).expect("not empty"));
    cuts.windows(2).map(slice).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merged_shares_are_the_campaign(seed in any::<u64>(), runs in 1..25u64, parts in 1..11u64, queues: bool) {
        let setting = Setting::random(seed, queues);
        let (whole, summary) = setting.run(runs, Share::Whole);
        let mut random = Random(seed ^ 1);
        let shares = if random.below(2) == 0 {
            let part = |k| Share::Partition(Partition::new(k, parts).expect("a part"));
            (1..=parts).map(part).collect()
        } else {
            slices(runs, &mut random)
        };
        let mut journals: Vec<Journal> =
            shares.into_iter().map(|share| setting.run(runs, share).0).collect();
        let turn = random.below(journals.len() as u64) as usize;
        journals.rotate_left(turn);
        let merged = merge(named(journals), MergeOptions::default());
        let merged = merged.expect("one campaign").journal;
        prop_assert_eq!(untimed(&merged), untimed(&whole));
        let again = Summary::of_events(&merged.events);
        prop_assert_eq!(&again.verdicts, &summary.verdicts);
        prop_assert_eq!(&again.failures, &summary.failures);
        prop_assert_eq!(again.steps, summary.steps);
        let faults = |s: &Summary| -> Vec<(u64, String, String)> {
            s.faults.iter().map(|(&r, e)| (r, e.code().to_owned(), e.to_string())).collect()
        };
        prop_assert_eq!(faults(&again), faults(&summary));
        let covered = setting.campaign(runs).coverage_of(&merged.events).expect("counted");
        prop_assert_eq!(covered, summary.coverage);
        // A file is read as it was written.
        let text = merged.to_bytes();
        let read = Journal::read_from(text.as_slice(), "merged").expect("a journal");
        prop_assert_eq!(read.events, merged.events);
    }

    #[test]
    fn a_missing_or_double_share_is_told(seed in any::<u64>(), runs in 2..20u64, parts in 2..6u64, lost in 0..6u64) {
        let setting = Setting::random(seed, false);
        let part = |k| setting.run(runs, Share::Partition(Partition::new(k, parts).expect("a part"))).0;
        let lost = 1 + lost % parts;
        let rest: Vec<Journal> = (1..=parts).filter(|&k| k != lost).map(part).collect();
        let expected: Vec<u64> = (0..runs).filter(|r| r % parts == lost - 1).collect();
        match merge(named(rest.clone()), MergeOptions::default()) {
            Err(MergeError::Gaps { count, .. }) => prop_assert_eq!(count, expected.len() as u64),
            Ok(_) => prop_assert!(expected.is_empty()),
            Err(other) => prop_assert!(false, "{}", other),
        }
        let accepted = MergeOptions { partial: true, ..MergeOptions::default() };
        let some = merge(named(rest.clone()), accepted).expect("some").journal;
        prop_assert_eq!(some.runs().count() as u64, runs - expected.len() as u64);
        // What was merged in part is merged with the rest.
        let all = merge(named(vec![part(lost), some]), MergeOptions::default());
        let all = all.expect("all").journal;
        prop_assert_eq!(untimed(&all), untimed(&setting.run(runs, Share::Whole).0));
        let mut twice = rest;
        twice.push(part(1));
        twice.push(part(1));
        let twice = merge(named(twice), accepted);
        let told = matches!(twice, Err(MergeError::Twice { run: 0, .. }));
        prop_assert!(told);
    }
}

const COUNTER: &str = "
system Counter {
  const step: int
  assume step >= 1
  assume step <= 9
  var n: int = 0
  input add(k: int), ask
  output sum(v: int)
  initial state Idle {
    ?add(k) [k >= 0 && k <= 50] / n := n + k * step -> Idle
    ?ask -> Asked
  }
  state Asked { !sum(v) [v == n] -> Idle }
}
";

/// A run of a model with data depends on its number alone too, whatever the solver remembers; and what
/// all runs tell of the constants is found again in the journal.
#[test]
fn shares_with_data() {
    let workspace = Workspace::new().on_warning(|_| {});
    workspace.insert("counter.iol".as_ref(), COUNTER);
    let options = TargetOptions {
        sut: "model:counter.iol#Counter(step = 3)".to_owned(),
        complete_inputs: None,
        ..TargetOptions::default()
    };
    let target = Target::new(&workspace, &options).expect("a target");
    let campaign = |share: Share| {
        let judge = Judge::new(
            &workspace,
            &ModelRef::from("counter.iol"),
            &JudgeOptions::default(),
        );
        Campaign::new(judge.expect("a judge"))
            .runs(9)
            .steps(8)
            .seed(4)
            .share(share)
    };
    let run = |share: Share| {
        let campaign = campaign(share);
        let mut events: Vec<Event> = Vec::new();
        let summary = campaign.run(&target, &mut events).expect("runs");
        let header = campaign.journal_header(target.config(), Vec::new());
        let journal = Journal {
            header,
            events,
            torn: false,
        };
        (journal, summary)
    };
    let (whole, summary) = run(Share::Whole);
    let part = |k| run(Share::Partition(Partition::new(k, 3).expect("a part"))).0;
    let merged = merge(named((1..=3).map(part).collect()), MergeOptions::default());
    let merged = merged.expect("one campaign").journal;
    // Notices are told when they are new to a job; the steps are the same.
    let steps = |journal: &Journal| {
        let mut all = untimed(journal);
        all.retain(|event| event["event"] != "notice");
        all
    };
    assert_eq!(steps(&merged), steps(&whole));
    let campaign = campaign(Share::Whole);
    let learnt = campaign.learnt_from(&merged.events).expect("walked again");
    let shown = |notices: &[iolite::Notice]| {
        let constants = campaign.judge().constants(notices).expect("constants");
        serde_json::to_value(constants).expect("JSON")
    };
    assert_eq!(shown(&learnt), shown(&summary.notices));
    assert!(
        shown(&learnt)["narrowed"]
            .as_str()
            .is_some_and(|t| t.contains("step")),
        "{learnt:?}"
    );
}

/// Journals of other campaigns, and journals that lie, are errors.
#[test]
fn other_campaigns_are_refused() {
    let setting = Setting::random(3, false);
    let part = |k| {
        setting
            .run(6, Share::Partition(Partition::new(k, 2).expect("a part")))
            .0
    };
    let told = |change: &dyn Fn(&mut Journal)| {
        let mut second = part(2);
        change(&mut second);
        let merged = merge(named(vec![part(1), second]), MergeOptions::default());
        merged.expect_err("another campaign").to_string()
    };
    for (change, said) in [
        (
            &(|j: &mut Journal| j.header.seed += 1) as &dyn Fn(&mut Journal),
            "seed is 4 there and 3 here",
        ),
        (&|j| j.header.model.hash = Some("0".into()), "model is"),
        (
            &|j| j.header.sut["on-exit"] = "error".into(),
            "another system",
        ),
        (
            &|j| j.header.description.as_mut().expect("one").runs = Some(7),
            "number of runs is 7 there",
        ),
        (
            &|j| {
                let options = &mut j.header.description.as_mut().expect("one").options;
                options.insert("steps".into(), vec!["7".into()]);
            },
            "--steps is 7 there and nothing here",
        ),
        (
            &|j| {
                let files = &mut j.header.description.as_mut().expect("one").files;
                files.insert("goal.iol".into(), "ff".into());
            },
            "goal.iol is hash ff there",
        ),
        (
            &|j| j.events.insert(0, Event::RunStarted { run: 1, seed: 9 }),
            "seed that is not the campaign's",
        ),
        (
            &|j| {
                j.events.insert(
                    0,
                    Event::Fault {
                        run: 0,
                        steps: 0,
                        code: "x".into(),
                        message: String::new(),
                    },
                );
            },
            "run 0 is not one of part 2/2",
        ),
        (
            &|j| {
                // A hostile number of runs is not counted up to.
                j.header.description.as_mut().expect("one").runs = None;
                j.header.description.as_mut().expect("one").share = None;
                let message = String::new();
                j.events.push(Event::Fault {
                    run: u64::MAX - 7,
                    steps: 0,
                    code: "x".into(),
                    message,
                });
            },
            "18446744073709551602 runs of the campaign are in no journal: 6..18446744073709551608",
        ),
    ] {
        let message = told(change);
        assert!(message.contains(said), "{message}\nwithout {said}");
    }
    assert!(matches!(
        merge(Vec::new(), MergeOptions::default()),
        Err(MergeError::Nothing)
    ));
}

//! Logs and journals: what a reader finds in them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

use iolite_derive::{Criterion, Verdict};
use iolite_exec::{
    End, Event, JournalHeader, JournalWriter, LogEntry, LogFormat, LogReader, ModelRef, Sink,
};
use proptest::prelude::*;

/// What is found, without where texts are kept.
#[derive(Debug, PartialEq)]
enum Entry {
    Step(usize, String, Option<u64>),
    RunStarted(u64),
    RunEnded(u64),
}

/// Which runs are read.
#[derive(Clone, Copy, Debug)]
enum Runs {
    All,
    One(u64),
    First,
}

type Found = (Vec<Entry>, (usize, usize));

fn entries(bytes: &[u8], runs: Runs) -> Found {
    let reader = LogReader::new(Cursor::new(bytes), "log", LogFormat::JsonLines);
    let mut reader = match runs {
        Runs::All => reader,
        Runs::One(run) => reader.of_run(run),
        Runs::First => reader.of_first_run(),
    };
    let mut found = Vec::new();
    while let Some(entry) = reader.entry().unwrap() {
        found.push(match entry {
            LogEntry::Step(step) => Entry::Step(step.line, step.text.to_owned(), step.run),
            LogEntry::RunStarted(run) => Entry::RunStarted(run),
            LogEntry::Crashed(_) => continue,
            LogEntry::RunEnded(run) => Entry::RunEnded(run),
        });
    }
    (found, reader.begun())
}

/// The same from the events, by the definition.
fn expected(events: &[Event], runs: Runs) -> Found {
    let mut wanted = match runs {
        Runs::All => None,
        Runs::One(run) => Some(run),
        Runs::First => Some(u64::MAX),
    };
    let mut is_open = !matches!(runs, Runs::First);
    let mut begun = (0, 0);
    let mut found = Vec::new();
    for (at, event) in events.iter().enumerate() {
        // The header is the first line.
        let line = at + 2;
        if let Event::RunStarted { run, .. } = event {
            if !is_open {
                (wanted, is_open) = (Some(*run), true);
            }
            begun.0 += 1;
            begun.1 += usize::from(wanted.is_none_or(|w| w == *run));
        }
        let is_wanted = |run: u64| is_open && wanted.is_none_or(|w| w == run);
        let step = |text: &str, run: u64| Entry::Step(line, text.to_owned(), Some(run));
        let (run, entry) = match event {
            Event::RunStarted { run, .. } => (*run, Entry::RunStarted(*run)),
            Event::RunEnded { run, .. } => (*run, Entry::RunEnded(*run)),
            Event::Stimulus { run, action, .. } | Event::Output { run, action, .. } => {
                (*run, step(action, *run))
            }
            Event::Quiescence { run, .. } => (*run, step("delta", *run)),
            _ => continue,
        };
        if is_wanted(run) {
            found.push(entry);
        }
    }
    (found, begun)
}

fn written(events: &[Event], ending: &str) -> Vec<u8> {
    // Tests of one process write side by side: a file that another one has open is refused.
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let name = format!("iolite-logs-{}-{number}.{ending}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let header = JournalHeader::new(
        Criterion::default(),
        ModelRef::default(),
        1,
        serde_json::json!({}),
    );
    let mut writer = JournalWriter::create(&path, &header).unwrap();
    for event in events {
        writer.event(event).unwrap();
    }
    drop(writer);
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    bytes
}

fn event() -> impl Strategy<Value = Event> {
    let text = || prop::sample::select(vec!["?a", "!x", "!say(\"ä\\n\")", "?a(1)"]);
    let (run, step, at) = (|| 0u64..3, || 0u64..4, || 0u64..300);
    prop_oneof![
        run().prop_map(|run| Event::RunStarted { run, seed: 7 }),
        (run(), step(), text(), at()).prop_map(|(run, step, action, at)| Event::Stimulus {
            run,
            step,
            action: action.into(),
            at,
        }),
        (run(), step(), text(), at(), any::<bool>()).prop_map(
            |(run, step, action, at, preempted)| Event::Output {
                run,
                step,
                action: action.into(),
                at,
                preempted: preempted.then(|| "?b".to_owned()),
                note: None,
            }
        ),
        (run(), step(), at()).prop_map(|(run, step, at)| Event::Quiescence {
            run,
            step,
            at,
            patience: 1000,
        }),
        (run(), step()).prop_map(|(run, step)| Event::Pause {
            run,
            step,
            length: 5
        }),
        run().prop_map(|run| Event::RunEnded {
            run,
            verdict: Verdict::Pass,
            end: End::StepLimit,
            steps: 1,
            elapsed: 1,
            certificate: None,
            results: BTreeMap::new(),
        }),
    ]
}

/// Events that follow one another as a tester writes them take the short forms of the compact journal.
fn in_order(events: Vec<Event>) -> Vec<Event> {
    let (mut now, mut count, mut time) = (0, 0, 0);
    let mut ordered = events;
    for event in &mut ordered {
        match event {
            Event::RunStarted { run, .. } => (now, count, time) = (*run, 0, 0),
            Event::Stimulus { run, step, at, .. }
            | Event::Output { run, step, at, .. }
            | Event::Quiescence { run, step, at, .. } => {
                time += *at;
                (*run, *step, *at) = (now, count, time);
                count += 1;
            }
            Event::Pause { run, step, .. } => (*run, *step) = (now, count),
            _ => {}
        }
    }
    ordered
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Both forms of a journal say what its events say, whichever runs are asked for.
    #[test]
    fn journals_of_both_forms_say_the_same(
        events in prop::collection::vec(event(), 0..40),
        ordered in any::<bool>(),
        runs in prop_oneof![Just(Runs::All), Just(Runs::First), (0u64..3).prop_map(Runs::One)],
    ) {
        let mut events = if ordered { in_order(events) } else { events };
        // Nothing is written before a run has started.
        events.insert(0, Event::RunStarted { run: 0, seed: 1 });
        let want = expected(&events, runs);
        prop_assert_eq!(&entries(&written(&events, "jsonl"), runs), &want);
        prop_assert_eq!(&entries(&written(&events, "iolj"), runs), &want);
    }

    /// A compact journal that is cut off ends where its last whole block does; one that is spoilt is an error.
    #[test]
    fn compact_journals_may_be_cut_off_or_spoilt(
        events in prop::collection::vec(event(), 0..40),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut events = in_order(events);
        events.insert(0, Event::RunStarted { run: 0, seed: 1 });
        let mut bytes = written(&events, "iolj");
        let whole = entries(&bytes, Runs::All).0;
        let head = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(1).unwrap().0 + 1;
        let at = head + at.index(bytes.len() - head);
        let cut = entries(&bytes[..at], Runs::All).0;
        prop_assert_eq!(&cut[..], &whole[..cut.len()]);
        bytes[at] = byte;
        let mut reader = LogReader::new(Cursor::new(&bytes[..]), "log", LogFormat::JsonLines);
        while let Ok(Some(_)) = reader.entry() {}
    }
}

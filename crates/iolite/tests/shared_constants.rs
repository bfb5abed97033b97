//! What campaigns learn of unknown constants and share, against the definition, and what it buys.

use std::collections::BTreeMap;
use std::path::Path;

use iolite::{
    Campaign, ConstantBounds, Selection, SelectionOptions, SharedConstants, Target, TargetOptions,
    Verdict, Workspace,
};
use iolite_exec::Event;

/// A transition of the slow version: from, label, guard, effect, to. Guard and effect are of constant, variable and
/// parameter.
type Rule = (
    char,
    &'static str,
    fn(i64, i64, i64) -> bool,
    fn(i64, i64, i64) -> i64,
    char,
);

fn always(_: i64, _: i64, _: i64) -> bool {
    true
}

fn same(_: i64, n: i64, _: i64) -> i64 {
    n
}

/// Models with a constant that shows in comparisons with an input, in sums, or in what is said; each with the same
/// system as rules. They are deterministic.
const MODELS: [(&str, &[Rule]); 4] = [
    (
        "system S { const limit: int  assume 0 <= limit && limit <= 40
           input put(k: int)  output ok, full
           initial state A { ?put(k) [k < limit] -> B  ?put(k) [k >= limit] -> C }
           state B { !ok -> A }  state C { !full -> A } }",
        &[
            ('A', "?put", |c, _, k| k < c, same, 'B'),
            ('A', "?put", |c, _, k| k >= c, same, 'C'),
            ('B', "!ok", always, same, 'A'),
            ('C', "!full", always, same, 'A'),
        ],
    ),
    (
        "system S { const limit: int  assume 0 <= limit && limit <= 40
           var n: int = 0
           input put(k: int), reset  output ok, full
           initial state A { ?put(k) [k >= 0 && n + k <= limit] / n := n + k -> B
                             ?put(k) [k >= 0 && n + k > limit] -> C
                             ?put(k) [k < 0] -> A
                             ?reset / n := 0 -> A }
           state B { !ok -> A }  state C { !full -> A } }",
        &[
            (
                'A',
                "?put",
                |c, n, k| k >= 0 && n + k <= c,
                |_, n, k| n + k,
                'B',
            ),
            ('A', "?put", |c, n, k| k >= 0 && n + k > c, same, 'C'),
            ('A', "?put", |_, _, k| k < 0, same, 'A'),
            ('A', "?reset", always, |_, _, _| 0, 'A'),
            ('B', "!ok", always, same, 'A'),
            ('C', "!full", always, same, 'A'),
        ],
    ),
    (
        "system S { const limit: int  assume 0 <= limit && limit <= 40
           input put(k: int)  output low, mid, high
           initial state A { ?put(k) [2 * k < limit] -> L
                             ?put(k) [2 * k >= limit && k < limit + 3] -> M
                             ?put(k) [2 * k >= limit && k >= limit + 3] -> H }
           state L { !low -> A }  state M { !mid -> A }  state H { !high -> A } }",
        &[
            ('A', "?put", |c, _, k| 2 * k < c, same, 'L'),
            ('A', "?put", |c, _, k| 2 * k >= c && k < c + 3, same, 'M'),
            ('A', "?put", |c, _, k| 2 * k >= c && k >= c + 3, same, 'H'),
            ('L', "!low", always, same, 'A'),
            ('M', "!mid", always, same, 'A'),
            ('H', "!high", always, same, 'A'),
        ],
    ),
    (
        "system S { const limit: int  assume 0 <= limit && limit <= 40
           input inc, get  output is(v: int)
           var n: int = 0
           initial state A { ?inc / n := n + limit -> A  ?get -> T }
           state T { !is(v) [v >= n && v <= n + 2] -> A } }",
        &[
            ('A', "?inc", always, |c, n, _| n + c, 'A'),
            ('A', "?get", always, same, 'T'),
            ('T', "!is", |_, n, v| v >= n && v <= n + 2, same, 'A'),
        ],
    ),
];

const ALL: ConstantBounds = ConstantBounds {
    least: Some(0),
    greatest: Some(40),
};

fn workspace(text: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.insert(Path::new("s.iol"), text.as_bytes());
    workspace
}

/// A campaign against the model with this constant; the events of its runs.
fn run(
    text: &str,
    limit: i64,
    (seed, runs, steps): (u64, u64, u64),
    selection: Selection,
    learnt: &SharedConstants,
) -> Vec<Event> {
    let workspace = workspace(text);
    let options = TargetOptions {
        sut: format!("model:s.iol#S(limit = {limit})"),
        ..TargetOptions::default()
    };
    let target = Target::new(&workspace, &options).expect("a target");
    let campaign = Campaign::of(&workspace, "s.iol").expect("a model");
    let campaign = campaign
        .seed(seed)
        .runs(runs)
        .steps(steps)
        .selection(SelectionOptions {
            selection,
            ..SelectionOptions::default()
        })
        .sharing_constants(learnt.clone());
    let mut events: Vec<Event> = Vec::new();
    let summary = campaign.run(&target, &mut events).expect("runs");
    assert_eq!(summary.verdict(), Some(Verdict::Pass), "{text} {limit}");
    events
}

/// The steps of each run: labels with their value, and silence.
fn traces(events: &[Event]) -> BTreeMap<u64, Vec<(String, i64)>> {
    let mut traces: BTreeMap<u64, Vec<(String, i64)>> = BTreeMap::new();
    for event in events {
        let value = serde_json::to_value(event).expect("JSON");
        let step = match event {
            Event::Stimulus { .. } | Event::Output { .. } => {
                let text = value["action"].as_str().expect("a text").to_owned();
                let (name, rest) = text.split_once('(').unwrap_or((&text, "0)"));
                let number = rest.trim_end_matches(')').parse().expect("a number");
                (name.to_owned(), number)
            }
            Event::Quiescence { .. } => ("delta".to_owned(), 0),
            _ => continue,
        };
        let run = event.run().expect("a run");
        traces.entry(run).or_default().push(step);
    }
    traces
}

/// Whether a trace is one of S(c), by definition.
fn is_trace(rules: &[Rule], c: i64, trace: &[(String, i64)]) -> bool {
    let (mut at, mut n) = ('A', 0);
    for (label, value) in trace {
        if label == "delta" {
            // Silence: there is no output here.
            if rules.iter().any(|r| r.0 == at && r.1.starts_with('!')) {
                return false;
            }
            continue;
        }
        let fits = |r: &&Rule| r.0 == at && r.1 == label && r.2(c, n, *value);
        let Some(rule) = rules.iter().find(fits) else {
            return false;
        };
        (at, n) = (rule.4, rule.3(c, n, *value));
    }
    true
}

/// By definition: the constants c for which every recorded run is a run of S(c), the least and the greatest.
fn explaining(rules: &[Rule], events: &[Event]) -> ConstantBounds {
    let traces = traces(events);
    let explains = |c: &i64| traces.values().all(|trace| is_trace(rules, *c, trace));
    let left: Vec<i64> = (0..=40).filter(explains).collect();
    ConstantBounds {
        least: left.first().copied(),
        greatest: left.last().copied(),
    }
}

#[test]
fn what_is_shared_is_what_explains_the_runs() {
    let mut narrowed = 0;
    for (text, rules) in MODELS {
        for (seed, limit) in (0..6).zip([0, 1, 13, 20, 33, 40]) {
            let learnt = SharedConstants::default();
            let events = run(text, limit, (seed, 2, 6), Selection::Coverage, &learnt);
            let expected = explaining(rules, &events);
            assert_eq!(learnt.of("limit").and(ALL), expected, "{limit} {text}");
            narrowed += usize::from(expected != ALL);
        }
    }
    assert!(narrowed > 20, "{narrowed}");
}

/// Values that are still possible, over all models, after so many runs.
fn left(selection: Selection, limit: i64, shares: bool) -> i64 {
    let mut sum = 0;
    for (text, rules) in MODELS {
        let learnt = SharedConstants::default();
        let mut events = Vec::new();
        for seed in 0..4 {
            let own = SharedConstants::default();
            let known = if shares { &learnt } else { &own };
            for mut event in run(text, limit, (seed, 1, 4), selection, known) {
                renumber(&mut event, seed);
                events.push(event);
            }
        }
        let left = explaining(rules, &events);
        let (Some(least), Some(greatest)) = (left.least, left.greatest) else {
            panic!("{limit} explains what it did");
        };
        sum += greatest - least;
    }
    sum
}

fn renumber(event: &mut Event, run: u64) {
    let mut value = serde_json::to_value(&*event).expect("JSON");
    if let Some(number) = value.get_mut("run") {
        *number = run.into();
    }
    *event = serde_json::from_value(value).expect("an event");
}

/// Four campaigns of one short run each leave less open where each knows what the others learnt, and that is less than
/// values at random leave.
#[test]
fn sharing_tries_what_is_open() {
    let sum = |selection, shares| -> i64 {
        let limits = [3, 17, 31];
        limits.iter().map(|l| left(selection, *l, shares)).sum()
    };
    let together = sum(Selection::Coverage, true);
    let alone = sum(Selection::Coverage, false);
    let random = sum(Selection::Uniform, true);
    assert!(together < alone, "{together} together, {alone} alone");
    assert!(together < random, "{together} together, {random} at random");
}

/// The constants of one device are not assumed of the next: no verdict changes, and the bounds of both leave nothing.
#[test]
fn devices_may_differ() {
    let (text, _) = MODELS[0];
    let learnt = SharedConstants::default();
    run(text, 5, (1, 4, 20), Selection::Coverage, &learnt);
    run(text, 30, (2, 4, 20), Selection::Coverage, &learnt);
    assert!(learnt.of("limit").is_empty(), "{:?}", learnt.learnt());
    // The third is tested all the same.
    run(text, 12, (3, 4, 20), Selection::Coverage, &learnt);
}

/// Without --strategy coverage runs are the same, whatever anybody knows.
#[test]
fn knowledge_steers_only_where_it_is_asked_for() {
    for (text, _) in MODELS {
        let known = SharedConstants::default();
        known.add(
            "limit",
            ConstantBounds {
                least: Some(19),
                greatest: Some(21),
            },
        );
        let with = run(text, 20, (7, 3, 10), Selection::Uniform, &known);
        let without = run(
            text,
            20,
            (7, 3, 10),
            Selection::Uniform,
            &SharedConstants::default(),
        );
        assert_eq!(traces(&with), traces(&without), "{text}");
    }
}

//! What campaigns share of a model's coverage, against what their recorded runs covered.

use std::path::Path;

use iolite::{
    Campaign, Selection, SelectionOptions, SharedCoverage, Target, TargetOptions, Workspace,
};
use iolite_exec::Event;

const MODELS: [&str; 3] = [
    "system S { input a, b  output x, y
       initial state One { ?a -> Two  ?b -> Three }
       state Two { !x -> One  !y -> Three  ?a -> Two  ?b -> One }
       state Three { !y -> One  ?a -> Four  ?b -> Three }
       state Four { !x -> Four  !y -> One  ?a -> Four  ?b -> Four } }",
    "system S { input a  output x  internal t
       initial state One { ?a -> Two  ?a -> Three  t -> Three }
       state Two { !x -> One  ?a -> Two }
       state Three { ?a -> Four  t -> One }
       state Four { !x -> Three  ?a -> Four } }",
    "system S { input a, b, c  output x, y, z
       initial state One { ?a -> Two  ?b -> Two  ?c -> Three }
       state Two { !x -> One  !y -> One  !z -> Three  ?a -> Two  ?b -> Two  ?c -> Two }
       state Three { !z -> Two  ?a -> One  ?b -> Three  ?c -> Three } }",
];

fn workspace(text: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.insert(Path::new("s.iol"), text.as_bytes());
    workspace
}

/// A campaign in a workspace of its own, as on another machine; the events of its runs.
fn run(text: &str, seed: u64, strategy: Selection, seen: &SharedCoverage) -> Vec<Event> {
    let workspace = workspace(text);
    let options = TargetOptions {
        sut: "model:s.iol".to_owned(),
        ..TargetOptions::default()
    };
    let target = Target::new(&workspace, &options).expect("a target");
    let campaign = Campaign::of(&workspace, "s.iol").expect("a model");
    let campaign = campaign
        .seed(seed)
        .runs(2)
        .steps(6)
        .selection(SelectionOptions {
            selection: strategy,
            ..SelectionOptions::default()
        })
        .sharing_coverage(seen.clone());
    let mut events: Vec<Event> = Vec::new();
    campaign.run(&target, &mut events).expect("runs");
    events
}

/// Runs of several campaigns under numbers of their own.
fn renumbered(events: Vec<Event>, by: u64) -> Vec<Event> {
    let renumber = |event: Event| {
        let mut value = serde_json::to_value(&event).expect("JSON");
        if let Some(run) = value.get_mut("run") {
            *run = (run.as_u64().expect("a number") + by).into();
        }
        serde_json::from_value(value).expect("an event")
    };
    events.into_iter().map(renumber).collect()
}

#[test]
fn what_is_shared_is_what_the_runs_covered() {
    for text in MODELS {
        for strategy in [Selection::Uniform, Selection::Coverage] {
            let seen = SharedCoverage::default();
            let mut all = Vec::new();
            for seed in 0..6 {
                all.extend(renumbered(run(text, seed, strategy, &seen), 10 * seed));
                let workspace = workspace(text);
                let again = Campaign::of(&workspace, "s.iol").expect("a model");
                let covered = again.coverage_of(&all).expect("coverage").expect("a count");
                assert_eq!(
                    seen.seen().len() as u64,
                    covered.seen,
                    "{strategy:?} {seed} {text}"
                );
                assert_eq!(seen.total().map(|t| t as u64), Some(covered.total));
            }
        }
    }
}

/// Whoever knows what others saw needs no more steps to see the rest, over all seeds together.
#[test]
fn sharing_goes_where_nobody_has_been() {
    let mut alone = 0;
    let mut together = 0;
    for text in MODELS {
        for seed in 0..10 {
            let (one, two) = (SharedCoverage::default(), SharedCoverage::default());
            run(text, seed, Selection::Coverage, &one);
            run(text, 100 + seed, Selection::Coverage, &two);
            let mut union = one.seen();
            union.extend(two.seen());
            union.sort_unstable();
            union.dedup();
            alone += union.len();
            // The same two campaigns, the second of which knows what the first saw.
            let shared = SharedCoverage::default();
            run(text, seed, Selection::Coverage, &shared);
            run(text, 100 + seed, Selection::Coverage, &shared);
            together += shared.seen().len();
        }
    }
    assert!(together > alone, "{together} together, {alone} alone");
}

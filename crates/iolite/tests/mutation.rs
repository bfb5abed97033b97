//! Mutants by two routes: what the library says of them, and the definition of ioco, written out.

use std::collections::BTreeSet;
use std::path::Path;

use iolite::{MutantDocument, MutationDocument, MutationOptions, OnTheFly, Workspace};
use iolite_lts::{LabelId, LabelKind, Lts, StateId};
use proptest::prelude::*;

/// Deterministic models over two inputs and two outputs, so that completed ones conform to themselves.
fn models() -> impl Strategy<Value = String> {
    let target = || proptest::option::weighted(0.6, 0..4usize);
    let state = (target(), target(), target(), target());
    proptest::collection::vec(state, 4).prop_map(|states| {
        let mut text = "system S {\n  input a, b\n  output x, y\n".to_owned();
        for (k, (a, b, x, y)) in states.iter().enumerate() {
            let initial = if k == 0 { "initial " } else { "" };
            text += &format!("  {initial}state s{k} {{\n");
            for (label, target) in [("?a", a), ("?b", b), ("!x", x), ("!y", y)] {
                if let Some(target) = target {
                    text += &format!("    {label} -> s{target}\n");
                }
            }
            text += "  }\n";
        }
        text + "}\n"
    })
}

fn lts(text: &str) -> Lts {
    let (file, _) = iolite_lang::parse_and_check(text);
    iolite_lang::lower_system(&file, "S", 1000).expect("a system")
}

/// One step of a suspension trace, from a set, by the definition. Where `completed` says so, an input
/// loops in a state that takes it neither itself nor after internal actions.
fn after(lts: &Lts, from: &BTreeSet<StateId>, label: &str, completed: bool) -> BTreeSet<StateId> {
    let mut result = BTreeSet::new();
    for &s in from {
        let steps = lts.steps(s);
        let named = |l: LabelId| lts.labels().text(l) == label;
        let mut targets: BTreeSet<StateId> = steps
            .iter()
            .filter(|(l, _)| named(*l))
            .map(|&(_, t)| t)
            .collect();
        let quiet = out(lts, &[s].into()).contains("delta");
        let weakly = closure(lts, s)
            .into_iter()
            .any(|t| lts.steps(t).iter().any(|(l, _)| named(*l)));
        let ignored = label.starts_with('?') && completed && !weakly;
        if label == "delta" && quiet || ignored {
            targets.insert(s);
        }
        result.extend(targets.into_iter().flat_map(|t| closure(lts, t)));
    }
    result
}

fn closure(lts: &Lts, from: StateId) -> BTreeSet<StateId> {
    let mut all = BTreeSet::from([from]);
    loop {
        let more: Vec<StateId> = all
            .iter()
            .flat_map(|&s| lts.steps(s))
            .filter(|(l, _)| lts.labels().kind(*l) == LabelKind::Internal)
            .map(|&(_, t)| t)
            .collect();
        let before = all.len();
        all.extend(more);
        if all.len() == before {
            return all;
        }
    }
}

/// out(P) with δ of output-locks and of livelocks.
fn out(lts: &Lts, set: &BTreeSet<StateId>) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for &s in set {
        let steps = lts.steps(s);
        let kind = |l: LabelId| lts.labels().kind(l);
        let outputs = steps.iter().filter(|(l, _)| kind(*l) == LabelKind::Output);
        out.extend(outputs.map(|(l, _)| lts.labels().text(*l)));
        let active = |&(l, _): &(LabelId, StateId)| {
            matches!(kind(l), LabelKind::Output | LabelKind::Internal)
        };
        let circles = steps
            .iter()
            .filter(|(l, _)| kind(*l) == LabelKind::Internal)
            .any(|&(_, t)| closure(lts, t).contains(&s));
        if circles || !steps.iter().any(active) {
            out.insert("delta".to_owned());
        }
    }
    out
}

/// A shortest suspension trace of `s` after which `i` shows what `s` does not, with what it shows, by
/// walking pairs of sets.
fn distinguishing(i: &Lts, s: &Lts) -> Option<usize> {
    let start = (closure(i, i.initial()), closure(s, s.initial()));
    let mut seen = BTreeSet::from([start.clone()]);
    let mut level = vec![start];
    for depth in 0.. {
        let mut next = Vec::new();
        for (pi, ps) in &level {
            let allowed = out(s, ps);
            if out(i, pi).iter().any(|x| !allowed.contains(x)) {
                return Some(depth);
            }
            for label in ["?a", "?b", "!x", "!y", "delta"] {
                let qs = after(s, ps, label, false);
                let qi = after(i, pi, label, true);
                if !qs.is_empty() && !qi.is_empty() && seen.insert((qi.clone(), qs.clone())) {
                    next.push((qi, qs));
                }
            }
        }
        if next.is_empty() {
            return None;
        }
        level = next;
    }
    None
}

/// Whether a trace is one of the mutant and of the model, and what follows is one of the mutant alone.
fn is_counterexample(i: &Lts, s: &Lts, trace: &[String], observed: &str) -> bool {
    let (mut pi, mut ps) = (closure(i, i.initial()), closure(s, s.initial()));
    for label in trace {
        pi = after(i, &pi, label, true);
        ps = after(s, &ps, label, false);
    }
    !ps.is_empty() && out(i, &pi).contains(observed) && !out(s, &ps).contains(observed)
}

fn mutate(text: &str, options: &MutationOptions) -> MutationDocument {
    let workspace = Workspace::new();
    workspace.insert(Path::new("s.iol"), text);
    workspace
        .mutate(&"s.iol".into(), options, &mut |_, _| Ok(()))
        .expect("mutants")
}

fn on_the_fly(jobs: usize) -> MutationOptions {
    MutationOptions {
        most: 40,
        jobs,
        on_the_fly: Some(OnTheFly {
            runs: 4,
            steps: 20,
            purposes: Vec::new(),
            coverage: false,
        }),
        ..MutationOptions::default()
    }
}

/// The texts of the same mutants.
fn texts(text: &str, options: &MutationOptions, folder: &Path) -> Vec<(MutantDocument, String)> {
    let _ = std::fs::remove_dir_all(folder);
    let options = MutationOptions {
        folder: Some(folder.to_owned()),
        ..options.clone()
    };
    let all = mutate(text, &options).mutants;
    let read = |m: MutantDocument| {
        let text = std::fs::read_to_string(&m.file).expect("its file");
        (m, text)
    };
    all.into_iter().map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutants_are_sorted_as_the_definition_sorts_them(text in models()) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants-sorted");
        let s = lts(&text);
        for (mutant, its_text) in texts(&text, &on_the_fly(1), &folder) {
            let i = lts(&its_text);
            let shortest = distinguishing(&i, &s);
            prop_assert_eq!(mutant.conforms, Some(shortest.is_none()), "{}\n{}", &text, &its_text);
            if let Some(c) = &mutant.counterexample {
                prop_assert_eq!(Some(c.trace.len()), shortest);
                prop_assert!(is_counterexample(&i, &s, &c.trace, &c.observed.to_string()));
            }
            // What kills is a counterexample, so that a conforming mutant is never killed.
            if mutant.killed == Some(true) {
                let run = mutant.killed_after.expect("the run");
                let (observed, trace) = run.split_last().expect("an observation");
                prop_assert!(is_counterexample(&i, &s, trace, observed), "{}\n{}\n{:?}", &text, &its_text, &run);
            }
        }
    }

    /// An observer kills exactly the mutants of which the definition finds a violating trace.
    #[test]
    fn an_observer_kills_what_violates_it(text in models()) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants-observed");
        let whole = format!("{text}{OBSERVER}");
        let options = MutationOptions {
            most: 30,
            properties: vec!["s.iol#NoXx".into()],
            ..MutationOptions::default()
        };
        if violation(&lts(&text)).is_some() {
            let workspace = Workspace::new();
            workspace.insert(Path::new("s.iol"), whole);
            let refused = workspace.mutate(&"s.iol".into(), &options, &mut |_, _| Ok(()));
            let refused = refused.expect_err("the model violates it");
            prop_assert!(refused.message().contains("the model itself violates NoXx"), "{}", refused);
            return Ok(());
        }
        for (mutant, its_text) in texts(&whole, &options, &folder) {
            let shortest = violation(&lts(&its_text));
            prop_assert_eq!(mutant.killed, Some(shortest.is_some()), "{}", &its_text);
            prop_assert_eq!(mutant.violates.is_some(), shortest.is_some());
            if let Some(length) = shortest {
                let run = mutant.killed_after.expect("the run");
                prop_assert_eq!(run.len(), length, "{:?}\n{}", &run, &its_text);
            }
        }
    }

    #[test]
    fn as_many_jobs_as_there_are_give_the_same_answer(text in models()) {
        let json = |jobs| serde_json::to_string(&mutate(&text, &on_the_fly(jobs))).expect("JSON");
        prop_assert_eq!(json(1), json(3));
    }
}

/// No two `!x` one after the other.
const OBSERVER: &str = "observer NoXx for S {
  initial state Other { !x -> X  * -> Other }
  state X { !x -> Bad  * -> Other }
  violate state Bad
}
";

/// The length of a shortest trace of the completed system with `!x !x` in it, by the definition.
fn violation(i: &Lts) -> Option<usize> {
    let start = (closure(i, i.initial()), false);
    let mut known = BTreeSet::from([start.clone()]);
    let mut level = vec![start];
    let mut length = 0;
    while !level.is_empty() {
        length += 1;
        let mut next = Vec::new();
        for (set, after_x) in level {
            for label in ["?a", "?b", "!x", "!y", "delta"] {
                let to = after(i, &set, label, true);
                if to.is_empty() {
                    continue;
                }
                if after_x && label == "!x" {
                    return Some(length);
                }
                let pair = (to, label == "!x");
                if known.insert(pair.clone()) {
                    next.push(pair);
                }
            }
        }
        level = next;
    }
    None
}

const DATA: &str = "\
system S {
  var n: 0..3 = 0
  input put(k: 0..3), swap(a: 0..1, b: 0..1)
  output got(k: 0..3), full
  initial state Idle {
    ?put(k) [k > 0 && n + k < 3] / n := n + k -> Told
    ?put(k) [k > 0 && n + k >= 3] / n := 0 -> Full
    ?swap(a, b) [a < b] / n := 0 -> Told
  }
  state Told { !got(k) [k == n] -> Idle }
  state Full { !full -> Idle }
}
";

#[test]
fn every_operator_has_mutants_that_are_read_again() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants-data");
    let options = MutationOptions {
        most: 66,
        ..MutationOptions::default()
    };
    let all = texts(DATA, &options, &folder);
    let operators: BTreeSet<String> = all.iter().map(|(m, _)| m.operator.clone()).collect();
    assert_eq!(operators.len(), 11, "{operators:?}");
    for (mutant, text) in &all {
        let (_, found) = iolite_lang::parse_and_check(text);
        assert!(
            !iolite_lang::diagnostic::has_errors(&found),
            "{}\n{text}",
            mutant.change
        );
        // A mutant whose variable leaves its range has no meaning that could be compared.
        let outside = mutant
            .unknown
            .as_ref()
            .is_some_and(|u| u.contains("outside"));
        assert!(mutant.conforms.is_some() || outside, "{mutant:?}");
    }
}

#[test]
fn an_analysis_goes_on_where_it_was() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants-resumed");
    let _ = std::fs::remove_dir_all(&folder);
    let options = MutationOptions {
        folder: Some(folder.clone()),
        most: 20,
        ..MutationOptions::default()
    };
    let workspace = Workspace::new();
    workspace.insert(Path::new("s.iol"), DATA);
    let stop = |done: usize, _: usize| match done {
        7 => Err(iolite::Error::undecided("enough")),
        _ => Ok(()),
    };
    let stopped = workspace.mutate(&"s.iol".into(), &options, &mut { stop });
    assert_eq!(stopped.unwrap_err().kind(), iolite::ErrorKind::Undecided);
    let record = folder.join("mutants.jsonl");
    let lines = || {
        std::fs::read_to_string(&record)
            .expect("the record")
            .lines()
            .count()
    };
    assert_eq!(lines(), 8);
    // A line that was cut off is looked at again.
    let text = std::fs::read_to_string(&record).expect("the record");
    std::fs::write(&record, &text[..text.len() - 9]).expect("written");
    let whole = mutate(DATA, &options);
    assert_eq!(lines(), 21);
    let fresh = MutationOptions {
        folder: None,
        ..options.clone()
    };
    let sorted = |d: &MutationDocument| d.mutants.iter().map(|m| m.conforms).collect::<Vec<_>>();
    assert_eq!(sorted(&whole), sorted(&mutate(DATA, &fresh)));
    // Another question needs another folder.
    let other = MutationOptions { seed: 1, ..options };
    let refused = workspace.mutate(&"s.iol".into(), &other, &mut |_, _| Ok(()));
    assert_eq!(refused.unwrap_err().kind(), iolite::ErrorKind::Input);
}

#[test]
fn parts_make_up_the_whole() {
    let part = |k| MutationOptions {
        most: 20,
        share: iolite::Share::Partition(iolite::Partition::new(k, 2).expect("a part")),
        ..MutationOptions::default()
    };
    let numbers = |d: MutationDocument| d.mutants.into_iter().map(|m| m.number);
    let mut all: Vec<usize> = numbers(mutate(DATA, &part(1))).collect();
    all.extend(numbers(mutate(DATA, &part(2))));
    all.sort_unstable();
    assert_eq!(all, (1..=20).collect::<Vec<_>>());
}

//! What `iolite derive` tells of a suite.

use std::ops::ControlFlow;
use std::path::Path;

use iolite::{ModelGoal, PruningReason, UndecidedGoal, UnreachableGoal};
use iolite_derive::{Completeness, TestCase};
use serde::Serialize;

use super::derive::{Args, depth};
use crate::args::bounds;
use crate::output::counted;

#[derive(Default, Serialize)]
pub(super) struct Document {
    pub(super) cases: Vec<CaseDocument>,
    /// Whether an exhaustive derivation lists all there are up to the depth, and a complete suite is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) complete: Option<bool>,
    /// Why an exhaustive derivation does not list all, where that is not its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<String>,
    /// For which implementations a complete suite is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) completeness: Option<Completeness>,
    /// The longest run of a covering test case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) covered: Option<iolite_derive::Count>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) uncovered: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unreachable: Vec<String>,
    /// What is proved to be out of reach in a model with data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) proofs: Vec<UnreachableGoal>,
    /// What of a model with data is neither covered nor proved to be out of reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) undecided: Vec<UndecidedGoal>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// What was pruned of test cases with data, where that is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pruned: Vec<PrunedDocument>,
    /// Why there are no more test cases, where a bound ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<String>,
}

#[derive(Serialize)]
pub(super) struct CaseDocument {
    pub(super) name: String,
    pub(super) file: String,
    /// States, or locations of a test case with data.
    pub(super) states: usize,
    /// The longest run; a test case with data need not have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<usize>,
    /// The coverage goal that a test case with data heads for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) goal: Option<String>,
}

impl Document {
    /// Whether there may be more.
    pub(super) fn go_on(&mut self) -> ControlFlow<()> {
        let budget = bounds::budget();
        if let Some(what) = budget.exceeded() {
            self.stopped = Some(what.to_string());
            return ControlFlow::Break(());
        }
        let so_far = counted(self.cases.len(), "test case");
        budget.know(format!("{so_far} written so far"));
        ControlFlow::Continue(())
    }
}

impl CaseDocument {
    /// A test case without data, and where it is.
    pub(super) fn of(case: &TestCase, file: String) -> Self {
        Self {
            name: case.name().to_owned(),
            file,
            states: case.states().len(),
            depth: Some(case.depth()),
            goal: None,
        }
    }
}

#[derive(Serialize)]
pub(super) struct PrunedDocument {
    pub(super) case: String,
    #[serde(skip)]
    pub(super) text: String,
    pub(super) transitions: Vec<PruningReason>,
}

/// Where a goal stands in the model file.
fn at_line(goal: &ModelGoal) -> String {
    let line = goal.line.map(|line| format!(" (line {line})"));
    line.unwrap_or_default()
}

/// For which implementations a suite is complete.
fn told(done: &Completeness, limit: Option<usize>) -> String {
    let Completeness {
        states,
        bound,
        reached,
        told_apart,
        ..
    } = done;
    let what = if done.complete {
        format!("complete for implementations of at most {bound} states")
    } else if let Some(limit) = limit {
        format!(
            "not complete: the limit of {limit} test cases, or what follows from it, was reached"
        )
    } else {
        "not complete".to_owned()
    };
    format!(
        "{what}\nthe determinised suspension automaton of the model has {states}: {reached} are reached whatever \
         is shown, up to {told_apart} told apart pairwise\n"
    )
}

/// Uncovered transitions that are told one by one.
const UNCOVERED_TOLD: usize = 20;

pub(super) fn tell(args: &Args, document: &Document) -> String {
    let folder: &Path = &args.output_folder;
    let cases = counted(document.cases.len(), "test case");
    let mut text = format!("{cases} in {}\n", folder.display());
    if let Some(why) = &document.stopped {
        text += &format!("not all: {why}\n");
    }
    if let Some(done) = &document.completeness {
        // What stopped it was told.
        let limit = document.stopped.is_none().then_some(args.limit);
        text += &told(done, limit);
    } else if document.complete == Some(false) && document.stopped.is_none() {
        let limit = || format!("the limit of {} was reached", args.limit);
        let why = document.left_out.clone().unwrap_or_else(limit);
        text += &format!("not all up to depth {}: {why}\n", depth(args));
    }
    if let Some(covered) = document.covered {
        text += &format!(
            "covered: {} of {} ({:.0}%)\n",
            covered.seen,
            covered.total,
            covered.percentage()
        );
    }
    let why = match (&document.stopped, document.depth) {
        (None, Some(depth)) => format!(" within depth {depth}"),
        _ => String::new(),
    };
    for place in document.uncovered.iter().take(UNCOVERED_TOLD) {
        text += &format!("not covered{why}: {place}\n");
    }
    if let Some(more @ 1..) = document.uncovered.len().checked_sub(UNCOVERED_TOLD) {
        text += &format!("and {more} more are not covered{why}: --json lists them\n");
    }
    for case in &document.cases {
        if let Some(goal) = &case.goal {
            text += &format!("{}: {goal}\n", case.name);
        }
    }
    for UnreachableGoal {
        goal,
        by,
        invariant,
    } in &document.proofs
    {
        let (name, line) = (&goal.name, at_line(goal));
        text += &format!("cannot be covered: {name}{line}: proved by {by}\n");
        for (location, condition) in invariant {
            text += &format!("  always in {location}: {condition}\n");
        }
    }
    for UndecidedGoal { goal, reason } in &document.undecided {
        let (name, line) = (&goal.name, at_line(goal));
        text += &format!("undecided: {name}{line}: {reason}\n");
    }
    for place in &document.unreachable {
        text += &format!("cannot be covered: {place} is unreachable\n");
    }
    for PrunedDocument {
        case, text: pruned, ..
    } in &document.pruned
    {
        text += &format!("pruned of {case}:\n");
        for line in pruned.lines() {
            text += &format!("  {line}\n");
        }
        if pruned.is_empty() {
            text += "  nothing\n";
        }
    }
    for note in &document.notes {
        text += &format!("{note}\n");
    }
    if !document.cases.is_empty() {
        text += &format!(
            "run them: iolite test {} --suite {} --sut …\n",
            args.model,
            folder.display()
        );
    }
    text
}

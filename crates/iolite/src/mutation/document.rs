//! What mutants came to, for scripts and for people.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::CounterexampleDocument;

/// The JSON document of `iolite mutate`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MutationDocument {
    /// The model, `FILE#Name`.
    pub model: String,
    /// The hash of its file.
    pub model_hash: String,
    /// The relation that sorts.
    pub relation: String,
    /// What mutants do with inputs that they do not take.
    pub complete_inputs: Option<String>,
    /// Whether the model, read as an implementation of itself, conforms; `null` where that is unknown.
    pub model_conforms: Option<bool>,
    /// Whether there are no more mutants than these.
    pub all: bool,
    /// How many mutants there are in all shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
    /// Whether there are no more mutants than those of all shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_all: Option<bool>,
    /// Mutants that were left out because they are equal in text to the model or to another one.
    pub equal: u64,
    /// The mutants.
    pub mutants: Vec<MutantDocument>,
    /// What they come to.
    pub score: Score,
}

/// One mutant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MutantDocument {
    /// From 1.
    pub number: usize,
    /// Its file, or the name that it would have.
    pub file: String,
    /// The operator.
    pub operator: String,
    /// The line of the model.
    pub line: u32,
    /// What was there and what is there now.
    pub change: String,
    /// Whether it conforms; `null` where that is unknown.
    pub conforms: Option<bool>,
    /// Why it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// A shortest trace that shows that it does not conform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<CounterexampleDocument>,
    /// Whether the tests killed it; `null` without tests, and where they could not be run.
    pub killed: Option<bool>,
    /// Why it is not known whether they kill it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
    /// Who killed it: a test case, a property, or the number of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<String>,
    /// The property that it violates, where that killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violates: Option<String>,
    /// The steps of the run that killed it: shortest for a test case or an observer, all of them on the
    /// fly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_after: Option<Vec<String>>,
    /// Values of constants that the model leaves open with which that run fails; with others it may not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed_with: Vec<String>,
    /// Test events on the fly up to the one that killed it, all runs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
}

/// How many mutants there are of each kind. With tests, `killed` of `wrong` is the score, the value of
/// a suite by the errors it finds [IOCO99, §3].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Mutants that conform, proved.
    pub conforming: usize,
    /// Mutants that do not conform.
    pub wrong: usize,
    /// Mutants of which neither is known.
    pub unknown: usize,
    /// Whether there were tests.
    pub tested: bool,
    /// Wrong mutants that the tests killed.
    pub killed: usize,
    /// Files of wrong mutants that the tests let pass.
    pub survivors: Vec<String>,
    /// Files of wrong or unknown mutants that the tests could not be run against.
    pub untested: Vec<String>,
    /// Files of conforming mutants that the tests killed: these tests are not sound.
    pub unsound: Vec<String>,
    /// Files of conforming mutants that violate a property: it asks for more than the model does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond_model: Vec<String>,
}

impl Score {
    pub(super) fn of(mutants: &[MutantDocument], tested: bool) -> Self {
        let mut score = Self {
            tested,
            ..Self::default()
        };
        for mutant in mutants {
            match mutant.conforms {
                Some(true) => score.conforming += 1,
                Some(false) => score.wrong += 1,
                None => score.unknown += 1,
            }
            let file = || mutant.file.clone();
            match (mutant.killed, mutant.conforms) {
                (Some(true), Some(true)) if mutant.violates.is_some() => {
                    score.beyond_model.push(file());
                }
                (Some(true), Some(true)) => score.unsound.push(file()),
                (Some(true), _) => score.killed += 1,
                (Some(false), Some(false)) => score.survivors.push(file()),
                (None, Some(false) | None) if tested => score.untested.push(file()),
                _ => {}
            }
        }
        score
    }
}

/// The answers of the shares of one analysis, joined to the answer of one process, one by one: of each its mutants
/// are kept.
#[derive(Debug, Default)]
pub struct MergedMutants {
    /// The first share, without its mutants.
    whole: Option<(String, MutationDocument)>,
    /// By number, with the share that each is from.
    mutants: BTreeMap<usize, (Arc<str>, MutantDocument)>,
}

impl MergedMutants {
    /// Adds a share with its name.
    pub fn add(&mut self, name: &str, mut share: MutationDocument) -> Result<(), String> {
        let from: Arc<str> = name.into();
        for mutant in std::mem::take(&mut share.mutants) {
            let number = mutant.number;
            if let Some((before, _)) = self.mutants.insert(number, (Arc::clone(&from), mutant)) {
                return Err(format!("mutant {number} is in {before} and in {from}"));
            }
        }
        let Some((one, whole)) = &mut self.whole else {
            self.whole = Some((name.to_owned(), share));
            return Ok(());
        };
        let what = [
            (whole.model != share.model, "its model"),
            (
                whole.model_hash != share.model_hash,
                "the text of its model",
            ),
            (whole.relation != share.relation, "its relation"),
            (
                whole.complete_inputs != share.complete_inputs,
                "the completion of inputs",
            ),
            (whole.chosen != share.chosen, "the number of mutants"),
            (
                whole.score.tested != share.score.tested,
                "whether there were tests",
            ),
        ];
        if let Some((_, what)) = what.into_iter().find(|(differs, _)| *differs) {
            return Err(format!(
                "{name} is of another analysis than {one}: {what} differs"
            ));
        }
        whole.model_conforms = whole.model_conforms.or(share.model_conforms);
        Ok(())
    }

    /// The whole; where mutants are missing only if it may be `partial`.
    pub fn finish(self, partial: bool) -> Result<MutationDocument, String> {
        let Some((_, mut whole)) = self.whole else {
            return Err("there is nothing to merge".to_owned());
        };
        let mutants = self.mutants;
        let chosen = whole.chosen.unwrap_or(mutants.len());
        let missing: Vec<String> = (1..=chosen)
            .filter(|number| !mutants.contains_key(number))
            .map(|number| number.to_string())
            .collect();
        if !missing.is_empty() && !partial {
            let shown = missing
                .iter()
                .take(10)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            let more = if missing.len() > 10 { ", …" } else { "" };
            return Err(format!(
                "{} mutants are in no share: {shown}{more}",
                missing.len()
            ));
        }
        whole.mutants = mutants.into_values().map(|(_, mutant)| mutant).collect();
        whole.score = Score::of(&whole.mutants, whole.score.tested);
        whole.all = missing.is_empty() && whole.chosen_all.unwrap_or(whole.all);
        Ok(whole)
    }
}

impl MutantDocument {
    /// Leaves out the runs that [`MutationDocument::tell`] does not show.
    pub fn without_untold_runs(&mut self) {
        self.killed_after = None;
        if self.killed != Some(false) || self.conforms != Some(false) {
            self.counterexample = None;
        }
    }
}

impl MutationDocument {
    /// The answer for people.
    pub fn tell(&self) -> String {
        let mut text = String::new();
        let score = &self.score;
        let mut by_operator: Vec<(&str, [usize; 3])> = Vec::new();
        for mutant in &self.mutants {
            let at = by_operator.iter().position(|(o, _)| *o == mutant.operator);
            let at = at.unwrap_or_else(|| {
                by_operator.push((&mutant.operator, [0; 3]));
                by_operator.len() - 1
            });
            let column = match mutant.conforms {
                Some(true) => 0,
                Some(false) => 1,
                None => 2,
            };
            by_operator[at].1[column] += 1;
        }
        let more = if self.all {
            ""
        } else {
            ", chosen at random among more"
        };
        let relation = &self.relation;
        let _ = writeln!(
            text,
            "{} mutant{} of {}{more}",
            self.mutants.len(),
            if self.mutants.len() == 1 { "" } else { "s" },
            self.model
        );
        let _ = writeln!(
            text,
            "{:<18} {:>10} {:>10} {:>10}",
            "operator", relation, "wrong", "unknown"
        );
        for (operator, [right, wrong, unknown]) in &by_operator {
            let _ = writeln!(text, "{operator:<18} {right:>10} {wrong:>10} {unknown:>10}");
        }
        let _ = writeln!(
            text,
            "{:<18} {:>10} {:>10} {:>10}",
            "all", score.conforming, score.wrong, score.unknown
        );
        if let Some(reason) = self.mutants.iter().find_map(|m| m.unknown.as_ref()) {
            let _ = writeln!(text, "unknown, for instance: {}", first_line(reason));
        }
        if score.tested {
            self.tell_score(&mut text);
        }
        text
    }

    fn tell_score(&self, text: &mut String) {
        let score = &self.score;
        let _ = writeln!(text, "killed {} of {} wrong", score.killed, score.wrong);
        let instances = self.mutants.iter().filter(|m| !m.killed_with.is_empty());
        match instances.count() {
            0 => {}
            n => {
                let _ = writeln!(
                    text,
                    "{n} of them with some values of the constants that the model leaves open"
                );
            }
        }
        if !score.untested.is_empty() {
            let _ = writeln!(text, "{} could not be tested", score.untested.len());
            if let Some(reason) = self.mutants.iter().find_map(|m| m.undecided.as_ref()) {
                let _ = writeln!(text, "  for instance: {}", first_line(reason));
            }
        }
        if let Some(first) = score.beyond_model.first() {
            let _ = writeln!(
                text,
                "{} of the conforming ones violate a property, such as {first}: it asks for more than the \
                 model",
                score.beyond_model.len()
            );
        }
        for mutant in &self.mutants {
            if score.unsound.contains(&mutant.file) {
                let _ = writeln!(
                    text,
                    "not sound: {} conforms and was killed by {}",
                    mutant.file,
                    mutant.killed_by.as_deref().unwrap_or("the tests")
                );
            }
            if mutant.killed != Some(false) || mutant.conforms != Some(false) {
                continue;
            }
            let _ = writeln!(
                text,
                "survivor {}: line {}: {}",
                mutant.file, mutant.line, mutant.change
            );
            if let Some(c) = &mutant.counterexample {
                let trace = match c.trace.as_slice() {
                    [] => "at once".to_owned(),
                    trace => format!("after {}", trace.join(" ")),
                };
                let _ = writeln!(text, "  would be killed by {} {trace}", c.observed);
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

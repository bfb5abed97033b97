//! What is kept of mutants in a folder, so that an interrupted analysis goes on where it was.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use iolite_derive::ModelRef;
use iolite_lang::mutation::Mutant;
use serde::{Deserialize, Serialize};

use super::{Mutable, MutantDocument, MutationDocument, MutationOptions, Names, OnTheFly};
use crate::workspace::hash;
use crate::{Error, QuiescenceFlag, Workspace, write_whole};

const RECORD: &str = "mutants.jsonl";
const ANSWER: &str = "mutants.json";

/// What the answers depend on: the first line of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    format: String,
    model_hash: String,
    name: String,
    mutants: String,
    relation: String,
    quiescence: QuiescenceFlag,
    complete_inputs: Option<crate::CompletionFlag>,
    seed: u64,
    suite: Vec<(String, String)>,
    /// Purposes and properties, with the hashes of their files.
    #[serde(default)]
    goals: Vec<(String, String)>,
    on_the_fly: Option<OnTheFly>,
}

/// A folder with mutants and a record of what is known of them; or nothing.
pub(super) struct Store {
    record: Option<Mutex<File>>,
    folder: Option<std::path::PathBuf>,
    known: BTreeMap<usize, MutantDocument>,
}

impl Store {
    /// Writes the mutants that are not there yet, and reads what is known of them.
    pub(super) fn open(
        workspace: &Workspace,
        options: &MutationOptions,
        names: &Names,
        mutable: &Mutable,
        mutants: &[Mutant],
    ) -> Result<Self, Error> {
        let Some(folder) = &options.folder else {
            return Ok(Self {
                record: None,
                folder: None,
                known: BTreeMap::new(),
            });
        };
        std::fs::create_dir_all(folder).map_err(|e| Error::writing(folder, &e))?;
        let texts: String = mutants.iter().map(|m| hash(m.text.as_bytes())).collect();
        let header = Header {
            format: "iolite-mutants-1".to_owned(),
            model_hash: mutable.hash.clone(),
            name: mutable.name.clone(),
            mutants: hash(texts.as_bytes()),
            relation: options.relation.name().to_owned(),
            quiescence: options.quiescence,
            complete_inputs: options.semantics().complete_inputs,
            seed: options.seed,
            suite: suite_hashes(&options.suite)?,
            goals: goal_hashes(workspace, options),
            on_the_fly: options.on_the_fly.clone(),
        };
        let path = folder.join(RECORD);
        let known = match std::fs::read_to_string(&path) {
            Ok(text) if !options.restart => known(&path, &text, &header)?,
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::reading(&path, &e));
            }
            _ => BTreeMap::new(),
        };
        // The record is written anew, so that a line that was cut off does not stay.
        let mut text = line(&header)?;
        for document in known.values() {
            text.push_str(&line(document)?);
        }
        write_whole(&path, text.as_bytes())?;
        for (k, mutant) in mutants.iter().enumerate() {
            let file = names.file(k + 1, mutant.operator);
            if std::fs::read(&file).ok().as_deref() != Some(mutant.text.as_bytes()) {
                write_whole(&file, mutant.text.as_bytes())?;
            }
        }
        let record = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|e| Error::writing(&path, &e))?;
        Ok(Self {
            record: Some(Mutex::new(record)),
            folder: Some(folder.clone()),
            known,
        })
    }

    /// What is known of a mutant.
    pub(super) fn known(&self, number: usize) -> Option<MutantDocument> {
        self.known.get(&number).cloned()
    }

    /// Records what became known of a mutant.
    pub(super) fn add(&self, document: &MutantDocument) -> Result<(), Error> {
        let (Some(record), Some(folder)) = (&self.record, &self.folder) else {
            return Ok(());
        };
        let text = line(document)?;
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        let written = record.write_all(text.as_bytes());
        written.map_err(|e| Error::writing(&folder.join(RECORD), &e))
    }

    /// Writes the whole answer.
    pub(super) fn finish(&self, document: &MutationDocument) -> Result<(), Error> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let text = serde_json::to_string_pretty(document)
            .map_err(|e| Error::fault(format!("writing JSON: {e}")))?;
        write_whole(&folder.join(ANSWER), format!("{text}\n").as_bytes())
    }
}

fn line(document: &impl Serialize) -> Result<String, Error> {
    let text =
        serde_json::to_string(document).map_err(|e| Error::fault(format!("writing JSON: {e}")))?;
    Ok(text + "\n")
}

/// What an earlier analysis found, if it asked the same of the same mutants.
fn known(
    path: &Path,
    text: &str,
    header: &Header,
) -> Result<BTreeMap<usize, MutantDocument>, Error> {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    if serde_json::from_str::<Header>(first).ok().as_ref() != Some(header) {
        return Err(Error::input(format!(
            "{} is about another model, other mutants or other options",
            path.display()
        ))
        .hint("choose another folder, or begin again with --restart"));
    }
    // The last line may have been cut off; whatever is no answer is looked at again.
    let answers = lines.filter_map(|line| serde_json::from_str::<MutantDocument>(line).ok());
    Ok(answers.map(|answer| (answer.number, answer)).collect())
}

/// Purposes and properties as the workspace has read them; a formula is its own text.
fn goal_hashes(workspace: &Workspace, options: &MutationOptions) -> Vec<(String, String)> {
    let goals = options.purposes.iter().chain(&options.properties);
    let hash = |goal: &ModelRef| {
        let source = workspace.source(goal.path()).ok();
        source.map_or_else(String::new, |source| source.hash().to_owned())
    };
    goals.map(|goal| (goal.to_string(), hash(goal))).collect()
}

/// Test cases change while their names stay.
fn suite_hashes(paths: &[std::path::PathBuf]) -> Result<Vec<(String, String)>, Error> {
    let mut hashes = Vec::new();
    for path in paths {
        let mut files = vec![path.clone()];
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|e| Error::reading(path, &e))?;
            let inside: std::io::Result<_> = entries.map(|e| Ok(e?.path())).collect();
            files = inside.map_err(|e| Error::reading(path, &e))?;
            files.sort();
        }
        for file in files {
            let bytes = std::fs::read(&file).unwrap_or_default();
            hashes.push((file.display().to_string(), hash(&bytes)));
        }
    }
    Ok(hashes)
}

//! Mutants of a model: which of them conform, and which are killed by tests.
//!
//! "Mutants can be used to measure the quality of a test suite": the errors that it finds are its value
//! [IOCO99, §3]. Equivalent mutants, the plague of mutation analysis, are proved here by the relation
//! itself.

mod data;
#[cfg(test)]
mod data_tests;
mod document;
mod examine;
mod pick;
mod store;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use iolite_derive::ModelRef;
use iolite_exec::Share;
use iolite_lang::fmt::format_file;
use iolite_lang::mutation::{Mutant, Mutations, Operator};
use iolite_lang::syntax::ast::{Item, Role};
use iolite_lts::relation::Relation;
use serde::{Deserialize, Serialize};

use crate::workspace::hash;
use crate::{CompletionFlag, Error, QuiescenceFlag, SemanticsOptions, Workspace};

pub use document::{MergedMutants, MutantDocument, MutationDocument, Score};
use examine::Examiner;
use store::Store;

/// Which mutants, and what is asked of them.
#[derive(Clone, Debug)]
pub struct MutationOptions {
    /// The operators; all where there is none.
    pub operators: Vec<Operator>,
    /// The relation that sorts mutants.
    pub relation: Relation,
    /// Which states are quiescent.
    pub quiescence: QuiescenceFlag,
    /// What mutants do with inputs that they do not take. Where it is open, relations with inputs complete them by
    /// self-loops, and the others not at all.
    pub complete_inputs: Option<CompletionFlag>,
    /// The most mutants; more are chosen from at random.
    pub most: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// Mutants at the same time.
    pub jobs: usize,
    /// Which of the mutants are looked at, counted from 0.
    pub share: Share,
    /// Where mutants and what they came to are written.
    pub folder: Option<PathBuf>,
    /// Throw away what is in the folder, instead of going on from there.
    pub restart: bool,
    /// Stored test cases that may kill.
    pub suite: Vec<PathBuf>,
    /// Test purposes whose derived test cases may kill. On the fly they are those of `on_the_fly`.
    pub purposes: Vec<ModelRef>,
    /// Properties and observers that the model has; a mutant that violates one is killed.
    pub properties: Vec<ModelRef>,
    /// Testing on the fly that may kill.
    pub on_the_fly: Option<OnTheFly>,
}

/// How much is tested on the fly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnTheFly {
    /// Runs, until one fails.
    pub runs: u64,
    /// Steps of a run.
    pub steps: u64,
    /// Test purposes to reach.
    pub purposes: Vec<String>,
    /// Towards transitions of the model that no run has seen yet.
    pub coverage: bool,
}

impl Default for MutationOptions {
    fn default() -> Self {
        Self {
            operators: Vec::new(),
            relation: Relation::Ioco,
            quiescence: QuiescenceFlag::Livelock,
            complete_inputs: None,
            most: 1000,
            seed: 0,
            jobs: 1,
            share: Share::Whole,
            folder: None,
            restart: false,
            suite: Vec::new(),
            purposes: Vec::new(),
            properties: Vec::new(),
            on_the_fly: None,
        }
    }
}

impl MutationOptions {
    /// What models mean where they leave it open.
    fn semantics(&self) -> SemanticsOptions {
        let usual = self
            .relation
            .is_directed()
            .then_some(CompletionFlag::SelfLoop);
        SemanticsOptions {
            quiescence: self.quiescence,
            complete_inputs: self.complete_inputs.or(usual),
        }
    }

    /// How inputs are completed for tests, which implementations take.
    fn completion(&self) -> CompletionFlag {
        self.complete_inputs.unwrap_or(CompletionFlag::SelfLoop)
    }

    fn tests(&self) -> bool {
        !self.suite.is_empty()
            || !self.purposes.is_empty()
            || !self.properties.is_empty()
            || self.on_the_fly.is_some()
    }
}

/// Who hears how many of how many mutants are done, and may stop.
pub type Done<'a> = dyn FnMut(usize, usize) -> Result<(), Error> + Send + 'a;

/// A model whose mutants can be made: the text of an `.iol` file, and which declaration is meant.
struct Mutable {
    text: String,
    /// The declaration, with its arguments, as in `FILE#Name(max = 3)`.
    name: String,
    /// The hash of the model's own file.
    hash: String,
}

impl Workspace {
    /// Mutants of a model, sorted by a relation, and killed or not.
    pub fn mutate(
        &self,
        model: &ModelRef,
        options: &MutationOptions,
        done: &mut Done<'_>,
    ) -> Result<MutationDocument, Error> {
        if options.relation == Relation::IoconfF {
            return Err(Error::input(
                "mutants cannot be sorted by ioconf-f, which depends on a set of traces",
            ));
        }
        if options.tests() && !options.relation.is_directed() {
            return Err(Error::input(format!(
                "{} is not tested here; mutants are killed under ioco, uioco and ioconf",
                options.relation
            )));
        }
        let mutable = self.mutable(model)?;
        let source = self.read_as(self.options().clone());
        let path = PathBuf::from("mutant.iol");
        let parsed = source.insert(&path, mutable.text.as_bytes());
        let file = parsed.file()?;
        let base = mutable.name.split(['(', '[']).next().unwrap_or_default();
        let operators = match options.operators.as_slice() {
            [] => Operator::ALL.to_vec(),
            given => given.to_vec(),
        };
        let mutations = Mutations::new(file, base, &operators);
        let picked = pick::pick(&mutations, &format_file(file), options.most, options.seed);
        let names = Names::new(options, picked.mutants.len());
        let examiner = Examiner::new(self, model, &mutable.name, options)?;
        let store = Store::open(self, options, &names, &mutable, &picked.mutants)?;
        let model_conforms = examiner.model_conforms()?;
        if model_conforms == Some(false) {
            self.warn(
                "warning: the model does not conform to itself once inputs that it does not take are \
                 completed, so mutants may be wrong for that reason alone; --relation uioco leaves out \
                 inputs that only some of its states take",
            );
        }
        let mutants = examine_all(&examiner, &picked.mutants, &names, &store, options, done)?;
        let document = MutationDocument {
            model: model.to_string(),
            model_hash: mutable.hash,
            relation: options.relation.name().to_owned(),
            complete_inputs: options
                .semantics()
                .complete_inputs
                .map(|how| how.name().to_owned()),
            model_conforms,
            all: picked.all && options.share.is_whole(),
            chosen: Some(picked.mutants.len()),
            chosen_all: Some(picked.all),
            equal: picked.equal,
            score: Score::of(&mutants, options.tests()),
            mutants,
        };
        store.finish(&document)?;
        Ok(document)
    }

    /// How many mutants of a model there are to be looked at, all shares together.
    pub fn count_mutants(
        &self,
        model: &ModelRef,
        options: &MutationOptions,
    ) -> Result<usize, Error> {
        // An empty share: mutants are made, and none is looked at.
        let nothing = MutationOptions {
            share: Share::of_none(),
            folder: None,
            ..options.clone()
        };
        let document = self.mutate(model, &nothing, &mut |_, _| Ok(()))?;
        Ok(document.chosen.unwrap_or_default())
    }

    /// The model as text whose transitions and data can be changed: its own where it is a system of
    /// states or made of such systems with data, else its transitions, explored.
    fn mutable(&self, model: &ModelRef) -> Result<Mutable, Error> {
        if model.is_iol() {
            let declared = self.declaration(model)?;
            let source = self.source(declared.reference.path())?;
            let name = declared.reference.name.clone().unwrap_or_default();
            let base = name.split(['(', '[']).next().unwrap_or_default();
            let is_machine = source.file()?.items.iter().any(|item| {
                matches!(item, Item::Machine(m) if m.role == Role::System && m.name.text == base)
            });
            if is_machine || declared.has_data() {
                return Ok(Mutable {
                    text: source.text()?.to_owned(),
                    hash: source.hash().to_owned(),
                    name,
                });
            }
        }
        let spec = self.explicit(model)?;
        let lts = spec.whole_system(self.options().budget())?;
        let mut text = String::new();
        iolite_formats::iol::write(&lts, "Model", &mut text)
            .map_err(|e| Error::input(format!("{model}: {e}")))?;
        Ok(Mutable {
            hash: spec
                .reference()
                .hash
                .clone()
                .unwrap_or_else(|| hash(text.as_bytes())),
            text,
            name: "Model".to_owned(),
        })
    }
}

/// The names of the files of mutants.
struct Names {
    folder: Option<PathBuf>,
    digits: usize,
}

impl Names {
    fn new(options: &MutationOptions, count: usize) -> Self {
        Self {
            folder: options.folder.clone(),
            digits: count.to_string().len().max(4),
        }
    }

    /// The file of a mutant, numbered from 1.
    fn file(&self, number: usize, operator: Operator) -> PathBuf {
        let name = format!("{number:0width$}-{operator}.iol", width = self.digits);
        match &self.folder {
            Some(folder) => folder.join(name),
            None => PathBuf::from(name),
        }
    }
}

/// Looks at all mutants of the part that is asked for, `jobs` at a time. The answers do not depend on
/// who gave them.
fn examine_all(
    examiner: &Examiner<'_>,
    mutants: &[Mutant],
    names: &Names,
    store: &Store,
    options: &MutationOptions,
    done: &mut Done<'_>,
) -> Result<Vec<MutantDocument>, Error> {
    let numbers: Vec<usize> = (1..=mutants.len())
        .filter(|number| options.share.takes(*number as u64 - 1))
        .collect();
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<Option<MutantDocument>>> = Mutex::new(vec![None; numbers.len()]);
    let progress = Mutex::new((0usize, done));
    let work = || -> Result<(), Error> {
        let mut worker = None;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = numbers.get(at) else {
                return Ok(());
            };
            let mutant = &mutants[number - 1];
            let answer = if let Some(known) = store.known(number) {
                known
            } else {
                let worker = match &worker {
                    Some(worker) => worker,
                    None => worker.insert(examiner.worker()?),
                };
                let file = names.file(number, mutant.operator);
                let answer = worker.examine(number, &file, mutant)?;
                store.add(&answer)?;
                answer
            };
            answers
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)[at] = Some(answer);
            let mut progress = progress
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            progress.0 += 1;
            let count = progress.0;
            (progress.1)(count, numbers.len())?;
        }
    };
    let stop = |result: Result<(), Error>| {
        if result.is_err() {
            // Nobody begins another mutant.
            next.store(numbers.len(), Ordering::Relaxed);
        }
        result
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..options.jobs.max(1))
            .map(|_| scope.spawn(|| stop(work())))
            .collect();
        let mut result = stop(work());
        for other in others {
            let ended = other.join().unwrap_or_else(|_| {
                Err(Error::fault("a thread that looked at mutants ended early"))
            });
            result = result.and(ended);
        }
        result
    })?;
    let answers = answers
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(answers.into_iter().flatten().collect())
}

//! `iolite test` with data: values are solved for while the system answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use iolite_derive::{
    Menu, Observation, Progress, SymbolicTester, SymbolicTesterError, Tester, Verdict,
};
use iolite_exec::codec::{Heard, OnUndecodable, UNDECODABLE};
use iolite_exec::{ExecError, JobId};
use iolite_expr::{Strategy, Value};
use iolite_lang::{File, LineIndex};
use iolite_lts::{LabelId, LabelKind, QuiescencePolicy};
use iolite_sts::{Iosts, Symbolic, ValuedAction};

use super::Failure;
use super::action_table::ActionTable;
use super::data_options::{DataOptions, Drawing, ValueOptions, constants, not_solved, solver};
use super::judge::Pair;
use super::learnt::{Constants, Learnt};
use super::played_model::{Played, TableDictionary};
use super::source::{self, Format, ModelRef, Opened};
use super::target::Target;
use super::valued_codec::ValuedCodec;
use super::wire_value::valued;

/// Makes symbolic testers, one for each job.
pub(super) struct SymbolicJudge {
    pub(super) reference: ModelRef,
    pub(super) hash: String,
    file: File,
    model: Arc<Iosts>,
    constants: Vec<(String, Value)>,
    drawing: Vec<Drawing>,
    policy: QuiescencePolicy,
    options: DataOptions,
    strategy: Strategy,
    seed: u64,
    table: ActionTable,
    learnt: Learnt,
    /// When solving for values has to end.
    until: Option<Instant>,
}

impl SymbolicJudge {
    /// The judge of a model with data, unless something is asked for that needs them unfolded.
    pub(super) fn load_unless(
        explicit: Option<&str>,
        reference: &ModelRef,
        (options, values): (&DataOptions, &ValueOptions),
        policy: QuiescencePolicy,
        seed: u64,
        until: Option<Instant>,
    ) -> Result<Option<Self>, Failure> {
        let symbolic = match explicit {
            Some(_) => None,
            None => Self::load(reference, (options, values), policy, seed, until)?,
        };
        let given = options.given().or_else(|| values.given());
        match (&symbolic, given) {
            (None, Some(flag)) => Err(not_solved(flag, reference, explicit)),
            _ => Ok(symbolic),
        }
    }

    /// The judge of a model with data; `None` for any other model.
    fn load(
        reference: &ModelRef,
        (options, values): (&DataOptions, &ValueOptions),
        policy: QuiescencePolicy,
        seed: u64,
        until: Option<Instant>,
    ) -> Result<Option<Self>, Failure> {
        if Format::of(&reference.path)? != Format::Iol {
            return Ok(None);
        }
        let Opened {
            bytes,
            file,
            name,
            reference,
            hash,
        } = source::open(reference)?;
        if !iolite_lang::has_data(&file, &name) {
            return Ok(None);
        }
        let model = iolite_lang::lower_data(&file, &name)
            .map_err(|d| source::rejected(&reference.path, &bytes, &d))?;
        // Only the locations are looked at: whether values allow the cycle is not decided here.
        let cycle = model.internal_cycle();
        if let (QuiescencePolicy::Strict, Some(location)) = (policy, cycle) {
            return Err(Failure::input(format!(
                "{reference} may diverge: location {} lies on a cycle of internal actions",
                model.location(location).name
            ))
            .hint(
                "--quiescence livelock takes a livelock for quiescent; --unfold looks at values",
            ));
        }
        let constants = constants(&file, &model, &options.constants)?;
        let drawing = values.drawing(&file, &model)?;
        let judge = Self {
            reference: with_constants(reference, &options.constants),
            hash,
            file,
            model: Arc::new(model),
            constants,
            drawing,
            policy,
            options: options.clone(),
            strategy: values.strategy(),
            seed,
            table: ActionTable::default(),
            learnt: Learnt::default(),
            until,
        };
        // Mistakes show before anything is started.
        judge.valued_tester()?;
        Ok(Some(judge))
    }

    /// The judge of what the target shows: where a model plays it, its outputs have names here too,
    /// and one that the specification does not have is a `fail`.
    pub(super) fn against(mut self, target: &Target) -> Result<Self, Failure> {
        if let Some(played) = target.played(true)? {
            self.model = Arc::new(self.model.with_outputs_of(played.model()));
        }
        Ok(self)
    }

    /// A tester over valued actions.
    pub(super) fn valued_tester(&self) -> Result<SymbolicTester, Failure> {
        let constants: Vec<(&str, Value)> = self
            .constants
            .iter()
            .map(|(n, v)| (n.as_str(), v.clone()))
            .collect();
        let mut solver = solver(self.options.solver.as_deref())?;
        solver.set_deadline(self.until);
        let wrong = |e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", self.reference));
        let semantics = Symbolic::new(self.model.clone(), &constants, self.policy, solver)
            .map_err(|e| wrong(&e))?;
        let tester = SymbolicTester::new(semantics, self.seed, self.strategy);
        let mut tester = tester.map_err(|e| match e {
            SymbolicTesterError::Undecided(_) => {
                Failure::undecided(format!("{}: {e}", self.reference))
            }
            e => wrong(&e),
        })?;
        for (action, position, distribution) in &self.drawing {
            tester.draw(*action, *position, distribution.clone());
        }
        Ok(tester)
    }

    fn tester(&self, table: ActionTable) -> Result<Numbered, Failure> {
        Ok(Numbered {
            tester: self.valued_tester()?,
            table,
            menu: Menu::default(),
            doubts: self.doubts(),
            warned: 0,
            learnt: self.learnt.clone(),
            began: false,
        })
    }

    /// Keeps what a run tells of the constants; one that nothing explains tells nothing.
    pub(super) fn learn(&self, tester: &mut SymbolicTester) {
        warn_of_guess(tester);
        learn(&self.learnt, tester);
    }

    /// What the runs so far tell of the constants that were left unknown, if any were.
    pub(super) fn constants(&self) -> Option<Constants> {
        let given = |name: &str| self.constants.iter().any(|(known, _)| known == name);
        let names = self
            .model
            .constants()
            .iter()
            .map(|c| c.var.name.to_string());
        self.learnt.of(names.filter(|name| !given(name)).collect())
    }

    /// A tester for one job, and the system that it drives.
    pub(super) fn pair(&self, target: &Target, job: JobId) -> Result<Pair, ExecError> {
        let config = |f: Failure| ExecError::Config(f.to_string());
        let table = self.table.fork();
        let tester = self.tester(table.clone()).map_err(config)?;
        if let Some(played) = target.played(true).map_err(config)? {
            let dictionary = TableDictionary::new(table.clone(), &self.model, &played);
            return Ok(Pair {
                tester: Box::new(tester),
                adapter: Box::new(Played::new(target.running(&played)?, dictionary)),
                valued: Some(table),
            });
        }
        let map = target.config.action_map()?;
        if map.undecodable_policy() == OnUndecodable::Output
            && self
                .model
                .find_gate(LabelKind::Output, UNDECODABLE)
                .is_none()
        {
            return Err(ExecError::Config(format!(
                "undecodable messages are to be outputs, and the model declares no output \
                 `{UNDECODABLE}`"
            )));
        }
        let codec = ValuedCodec::new(map, self.model.clone(), table.clone());
        Ok(Pair {
            tester: Box::new(tester),
            adapter: Box::new(target.config.adapter(job, codec)?),
            valued: Some(table),
        })
    }

    /// The model.
    pub(super) fn model(&self) -> &Iosts {
        &self.model
    }

    /// An action of a journal, in `?REQ(3)` notation.
    pub(super) fn parse(&self, text: &str) -> Option<LabelId> {
        Some(self.table.number(&self.parse_valued(text)?))
    }

    /// The same, with its values, in the language's notation or in that of messages, where words
    /// need no quotes and records have colons.
    pub(super) fn parse_valued(&self, text: &str) -> Option<ValuedAction> {
        iolite_lang::parse_action(&self.file, &self.model, text).or_else(|| {
            let (kind, text) = match text.strip_prefix('?') {
                Some(text) => (LabelKind::Input, text),
                None => (LabelKind::Output, text.strip_prefix('!')?),
            };
            valued(&self.model, kind, &Heard::exact(text)).ok()
        })
    }

    /// Tells why a verdict is no `pass` and no `fail`, and saves the query that was not decided.
    pub(super) fn tell_doubt(&self, tester: &SymbolicTester) {
        self.doubts().tell(tester);
    }

    fn doubts(&self) -> Doubts {
        let path = self.reference.path.display().to_string();
        Doubts {
            query: self.options.unknown_query.clone(),
            lines: Arc::new((path, self.file.lines.clone())),
        }
    }
}

/// The instance that `--const` makes of a model, so that a certificate names it whole.
fn with_constants(reference: ModelRef, constants: &[String]) -> ModelRef {
    let (Some(name), false) = (&reference.name, constants.is_empty()) else {
        return reference;
    };
    let given = constants.join(", ");
    let name = match name.strip_suffix(')') {
        Some(instance) => format!("{instance}, {given})"),
        None => format!("{name}({given})"),
    };
    ModelRef {
        path: reference.path,
        name: Some(name),
    }
}

fn learn(learnt: &Learnt, tester: &mut SymbolicTester) {
    // After a guess there are values that the states do not tell of.
    let guess_free = tester.guessed().is_none() && tester.unsure().is_none();
    if tester.verdict() == Verdict::Pass && guess_free {
        learnt.add(tester.narrowed());
    }
}

/// Warnings that some job has given already.
static WARNED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// After such an input nothing can fail, which a pass should not hide.
fn warn_of_guess(tester: &SymbolicTester) {
    if let Some(input) = tester.guessed() {
        let name = &tester.model().gate(input.action).name;
        warn_once(format!(
            "warning: only some values of the constants specify ?{name} with the values it is given; \
             the others explain whatever comes after it, so such a run cannot fail: give constants \
             with --const, or assume more of them"
        ));
    }
}

fn warn_once(text: String) {
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if !warned.contains(&text) {
        eprintln!("{text}");
        warned.push(text);
    }
}

/// A symbolic tester whose actions are numbers.
struct Numbered {
    tester: SymbolicTester,
    table: ActionTable,
    menu: Menu<ValuedAction>,
    doubts: Doubts,
    /// How many untried inputs were told of.
    warned: usize,
    learnt: Learnt,
    /// Whether the run has seen anything yet.
    began: bool,
}

impl Drop for Numbered {
    fn drop(&mut self) {
        self.learn();
    }
}

impl Numbered {
    /// Keeps what the run tells of the constants, if it has begun.
    fn learn(&mut self) {
        if std::mem::take(&mut self.began) {
            learn(&self.learnt, &mut self.tester);
        }
    }

    /// An input that is silently left out would make a pass say more than it does.
    fn warn_of_untried(&mut self) {
        let untried = self.tester.untried();
        if untried.len() == self.warned {
            return;
        }
        self.warned = untried.len();
        for (action, why) in untried {
            let name = &self.tester.model().gate(*action).name;
            warn_once(format!(
                "warning: no values for ?{name}: {why}; where that is so, it is not tried, and \
                 these runs say nothing about it"
            ));
        }
    }

    fn noted(&self, progress: Progress) -> Progress {
        if let Progress::Ended(Verdict::Unknown | Verdict::Inconc) = progress {
            self.doubts.tell(&self.tester);
        }
        progress
    }
}

/// Tells why a verdict is no `pass` and no `fail`.
#[derive(Clone)]
struct Doubts {
    /// Where an undecided query is kept.
    query: PathBuf,
    /// The model's file and its lines.
    lines: Arc<(String, LineIndex)>,
}

impl Doubts {
    fn tell(&self, tester: &SymbolicTester) {
        let Some(doubt) = tester.doubt() else { return };
        let mut text = format!("warning: undecided: {}", doubt.reason);
        if let Some(place) = doubt.place.filter(|place| place.is_some()) {
            let (path, lines) = &*self.lines;
            text += &format!(" ({path}:{})", lines.line(place.start as usize));
        }
        text += &saved(&doubt.query, &self.query);
        eprintln!("{text}");
    }
}

/// Saves a query that was not decided, and says where it is.
pub(super) fn saved(query: &str, path: &Path) -> String {
    if query.is_empty() {
        return String::new();
    }
    match super::failure::write_whole(path, query.as_bytes()) {
        Ok(()) => format!("; the query is in {}", path.display()),
        Err(e) => format!("; the query is lost: {e}"),
    }
}

impl Tester for Numbered {
    type Action = LabelId;

    fn reset(&mut self) {
        self.learn();
        self.table.trim();
        self.tester.reset();
    }

    fn begin(&mut self, seed: u64) {
        self.reset();
        self.tester.begin(seed);
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        self.menu.clear();
        self.tester.menu(&mut self.menu);
        self.warn_of_untried();
        menu.observe = self.menu.observe;
        menu.stop = self.menu.stop;
        let table = &self.table;
        menu.stimuli
            .extend(self.menu.stimuli.iter().map(|a| table.number(a)));
    }

    fn stimulate(&mut self, stimulus: &LabelId) -> Progress {
        let Some(action) = self.table.action(*stimulus) else {
            return Progress::Ended(Verdict::Inconc);
        };
        self.began = true;
        let progress = self.tester.stimulate(&action);
        warn_of_guess(&self.tester);
        self.noted(progress)
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        let observation = match observation {
            Observation::Output(id) => match self.table.action(*id) {
                Some(action) => Observation::Output(action),
                None => return Progress::Ended(Verdict::Inconc),
            },
            Observation::Quiescence => Observation::Quiescence,
            Observation::Deadlock => Observation::Deadlock,
        };
        self.began = true;
        let progress = self.tester.observe(&observation);
        self.noted(progress)
    }

    fn verdict(&self) -> Verdict {
        self.tester.verdict()
    }

    fn allowed(&mut self) -> Vec<String> {
        self.tester.allowed()
    }

    fn locations(&mut self) -> Vec<String> {
        self.tester.locations()
    }

    fn places(&mut self) -> Vec<String> {
        self.tester.places()
    }

    fn show(&self, action: &LabelId) -> String {
        match self.table.action(*action) {
            Some(action) => self.tester.show(&action),
            None => format!("unknown action {}", action.index()),
        }
    }
}

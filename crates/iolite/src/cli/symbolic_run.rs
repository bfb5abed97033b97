//! `iolite test` with data: values are solved for while the system answers.
//!
//! Runs, journals, replay and shrinking of the command line are over label numbers, so valued
//! actions get numbers as they turn up; both sides of one job share the table.

use std::path::PathBuf;
use std::sync::Arc;

use iolite_derive::{Menu, Observation, Progress, SymbolicTester, Tester, Verdict};
use iolite_exec::codec::{
    ActionCodec, ActionMap, ChannelId, CodecError, Decoded, OnUndecodable, UNDECODABLE,
};
use iolite_exec::{ConcreteAction, ExecError, JobId, WireValue};
use iolite_expr::{Int, Smtlib, Solver, Sort, Strategy, Value};
use iolite_lang::File;
use iolite_lts::{LabelId, LabelKind, QuiescencePolicy};
use iolite_sts::{Iosts, Symbolic, ValuedAction};

use super::Failure;
use super::action_table::ActionTable;
use super::judge::Pair;
use super::source::{self, Format, ModelRef};
use super::target::Target;

/// How values are found.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub(super) struct DataOptions {
    /// Values of constants, such as max=3,f=[1,2]; others are narrowed by what is seen
    #[arg(long = "const", value_name = "NAME=VALUE,…")]
    constants: Vec<String>,
    /// The SMT-LIB solver: a program, or `embedded` [default: embedded]
    #[arg(long, value_name = "PATH")]
    solver: Option<String>,
    /// Which values inputs carry
    #[arg(long, value_enum, default_value_t = ValuesFlag::Mixed)]
    values: ValuesFlag,
    /// Values to prefer for a parameter of an input, such as REQ.l=[1,2,9] (repeatable)
    #[arg(long, value_name = "INPUT.PARAMETER=[VALUES]")]
    pool: Vec<String>,
    /// Unfold finite data into an explicit model instead of solving for values
    #[arg(long)]
    pub(super) unfold: bool,
    /// Where the query is saved that a solver could not decide
    #[arg(long, value_name = "FILE", default_value = "iolite.unknown.smt2")]
    unknown_query: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ValuesFlag {
    /// The least and greatest possible ones, and their neighbours
    Boundary,
    /// Close to zero, short
    Small,
    /// Far from zero, long
    Large,
    /// Anywhere
    Random,
    /// Each of the others by lot
    Mixed,
}

impl From<ValuesFlag> for Strategy {
    fn from(flag: ValuesFlag) -> Self {
        match flag {
            ValuesFlag::Boundary => Self::Boundary,
            ValuesFlag::Small => Self::Small,
            ValuesFlag::Large => Self::Large,
            ValuesFlag::Random => Self::Random,
            ValuesFlag::Mixed => Self::Mixed,
        }
    }
}

impl DataOptions {
    /// A flag that only symbolic runs know, if one was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        [
            (!self.constants.is_empty(), "--const"),
            (self.solver.is_some(), "--solver"),
            (!self.pool.is_empty(), "--pool"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }
}

/// A solver as `--solver` names it.
pub(super) fn solver(name: Option<&str>) -> Result<Solver, Failure> {
    match name {
        None | Some("embedded") => Ok(Solver::embedded()),
        Some(path) => Smtlib::new(path.as_ref())
            .map(|s| Solver::new(Box::new(s)))
            .map_err(|e| {
                Failure::input(format!("--solver: {e}"))
                    .hint("`iolite doctor` lists the solvers it finds; leave --solver out to use the embedded one")
            }),
    }
}

/// Makes symbolic testers, one for each job.
pub(super) struct SymbolicJudge {
    pub(super) reference: ModelRef,
    pub(super) hash: String,
    file: File,
    model: Arc<Iosts>,
    constants: Vec<(String, Value)>,
    pools: Vec<(iolite_sts::ActionId, usize, Vec<Value>)>,
    policy: QuiescencePolicy,
    options: DataOptions,
    seed: u64,
    table: ActionTable,
}

impl SymbolicJudge {
    /// The judge of a model with data; `None` for any other model.
    pub(super) fn load(
        reference: &ModelRef,
        options: &DataOptions,
        policy: QuiescencePolicy,
        seed: u64,
    ) -> Result<Option<Self>, Failure> {
        if Format::of(&reference.path)? != Format::Iol {
            return Ok(None);
        }
        let bytes = source::read(&reference.path)?;
        let file = source::parse(&reference.path, &bytes)?;
        let systems = iolite_lang::systems(&file);
        let name = source::pick(reference, "system or process", &systems)?.to_owned();
        if !iolite_lang::has_data(&file, &name) {
            return Ok(None);
        }
        let model = iolite_lang::lower_data(&file, &name)
            .map_err(|d| source::rejected(&reference.path, &bytes, &d))?;
        let constants = constants(&file, &model, &options.constants)?;
        let pools = pools(&file, &model, &options.pool)?;
        let judge = Self {
            reference: ModelRef {
                path: reference.path.clone(),
                name: Some(name),
            },
            hash: source::hash(&bytes),
            file,
            model: Arc::new(model),
            constants,
            pools,
            policy,
            options: options.clone(),
            seed,
            table: ActionTable::default(),
        };
        // Mistakes show before anything is started.
        judge.tester(JobId(0), ActionTable::default())?;
        Ok(Some(judge))
    }

    fn tester(&self, job: JobId, table: ActionTable) -> Result<Numbered, Failure> {
        let constants: Vec<(&str, Value)> = self
            .constants
            .iter()
            .map(|(n, v)| (n.as_str(), v.clone()))
            .collect();
        let solver = solver(self.options.solver.as_deref())?;
        let wrong = |e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", self.reference));
        let semantics = Symbolic::new(self.model.clone(), &constants, self.policy, solver)
            .map_err(|e| wrong(&e))?;
        let seed = self.seed.wrapping_add((job.0 as u64) << 32);
        let mut tester = SymbolicTester::new(semantics, seed, self.options.values.into())
            .map_err(|e| wrong(&e))?;
        for (action, position, values) in &self.pools {
            tester.prefer(*action, *position, values.clone());
        }
        Ok(Numbered {
            tester,
            table,
            menu: Menu::default(),
            unknown_query: self.options.unknown_query.clone(),
        })
    }

    /// A tester for one job, and the system that it drives.
    pub(super) fn pair(&self, target: &Target, job: JobId) -> Result<Pair, ExecError> {
        let config = |f: Failure| ExecError::Config(f.to_string());
        let table = self.table.fork();
        let tester = self.tester(job, table.clone()).map_err(config)?;
        let map = target.config.action_map()?;
        if map.undecodable_policy() == OnUndecodable::Output
            && self
                .model
                .find_action(LabelKind::Output, UNDECODABLE)
                .is_none()
        {
            return Err(ExecError::Config(format!(
                "undecodable messages are to be outputs, and the model declares no output \
                 `{UNDECODABLE}`"
            )));
        }
        let codec = ValuedCodec {
            map,
            model: self.model.clone(),
            table: table.clone(),
        };
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
        let action = iolite_lang::parse_action(&self.file, &self.model, text)?;
        Some(self.table.number(&action))
    }
}

/// `a=1,b=[1,2]` at its outer commas.
fn assignments(texts: &[String]) -> Result<Vec<(&str, &str)>, Failure> {
    let mut found = Vec::new();
    for text in texts {
        let (mut depth, mut quoted, mut escaped, mut start) = (0usize, false, false, 0);
        let mut pieces = Vec::new();
        for (i, c) in text.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '[' | '{' | '(' if !quoted => depth += 1,
                ']' | '}' | ')' if !quoted => depth = depth.saturating_sub(1),
                ',' if !quoted && depth == 0 => {
                    pieces.push(&text[start..i]);
                    start = i + 1;
                }
                _ => {}
            }
        }
        pieces.push(&text[start..]);
        for piece in pieces {
            let (name, value) = piece.split_once('=').ok_or_else(|| {
                Failure::input(format!("`{piece}` is not of the form NAME=VALUE"))
            })?;
            found.push((name.trim(), value.trim()));
        }
    }
    Ok(found)
}

fn constants(
    file: &File,
    model: &Iosts,
    texts: &[String],
) -> Result<Vec<(String, Value)>, Failure> {
    let mut values: Vec<(String, Value)> = Vec::new();
    for (name, text) in assignments(texts)? {
        let known = model.constants().iter().map(|c| &*c.var.name);
        let Some(constant) = model.constants().iter().find(|c| *c.var.name == *name) else {
            let list: Vec<&str> = known.clone().collect();
            let hint = iolite_lang::diagnostic::did_you_mean(name, known).unwrap_or_else(|| {
                if list.is_empty() {
                    "it has no constants without a value".to_owned()
                } else {
                    format!("its constants are: {}", list.join(", "))
                }
            });
            return Err(Failure::input(format!(
                "--const: system `{}` has no constant `{name}`",
                model.name()
            ))
            .hint(hint));
        };
        if values.iter().any(|(n, _)| n == name) {
            return Err(Failure::input(format!("--const: `{name}` is given twice")));
        }
        let value = iolite_lang::parse_value(file, text, &constant.var.sort).map_err(|e| {
            let sort = &constant.var.sort;
            Failure::input(format!("--const {name}={text}: {e}"))
                .hint(format!("`{name}` is of sort {sort}"))
        })?;
        values.push((name.to_owned(), value));
    }
    Ok(values)
}

fn pools(
    file: &File,
    model: &Iosts,
    texts: &[String],
) -> Result<Vec<(iolite_sts::ActionId, usize, Vec<Value>)>, Failure> {
    let mut pools = Vec::new();
    for (place, text) in assignments(texts)? {
        let found = place.split_once('.').and_then(|(action, parameter)| {
            let action = model.find_action(LabelKind::Input, action)?;
            let params = &model.action(action).params;
            let position = params.iter().position(|p| *p.name == *parameter)?;
            Some((action, position))
        });
        let Some((action, position)) = found else {
            return Err(Failure::input(format!(
                "--pool: the model has no input and parameter `{place}`"
            )));
        };
        let sort = model.action(action).params[position].sort.clone();
        let list = Sort::array(sort).map_err(|e| Failure::input(format!("--pool: {e}")))?;
        match iolite_lang::parse_value(file, text, &list) {
            Ok(Value::Array(values)) => pools.push((action, position, values.to_vec())),
            Ok(_) => {}
            Err(e) => return Err(Failure::input(format!("--pool {place}={text}: {e}"))),
        }
    }
    Ok(pools)
}

/// A symbolic tester whose actions are numbers.
struct Numbered {
    tester: SymbolicTester,
    table: ActionTable,
    menu: Menu<ValuedAction>,
    unknown_query: PathBuf,
}

impl Numbered {
    /// Saves what could not be decided; the verdict says the rest.
    fn noted(&self, progress: Progress) -> Progress {
        if progress == Progress::Ended(Verdict::Unknown)
            && let Some(doubt) = self.tester.doubt()
        {
            let mut text = format!("warning: undecided: {}", doubt.reason);
            if !doubt.query.is_empty() {
                let path = self.unknown_query.display();
                match std::fs::write(&self.unknown_query, &doubt.query) {
                    Ok(()) => text += &format!("; the query is in {path}"),
                    Err(e) => text += &format!("; the query could not be saved in {path}: {e}"),
                }
            }
            eprintln!("{text}");
        }
        progress
    }
}

impl Tester for Numbered {
    type Action = LabelId;

    fn reset(&mut self) {
        self.table.trim();
        self.tester.reset();
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        self.menu.clear();
        self.tester.menu(&mut self.menu);
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
        let progress = self.tester.stimulate(&action);
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

/// Messages to valued actions and back, by the templates of the system's description.
struct ValuedCodec {
    map: ActionMap,
    model: Arc<Iosts>,
    table: ActionTable,
}

impl ValuedCodec {
    fn output(&self, action: &ConcreteAction) -> Result<ValuedAction, CodecError> {
        let known = self.model.find_action(LabelKind::Output, &action.name);
        let Some(id) = known else {
            return Err(CodecError(format!("no output of the model is {action}")));
        };
        let params = &self.model.action(id).params;
        if params.len() != action.args.len() {
            return Err(CodecError(format!(
                "output {} has {} parameters, and the message {} values",
                action.name,
                params.len(),
                action.args.len()
            )));
        }
        let values = action.args.iter().zip(params).map(|(wire, p)| {
            value(wire, &p.sort).ok_or_else(|| {
                CodecError(format!(
                    "{wire} is no {}, the sort of {} of {}",
                    p.sort, p.name, action.name
                ))
            })
        });
        Ok(ValuedAction {
            action: id,
            values: values.collect::<Result<_, _>>()?,
        })
    }
}

impl ActionCodec<LabelId> for ValuedCodec {
    fn encode(&mut self, stimulus: &LabelId, bytes: &mut Vec<u8>) -> Result<ChannelId, CodecError> {
        let action = self
            .table
            .action(*stimulus)
            .ok_or_else(|| CodecError("an action without a number".into()))?;
        let concrete = ConcreteAction {
            name: self.model.action(action.action).name.to_string(),
            args: action.values.iter().map(wire).collect(),
        };
        self.map.encode(&concrete, bytes)
    }

    fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded<LabelId>, CodecError> {
        let read = self.map.decode(channel, bytes);
        match read.and_then(|action| self.output(&action)) {
            Ok(action) => Ok(Decoded::plain(self.table.number(&action))),
            Err(reason) if self.map.undecodable_policy() == OnUndecodable::Output => {
                let action = self.output(&ConcreteAction::bare(UNDECODABLE))?;
                Ok(Decoded {
                    action: self.table.number(&action),
                    note: Some(reason.0),
                })
            }
            Err(reason) => Err(reason),
        }
    }

    fn show(&self, stimulus: &LabelId) -> String {
        self.table.action(*stimulus).map_or_else(
            || format!("unknown action {}", stimulus.index()),
            |action| format!("?{}", self.model.label(&action)),
        )
    }
}

/// A value as it crosses the wire.
fn wire(value: &Value) -> WireValue {
    match value {
        Value::Bool(b) => WireValue::Bool(*b),
        Value::Int(n) => WireValue::Int(n.to_big()),
        Value::Str(text) => WireValue::Text(text.to_string()),
        Value::Enum(..) => WireValue::Text(value.to_string()),
        Value::Array(items) => WireValue::List(items.iter().map(wire).collect()),
        Value::Record(sort, items) => {
            let names = sort.fields.iter().map(|(name, _)| name.to_string());
            WireValue::Record(names.zip(items.iter().map(wire)).collect())
        }
    }
}

/// A value from the wire. An integer outside of its range is still a value: the model forbids it,
/// and that is a verdict.
fn value(wire: &WireValue, sort: &Sort) -> Option<Value> {
    Some(match (sort, wire) {
        (Sort::Bool, WireValue::Bool(b)) => Value::Bool(*b),
        (Sort::Bool, WireValue::Text(text)) => Value::Bool(text.parse().ok()?),
        (Sort::Int | Sort::Range(_), WireValue::Int(n)) => Value::Int(Int::from(n.clone())),
        (Sort::Int | Sort::Range(_), WireValue::Text(text)) => Value::Int(text.parse().ok()?),
        (Sort::String, WireValue::Text(text)) => Value::str(text),
        // A text without quotes may look like something else.
        (Sort::String, WireValue::Bool(_) | WireValue::Int(_)) => Value::str(&wire.to_string()),
        (Sort::Enum(_), WireValue::Text(name)) => Value::variant(sort, name)?,
        (Sort::Array(of), WireValue::List(items)) => {
            Value::array(items.iter().map(|i| value(i, of)).collect::<Option<_>>()?)
        }
        (Sort::Record(r), WireValue::Record(fields)) => {
            let field = |name: &str, of: &Sort| {
                let (_, wire) = fields.iter().find(|(n, _)| n == name)?;
                value(wire, of)
            };
            let items = r.fields.iter().map(|(name, of)| field(name, of));
            Value::record(sort, items.collect::<Option<_>>()?)?
        }
        _ => return None,
    })
}

//! `iolite relate`: decide an implementation relation, with a shortest counterexample.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use iolite_lts::relation::{
    Allowed, Answer, Counterexample, Effort, Holds, Observed, Relation, Search, SpecificationSide,
    TraceSet,
};
use iolite_lts::{
    Completed, Completion, Interned, LabelId, LabelKind, Labels, Lts, QuiescencePolicy, Semantics,
    StateId,
};
use serde::{Deserialize, Serialize};

use super::failure::write_whole;
use super::source::{self, Model, ModelRef, ReadOptions, System, texts};
use super::{Exit, Failure, print, print_json};

/// Decide an implementation relation between two models
///
/// Relations: trace (≤tr), testing (≤te), conf, iot (≤iot), ioconf, ioconf-f, ioco, uioco. The
/// counterexample is a shortest one.
#[derive(clap::Args)]
pub(super) struct Args {
    /// trace, testing, conf, iot, ioconf, ioconf-f, ioco or uioco
    relation: Relation,
    /// Implementation and specification; with --matrix, all models
    #[arg(required = true, value_name = "IMPL SPEC")]
    models: Vec<ModelRef>,
    /// Relate every model to every other, and print the table
    #[arg(long)]
    matrix: bool,
    /// The set F of ioconf-f: `traces` of an .iol file, or an automaton whose traces are meant
    #[arg(long, value_name = "FILE#F")]
    traces: Option<ModelRef>,
    /// List the first counterexample of each kind (observation and specification states), at most N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100")]
    all: Option<usize>,
    #[command(flatten)]
    semantics: SemanticsOptions,
    #[command(flatten)]
    read: ReadOptions,
    /// Give up after so many seconds: the answer is then unknown
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Give up beyond so many bytes, such as 500M or 2G: the answer is then unknown
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_memory: Option<usize>,
    /// Write the certificate of a negative answer to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document; for a negative answer it is the certificate
    #[arg(long)]
    json: bool,
}

/// What models mean where they leave it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SemanticsOptions {
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    pub(super) quiescence: QuiescenceFlag,
    /// Make the implementation input-enabled: ignore unexpected inputs, or allow anything after one
    #[arg(long, value_name = "HOW")]
    pub(super) complete_inputs: Option<CompletionFlag>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum QuiescenceFlag {
    /// A state on a cycle of internal actions is quiescent
    #[default]
    Livelock,
    /// A cycle of internal actions is an error
    Strict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CompletionFlag {
    /// An unexpected input changes nothing
    SelfLoop,
    /// After an unexpected input anything may happen
    Chaos,
}

impl QuiescenceFlag {
    pub(super) fn policy(self) -> QuiescencePolicy {
        match self {
            Self::Livelock => QuiescencePolicy::Livelock,
            Self::Strict => QuiescencePolicy::Strict,
        }
    }
}

impl SemanticsOptions {
    pub(super) fn policy(self) -> QuiescencePolicy {
        self.quiescence.policy()
    }
}

/// `500M`, `2G`, `100000`.
fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: usize = match text[digits.len()..]
        .to_ascii_uppercase()
        .trim_end_matches("IB")
    {
        "" | "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        other => return Err(format!("`{other}` is no unit; K, M and G are")),
    };
    let number: usize = digits.parse().map_err(|e| format!("`{digits}`: {e}"))?;
    number
        .checked_mul(unit)
        .ok_or_else(|| "too large".to_owned())
}

/// The JSON document: an answer, and for a negative one its certificate.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    pub(super) relation: String,
    pub(super) implementation: ModelRef,
    pub(super) implementation_hash: String,
    pub(super) specification: ModelRef,
    pub(super) specification_hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) traces: Option<ModelRef>,
    pub(super) semantics: SemanticsOptions,
    pub(super) reading: ReadOptions,
    /// `null` when the search was given up.
    pub(super) holds: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) counterexample: Option<CounterexampleDocument>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) counterexamples: Vec<CounterexampleDocument>,
    #[serde(default)]
    pub(super) effort: EffortDocument,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CounterexampleDocument {
    pub(super) trace: Vec<String>,
    pub(super) observed: ObservedDocument,
    pub(super) allowed: Vec<ObservedDocument>,
    pub(super) implementation_state: Place,
    pub(super) specification_states: Vec<Place>,
}

/// An action, or a set of refused actions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ObservedDocument {
    Action(String),
    Refusal { refuses: Vec<String> },
}

impl std::fmt::Display for ObservedDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Action(action) => write!(f, "{action}"),
            Self::Refusal { refuses } => write!(f, "refusal of {{{}}}", refuses.join(", ")),
        }
    }
}

/// A state and where its declaration stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
}

impl Place {
    fn of(model: &impl Semantics<State = StateId>, state: StateId) -> Self {
        Self {
            state: model.describe(&state),
            line: model.line(&state),
        }
    }

    fn show(&self, reference: &ModelRef) -> String {
        match self.line {
            Some(line) => format!("{} ({}:{line})", self.state, reference.path.display()),
            None => self.state.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct EffortDocument {
    pairs: usize,
    sets: usize,
    depth: usize,
    bytes: usize,
}

impl From<Effort> for EffortDocument {
    fn from(
        Effort {
            pairs,
            sets,
            depth,
            bytes,
        }: Effort,
    ) -> Self {
        Self {
            pairs,
            sets,
            depth,
            bytes,
        }
    }
}

/// Watches time and memory, and tells how far a long search is.
struct Guard {
    started: Instant,
    timeout: Option<Duration>,
    max_memory: Option<usize>,
    next_report: Duration,
    shown: bool,
    gave_up: Option<String>,
}

impl Guard {
    fn new(args: &Args) -> Result<Self, Failure> {
        let timeout = args.timeout.map(Duration::try_from_secs_f64).transpose();
        let timeout = timeout.map_err(|e| Failure::input(format!("--timeout: {e}")))?;
        Ok(Self {
            started: Instant::now(),
            timeout,
            max_memory: args.max_memory,
            next_report: Duration::from_secs(1),
            shown: false,
            gave_up: None,
        })
    }

    fn watch(&mut self, effort: &Effort) -> ControlFlow<()> {
        let elapsed = self.started.elapsed();
        if elapsed >= self.next_report && std::io::stderr().is_terminal() {
            self.next_report = elapsed + Duration::from_millis(500);
            self.shown = true;
            let Effort {
                pairs,
                depth,
                bytes,
                ..
            } = *effort;
            eprint!(
                "\r\x1b[K{pairs} pairs, traces of length {depth}, {} MB",
                bytes >> 20
            );
        }
        if let Some(timeout) = self.timeout.filter(|&t| elapsed >= t) {
            self.gave_up = Some(format!(
                "no answer within {} seconds",
                timeout.as_secs_f64()
            ));
        } else if let Some(limit) = self.max_memory.filter(|&m| effort.bytes > m) {
            self.gave_up = Some(format!("more than {limit} bytes would be needed"));
        }
        if self.gave_up.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn finish(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if (args.relation == Relation::IoconfF) != args.traces.is_some() {
        return Err(Failure::input(
            "--traces FILE#F and ioconf-f belong together",
        ));
    }
    if args.matrix {
        return matrix(args);
    }
    let [implementation, specification] = args.models.as_slice() else {
        return Err(Failure::input(format!(
            "expected IMPL and SPEC, got {} models",
            args.models.len()
        ))
        .hint("to relate many models, add --matrix"));
    };
    let implementation = source::load(implementation, &args.read)?;
    let specification = source::load(specification, &args.read)?;
    compare_alphabets(args.relation, &implementation, &specification)?;
    let mut side = specification_side(args, &specification)?;
    let decision = decide(args, &implementation, &specification, &mut side)?;
    let document = document(args, &implementation, &specification, decision);
    if document.holds == Some(false)
        && let Some(path) = &args.certificate
    {
        let text = serde_json::to_vec_pretty(&document)
            .map_err(|e| Failure::fault(format!("writing JSON: {e}")))?;
        write_whole(path, &text)?;
    }
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(&document))?;
    }
    Ok(match document.holds {
        Some(true) => Exit::Holds,
        Some(false) => Exit::Fails,
        None => Exit::Inconclusive,
    })
}

fn specification_side<'m>(
    args: &Args,
    specification: &'m Model,
) -> Result<SpecificationSide<&'m System>, Failure> {
    let system = &specification.system;
    let traces = args
        .traces
        .as_ref()
        .map(|f| trace_set(f, &args.read, system.labels()));
    let policy = args.semantics.policy();
    SpecificationSide::new(args.relation, system, policy, traces.transpose()?)
        .map_err(|e| Failure::input(e.to_string()))
}

/// F from a `traces` declaration, or the traces of an automaton.
pub(super) fn trace_set(
    reference: &ModelRef,
    read: &ReadOptions,
    labels: &Labels,
) -> Result<TraceSet, Failure> {
    if source::Format::of(&reference.path)? == source::Format::Iol {
        let bytes = source::read(&reference.path)?;
        let file = source::parse(&reference.path, &bytes)?;
        let names = source::declared(&file, "traces");
        let asked_for_system = reference
            .name
            .as_ref()
            .is_some_and(|n| iolite_lang::systems(&file).contains(&n.as_str()));
        if !asked_for_system && !names.is_empty() {
            let name = source::pick(reference, "set of traces", &names)?;
            let (automaton, accepting) = iolite_lang::lower_traces(&file, name, labels)
                .map_err(|d| source::rejected(&reference.path, &bytes, &d))?;
            let mut builder = iolite_lts::LtsBuilder::with_labels(labels.clone());
            builder.ensure_states(automaton.states.len());
            builder.set_initial(automaton.initial);
            for (s, l, t) in automaton.transitions() {
                builder.transition(s, l, t);
            }
            let lts = builder.build().map_err(|e| Failure::input(e.to_string()))?;
            return Ok(TraceSet::accepted(&lts, labels, |s| accepting.contains(&s)));
        }
    }
    let model = source::load(reference, read)?;
    let lts: Lts = model.system.explicit(read.budget())?;
    Ok(TraceSet::accepted(&lts, labels, |_| true))
}

/// An answer in words, before it is known which options it belongs to.
struct Decision {
    holds: Option<bool>,
    unknown: Option<String>,
    counterexamples: Vec<CounterexampleDocument>,
    effort: Effort,
}

fn decide(
    args: &Args,
    implementation: &Model,
    specification: &Model,
    side: &mut SpecificationSide<&System>,
) -> Result<Decision, Failure> {
    let how = match args.semantics.complete_inputs {
        None => {
            return check(
                args,
                implementation,
                &implementation.system,
                specification,
                side,
            );
        }
        Some(CompletionFlag::SelfLoop) => Completion::SelfLoop,
        Some(CompletionFlag::Chaos) => Completion::Chaos,
    };
    let inputs = specification.system.labels();
    let view = Interned::new(Completed::over(&implementation.system, how, inputs));
    check(args, implementation, &view, specification, side)
}

fn check(
    args: &Args,
    implementation: &Model,
    view: &impl Semantics<State = StateId>,
    specification: &Model,
    side: &mut SpecificationSide<&System>,
) -> Result<Decision, Failure> {
    let mut guard = Guard::new(args)?;
    let mut proceed = |effort: &Effort| guard.watch(effort);
    let counterexamples = args.all.unwrap_or(1).max(1);
    let answer = side.check(
        view,
        &mut Search {
            counterexamples,
            proceed: &mut proceed,
        },
    );
    guard.finish();
    let Answer {
        holds,
        effort,
        labels,
    } = answer.map_err(|e| explain_error(&e, implementation, specification))?;
    let tell = |c: &Counterexample| counterexample(c, &labels, view, &specification.system);
    let (holds, counterexamples) = match &holds {
        Holds::Yes => (Some(true), Vec::new()),
        Holds::Unknown => (None, Vec::new()),
        Holds::No(found) => (Some(false), found.iter().map(tell).collect()),
    };
    let unknown = guard.gave_up.filter(|_| holds.is_none());
    Ok(Decision {
        holds,
        unknown,
        counterexamples,
        effort,
    })
}

fn counterexample(
    found: &Counterexample,
    labels: &Labels,
    implementation: &impl Semantics<State = StateId>,
    specification: &System,
) -> CounterexampleDocument {
    let refusal = |set: &[LabelId]| ObservedDocument::Refusal {
        refuses: texts(labels, set),
    };
    CounterexampleDocument {
        trace: texts(labels, &found.trace),
        observed: match &found.observed {
            Observed::Action(label) => ObservedDocument::Action(labels.text(*label)),
            Observed::Refusal(set) => refusal(set),
        },
        allowed: match &found.allowed {
            Allowed::Actions(actions) => texts(labels, actions)
                .into_iter()
                .map(ObservedDocument::Action)
                .collect(),
            Allowed::Refusals(sets) => sets.iter().map(|set| refusal(set)).collect(),
        },
        implementation_state: Place::of(implementation, found.implementation),
        specification_states: found
            .specification
            .iter()
            .map(|&state| Place::of(specification, state))
            .collect(),
    }
}

fn explain_error(
    error: &iolite_lts::relation::RelateError,
    implementation: &Model,
    specification: &Model,
) -> Failure {
    use iolite_lts::relation::RelateError;
    let failure = Failure::input(format!(
        "{error}\n  implementation {}\n  specification  {}",
        implementation.reference, specification.reference
    ));
    match error {
        RelateError::NotInputEnabled { .. } => failure.hint(
            "--complete-inputs self-loop ignores unexpected inputs, --complete-inputs chaos allows \
             anything after one",
        ),
        RelateError::Livelock { .. } => {
            failure.hint("--quiescence livelock takes such a cycle for quiescence")
        }
        RelateError::Undirected { label, .. } => failure.hint(format!(
            "write ?{label} or !{label} in the model, or direct it with --input {label} or --output \
             {label}"
        )),
        RelateError::NoTraceSet => failure,
    }
}

/// Labels that look alike and will never match: a plain one against a directed one is an error, an
/// input against an output a warning.
fn compare_alphabets(
    relation: Relation,
    implementation: &Model,
    specification: &Model,
) -> Result<(), Failure> {
    let (i, s) = (
        implementation.system.labels(),
        specification.system.labels(),
    );
    for (_, label) in i.iter().filter(|(_, l)| l.kind.is_visible()) {
        if s.get(label.kind, &label.name).is_some() {
            continue;
        }
        let others = [LabelKind::Input, LabelKind::Output, LabelKind::Undirected];
        let twin = others.into_iter().find_map(|kind| s.get(kind, &label.name));
        let Some(twin) = twin.map(|id| s.label(id)) else {
            continue;
        };
        let message = format!(
            "`{label}` of {} and `{twin}` of {} are different actions",
            implementation.reference, specification.reference
        );
        let plain = label.kind == LabelKind::Undirected || twin.kind == LabelKind::Undirected;
        if plain && !relation.is_directed() {
            return Err(Failure::input(message).hint(format!(
                "direct the plain one with --input {0} or --output {0}",
                label.name
            )));
        } else if !plain && i.get(twin.kind, &label.name).is_none() {
            eprintln!("warning: {message}");
        }
    }
    Ok(())
}

fn document(
    args: &Args,
    implementation: &Model,
    specification: &Model,
    decision: Decision,
) -> Document {
    let Decision {
        holds,
        unknown,
        counterexamples,
        effort,
    } = decision;
    Document {
        relation: args.relation.name().to_owned(),
        implementation: implementation.reference.clone(),
        implementation_hash: implementation.hash.clone(),
        specification: specification.reference.clone(),
        specification_hash: specification.hash.clone(),
        traces: args.traces.clone(),
        semantics: args.semantics,
        reading: args.read.clone(),
        holds,
        unknown,
        counterexample: counterexamples.first().cloned(),
        counterexamples: if args.all.is_some() {
            counterexamples
        } else {
            Vec::new()
        },
        effort: effort.into(),
    }
}

/// The answer for people.
fn tell(document: &Document) -> String {
    let Document {
        relation,
        implementation,
        specification,
        effort,
        ..
    } = document;
    let claim = format!("{implementation} {relation} {specification}");
    match document.holds {
        Some(true) => format!("{claim}: holds ({} pairs of states)\n", effort.pairs),
        None => format!(
            "{claim}: unknown, {}\n  no difference up to traces of length {} ({} pairs of states)\n",
            document
                .unknown
                .as_deref()
                .unwrap_or("the search was stopped"),
            effort.depth,
            effort.pairs
        ),
        Some(false) => {
            let mut text = format!("{claim}: does not hold\n");
            let first = document.counterexample.as_slice();
            let found = if document.counterexamples.is_empty() {
                first
            } else {
                &document.counterexamples
            };
            for counterexample in found {
                text += &tell_counterexample(document, counterexample);
            }
            text
        }
    }
}

fn tell_counterexample(document: &Document, found: &CounterexampleDocument) -> String {
    let or = |text: String, empty: &str| {
        if text.is_empty() {
            empty.to_owned()
        } else {
            text
        }
    };
    let trace = or(found.trace.join(" "), "nothing (at the start)");
    let allowed: Vec<String> = found.allowed.iter().map(ToString::to_string).collect();
    let allowed = or(
        allowed.join(", "),
        "nothing: the trace itself is not specified",
    );
    let places: Vec<String> = found
        .specification_states
        .iter()
        .map(|p| p.show(&document.specification))
        .collect();
    format!(
        "\n  after     {trace}\n  observed  {}\n  allowed   {allowed}\n  \
         implementation in {}\n  specification in {}\n",
        found.observed,
        found.implementation_state.show(&document.implementation),
        or(places.join(", "), "no state")
    )
}

/// One row of the table, as JSON.
#[derive(Serialize)]
struct Row {
    implementation: ModelRef,
    /// One answer a specification, in the order of the models.
    holds: Vec<Option<bool>>,
    counterexamples: Vec<Option<CounterexampleDocument>>,
}

#[derive(Serialize)]
struct Matrix {
    relation: String,
    models: Vec<ModelRef>,
    rows: Vec<Row>,
}

/// Every model against every other. Each specification is prepared once, and its sets serve all
/// implementations.
fn matrix(args: &Args) -> Result<Exit, Failure> {
    let models = args.models.iter().map(|m| source::load(m, &args.read));
    let models = models.collect::<Result<Vec<Model>, Failure>>()?;
    let mut rows: Vec<Row> = models
        .iter()
        .map(|m| Row {
            implementation: m.reference.clone(),
            holds: Vec::new(),
            counterexamples: Vec::new(),
        })
        .collect();
    let mut exit = Exit::Holds;
    for specification in &models {
        let mut side = specification_side(args, specification)?;
        for (implementation, row) in models.iter().zip(&mut rows) {
            let decision = decide(args, implementation, specification, &mut side)?;
            exit = match decision.holds {
                Some(false) => Exit::Fails,
                None if exit == Exit::Holds => Exit::Inconclusive,
                _ => exit,
            };
            row.holds.push(decision.holds);
            row.counterexamples
                .push(decision.counterexamples.into_iter().next());
        }
    }
    let references = models.iter().map(|m| m.reference.clone()).collect();
    let matrix = Matrix {
        relation: args.relation.name().to_owned(),
        models: references,
        rows,
    };
    if args.json {
        print_json(&matrix)?;
    } else {
        print(&tell_matrix(&matrix))?;
    }
    Ok(exit)
}

/// The table, with a legend; a cell says after how many actions the two part.
fn tell_matrix(matrix: &Matrix) -> String {
    let mut text = format!(
        "{}: rows are implementations, columns specifications; yes, or the length of a shortest \
         trace that parts the two\n\n",
        matrix.relation
    );
    for (k, model) in matrix.models.iter().enumerate() {
        text += &format!("  {:>3}  {model}\n", k + 1);
    }
    text += "\n     ";
    for k in 1..=matrix.models.len() {
        text += &format!("{k:>5}");
    }
    text.push('\n');
    for (k, row) in matrix.rows.iter().enumerate() {
        text += &format!("{:>5}", k + 1);
        for (holds, found) in row.holds.iter().zip(&row.counterexamples) {
            let cell = match (holds, found) {
                (Some(true), _) => "yes".to_owned(),
                (Some(false), Some(c)) => (c.trace.len() + 1).to_string(),
                _ => "?".to_owned(),
            };
            text += &format!("{cell:>5}");
        }
        text.push('\n');
    }
    text
}

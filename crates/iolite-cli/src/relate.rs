//! `iolite relate`: decide an implementation relation, with a shortest counterexample.

use std::ops::ControlFlow;
use std::path::PathBuf;

use iolite_lts::relation::{
    Allowed, Answer, Counterexample, Effort, Holds, Observed, Relation, Search, SpecificationSide,
    TraceSet,
};
use iolite_lts::{
    Completed, Completion, Interned, LabelId, LabelKind, Labels, Lts, Semantics, StateId,
};

use super::failure::write_whole;
use super::relate_document::{CounterexampleDocument, Document, ObservedDocument, Place, tell};
use super::relate_matrix::matrix;
use super::semantics_options::{CompletionFlag, SemanticsOptions};
use super::source::{self, Model, ModelRef, ReadOptions, System, texts};
use super::time_limit::{TimeLimit, Watch};
use super::{Exit, Failure, print, print_json, watched};

/// Decide an implementation relation between two models
///
/// Relations: trace (≤tr), testing (≤te), conf, iot (≤iot), ioconf, ioconf-f, ioco, uioco. The
/// counterexample is a shortest one.
#[derive(clap::Args)]
pub(super) struct Args {
    /// trace, testing, conf, iot, ioconf, ioconf-f, ioco or uioco
    pub(super) relation: Relation,
    /// Implementation and specification; with --matrix, all models
    #[arg(required = true, value_name = "IMPL SPEC")]
    pub(super) models: Vec<ModelRef>,
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
    pub(super) read: ReadOptions,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// Give up beyond so many bytes, such as 500M or 2G: the answer is then unknown
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_memory: Option<usize>,
    /// Write the certificate of a negative answer to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document; for a negative answer it is the certificate
    #[arg(long)]
    pub(super) json: bool,
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

/// Watches time and memory, and tells how far a long search is.
struct Guard {
    watch: Watch,
    max_memory: Option<usize>,
    gave_up: Option<String>,
}

impl Guard {
    fn new(args: &Args) -> Result<Self, Failure> {
        Ok(Self {
            watch: args.time_limit.start()?,
            max_memory: args.max_memory,
            gave_up: None,
        })
    }

    fn watch(&mut self, effort: &Effort) -> ControlFlow<()> {
        self.watch.report(|| {
            let Effort {
                pairs,
                depth,
                bytes,
                ..
            } = *effort;
            let megabytes = bytes >> 20;
            format!("{pairs} pairs, traces of length {depth}, {megabytes} MB")
        });
        self.gave_up = self.watch.time_is_up().or_else(|| {
            let limit = self.max_memory.filter(|&m| effort.bytes > m)?;
            Some(format!("more than {limit} bytes would be needed"))
        });
        if self.gave_up.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
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

pub(super) fn specification_side<'m>(
    args: &Args,
    specification: &'m Model,
) -> Result<SpecificationSide<&'m System>, Failure> {
    let system = &specification.system;
    if let Some(traces) = &args.traces {
        watched::check_reference(traces, &specification.reference)?;
    }
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
pub(super) struct Decision {
    pub(super) holds: Option<bool>,
    unknown: Option<String>,
    pub(super) counterexamples: Vec<CounterexampleDocument>,
    effort: Effort,
}

pub(super) fn decide(
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
    guard.watch.finish();
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

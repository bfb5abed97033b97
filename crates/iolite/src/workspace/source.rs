//! From `FILE#Name` to a model.

use std::fmt;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use iolite_expr::Solver;
use iolite_formats::dot::{DotMode, DotOptions, MealyOptions};
use iolite_formats::{Directions, aut, dot, json};
use iolite_lang::{
    Diagnostic, File, LazySystem, Loaded, Rejected, Span, Style, codes, diagnostic, has_data,
    lower_data, lower_lazily, render, systems, unfold_data,
};
use iolite_lts::{LabelId, Labels, Lts, Semantics, StateId, Step, restrict};
use iolite_sts::UnfoldBudget;
use serde::{Deserialize, Serialize};

use super::Failure;
use super::signature::Signature;

/// `FILE`, or `FILE#Name` for one declaration of it, or `FILE#Name(max = 3)` for an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub(super) struct ModelRef {
    pub(super) path: PathBuf,
    pub(super) name: Option<String>,
}

impl From<String> for ModelRef {
    fn from(text: String) -> Self {
        // A file may have a `#` in its own name, and arguments may have any text in quotes.
        let declared = |rest: &str| {
            let (name, arguments) = rest.split_at(rest.find('(').unwrap_or(rest.len()));
            !name.contains(['/', '#']) && (arguments.is_empty() || arguments.ends_with(')'))
        };
        let mark = text
            .match_indices('#')
            .map(|(i, _)| i)
            .find(|i| declared(&text[i + 1..]));
        match mark {
            Some(i) if !Path::new(&text).exists() => Self {
                path: text[..i].into(),
                name: Some(text[i + 1..].to_owned()),
            },
            _ => Self {
                path: text.into(),
                name: None,
            },
        }
    }
}

/// An `.iol` file that was read for one of its systems or processes.
pub(super) struct Opened {
    /// The file's text, with the instance that the reference asks for as its last line.
    pub(super) bytes: Vec<u8>,
    pub(super) file: File,
    /// The declaration's name in `file`.
    pub(super) name: String,
    /// The reference, with its name filled in.
    pub(super) reference: ModelRef,
    /// Of the file as it is on disk.
    pub(super) hash: String,
}

/// Reads an `.iol` file and picks the system or process that is meant.
///
/// `#Sender(max = 3)` reads as if `system … = Sender(max = 3)` stood at the end of the file, so that
/// mistakes in it are reported as they are in any other line.
pub(super) fn open(reference: &ModelRef) -> Result<Opened, Failure> {
    let mut bytes = read(&reference.path)?;
    let hash = hash(&bytes);
    let instance = reference.name.as_ref().and_then(|n| n.split_once('('));
    let mut wanted = reference.clone();
    if let Some((system, arguments)) = instance {
        let fresh = fresh_name(&parse(&reference.path, &bytes)?, system);
        bytes.extend(format!("\nsystem {fresh} = {system}({arguments}\n").into_bytes());
        wanted.name = Some(fresh);
    }
    let file = parse(&reference.path, &bytes)?;
    let name = pick(&wanted, "system or process", &systems(&file))?.to_owned();
    Ok(Opened {
        reference: ModelRef {
            path: reference.path.clone(),
            name: reference.name.clone().or_else(|| Some(name.clone())),
        },
        bytes,
        file,
        name,
        hash,
    })
}

/// A name that the file does not declare.
fn fresh_name(file: &File, base: &str) -> String {
    let taken = |name: &str| file.items.iter().any(|item| item.name().text == name);
    let mut name = format!("{base}_given");
    while taken(&name) {
        name.push('_');
    }
    name
}

impl FromStr for ModelRef {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(text.to_owned()))
    }
}

impl From<ModelRef> for String {
    fn from(reference: ModelRef) -> Self {
        reference.to_string()
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.name
            .as_ref()
            .map_or(Ok(()), |name| write!(f, "#{name}"))
    }
}

/// How a DOT file is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DotKind {
    /// Labels `?a`, `!x`: an edge is a transition
    Iolts,
    /// Labels `a/x`: an edge is an input and the output that answers it
    Mealy,
    /// Labels `a`, and the target state names the output
    Moore,
    /// A language: only the double circles belong to the system
    Acceptor,
}

/// How model files are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[command(next_help_heading = "Reading models")]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReadOptions {
    /// How a DOT file is meant [default: mealy if every label is `a/x`, else iolts]
    #[arg(long, value_name = "KIND")]
    pub(super) dot: Option<DotKind>,
    /// Output of a Mealy machine that stands for silence, such as `epsilon` (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(super) silent_output: Vec<String>,
    /// Plain label that is an input (repeatable, or comma-separated)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) input: Vec<String>,
    /// Plain label that is an output (repeatable, or comma-separated)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) output: Vec<String>,
    /// Prefix of plain labels that are inputs, such as `I_`
    #[arg(long, value_name = "PREFIX")]
    pub(super) input_prefix: Vec<String>,
    /// Prefix of plain labels that are outputs, such as `O_`
    #[arg(long, value_name = "PREFIX")]
    pub(super) output_prefix: Vec<String>,
    /// How many states a process or a composition may unfold to [default: 1000000]
    #[arg(long, value_name = "N")]
    pub(super) max_states: Option<usize>,
}

impl ReadOptions {
    pub(super) fn budget(&self) -> usize {
        self.max_states.unwrap_or(iolite_lang::DEFAULT_BUDGET)
    }

    /// What finite data may unfold to. Each further value of an infinite sort costs a larger query, so
    /// their number is kept low.
    pub(super) fn unfolding(&self) -> UnfoldBudget {
        UnfoldBudget {
            states: self.budget(),
            values: 512,
        }
    }

    pub(super) fn directions(&self) -> Directions {
        Directions {
            inputs: self.input.clone(),
            outputs: self.output.clone(),
            input_prefixes: self.input_prefix.clone(),
            output_prefixes: self.output_prefix.clone(),
            strip_prefixes: false,
        }
    }

    pub(super) fn dot_options(&self, bytes: &[u8]) -> DotOptions {
        let machine = || MealyOptions {
            silent_outputs: self.silent_output.clone(),
        };
        let mode = match self.dot {
            Some(DotKind::Moore) => DotMode::Moore(machine()),
            Some(DotKind::Mealy) => DotMode::Mealy(machine()),
            None if dot::looks_like_mealy(bytes) => DotMode::Mealy(machine()),
            None | Some(DotKind::Iolts | DotKind::Acceptor) => DotMode::Iolts,
        };
        DotOptions {
            mode,
            directions: self.directions(),
            ..DotOptions::default()
        }
    }
}

/// A model as the commands use it.
pub(super) struct Model {
    pub(super) reference: ModelRef,
    pub(super) system: System,
    /// Of the file's bytes, so that a certificate knows whether it still speaks of the same model.
    pub(super) hash: String,
    /// What the labels stand for, where data were unfolded.
    pub(super) signature: Option<Arc<Signature>>,
}

/// A transition system: explicit, or composed and explored on demand.
pub(super) enum System {
    Explicit(Lts),
    Lazy(LazySystem),
}

impl System {
    /// The whole reachable system.
    pub(super) fn explicit(self, budget: usize) -> Result<Lts, Failure> {
        match self {
            Self::Explicit(lts) => Ok(lts),
            Self::Lazy(view) => iolite_lts::explore(&view, budget)
                .map_err(|e| Failure::input(e.to_string()).hint("allow more with --max-states N")),
        }
    }
}

impl Semantics for System {
    type State = StateId;

    fn labels(&self) -> &Labels {
        match self {
            Self::Explicit(lts) => lts.labels(),
            Self::Lazy(view) => view.labels(),
        }
    }

    fn initial(&self) -> StateId {
        match self {
            Self::Explicit(lts) => lts.initial(),
            Self::Lazy(view) => view.initial(),
        }
    }

    fn successors(&self, state: &StateId, row: &mut Vec<Step>) {
        match self {
            Self::Explicit(lts) => lts.successors(state, row),
            Self::Lazy(view) => view.successors(state, row),
        }
    }

    fn describe(&self, state: &StateId) -> String {
        match self {
            Self::Explicit(lts) => lts.describe(state),
            Self::Lazy(view) => view.describe(state),
        }
    }

    fn place(&self, state: &StateId) -> String {
        match self {
            Self::Explicit(lts) => Semantics::place(lts, state),
            Self::Lazy(view) => view.place(state),
        }
    }

    fn line(&self, state: &StateId) -> Option<u32> {
        match self {
            Self::Explicit(lts) => Semantics::line(lts, state),
            Self::Lazy(view) => view.line(state),
        }
    }
}

/// Reads a file's bytes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|e| Failure::reading(path, &e))
}

/// The format of a model file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Iol,
    Aut,
    Dot,
    Json,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("iol") => Ok(Self::Iol),
            Some("aut") => Ok(Self::Aut),
            Some("dot" | "gv") => Ok(Self::Dot),
            Some("json") => Ok(Self::Json),
            _ => Err(Failure::input(format!(
                "{}: a model's name ends in .iol, .aut, .dot, .gv or .json",
                path.display()
            ))),
        }
    }
}

/// Loads a transition system. Lints go to standard error.
pub(super) fn load(reference: &ModelRef, options: &ReadOptions) -> Result<Model, Failure> {
    let format = Format::of(&reference.path)?;
    if format == Format::Iol {
        let Opened {
            bytes,
            file,
            name,
            reference,
            hash,
        } = open(reference)?;
        let rejected = |d: Vec<Diagnostic>| rejected(&reference.path, &bytes, &d);
        let (system, signature) = if has_data(&file, &name) {
            // Finite data become an explicit system; what is infinite is said, never cut.
            let system = unfold_data(&file, &name, &mut Solver::embedded(), options.unfolding())
                .map_err(rejected)?;
            let model = lower_data(&file, &name).map_err(rejected)?;
            let signature = Some(Arc::new(Signature::new(file, model)));
            (System::Explicit(system), signature)
        } else {
            let system = lower_lazily(&file, &name, options.budget()).map_err(rejected)?;
            (System::Lazy(system), None)
        };
        return Ok(Model {
            reference,
            system,
            hash,
            signature,
        });
    }
    let bytes = read(&reference.path)?;
    if let Some(name) = &reference.name {
        return Err(Failure::input(format!(
            "{} holds one system, without a name; `#{name}` does not fit",
            reference.path.display()
        )));
    }
    let loaded = read_foreign(format, &bytes, options);
    Ok(Model {
        reference: reference.clone(),
        system: System::Explicit(accept(&reference.path, &bytes, loaded)?),
        hash: hash(&bytes),
        signature: None,
    })
}

/// Reads a system in a format other than our own.
pub(super) fn read_foreign(
    format: Format,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Loaded<Lts>, Rejected> {
    match format {
        Format::Aut => {
            let directions = options.directions();
            aut::read(
                bytes,
                &aut::AutOptions {
                    directions,
                    ..aut::AutOptions::default()
                },
            )
        }
        Format::Json => json::read(bytes),
        Format::Dot | Format::Iol if options.dot == Some(DotKind::Acceptor) => {
            let Loaded { value, lints } = dot::read_acceptor(bytes, &options.dot_options(bytes))?;
            let accepting = |s: StateId| value.accepting.binary_search(&s).is_ok();
            let value = restrict(&value.lts, accepting).ok_or_else(|| {
                let message = "the initial state is no double circle, so no trace is accepted";
                Rejected(vec![Diagnostic::error(
                    codes::DOT_NO_INITIAL,
                    Span::default(),
                    message,
                )])
            })?;
            Ok(Loaded { value, lints })
        }
        Format::Dot | Format::Iol => dot::read(bytes, &options.dot_options(bytes)),
    }
}

/// Takes what a reader gave; its lints are shown.
pub(super) fn accept<T>(
    path: &Path,
    bytes: &[u8],
    loaded: Result<Loaded<T>, Rejected>,
) -> Result<T, Failure> {
    let Loaded { value, lints } = loaded.map_err(|Rejected(d)| rejected(path, bytes, &d))?;
    show_diagnostics(path, bytes, &lints);
    Ok(value)
}

/// The names of the declarations that start with this word.
pub(super) fn declared<'f>(file: &'f File, keyword: &str) -> Vec<&'f str> {
    let items = file.items.iter().filter(|item| item.keyword() == keyword);
    items.map(|item| item.name().text.as_str()).collect()
}

/// Parses and checks an `.iol` file; warnings are shown, errors end it.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<File, Failure> {
    let (file, found) = iolite_lang::parse_and_check_bytes(bytes);
    if diagnostic::has_errors(&found) {
        return Err(rejected(path, bytes, &found));
    }
    Ok(file)
}

/// The declaration meant by `reference` among those of a kind.
pub(super) fn pick<'n>(
    reference: &ModelRef,
    kind: &str,
    names: &[&'n str],
) -> Result<&'n str, Failure> {
    let path = reference.path.display();
    let list = names
        .iter()
        .map(|n| format!("{path}#{n}"))
        .collect::<Vec<_>>()
        .join(", ");
    match (&reference.name, names) {
        (Some(wanted), _) => names.iter().find(|n| *n == wanted).copied().ok_or_else(|| {
            let hint = diagnostic::did_you_mean(wanted, names.iter().copied());
            let failure = Failure::input(format!("{path} declares no {kind} `{wanted}`"));
            failure.hint(hint.unwrap_or_else(|| format!("it declares: {list}")))
        }),
        (None, [only]) => Ok(only),
        (None, []) => Err(Failure::input(format!("{path} declares no {kind}"))),
        (None, _) => Err(
            Failure::input(format!("{path} declares more than one {kind}"))
                .hint(format!("pick one: {list}")),
        ),
    }
}

fn style() -> Style {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Style { colour }
}

/// Errors, with the warnings among them, as one failure.
pub(super) fn rejected(path: &Path, bytes: &[u8], found: &[Diagnostic]) -> Failure {
    Failure::input(render(&path.display().to_string(), bytes, found, style()).trim_end())
}

/// Diagnostics on standard error.
pub(super) fn show_diagnostics(path: &Path, bytes: &[u8], found: &[Diagnostic]) {
    if !found.is_empty() {
        eprint!(
            "{}",
            render(&path.display().to_string(), bytes, found, style())
        );
    }
}

/// A fingerprint of a file: 64 bits of FNV-1a, enough to notice that a file changed.
pub(super) fn hash(bytes: &[u8]) -> String {
    let step = |h: u64, &b: &u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The texts of labels.
pub(super) fn texts(labels: &Labels, ids: &[LabelId]) -> Vec<String> {
    ids.iter().map(|&l| labels.text(l)).collect()
}

//! `iolite simulate`: step through a model by hand, or run it as a system under test.

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolite::{
    CompletionFlag, Error, ExplicitSpec, ExploredModel, Judge, JudgeOptions, KnownModel, ModelRef,
    ModelUnderTest, ReadOptions, SemanticsOptions, System, chosen_constants, symbolic_sut,
};
use iolite_derive::Alphabet;
use iolite_exec::codec::{ActionMap, Template, WireCodec};
use iolite_exec::{ExecError, Framing, ModelSut, RefusedInput, RunningModel, Simulator, SutConfig};
use iolite_lts::{
    Completed, Completion, Determinised, Interned, LabelId, Labels, Semantics, SetId, StateId,
    Suspension,
};

use super::simulate_data::DataSession;
use crate::args::data::DataArgs;
use crate::args::workspace;
use crate::output::dialogue::converse;
use crate::output::{Exit, print};

/// Step through a model by hand, or run it as a system under test
///
/// By hand: the visible actions that are possible now are numbered; choose one by its number or its
/// name, `back` to take the last one back, `quit` to leave. For models with data each is shown with
/// values that its guard allows; `?a(3)` takes others.
///
/// Running, with --stdio or --tcp: each connection is a run of its own. Constants without a value
/// get one that the assumptions allow, and standard error tells which; values that outputs leave
/// open are drawn. What the solver cannot decide, a guard without a value and an input that is not
/// taken are errors.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model
    model: ModelRef,
    /// Run the model as a system under test: inputs are lines of standard input, outputs lines of
    /// standard output, both without `?` and `!`
    #[arg(long)]
    stdio: bool,
    /// The same over TCP, one connection after the other
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "stdio")]
    tcp: Option<String>,
    /// The description whose templates the running model speaks: its `send` is read here, its `recv`
    /// written
    #[arg(long, value_name = "TOML")]
    templates: Option<PathBuf>,
    /// Seed of the scheduler that chooses where the model leaves a choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Milliseconds before the running model does something by itself
    #[arg(long, value_name = "MS", default_value_t = 5)]
    delay_ms: u64,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    semantics: SemanticsOptions,
    #[command(flatten)]
    read: ReadOptions,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let needed = args.data.unfold.then_some("--unfold");
    if args.stdio || args.tcp.is_some() {
        return serve(args, needed);
    }
    if args.templates.is_some() {
        return Err(Error::input(
            "--templates is for a running model, and needs --stdio or --tcp",
        ));
    }
    let policy = args.semantics.policy();
    let workspace = workspace(&args.read);
    if needed.is_none() && !is_foreign(&args.model) {
        let options = JudgeOptions {
            quiescence: policy,
            data: args.data.options(),
            seed: args.seed,
            ..JudgeOptions::default()
        };
        let spec = workspace.spec(&args.model)?;
        if matches!(&*spec, iolite::Spec::Symbolic(_))
            && let Judge::Symbolic(judge) = Judge::new(&workspace, &args.model, &options)?
        {
            return DataSession::new(&judge)?.run();
        }
    }
    args.data.reject_without_solving(&args.model, needed)?;
    let system = workspace.explicit(&args.model)?.system();
    let view = Determinised::new(Suspension::new(&system, policy));
    Session::new(view).run()
}

fn is_foreign(model: &ModelRef) -> bool {
    !model.is_iol()
}

/// Runs the model over bytes, in real time.
fn serve(args: &Args, needed: Option<&str>) -> Result<Exit, Error> {
    let map = match &args.templates {
        Some(path) => templates(path)?,
        None => ActionMap::new(),
    };
    if needed.is_some() {
        args.data.reject_without_solving(&args.model, needed)?;
    }
    let workspace = workspace(&args.read);
    let unfold = needed.is_some();
    match ModelUnderTest::load(&workspace, &args.model, &args.data.options(), unfold)? {
        ModelUnderTest::Symbolic(model) => serve_data(args, &model, &map),
        ModelUnderTest::Explicit(spec) => {
            args.data.reject_without_solving(&args.model, needed)?;
            match args.semantics.complete_inputs {
                Some(CompletionFlag::Chaos) => {
                    let view = Interned::new(Completed::new(spec.system(), Completion::Chaos));
                    serve_view(args, view, &spec, &map)
                }
                _ => serve_view(args, spec.system(), &spec, &map),
            }
        }
    }
}

/// The templates of a description, which a running model reads from the other side.
fn templates(path: &Path) -> Result<ActionMap, Error> {
    let config = SutConfig::load(path)?;
    for (name, action) in &config.actions {
        let send = action.send.as_deref().map(Template::parse).transpose();
        let readable = send.and_then(|send| send.map_or(Ok(()), |send| send.check_readable()));
        readable.map_err(|e| Error::input(format!("action {name}: {e}")))?;
    }
    Ok(config.action_map()?)
}

fn serve_data(args: &Args, model: &KnownModel, map: &ActionMap) -> Result<Exit, Error> {
    let completion = args.semantics.complete_inputs.map(Into::into);
    let constants = chosen_constants(model);
    let alphabet = Alphabet::default();
    let dictionary = || model.spec().dictionary(&alphabet);
    let sut = symbolic_sut(model, dictionary(), completion, args.seed)?.starting(move |run| {
        if let Some(chosen) = constants(run) {
            eprintln!("constants: {chosen}");
        }
    });
    let codec = WireCodec::of_system(map, dictionary());
    answer(args, sut, codec)
}

fn serve_view(
    args: &Args,
    view: impl Semantics<State = StateId>,
    spec: &ExplicitSpec,
    map: &ActionMap,
) -> Result<Exit, Error> {
    let refused = match args.semantics.complete_inputs {
        Some(CompletionFlag::SelfLoop) => RefusedInput::SelfLoop,
        _ => RefusedInput::Error,
    };
    let alphabet = spec.alphabet().fork();
    let sut = ModelSut::new(view, spec.dictionary(&alphabet), args.seed).on_refused_input(refused);
    let sut = ExploredModel::new(sut, spec);
    let codec = WireCodec::of_system(map, spec.dictionary(&alphabet));
    answer(args, sut, codec)
}

/// Lets the simulator talk to whoever comes.
fn answer(args: &Args, sut: impl RunningModel, codec: WireCodec) -> Result<Exit, Error> {
    let delay = Duration::from_millis(args.delay_ms);
    let mut simulator = Simulator::new(sut, codec, Framing::Line, delay, args.seed);
    let hint = "--complete-inputs self-loop ignores unexpected inputs";
    let Some(address) = &args.tcp else {
        let served = simulator.serve(std::io::stdin(), std::io::stdout());
        return match served {
            Ok(()) => Ok(Exit::Holds),
            Err(e @ ExecError::Refused { .. }) => Err(Error::fault(e.to_string()).hint(hint)),
            Err(e) => Err(Error::fault(e.to_string())),
        };
    };
    let fault = |e: std::io::Error| Error::fault(format!("{address}: {e}"));
    let listener = TcpListener::bind(address).map_err(fault)?;
    print(&format!(
        "listening on {}\n",
        listener.local_addr().map_err(fault)?
    ))?;
    let _ = std::io::stdout().flush();
    for stream in listener.incoming() {
        let stream = stream.map_err(fault)?;
        let _ = stream.set_nodelay(true);
        // One client's mistake must not end the service for the next.
        if let Err(e) = simulator.serve(&stream, &stream) {
            eprintln!("connection ended: {e}");
            if matches!(e, ExecError::Refused { .. }) {
                eprintln!("hint: {hint}");
            }
        }
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
    Ok(Exit::Holds)
}

struct Session<'m> {
    view: Determinised<Suspension<&'m System>>,
    /// Where the session is, and how it came there.
    path: Vec<(LabelId, SetId)>,
    start: SetId,
}

enum Reply {
    Stay,
    Moved,
    Quit,
}

impl<'m> Session<'m> {
    fn new(mut view: Determinised<Suspension<&'m System>>) -> Self {
        let start = view.initial();
        Self {
            view,
            path: Vec::new(),
            start,
        }
    }

    fn at(&self) -> SetId {
        self.path.last().map_or(self.start, |&(_, set)| set)
    }

    fn run(mut self) -> Result<Exit, Error> {
        print(&self.describe())?;
        converse(|word| {
            match self.reply(word)? {
                Reply::Stay => {}
                Reply::Moved => print(&self.describe())?,
                Reply::Quit => return Ok(false),
            }
            Ok(true)
        })
    }

    fn reply(&mut self, word: &str) -> Result<Reply, Error> {
        let at = self.at();
        match word {
            "" => return Ok(Reply::Moved),
            "q" | "quit" | "exit" => return Ok(Reply::Quit),
            "b" | "back" => {
                if self.path.pop().is_none() {
                    print("this is the start\n")?;
                }
                return Ok(Reply::Moved);
            }
            "t" | "trace" => {
                let labels: Vec<LabelId> = self.path.iter().map(|&(l, _)| l).collect();
                print(&format!(
                    "{}\n",
                    texts(self.view.labels(), &labels).join(" ")
                ))?;
                return Ok(Reply::Stay);
            }
            "h" | "help" => {
                print("a number or a name takes that action; back, trace, quit\n")?;
                return Ok(Reply::Stay);
            }
            _ => {}
        }
        let row = self.view.row(at).to_vec();
        let by_number = word
            .parse::<usize>()
            .ok()
            .and_then(|n| row.get(n.checked_sub(1)?));
        let by_name = || {
            let named = |l: LabelId| {
                let label = self.view.labels().label(l);
                label.to_string() == word || &*label.name == word
            };
            row.iter().find(|&&(l, _)| named(l))
        };
        if let Some(&step) = by_number.or_else(by_name) {
            self.path.push(step);
            return Ok(Reply::Moved);
        }
        print(&format!(
            "`{word}` is not possible here; `help` lists what else is\n"
        ))?;
        Ok(Reply::Stay)
    }

    fn describe(&mut self) -> String {
        let at = self.at();
        let row = self.view.row(at).to_vec();
        let mut text = format!("in {}\n", self.view.describe(at).join(", "));
        for (k, (label, _)) in row.iter().enumerate() {
            text += &format!("  {:>2}  {}\n", k + 1, self.view.labels().text(*label));
        }
        if row.is_empty() {
            text += "  nothing is possible here; `back` takes the last action back\n";
        }
        text
    }
}

fn texts(labels: &Labels, ids: &[LabelId]) -> Vec<String> {
    ids.iter().map(|&l| labels.text(l)).collect()
}

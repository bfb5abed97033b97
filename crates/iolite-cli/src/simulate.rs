//! `iolite simulate`: step through a model by hand, or run it as a system under test.

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use iolite_exec::codec::{ActionCodec, ActionMap, Template};
use iolite_exec::{ExecError, Framing, ModelSut, RefusedInput, RunningModel, Simulator, SutConfig};
use iolite_lts::{
    Completed, Completion, Determinised, Interned, LabelId, Semantics, SetId, StateId, Suspension,
};

use super::data_options::{DataOptions, ValueOptions};
use super::data_session::DataSession;
use super::dialogue::converse;
use super::played_model::PlayedModel;
use super::semantics_options::{CompletionFlag, SemanticsOptions};
use super::source::{self, ModelRef, ReadOptions, System, texts};
use super::symbolic_run::SymbolicJudge;
use super::test::fault;
use super::valued_codec::PlayedCodec;
use super::{Exit, Failure, print};

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
pub(super) struct Args {
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
    data: DataOptions,
    #[command(flatten)]
    semantics: SemanticsOptions,
    #[command(flatten)]
    read: ReadOptions,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let needed = args.data.unfold.then_some("--unfold");
    if args.stdio || args.tcp.is_some() {
        return serve(args, needed);
    }
    if args.templates.is_some() {
        return Err(Failure::input(
            "--templates is for a running model, and needs --stdio or --tcp",
        ));
    }
    let policy = args.semantics.policy();
    let values = (&args.data, &ValueOptions::default());
    let judge = SymbolicJudge::load_unless(needed, &args.model, values, policy, args.seed, None)?;
    if let Some(judge) = judge {
        return DataSession::new(&judge)?.run();
    }
    let model = source::load(&args.model, &args.read)?;
    let view = Determinised::new(Suspension::new(&model.system, policy));
    Session::new(view).run()
}

/// Runs the model over bytes, in real time.
fn serve(args: &Args, needed: Option<&str>) -> Result<Exit, Failure> {
    let map = match &args.templates {
        Some(path) => templates(path)?,
        None => ActionMap::new(),
    };
    let played = if needed.is_some() {
        None
    } else {
        PlayedModel::load(&args.model, &args.data, false)?
    };
    if let Some(played) = played {
        return serve_data(args, &played, &map);
    }
    args.data.reject_without_solving(&args.model, needed)?;
    let system = source::load(&args.model, &args.read)?.system;
    match args.semantics.complete_inputs {
        Some(CompletionFlag::Chaos) => {
            let view = Interned::new(Completed::new(system, Completion::Chaos));
            serve_view(args, view, &map)
        }
        _ => serve_view(args, system, &map),
    }
}

/// The templates of a description, which a running model reads from the other side.
fn templates(path: &Path) -> Result<ActionMap, Failure> {
    let config = SutConfig::load(path).map_err(|e| fault(&e))?;
    for (name, action) in &config.actions {
        let send = action.send.as_deref().map(Template::parse).transpose();
        let readable = send.and_then(|send| send.map_or(Ok(()), |send| send.check_readable()));
        readable.map_err(|e| Failure::input(format!("action {name}: {e}")))?;
    }
    config.action_map().map_err(|e| fault(&e))
}

fn serve_data(args: &Args, played: &PlayedModel, map: &ActionMap) -> Result<Exit, Failure> {
    let completion = args.semantics.complete_inputs.map(Into::into);
    let model = played.model().clone();
    let constants = played.chosen();
    let sut = played.sut(completion, args.seed)?.starting(move |run| {
        if let Some(chosen) = constants(run) {
            eprintln!("constants: {chosen}");
        }
    });
    let codec = PlayedCodec::new(map, model);
    let delay = Duration::from_millis(args.delay_ms);
    answer(
        args,
        Simulator::over(sut, codec, Framing::Line, delay, args.seed),
    )
}

fn serve_view(
    args: &Args,
    view: impl Semantics<State = StateId>,
    map: &ActionMap,
) -> Result<Exit, Failure> {
    let labels = Arc::new(view.labels().clone());
    let refused = match args.semantics.complete_inputs {
        Some(CompletionFlag::SelfLoop) => RefusedInput::SelfLoop,
        _ => RefusedInput::Error,
    };
    let sut = ModelSut::new(view, &labels, args.seed).on_refused_input(refused);
    let delay = Duration::from_millis(args.delay_ms);
    answer(
        args,
        Simulator::new(sut, &labels, map, Framing::Line, delay, args.seed),
    )
}

/// Lets the simulator talk to whoever comes.
fn answer<A, S: RunningModel<A>, C: ActionCodec<A>>(
    args: &Args,
    mut simulator: Simulator<A, S, C>,
) -> Result<Exit, Failure> {
    let hint = "--complete-inputs self-loop ignores unexpected inputs";
    let Some(address) = &args.tcp else {
        let served = simulator.serve(std::io::stdin(), std::io::stdout());
        return match served {
            Ok(()) => Ok(Exit::Holds),
            Err(e @ ExecError::Refused { .. }) => Err(Failure::fault(e.to_string()).hint(hint)),
            Err(e) => Err(Failure::fault(e.to_string())),
        };
    };
    let fault = |e: std::io::Error| Failure::fault(format!("{address}: {e}"));
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

    fn run(mut self) -> Result<Exit, Failure> {
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

    fn reply(&mut self, word: &str) -> Result<Reply, Failure> {
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

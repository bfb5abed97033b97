//! `iolite simulate`: step through a model by hand, or run it as a system under test.

use std::io::{ErrorKind, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolite::{
    Error, JudgeOptions, KnownModel, ModelRef, ModelUnderTest, ReadOptions, SemanticsOptions, Spec,
    Walk, chosen_constants, running_model, symbolic_sut,
};
use iolite_derive::Alphabet;
use iolite_exec::codec::{ActionMap, Template, WireCodec};
use iolite_exec::{ExecError, Framing, RunningModel, Simulator, SutConfig};

use super::simulate_walk;
use crate::args::data::DataArgs;
use crate::args::workspace;
use crate::output::{Exit, print, status};

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
    /// Take these actions, such as '?a' '!x' delta, say where that leads and what is possible there, and
    /// end; exit code 1 where one of them is not possible
    #[arg(
        long,
        value_name = "ACTION",
        num_args = 0..,
        conflicts_with_all = ["stdio", "tcp"]
    )]
    trace: Option<Vec<String>>,
    /// With --trace: print one JSON document
    #[arg(long, requires = "trace")]
    json: bool,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    semantics: SemanticsOptions,
    #[command(flatten)]
    read: ReadOptions,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    status::leave();
    let needed = args.data.unfold.then_some("--unfold");
    if args.stdio || args.tcp.is_some() {
        return serve(args, needed);
    }
    if args.templates.is_some() {
        return Err(Error::input(
            "--templates is for a running model, and needs --stdio or --tcp",
        ));
    }
    let workspace = workspace(&args.read).without_texts();
    let options = JudgeOptions {
        quiescence: args.semantics.policy(),
        data: args.data.options(),
        seed: args.seed,
        ..JudgeOptions::default()
    };
    let keeps_data = needed.is_none()
        && args.model.is_iol()
        && matches!(&*workspace.spec(&args.model)?, Spec::Symbolic(_));
    let walk = if keeps_data {
        Walk::new(&workspace, &args.model, &options)?
    } else {
        args.data.reject_without_solving(&args.model, needed)?;
        Walk::unfolded(&workspace, &args.model, &options)?
    };
    match &args.trace {
        Some(trace) => simulate_walk::place_after(walk, trace, args.json),
        None => simulate_walk::by_hand(walk),
    }
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
    let workspace = workspace(&args.read).without_texts();
    let unfold = needed.is_some();
    match ModelUnderTest::load(&workspace, &args.model, &args.data.options(), unfold)? {
        ModelUnderTest::Symbolic(model) => serve_data(args, &model, &map),
        ModelUnderTest::Explicit(spec) => {
            args.data.reject_without_solving(&args.model, needed)?;
            let alphabet = spec.alphabet().fork();
            let completion = args.semantics.complete_inputs;
            let sut = running_model(&spec, spec.dictionary(&alphabet), completion, args.seed);
            let codec = WireCodec::of_system(&map, spec.dictionary(&alphabet))?;
            answer(args, sut, codec)
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
            say!("constants: {chosen}");
        }
    });
    let codec = WireCodec::of_system(map, dictionary())?;
    answer(args, Box::new(sut), codec)
}

/// Lets the simulator talk to whoever comes.
fn answer(args: &Args, sut: Box<dyn RunningModel>, codec: WireCodec) -> Result<Exit, Error> {
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
    if address.parse::<u16>().is_ok() {
        return Err(Error::input(format!("{address}: an address is HOST:PORT"))
            .hint(format!("--tcp 127.0.0.1:{address}")));
    }
    let fault = |e: std::io::Error| match e.kind() {
        ErrorKind::InvalidInput => Error::input(format!("{address}: an address is HOST:PORT")),
        _ => Error::fault(format!("{address}: {e}")),
    };
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
            say!("connection ended: {e}");
            if matches!(e, ExecError::Refused { .. }) {
                say!("hint: {hint}");
            }
        }
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
    Ok(Exit::Holds)
}

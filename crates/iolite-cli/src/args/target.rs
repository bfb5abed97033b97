//! Which system is tested, and when it is silent.

use iolite::{CompletionFlag, TargetOptions};

use super::data::DataArgs;

/// Which system is tested, and when it is silent.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "System under test")]
pub(crate) struct TargetArgs {
    /// The system: a TOML description, or cmd:"PROGRAM ARGS", tcp:HOST:PORT, tls:HOST:PORT,
    /// tcp-listen:HOST:PORT, udp:OWN,PEER, http://…, https://…, ws://…, wss://…, model:FILE#Name
    #[arg(long, value_name = "SUT")]
    pub(crate) sut: String,
    /// Silence of so many milliseconds is quiescence, after every action and in every state
    /// [default: the description's timeouts, else 1000]
    #[arg(long, value_name = "MS")]
    pub(crate) quiescence_ms: Option<u64>,
    /// What a model under test does with inputs it does not take
    #[arg(long, value_name = "HOW")]
    pub(crate) complete_inputs: Option<CompletionFlag>,
}

impl TargetArgs {
    pub(crate) fn options(&self, data: &DataArgs) -> TargetOptions {
        TargetOptions {
            sut: self.sut.clone(),
            quiescence_ms: self.quiescence_ms,
            complete_inputs: self.complete_inputs.map(Into::into),
            solver: data.solver.clone(),
            unknown_query: Some(data.unknown_query.clone()),
            unfold: data.unfold,
            ..TargetOptions::default()
        }
    }
}

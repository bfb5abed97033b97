//! What runs are judged by.

use iolite::{Context, Error, JudgeOptions, ModelRef, QuiescenceFlag, Relation};

use super::data::{DataArgs, ValueArgs};

/// What runs are judged by.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Verdicts")]
pub(crate) struct JudgeArgs {
    /// ioco, uioco, ioconf, or ioconf-f with --traces; conf for a suite against a model; ioco with goals
    /// (--observer, --purpose)
    #[arg(long, default_value = "ioco", value_name = "RELATION")]
    pub(crate) relation: Relation,
    /// The set F of ioconf-f
    #[arg(long, value_name = "FILE#F")]
    pub(crate) traces: Option<ModelRef>,
    /// Try to make the system violate these safety properties (repeatable)
    #[arg(long, value_name = "FILE#W", conflicts_with = "purpose")]
    pub(crate) observer: Vec<ModelRef>,
    /// Try to reach these test purposes (repeatable)
    #[arg(long, value_name = "FILE#P")]
    pub(crate) purpose: Vec<ModelRef>,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    pub(crate) quiescence: QuiescenceFlag,
    /// What lies between tester and system: queues (messages cross) or synchronous [default: what the
    /// description says; queues for stdio, tcp, udp and websocket; else synchronous]
    #[arg(long, value_name = "CONTEXT")]
    pub(crate) context: Option<Context>,
}

impl JudgeArgs {
    /// Properties alone judge what the tester sees, in whatever order it sees it.
    pub(crate) fn reject_context_of_properties(&self) -> Result<(), Error> {
        match self.context {
            None => Ok(()),
            Some(_) => Err(Error::input(
                "--context is for judging by a MODEL: a property speaks of the messages in the \
                 order in which the tester sees them",
            )),
        }
    }

    /// `unfold` is why data are unfolded, where something needs that.
    pub(crate) fn options(
        &self,
        data: &DataArgs,
        values: &ValueArgs,
        unfold: Option<&'static str>,
        seed: u64,
    ) -> JudgeOptions {
        JudgeOptions {
            relation: self.relation,
            traces: self.traces.clone(),
            observers: self.observer.clone(),
            purposes: self.purpose.clone(),
            properties: None,
            quiescence: self.quiescence.policy(),
            queues: None,
            data: data.options(),
            values: values.options(),
            unfold: data.unfold.then_some("--unfold").or(unfold),
            seed,
        }
    }
}

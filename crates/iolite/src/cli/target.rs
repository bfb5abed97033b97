//! The system under test, as a command names it.

use std::sync::Arc;

use iolite_exec::{Adapter, ExecError, JobId, ModelSut, SutConfig};
use iolite_lts::{Completed, Completion, LabelId, LabelKind, Labels, Semantics};

use super::Failure;
use super::semantics_options::CompletionFlag;
use super::signature::{SeenValues, Signature, UnfoldedCodec};
use super::source::{self, ModelRef, ReadOptions};

/// Which system is tested, and when it is silent.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "System under test")]
pub(super) struct TargetOptions {
    /// The system: a TOML description, or cmd:"PROGRAM ARGS", tcp:HOST:PORT, tcp-listen:HOST:PORT,
    /// udp:OWN,PEER, http://…, ws://…, model:FILE#Name
    #[arg(long, value_name = "SUT")]
    pub(super) sut: String,
    /// Silence of so many milliseconds is quiescence [default: the description's, else 1000]
    #[arg(long, value_name = "MS")]
    pub(super) quiescence_ms: Option<u64>,
    /// What a model under test does with inputs it does not take
    #[arg(long, value_name = "HOW")]
    pub(super) complete_inputs: Option<CompletionFlag>,
}

/// A system under test that can be reached once for each job.
pub(super) struct Target {
    pub(super) config: SutConfig,
    model: Option<ModelRef>,
    complete_inputs: Option<CompletionFlag>,
    read: ReadOptions,
}

impl Target {
    pub(super) fn new(options: &TargetOptions, read: &ReadOptions) -> Result<Self, Failure> {
        let mut config = SutConfig::from_flag(&options.sut).map_err(|e| {
            Failure::input(e.to_string()).hint(
                "--sut takes a TOML file, or cmd:\"PROGRAM ARGS\", tcp:HOST:PORT, udp:OWN,PEER, \
                 http://…, ws://…, model:FILE#Name",
            )
        })?;
        if let Some(ms) = options.quiescence_ms {
            config.quiescence.timeout_ms = Some(ms);
        }
        let model = config.model.clone().map(ModelRef::from);
        let complete_inputs = options.complete_inputs;
        Ok(Self {
            config,
            model,
            complete_inputs,
            read: read.clone(),
        })
    }

    /// Outputs that the system may show and the specification need not know: they must have names.
    pub(super) fn extra_labels(&self) -> Result<Labels, Failure> {
        let mut extra = Labels::new();
        if self.config.undecodable == iolite_exec::UndecodableKind::Output {
            extra.intern(LabelKind::Output, "undecodable");
        }
        if let Some(reference) = &self.model {
            let model = source::load(reference, &self.read)?;
            let labels = model.system.labels();
            for output in labels.outputs() {
                extra.intern(LabelKind::Output, &labels.label(output).name);
            }
        }
        Ok(extra)
    }

    /// The labels of the model that plays the system, where one does.
    pub(super) fn model_labels(&self) -> Result<Option<Arc<Labels>>, ExecError> {
        let load = |reference| {
            let model = source::load(reference, &self.read)
                .map_err(|failure| ExecError::Config(failure.to_string()))?;
            Ok(Arc::new(model.system.labels().clone()))
        };
        self.model.as_ref().map(load).transpose()
    }

    /// An adapter for one job, over the tester's labels; `signature` tells what those of an unfolded
    /// model stand for.
    pub(super) fn adapter(
        &self,
        job: JobId,
        labels: &Arc<Labels>,
        signature: Option<(&Arc<Signature>, &SeenValues)>,
    ) -> Result<Box<dyn Adapter<LabelId>>, ExecError> {
        let Some(reference) = &self.model else {
            let labels = Arc::clone(labels);
            return Ok(match signature {
                Some((signature, seen)) => {
                    let map = self.config.action_map()?;
                    let signature = Arc::clone(signature);
                    let codec = UnfoldedCodec::new(map, signature, labels, seen.clone());
                    Box::new(self.config.adapter(job, codec)?)
                }
                None => Box::new(self.config.label_adapter(job, labels)?),
            });
        };
        let model = source::load(reference, &self.read)
            .map_err(|failure| ExecError::Config(failure.to_string()))?;
        let how = match self.complete_inputs {
            None => return Ok(Box::new(ModelSut::new(model.system, labels, 0))),
            Some(CompletionFlag::SelfLoop) => Completion::SelfLoop,
            Some(CompletionFlag::Chaos) => Completion::Chaos,
        };
        let view = Completed::over(model.system, how, labels);
        Ok(Box::new(ModelSut::new(view, labels, 0)))
    }
}

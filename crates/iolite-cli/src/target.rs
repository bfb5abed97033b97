//! The system under test, as a command names it.

use std::sync::Arc;

use iolite_exec::{Adapter, ExecError, JobId, ModelSut, SutConfig, SymbolicSut};
use iolite_lts::{Completed, LabelId, LabelKind, Labels, Semantics};

use super::Failure;
use super::data_options::DataOptions;
use super::played_model::{LabelDictionary, Played, PlayedModel};
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
    /// Silence of so many milliseconds is quiescence, after every action and in every state
    /// [default: the description's timeouts, else 1000]
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
    data: DataOptions,
}

impl Target {
    pub(super) fn new(
        options: &TargetOptions,
        data: &DataOptions,
        read: &ReadOptions,
    ) -> Result<Self, Failure> {
        let mut config = SutConfig::from_flag(&options.sut).map_err(|e| {
            Failure::input(e.to_string()).hint(
                "--sut takes a TOML file, or cmd:\"PROGRAM ARGS\", tcp:HOST:PORT, udp:OWN,PEER, \
                 http://…, ws://…, model:FILE#Name",
            )
        })?;
        if let Some(ms) = options.quiescence_ms {
            config.set_one_timeout(ms);
        }
        let model = config
            .system
            .model()
            .map(|model| ModelRef::from(model.to_owned()));
        let complete_inputs = options.complete_inputs;
        Ok(Self {
            config,
            model,
            complete_inputs,
            read: read.clone(),
            // Constants are the specification's.
            data: DataOptions {
                constants: Vec::new(),
                ..data.clone()
            },
        })
    }

    /// The model that plays the system as it is, not unfolded: one with data, or any other where
    /// the tester's actions have `values`.
    pub(super) fn played(&self, values: bool) -> Result<Option<PlayedModel>, Failure> {
        match &self.model {
            Some(reference) if !self.data.unfold => {
                PlayedModel::load(reference, &self.data, values)
            }
            _ => Ok(None),
        }
    }

    /// The same, running.
    pub(super) fn running(&self, played: &PlayedModel) -> Result<SymbolicSut, ExecError> {
        let completion = self.complete_inputs.map(Into::into);
        played
            .sut(completion, 0)
            .map_err(|failure| ExecError::Config(failure.to_string()))
    }

    /// Whether a model plays the system that is no text of ours, so that its actions have no values.
    pub(super) fn is_foreign_model(&self) -> bool {
        let path = self.model.as_ref().map(|reference| &reference.path);
        path.is_some_and(|path| path.extension().is_none_or(|ending| ending != "iol"))
    }

    /// Outputs that the system may show and the specification need not know: they must have names.
    pub(super) fn extra_labels(&self) -> Result<Labels, Failure> {
        let mut extra = Labels::new();
        if self.config.undecodable == iolite_exec::UndecodableKind::Output {
            extra.intern(LabelKind::Output, "undecodable");
        }
        if let Some(played) = self.played(false)? {
            played.output_labels(&mut extra);
        } else if let Some(reference) = &self.model {
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
        let config = |failure: Failure| ExecError::Config(failure.to_string());
        if let Some(played) = self.played(false).map_err(config)? {
            let dictionary = LabelDictionary::new(labels, &played);
            return Ok(Box::new(Played::new(self.running(&played)?, dictionary)));
        }
        let model = source::load(reference, &self.read).map_err(config)?;
        let Some(how) = self.complete_inputs else {
            return Ok(Box::new(ModelSut::new(model.system, labels, 0)));
        };
        let view = Completed::over(model.system, how.into(), labels);
        Ok(Box::new(ModelSut::new(view, labels, 0)))
    }
}

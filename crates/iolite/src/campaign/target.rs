//! The system under test.

use std::path::{Path, PathBuf};

use iolite_derive::{Context, ModelRef, QueueOptions};
use iolite_exec::codec::{Dictionary, WireCodec};
use iolite_exec::{Adapter, JobId, SutConfig};
use iolite_lts::{Completion, QuiescencePolicy};

use super::model_under_test::ModelUnderTest;
use crate::{DataOptions, Error, Format, Workspace};

/// How a system under test is named and understood.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    /// A TOML description, or `cmd:"PROGRAM ARGS"`, `tcp:HOST:PORT`, `tcp-listen:HOST:PORT`,
    /// `tls:HOST:PORT`, `udp:OWN,PEER`, `http://…`, `https://…`, `ws://…`, `wss://…`, `model:FILE#Name`.
    pub sut: String,
    /// Silence of so many milliseconds is quiescence, after every action and in every state; what the
    /// description says where none is given.
    pub quiescence_ms: Option<u64>,
    /// What a model under test does with inputs it does not take.
    pub complete_inputs: Option<Completion>,
    /// The solver for a model under test with data.
    pub solver: Option<String>,
    /// Where a query is saved that it could not decide.
    pub unknown_query: Option<PathBuf>,
    /// Whether a model under test with finite data is unfolded.
    pub unfold: bool,
    /// Where a model under test without data may stay silent on a cycle of internal actions. With
    /// `Fair`, not where it can leave it; otherwise on every one.
    pub quiescence: QuiescencePolicy,
}

/// A system under test that can be reached once for each job.
pub struct Target {
    config: SutConfig,
    model: Option<ModelUnderTest>,
    complete_inputs: Option<Completion>,
    quiescence: QuiescencePolicy,
}

impl Target {
    /// Reads the description, and the model that plays the system where one does.
    pub fn new(workspace: &Workspace, options: &TargetOptions) -> Result<Self, Error> {
        let mut config = SutConfig::from_flag(&options.sut).map_err(|e| {
            let error = Error::input(e.to_string());
            let file = options.sut.split('#').next().unwrap_or_default();
            if Format::of(Path::new(file)).is_ok() {
                return error.hint(format!(
                    "a model plays the system as --sut model:{}",
                    options.sut
                ));
            }
            // A description that is there was meant; what is wrong stands in it.
            if Path::new(&options.sut).is_file() {
                return error;
            }
            error.hint(
                "--sut takes a TOML file, or cmd:\"PROGRAM ARGS\", tcp:HOST:PORT, udp:OWN,PEER, \
                 http://…, https://…, ws://…, wss://…, model:FILE#Name",
            )
        })?;
        if options.quiescence_ms == Some(0) && config.system.model().is_none() {
            return Err(Error::input(
                "--quiescence-ms 0: an answer needs some time, and all would be silence",
            ));
        }
        if let Some(ms) = options.quiescence_ms {
            config.set_one_timeout(ms);
        }
        let data = DataOptions {
            // Constants are the specification's.
            constants: Vec::new(),
            solver: options.solver.clone(),
            until: None,
            unknown_query: options.unknown_query.clone(),
        };
        let model = config.system.model().map(|model| {
            let reference = ModelRef::from(model);
            ModelUnderTest::load(workspace, &reference, &data, options.unfold)
        });
        Ok(Self {
            model: model.transpose()?,
            config,
            complete_inputs: options.complete_inputs,
            quiescence: options.quiescence,
        })
    }

    /// The description.
    pub fn config(&self) -> &SutConfig {
        &self.config
    }

    /// How messages queue between tester and system, where they do: as `asked`, else as the
    /// description says.
    pub fn queues(&self, asked: Option<Context>) -> Option<QueueOptions> {
        let context = asked.unwrap_or_else(|| self.config.context());
        let usual = QueueOptions::default();
        (context == Context::Queues).then_some(QueueOptions {
            max_in_flight: self.config.max_in_flight.unwrap_or(usual.max_in_flight),
            channels: self.config.judged_channels().into(),
            ..usual
        })
    }

    /// The same with one timeout for everything.
    #[must_use]
    pub fn with_timeout(mut self, ms: u64) -> Self {
        self.config.set_one_timeout(ms);
        self
    }

    /// Whether a model with data plays the system, for which a solver may be meant.
    pub fn has_data(&self) -> bool {
        matches!(self.model, Some(ModelUnderTest::Symbolic(_)))
    }

    /// Whether the templates fit the parameters that the model declares, before anything is started.
    pub(crate) fn check_templates(&self, dictionary: &dyn Dictionary) -> Result<(), Error> {
        if self.model.is_some() {
            return Ok(());
        }
        let parameters = |kind, action: &str| dictionary.parameters(kind, action);
        let fitted = self.config.action_map()?.by_parameters(&parameters);
        fitted.map(|_| ()).map_err(|e| Error::input(e.to_string()))
    }

    /// An adapter for one job of a tester whose actions the dictionary knows.
    pub fn adapter(
        &self,
        job: JobId,
        dictionary: Box<dyn Dictionary>,
    ) -> Result<Box<dyn Adapter>, Error> {
        if let Some(model) = &self.model {
            let completion = self.complete_inputs;
            return model.adapter(dictionary, completion, self.quiescence);
        }
        let codec = WireCodec::new(self.config.action_map()?, dictionary)?;
        Ok(Box::new(self.config.adapter(job, codec)?))
    }
}

//! The set F of `ioconf_F`.

use iolite_derive::ModelRef;
use iolite_lang::{lower_traces, systems};
use iolite_lts::relation::TraceSet;
use iolite_lts::{Labels, LtsBuilder};

use super::{Format, Workspace, pick};
use crate::{Error, ExplicitSpec};

impl Workspace {
    /// F for two models, over the labels of the specification and then those that the implementation adds, which come
    /// with it. What only the implementation does is in traces too: with F = L*, `ioconf_F` is ≤iot [LTS96, (3)].
    pub(crate) fn traces_between(
        &self,
        reference: &ModelRef,
        specification: &ExplicitSpec,
        implementation: &ExplicitSpec,
    ) -> Result<(TraceSet, Labels), Error> {
        let mut labels = Labels::clone(specification.labels());
        labels.join(implementation.labels());
        let set = self.traces(reference, specification.reference(), &labels)?;
        Ok((set, labels))
    }

    /// F from a `traces` declaration, or the traces of an automaton, over the labels of `model`.
    pub fn traces(
        &self,
        reference: &ModelRef,
        model: &ModelRef,
        labels: &Labels,
    ) -> Result<TraceSet, Error> {
        self.check_watched_reference(reference, model)?;
        if Format::of(reference.path())? == Format::Iol {
            let source = self.source(reference.path())?;
            let file = source.file()?;
            let names = source.declared("traces")?;
            let asked_for_system = reference
                .name
                .as_ref()
                .is_some_and(|n| systems(file).contains(&n.as_str()));
            if !asked_for_system && !names.is_empty() {
                let name = pick(reference, "set of traces", &names)?;
                let (automaton, accepting) =
                    lower_traces(file, name, labels).map_err(|d| source.rejected(&d))?;
                let mut builder = LtsBuilder::with_labels(labels.clone());
                builder.ensure_states(automaton.states.len());
                builder.set_initial(automaton.initial);
                for (s, l, t) in automaton.transitions() {
                    builder.transition(s, l, t);
                }
                let lts = builder.build().map_err(|e| Error::input(e.to_string()))?;
                return Ok(TraceSet::accepted(&lts, labels, |s| accepting.contains(&s)));
            }
        }
        let lts = self
            .explicit(reference)?
            .whole_system(self.options().budget())?;
        Ok(TraceSet::accepted(&lts, labels, |_| true))
    }
}

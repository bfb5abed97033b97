//! Claims about models with data, which have no table.

use std::collections::BTreeSet;
use std::time::Instant;

use iolite_derive::location;
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::{follow_run, follow_run_in_queues};
use iolite_recheck::{Certificate, Observation};

use super::{CheckOutcome, ExplainOptions, Part, RECHECK, data, policy};
use crate::{Error, ReadOptions, Spec, SymbolicSpec, System, Workspace};

const TOO_LONG: &str = "the run was too long for its certificate; see the journal";

/// The route for models with data.
const FORMULAS: &str = "one formula for each way through the locations, and the solver";
/// What is only compared with the tester.
const TESTER: &str = "the tester, asked again";

/// States that data may unfold to, to read a certificate of an unfolded model.
const UNFOLDED: usize = 10_000;

/// What the specification allows after a trace, and where it is then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AllowedThere {
    pub(super) allowed: Vec<String>,
    pub(super) locations: Vec<String>,
}

impl AllowedThere {
    /// What stepping along the trace of a run gives.
    pub(super) fn of(
        model: &System,
        policy: QuiescencePolicy,
        claim: &Certificate,
    ) -> Option<Self> {
        if !claim.channels.is_empty() {
            return None;
        }
        let suspension = !matches!(claim.kind.as_str(), "ioconf" | "ioconf-f" | "iot");
        let found = match claim.context.as_str() {
            "queues" => follow_run_in_queues(model, policy, claim.kind == "uioco", &claim.trace)?,
            _ => follow_run(model, policy, suspension, &claim.trace)?,
        };
        let locations = found.states.iter().map(|&s| location(model, s));
        Some(Self {
            locations: locations.collect(),
            allowed: found.allowed,
        })
    }

    /// Whether the certificate says the same.
    pub(super) fn is_told_by(&self, claim: &Certificate) -> bool {
        let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
        let allowed = claim.allowed.iter().map(|o| match o {
            Observation::Action(action) => action.clone(),
            Observation::Refusal(refusal) => refusal.refuses.join(" "),
        });
        set(&self.locations) == set(&claim.locations)
            && set(&self.allowed) == allowed.collect::<BTreeSet<String>>()
    }
}

impl Workspace {
    /// A table is the union of its instances over unknown constants. That a run is wrong there does not
    /// prove that it is wrong for all of them.
    pub(super) fn recheck_constants(
        &self,
        claim: &Certificate,
        options: &ExplainOptions,
    ) -> Result<CheckOutcome, Error> {
        let model = claim.specification.as_ref();
        let Some(model) = model.filter(|_| claim.implementation.is_none()) else {
            return Ok(CheckOutcome::Confirmed);
        };
        let spec = self.spec(&model.reference.as_str().into())?;
        let Spec::Symbolic(spec) = &*spec else {
            return Ok(CheckOutcome::Confirmed);
        };
        let run = data::DataRun {
            spec,
            policy: policy(claim),
            solver: options.solver.as_deref(),
            until: options.until.as_ref().map(|(until, _)| *until),
        };
        run.recheck_constants(&claim.trace)
    }

    /// A run of a model with data, looked at by formulas; `None` where that is not what is missing.
    pub(super) fn recheck_data(
        &self,
        claim: &Certificate,
        options: &ExplainOptions,
    ) -> Result<Option<(CheckOutcome, Vec<Part>)>, Error> {
        let Some(model) = claim.specification.as_ref().filter(|m| m.table.is_none()) else {
            return Ok(None);
        };
        let queues = match claim.context.as_str() {
            "synchronous" => false,
            "queues" => true,
            _ => return Ok(None),
        };
        if claim.kind != "ioco" || claim.implementation.is_some() {
            return Ok(None);
        }
        if claim.trace_omitted > 0 {
            return Ok(Some((
                CheckOutcome::Undecided(TOO_LONG.to_owned()),
                Vec::new(),
            )));
        }
        if !claim.channels.is_empty() {
            let reason = "several channels, or messages that are lost or reordered, are not re-checked \
                          for models with data";
            return Ok(Some((
                CheckOutcome::Undecided(reason.to_owned()),
                Vec::new(),
            )));
        }
        let spec = self.spec(&model.reference.as_str().into())?;
        let Spec::Symbolic(spec) = &*spec else {
            let reason = "the model has no data, so its table must be there".to_owned();
            return Ok(Some((CheckOutcome::Refuted(reason), Vec::new())));
        };
        let observed = match &claim.observed {
            Some(Observation::Action(action)) => Some(action.clone()),
            _ => None,
        };
        let refuted = |reason: String| Ok(Some((CheckOutcome::Refuted(reason), Vec::new())));
        if claim.verdict != "fail" {
            return refuted(format!("the verdict is `fail`, not `{}`", claim.verdict));
        }
        if !matches!(claim.quiescence.as_str(), "livelock" | "strict" | "fair") {
            return refuted(format!(
                "`{}` is no policy of quiescence here",
                claim.quiescence
            ));
        }
        let until = options.until.as_ref().map(|(until, _)| *until);
        let solver = options.solver.as_deref();
        let run = data::DataRun {
            spec,
            policy: policy(claim),
            solver,
            until,
        };
        let mut checked = run.recheck(&claim.trace, observed.as_deref(), queues)?;
        let by = |what: &str, by| Part {
            what: what.to_owned(),
            by,
        };
        let mut parts = Vec::new();
        if checked == CheckOutcome::Confirmed {
            parts.push(by("files: each text has its hash", RECHECK));
            parts.push(by(
                "trace and verdict: no way explains what was observed",
                FORMULAS,
            ));
            // Replaced specifications allow other things; through queues, what is allowed is not
            // compared.
            if options.specification.is_none() && !queues {
                if self.data_is_told(spec, &run, claim)? {
                    parts.push(by("allowed and locations", TESTER));
                } else {
                    let reason = "what is allowed, or where, is something else".to_owned();
                    checked = CheckOutcome::Refuted(reason);
                }
            }
        }
        if let (CheckOutcome::Undecided(_), Some((until, reason))) = (&checked, &options.until)
            && Instant::now() >= *until
        {
            checked = CheckOutcome::Undecided(reason.clone());
        }
        Ok(Some((checked, parts)))
    }

    /// Whether what is allowed and where is what the tester says, or the unfolded model, which tells
    /// of values one by one.
    fn data_is_told(
        &self,
        spec: &SymbolicSpec,
        run: &data::DataRun<'_>,
        claim: &Certificate,
    ) -> Result<bool, Error> {
        if run
            .found(&claim.trace)?
            .is_some_and(|f| f.is_told_by(claim))
        {
            return Ok(true);
        }
        let few = self.read_as(ReadOptions {
            max_states: Some(UNFOLDED),
            ..self.options().clone()
        });
        let Ok(unfolded) = few.explicit(spec.reference()) else {
            return Ok(false);
        };
        let found = AllowedThere::of(&unfolded.system(), policy(claim), claim);
        Ok(found.is_some_and(|f| f.is_told_by(claim)))
    }
}

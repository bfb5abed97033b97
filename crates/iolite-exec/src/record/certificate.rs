//! The proof of a failing verdict, to be checked without the code that produced it.

use std::time::Duration;

use iolite_derive::{Channel, Context, Criterion, ModelRef, Step, Tester, Verdict};
use serde::{Deserialize, Serialize};

use crate::run::engine::micros;
use crate::{Exit, RunId, Trace};

/// The name and version of the format.
pub const CERTIFICATE_FORMAT: &str = "iolite-certificate/1";

/// What a failing run shows: after this suspension trace of the specification, this was observed,
/// and only that was allowed.
///
/// As JSON, with actions in `?a`, `!x`, `delta` notation:
///
/// ```json
/// {"format": "iolite-certificate/1", "kind": "ioco",
///  "model": {"file": "candy.iol", "name": "Candy"}, "verdict": "fail",
///  "trace": ["?coin", "delta", "?push"], "observed": "!stone", "allowed": ["!candy"],
///  "locations": ["Paid"], "run": 3, "seed": 17}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// [`CERTIFICATE_FORMAT`].
    pub format: String,
    /// What the run was judged by: `ioco`, `safety`, …
    pub kind: Criterion,
    /// The model it speaks of.
    pub model: ModelRef,
    /// In which context it was judged: with `queues`, the trace is what the tester saw, and no local
    /// trace of the specification explains the observation.
    #[serde(default, skip_serializing_if = "Context::is_synchronous")]
    pub context: Context,
    /// The channels that it was judged through, where there are several or one loses or reorders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
    /// The verdict it proves.
    pub verdict: Verdict,
    /// The suspension trace before the observation.
    pub trace: Vec<String>,
    /// Steps that are missing between `trace` and the observation: the run was longer than what is
    /// kept in memory, and the journal has them. Such a certificate cannot be checked alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trace_omitted: u64,
    /// What was observed then; missing where the verdict came with the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// How long silence had lasted, in microseconds, where it was observed as δ in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
    /// What came in repetitions of the run in place of a silence, and is forbidden as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// The step, from 1, of an output that only others would have explained which never came, where silence shows that: through
    /// several channels it is the output that is wrong, not the silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained: Option<usize>,
    /// How the system ended, where the verdict is `crash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// What would have been right.
    pub allowed: Vec<String>,
    /// Where the specification can be after the trace.
    pub locations: Vec<String>,
    /// Number of the run, from 0.
    pub run: u64,
    /// Seed of the run.
    pub seed: u64,
}

impl Certificate {
    /// The certificate of a run. What was allowed is asked after the fact, by walking the trace
    /// again: asking before each observation would cost every run, and most do not fail.
    /// `by_observation` says that the last step brought the verdict, not the end of the run;
    /// `patience` is how long was waited for it.
    pub(crate) fn of<T: Tester>(
        tester: &mut T,
        trace: &Trace,
        by_observation: bool,
        patience: Option<Duration>,
        verdict: Verdict,
        about: (Criterion, &ModelRef, Context, &[Channel]),
        id: RunId,
    ) -> Self {
        let complete = trace.omitted() == 0;
        let (before, last) = match trace.steps().split_last() {
            Some((last, before)) if complete && by_observation => (before, Some(last)),
            _ => (trace.steps(), None),
        };
        let mut unexplained = None;
        if complete {
            tester.reset();
            for (k, step) in before.iter().enumerate() {
                tester.step(*step);
                if !tester.awaits_explanation() {
                    unexplained = None;
                } else if unexplained.is_none() {
                    unexplained = Some(k + 1);
                }
            }
        }
        let certificate = Self {
            format: CERTIFICATE_FORMAT.into(),
            kind: about.0,
            model: about.1.clone(),
            context: about.2,
            channels: about.3.to_vec(),
            verdict,
            trace: before.iter().map(|s| s.text(tester.alphabet())).collect(),
            trace_omitted: trace.omitted(),
            observed: last.map(|s| s.text(tester.alphabet())),
            patience: patience
                .filter(|_| last == Some(&Step::Quiescence))
                .map(micros),
            instead: Vec::new(),
            unexplained: unexplained.filter(|_| last == Some(&Step::Quiescence)),
            exit: None,
            allowed: tester.allowed(),
            locations: tester.locations(),
            run: id.number,
            seed: id.seed,
        };
        if let Some(last) = last {
            tester.step(*last);
        }
        certificate
    }

    /// The same of a run that the end of the system cut off.
    pub(crate) fn crashed(mut self, exit: Exit) -> Self {
        self.observed = Some("crash".into());
        self.exit = Some(exit);
        self
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

//! Does a specification satisfy its requirements?

use iolite_derive::{ModelRef, Relevance, Satisfaction, relevance, verify};
use iolite_lts::{Determinised, QuiescencePolicy, Semantics, Suspension};
use iolite_property::Observer;

use crate::{Error, Workspace};

/// What is asked.
#[derive(Clone, Debug)]
pub struct VerificationOptions {
    /// Observers, or safety properties.
    pub properties: Vec<ModelRef>,
    /// Which states are quiescent.
    pub quiescence: QuiescencePolicy,
    /// Pairs of system and observer states that are looked at.
    pub max_pairs: usize,
    /// Whether it is also asked if each observer is relevant [SAFE04, def. 9].
    pub relevance: bool,
}

/// The answer for one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No trace of the system violates it.
    Proved,
    /// This one does.
    Refuted {
        /// The trace.
        trace: Vec<String>,
        /// Where the system is then.
        state: String,
    },
    /// A bound ran out.
    Unknown,
}

/// What was found out of one property.
#[derive(Clone, Debug)]
pub struct VerifiedProperty {
    /// Its name.
    pub name: String,
    /// Whether the system satisfies it.
    pub proof: Proof,
    /// Whether the observer is relevant, and otherwise a trace of it that leaves the system by
    /// something other than an output; `None` where it was not asked or not found out.
    pub relevance: Option<Result<(), Vec<String>>>,
}

/// What was found out of all of them.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The system.
    pub system: ModelRef,
    /// Pairs of states that were looked at.
    pub pairs: usize,
    /// One answer a property.
    pub properties: Vec<VerifiedProperty>,
}

impl Workspace {
    /// Decides whether a model satisfies safety properties [SAFE04, def. 6].
    pub fn verify(
        &self,
        model: &ModelRef,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let spec = self.explicit(model)?;
        let mut observers: Vec<Observer> = Vec::new();
        for reference in &options.properties {
            observers.extend(self.observers_of(reference, &spec)?);
        }
        let system = spec.system();
        let view = Suspension::new(&system, options.quiescence);
        let found = verify(&view, &observers, options.max_pairs);
        if let Some(state) = view.livelock() {
            return Err(Error::input(format!(
                "state {} lies on a cycle of internal actions",
                view.describe(&state)
            ))
            .hint("--quiescence livelock takes such a cycle for quiescence"));
        }
        let texts = |trace: &[_]| trace.iter().map(|&l| spec.labels().text(l)).collect();
        let mut determinised = Determinised::new(Suspension::new(&system, options.quiescence));
        let mut properties = Vec::new();
        for (observer, answer) in observers.iter().zip(&found.answers) {
            let proof = match answer {
                Satisfaction::Holds => Proof::Proved,
                Satisfaction::Violated { trace, state } => Proof::Refuted {
                    trace: texts(trace),
                    state: system.describe(state),
                },
                Satisfaction::Unknown => Proof::Unknown,
            };
            let asked = options.relevance;
            let relevance =
                asked.then(|| relevance(&mut determinised, observer, options.max_pairs));
            properties.push(VerifiedProperty {
                name: observer.name().to_owned(),
                proof,
                relevance: match relevance {
                    None | Some(Relevance::Unknown) => None,
                    Some(Relevance::Relevant) => Some(Ok(())),
                    Some(Relevance::Irrelevant { trace, .. }) => Some(Err(texts(&trace))),
                },
            });
        }
        Ok(Verification {
            system: spec.reference().clone(),
            pairs: found.pairs,
            properties,
        })
    }
}

//! Does a specification satisfy its requirements?

use std::time::Duration;

use iolite_derive::{ModelRef, Relevance, Satisfaction, relevance, verify};
use iolite_lang::lower_data_observer;
use iolite_lts::{Determinised, QuiescencePolicy, Semantics, Suspension};
use iolite_property::Observer;
use iolite_sts::analysis::{self, Answer, VerifyBudget};

use crate::workspace::pick_all;
use crate::{
    EnvironmentFlag, Error, ExecutionEnding, ExplicitSpec, FairnessFlag, Spec, SymbolicSpec,
    Workspace, solver,
};

/// What is asked.
#[derive(Clone, Debug)]
pub struct VerificationOptions {
    /// Observers, or properties of any class.
    pub properties: Vec<ModelRef>,
    /// Which infinite executions count, for properties.
    pub fairness: FairnessFlag,
    /// Whether the environment may stop giving inputs, for properties.
    pub environment: EnvironmentFlag,
    /// Which states are quiescent.
    pub quiescence: QuiescencePolicy,
    /// Pairs of system and observer states that are looked at.
    pub max_pairs: usize,
    /// Whether it is also asked if each observer is relevant [SAFE04, def. 9].
    pub relevance: bool,
    /// Whether finite data are unfolded, instead of proving with them.
    pub unfold: bool,
    /// The solver, for models with data.
    pub solver: Option<String>,
    /// The time for one property of a model with data.
    pub time: Option<Duration>,
}

impl Default for VerificationOptions {
    fn default() -> Self {
        Self {
            properties: Vec::new(),
            fairness: FairnessFlag::None,
            environment: EnvironmentFlag::MayStop,
            quiescence: QuiescencePolicy::Livelock,
            max_pairs: 50_000_000,
            relevance: false,
            unfold: false,
            solver: None,
            time: None,
        }
    }
}

/// The answer for one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No trace of the system violates it.
    Proved {
        /// Who found the proof, and the inductive invariant, a line a location, where data were kept.
        invariant: Option<(String, String)>,
        /// How many transitions may have no value in the model: nothing is claimed of the constants
        /// with which that happens.
        faults: usize,
    },
    /// This one does.
    Refuted {
        /// The trace.
        trace: Vec<String>,
        /// Where the system is then.
        state: String,
        /// Values of constants with which it does, where they were unknown.
        constants: Vec<String>,
    },
    /// A bound ran out.
    Unknown {
        /// What is left to show.
        left: Vec<String>,
    },
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
    /// How the execution that refutes a property goes on after its trace.
    pub ending: Option<ExecutionEnding>,
}

/// What was found out of all of them.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The system.
    pub system: ModelRef,
    /// Pairs of states that were looked at, where states are explicit.
    pub pairs: usize,
    /// One answer a property.
    pub properties: Vec<VerifiedProperty>,
}

impl Workspace {
    /// Decides whether a model satisfies observers [SAFE04, def. 6; SYM04, def. 10] and properties of
    /// any class [PROP12, def. 3].
    ///
    /// Properties are decided on the explicit system. For observers, a model with data is kept as it is where observers of our own language are asked for; an
    /// answer that the proof search leaves open is looked for in the explicit system, where its data
    /// are finite.
    pub fn verify(
        &self,
        model: &ModelRef,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        // Relevance is a question about observers, which safety properties can be.
        if options.relevance {
            return self.verify_observers(model, options);
        }
        let mut all: Option<Verification> = None;
        let mut rest = options.properties.as_slice();
        while let [first, ..] = rest {
            let property = self.is_safety_property(first)?;
            let mut part = VerificationOptions {
                properties: Vec::new(),
                ..options.clone()
            };
            // Observers side by side are searched for in one pass.
            while let [next, after @ ..] = rest
                && (part.properties.is_empty() || !property && !self.is_safety_property(next)?)
            {
                part.properties.push(next.clone());
                rest = after;
            }
            let found = if property {
                let spec = self.explicit(model)?;
                let (properties, pairs) =
                    self.verify_properties(&part.properties[0], &spec, options)?;
                Verification {
                    system: spec.reference().clone(),
                    pairs,
                    properties,
                }
            } else {
                self.verify_observers(model, &part)?
            };
            match &mut all {
                None => all = Some(found),
                Some(all) => {
                    all.pairs += found.pairs;
                    all.properties.extend(found.properties);
                }
            }
        }
        all.ok_or_else(|| Error::input("no property is given"))
    }

    fn verify_observers(
        &self,
        model: &ModelRef,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        if options.unfold || options.relevance || !self.only_observers(options)? {
            return self.verify_explicit(&self.explicit(model)?, options);
        }
        let spec = self.spec(model)?;
        let Spec::Symbolic(symbolic) = &*spec else {
            return self.verify_explicit(&self.explicit(model)?, options);
        };
        let mut found = self.verify_symbolic(symbolic, options)?;
        let open = |p: &VerifiedProperty| matches!(p.proof, Proof::Unknown { .. });
        if found.properties.iter().any(open)
            && let Ok(explicit) = self.explicit(model)
            && let Ok(other) = self.verify_explicit(&explicit, options)
        {
            for (property, other) in found.properties.iter_mut().zip(other.properties) {
                if open(property) {
                    property.proof = other.proof;
                }
            }
        }
        Ok(found)
    }

    /// Whether all that is asked for is declared as an observer.
    fn only_observers(&self, options: &VerificationOptions) -> Result<bool, Error> {
        for reference in &options.properties {
            if !reference.is_iol() || self.is_safety_property(reference)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn verify_symbolic(
        &self,
        spec: &SymbolicSpec,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let mut properties = Vec::new();
        for reference in &options.properties {
            let source = self.source(reference.path())?;
            let file = source.file()?;
            for name in pick_all(reference, "observer", &source.declared("observer"))? {
                self.check_watched(&source, name, spec.reference())?;
                let observer = lower_data_observer(file, name, spec.model())
                    .map_err(|found| source.rejected(&found))?;
                if !observer.warnings.is_empty() {
                    self.warn(source.rendered(&observer.warnings).trim_end());
                }
                let mut budget = VerifyBudget::default();
                budget.time = options.time.unwrap_or(budget.time);
                let mut solver = solver(options.solver.as_deref())?;
                let (product, answer) = analysis::satisfies(
                    spec.model(),
                    &observer.iosts,
                    &observer.violate,
                    options.quiescence,
                    &mut solver,
                    budget,
                )
                .map_err(|e| Error::input(format!("{}: {e}", source.path().display())))?;
                properties.push(VerifiedProperty {
                    name: name.to_owned(),
                    proof: symbolic_proof(&answer, &product),
                    relevance: None,
                    ending: None,
                });
            }
        }
        Ok(Verification {
            system: spec.reference().clone(),
            pairs: 0,
            properties,
        })
    }

    fn verify_explicit(
        &self,
        spec: &ExplicitSpec,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let mut observers: Vec<Observer> = Vec::new();
        for reference in &options.properties {
            observers.extend(self.observers_of(reference, spec)?);
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
                Satisfaction::Holds => Proof::Proved {
                    invariant: None,
                    faults: 0,
                },
                Satisfaction::Violated { trace, state } => Proof::Refuted {
                    trace: texts(trace),
                    state: system.describe(state),
                    constants: Vec::new(),
                },
                Satisfaction::Unknown => Proof::Unknown {
                    left: vec![format!("more than {} pairs of states", options.max_pairs)],
                },
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
                ending: None,
            });
        }
        Ok(Verification {
            system: spec.reference().clone(),
            pairs: found.pairs,
            properties,
        })
    }
}

fn symbolic_proof(answer: &Answer, product: &iolite_sts::Iosts) -> Proof {
    match answer {
        Answer::Proved(proof) => Proof::Proved {
            invariant: Some((proof.how.clone(), proof.invariant.describe(product))),
            faults: proof.faults.len(),
        },
        Answer::Refuted(refutation) => {
            let states = refutation.run.replay(product).unwrap_or_default();
            // The last step enters the violating location; the state before it is what people know.
            let before = states.len().checked_sub(2).and_then(|k| states.get(k));
            let constants = refutation.constants(product);
            Proof::Refuted {
                trace: refutation.texts(product),
                state: before.map(|s| product.describe(s)).unwrap_or_default(),
                constants: constants.map(|(n, v)| format!("{n} = {v}")).collect(),
            }
        }
        Answer::Unknown { left } => Proof::Unknown { left: left.clone() },
    }
}

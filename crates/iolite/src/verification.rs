//! Does a specification satisfy its requirements?

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{
    Execution, ModelRef, Relevance, Satisfaction, relevance, verify_while, verify_with_jobs,
};
use iolite_expr::Var;
use iolite_lang::{has_data, lower_data_observer};
use iolite_lts::{Determinised, QuiescencePolicy, Semantics, Suspension, System};
use iolite_property::{Observer, ObserverRules};
use iolite_sts::analysis::{self, Answer, HornProgram, InvariantSource, VerifyBudget};
use iolite_sts::{Iosts, LocationId};

use crate::data::z3;
use crate::verification_turns::ProofSearch;
use crate::workspace::pick_all;
use crate::{
    EnvironmentFlag, Error, ExecutionEnding, ExplicitSpec, FairnessFlag, Spec, Workspace,
    all_cores, answers_count, as_iosts, solver, vacuity,
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
    /// How many threads search for violations of observers in a model of states. The answer does not depend
    /// on it. Systems that are explored on demand, and the strict policy, are searched by one.
    pub jobs: NonZeroUsize,
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
            jobs: all_cores(),
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
        /// How many transitions may have no value in the model: nothing is claimed of the values, of
        /// constants, inputs and internal choices, with which that happens.
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
    /// The same execution step by step.
    pub execution: Option<Execution>,
    /// Why it says little that it is proved.
    pub vacuous: Option<String>,
    /// Where data were kept: the answer in full.
    pub data: Option<Arc<DataAnswer>>,
}

impl VerifiedProperty {
    /// One of which nothing was found out, and why.
    pub(crate) fn unknown(name: String, left: Vec<String>) -> Self {
        Self {
            name,
            proof: Proof::Unknown { left },
            relevance: None,
            ending: None,
            execution: None,
            vacuous: None,
            data: None,
        }
    }
}

/// An answer about a model whose data were kept.
#[derive(Clone, Debug)]
pub struct DataAnswer {
    /// Where the observer was read.
    pub observer: ModelRef,
    /// S^δ || ω, of which the answer speaks.
    pub product: Iosts,
    /// The answer.
    pub answer: Answer,
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
    /// Properties of any class are decided on the explicit system, and safety properties of models with data
    /// by formulas too, by turns. For observers, a model with data is kept as it is, and so is one without
    /// beside observers with data; what the proof search leaves open is looked for in the explicit system by
    /// turns with it.
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
                self.verify_property_by_turns(model, &part)?
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

    /// The same of a system that is there, state by state.
    pub(crate) fn verify_spec(
        &self,
        spec: &ExplicitSpec,
        options: &VerificationOptions,
    ) -> Result<Vec<VerifiedProperty>, Error> {
        let mut all = Vec::new();
        for reference in &options.properties {
            if self.is_safety_property(reference)? {
                all.extend(self.verify_properties(reference, spec, options)?.0);
            } else {
                let one = VerificationOptions {
                    properties: vec![reference.clone()],
                    ..options.clone()
                };
                all.extend(self.verify_explicit(spec, &one)?.properties);
            }
        }
        Ok(all)
    }

    fn verify_observers(
        &self,
        model: &ModelRef,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let data = self.observers_with_data(options)?;
        if let (Some(name), true) = (&data, options.relevance) {
            return Err(Error::input(format!(
                "--relevant: observer `{name}` has data, and its relevance is not decided"
            )));
        }
        if data.is_none() && (options.unfold || options.relevance) {
            return self.verify_explicit(&self.explicit(model)?, options);
        }
        let spec = self.spec(model)?;
        match &*spec {
            Spec::Symbolic(symbolic) if data.is_none() => {
                self.verify_observers_by_turns(symbolic.model(), &spec, options)
            }
            Spec::Symbolic(symbolic) => {
                self.verify_symbolic(symbolic.model(), &spec, options, ProofSearch::default())
            }
            Spec::Explicit(explicit) if data.is_some() => {
                let model = as_iosts::system(explicit)?;
                self.verify_symbolic(&model, &spec, options, ProofSearch::default())
            }
            _ => self.verify_explicit(&self.explicit(model)?, options),
        }
    }

    /// The first observer with data of its own, if there is one.
    fn observers_with_data(&self, options: &VerificationOptions) -> Result<Option<String>, Error> {
        for reference in &options.properties {
            if !reference.is_iol() || self.is_safety_property(reference)? {
                continue;
            }
            let source = self.source(reference.path())?;
            for name in pick_all(reference, "observer", &source.declared("observer")?)? {
                if has_data(source.file()?, name) {
                    return Ok(Some(name.to_owned()));
                }
            }
        }
        Ok(None)
    }

    /// The same with the data of the model; `spec` says what it is called, and what observers are for.
    pub(crate) fn verify_symbolic(
        &self,
        model: &Iosts,
        spec: &Spec,
        options: &VerificationOptions,
        search: ProofSearch,
    ) -> Result<Verification, Error> {
        let spacer = z3(options.solver.as_deref()).filter(|_| search.asks_spacer);
        let source =
            |path| -> Box<dyn InvariantSource> { Box::new(HornProgram::new(path, "Z3's Spacer")) };
        let mut sources: Vec<_> = spacer.map(source).into_iter().collect();
        let mut properties: Vec<VerifiedProperty> = Vec::new();
        for reference in &options.properties {
            let observers = self.data_observers(reference, model, spec, ObserverRules::Acceptor)?;
            for (name, observer, violate) in observers {
                self.budget().know(known(&properties, &name));
                let mut budget = VerifyBudget {
                    steps: search.steps,
                    ..VerifyBudget::default()
                };
                budget.time = options.time.unwrap_or(budget.time);
                let mut solver = solver(options.solver.as_deref())?;
                let (product, answer) = analysis::satisfies_with(
                    model,
                    &observer,
                    &violate,
                    options.quiescence,
                    &mut solver,
                    budget,
                    &mut sources,
                )
                .map_err(|e| Error::input(format!("{reference}: {e}")))?;
                answers_count(&solver)?;
                let proof = symbolic_proof(&answer, &product);
                if matches!(proof, Proof::Refuted { .. })
                    && let Some(warning) = foreign_constant(&name, &observer, model)
                {
                    self.warn(&format!("warning: {warning}"));
                }
                let vacuous = matches!(proof, Proof::Proved { .. })
                    .then(|| vacuity::of_data_observer(&name, &observer, &violate, &mut solver));
                let vacuous = vacuous.flatten();
                // The others got their warning when they were read.
                if let Some(warning) = &vacuous
                    && reference.is_iol()
                    && !self.is_safety_property(reference)?
                {
                    self.warn(&format!("warning: {warning}"));
                }
                properties.push(VerifiedProperty {
                    name,
                    proof,
                    relevance: None,
                    ending: None,
                    execution: None,
                    vacuous,
                    data: Some(Arc::new(DataAnswer {
                        observer: reference.clone(),
                        product,
                        answer,
                    })),
                });
            }
        }
        Ok(Verification {
            system: spec.reference(),
            pairs: 0,
            properties,
        })
    }

    /// The observers, or safety properties, of a reference over the gates of a system, with their
    /// violating locations. The rules are those for properties.
    pub(crate) fn data_observers(
        &self,
        reference: &ModelRef,
        model: &Iosts,
        spec: &Spec,
        rules: ObserverRules,
    ) -> Result<Vec<(String, Iosts, Vec<LocationId>)>, Error> {
        let mut all = Vec::new();
        if !reference.is_iol() || self.is_safety_property(reference)? {
            if let Spec::Symbolic(symbolic) = spec
                && self.is_safety_property(reference)?
            {
                for (observer, sigma) in
                    self.guarded_safety_properties(reference, symbolic, rules)?
                {
                    let (iosts, violate) = as_iosts::guarded_observer(&observer, &sigma, model)?;
                    all.push((observer.name().to_owned(), iosts, violate));
                }
                if !all.is_empty() {
                    return Ok(all);
                }
            }
            for observer in self.observers_by(reference, spec, rules)? {
                let (iosts, violate) = as_iosts::observer(&observer, model)?;
                all.push((observer.name().to_owned(), iosts, violate));
            }
            return Ok(all);
        }
        let source = self.source(reference.path())?;
        let file = source.file()?;
        for name in pick_all(reference, "observer", &source.declared("observer")?)? {
            self.check_watched(&source, name, &spec.reference())?;
            let observer =
                lower_data_observer(file, name, model).map_err(|found| source.rejected(&found))?;
            if !observer.warnings.is_empty() {
                self.warn(source.rendered(&observer.warnings).trim_end());
            }
            let iosts = self.beside_instance(observer.iosts, &source, &spec.reference())?;
            all.push((name.to_owned(), iosts, observer.violate));
        }
        Ok(all)
    }

    pub(crate) fn verify_explicit(
        &self,
        spec: &ExplicitSpec,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let mut observers: Vec<Observer> = Vec::new();
        for reference in &options.properties {
            observers.extend(self.observers_of(reference, spec)?);
        }
        let system = spec.system();
        let budget = self.budget();
        let mut exceeded = None;
        let proceed = |pairs, length| {
            budget.know(format!(
                "no violation up to traces of length {length} ({pairs} pairs of states)"
            ));
            exceeded = budget.exceeded();
            exceeded.is_none()
        };
        let (policy, limit) = (options.quiescence, options.max_pairs);
        // A search may end before it meets a livelock.
        spec.reject_livelock(policy, self.options().budget())?;
        let found = match &system {
            System::Explicit(lts) => {
                verify_with_jobs((lts, policy), &observers, limit, options.jobs, proceed)
            }
            System::OnDemand(_) => {
                let view = Suspension::new(&system, policy);
                verify_while(&view, &observers, limit, proceed)
            }
        };
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
                    left: vec![
                        exceeded.map_or_else(
                            || format!("more than {} pairs of states", options.max_pairs),
                            |what| what.to_string(),
                        ),
                        format!("no violation up to traces of length {}", found.length),
                    ],
                },
            };
            let vacuous = matches!(proof, Proof::Proved { .. })
                .then(|| vacuity::of_observer(observer, spec, options.quiescence))
                .flatten();
            // One that nothing can violate got its warning when it was read.
            if let Some(warning) = vacuous.as_ref().filter(|_| observer.can_be_violated()) {
                self.warn(&format!("warning: {warning}"));
            }
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
                execution: None,
                vacuous,
                data: None,
            });
        }
        Ok(Verification {
            system: spec.reference().clone(),
            pairs: found.pairs,
            properties,
        })
    }
}

/// What is known while one more property is looked at.
fn known(decided: &[VerifiedProperty], now: &str) -> String {
    let answer = |property: &VerifiedProperty| {
        let answer = match property.proof {
            Proof::Proved { .. } => "proved",
            Proof::Refuted { .. } => "refuted",
            Proof::Unknown { .. } => "unknown",
        };
        format!("{}: {answer}", property.name)
    };
    let mut all: Vec<String> = decided.iter().map(answer).collect();
    all.push(format!("{now}: no violation was found yet"));
    all.join("; ")
}

/// Why a refutation may not be the one that was meant: a constant of the observer that is none of the model, by name
/// and sort, has any value.
fn foreign_constant(name: &str, observer: &Iosts, model: &Iosts) -> Option<String> {
    let own = |c: &Var| {
        let mut all = model.constants().iter().map(|d| &d.var);
        all.any(|d| d.name == c.name && d.sort == c.sort)
    };
    let mut all = observer.constants().iter().map(|c| &c.var);
    let foreign = all.find(|c| !own(c))?;
    let same = model
        .constants()
        .iter()
        .find(|d| d.var.name == foreign.name);
    let why = match same {
        Some(d) => format!("that of the model is of sort {}", d.var.sort),
        None => "the model has none of this name".to_owned(),
    };
    Some(format!(
        "constant {}: {} of {name} has any value here, since {why}; a constant of the same name and sort is the \
         model's",
        foreign.name, foreign.sort
    ))
}

fn symbolic_proof(answer: &Answer, product: &Iosts) -> Proof {
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

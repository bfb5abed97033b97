//! Relations between models whose data are not unfolded: proved, refuted by a run, or neither.

use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{
    Alphabet, Context, Meaning, ModelRef, Oracle, Places, Step, SymbolicOracle, action_of,
};
use iolite_expr::{Solver, Strategy};
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::{Effort, Relation};
use iolite_sts::analysis::{Answer, Refutation, VerifyBudget};
use iolite_sts::{
    ConformanceError, DataRelation, Iosts, LabelKind, State, Symbolic, ValuedAction, conforms,
    is_input_enabled,
};

use super::{COMPLETE_INPUTS, RelationOptions};
use super::{CounterexampleDocument, ObservedDocument, Place, RelationDocument};
use crate::evidence::RelationProof;
use crate::{CompletionFlag, Error, ErrorKind, Spec, Workspace, as_iosts, solver, vacuity};

/// What is spent on formulas before more than a few states are unfolded.
const EARLY: VerifyBudget = VerifyBudget {
    steps: 25_000,
    time: Duration::from_secs(20),
    question: Duration::from_millis(500),
};

impl Workspace {
    /// Decides a relation between models of which at least one has data that do not unfold; `None` where
    /// both do.
    pub(super) fn relate_data(
        &self,
        implementation: &ModelRef,
        specification: &ModelRef,
        options: &RelationOptions,
    ) -> Result<Option<RelationDocument>, Error> {
        let sides = [implementation, specification];
        // What the other relations ask of sets of states is asked of the unfolded models only.
        let asked = decided_with_data(options.relation).is_some()
            && options.context != Context::Queues
            && options.counterexamples <= 1;
        if asked && self.is_beyond_few(sides)? {
            // Formulas have a turn before many states, perhaps infinitely many, are unfolded.
            let (i, s) = (self.spec(implementation)?, self.spec(specification)?);
            if let Ok(document) = self.relate_models(&i, &s, options, EARLY)
                && document.holds.is_some()
            {
                return self.related(document, (&i, &s), options).map(Some);
            }
        }
        let mut failure = None;
        for side in sides {
            if matches!(&*self.spec(side)?, Spec::Symbolic(_)) && failure.is_none() {
                failure = self.explicit(side).err();
            }
        }
        let Some(failure) = failure else {
            return Ok(None);
        };
        // Whatever else is wrong with a model is wrong for every relation.
        let is_wrong = failure.kind() == ErrorKind::Input && failure.unfolding().is_none();
        if is_wrong {
            return Err(failure);
        }
        if !asked {
            return Err(failure.hint(
                "infinite data are compared by ioco, uioco and ioconf, without queues and for one counterexample",
            ));
        }
        let (i, s) = (self.spec(implementation)?, self.spec(specification)?);
        let document = self.relate_models(&i, &s, options, VerifyBudget::default())?;
        self.related(document, (&i, &s), options).map(Some)
    }

    /// Whether a model with data among these has more than a few states.
    fn is_beyond_few(&self, sides: [&ModelRef; 2]) -> Result<bool, Error> {
        for side in sides {
            if matches!(&*self.spec(side)?, Spec::Symbolic(_)) && self.few_states(side)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The answer with its warnings and its certificate.
    fn related(
        &self,
        mut document: RelationDocument,
        (i, s): (&Spec, &Spec),
        options: &RelationOptions,
    ) -> Result<RelationDocument, Error> {
        if document.holds == Some(true) {
            let (own, other) = (as_iosts::of(i)?, as_iosts::of(s)?);
            let sides = ((&i.reference(), &*own), (&s.reference(), &*other));
            for warning in vacuity::of_data_relation(sides.0, sides.1) {
                self.warn(&format!("warning: {warning}"));
                document.warnings.push(warning);
            }
        }
        if let Some(found) = document.counterexample.clone()
            && options.certificate
        {
            let certificate = self.certify_difference(&document, &found)?;
            document.certificate = Some(Box::new(certificate));
        }
        Ok(document)
    }

    /// Decides ioco, uioco or ioconf between models as they are, whether or not their data unfold.
    pub(crate) fn relate_models(
        &self,
        implementation: &Spec,
        specification: &Spec,
        options: &RelationOptions,
        budget: VerifyBudget,
    ) -> Result<RelationDocument, Error> {
        let relation = decided_with_data(options.relation).ok_or_else(|| {
            Error::undecided(format!(
                "{} is not decided for infinite data",
                options.relation
            ))
        })?;
        let specs = [implementation, specification];
        let [i, s] = [as_iosts::of(specs[0])?, as_iosts::of(specs[1])?];
        let mut solver = solver(None)?;
        let wrong = |e: &ConformanceError| refused(e);
        let i = match options.semantics.complete_inputs {
            Some(CompletionFlag::SelfLoop) => {
                let completed = i.input_completed(&s, &mut solver);
                Arc::new(completed.map_err(|e| wrong(&e))?)
            }
            Some(CompletionFlag::Chaos) => {
                return Err(Error::input(
                    "--complete-inputs chaos needs the states of the implementation, and its data are \
                     infinite",
                )
                .hint("--complete-inputs self-loop does not"));
            }
            None => i,
        };
        let (mut enabled, mut takes) = (None, None);
        if options.semantics.complete_inputs.is_none() {
            let found = is_input_enabled(&i, &s, &mut solver, budget);
            let (watched, answer) = found.map_err(|e| wrong(&e))?;
            enabled = not_enabled(&watched, &answer, &implementation.reference())?;
            if let Answer::Proved(proof) = answer {
                takes = Some((watched, proof));
            }
        }
        let policy = options.semantics.policy();
        let found = conforms(&i, &s, relation, policy, &mut solver, budget);
        let found = found.map_err(|e| wrong(&e))?;
        let reference = |k: usize| specs[k].reference();
        let hash = |k: usize| reference(k).hash.unwrap_or_default();
        let depth = found.depth;
        let mut document = RelationDocument {
            relation: options.relation.name().to_owned(),
            implementation: reference(0).to_string(),
            implementation_hash: hash(0),
            specification: reference(1).to_string(),
            specification_hash: hash(1),
            traces: None,
            context: options.context,
            max_in_flight: None,
            semantics: options.semantics,
            reading: self.options().clone(),
            holds: None,
            unknown: None,
            counterexample: None,
            counterexamples: Vec::new(),
            warnings: Vec::new(),
            proof: None,
            effort: Effort::default().into(),
            certificate: None,
            evidence: None,
        };
        match (&found.answer, enabled) {
            (Answer::Proved(_), Some(unknown)) => document.unknown = Some(unknown),
            (Answer::Proved(proof), None) => {
                document.holds = Some(true);
                document.proof = Some(proof.how.clone());
                document.evidence = Some(Arc::new(RelationProof {
                    product: found.product.clone(),
                    proof: proof.clone(),
                    enabled: takes,
                    instance: found.instance.clone(),
                }));
                if !proof.faults.is_empty() {
                    document.warnings.push(format!(
                        "nothing is claimed of values with which a term has no value: that is not \
                         excluded for {} transitions",
                        proof.faults.len()
                    ));
                }
            }
            (Answer::Refuted(refutation), _) => {
                document.holds = Some(false);
                let told = (options.relation, policy);
                let (told, guess) = counterexample(&found.product, refutation, &i, &s, told)?;
                document.counterexample = Some(told);
                document.warnings.extend(guess.map(|input| {
                    format!(
                        "only some values of the specification's constants specify {input}; `iolite test` gives no \
                         `fail` after it"
                    )
                }));
            }
            (Answer::Unknown { left }, _) => document.unknown = Some(left.join("; ")),
        }
        if document.holds.is_none() {
            let depth = if depth == usize::MAX { 0 } else { depth };
            let effort = Effort {
                depth,
                ..Effort::default()
            };
            document.effort = effort.into();
        }
        for warning in &document.warnings {
            self.warn(&format!("warning: {warning}"));
        }
        Ok(document)
    }
}

/// The relation as it is decided for models whose data do not unfold.
pub(crate) fn decided_with_data(relation: Relation) -> Option<DataRelation> {
    match relation {
        Relation::Ioco => Some(DataRelation::Ioco),
        Relation::Uioco => Some(DataRelation::Uioco),
        Relation::Ioconf => Some(DataRelation::Ioconf),
        _ => None,
    }
}

fn refused(error: &ConformanceError) -> Error {
    match error {
        ConformanceError::Unknown(_)
        | ConformanceError::Determinise(_)
        | ConformanceError::Refusal(_) => Error::undecided(error.to_string())
            .hint("`iolite test SPEC --sut model:IMPL` looks for a difference on the fly"),
        ConformanceError::Compose(_) => Error::input(error.to_string()),
    }
}

/// An error where the implementation refuses an input; why it is not known whether it does, where it is
/// not.
pub(crate) fn not_enabled(
    watched: &Iosts,
    answer: &Answer,
    implementation: &ModelRef,
) -> Result<Option<String>, Error> {
    match answer {
        Answer::Proved(_) => Ok(None),
        Answer::Unknown { .. } => Ok(Some(
            "whether the implementation takes every input was not found out".to_owned(),
        )),
        Answer::Refuted(refutation) => {
            let mut trace = refutation.texts(watched);
            let input = trace.pop().unwrap_or_default();
            let after = match trace.as_slice() {
                [] => "at the start".to_owned(),
                trace => format!("after {}", trace.join(" ")),
            };
            Err(Error::input(format!(
                "the implementation is not input-enabled: it may refuse {input} {after}\n  \
                 implementation {implementation}"
            ))
            .hint(COMPLETE_INPUTS))
        }
    }
}

fn counterexample(
    product: &Iosts,
    refutation: &Refutation,
    implementation: &Iosts,
    specification: &Arc<Iosts>,
    told: (Relation, QuiescencePolicy),
) -> Result<(CounterexampleDocument, Option<String>), Error> {
    let mut trace = refutation.texts(product);
    let observed = trace.pop().unwrap_or_default();
    let states = refutation.run.replay(product).unwrap_or_default();
    let before = states.len().checked_sub(2).and_then(|k| states.get(k));
    let state = before.map(|s| own_state(product, s, implementation));
    let mut state = state.unwrap_or_default();
    let constants: Vec<String> = refutation
        .constants(product)
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !constants.is_empty() {
        state += &format!(" with {}", constants.join(", "));
    }
    let Allowed {
        out: allowed,
        places,
        guess,
    } = allowed(product, refutation, specification, told)?;
    let document = CounterexampleDocument {
        trace,
        observed: ObservedDocument::Action(observed),
        allowed: allowed.into_iter().map(ObservedDocument::Action).collect(),
        implementation_state: Place { state, line: None },
        specification_states: places
            .locations
            .into_iter()
            .map(|state| Place { state, line: None })
            .collect(),
    };
    Ok((document, guess))
}

/// What the specification allows after a trace.
struct Allowed {
    out: Vec<String>,
    places: Places,
    /// The first input of the trace that not all values of its constants specify.
    guess: Option<String>,
}

/// What the specification allows before the last step of a run, by the oracle that tests by it.
fn allowed(
    product: &Iosts,
    refutation: &Refutation,
    specification: &Arc<Iosts>,
    (relation, policy): (Relation, QuiescencePolicy),
) -> Result<Allowed, Error> {
    let wrong = |e: &dyn std::fmt::Display| Error::undecided(e.to_string());
    let semantics = Symbolic::new(Arc::clone(specification), &[], policy, Solver::embedded());
    let semantics = semantics.map_err(|e| wrong(&e))?;
    let alphabet = Alphabet::default();
    let oracle = SymbolicOracle::new(semantics, &alphabet, 0, Strategy::Small);
    let oracle = oracle.map_err(|e| wrong(&e))?;
    let mut oracle = oracle.for_relation(relation).of_the_union();
    let mut at = oracle.initial().map_err(|e| wrong(&e.reason))?;
    let mut guess = None;
    let last = refutation.trace.len().saturating_sub(1);
    for (k, action) in refutation.trace.iter().enumerate() {
        let gate = product.gate(action.action);
        let own = specification.find_gate(gate.kind, &gate.name);
        let step = match (gate.kind, own) {
            (LabelKind::Delta, _) => Step::Quiescence,
            (kind, Some(action_id)) => {
                let valued = ValuedAction {
                    action: action_id,
                    values: action.values.clone(),
                };
                let id = action_of(specification, &alphabet, &valued);
                match kind {
                    LabelKind::Input => {
                        let known = oracle.semantics().specifies(at.states(), &valued);
                        if guess.is_none() && known == Ok(Some(false)) {
                            guess = Some(alphabet.text(id).to_string());
                        }
                        Step::Stimulus(id)
                    }
                    _ => Step::Output(id),
                }
            }
            // The specification does not know the output.
            (LabelKind::Output, None) if k == last => break,
            (_, None) => return Err(wrong(&"the trace is not one of the specification")),
        };
        // The oracle walks sets of states of S and knows nothing of det(S^δ): what it does not confirm is no
        // counterexample.
        match oracle.after(&at, step).map_err(|e| wrong(&e.reason))? {
            Meaning::Allowed(next) if k < last => at = next,
            Meaning::Forbidden if k == last => {}
            _ => return Err(wrong(&"the counterexample was not confirmed by the oracle")),
        }
    }
    Ok(Allowed {
        out: oracle.out(&at),
        places: oracle.places(&at),
        guess,
    })
}

/// Where the implementation is, of a state of the product.
pub(crate) fn own_state(product: &Iosts, state: &State, implementation: &Iosts) -> String {
    let whole = &*product.location(state.location).name;
    let names = implementation.locations().map(|(_, l)| &*l.name);
    let is_own = |name: &&str| {
        let rest = whole.strip_prefix(*name);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let name = names.filter(is_own).max_by_key(|name| name.len());
    let name = name.unwrap_or(whole);
    // Its variables are the first of the product.
    let values = implementation.variables().iter().zip(state.values.iter());
    let values: Vec<String> = values
        .map(|(v, x)| format!("{} = {x}", v.var.name))
        .collect();
    match values.as_slice() {
        [] => name.to_owned(),
        values => format!("{name} ({})", values.join(", ")),
    }
}

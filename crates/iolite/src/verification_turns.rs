//! Models with data: states one by one and formulas take turns with growing budgets.
//!
//! Nobody knows beforehand whether data unfold to few states, to many or to infinitely many, nor whether an
//! invariant is near. So neither search is waited for until its last bound: each gets a small one first. The
//! bounds are counted, so the answer does not depend on the machine.

use std::time::{Duration, Instant};

use iolite_derive::ModelRef;
use iolite_sts::Iosts;
use iolite_sts::analysis::VerifyBudget;

use crate::workspace::pick_all;
use crate::{
    Error, ErrorKind, ExplicitSpec, Proof, ReadOptions, Spec, UnfoldingLimit, Verification,
    VerificationOptions, VerifiedProperty, Workspace,
};

/// One turn: the states that data may unfold to, and the steps of the proof search after that.
struct Turn {
    states: Option<usize>,
    steps: u64,
}

/// States that are unfolded before anything else has its turn.
pub const FEW_STATES: usize = 10_000;

/// The last turn has the bounds that the options give.
const TURNS: [Turn; 3] = [
    Turn {
        states: Some(FEW_STATES),
        steps: 25_000,
    },
    Turn {
        states: Some(100_000),
        steps: 100_000,
    },
    Turn {
        states: None,
        steps: 400_000,
    },
];

/// How proofs are searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProofSearch {
    /// Steps of all members of the portfolio together.
    pub(crate) steps: u64,
    /// Whether Spacer is asked, where it is there.
    pub(crate) asks_spacer: bool,
}

impl Default for ProofSearch {
    fn default() -> Self {
        Self {
            steps: VerifyBudget::default().steps,
            asks_spacer: true,
        }
    }
}

/// What unfolding came to.
enum Unfolded {
    Whole(ExplicitSpec),
    /// There are more states than were allowed.
    Beyond(Error),
    /// A larger bound changes nothing.
    Never(Error),
}

impl Workspace {
    /// Properties that one reference means, of a model with data or without.
    pub(crate) fn verify_property_by_turns(
        &self,
        model: &ModelRef,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let spec = self.spec(model)?;
        let Spec::Symbolic(symbolic) = &*spec else {
            return self.verify_properties_of(&self.explicit(model)?, options);
        };
        if options.unfold {
            return self.verify_properties_of(&self.explicit(model)?, options);
        }
        let mut all = Verification {
            system: spec.reference(),
            pairs: 0,
            properties: Vec::new(),
        };
        for reference in self.one_by_one(options)? {
            let one = with_property(options, reference);
            let found = self.take_turns(symbolic.model(), &spec, &one, true, |explicit| {
                self.verify_properties_of(explicit, &one)
            })?;
            all.pairs += found.pairs;
            all.properties.extend(found.properties);
        }
        Ok(all)
    }

    /// Observers without data of a model with data.
    pub(crate) fn verify_observers_by_turns(
        &self,
        model: &Iosts,
        spec: &Spec,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let mut all = Verification {
            system: spec.reference(),
            pairs: 0,
            properties: Vec::new(),
        };
        for reference in &options.properties {
            let one = with_property(options, reference.clone());
            // Formulas first: their portfolio looks at states too, and its proofs are invariants.
            let found = self.take_turns(model, spec, &one, false, |explicit| {
                self.verify_explicit(explicit, &one)
            })?;
            all.pairs += found.pairs;
            all.properties.extend(found.properties);
        }
        Ok(all)
    }

    fn take_turns(
        &self,
        model: &Iosts,
        spec: &Spec,
        options: &VerificationOptions,
        states_first: bool,
        explicit: impl Fn(&ExplicitSpec) -> Result<Verification, Error>,
    ) -> Result<Verification, Error> {
        let time = options.time.unwrap_or(VerifyBudget::default().time);
        let until = Instant::now().checked_add(time);
        let mut best: Option<Verification> = None;
        // Why formulas cannot say anything, and why states cannot.
        let (mut formulas_refused, mut states_refused) = (None, None);
        let mut grows = true;
        for (k, turn) in TURNS.iter().enumerate() {
            if grows && (k > 0 || states_first) {
                match self.unfolded(&spec.reference(), turn.states)? {
                    Unfolded::Whole(whole) => match explicit(&whole) {
                        Ok(found) => return Ok(merged(best, found)),
                        Err(error) if error.kind() == ErrorKind::Undecided => {
                            states_refused = Some(error);
                            grows = false;
                        }
                        Err(error) => return Err(error),
                    },
                    Unfolded::Beyond(error) => states_refused = Some(error),
                    Unfolded::Never(error) => {
                        states_refused = Some(error);
                        grows = false;
                    }
                }
            }
            let left = until.map_or(time, |at| at.saturating_duration_since(Instant::now()));
            let over = left == Duration::ZERO;
            if formulas_refused.is_none() && !over {
                let last = !grows || k + 1 == TURNS.len();
                let search = ProofSearch {
                    steps: if last {
                        ProofSearch::default().steps
                    } else {
                        turn.steps
                    },
                    asks_spacer: k == 0,
                };
                let asked = VerificationOptions {
                    time: Some(left),
                    ..options.clone()
                };
                match self.verify_symbolic(model, spec, &asked, search) {
                    Ok(found) => best = Some(merged(best, found)),
                    // Where states were asked first, they may still say what formulas cannot.
                    Err(error)
                        if error.kind() == ErrorKind::Undecided
                            || states_first && error.kind() == ErrorKind::Input =>
                    {
                        formulas_refused = Some(error);
                    }
                    Err(error) => return Err(error),
                }
            }
            let decided = |v: &Verification| !v.properties.iter().any(is_open);
            if best.as_ref().is_some_and(decided) || !grows {
                break;
            }
        }
        if let Some(found) = best {
            return Ok(found);
        }
        if let Some(wrong) = formulas_refused.take_if(|e| e.kind() == ErrorKind::Input) {
            return Err(wrong);
        }
        let left = formulas_refused.iter().chain(&states_refused);
        // Of what was shown in a file, the first line says what it is.
        let line = |e: &Error| e.message().lines().next().unwrap_or_default().to_owned();
        let left = left.map(line).collect();
        let reference = &options.properties[0];
        let name = reference.name.clone();
        Ok(Verification {
            system: spec.reference(),
            pairs: 0,
            properties: vec![VerifiedProperty::unknown(
                name.unwrap_or_else(|| reference.to_string()),
                left,
            )],
        })
    }

    /// The explicit system, if it has no more than so many states.
    fn unfolded(&self, model: &ModelRef, states: Option<usize>) -> Result<Unfolded, Error> {
        let allowed = self.options().max_states;
        let few = states.filter(|few| allowed.is_none_or(|most| *few < most));
        let found = match few {
            Some(few) => self
                .read_as(ReadOptions {
                    max_states: Some(few),
                    ..self.options().clone()
                })
                .explicit(model),
            None => self.explicit(model),
        };
        match found {
            Ok(whole) => Ok(Unfolded::Whole(whole)),
            Err(error) if error.unfolding() == Some(UnfoldingLimit::InfiniteData) => {
                Ok(Unfolded::Never(error))
            }
            Err(error) if error.kind() == ErrorKind::Undecided => Ok(if few.is_some() {
                Unfolded::Beyond(error)
            } else {
                Unfolded::Never(error)
            }),
            // A mistake in a model is found where it is read; unfolding may meet a term without a value,
            // of which formulas speak too.
            Err(error) if error.kind() == ErrorKind::Input => Ok(Unfolded::Never(error)),
            Err(error) => Err(error),
        }
    }

    /// The explicit system of a model, if it has few states.
    pub(crate) fn few_states(&self, model: &ModelRef) -> Result<Option<ExplicitSpec>, Error> {
        Ok(match self.unfolded(model, TURNS[0].states)? {
            Unfolded::Whole(whole) => Some(whole),
            Unfolded::Beyond(_) | Unfolded::Never(_) => None,
        })
    }

    /// The explicit system of a model with data, unless what keeps its data should have its turn first: where the
    /// data are infinite, and where a sort is infinite and there are more states than `few` or than the options
    /// name. Nobody waits so until a million states of a counter are there.
    pub fn states_soon(
        &self,
        model: &ModelRef,
        few: usize,
    ) -> Result<Result<ExplicitSpec, Error>, Error> {
        let is_infinite = match &*self.spec(model)? {
            Spec::Symbolic(symbolic) => has_infinite_sorts(symbolic.model()),
            Spec::Explicit(_) | Spec::Properties(_) => false,
        };
        let given = self.options().max_states.is_some();
        let few = (is_infinite && !given).then_some(few.max(FEW_STATES));
        Ok(match self.unfolded(model, few)? {
            Unfolded::Whole(whole) => Ok(whole),
            Unfolded::Beyond(error) | Unfolded::Never(error) => Err(error),
        })
    }

    /// The properties of a reference, so that each is answered by whatever decides it.
    fn one_by_one(&self, options: &VerificationOptions) -> Result<Vec<ModelRef>, Error> {
        let mut all = Vec::new();
        for reference in &options.properties {
            if !reference.is_iol() || reference.name.is_some() {
                all.push(reference.clone());
                continue;
            }
            let source = self.source(reference.path())?;
            let names = pick_all(reference, "property", &source.declared("property")?)?;
            all.extend(names.iter().map(|n| reference.clone().with_name(*n)));
        }
        Ok(all)
    }

    fn verify_properties_of(
        &self,
        spec: &ExplicitSpec,
        options: &VerificationOptions,
    ) -> Result<Verification, Error> {
        let mut all = Verification {
            system: spec.reference().clone(),
            pairs: 0,
            properties: Vec::new(),
        };
        for reference in &options.properties {
            let (properties, pairs) = self.verify_properties(reference, spec, options)?;
            all.pairs += pairs;
            all.properties.extend(properties);
        }
        Ok(all)
    }
}

/// Whether a variable, a constant or a parameter is of a sort without end.
fn has_infinite_sorts(model: &Iosts) -> bool {
    let variables = model.variables().iter().map(|v| &v.var);
    let constants = model.constants().iter().map(|c| &c.var);
    let params = model.gates().flat_map(|(_, gate)| &gate.params);
    let mut all = variables.chain(constants).chain(params);
    all.any(|var| var.sort.cardinality().is_none())
}

fn with_property(options: &VerificationOptions, reference: ModelRef) -> VerificationOptions {
    VerificationOptions {
        properties: vec![reference],
        ..options.clone()
    }
}

fn is_open(property: &VerifiedProperty) -> bool {
    matches!(property.proof, Proof::Unknown { .. })
}

/// What an earlier turn decided stays, whatever a later one says.
fn merged(before: Option<Verification>, mut found: Verification) -> Verification {
    let Some(before) = before else {
        return found;
    };
    found.pairs += before.pairs;
    for (property, known) in found.properties.iter_mut().zip(before.properties) {
        if !is_open(&known) {
            *property = known;
        }
    }
    found
}

//! M ⊨ Π for any r-property and a finite system M: the product with the Streett automaton, searched
//! for bad prefixes, silence after a rejected sequence, and fair cycles that break a pair.
//!
//! Exec(M) is what verdicts on real systems speak of (`docs/properties.md`): infinite executions, and
//! finite ones after which the system stays silent for ever. The sequence of an execution is made of
//! those of its actions that the property knows.

mod fair_cycle;
mod product;
mod recheck;
#[cfg(test)]
mod tests;

use iolite_lts::{LabelId, LabelKind, Labels, Quiescence, QuiescencePolicy, Semantics, StateId};
use iolite_property::canonical_tester::DEADLOCK;
use iolite_property::determinacy::{Determinacy, Reading};
use iolite_property::{Alphabet, AutomatonError, EventReading, Letter, StreettAutomaton};
use serde::{Deserialize, Serialize};

use product::Product;
pub use recheck::recheck_violation;

/// Which infinite executions count. Outputs and internal actions are the system's to take; inputs are
/// never owed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// All of them.
    #[default]
    None,
    /// Those in which an output or internal action that is enabled from some point on is taken again
    /// and again.
    Weak,
    /// Those in which an output or internal action that is enabled again and again is taken again and
    /// again.
    Strong,
}

/// Whether the environment may leave a system that waits for an input waiting for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Environment {
    /// It may: an execution can end wherever only inputs are possible.
    #[default]
    MayStop,
    /// It gives another input whenever the system waits for one.
    GoesOn,
}

/// What executions are asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    /// Which infinite ones count.
    pub fairness: Fairness,
    /// Whether the environment may stop.
    pub environment: Environment,
    /// Whether the system may stay in a cycle of internal actions for ever.
    pub quiescence: QuiescencePolicy,
}

/// How an execution goes on for ever after its stem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The stem determines the property negatively: whatever follows, it is violated.
    BadPrefix,
    /// Only inputs are possible, and none comes.
    OutputLock,
    /// Nothing is possible.
    Deadlock,
    /// These steps, again and again; the last leads back to where the first began. Where none of them
    /// is known to the property, its sequence is finite.
    Cycle(Vec<(LabelId, StateId)>),
}

/// An execution of the system that the property rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Its first state.
    pub initial: StateId,
    /// The steps up to its ending, internal ones included.
    pub stem: Vec<(LabelId, StateId)>,
    /// What comes then.
    pub ending: Ending,
}

impl Execution {
    /// The state after the stem.
    pub fn turning_point(&self) -> StateId {
        self.stem.last().map_or(self.initial, |&(_, s)| s)
    }
}

/// Whether Exec(M) ⊆ Π.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertySatisfaction {
    /// Every execution is one of the property.
    Holds,
    /// This one is not.
    Violated(Execution),
    /// None is rejected, but the property leaves it open whether this one, which is finite, is right.
    Open(Execution),
    /// None is rejected of those that were followed, but the property cannot say which letter this one's
    /// last step is; and why.
    Undefined(Execution, String),
    /// The limit was hit first.
    Unknown,
}

/// Which letter each label of a system is: itself, its action with whatever values, or the cell of its values
/// where the property has guards. The deadlock letter is no label of a system.
#[derive(Clone, Debug)]
pub struct LetterMap {
    of_label: Vec<EventReading>,
    delta: Option<Letter>,
    deadlock: Option<Letter>,
}

impl LetterMap {
    /// Over these labels of a system.
    pub fn new(sigma: &Alphabet, labels: &Labels) -> Self {
        let of_label = labels.iter().map(|(_, label)| match label.kind {
            LabelKind::Internal | LabelKind::Delta => EventReading::Unseen,
            kind => sigma.read(kind, &label.name),
        });
        Self {
            of_label: of_label.collect(),
            delta: sigma.letter(LabelId::DELTA),
            deadlock: sigma.letter_of_text(DEADLOCK),
        }
    }

    /// The letter of a step; none where the property does not see it.
    pub fn letter(&self, label: LabelId) -> Option<Letter> {
        if label == LabelId::DELTA {
            return self.delta;
        }
        self.of_label.get(label.index())?.letter()
    }

    /// Why the property cannot say which letter a step is, where that is so.
    pub fn undefined(&self, label: LabelId) -> Option<&str> {
        match self.of_label.get(label.index())? {
            EventReading::Undefined(why) => Some(why),
            EventReading::Letter(_) | EventReading::Unseen => None,
        }
    }

    /// The letter of silence of a kind: `δ_d` for a deadlock where the property tells it apart.
    pub fn silence(&self, kind: Quiescence) -> Option<Letter> {
        match kind {
            Quiescence::Deadlock => self.deadlock.or(self.delta),
            Quiescence::OutputLock | Quiescence::Livelock => self.delta,
        }
    }
}

/// Decides Exec(M) ⊆ Π, by a search of at most `limit` states of the product.
pub fn satisfies<M: Semantics<State = StateId>>(
    model: &M,
    property: &StreettAutomaton,
    letters: &LetterMap,
    executions: Executions,
    limit: usize,
) -> Result<(PropertySatisfaction, usize), AutomatonError> {
    let determined = Determinacy::new(property, Reading::FiniteAndInfinite)?;
    let product = match Product::explore(model, property, letters, executions, &determined, limit) {
        Err(met) => return Ok((PropertySatisfaction::Unknown, met)),
        Ok(product) => product,
    };
    let answer = if let Some(node) = product.bad {
        PropertySatisfaction::Violated(product.execution(node, Ending::BadPrefix))
    } else if let Some((node, ending)) = product.silent_violation(property) {
        PropertySatisfaction::Violated(product.execution(node, ending))
    } else if let Some((node, cycle)) = fair_cycle::rejected(&product, property, executions) {
        PropertySatisfaction::Violated(product.execution(node, Ending::Cycle(cycle)))
    } else if let Some((node, label)) = product.undefined {
        let mut execution = product.execution(node, Ending::BadPrefix);
        let why = letters.undefined(label).unwrap_or_default().to_owned();
        execution.stem.push((label, execution.turning_point()));
        PropertySatisfaction::Undefined(execution, why)
    } else if let Some((node, ending)) = product.silent_open(property) {
        PropertySatisfaction::Open(product.execution(node, ending))
    } else if let Some((node, cycle)) = fair_cycle::open(&product, property, executions) {
        PropertySatisfaction::Open(product.execution(node, Ending::Cycle(cycle)))
    } else {
        PropertySatisfaction::Holds
    };
    Ok((answer, product.len()))
}

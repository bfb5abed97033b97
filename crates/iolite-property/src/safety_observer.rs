//! Safety properties, in whatever view they were written, as observers for safety testing.

use std::sync::Arc;

use thiserror::Error;

use crate::class::Class;
use crate::normalise::Normalised;
use crate::observer::{Observer, ObserverError, ObserverRules};
use crate::star_automaton::{AutomatonSource, Edge, On, Place};
use crate::streett::StreettAutomaton;
use crate::structure::{AutomatonError, StateId};

/// Why a property is no observer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SafetyObserverError {
    /// Only violations of safety properties show on finite traces.
    #[error("the property is {0}, not safety")]
    NotSafety(Class),
    /// The automaton breaks the rules of observers, for instance when an input violates it.
    #[error("the property breaks {} rules of observers, the first: {}", .0.len(), first(.0))]
    Observer(Vec<ObserverError>),
    /// The automaton could not be analysed.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
}

fn first(errors: &[ObserverError]) -> String {
    errors.first().map(ToString::to_string).unwrap_or_default()
}

/// The observer that enters its violating state as soon as no infinite continuation satisfies the
/// property. Actions outside the property's alphabet change nothing.
pub fn safety_observer(
    name: &str,
    property: &StreettAutomaton,
    rules: ObserverRules,
) -> Result<Observer, SafetyObserverError> {
    let normal = Normalised::new(property)?;
    if !normal.class.class.is_within(Class::Safety) {
        return Err(SafetyObserverError::NotSafety(normal.class.class));
    }
    let automaton = &normal.automaton;
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let violate: Vec<StateId> = automaton.finite().complement().iter().collect();
    let mut edges = Vec::new();
    for source in automaton.finite().iter() {
        let edge = |on, target| Edge {
            source,
            on,
            target,
            line: 0,
        };
        edges.extend(
            sigma
                .iter()
                .map(|l| edge(On::Label(sigma.label(l)), s.step(source, l))),
        );
        edges.push(edge(On::Any, source));
    }
    let source = AutomatonSource {
        name: name.to_owned(),
        labels: Arc::new(sigma.labels().clone()),
        states: s
            .states()
            .map(|q| Place::new(automaton.name(q), 0))
            .collect(),
        initial: s.initial(),
        edges,
    };
    Observer::new(source, &violate, rules).map_err(SafetyObserverError::Observer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::Alphabet;
    use crate::ltl::{Ltl, Options};

    fn property(formula: &str) -> StreettAutomaton {
        let sigma = Arc::new(Alphabet::of_names(["?req", "!ok", "!nok"]).unwrap());
        let f = Ltl::parse(formula, &sigma).unwrap();
        f.translate(&sigma, Options::default()).unwrap().automaton
    }

    #[test]
    fn a_formula_that_outputs_violate() {
        let a = property("G(!nok -> X(! !nok W ?req))");
        let observer = safety_observer("o", &a, ObserverRules::Definition5).unwrap();
        let run = |word: &[&str]| {
            word.iter().try_fold(observer.initial(), |q, l| {
                observer.step(q, observer.labels().get_text(l).unwrap())
            })
        };
        assert!(observer.is_violate(run(&["!nok", "!ok", "!nok"]).unwrap()));
        assert!(!observer.is_violate(run(&["!nok", "delta", "?req", "!nok"]).unwrap()));
    }

    #[test]
    fn what_is_no_observer() {
        let rules = ObserverRules::Definition5;
        let response = safety_observer("o", &property("G(?req -> F !ok)"), rules);
        assert_eq!(
            response.unwrap_err(),
            SafetyObserverError::NotSafety(Class::Response)
        );
        let by_input = property("G(!nok -> X(! ?req))");
        assert!(matches!(
            safety_observer("o", &by_input, rules),
            Err(SafetyObserverError::Observer(_))
        ));
        assert!(safety_observer("o", &by_input, ObserverRules::Acceptor).is_ok());
    }
}

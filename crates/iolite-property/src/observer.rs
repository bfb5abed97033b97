//! Observers: safety properties as automata that enter a violating state.

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels, StateId};

use crate::star_automaton::{AutomatonSource, On, Place, StarAutomaton, StarError};

/// Which of the conditions of [SAFE04, def. 5] an observer must meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObserverRules {
    /// All of them.
    #[default]
    Definition5,
    /// Those of any deterministic acceptor: a violating state may be entered by an input or have
    /// steps (which are dropped: the traces of a system are closed under prefixes, so the first
    /// violation decides), and there may be none at all. Foreign acceptors come this way.
    Acceptor,
}

/// A breach of definition 5, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObserverError {
    /// Not a deterministic automaton over visible actions.
    #[error(transparent)]
    Automaton(#[from] StarError),
    /// No violating state, so nothing could be violated.
    #[error("observer {0} has no violate state")]
    NoViolate(String),
    /// The empty trace would violate the property.
    #[error("{0} is initial and cannot be a violate state")]
    InitialViolates(Place),
    /// Γ⁻¹(Violate) ⊆ A_! is broken: only an output, or δ, can be the system's fault.
    #[error("{place}: {label} is no output and cannot enter violate state {target}")]
    EnteredByInput {
        /// Source of the transition, with the transition's line.
        place: Place,
        /// The action.
        label: String,
        /// The violating state.
        target: String,
    },
    /// Γ(Violate) = ∅ is broken.
    #[error("{place} is a violate state and cannot have a transition on {label}")]
    ViolateLeft {
        /// The violating state, with the transition's line.
        place: Place,
        /// The action, or `*`.
        label: String,
    },
}

/// ω: the negation of a safety property [SAFE04, def. 5]. L(ω) are the traces that enter a
/// violating state.
///
/// The definition wants one violating state; several are allowed here, because merging them changes
/// nothing of the language.
#[derive(Clone, Debug)]
pub struct Observer {
    automaton: StarAutomaton,
    violate: Vec<bool>,
    /// Steps to the nearest violation, by state.
    distance: Vec<Option<u32>>,
}

impl Observer {
    /// The observer with these violating states; every breach of the rules is reported.
    pub fn new(
        mut source: AutomatonSource,
        violate: &[StateId],
        rules: ObserverRules,
    ) -> Result<Self, Vec<ObserverError>> {
        let mut errors = Vec::new();
        let count = source.states.len();
        let mut violates = vec![false; count];
        for &state in violate {
            match violates.get_mut(state.index()) {
                Some(flag) => *flag = true,
                None => errors.push(StarError::UnknownState(state.index()).into()),
            }
        }
        let is_violate = |s: StateId| violates.get(s.index()).copied().unwrap_or(false);
        match rules {
            ObserverRules::Definition5 => {
                check_definition_5(&source, &is_violate, &mut errors);
            }
            ObserverRules::Acceptor => source.edges.retain(|e| !is_violate(e.source)),
        }
        let automaton = match StarAutomaton::new(source) {
            Ok(automaton) if errors.is_empty() => automaton,
            Ok(_) => return Err(errors),
            Err(found) => {
                errors.extend(found.into_iter().map(ObserverError::from));
                return Err(errors);
            }
        };
        Ok(Self::of(automaton, violates))
    }

    fn of(automaton: StarAutomaton, violate: Vec<bool>) -> Self {
        let goals: Vec<StateId> = automaton.states().filter(|s| violate[s.index()]).collect();
        let distance = automaton.distances(&goals);
        Self {
            automaton,
            violate,
            distance,
        }
    }

    /// Whether a violating state can be reached at all, whatever happens. Where it cannot, nothing violates
    /// the property, and a proof of it says nothing.
    pub fn can_be_violated(&self) -> bool {
        self.distance[self.automaton.initial().index()].is_some()
    }

    /// The automaton underneath.
    pub fn automaton(&self) -> &StarAutomaton {
        &self.automaton
    }

    /// Name of the observer.
    pub fn name(&self) -> &str {
        self.automaton.name()
    }

    /// A^ω: the alphabet, that of the system watched.
    pub fn labels(&self) -> &Arc<Labels> {
        self.automaton.labels()
    }

    /// The initial state.
    pub fn initial(&self) -> StateId {
        self.automaton.initial()
    }

    /// The step under a visible label; `None` means that nothing after it is a violation.
    pub fn step(&self, state: StateId, label: LabelId) -> Option<StateId> {
        self.automaton.step(state, label)
    }

    /// Whether a state is Violate.
    pub fn is_violate(&self, state: StateId) -> bool {
        self.violate[state.index()]
    }

    /// How many steps a violation is away, as far as the observer alone knows; `None` when it is out
    /// of reach.
    pub fn distance(&self, state: StateId) -> Option<u32> {
        self.distance[state.index()]
    }

    /// The same observer for another system.
    #[must_use]
    pub fn over(&self, labels: &Arc<Labels>) -> Self {
        Self::of(self.automaton.over(labels), self.violate.clone())
    }
}

fn check_definition_5(
    source: &AutomatonSource,
    is_violate: &impl Fn(StateId) -> bool,
    errors: &mut Vec<ObserverError>,
) {
    let place = |s: StateId, line: u32| {
        source.states.get(s.index()).map(|at| {
            let line = if line > 0 { line } else { at.line };
            Place::new(&*at.name, line)
        })
    };
    if !source.states.is_empty() && !(0..source.states.len()).any(|s| is_violate(StateId::new(s))) {
        errors.push(ObserverError::NoViolate(source.name.clone()));
    }
    if is_violate(source.initial)
        && let Some(at) = place(source.initial, 0)
    {
        errors.push(ObserverError::InitialViolates(at));
    }
    let text = |label: LabelId| {
        (label.index() < source.labels.len()).then(|| source.labels.label(label).clone())
    };
    for edge in &source.edges {
        let Some(at) = place(edge.source, edge.line) else {
            continue;
        };
        if is_violate(edge.source) {
            let label = match edge.on {
                On::Any => "*".to_owned(),
                On::Label(label) => text(label).map_or_else(String::new, |l| l.to_string()),
            };
            errors.push(ObserverError::ViolateLeft { place: at, label });
            continue;
        }
        if !is_violate(edge.target) {
            continue;
        }
        let target = source.states[edge.target.index()].name.clone();
        let breach = match edge.on {
            On::Label(label) => text(label).filter(|l| {
                !matches!(
                    l.kind,
                    LabelKind::Output | LabelKind::Delta | LabelKind::Internal
                )
            }),
            On::Any => {
                let taken: Vec<LabelId> = source
                    .edges
                    .iter()
                    .filter(|e| e.source == edge.source)
                    .filter_map(|e| match e.on {
                        On::Label(label) => Some(label),
                        On::Any => None,
                    })
                    .collect();
                source
                    .labels
                    .iter()
                    .find(|(id, l)| {
                        matches!(l.kind, LabelKind::Input | LabelKind::Undirected)
                            && !taken.contains(id)
                    })
                    .map(|(_, l)| l.clone())
            }
        };
        if let Some(label) = breach {
            errors.push(ObserverError::EnteredByInput {
                place: at,
                label: label.to_string(),
                target,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::star_automaton::Edge;

    fn labels() -> Arc<Labels> {
        let mut labels = Labels::new();
        for text in ["?a", "!b", "!c"] {
            labels.intern_text(text);
        }
        Arc::new(labels)
    }

    /// States `Idle` and `Busy` at lines 1 and 2, `Bad` at line 3.
    fn source(edges: &[(usize, &str, usize)]) -> AutomatonSource {
        let labels = labels();
        let edges = edges
            .iter()
            .zip(10..)
            .map(|(&(s, on, t), line)| Edge {
                source: StateId::new(s),
                on: match on {
                    "*" => On::Any,
                    text => On::Label(labels.get_text(text).unwrap()),
                },
                target: StateId::new(t),
                line,
            })
            .collect();
        AutomatonSource {
            name: "W".to_owned(),
            labels,
            states: ["Idle", "Busy", "Bad"]
                .iter()
                .zip(1..)
                .map(|(name, line)| Place::new(*name, line))
                .collect(),
            initial: StateId::new(0),
            edges,
        }
    }

    /// ω of [SAFE04, fig. 2], rebuilt from example 2.
    const EXAMPLE_2: [(usize, &str, usize); 5] = [
        (0, "?a", 1),
        (0, "*", 0),
        (1, "!b", 0),
        (1, "!c", 2),
        (1, "*", 1),
    ];

    #[test]
    fn star_takes_the_rest() {
        let source = source(&EXAMPLE_2);
        let labels = Arc::clone(&source.labels);
        let w = Observer::new(source, &[StateId::new(2)], ObserverRules::default()).unwrap();
        let l = |t| labels.get_text(t).unwrap();
        let [idle, busy, bad] = [0, 1, 2].map(StateId::new);
        assert_eq!(w.step(idle, l("?a")), Some(busy));
        assert_eq!(w.step(idle, l("!c")), Some(idle));
        assert_eq!(w.step(idle, LabelId::DELTA), Some(idle));
        assert_eq!(w.step(busy, l("?a")), Some(busy));
        assert_eq!(w.step(busy, l("!c")), Some(bad));
        assert_eq!(w.step(bad, l("!c")), None);
        assert_eq!(
            [idle, busy, bad].map(|q| w.distance(q)),
            [2, 1, 0].map(Some)
        );
    }

    #[test]
    fn an_alphabet_that_grows_falls_under_star() {
        let w = Observer::new(
            source(&EXAMPLE_2),
            &[StateId::new(2)],
            ObserverRules::default(),
        )
        .unwrap();
        let mut other = Labels::new();
        for text in ["!z", "!c"] {
            other.intern_text(text);
        }
        let other = Arc::new(other);
        let w = w.over(&other);
        let l = |t| other.get_text(t).unwrap();
        assert_eq!(w.step(StateId::new(1), l("!z")), Some(StateId::new(1)));
        assert_eq!(w.step(StateId::new(1), l("!c")), Some(StateId::new(2)));
        // Without ?a the observer cannot leave Idle.
        assert_eq!(w.distance(StateId::new(0)), None);
    }

    #[test]
    fn each_breach_of_definition_5_has_its_place() {
        let check = |edges: &[(usize, &str, usize)], violate: &[usize]| -> Vec<String> {
            let violate: Vec<_> = violate.iter().map(|&s| StateId::new(s)).collect();
            Observer::new(source(edges), &violate, ObserverRules::default())
                .unwrap_err()
                .iter()
                .map(ToString::to_string)
                .collect()
        };
        assert_eq!(
            check(&[(0, "!b", 2), (0, "!b", 1)], &[2]),
            ["state Idle (line 11): two transitions on !b lead to different states"]
        );
        assert_eq!(
            check(&[(0, "i", 2)], &[2]),
            ["state Idle (line 10): internal action i cannot be observed"]
        );
        assert_eq!(check(&[], &[]), ["observer W has no violate state"]);
        assert_eq!(
            check(&[], &[0]),
            ["state Idle (line 1) is initial and cannot be a violate state"]
        );
        assert_eq!(
            check(&[(0, "?a", 2)], &[2]),
            ["state Idle (line 10): ?a is no output and cannot enter violate state Bad"]
        );
        assert_eq!(
            check(&[(0, "!b", 0), (0, "*", 2)], &[2]),
            ["state Idle (line 11): ?a is no output and cannot enter violate state Bad"]
        );
        assert_eq!(
            check(&[(2, "*", 2)], &[2]),
            ["state Bad (line 10) is a violate state and cannot have a transition on *"]
        );
        assert_eq!(
            check(&[(0, "!b", 7)], &[2]),
            ["state number 7 does not exist"]
        );
        assert_eq!(check(&[], &[2, 9]), ["state number 9 does not exist"]);
    }

    #[test]
    fn a_foreign_acceptor_is_cut_at_its_first_violation() {
        let edges = [(0, "?a", 2), (2, "!b", 0), (2, "*", 2)];
        let w = Observer::new(source(&edges), &[StateId::new(2)], ObserverRules::Acceptor).unwrap();
        assert_eq!(w.automaton().steps(StateId::new(2)).count(), 0);
        assert!(Observer::new(source(&edges), &[], ObserverRules::Acceptor).is_ok());
    }
}

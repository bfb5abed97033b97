//! Test purposes: scenarios to be reached, with `accept` and `refuse` states.

use std::sync::Arc;

use iolite_lts::{LabelId, Labels, StateId};

use crate::star_automaton::{AutomatonSource, Place, StarAutomaton, StarError};

/// Why something is no test purpose, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PurposeError {
    /// Not a deterministic automaton over visible actions.
    #[error(transparent)]
    Automaton(#[from] StarError),
    /// Nothing to reach.
    #[error("purpose {0} has no accept state")]
    NoAccept(String),
    /// A state cannot be both.
    #[error("{0} is both an accept and a refuse state")]
    AcceptAndRefuse(Place),
    /// The test would be over before it starts.
    #[error("{0} is initial and cannot be an accept or refuse state")]
    InitialDecided(Place),
}

/// A test purpose in the sense of TGV: a deterministic automaton over visible actions, whose `accept`
/// states end the test with `pass` and whose `refuse` states are not to be entered.
///
/// It is complete: an action that a state neither names nor takes by `*` leaves it where it is, as
/// in TGV. Steps out of accept and refuse states mean nothing and are not looked at.
#[derive(Clone, Debug)]
pub struct Purpose {
    automaton: StarAutomaton,
    accept: Vec<bool>,
    refuse: Vec<bool>,
    /// Steps to the nearest accept state, by state, not through refuse states.
    distance: Vec<Option<u32>>,
}

impl Purpose {
    /// The purpose with these accept and refuse states; every fault is reported.
    pub fn new(
        mut source: AutomatonSource,
        accept: &[StateId],
        refuse: &[StateId],
    ) -> Result<Self, Vec<PurposeError>> {
        let mut errors: Vec<PurposeError> = Vec::new();
        let count = source.states.len();
        let mut flags = |states: &[StateId]| {
            let mut set = vec![false; count];
            for &state in states {
                match set.get_mut(state.index()) {
                    Some(flag) => *flag = true,
                    None => errors.push(StarError::UnknownState(state.index()).into()),
                }
            }
            set
        };
        let (accept, refuse) = (flags(accept), flags(refuse));
        if !accept.contains(&true) && count > 0 {
            errors.push(PurposeError::NoAccept(source.name.clone()));
        }
        for (i, place) in source.states.iter().enumerate() {
            if accept[i] && refuse[i] {
                errors.push(PurposeError::AcceptAndRefuse(place.clone()));
            } else if i == source.initial.index() && (accept[i] || refuse[i]) {
                errors.push(PurposeError::InitialDecided(place.clone()));
            }
        }
        let decided = |s: StateId| {
            let at = |set: &[bool]| set.get(s.index()).copied().unwrap_or(false);
            at(&accept) || at(&refuse)
        };
        source.edges.retain(|e| !decided(e.source));
        match StarAutomaton::new(source) {
            Ok(automaton) if errors.is_empty() => Ok(Self::of(automaton, accept, refuse)),
            Ok(_) => Err(errors),
            Err(found) => {
                errors.extend(found.into_iter().map(PurposeError::from));
                Err(errors)
            }
        }
    }

    fn of(automaton: StarAutomaton, accept: Vec<bool>, refuse: Vec<bool>) -> Self {
        let goals: Vec<StateId> = automaton.states().filter(|s| accept[s.index()]).collect();
        let distance = automaton.distances(&goals);
        Self {
            automaton,
            accept,
            refuse,
            distance,
        }
    }

    /// The automaton underneath, as written.
    pub fn automaton(&self) -> &StarAutomaton {
        &self.automaton
    }

    /// Name of the purpose.
    pub fn name(&self) -> &str {
        self.automaton.name()
    }

    /// The alphabet, that of the system under test.
    pub fn labels(&self) -> &Arc<Labels> {
        self.automaton.labels()
    }

    /// The initial state.
    pub fn initial(&self) -> StateId {
        self.automaton.initial()
    }

    /// The step under a visible label.
    pub fn step(&self, state: StateId, label: LabelId) -> StateId {
        self.automaton.step(state, label).unwrap_or(state)
    }

    /// Whether the scenario is reached.
    pub fn is_accept(&self, state: StateId) -> bool {
        self.accept[state.index()]
    }

    /// Whether the scenario is given up.
    pub fn is_refuse(&self, state: StateId) -> bool {
        self.refuse[state.index()]
    }

    /// How many steps acceptance is away, as far as the purpose alone knows.
    pub fn distance(&self, state: StateId) -> Option<u32> {
        self.distance[state.index()]
    }

    /// The same purpose for another system.
    #[must_use]
    pub fn over(&self, labels: &Arc<Labels>) -> Self {
        Self::of(
            self.automaton.over(labels),
            self.accept.clone(),
            self.refuse.clone(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::star_automaton::{Edge, On};

    fn source(edges: &[(usize, &str, usize)]) -> AutomatonSource {
        let mut labels = Labels::new();
        labels.intern_text("?a");
        labels.intern_text("!x");
        let edges = edges
            .iter()
            .map(|&(s, on, t)| Edge {
                source: StateId::new(s),
                on: match on {
                    "*" => On::Any,
                    text => On::Label(labels.get_text(text).unwrap()),
                },
                target: StateId::new(t),
                line: 0,
            })
            .collect();
        AutomatonSource {
            name: "P".to_owned(),
            labels: Arc::new(labels),
            states: ["Start", "Mid", "Done", "Off"]
                .iter()
                .zip(1..)
                .map(|(n, line)| Place::new(*n, line))
                .collect(),
            initial: StateId::new(0),
            edges,
        }
    }

    #[test]
    fn unnamed_actions_stay() {
        let [start, mid, done, off] = [0, 1, 2, 3].map(StateId::new);
        let edges = [(0, "?a", 1), (1, "!x", 2), (1, "*", 3), (2, "?a", 0)];
        let p = Purpose::new(source(&edges), &[done], &[off]).unwrap();
        let l = |t: &str| p.labels().get_text(t).unwrap();
        assert_eq!(p.step(start, l("!x")), start);
        assert_eq!(p.step(start, l("?a")), mid);
        assert_eq!(p.step(mid, l("?a")), off);
        assert_eq!(p.step(done, l("?a")), done);
        assert_eq!(
            [start, mid, done, off].map(|q| p.distance(q)),
            [Some(2), Some(1), Some(0), None]
        );
    }

    #[test]
    fn faults_have_their_place() {
        let check = |accept: &[usize], refuse: &[usize]| -> Vec<String> {
            let ids = |s: &[usize]| s.iter().map(|&i| StateId::new(i)).collect::<Vec<_>>();
            Purpose::new(source(&[]), &ids(accept), &ids(refuse))
                .unwrap_err()
                .iter()
                .map(ToString::to_string)
                .collect()
        };
        assert_eq!(check(&[], &[3]), ["purpose P has no accept state"]);
        assert_eq!(
            check(&[2, 3], &[3]),
            ["state Off (line 4) is both an accept and a refuse state"]
        );
        assert_eq!(
            check(&[2], &[0]),
            ["state Start (line 1) is initial and cannot be an accept or refuse state"]
        );
        assert_eq!(check(&[2, 8], &[]), ["state number 8 does not exist"]);
    }
}

//! The deterministic automaton with `*` that observers and test purposes are made of.

use std::fmt;
use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels, Lts, StateId};

/// Where something was declared: the state's name and its line (from 1, 0 for unknown).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the state.
    pub name: String,
    /// Line of the source, 0 when there is none.
    pub line: u32,
}

impl Place {
    /// A place from its parts.
    pub fn new(name: impl Into<String>, line: u32) -> Self {
        Self {
            name: name.into(),
            line,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state {}", self.name)?;
        if self.line > 0 {
            write!(f, " (line {})", self.line)?;
        }
        Ok(())
    }
}

/// What a transition of an observer or a purpose waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// One action, δ included.
    Label(LabelId),
    /// `*`: every visible action, δ included, that labels no other transition of the state
    /// [SAFE04, fig. 2].
    Any,
}

/// A transition as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub source: StateId,
    /// What it waits for.
    pub on: On,
    /// Where it leads.
    pub target: StateId,
    /// Line of the source, 0 when there is none.
    pub line: u32,
}

/// The plain data that observers and purposes are made from.
#[derive(Clone, Debug)]
pub struct AutomatonSource {
    /// Name of the whole.
    pub name: String,
    /// The alphabet that the edges' labels belong to: that of the system watched.
    pub labels: Arc<Labels>,
    /// The states, in order.
    pub states: Vec<Place>,
    /// The initial state.
    pub initial: StateId,
    /// The transitions, in any order.
    pub edges: Vec<Edge>,
}

impl AutomatonSource {
    /// The automaton that an explicit system is, as read from Aldebaran or DOT.
    pub fn from_lts(name: impl Into<String>, lts: &Lts) -> Self {
        Self {
            name: name.into(),
            labels: Arc::clone(lts.shared_labels()),
            states: lts
                .states()
                .map(|s| Place::new(lts.name(s), lts.line(s).unwrap_or(0)))
                .collect(),
            initial: lts.initial(),
            edges: lts
                .transitions()
                .map(|(source, label, target)| Edge {
                    source,
                    on: On::Label(label),
                    target,
                    line: 0,
                })
                .collect(),
        }
    }
}

/// A breach that both observers and purposes must not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StarError {
    /// There is no state.
    #[error("the automaton has no states")]
    NoStates,
    /// A state id beyond the list of states.
    #[error("state number {0} does not exist")]
    UnknownState(usize),
    /// A label id beyond the label table.
    #[error("{place}: label number {label} does not exist")]
    UnknownLabel {
        /// Source of the transition.
        place: Place,
        /// The label's index.
        label: usize,
    },
    /// An internal action, which nobody sees.
    #[error("{place}: internal action {label} cannot be observed")]
    Internal {
        /// Source of the transition.
        place: Place,
        /// The action.
        label: String,
    },
    /// Two transitions under one label [SAFE04, def. 2].
    #[error("{place}: two transitions on {label} lead to different states")]
    Nondeterministic {
        /// Source of the transitions, with the line of the second one.
        place: Place,
        /// The action, or `*`.
        label: String,
    },
}

/// A deterministic automaton over visible actions; a missing step is no step.
#[derive(Clone, Debug)]
pub struct StarAutomaton {
    name: String,
    labels: Arc<Labels>,
    states: Vec<Place>,
    initial: StateId,
    /// `offsets[q]..offsets[q + 1]` are the explicit steps of state `q`, sorted by label.
    offsets: Vec<u32>,
    steps: Vec<(LabelId, StateId)>,
    star: Vec<Option<StateId>>,
}

impl StarAutomaton {
    /// Checks that the transitions are deterministic and over visible actions.
    pub fn new(source: AutomatonSource) -> Result<Self, Vec<StarError>> {
        let AutomatonSource {
            name,
            labels,
            states,
            initial,
            edges,
        } = source;
        if states.is_empty() {
            return Err(vec![StarError::NoStates]);
        }
        let mut errors = Vec::new();
        let mut star: Vec<Option<StateId>> = vec![None; states.len()];
        let mut rows: Vec<Vec<(LabelId, StateId)>> = vec![Vec::new(); states.len()];
        if initial.index() >= states.len() {
            errors.push(StarError::UnknownState(initial.index()));
        }
        for edge in &edges {
            let known = |s: StateId| s.index() < states.len();
            if let Some(s) = [edge.source, edge.target].into_iter().find(|&s| !known(s)) {
                errors.push(StarError::UnknownState(s.index()));
                continue;
            }
            let place = || {
                let at = &states[edge.source.index()];
                Place::new(&*at.name, if edge.line > 0 { edge.line } else { at.line })
            };
            let slot = match edge.on {
                On::Any => star[edge.source.index()].replace(edge.target),
                On::Label(label) => {
                    if label.index() >= labels.len() {
                        errors.push(StarError::UnknownLabel {
                            place: place(),
                            label: label.index(),
                        });
                        continue;
                    }
                    if labels.kind(label) == LabelKind::Internal {
                        errors.push(StarError::Internal {
                            place: place(),
                            label: labels.text(label),
                        });
                        continue;
                    }
                    let row = &mut rows[edge.source.index()];
                    match row.binary_search_by_key(&label, |&(l, _)| l) {
                        Ok(i) => Some(row[i].1),
                        Err(i) => {
                            row.insert(i, (label, edge.target));
                            None
                        }
                    }
                }
            };
            if slot.is_some_and(|other| other != edge.target) {
                errors.push(StarError::Nondeterministic {
                    place: place(),
                    label: match edge.on {
                        On::Any => "*".to_owned(),
                        On::Label(label) => labels.text(label),
                    },
                });
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut offsets = vec![0];
        let mut steps = Vec::with_capacity(edges.len());
        for row in rows {
            steps.extend(row);
            offsets.push(u32::try_from(steps.len()).expect("fewer than 2^32 edges"));
        }
        Ok(Self {
            name,
            labels,
            states,
            initial,
            offsets,
            steps,
            star,
        })
    }

    /// Name of the whole.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The alphabet.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// The initial state.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// Number of states.
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// All states in order.
    pub fn states(&self) -> impl ExactSizeIterator<Item = StateId> + use<> {
        (0..self.states.len()).map(StateId::new)
    }

    /// Name and line of a state.
    pub fn place(&self, state: StateId) -> &Place {
        &self.states[state.index()]
    }

    /// The steps that are written out, sorted by label.
    pub(crate) fn explicit_steps(&self, state: StateId) -> &[(LabelId, StateId)] {
        let i = state.index();
        &self.steps[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Where `*` leads from a state.
    pub(crate) fn star(&self, state: StateId) -> Option<StateId> {
        self.star[state.index()]
    }

    /// The step of a state under a visible label of the table.
    pub fn step(&self, state: StateId, label: LabelId) -> Option<StateId> {
        let row = self.explicit_steps(state);
        match row.binary_search_by_key(&label, |&(l, _)| l) {
            Ok(i) => Some(row[i].1),
            Err(_) => self.star[state.index()],
        }
    }

    /// All steps of a state, `*` written out, in label order.
    pub fn steps(&self, state: StateId) -> impl Iterator<Item = (LabelId, StateId)> + '_ {
        self.labels
            .iter()
            .filter(|(_, l)| l.kind.is_visible())
            .filter_map(move |(l, _)| self.step(state, l).map(|t| (l, t)))
    }

    /// The same automaton over the alphabet of another system. An action that the other alphabet
    /// lacks cannot occur there and goes; one that is new falls under `*`.
    #[must_use]
    pub fn over(&self, labels: &Arc<Labels>) -> Self {
        if Arc::ptr_eq(labels, &self.labels) {
            return self.clone();
        }
        // Each label is read as itself, or with values as its action: `!o(1)` as `!o`.
        let mut map: Vec<Vec<LabelId>> = vec![Vec::new(); self.labels.len()];
        for (id, label) in labels.iter() {
            let own = self.labels.get(label.kind, &label.name).or_else(|| {
                let (action, _) = label.name.split_once('(')?;
                self.labels.get(label.kind, action)
            });
            if let Some(own) = own {
                map[own.index()].push(id);
            }
        }
        let mut offsets = vec![0];
        let mut steps = Vec::with_capacity(self.steps.len());
        for state in self.states() {
            let start = steps.len();
            steps.extend(
                self.explicit_steps(state)
                    .iter()
                    .flat_map(|&(l, t)| map[l.index()].iter().map(move |&l| (l, t))),
            );
            steps[start..].sort_unstable();
            offsets.push(steps.len() as u32);
        }
        Self {
            labels: Arc::clone(labels),
            offsets,
            steps,
            ..self.clone()
        }
    }

    /// The number of steps from each state to the nearest of `goals`, `None` where there is no way;
    /// the steps are those that the alphabet really has.
    pub fn distances(&self, goals: &[StateId]) -> Vec<Option<u32>> {
        let mut reverse: Vec<Vec<StateId>> = vec![Vec::new(); self.states.len()];
        let visible = self
            .labels
            .iter()
            .filter(|(_, l)| l.kind.is_visible())
            .count();
        for state in self.states() {
            let row = self.explicit_steps(state);
            for &(_, target) in row {
                reverse[target.index()].push(state);
            }
            if row.len() < visible
                && let Some(target) = self.star(state)
            {
                reverse[target.index()].push(state);
            }
        }
        let mut distance: Vec<Option<u32>> = vec![None; self.states.len()];
        let mut queue = std::collections::VecDeque::new();
        for &goal in goals {
            distance[goal.index()] = Some(0);
            queue.push_back((goal, 0));
        }
        while let Some((state, d)) = queue.pop_front() {
            for &source in &reverse[state.index()] {
                if distance[source.index()].is_none() {
                    distance[source.index()] = Some(d + 1);
                    queue.push_back((source, d + 1));
                }
            }
        }
        distance
    }
}

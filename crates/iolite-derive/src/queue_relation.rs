//! Whether an implementation that is a model is in a relation to its specification when it is observed
//! through queues.

use std::ops::ControlFlow;

use iolite_lts::relation::{Effort, Relation};
use iolite_lts::{LabelId, LabelKind, QuiescencePolicy, Semantics, StateId, Suspension, System};
use rustc_hash::FxHashMap;

use crate::{
    Action, ActionId, FiniteOracle, FiniteQueueOracle, Meaning, Oracle, QueueOptions, QueueStateId,
    RelationOracle, Step,
};

/// How many places are looked at between two questions whether to proceed.
const PATIENCE: usize = 1024;

/// Bytes of one place of the search, its entry in the table included, about.
const PLACE_BYTES: usize = 80;

/// The search for a trace that an implementation between two queues shows and that the specification
/// does not explain. [Verhaard, Tretmans, Kars and Brinksma 1993; Noroozi, Khosravi, Mousavi and
/// Willemse 2015]
///
/// The implementation is walked in the same view as the specification: there is no queue of outputs,
/// since an output that was long under way is one that was sent before more inputs were taken. A place
/// of the search is a state of the implementation, the inputs that it was given and has not taken, and
/// all explanations that the specification has for what was observed.
///
/// An input is given only while fewer than `max_in_flight` inputs are under way in the implementation
/// and, as far as the specification explains what was observed, may be. That makes the search finite,
/// and it is the rule by which a tester gives inputs. A trace that needs more inputs in flight is not
/// looked at.
pub struct QueueRelation<'a, O: FiniteOracle, M> {
    oracle: FiniteQueueOracle<O>,
    implementation: Suspension<&'a M>,
    max_in_flight: usize,
    /// The implementation's labels as actions of the oracle.
    actions: Vec<Option<ActionId>>,
    places: Vec<Place>,
    numbers: FxHashMap<(StateId, u32, QueueStateId), u32>,
    /// The inputs that the implementation has not taken, as words; the first one is empty.
    words: Vec<Vec<ActionId>>,
    longer: FxHashMap<(u32, ActionId), u32>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    implementation: StateId,
    word: u32,
    specification: QueueStateId,
    /// The place before, and what was visible on the way from there.
    from: Option<(u32, Option<Step>)>,
}

/// What an implementation shows through queues and its specification does not explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueCounterexample {
    /// What was seen before; shortest for the first counterexample.
    pub trace: Vec<String>,
    /// The output, or `delta`, that is not explained.
    pub observed: String,
    /// What would have been.
    pub allowed: Vec<String>,
    /// The state of the implementation that shows it.
    pub implementation: StateId,
    /// Where the specification may be, in some explanation.
    pub specification: Vec<StateId>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct QueueAnswer {
    /// The first of each kind: of an observation and what explained the trace before it.
    pub counterexamples: Vec<QueueCounterexample>,
    /// Whether all places were looked at.
    pub complete: bool,
    /// Why not, where it is the specification that was not decided.
    pub undecided: Option<String>,
    /// How much was searched; pairs are places.
    pub effort: Effort,
    /// A livelock of the implementation, and of the specification, that the strict policy met.
    pub livelocks: [Option<String>; 2],
}

/// Decides a relation to an implementation that is observed through queues: ioco, uioco or ioconf, any
/// other is taken for ioco. The implementation takes every input of the specification in every state;
/// the caller has made sure of it. The search is compiled here, once.
pub fn relate_in_queues(
    relation: Relation,
    (implementation, specification): (&dyn Semantics<State = StateId>, &System),
    policy: QuiescencePolicy,
    max_in_flight: usize,
    counterexamples: usize,
    proceed: &mut dyn FnMut(&Effort) -> ControlFlow<()>,
) -> QueueAnswer {
    let oracle = match relation {
        Relation::Uioco => RelationOracle::uioco(specification, policy),
        Relation::Ioconf => RelationOracle::ioconf(specification, policy, None),
        _ => RelationOracle::ioco(specification, policy),
    };
    QueueRelation::new(oracle, &implementation, policy, max_in_flight)
        .search(counterexamples, proceed)
}

impl<'a, O, M> QueueRelation<'a, O, M>
where
    O: FiniteOracle<State: Ord>,
    M: Semantics<State = StateId>,
{
    /// The search. The implementation takes every input of the specification in every state; the
    /// caller has made sure of it.
    pub fn new(
        specification: O,
        implementation: &'a M,
        policy: QuiescencePolicy,
        max_in_flight: usize,
    ) -> Self {
        let options = QueueOptions {
            max_in_flight,
            ..QueueOptions::default()
        };
        let labels = implementation.labels();
        let action = |(_, label): (LabelId, &iolite_lts::Label)| match label.kind {
            LabelKind::Delta => Some(ActionId::DELTA),
            // An output that the specification does not know is an action like others.
            LabelKind::Input | LabelKind::Output => {
                let own = specification.labels().get(label.kind, &label.name);
                let foreign = || specification.alphabet().intern(Action::from(label));
                Some(own.map_or_else(foreign, ActionId::from))
            }
            LabelKind::Internal | LabelKind::Undirected => None,
        };
        let actions = labels.iter().map(action).collect();
        Self {
            oracle: FiniteQueueOracle::new(specification, options),
            implementation: Suspension::new(implementation, policy),
            max_in_flight,
            actions,
            places: Vec::new(),
            numbers: FxHashMap::default(),
            words: vec![Vec::new()],
            longer: FxHashMap::default(),
        }
    }

    /// Searches, shortest traces first. `proceed` is asked now and then, and ends the search.
    pub fn search(
        mut self,
        wanted: usize,
        proceed: &mut dyn FnMut(&Effort) -> ControlFlow<()>,
    ) -> QueueAnswer {
        let mut found = Vec::new();
        let mut kinds = Vec::new();
        let mut complete = true;
        let mut depth = 0;
        let start = self.oracle.start();
        let initial = self.implementation.initial();
        let mut level = Vec::new();
        self.meet(initial, 0, start, None, &mut level);
        let mut looked = 0usize;
        'levels: while !level.is_empty() {
            let mut next = Vec::new();
            let mut closed = 0;
            // What is not visible belongs to the same level, so it comes first.
            while closed < level.len() {
                if looked.is_multiple_of(PATIENCE) && proceed(&self.effort(depth)).is_break() {
                    complete = false;
                    break 'levels;
                }
                looked += 1;
                self.step_unseen(level[closed], &mut level);
                closed += 1;
            }
            for &place in &level {
                if looked.is_multiple_of(PATIENCE) && proceed(&self.effort(depth)).is_break() {
                    complete = false;
                    break 'levels;
                }
                looked += 1;
                for wrong in self.observe(place, &mut next) {
                    let kind = (wrong, self.places[place as usize].specification);
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                        found.push(self.counterexample(place, wrong));
                    }
                    if found.len() >= wanted {
                        break 'levels;
                    }
                }
                self.stimulate(place, &mut next);
            }
            level = next;
            depth += 1;
        }
        let effort = self.effort(depth);
        let undecided = self.oracle.undecided().map(|why| why.reason.to_string());
        let livelock = self.implementation.livelock();
        QueueAnswer {
            counterexamples: found,
            complete: complete && undecided.is_none(),
            undecided,
            effort,
            livelocks: [
                livelock.map(|state| self.implementation.describe(&state)),
                self.oracle.livelock(),
            ],
        }
    }

    fn effort(&self, depth: usize) -> Effort {
        Effort {
            pairs: self.places.len(),
            sets: self.oracle.state_count(),
            depth,
            bytes: self.places.len() * PLACE_BYTES + self.oracle.bytes(),
        }
    }

    /// Notes a place, unless it is known.
    fn meet(
        &mut self,
        implementation: StateId,
        word: u32,
        specification: QueueStateId,
        from: Option<(u32, Option<Step>)>,
        to: &mut Vec<u32>,
    ) {
        let number = u32::try_from(self.places.len()).expect("fewer places than bytes of memory");
        let key = (implementation, word, specification);
        if *self.numbers.entry(key).or_insert(number) == number {
            self.places.push(Place {
                implementation,
                word,
                specification,
                from,
            });
            to.push(number);
        }
    }

    fn steps(&self, state: StateId) -> Vec<(LabelId, StateId)> {
        let mut row = Vec::new();
        self.implementation.successors(&state, &mut row);
        row
    }

    /// The word with one more input.
    fn append(&mut self, word: u32, input: ActionId) -> u32 {
        if let Some(&known) = self.longer.get(&(word, input)) {
            return known;
        }
        let mut letters = self.words[word as usize].clone();
        letters.push(input);
        self.word(&letters)
    }

    /// The number of a word, and of all that it begins with.
    fn word(&mut self, letters: &[ActionId]) -> u32 {
        let mut word = 0;
        for (k, &input) in letters.iter().enumerate() {
            let next = u32::try_from(self.words.len()).expect("fewer words than places");
            let number = *self.longer.entry((word, input)).or_insert(next);
            if number == next {
                self.words.push(letters[..=k].to_vec());
            }
            word = number;
        }
        word
    }

    /// Adds what is reached without the tester's seeing it: by an internal step, or by taking an input.
    fn step_unseen(&mut self, number: u32, level: &mut Vec<u32>) {
        let place = self.places[number as usize];
        let first = self.words[place.word as usize].first().copied();
        for (label, target) in self.steps(place.implementation) {
            let word = match self.actions.get(label.index()).copied().flatten() {
                None => place.word,
                Some(action) if Some(action) == first => {
                    let rest = self.words[place.word as usize][1..].to_vec();
                    self.word(&rest)
                }
                Some(_) => continue,
            };
            let from = Some((number, None));
            self.meet(target, word, place.specification, from, level);
        }
    }

    /// The outputs of a place, and silence where nothing is under way; returns what is not explained.
    fn observe(&mut self, number: u32, next: &mut Vec<u32>) -> Vec<Step> {
        let place = self.places[number as usize];
        let kinds = self.implementation.labels().kinds().to_vec();
        let mut wrong = Vec::new();
        for (label, target) in self.steps(place.implementation) {
            let Some(action) = self.actions.get(label.index()).copied().flatten() else {
                continue;
            };
            let step = match kinds[label.index()] {
                LabelKind::Output => Step::Output(action),
                LabelKind::Delta if place.word == 0 => Step::Quiescence,
                _ => continue,
            };
            match self.oracle.step(place.specification, step) {
                Meaning::Allowed(specification) => {
                    let from = Some((number, Some(step)));
                    self.meet(target, place.word, specification, from, next);
                }
                Meaning::Forbidden if !wrong.contains(&step) => wrong.push(step),
                Meaning::Forbidden | Meaning::Ends | Meaning::Unspecified => {}
            }
        }
        wrong
    }

    fn stimulate(&mut self, number: u32, next: &mut Vec<u32>) {
        let place = self.places[number as usize];
        if self.words[place.word as usize].len() >= self.max_in_flight {
            return;
        }
        let mut row = Vec::new();
        self.oracle.inputs_from(place.specification, &mut row);
        for (input, specification) in row {
            let word = self.append(place.word, input.into());
            let from = Some((number, Some(Step::Stimulus(input.into()))));
            self.meet(place.implementation, word, specification, from, next);
        }
    }

    fn counterexample(&mut self, number: u32, observed: Step) -> QueueCounterexample {
        let alphabet = self.oracle.alphabet().clone();
        let place = self.places[number as usize];
        let mut trace = Vec::new();
        let mut at = place;
        while let Some((before, step)) = at.from {
            trace.extend(step.map(|step| step.text(&alphabet)));
            at = self.places[before as usize];
        }
        trace.reverse();
        QueueCounterexample {
            trace,
            observed: observed.text(&alphabet),
            allowed: self.oracle.out(&place.specification),
            implementation: place.implementation,
            specification: self.oracle.members(place.specification),
        }
    }
}

//! Controllable test cases from a canonical tester [PROP12, §7.2 and remark 5].
//!
//! The paper's selection leaves two things open: which of the inputs that keep the target in reach is given in a
//! state, and which states the test should go through. Both are the caller's here. A test case is made of
//! states of the tester, so a choice that leads back makes a loop: with `?op_uns` chosen in the first state of
//! example 10, `(?op_uns !uncrypt)*` comes before the verdict.

use iolite_lts::LabelKind;
use thiserror::Error;

use crate::alphabet::Letter;
use crate::canonical_tester::{CanonicalTester, PropertyTestCase};
use crate::structure::StateId;
use crate::verdict::PropertyVerdict;

/// What a test case is selected by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The verdict that it is for.
    pub target: PropertyVerdict,
    /// Inputs to give in these states; in others one on a shortest way is.
    pub inputs: Vec<(StateId, Letter)>,
    /// States that a run goes through, in this order, before the verdict counts as reached.
    pub visit: Vec<StateId>,
    /// States that no input leads to, and that end the test with `inconc`.
    pub avoid: Vec<StateId>,
}

impl Selection {
    /// For a verdict, by shortest ways.
    pub fn shortest(target: PropertyVerdict) -> Self {
        Self {
            target,
            inputs: Vec::new(),
            visit: Vec::new(),
            avoid: Vec::new(),
        }
    }
}

/// Why no test case is selected.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SelectionError {
    /// The target is out of reach from the beginning.
    #[error("no run leads to {0} in this way")]
    OutOfReach(PropertyVerdict),
    /// An input that was asked for loses the target, or is none.
    #[error("{input} cannot be given in state {state}: {reason}")]
    Input {
        /// The state.
        state: String,
        /// The input.
        input: String,
        /// Why not.
        reason: &'static str,
    },
}

/// A state of the tester, and how many of the states to visit lie behind.
type Place = (StateId, usize);

struct Places<'a> {
    tester: &'a CanonicalTester,
    selection: &'a Selection,
    /// For each place, by state and then by what was visited, the steps to the target.
    distance: Vec<Option<usize>>,
}

impl<'a> Places<'a> {
    fn new(tester: &'a CanonicalTester, selection: &'a Selection) -> Self {
        let count = tester.structure().len() * (selection.visit.len() + 1);
        let mut places = Self {
            tester,
            selection,
            distance: vec![None; count],
        };
        places.measure();
        places
    }

    fn index(&self, (q, visited): Place) -> usize {
        q.index() * (self.selection.visit.len() + 1) + visited
    }

    fn enter(&self, q: StateId, visited: usize) -> Place {
        let here = self.selection.visit.get(visited) == Some(&q);
        (q, visited + usize::from(here))
    }

    fn step(&self, (q, visited): Place, letter: Letter) -> Place {
        self.enter(self.tester.structure().step(q, letter), visited)
    }

    fn is_target(&self, (q, visited): Place) -> bool {
        self.tester.verdict(q) == self.selection.target
            && visited == self.selection.visit.len()
            && !self.selection.avoid.contains(&q)
    }

    /// Whether the test goes on there.
    fn goes_on(&self, (q, _): Place) -> bool {
        !self.tester.verdict(q).is_final() && !self.selection.avoid.contains(&q)
    }

    fn distance(&self, place: Place) -> Option<usize> {
        self.distance[self.index(place)]
    }

    /// Steps to the target from every place, backwards from it.
    fn measure(&mut self) {
        let s = self.tester.structure();
        let depth = self.selection.visit.len() + 1;
        let places = || s.states().flat_map(|q| (0..depth).map(move |k| (q, k)));
        let mut before: Vec<Vec<Place>> = vec![Vec::new(); s.len() * depth];
        for place in places().filter(|&p| self.goes_on(p)) {
            for letter in s.alphabet().iter() {
                before[self.index(self.step(place, letter))].push(place);
            }
        }
        let mut layer: Vec<Place> = places().filter(|&p| self.is_target(p)).collect();
        let mut d = 0;
        while !layer.is_empty() {
            layer.retain(|&p| self.distance(p).is_none());
            for &place in &layer {
                let index = self.index(place);
                self.distance[index] = Some(d);
            }
            let next = layer.iter().flat_map(|&p| before[self.index(p)].iter());
            layer = next.copied().collect();
            d += 1;
        }
    }
}

impl CanonicalTester {
    /// The controllable test case of a selection: in each state at most one input, every output, and `inconc`
    /// where the target is lost.
    ///
    /// # Errors
    ///
    /// Where the target is out of reach, or an input that was asked for loses it.
    pub fn select_by(&self, selection: &Selection) -> Result<PropertyTestCase, SelectionError> {
        let sigma = self.alphabet();
        let places = Places::new(self, selection);
        if places.distance(places.enter(self.initial(), 0)).is_none() {
            return Err(SelectionError::OutOfReach(selection.target));
        }
        for &(q, letter) in &selection.inputs {
            let refused = |reason| SelectionError::Input {
                state: self.name(q).to_owned(),
                input: sigma.text(letter),
                reason,
            };
            if sigma.kind(letter) != LabelKind::Input {
                return Err(refused("it is no input"));
            }
            let after = (0..=selection.visit.len()).map(|k| places.step((q, k), letter));
            if !after.into_iter().any(|p| places.distance(p).is_some()) {
                return Err(refused("the verdict is out of reach then"));
            }
        }
        Ok(self.selected(&places))
    }

    /// A controllable test case for a target verdict [PROP12, §7.2]: in each state the input, if any, that lies
    /// on a shortest way to the target.
    pub fn select(&self, target: PropertyVerdict) -> PropertyTestCase {
        let selection = Selection::shortest(target);
        self.selected(&Places::new(self, &selection))
    }

    fn selected(&self, places: &Places<'_>) -> PropertyTestCase {
        let (sigma, selection) = (self.alphabet(), places.selection);
        let is_input = |l: Letter| sigma.kind(l) == LabelKind::Input;
        let start = places.enter(self.initial(), 0);
        let choose = |place: Place| {
            let near = |l: Letter| places.distance(places.step(place, l));
            let inputs = sigma.iter().filter(|&l| is_input(l) && near(l).is_some());
            let asked = selection.inputs.iter().find(|(q, _)| *q == place.0);
            if let Some(&(_, letter)) = asked
                && near(letter).is_some()
            {
                return Some(letter);
            }
            let best = inputs.min_by_key(|&l| near(l))?;
            // When an output leads further, stimulating would only lead away.
            let outputs = sigma.iter().filter(|&l| !is_input(l));
            let by_output = outputs.filter_map(near).min().unwrap_or(usize::MAX);
            (near(best)? <= by_output).then_some(best)
        };
        let mut states = vec![start];
        let mut steps = Vec::new();
        while steps.len() < states.len() {
            let place = states[steps.len()];
            let mut row = Vec::new();
            if places.goes_on(place) && places.distance(place).is_some() {
                let outputs = sigma.iter().filter(|&l| !is_input(l));
                for l in choose(place).into_iter().chain(outputs) {
                    let to = places.step(place, l);
                    let known = states.iter().position(|&p| p == to);
                    let id = known.unwrap_or(states.len());
                    if known.is_none() {
                        states.push(to);
                    }
                    row.push((sigma.label(l), StateId::new(id)));
                }
            }
            steps.push(row);
        }
        // The paper's step 2 would hide another final verdict behind inconc too, while its text replaces only
        // unknown; a final verdict is true, so it is kept.
        let verdict = |place: Place| match self.verdict(place.0) {
            PropertyVerdict::Unknown if !places.goes_on(place) => PropertyVerdict::Inconc,
            PropertyVerdict::Unknown if places.distance(place).is_none() => PropertyVerdict::Inconc,
            v => v,
        };
        let name = |&(q, visited): &Place| match visited {
            0 => self.name(q).to_owned(),
            n => format!("{} ({n} visited)", self.name(q)),
        };
        PropertyTestCase::of(
            sigma,
            selection.target,
            states.iter().map(|&p| verdict(p)).collect(),
            states.iter().map(name).collect(),
            steps,
        )
    }
}

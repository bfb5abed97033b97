//! What the states of an automaton can do, as functions of the letter.

use std::sync::Arc;

use iolite_property::acceptance::Colours;
use iolite_property::alphabet::Alphabet;
use iolite_property::diagram::{Diagrams, Function};
use iolite_property::structure::{AutomatonError, Structure};
use rustc_hash::FxHashMap;

use super::HoaError;
use super::label::LabelMemo;
use super::lex::Lexer;
use super::nondeterministic::Edge;
use super::read::{Header, MAX_STATES, State};

/// Edges of all choices together.
const MAX_EDGES: usize = 1 << 22;

/// A state of the file with the colours of the edge into it; none is the sink for missing edges.
pub(super) type Entered = Option<(u32, Colours)>;

/// Rows of states.
pub(super) struct Rows {
    pub(super) diagrams: Diagrams,
    /// One a state; the values are positions in `choices`.
    pub(super) of: Vec<Function>,
    /// The first is none at all.
    pub(super) choices: Vec<Vec<Edge>>,
    /// A state that has a choice.
    pub(super) choice: Option<String>,
    index: FxHashMap<Vec<Edge>, u32>,
    /// Edges that choices may still have.
    left: usize,
}

impl Rows {
    fn new() -> Self {
        Self {
            diagrams: Diagrams::default(),
            of: Vec::new(),
            choices: vec![Vec::new()],
            choice: None,
            index: FxHashMap::from_iter([(Vec::new(), 0)]),
            left: MAX_EDGES,
        }
    }

    fn number(&mut self, edges: Vec<Edge>) -> Result<u32, HoaError> {
        if let Some(&known) = self.index.get(&edges) {
            return Ok(known);
        }
        let left = self.left.checked_sub(edges.len() + 1);
        self.left = left.ok_or_else(|| HoaError::TooLarge("edges with many letters".into()))?;
        let number = self.choices.len() as u32;
        self.choices.push(edges.clone());
        self.index.insert(edges, number);
        Ok(number)
    }

    /// From the lists of edges at `state * letters + letter`.
    pub(super) fn of_table(table: &[Vec<Edge>], letters: usize) -> Result<Self, HoaError> {
        let mut rows = Self::new();
        for lists in table.chunks(letters) {
            let row: Vec<u32> = lists
                .iter()
                .map(|edges| rows.number(edges.clone()))
                .collect::<Result<_, _>>()?;
            let row = rows.diagrams.of_row(&row)?;
            rows.of.push(row);
        }
        Ok(rows)
    }

    /// From the labels of edges over many propositions, without listing their valuations.
    pub(super) fn of_labels(
        lexer: &Lexer<'_>,
        states: &[State],
        alphabet: &Arc<Alphabet>,
    ) -> Result<Self, HoaError> {
        let mut rows = Self::new();
        let mut memo = LabelMemo::default();
        for (id, state) in states.iter().enumerate() {
            let implicit =
                !state.edges.is_empty() && state.edges.iter().all(|(g, _, _)| g.is_none());
            if implicit && state.edges.len() != alphabet.len() {
                let k = alphabet.len();
                return Err(lexer.error(format!("state {id} needs {k} edges or labels")));
            }
            let mut row = Function::constant(0);
            for (position, (label, to, colours)) in state.edges.iter().enumerate() {
                let holds = match label {
                    Some(label) => label.function(&mut rows.diagrams, &mut memo)?,
                    None if implicit => {
                        let mut bits = (0..alphabet.propositions().len() as u32).rev();
                        bits.try_fold(Function::constant(1), |rest, bit| {
                            let no = Function::constant(0);
                            match position >> bit & 1 {
                                1 => rows.diagrams.make(bit, no, rest),
                                _ => rows.diagrams.make(bit, rest, no),
                            }
                        })?
                    }
                    None => return Err(lexer.error(format!("state {id} mixes labels and none"))),
                };
                row = rows.with_edge(row, holds, &(*to as u32, colours.clone()))?;
            }
            rows.of.push(row);
            let many = |rows: &Self, choice: u32| rows.choices[choice as usize].len() > 1;
            if rows.choice.is_none()
                && let Some((_, bits)) =
                    (rows.diagrams.values(row).into_iter()).find(|&(choice, _)| many(&rows, choice))
            {
                let letter = alphabet.text(iolite_property::alphabet::Letter::of_bits(bits));
                rows.choice = Some(format!("state {id} on {letter}"));
            }
        }
        Ok(rows)
    }

    /// A row with one more edge where `holds` is 1.
    fn with_edge(
        &mut self,
        row: Function,
        holds: Function,
        edge: &Edge,
    ) -> Result<Function, HoaError> {
        let mut diagrams = std::mem::take(&mut self.diagrams);
        let mut failed = None;
        let made = diagrams.combined(row, holds, |old, new| {
            let edges = &self.choices[old as usize];
            if new == 0 || edges.contains(edge) {
                return old;
            }
            let mut edges = edges.clone();
            edges.push(edge.clone());
            self.number(edges).unwrap_or_else(|error| {
                failed = Some(error);
                old
            })
        });
        self.diagrams = diagrams;
        match failed {
            Some(error) => Err(error),
            None => Ok(made?),
        }
    }

    /// The automaton, where no state has a choice.
    pub(super) fn explored(
        &self,
        header: &Header,
        alphabet: &Arc<Alphabet>,
    ) -> Result<(Structure, Vec<Entered>), HoaError> {
        let start = Some((header.start[0] as u32, Colours::default()));
        Ok(Structure::explore_functions(
            Arc::clone(alphabet),
            start,
            MAX_STATES,
            |from: &Entered, own, frontier| {
                let Some((q, _)) = from else {
                    return Ok(Function::constant(frontier.number(None)?));
                };
                let mut lead = |_: &mut Diagrams, choice: u32| {
                    frontier.number(self.choices[choice as usize].first().cloned())
                };
                let row = self.of[*q as usize];
                let mut memo = FxHashMap::default();
                own.mapped::<AutomatonError>(&self.diagrams, row, &mut memo, &mut lead)
            },
        )?)
    }
}

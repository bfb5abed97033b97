//! Which boundaries of the guards, which transitions and which pairs of values runs have tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_expr::{CandidateValues, Kind, Op, PairCover, Sort, Term, Value};
use rustc_hash::FxHashSet;

use crate::iosts::{GateId, Iosts, LabelKind, TransitionId, space};
use crate::semantics::{Frame, ValuedAction};
use crate::symbolic::{Symbolic, SymbolicStates};
use crate::symbolic_state::{Data, SymbolicState};

/// Sides that are counted at most, so that a generated model costs no more than it tells.
const MOST_SIDES: usize = 4096;

/// One side of a boundary: how far the two sides of a comparison in a guard are apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BoundarySide {
    transition: TransitionId,
    left: Term,
    right: Term,
    /// `left - right`; for texts, the number of characters in which they differ.
    apart: i8,
    /// Whether it depends on the values of the transition's own action.
    reads_parameters: bool,
}

/// What a campaign can try of a model's data.
#[derive(Debug, PartialEq, Eq)]
struct Aims {
    sides: Vec<BoundarySide>,
    /// The sides of each transition.
    of_transition: Vec<Vec<usize>>,
    /// Each side in words.
    texts: Vec<String>,
    /// The visible transitions, in words.
    transitions: BTreeMap<TransitionId, String>,
}

/// Which boundaries of the guards, which transitions and which pairs of values runs have tried.
///
/// A comparison `a < b` changes between `a == b - 1` and `a == b`: these are its two sides. An equation
/// has three. A side counts as tried where the model may have been in a state that has it; so does a
/// transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCoverage {
    aims: Arc<Aims>,
    sides: Vec<bool>,
    transitions: BTreeMap<TransitionId, bool>,
    pairs: BTreeMap<GateId, (Box<str>, PairCover)>,
}

impl Aims {
    fn new(model: &Iosts) -> Self {
        let mut aims = Self {
            sides: Vec::new(),
            of_transition: vec![Vec::new(); model.transitions().len()],
            texts: Vec::new(),
            transitions: BTreeMap::new(),
        };
        for (id, t) in model.transitions() {
            let gate = model.gate(t.action);
            let visible = matches!(gate.kind, LabelKind::Input | LabelKind::Output);
            let place = describe(model, id);
            for (left, right, apart) in boundaries(&t.guard) {
                let reads = |term: &Term| {
                    let vars = term.free_vars();
                    vars.iter().any(|v| v.id.space() == space::PARAMETER)
                };
                let reads_parameters = reads(&left) || reads(&right);
                // What the system sends is not ours to choose.
                if reads_parameters && gate.kind != LabelKind::Input {
                    continue;
                }
                for &apart in apart {
                    if aims.sides.len() == MOST_SIDES {
                        break;
                    }
                    aims.of_transition[id.index()].push(aims.sides.len());
                    aims.texts
                        .push(format!("{place}: {}", side_text(&left, &right, apart)));
                    aims.sides.push(BoundarySide {
                        transition: id,
                        left: left.clone(),
                        right: right.clone(),
                        apart,
                        reads_parameters,
                    });
                }
            }
            if visible {
                aims.transitions.insert(id, place);
            }
        }
        aims
    }
}

/// `Wait_Req ?REQ(l) [l > head]`.
fn describe(model: &Iosts, id: TransitionId) -> String {
    let t = model.transition(id);
    let gate = model.gate(t.action);
    let source = &model.location(t.source).name;
    let mut text = format!("{source} {}{}", gate.kind.sigil(), gate.name);
    if !gate.params.is_empty() {
        let params: Vec<&str> = gate.params.iter().map(|p| &*p.name).collect();
        text += &format!("({})", params.join(", "));
    }
    if !t.guard.is_true() {
        text += &format!(" [{}]", t.guard);
    }
    text
}

fn side_text(left: &Term, right: &Term, apart: i8) -> String {
    if let Some([left, right, unit]) = Term::decimal_sides(left, right) {
        return match apart {
            0 => format!("{left} == {right}"),
            -1 => format!("{left} == {right} - {unit}"),
            _ => format!("{left} == {right} + {unit}"),
        };
    }
    match (left.sort() == &Sort::String, apart) {
        (_, 0) => format!("{left} == {right}"),
        (true, _) => format!("{left} and {right} differ in one character"),
        (false, -1) => format!("{left} == {right} - 1"),
        (false, _) => format!("{left} == {right} + 1"),
    }
}

/// The comparisons of integers and texts in a guard, with how far apart their sides are where their
/// value changes.
fn boundaries(guard: &Term) -> Vec<(Term, Term, &'static [i8])> {
    let mut found: Vec<(Term, Term, &'static [i8])> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![guard.clone()];
    while let Some(term) = stack.pop() {
        let Kind::App(op, args) = term.kind() else {
            continue;
        };
        // What is bound there has no value in a state.
        if matches!(op, Op::Exists(_)) || !seen.insert(term.clone()) {
            continue;
        }
        if let [left, right] = &args[..] {
            let (int, text) = (left.sort().is_int(), *left.sort() == Sort::String);
            let apart: &[i8] = match op {
                Op::Lt | Op::Ge if int => &[-1, 0],
                Op::Le | Op::Gt if int => &[0, 1],
                Op::Eq | Op::Ne if int => &[-1, 0, 1],
                Op::Eq | Op::Ne if text => &[0, 1],
                _ => &[],
            };
            if !apart.is_empty() {
                found.push((left.clone(), right.clone(), apart));
            }
        }
        stack.extend(args.iter().rev().cloned());
    }
    found
}

impl ValueCoverage {
    /// Nothing of a model was tried.
    pub fn new(model: &Iosts, candidates: &CandidateValues) -> Self {
        let aims = Aims::new(model);
        let pairs = model
            .gates()
            .filter(|(_, gate)| gate.kind == LabelKind::Input);
        let pairs = pairs.filter_map(|(id, gate)| {
            let cover = PairCover::new(&gate.params, candidates);
            (cover.total() > 0).then(|| (id, (gate.name.clone(), cover)))
        });
        Self {
            sides: vec![false; aims.sides.len()],
            transitions: aims.transitions.keys().map(|&t| (t, false)).collect(),
            pairs: pairs.collect(),
            aims: Arc::new(aims),
        }
    }

    /// How many sides of boundaries were tried, and how many there are.
    pub fn boundaries(&self) -> (usize, usize) {
        (self.sides.iter().filter(|t| **t).count(), self.sides.len())
    }

    /// All sides in words, and whether they were tried.
    pub fn sides(&self) -> impl Iterator<Item = (&str, bool)> {
        let sides = self.aims.texts.iter().zip(&self.sides);
        sides.map(|(text, tried)| (text.as_str(), *tried))
    }

    /// The sides that were not tried, in words.
    pub fn untried_boundaries(&self) -> impl Iterator<Item = &str> {
        let untried = self.sides().filter(|(_, tried)| !tried);
        untried.map(|(text, _)| text)
    }

    /// How many visible transitions may have been taken, and how many there are.
    pub fn transitions(&self) -> (usize, usize) {
        let taken = self.transitions.values().filter(|taken| **taken).count();
        (taken, self.transitions.len())
    }

    /// Whether a transition may have been taken; `None` for one that cannot be seen.
    pub fn is_taken(&self, transition: TransitionId) -> Option<bool> {
        self.transitions.get(&transition).copied()
    }

    /// The transitions that were certainly not taken, in words.
    pub fn untaken_transitions(&self) -> impl Iterator<Item = &str> {
        let all = self.aims.transitions.iter();
        all.filter(|(id, _)| !self.transitions[id])
            .map(|(_, text)| &**text)
    }

    /// For each input with several parameters, how many pairs of their candidate values were given
    /// together, and how many there are, possible or not.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let pairs = self.pairs.values();
        pairs.map(|(name, cover)| (&**name, cover.tried(), cover.total()))
    }

    /// What runs of another job tried of the same model was tried as well.
    pub fn merge(&mut self, other: &Self) {
        for (own, new) in self.sides.iter_mut().zip(&other.sides) {
            *own |= new;
        }
        for (id, new) in &other.transitions {
            *self.transitions.entry(*id).or_default() |= new;
        }
        for (id, (_, cover)) in &other.pairs {
            if let Some((_, own)) = self.pairs.get_mut(id) {
                own.merge(cover);
            }
        }
    }

    /// An input was given with these values.
    pub fn give(&mut self, action: &ValuedAction) {
        if let Some((_, cover)) = self.pairs.get_mut(&action.action) {
            cover.cover(&action.values);
        }
    }
}

impl Symbolic {
    /// Values that may matter to a system of this model: the constants of its guards and effects.
    pub fn candidates(&self) -> CandidateValues {
        let mut found = CandidateValues::default();
        for value in self.constants.iter().flatten() {
            found.add_constant(value);
        }
        for (_, t) in self.model.transitions() {
            found.add_constants_of(&t.guard);
        }
        for (_, t) in self.model.transitions() {
            for (_, effect) in &t.assignments {
                found.add_constants_of(effect);
            }
        }
        for term in self.model.assumptions() {
            found.add_constants_of(term);
        }
        let initial = self.model.variables().iter();
        for term in initial.filter_map(|v| v.initial.as_ref()) {
            found.add_constants_of(term);
        }
        found
    }

    /// An action happened in one of these states: what that tried.
    pub fn note_tried(
        &self,
        coverage: &mut ValueCoverage,
        states: &SymbolicStates,
        action: &ValuedAction,
    ) {
        let aims = Arc::clone(&coverage.aims);
        for state in &states.states {
            for &t in self.model.outgoing(state.location) {
                let own = self.model.transition(t).action == action.action;
                if own && coverage.transitions.get(&t) == Some(&false) {
                    let guard = &self.model.transition(t).guard;
                    if self.value_at(state, guard, &action.values) == Some(Value::Bool(true)) {
                        coverage.transitions.insert(t, true);
                    }
                }
                for &i in &aims.of_transition[t.index()] {
                    let side = &aims.sides[i];
                    if coverage.sides[i] || side.reads_parameters && !own {
                        continue;
                    }
                    let left = self.value_at(state, &side.left, &action.values);
                    let right = self.value_at(state, &side.right, &action.values);
                    if let (Some(left), Some(right)) = (left, right) {
                        coverage.sides[i] = apart(&left, &right) == Some(side.apart);
                    }
                }
            }
        }
    }

    /// The value of a term over variables, constants and parameters; `None` where it has none, or none
    /// that is known.
    fn value_at(&self, state: &SymbolicState, term: &Term, params: &[Value]) -> Option<Value> {
        if let (Data::Concrete(variables), Some(constants)) = (&state.data, &self.known) {
            let frame = Frame {
                variables,
                constants,
                params,
            };
            return term.eval(&frame).ok();
        }
        let mut map = self.state_map(&state.values(&self.model), None);
        for var in term.free_vars() {
            if var.id.space() == space::PARAMETER
                && let Some(value) = params.get(var.id.index())
            {
                map.insert_value(&var, value.clone());
            }
        }
        let term = term.substitute(&map).ok()?.simplify();
        term.as_value().cloned()
    }
}

/// How far apart two values are, where that is at most one.
fn apart(left: &Value, right: &Value) -> Option<i8> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => match (a - b).to_i64()? {
            n @ -1..=1 => i8::try_from(n).ok(),
            _ => None,
        },
        (Value::Str(a), Value::Str(b)) if a == b => Some(0),
        (Value::Str(a), Value::Str(b)) => differ_in_one(a, b).then_some(1),
        _ => None,
    }
}

/// Whether one character was replaced, added or left out.
fn differ_in_one(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let front = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a.iter().rev().zip(b.iter().rev());
    let back = back.take_while(|(x, y)| x == y).count();
    (a.len() - back).max(b.len() - back) == 1
}

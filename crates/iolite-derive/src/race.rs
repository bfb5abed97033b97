//! Races: places of a model where an input and an output may cross, so that a tester behind queues
//! cannot tell apart what the model tells apart.

use std::collections::VecDeque;

use iolite_lts::{
    Determinised, LabelId, LabelKind, QuiescencePolicy, Semantics, SetId, StateId, Suspension,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::location::places;

/// Pairs of sets that are compared to find out whether two futures differ.
const MOST_PAIRS: usize = 20_000;

/// An input `a` and an output `x` that are both possible after a trace, and that do not commute: with
/// messages under way, `σ·?a·!x` and `σ·!x·?a` both look like `σ·?a·!x` to the tester.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// A shortest suspension trace to the place, σ.
    pub trace: Vec<String>,
    /// The places of the model after it.
    pub locations: Vec<String>,
    /// The line of the first of them.
    pub line: Option<u32>,
    /// The input.
    pub input: String,
    /// The output.
    pub output: String,
    /// What is lost.
    pub loss: RaceLoss,
}

/// What a tester cannot tell apart where two messages cross.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceLoss {
    /// Both orders are specified, and lead to different futures: what follows in the one and not in the
    /// other, where that was found.
    Futures(Option<Vec<String>>),
    /// Only the output before the input is specified, so a system that sends it later is excused.
    Excused,
    /// After the output the input is not specified, so that nothing can be judged any more.
    Unjudged,
}

impl Race {
    /// The two traces of the system that look alike.
    pub fn confused(&self) -> [Vec<String>; 2] {
        let with = |steps: [&String; 2]| {
            let trace = self.trace.iter().chain(steps);
            trace.cloned().collect()
        };
        [
            with([&self.input, &self.output]),
            with([&self.output, &self.input]),
        ]
    }
}

/// The races of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaceReport {
    /// The first ones, shortest traces first.
    pub races: Vec<Race>,
    /// How many more there are.
    pub more: usize,
    /// Whether all of the model was looked at.
    pub complete: bool,
}

/// Looks for races in the determinised suspension automaton of a model: at most `limit` sets, of which
/// `most` races are listed.
pub fn races(
    model: &dyn Semantics<State = StateId>,
    policy: QuiescencePolicy,
    limit: usize,
    most: usize,
) -> RaceReport {
    let mut view = Determinised::new(Suspension::new(model, policy));
    let start = view.initial();
    let mut found = RaceReport {
        complete: true,
        ..RaceReport::default()
    };
    let mut from: FxHashMap<SetId, Option<(SetId, LabelId)>> = FxHashMap::default();
    from.insert(start, None);
    let mut todo = VecDeque::from([start]);
    // The same race after another trace is listed once.
    let mut told: FxHashSet<(Vec<String>, LabelId, LabelId)> = FxHashSet::default();
    while let Some(at) = todo.pop_front() {
        let row = view.row(at).to_vec();
        for &(label, next) in &row {
            if from.len() < limit || from.contains_key(&next) {
                from.entry(next).or_insert_with(|| {
                    todo.push_back(next);
                    Some((at, label))
                });
            } else {
                found.complete = false;
            }
        }
        let kind = |l: LabelId| view.labels().kind(l);
        let of = |wanted: LabelKind| row.iter().filter(move |&&(l, _)| kind(l) == wanted);
        let inputs: Vec<_> = of(LabelKind::Input).copied().collect();
        let outputs: Vec<_> = of(LabelKind::Output).copied().collect();
        for &(input, taken) in &inputs {
            for &(output, sent) in &outputs {
                let Some(loss) = loss(&mut view, (input, taken), (output, sent)) else {
                    continue;
                };
                let locations = places(&view, at).locations;
                if !told.insert((locations.clone(), input, output)) {
                    continue;
                }
                if found.races.len() >= most {
                    found.more += 1;
                    continue;
                }
                let line = view.members(at).first().and_then(|s| model.line(s));
                let text = |l: LabelId| view.labels().text(l);
                found.races.push(Race {
                    trace: trace_to(&from, at).into_iter().map(text).collect(),
                    locations,
                    line,
                    input: text(input),
                    output: text(output),
                    loss,
                });
            }
        }
    }
    found
}

fn trace_to(from: &FxHashMap<SetId, Option<(SetId, LabelId)>>, mut at: SetId) -> Vec<LabelId> {
    let mut trace = Vec::new();
    while let Some(Some((before, label))) = from.get(&at) {
        trace.push(*label);
        at = *before;
    }
    trace.reverse();
    trace
}

/// What is lost where the two cross; `None` where they commute.
fn loss<M: Semantics<State = StateId>>(
    view: &mut Determinised<M>,
    (input, taken): (LabelId, SetId),
    (output, sent): (LabelId, SetId),
) -> Option<RaceLoss> {
    match (view.after(taken, output), view.after(sent, input)) {
        (_, None) => Some(RaceLoss::Unjudged),
        (None, Some(_)) => Some(RaceLoss::Excused),
        (Some(one), Some(other)) => match difference(view, one, other) {
            Difference::None => None,
            Difference::Trace(trace) => {
                let text = |l: &LabelId| view.labels().text(*l);
                Some(RaceLoss::Futures(Some(trace.iter().map(text).collect())))
            }
            Difference::Unknown => Some(RaceLoss::Futures(None)),
        },
    }
}

enum Difference {
    None,
    /// A shortest trace that only one of the two has.
    Trace(Vec<LabelId>),
    Unknown,
}

/// Whether two places of a deterministic automaton have the same traces.
fn difference<M: Semantics<State = StateId>>(
    view: &mut Determinised<M>,
    one: SetId,
    other: SetId,
) -> Difference {
    if one == other {
        return Difference::None;
    }
    let mut pairs = vec![(one, other, None)];
    let mut seen = FxHashSet::from_iter([(one, other)]);
    let mut next = 0;
    while let Some(&(one, other, _)) = pairs.get(next) {
        let (left, right) = (view.row(one).to_vec(), view.row(other).to_vec());
        let lacks = |row: &[(LabelId, SetId)], label| row.iter().all(|&(l, _)| l != label);
        let only_left = left.iter().find(|&&(l, _)| lacks(&right, l));
        let only = only_left.or_else(|| right.iter().find(|&&(l, _)| lacks(&left, l)));
        if let Some(&(label, _)) = only {
            let mut trace = vec![label];
            let mut at: Option<(usize, LabelId)> = pairs[next].2;
            while let Some((before, label)) = at {
                trace.push(label);
                at = pairs[before].2;
            }
            trace.reverse();
            return Difference::Trace(trace);
        }
        for (&(label, a), &(_, b)) in left.iter().zip(&right) {
            if a != b && seen.insert((a, b)) {
                pairs.push((a, b, Some((next, label))));
            }
        }
        if pairs.len() > MOST_PAIRS {
            return Difference::Unknown;
        }
        next += 1;
    }
    Difference::None
}

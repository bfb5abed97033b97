//! The order of the search is what the rules promise: rules that promise more are found out.
//!
//! Each check compares a search that drops pairs with one that drops none, on the same random pairs:
//! with the rules as they are the answers agree, with a wrong promise some differ. (That a search
//! which drops none is right is the matter of `tests/relations.rs`.)

use std::ops::ControlFlow;

use std::sync::Arc;

use super::cover::Cover;
use super::crew::OneJob;
use super::nodes::{Nodes, Place};
use super::output_inclusion::{Domain, OutputInclusion};
use super::pairs::Order;
use super::refusal::RefusalInclusion;
use super::rules::{Next, PairRules};
use super::search::{Outcome, Violation, search};
use super::set_row::TargetSets;
use super::{Allowed, Effort, Search, TraceSet};
use crate::{
    Completed, Completion, LabelId, LabelKind, Lts, LtsBuilder, QuiescencePolicy, Semantics,
    StateId, Suspension,
};

const LABELS: [&str; 7] = ["?a", "?a", "?b", "!x", "!x", "!y", "i"];
const STATES: u64 = 5;

/// Rules with a wrong promise.
struct Wrong<R> {
    rules: R,
    promise: Promise,
}

/// How sets are compared: an [`Order`] without what it needs of a specification.
#[derive(Clone, Copy)]
enum Compared {
    Equally,
    ByInclusion,
    ByCover,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// The rules' own.
    AsItIs,
    /// That inclusion is right although a set leaves labels open: plain inclusion.
    NothingIsOpen,
    /// That places of F need not be told apart.
    OnePart,
}

impl<R: PairRules> PairRules for Wrong<R> {
    fn has_parts(&self) -> bool {
        self.rules.has_parts()
    }

    fn separates_parts(&self) -> bool {
        self.promise != Promise::OnePart
    }

    fn initial(&mut self) -> (Vec<StateId>, u32) {
        self.rules.initial()
    }

    fn enter(&mut self, place: Place<'_>) {
        self.rules.enter(place);
    }

    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        implementation: &M,
        map: &[LabelId],
        state: StateId,
    ) -> Option<Vec<LabelId>> {
        self.rules.refusal(implementation, map, state)
    }

    fn step(&mut self, label: LabelId, kind: LabelKind, sets: &mut TargetSets) -> Next {
        match self.rules.step(label, kind, sets) {
            Next::Unspecified if self.promise == Promise::NothingIsOpen => Next::Outside,
            next => next,
        }
    }

    fn cover(&self) -> Option<Cover> {
        self.rules.cover()
    }

    fn allowed(&mut self) -> Allowed {
        self.rules.allowed()
    }

    fn bytes(&self) -> usize {
        self.rules.bytes()
    }
}

/// A seeded sequence of numbers below a bound (xorshift).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 20) % bound).unwrap()
    }

    /// A specification, and an implementation that lacks some of its steps and has one more.
    pub(super) fn pair(&mut self) -> (Lts, Lts) {
        let mut builders = [LtsBuilder::new(), LtsBuilder::new()];
        for builder in &mut builders {
            builder.ensure_states(STATES as usize);
            for label in LABELS {
                builder.labels_mut().intern_text(label);
            }
        }
        let [mut implementation, mut specification] = builders;
        for k in 0..6 + self.below(12) {
            let (source, target) = (self.below(STATES), self.below(STATES));
            let label = LABELS[self.below(LABELS.len() as u64)];
            let (source, target) = (StateId::new(source), StateId::new(target));
            if k > 0 {
                specification.transition_text(source, label, target);
            }
            if self.below(10) > 0 {
                implementation.transition_text(source, label, target);
            }
        }
        (
            implementation.build().unwrap(),
            specification.build().unwrap(),
        )
    }
}

fn outcome<R: PairRules>(
    rules: R,
    compared: Compared,
    promise: Promise,
    implementation: &impl Semantics<State = StateId>,
    s: &Lts,
) -> Outcome {
    let map = s.labels().clone().join(implementation.labels());
    let mut proceed = |_: &Effort| ControlFlow::Continue(());
    let mut how = Search {
        counterexamples: 1,
        proceed: &mut proceed,
    };
    let mut rules = Wrong { rules, promise };
    let mut nodes = Nodes::new(rules.has_parts());
    let cover = rules.cover();
    let order = match compared {
        Compared::Equally => Order::Equality,
        Compared::ByInclusion => Order::Inclusion,
        Compared::ByCover => cover.as_ref().map_or(Order::Equality, Order::Covered),
    };
    search(
        &mut rules,
        &mut nodes,
        implementation,
        &map,
        order,
        OneJob,
        &mut how,
    )
}

fn length_of(found: Vec<Violation>) -> Option<usize> {
    let mut found = found.into_iter().map(Violation::into_counterexample);
    found.next().map(|c| c.trace.len())
}

/// How many of the random pairs a promise gives a wrong answer or a longer counterexample for.
/// `check` decides one pair.
fn misjudged(
    compared: Compared,
    promise: Promise,
    check: impl Fn(Compared, Promise, &Lts, &Lts) -> Outcome,
) -> usize {
    let mut numbers = Numbers(0x1234_5678_9ABC_DEF1);
    let pairs = (0..6000).map(|_| numbers.pair());
    let differs = |(i, s): &(Lts, Lts)| {
        let exact = check(Compared::Equally, Promise::AsItIs, i, s);
        length_of(check(compared, promise, i, s).found) != length_of(exact.found)
    };
    pairs.filter(differs).count()
}

fn outputs(domain: Domain, compared: Compared, promise: Promise, i: &Lts, s: &Lts) -> Outcome {
    let view = Suspension::new(s, QuiescencePolicy::Livelock);
    let rules = OutputInclusion::new(view, domain);
    let completed = Completed::over(i, Completion::SelfLoop, s.labels());
    let implementation = Suspension::new(&completed, QuiescencePolicy::Livelock);
    outcome(rules, compared, promise, &implementation, s)
}

fn refusals(all_traces: bool, compared: Compared, promise: Promise, i: &Lts, s: &Lts) -> Outcome {
    let mut rules = RefusalInclusion::new(s, all_traces);
    rules.begin(s.labels());
    outcome(rules, compared, promise, i, s)
}

#[test]
fn plain_inclusion_is_wrong_for_ioco() {
    let ioco = |o, p, i: &Lts, s: &Lts| outputs(Domain::SuspensionTraces, o, p, i, s);
    assert_eq!(misjudged(Compared::ByInclusion, Promise::AsItIs, ioco), 0);
    assert!(misjudged(Compared::ByInclusion, Promise::NothingIsOpen, ioco) > 0);
}

#[test]
fn plain_inclusion_is_wrong_for_ioconf() {
    let ioconf = |o, p, i: &Lts, s: &Lts| outputs(Domain::Traces, o, p, i, s);
    assert_eq!(misjudged(Compared::ByInclusion, Promise::AsItIs, ioconf), 0);
    assert!(misjudged(Compared::ByInclusion, Promise::NothingIsOpen, ioconf) > 0);
}

#[test]
fn plain_inclusion_is_right_for_uioco_and_iot() {
    let uioco = |o, p, i: &Lts, s: &Lts| outputs(Domain::UniversalSuspensionTraces, o, p, i, s);
    assert_eq!(
        misjudged(Compared::ByInclusion, Promise::NothingIsOpen, uioco),
        0
    );
    let iot = |o, p, i: &Lts, s: &Lts| outputs(Domain::AllTraces, o, p, i, s);
    assert_eq!(
        misjudged(Compared::ByInclusion, Promise::NothingIsOpen, iot),
        0
    );
}

#[test]
fn places_of_f_must_be_told_apart() {
    // Traces of two inputs: at the second place of F outputs are judged, at the first not.
    let ioconf_f = |o, p, i: &Lts, s: &Lts| {
        let [a, b] = ["?a", "?b"].map(|l| s.labels().get_text(l).unwrap());
        let traces = TraceSet::listed([&[a, a][..], &[b, a, a], &[b, b]]);
        outputs(Domain::Given(Arc::new(traces)), o, p, i, s)
    };
    assert_eq!(
        misjudged(Compared::ByInclusion, Promise::AsItIs, ioconf_f),
        0
    );
    assert!(misjudged(Compared::ByInclusion, Promise::OnePart, ioconf_f) > 0);
}

#[test]
fn plain_inclusion_is_wrong_for_conf_and_right_for_testing() {
    let conf = |o, p, i: &Lts, s: &Lts| refusals(false, o, p, i, s);
    assert_eq!(misjudged(Compared::ByInclusion, Promise::AsItIs, conf), 0);
    assert!(misjudged(Compared::ByInclusion, Promise::NothingIsOpen, conf) > 0);
    let testing = |o, p, i: &Lts, s: &Lts| refusals(true, o, p, i, s);
    assert_eq!(
        misjudged(Compared::ByInclusion, Promise::NothingIsOpen, testing),
        0
    );
}

/// The largest number of pairs that a cover spared a search of random pairs, which found what equality finds. `search`
/// decides one pair.
fn spared(search: impl Fn(Compared, &Lts, &Lts) -> Outcome) -> usize {
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    let pairs = (0..6000).map(|_| numbers.pair());
    let spared = |(i, s): (Lts, Lts)| {
        let equal = search(Compared::Equally, &i, &s);
        let covered = search(Compared::ByCover, &i, &s);
        assert_eq!(length_of(equal.found), length_of(covered.found));
        equal.effort.pairs.saturating_sub(covered.effort.pairs)
    };
    pairs.map(spared).max().unwrap_or(0)
}

#[test]
fn a_cover_is_right_for_partial_specifications_and_drops_pairs() {
    let by_outputs = |domain: Domain| {
        spared(|compared, i, s| outputs(domain.clone(), compared, Promise::AsItIs, i, s))
    };
    let by_refusals = spared(|compared, i, s| refusals(false, compared, Promise::AsItIs, i, s));
    let spared = [
        by_outputs(Domain::SuspensionTraces),
        by_outputs(Domain::Traces),
        by_refusals,
    ];
    assert!(spared.iter().all(|&pairs| pairs > 5), "{spared:?}");
}

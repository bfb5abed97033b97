//! Whether a test case can fail an implementation that conforms.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use iolite_lts::{
    Determinised, LabelId, LabelKind, QuiescencePolicy, Semantics, SetId, StateId, Suspension,
};
use rustc_hash::FxHashMap;

use super::{Meanings, SuiteRelation, claims};
use crate::{TestCase, TestStateId, TestStep, Verdict};

/// A run that fails, and that an implementation which conforms may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsound {
    /// The verdict that claims too much.
    pub verdict: Verdict,
    /// The actions of the run, in `?a`, `!x`, `delta` notation.
    pub run: Vec<String>,
    /// The actions that are then refused, where that ends the run.
    pub refuses: Option<Vec<String>>,
    /// The outputs, and δ, that an implementation which conforms may show where the last action of the
    /// run was observed; none for conf, and where the tester's own step ended the run.
    pub allowed: Vec<String>,
    /// Whether the specification has the trace; otherwise it left the specification before, by
    /// something about which nothing is specified.
    pub specified: bool,
}

/// A shortest run that shows a test case not to be sound: that ends in `fail` although an
/// implementation which conforms may have it. `None` where the test case is sound.
///
/// For ioco an implementation may have a run if each output and each δ in it is one of
/// `out(s after σ)`, wherever the trace σ before it is one of the specification. Whoever has a trace
/// has it without its δs too, since quiescence changes no state, so all of these are looked at. For
/// conf nothing is said of traces, and of refusals only after traces of the specification.
pub fn soundness<M: Semantics<State = StateId>>(
    case: &TestCase,
    specification: &M,
    relation: SuiteRelation,
    policy: QuiescencePolicy,
) -> Option<Unsound> {
    match relation {
        SuiteRelation::Conf => Refusals {
            case,
            meanings: Meanings::new(specification.labels(), case),
            view: Determinised::new(specification),
        }
        .search(),
        SuiteRelation::Ioco | SuiteRelation::Ioconf => Outputs {
            case,
            meanings: Meanings::new(specification.labels(), case),
            view: Determinised::new(Suspension::new(specification, policy)),
            suspension: relation == SuiteRelation::Ioco,
            policy,
        }
        .search(),
    }
}

/// The sets after the trace of a run, and after it without some of its δs; those traces only that the
/// specification has.
type Views = Vec<SetId>;

/// A state of the test case, the views, and whether the last action was δ.
type Place = (TestStateId, Views, bool);

/// How a place was reached: from which, by which action.
type Before<P> = FxHashMap<P, Option<(P, String)>>;

fn run_to<P: Clone + Eq + std::hash::Hash>(before: &Before<P>, place: &P) -> Vec<String> {
    let mut run = Vec::new();
    let mut at = place;
    while let Some(Some((from, action))) = before.get(at) {
        run.push(action.clone());
        at = from;
    }
    run.reverse();
    run
}

struct Outputs<'a, M: Semantics<State = StateId>> {
    case: &'a TestCase,
    meanings: Meanings,
    view: Determinised<Suspension<&'a M>>,
    /// Whether traces hold δ.
    suspension: bool,
    policy: QuiescencePolicy,
}

impl<M: Semantics<State = StateId>> Outputs<'_, M> {
    fn search(&mut self) -> Option<Unsound> {
        let start: Place = (self.case.initial(), vec![self.view.initial()], false);
        let mut before: Before<Place> = FxHashMap::default();
        before.insert(start.clone(), None);
        let mut queue = VecDeque::from([start]);
        // A run with one more action that ends at once is as long as those of the next round.
        let mut longer: Option<Unsound> = None;
        while let Some(place) = queue.pop_front() {
            let state = self.case.state(place.0);
            let found = |run: Vec<String>, verdict, views: &Views, allowed| Unsound {
                verdict,
                run,
                refuses: None,
                allowed,
                specified: !views.is_empty(),
            };
            if state.step == TestStep::End {
                if claims(state.verdict) {
                    let run = run_to(&before, &place);
                    let allowed = match before.get(&place) {
                        Some(Some((from, action))) if !action.starts_with('?') => {
                            self.allowed(from)
                        }
                        _ => Vec::new(),
                    };
                    let this = found(run, state.verdict, &place.1, allowed);
                    return Some(match longer {
                        Some(longer) if longer.run.len() <= this.run.len() => longer,
                        _ => this,
                    });
                }
                continue;
            }
            if let Some(known) = &longer
                && run_to(&before, &place).len() >= known.run.len()
            {
                return longer;
            }
            for (action, verdict) in self.endings(&place) {
                if claims(verdict) && longer.is_none() {
                    let mut run = run_to(&before, &place);
                    run.push(action);
                    longer = Some(found(run, verdict, &place.1, self.allowed(&place)));
                }
            }
            for (action, next) in self.steps(&place) {
                if !before.contains_key(&next) {
                    before.insert(next.clone(), Some((place.clone(), action)));
                    queue.push_back(next);
                }
            }
        }
        longer
    }

    /// Whether a conforming implementation may show an output.
    fn may_show(&mut self, (_, views, quiet): &Place, output: Option<LabelId>) -> bool {
        // Silence lasts until an input; only a livelock may end by itself.
        if *quiet && self.policy != QuiescencePolicy::Livelock {
            return false;
        }
        let view = &mut self.view;
        let mut allowed = |v: SetId| output.is_some_and(|l| view.after(v, l).is_some());
        views.iter().all(|&v| allowed(v))
    }

    fn may_be_quiet(&mut self, (_, views, _): &Place) -> bool {
        let view = &mut self.view;
        let mut allowed = |v: SetId| view.after(v, LabelId::DELTA).is_some();
        views.iter().all(|&v| allowed(v))
    }

    /// The outputs of either alphabet, and δ, that a conforming implementation may show.
    fn allowed(&mut self, place: &Place) -> Vec<String> {
        let labels = self.case.labels();
        let foreign = labels.outputs().map(|own| labels.text(own));
        let own = self.view.labels();
        let foreign: Vec<String> = foreign
            .filter(|text| own.get_text(text).is_none())
            .collect();
        let outputs: Vec<LabelId> = own.outputs().collect();
        let mut allowed = Vec::new();
        for output in outputs {
            if self.may_show(place, Some(output)) {
                allowed.push(self.view.labels().text(output));
            }
        }
        if self.may_show(place, None) {
            allowed.extend(foreign);
        }
        if self.may_be_quiet(place) {
            allowed.push("delta".to_owned());
        }
        allowed
    }

    /// Actions that end a run without a step of the test case: outputs that it does not know, and
    /// silence where it has no θ.
    fn endings(&mut self, place: &Place) -> Vec<(String, Verdict)> {
        let state = self.case.state(place.0);
        let TestStep::Observe { quiescence, .. } = &state.step else {
            return Vec::new();
        };
        let mut endings = Vec::new();
        if quiescence.is_none() && self.may_be_quiet(place) {
            endings.push(("delta".to_owned(), state.verdict));
        }
        let outputs: Vec<LabelId> = self.view.labels().outputs().collect();
        for output in outputs {
            if self.meanings.known[output.index()].is_none() && self.may_show(place, Some(output)) {
                endings.push((self.view.labels().text(output), Verdict::Fail));
            }
        }
        endings
    }

    fn steps(&mut self, place: &Place) -> Vec<(String, Place)> {
        let (t, views, _) = place;
        let mut all = Vec::new();
        for (own, to) in self.case.state(*t).steps() {
            let kind = self.case.labels().kind(own);
            if kind == LabelKind::Delta {
                if self.may_be_quiet(place) {
                    let next = (to, self.after_delta(views), true);
                    all.push(("delta".to_owned(), next));
                }
                continue;
            }
            let mut meant: Vec<Option<LabelId>> = self.meanings.stands_for[own.index()]
                .iter()
                .copied()
                .map(Some)
                .collect();
            if meant.is_empty() {
                meant.push(None);
            }
            for label in meant {
                if kind == LabelKind::Output && !self.may_show(place, label) {
                    continue;
                }
                let view = &mut self.view;
                let after = |&v: &SetId| view.after(v, label?);
                let next = sorted(views.iter().filter_map(after).collect());
                let text = match label {
                    Some(label) => self.view.labels().text(label),
                    None => self.case.labels().text(own),
                };
                all.push((text, (to, next, false)));
            }
        }
        all
    }

    fn after_delta(&mut self, views: &Views) -> Views {
        let mut next = views.clone();
        if self.suspension {
            let view = &mut self.view;
            next.extend(views.iter().filter_map(|&v| view.after(v, LabelId::DELTA)));
        }
        sorted(next)
    }
}

fn sorted(mut views: Views) -> Views {
    views.sort_unstable();
    views.dedup();
    views
}

struct Refusals<'a, M: Semantics<State = StateId>> {
    case: &'a TestCase,
    meanings: Meanings,
    view: Determinised<&'a M>,
}

impl<M: Semantics<State = StateId>> Refusals<'_, M> {
    fn search(&mut self) -> Option<Unsound> {
        let start = (self.case.initial(), Some(self.view.initial()));
        let mut before: Before<(TestStateId, Option<SetId>)> = FxHashMap::default();
        before.insert(start, None);
        let mut queue = VecDeque::from([start]);
        while let Some(place) = queue.pop_front() {
            let (t, set) = place;
            let state = self.case.state(t);
            let offered = state.steps();
            let ends = match state.step {
                TestStep::End => true,
                _ => set.is_none_or(|set| self.may_refuse(set, &offered)),
            };
            if ends && claims(state.verdict) {
                let text = |&(l, _): &(LabelId, TestStateId)| self.case.labels().text(l);
                let refuses = (state.step != TestStep::End)
                    .then(|| offered.iter().map(text).collect::<Vec<_>>());
                return Some(Unsound {
                    verdict: state.verdict,
                    run: run_to(&before, &place),
                    refuses,
                    allowed: Vec::new(),
                    specified: set.is_some(),
                });
            }
            for (own, to) in offered {
                let meant = self.meanings.stands_for[own.index()].first().copied();
                let after = match (set, meant) {
                    (Some(set), Some(label)) => self.view.after(set, label),
                    _ => None,
                };
                let next = (to, after);
                if let Entry::Vacant(new) = before.entry(next) {
                    new.insert(Some((place, self.case.labels().text(own))));
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Whether a state of the set can do none of the actions, also not after internal ones.
    fn may_refuse(&mut self, set: SetId, offered: &[(LabelId, TestStateId)]) -> bool {
        let members = self.view.members(set).to_vec();
        members.into_iter().any(|state| {
            let closed = self.view.set_of(&[state]);
            let known = &self.meanings.known;
            let taken = |&(l, _): &(LabelId, SetId)| {
                offered
                    .iter()
                    .any(|&(own, _)| known[l.index()] == Some(own))
            };
            !self.view.row(closed).iter().any(taken)
        })
    }
}

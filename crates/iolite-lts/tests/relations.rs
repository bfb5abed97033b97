//! Each relation against its definition, on random pairs, and the papers' propositions.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::*;
use iolite_lts::relation::{
    Answer, Claim, Holds, Observed, Recheck, RelateError, Relation, TraceSet, recheck, relate,
};
use iolite_lts::{
    Completed, Completion, DeltaTrace, LabelId, Labels, Lts, QuiescencePolicy, explore,
};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
const SUSPENSION: [&str; 5] = ["?a", "?b", "!x", "!y", "delta"];
const DIRECTED: [&str; 4] = ["?a", "?b", "!x", "!y"];

/// The length of the shortest trace that parts the two, by the library; the counterexample is
/// rechecked on the way.
fn fast(relation: Relation, i: &Lts, s: &Lts, traces: Option<TraceSet>) -> Option<usize> {
    fast_under(POLICY, relation, i, s, traces)
}

fn fast_under(
    policy: QuiescencePolicy,
    relation: Relation,
    i: &Lts,
    s: &Lts,
    traces: Option<TraceSet>,
) -> Option<usize> {
    let answer = relate(relation, i, s, policy, traces).unwrap();
    match answer.holds {
        Holds::Yes => None,
        Holds::Unknown => panic!("nothing was bounded"),
        Holds::No(found) => {
            let text = |l: &LabelId| answer.labels.text(*l);
            let claim = Claim {
                relation,
                policy,
                trace: found[0].trace.iter().map(text).collect(),
                observed: match &found[0].observed {
                    Observed::Action(l) => Ok(text(l)),
                    Observed::Refusal(set) => Err(set.iter().map(text).collect()),
                },
            };
            assert_eq!(recheck(i, s, &claim), Recheck::Confirmed, "{claim:?}");
            Some(found[0].trace.len())
        }
    }
}

fn holds(relation: Relation, i: &Lts, s: &Lts) -> bool {
    fast(relation, i, s, None).is_none()
}

/// out(i after σ) ⊄ out(s after σ).
fn outputs_differ(i: &Slow, s: &Slow) -> impl Fn(&Set, &Set) -> bool {
    move |p, q| !i.observations(p).is_subset(&s.observations(q))
}

/// The same system with its labels in another order.
fn with_labels_turned(lts: &Lts) -> Lts {
    let mut labels = Labels::new();
    let all: Vec<_> = lts
        .labels()
        .iter()
        .map(|(_, label)| label.clone())
        .collect();
    for label in all.iter().rev() {
        labels.intern(label.kind, &label.name);
    }
    let map: Vec<_> = all
        .iter()
        .map(|label| labels.get(label.kind, &label.name).unwrap())
        .collect();
    lts.over(Arc::new(labels), &map)
}

fn slow(relation: Relation, i: &Lts, s: &Lts) -> Option<usize> {
    let (i, s) = (&Slow::new(i, POLICY), &Slow::new(s, POLICY));
    let inside = |_: &Set, q: &Set, a: &str| !s.then(q, a).is_empty();
    let everywhere = |_: &Set, _: &Set, _: &str| true;
    let refused = subsets(&PLAIN);
    let refusals_differ = |p: &Set, q: &Set| {
        refused
            .iter()
            .any(|set| i.refuses(p, set) && !s.refuses(q, set))
    };
    match relation {
        // A trace that the specification lacks is found one step before its last action.
        Relation::Trace => shortest_violation(i, s, &PLAIN, |_, q| q.is_empty(), everywhere)
            .map(|length| length - 1),
        Relation::Testing => shortest_violation(i, s, &PLAIN, refusals_differ, everywhere),
        Relation::Conf => shortest_violation(i, s, &PLAIN, refusals_differ, inside),
        Relation::Iot => shortest_violation(i, s, &DIRECTED, outputs_differ(i, s), everywhere),
        Relation::Ioconf => shortest_violation(i, s, &DIRECTED, outputs_differ(i, s), inside),
        Relation::Ioco => shortest_violation(i, s, &SUSPENSION, outputs_differ(i, s), inside),
        Relation::Uioco => {
            let universal = |p: &Set, q: &Set, a: &str| {
                let input = BTreeSet::from([a.to_owned()]);
                inside(p, q, a) && !(a.starts_with('?') && s.refuses(q, &input))
            };
            shortest_violation(i, s, &SUSPENSION, outputs_differ(i, s), universal)
        }
        Relation::IoconfF => unreachable!("has its own test"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(3000)))]

    #[test]
    fn plain_relations_agree_with_their_definitions(i in plain(), s in plain()) {
        for relation in [Relation::Trace, Relation::Testing, Relation::Conf] {
            prop_assert_eq!(fast(relation, &i, &s, None), slow(relation, &i, &s), "{}", relation);
        }
    }

    #[test]
    fn directed_relations_agree_with_their_definitions(i in input_enabled(), s in directed()) {
        for relation in [Relation::Iot, Relation::Ioconf, Relation::Ioco, Relation::Uioco] {
            prop_assert_eq!(fast(relation, &i, &s, None), slow(relation, &i, &s), "{}", relation);
        }
    }

    /// The same on pairs whose sets include one another, so that pairs are dropped.
    /// A search that asks for the loops of completion all at once finds what one finds that has them as steps
    /// of the system, whether or not both sides number their labels alike.
    #[test]
    fn completion_by_self_loops_is_the_completed_system(
        other in directed(),
        s in directed(),
        same in any::<bool>(),
        turned in any::<bool>(),
    ) {
        let i = if same { s.clone() } else { other };
        let i = if turned { with_labels_turned(&i) } else { i };
        let view = Completed::over(&i, Completion::SelfLoop, s.labels());
        let explicit = explore(&view, 1000).unwrap();
        for relation in [Relation::Iot, Relation::Ioconf, Relation::Ioco, Relation::Uioco] {
            let found = |answer: Answer| match answer.holds {
                Holds::Yes => None,
                Holds::No(found) => Some(found[0].trace.len()),
                Holds::Unknown => panic!("nothing stopped the search"),
            };
            let apart = found(relate(relation, &view, &s, POLICY, None).unwrap());
            prop_assert_eq!(apart, fast(relation, &explicit, &s, None), "{}", relation);
            prop_assert_eq!(apart, slow(relation, &explicit, &s), "{}", relation);
        }
    }

    /// Chaos gives every output that either model has, whether or not a transition of its own is for it.
    #[test]
    fn chaos_may_do_whatever_either_model_speaks_of(i in sparing(), s in sparing()) {
        let view = Completed::over(&i, Completion::Chaos, s.labels());
        let own = [i.labels(), s.labels()].into_iter().flat_map(|labels| {
            labels.inputs().chain(labels.outputs()).map(|l| labels.text(l))
        });
        let explicit = chaotic(&i, &own.collect());
        for relation in [Relation::Iot, Relation::Ioconf, Relation::Ioco, Relation::Uioco] {
            let found = match relate(relation, &view, &s, POLICY, None).unwrap().holds {
                Holds::Yes => None,
                Holds::No(found) => Some(found[0].trace.len()),
                Holds::Unknown => panic!("nothing stopped the search"),
            };
            prop_assert_eq!(found, slow(relation, &explicit, &s), "{}", relation);
        }
    }

    #[test]
    fn plain_relations_agree_on_near_pairs((i, s) in near_plain()) {
        for relation in [Relation::Trace, Relation::Testing, Relation::Conf] {
            prop_assert_eq!(fast(relation, &i, &s, None), slow(relation, &i, &s), "{}", relation);
        }
    }

    #[test]
    fn directed_relations_agree_on_near_pairs((i, s) in near_directed(false)) {
        for relation in [Relation::Iot, Relation::Ioconf, Relation::Ioco, Relation::Uioco] {
            prop_assert_eq!(fast(relation, &i, &s, None), slow(relation, &i, &s), "{}", relation);
        }
    }

    #[test]
    fn directed_relations_agree_on_near_input_enabled_pairs((i, s) in near_directed(true)) {
        for relation in [Relation::Iot, Relation::Ioconf, Relation::Ioco, Relation::Uioco] {
            prop_assert_eq!(fast(relation, &i, &s, None), slow(relation, &i, &s), "{}", relation);
        }
    }

    /// With the fair policy δ is what definitions 4.4 and 6.3 of [LTS96] say, where it may only come
    /// last: some state refuses all outputs, also after internal actions.
    #[test]
    fn fair_quiescence_is_the_refusal_of_all_outputs((i, s) in near_directed(true)) {
        let fair = QuiescencePolicy::Fair;
        let (slow_i, slow_s) = (Slow::new(&i, fair), Slow::new(&s, fair));
        let outputs = BTreeSet::from(["!x".to_owned(), "!y".to_owned()]);
        let out = |slow: &Slow, set: &Set| {
            let mut out: BTreeSet<String> =
                set.iter().flat_map(|&q| slow.weak_initials(q)).filter(|a| outputs.contains(a)).collect();
            if slow.refuses(set, &outputs) {
                out.insert("delta".to_owned());
            }
            out
        };
        let differ = |p: &Set, q: &Set| !out(&slow_i, p).is_subset(&out(&slow_s, q));
        let inside = |_: &Set, q: &Set, a: &str| !slow_s.then(q, a).is_empty();
        let everywhere = |_: &Set, _: &Set, _: &str| true;
        let iot = shortest_violation(&slow_i, &slow_s, &DIRECTED, differ, everywhere);
        prop_assert_eq!(fast_under(fair, Relation::Iot, &i, &s, None), iot);
        let ioconf = shortest_violation(&slow_i, &slow_s, &DIRECTED, differ, inside);
        prop_assert_eq!(fast_under(fair, Relation::Ioconf, &i, &s, None), ioconf);
        let differ = outputs_differ(&slow_i, &slow_s);
        let ioco = shortest_violation(&slow_i, &slow_s, &SUSPENSION, differ, inside);
        prop_assert_eq!(fast_under(fair, Relation::Ioco, &i, &s, None), ioco);
    }

    /// F is an automaton here, so that traces of F meet in one place with different sets.
    #[test]
    fn ioconf_f_agrees_on_near_pairs((i, s) in near_directed(false), f in directed()) {
        let (slow_i, slow_s) = (Slow::new(&i, POLICY), Slow::new(&s, POLICY));
        let slow_f = Slow::new(&f, POLICY);
        let shortest = shortest_violation_within(
            (&slow_i, &slow_s, &slow_f), &DIRECTED, outputs_differ(&slow_i, &slow_s));
        let set = TraceSet::accepted(&f, s.labels(), |_| true);
        prop_assert_eq!(fast(Relation::IoconfF, &i, &s, Some(set)), shortest);
    }

    #[test]
    fn ioconf_f_agrees_with_its_definition(
        i in input_enabled(),
        s in directed(),
        traces in prop::collection::vec(
            prop::collection::vec(prop::sample::select(DIRECTED.to_vec()), 0..4), 0..4),
    ) {
        let (slow_i, slow_s) = (Slow::new(&i, POLICY), Slow::new(&s, POLICY));
        let shortest = traces
            .iter()
            .filter(|trace| {
                let walk = |m: &Slow| trace.iter().fold(m.start(), |set, a| m.then(&set, a));
                outputs_differ(&slow_i, &slow_s)(&walk(&slow_i), &walk(&slow_s))
            })
            .map(Vec::len)
            .min();
        let ids: Vec<Vec<LabelId>> = traces
            .iter()
            .map(|t| t.iter().map(|a| s.labels().get_text(a).unwrap()).collect())
            .collect();
        let set = TraceSet::listed(ids.iter().map(Vec::as_slice));
        prop_assert_eq!(fast(Relation::IoconfF, &i, &s, Some(set.clone())), shortest);

        // Monotone in F: what holds for a set holds for its subsets [LTS96, §6].
        let fewer = TraceSet::listed(ids.iter().skip(1).map(Vec::as_slice));
        if shortest.is_none() {
            prop_assert_eq!(fast(Relation::IoconfF, &i, &s, Some(fewer)), None);
        }
        // F = traces(s) gives ioconf; s itself is the automaton.
        let own = TraceSet::accepted(&s, s.labels(), |_| true);
        let by_f = fast(Relation::IoconfF, &i, &s, Some(own));
        prop_assert_eq!(by_f, fast(Relation::Ioconf, &i, &s, None));
    }

    /// ≤te = ≤tr ∩ conf [LTS96, prop. 4.9.2].
    #[test]
    fn testing_is_trace_and_conf(i in plain(), s in plain()) {
        let both = holds(Relation::Trace, &i, &s) && holds(Relation::Conf, &i, &s);
        prop_assert_eq!(holds(Relation::Testing, &i, &s), both);
    }

    /// On input-enabled systems ≤iot = ioconf [LTS96, prop. 6.12], and ioco is stronger.
    #[test]
    fn on_input_enabled_specifications_iot_is_ioconf(i in input_enabled(), s in input_enabled()) {
        prop_assert_eq!(holds(Relation::Iot, &i, &s), holds(Relation::Ioconf, &i, &s));
        // There every suspension trace is universal.
        prop_assert_eq!(holds(Relation::Ioco, &i, &s), holds(Relation::Uioco, &i, &s));
    }

    /// i ≤iot s iff Δ_i ≤tr Δ_s [LTS96, theorem 6.6].
    #[test]
    fn iot_is_trace_preorder_on_delta_trace_automata(i in input_enabled(), s in directed()) {
        let delta = |m: &Lts| explore(&DeltaTrace::new(m, POLICY), 100).unwrap();
        let (delta_i, delta_s) = (delta(&i), delta(&s));
        prop_assert_eq!(holds(Relation::Trace, &delta_i, &delta_s), holds(Relation::Iot, &i, &s));
    }

    /// ioco ⊆ ioconf and ioco ⊆ uioco, for any specification.
    #[test]
    fn ioco_is_the_strongest(i in input_enabled(), s in directed()) {
        if holds(Relation::Ioco, &i, &s) {
            prop_assert!(holds(Relation::Ioconf, &i, &s));
            prop_assert!(holds(Relation::Uioco, &i, &s));
        }
    }

    /// ≤tr and ≤te are preorders [LTS96, prop. 4.9.1]; all relations but those that a
    /// partial specification breaks are reflexive.
    #[test]
    fn preorders(p in plain(), q in plain(), r in plain(), i in input_enabled()) {
        for relation in [Relation::Trace, Relation::Testing] {
            prop_assert!(holds(relation, &p, &p));
            if holds(relation, &p, &q) && holds(relation, &q, &r) {
                prop_assert!(holds(relation, &p, &r));
            }
        }
        prop_assert!(holds(Relation::Conf, &p, &p));
        for relation in [Relation::Iot, Relation::Ioconf, Relation::Ioco, Relation::Uioco] {
            prop_assert!(holds(relation, &i, &i));
        }
    }

    /// `--all`: the first counterexample is the one found alone, and each of the others is right.
    #[test]
    fn listing_more_counterexamples_keeps_the_first(i in input_enabled(), s in directed()) {
        use iolite_lts::relation::{Search, SpecificationSide};
        let first = relate(Relation::Ioco, &i, &s, POLICY, None).unwrap().holds;
        let mut side = SpecificationSide::new(Relation::Ioco, &s, POLICY, None).unwrap();
        let mut proceed = |_: &_| std::ops::ControlFlow::Continue(());
        let mut how = Search { counterexamples: 100, proceed: &mut proceed };
        let all = side.check(&i, &mut how).unwrap();
        match (first, all.holds) {
            (Holds::Yes, Holds::Yes) => {}
            (Holds::No(one), Holds::No(many)) => {
                prop_assert_eq!(&one[0], &many[0]);
                let (slow_i, slow_s) = (Slow::new(&i, POLICY), Slow::new(&s, POLICY));
                for found in many {
                    let walk = |m: &Slow| {
                        let texts = found.trace.iter().map(|&l| all.labels.text(l));
                        texts.fold(m.start(), |set, a| m.then(&set, &a))
                    };
                    let Observed::Action(seen) = found.observed else { panic!("no refusals") };
                    let seen = all.labels.text(seen);
                    prop_assert!(slow_i.observations(&walk(&slow_i)).contains(&seen));
                    prop_assert!(!slow_s.observations(&walk(&slow_s)).contains(&seen));
                }
            }
            (one, many) => prop_assert!(false, "{:?} {:?}", one, many),
        }
    }
}

/// conf is not transitive [LTS96, prop. 4.9.1]: `a;stop [] b;b;stop`, `a;stop`,
/// `a;stop [] b;a;stop`.
#[test]
fn conf_is_not_transitive() {
    let p = system(4, &PLAIN, &[(0, "a", 1), (0, "b", 2), (2, "b", 3)]);
    let q = system(2, &PLAIN, &[(0, "a", 1)]);
    let r = system(4, &PLAIN, &[(0, "a", 1), (0, "b", 2), (2, "a", 3)]);
    let r_weak = system(
        6,
        &PLAIN,
        &[
            (0, "i", 4),
            (4, "a", 1),
            (0, "i", 5),
            (5, "a", 1),
            (5, "b", 2),
            (2, "a", 3),
        ],
    );
    assert!(holds(Relation::Conf, &p, &q));
    // q refuses b at once, which r never does: so the middle system must be allowed to.
    assert!(!holds(Relation::Conf, &q, &r));
    assert!(holds(Relation::Conf, &q, &r_weak));
    assert!(!holds(Relation::Conf, &p, &r_weak));
}

/// A larger specification set allows more now and demands more later, so pruning by inclusion would
/// miss this fault: after `?a!x` the specification may be in {1, 2}, and only 2 takes `?b`.
#[test]
fn a_larger_specification_set_is_not_weaker() {
    let s = system(
        6,
        &DIRECTED,
        &[
            (0, "?a", 1),
            (1, "!x", 0),
            (0, "?a", 2),
            (2, "!x", 3),
            (3, "?b", 4),
            (4, "!x", 4),
        ],
    );
    let i = system(
        3,
        &DIRECTED,
        &[
            (0, "?a", 1),
            (0, "?b", 2),
            (1, "!x", 0),
            (1, "?a", 1),
            (1, "?b", 1),
            (2, "!y", 2),
            (2, "?a", 2),
            (2, "?b", 2),
        ],
    );
    assert_eq!(fast(Relation::Ioco, &i, &s, None), Some(3));
}

/// Nor is it enough that two sets take the same inputs now. After `?a` the specification may be in
/// {1}, after `?b` in {1, 2}, and both take `?a` alone; but what 2 reaches by it takes `?b`, and then
/// wants silence.
#[test]
fn the_same_inputs_now_are_not_enough() {
    let s = system(
        6,
        &DIRECTED,
        &[
            (0, "?a", 1),
            (0, "?b", 1),
            (0, "?b", 2),
            (1, "?a", 3),
            (2, "?a", 4),
            (4, "?b", 5),
        ],
    );
    let i = system(
        4,
        &DIRECTED,
        &[
            (0, "?a", 1),
            (0, "?b", 1),
            (1, "?a", 2),
            (1, "?b", 1),
            (2, "?b", 3),
            (2, "?a", 2),
            (3, "!y", 3),
            (3, "?a", 3),
            (3, "?b", 3),
        ],
    );
    for relation in [Relation::Ioco, Relation::Ioconf] {
        assert_eq!(fast(relation, &i, &s, None), Some(3));
        assert_eq!(slow(relation, &i, &s), Some(3));
    }
    // All states of {1, 2} after `?a` would have to take `?b`.
    assert_eq!(fast(Relation::Uioco, &i, &s, None), None);
}

/// A pair with a smaller set must not drop one that is reached by fewer actions: {1} comes up after
/// `a`, {1, 2} after no action at all but by an internal step.
#[test]
fn internal_steps_keep_counterexamples_shortest() {
    let s = system(
        3,
        &PLAIN,
        &[(0, "a", 1), (0, "i", 1), (0, "i", 2), (2, "c", 2)],
    );
    let i = system(
        3,
        &PLAIN,
        &[(0, "a", 1), (0, "i", 2), (2, "i", 1), (1, "b", 1)],
    );
    assert_eq!(fast(Relation::Trace, &i, &s, None), Some(0));
    assert_eq!(slow(Relation::Trace, &i, &s), Some(0));
}

/// 2^20 sets, and for each state of the implementation one that all others include.
#[test]
fn an_antichain_is_smaller_than_the_sets_it_stands_for() {
    let k = 20;
    let mut steps = vec![(0, "?a", 0), (0, "!x", 0), (0, "?a", 1), (k, "!y", k + 1)];
    for j in 1..k {
        steps.extend([(j, "?a", j + 1), (j, "!x", j + 1)]);
    }
    let hard = system(k + 2, &["?a", "!x", "!y"], &steps);
    for relation in [Relation::Trace, Relation::Testing, Relation::Conf] {
        let answer = relate(relation, &hard, &hard, POLICY, None).unwrap();
        assert_eq!(answer.holds, Holds::Yes);
        assert!(answer.effort.pairs < 100, "{}", answer.effort.pairs);
    }
    // The last state takes no input, and is met after as many actions as a violation: the search that meets both need not
    // begin again without the antichain, whichever comes first.
    let mut complete = steps.clone();
    complete.extend([(k, "?a", k), (k + 1, "?a", k + 1)]);
    let complete = system(k + 2, &["?a", "!x", "!y"], &complete);
    for relation in [Relation::Ioco, Relation::Ioconf] {
        let answer = relate(relation, &complete, &hard, POLICY, None).unwrap();
        let Holds::No(found) = answer.holds else {
            panic!("{relation}: {:?}", answer.holds);
        };
        assert_eq!(found[0].trace.len(), k + 1);
        assert!(answer.effort.pairs < 100, "{}", answer.effort.pairs);
    }
}

#[test]
fn what_cannot_be_asked_is_an_error_that_names_the_place() {
    let s = system(2, &DIRECTED, &[(0, "?a", 1)]);
    assert_eq!(
        relate(Relation::Ioco, &s, &s, POLICY, None),
        Err(RelateError::NotInputEnabled {
            state: "0".into(),
            input: "?b".into()
        })
    );
    // The specification's inputs are the implementation's, whether it knows them or not.
    let deaf = system(1, &["!x"], &[]);
    assert_eq!(
        relate(Relation::Ioco, &deaf, &s, POLICY, None),
        Err(RelateError::NotInputEnabled {
            state: "0".into(),
            input: "?a".into()
        })
    );
    let loops = system(1, &["!x"], &[(0, "i", 0)]);
    let strict = relate(
        Relation::Ioco,
        &loops,
        &loops,
        QuiescencePolicy::Strict,
        None,
    );
    let livelock = RelateError::Livelock {
        side: "implementation",
        state: "0".into(),
    };
    assert_eq!(strict, Err(livelock));
    assert_eq!(fast(Relation::Ioco, &loops, &loops, None), None);
    let plain = system(1, &["a"], &[]);
    assert!(matches!(
        relate(Relation::Ioco, &loops, &plain, POLICY, None),
        Err(RelateError::Undirected {
            side: "specification",
            ..
        })
    ));
    assert_eq!(
        relate(Relation::IoconfF, &loops, &loops, POLICY, None),
        Err(RelateError::NoTraceSet)
    );
}

/// Labels that only the implementation knows: an output is a fault, an input is unspecified.
#[test]
fn foreign_labels_follow_the_definitions() {
    let s = system(2, &["?a", "!x"], &[(0, "?a", 1), (1, "!x", 0)]);
    let foreign_input = system(
        2,
        &[],
        &[
            (0, "?a", 1),
            (1, "!x", 0),
            (0, "?z", 1),
            (1, "?a", 1),
            (1, "?z", 1),
        ],
    );
    assert!(holds(Relation::Ioco, &foreign_input, &s));
    assert!(!holds(Relation::Iot, &foreign_input, &s));
    let foreign_output = system(2, &[], &[(0, "?a", 1), (1, "!w", 0), (1, "?a", 1)]);
    assert_eq!(fast(Relation::Ioco, &foreign_output, &s, None), Some(1));
}

/// The same behind an input that is taken once, so that every set leaves it open and pairs may not be dropped by inclusion.
/// What the counting states take, the first one takes as well, so that it covers them.
#[test]
fn a_cover_is_smaller_than_the_sets_it_stands_for() {
    let k = 20;
    let labels = ["?go", "?a", "!x", "!y", "!z"];
    let mut steps = vec![(0, "?go", 1), (1, "?a", 1), (1, "!x", 1), (1, "?a", 2)];
    for j in 2..=k {
        steps.extend([(j, "?a", j + 1), (j, "!x", j + 1)]);
    }
    steps.push((k + 1, "!y", k + 2));
    let partial = system(k + 3, &labels, &steps);
    let always = [(1, "?go", 1), (1, "?a", 1), (1, "!x", 1)];
    let start = [(0, "?go", 1), (0, "?a", 0)];
    let right = system(2, &labels, &[&start[..], &always].concat());
    // After k + 4 actions it says what nothing allows.
    let last = k + 5;
    let mut counting = start.to_vec();
    for j in 1..last {
        counting.extend([(j, "?go", j), (j, "?a", j + 1), (j, "!x", j + 1)]);
    }
    counting.extend([(last, "?go", last), (last, "?a", last), (last, "!z", last)]);
    let wrong = system(last + 1, &labels, &counting);
    for relation in [Relation::Ioco, Relation::Ioconf] {
        let answer = relate(relation, &right, &partial, POLICY, None).unwrap();
        assert_eq!(answer.holds, Holds::Yes);
        assert!(answer.effort.pairs < 100, "{}", answer.effort.pairs);
        let answer = relate(relation, &wrong, &partial, POLICY, None).unwrap();
        let Holds::No(found) = answer.holds else {
            panic!("{relation}: {:?}", answer.holds);
        };
        assert_eq!(found[0].trace.len(), k + 5);
        assert!(answer.effort.pairs < 1000, "{}", answer.effort.pairs);
    }
}

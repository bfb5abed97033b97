//! The search against all sets of edges that an execution can take for ever.

use std::sync::Arc;

use iolite_lts::{
    LabelId, LabelKind, Lts, LtsBuilder, Quiescence, QuiescencePolicy, Semantics, StateId,
    Suspension,
};
use iolite_property::{Alphabet, Letter, StateSet, StreettAutomaton};
use proptest::prelude::*;

use super::{
    Environment, Executions, Fairness, LetterMap, PropertySatisfaction, recheck_violation,
    satisfies,
};

/// Two nodes of the product by their numbers, the label, and whether the property sees it.
type NaiveEdge = (usize, LabelId, usize, bool);

const MOST_EDGES: usize = 13;

struct Naive {
    nodes: Vec<(StateId, StateId)>,
    edges: Vec<NaiveEdge>,
}

fn naive(model: &Lts, property: &StreettAutomaton, letters: &LetterMap) -> Naive {
    let view = Suspension::new(model, QuiescencePolicy::Livelock);
    let structure = property.structure();
    let mut nodes = vec![(model.initial(), structure.initial())];
    let mut edges = Vec::new();
    let mut done = 0;
    while done < nodes.len() {
        let (s, q) = nodes[done];
        let mut steps = Vec::new();
        model.successors(&s, &mut steps);
        steps.sort_unstable();
        steps.dedup();
        let mut next: Vec<_> = steps
            .into_iter()
            .map(|(l, t)| match letters.letter(l) {
                Some(letter) => (l, (t, structure.step(q, letter)), true),
                None => (l, (t, q), false),
            })
            .collect();
        if let Some(letter) = view.quiescence(s).and_then(|k| letters.silence(k)) {
            next.push((LabelId::DELTA, (s, structure.step(q, letter)), true));
        }
        for (label, to, letter) in next {
            let to = nodes.iter().position(|n| *n == to).unwrap_or_else(|| {
                nodes.push(to);
                nodes.len() - 1
            });
            edges.push((done, label, to, letter));
        }
        done += 1;
    }
    Naive { nodes, edges }
}

fn is_cycle(edges: &[NaiveEdge]) -> bool {
    let reaches = |from: usize| {
        let mut seen = vec![from];
        let mut k = 0;
        while k < seen.len() {
            for &(a, _, b, _) in edges {
                if a == seen[k] && !seen.contains(&b) {
                    seen.push(b);
                }
            }
            k += 1;
        }
        seen
    };
    edges.iter().all(|&(_, _, to, _)| {
        let seen = reaches(to);
        edges
            .iter()
            .all(|(b, _, c, _)| seen.contains(b) && seen.contains(c))
    })
}

/// Whether the property accepts what it has seen when it is in `q`, followed by a letter for ever.
fn goes_on_with(property: &StreettAutomaton, q: StateId, letter: Letter) -> bool {
    let structure = property.structure();
    let step = |q: &StateId| Some(structure.step(*q, letter));
    let states = structure.len();
    let seen: Vec<StateId> = std::iter::successors(Some(q), step)
        .skip(states)
        .take(states)
        .collect();
    property.pairs().iter().all(|pair| {
        seen.iter().any(|&q| pair.recurrent.contains(q))
            || seen.iter().all(|&q| pair.persistent.contains(q))
    })
}

/// (some execution is rejected, some finite sequence is left open)
fn by_definition(
    model: &Lts,
    property: &StreettAutomaton,
    letters: &LetterMap,
    executions: Executions,
) -> Option<(bool, bool)> {
    let view = Suspension::new(model, executions.quiescence);
    let Naive { nodes, edges } = naive(model, property, letters);
    if edges.len() > MOST_EDGES {
        return None;
    }
    let (mut rejected, mut open) = (false, false);
    let mut finite = |q: StateId| {
        rejected |= !property.finite().contains(q);
        open |= property.open().contains(q);
    };
    for &(s, q) in &nodes {
        let kind = view.quiescence(s);
        let ends = match kind {
            Some(Quiescence::Deadlock) => true,
            Some(Quiescence::OutputLock) => executions.environment == Environment::MayStop,
            _ => false,
        };
        if ends && kind.and_then(|k| letters.silence(k)).is_none() {
            finite(q);
        }
    }
    let mut infinite = false;
    for subset in 1_u32..1 << edges.len() {
        let cycle: Vec<NaiveEdge> = (0..edges.len())
            .filter(|k| subset >> k & 1 == 1)
            .map(|k| edges[k])
            .collect();
        if !is_cycle(&cycle) {
            continue;
        }
        let states: Vec<StateId> = cycle.iter().map(|e| nodes[e.0].0).collect();
        let enabled = |s: StateId, l: LabelId| {
            let mut row = Vec::new();
            model.successors(&s, &mut row);
            row.iter().any(|(m, _)| *m == l)
        };
        let fair = model.labels().iter().all(|(l, label)| {
            let owed = matches!(label.kind, LabelKind::Output | LabelKind::Internal);
            let due = match executions.fairness {
                Fairness::None => false,
                Fairness::Weak => states.iter().all(|&s| enabled(s, l)),
                Fairness::Strong => states.iter().any(|&s| enabled(s, l)),
            };
            !owed || !due || cycle.iter().any(|e| e.1 == l)
        });
        let waits = cycle.iter().all(|e| e.1 == LabelId::DELTA);
        let lock = view.quiescence(states[0]) == Some(Quiescence::OutputLock);
        if !fair || waits && lock && executions.environment == Environment::GoesOn {
            continue;
        }
        if cycle.iter().any(|e| e.3) {
            let seen: Vec<StateId> = cycle.iter().map(|e| nodes[e.2].1).collect();
            infinite |= !property.pairs().iter().all(|pair| {
                seen.iter().any(|&q| pair.recurrent.contains(q))
                    || seen.iter().all(|&q| pair.persistent.contains(q))
            });
        } else {
            let visible = cycle
                .iter()
                .any(|e| model.labels().kind(e.1) != LabelKind::Internal);
            let livelock = |&s: &StateId| view.quiescence(s) == Some(Quiescence::Livelock);
            let q = nodes[cycle[0].0].1;
            if visible {
                finite(q);
            } else if states.iter().any(livelock) {
                match letters.silence(Quiescence::Livelock) {
                    None => finite(q),
                    // What is observed of it is δ, for ever.
                    Some(delta) => infinite |= !goes_on_with(property, q, delta),
                }
            }
        }
    }
    Some((rejected || infinite, open))
}

fn models() -> impl Strategy<Value = Lts> {
    let labels = ["?a", "!x", "!y", "i"];
    prop::collection::vec((0..3_usize, 0..4_usize, 0..3_usize), 0..7).prop_map(move |steps| {
        let mut b = LtsBuilder::new();
        let states: Vec<StateId> = (0..3).map(|k| b.named_state(&format!("s{k}"))).collect();
        for text in labels {
            b.labels_mut().intern_text(text);
        }
        for (from, label, to) in steps {
            b.transition_text(states[from], labels[label], states[to]);
        }
        b.build().unwrap()
    })
}

fn properties() -> impl Strategy<Value = StreettAutomaton> {
    let alphabets = [
        vec!["?a", "!x", "!y"],
        vec!["!x"],
        vec!["?a", "!x", "delta"],
        vec!["!y", "delta"],
        vec!["!x", "delta_d"],
    ];
    let set = || prop::collection::vec(any::<bool>(), 2);
    (
        0..5_usize,
        prop::collection::vec(0..2_usize, 6),
        prop::collection::vec((set(), set()), 1..3),
        set(),
        set(),
    )
        .prop_map(move |(k, next, pairs, finite, open)| {
            let sigma = Arc::new(Alphabet::of_names(alphabets[k].iter().copied()).unwrap());
            let rows: Vec<Vec<usize>> = (0..2)
                .map(|q| (0..sigma.len()).map(|l| next[q * 3 + l]).collect())
                .collect();
            let list = |set: &[bool]| -> Vec<usize> { (0..2).filter(|&q| set[q]).collect() };
            let pairs: Vec<_> = pairs.iter().map(|(r, p)| (list(r), list(p))).collect();
            let pairs: Vec<(&[usize], &[usize])> =
                pairs.iter().map(|(r, p)| (&r[..], &p[..])).collect();
            let set = |set: &[bool]| StateSet::of(2, |q| set[q.index()]);
            let automaton = StreettAutomaton::from_rows(sigma, 0, &rows, &pairs).unwrap();
            let open = set(&finite).intersection(&set(&open));
            automaton.with_finite(set(&finite)).with_open(&open)
        })
}

fn assumptions() -> impl Strategy<Value = Executions> {
    (0..3_usize, any::<bool>()).prop_map(|(k, goes_on)| Executions {
        fairness: [Fairness::None, Fairness::Weak, Fairness::Strong][k],
        environment: if goes_on {
            Environment::GoesOn
        } else {
            Environment::MayStop
        },
        quiescence: QuiescencePolicy::Livelock,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 20_000, ..Default::default() })]

    #[test]
    fn a_violation_is_found_iff_there_is_one(
        model in models(),
        property in properties(),
        executions in assumptions(),
    ) {
        let letters = LetterMap::new(property.alphabet(), model.labels());
        let expected = by_definition(&model, &property, &letters, executions);
        prop_assume!(expected.is_some());
        let (rejected, open) = expected.unwrap();
        let (answer, _) = satisfies(&model, &property, &letters, executions, 1000).unwrap();
        match answer {
            PropertySatisfaction::Violated(execution) => {
                prop_assert!(rejected, "{execution:?}");
                let again = recheck_violation(&model, &property, &letters, executions, &execution);
                prop_assert_eq!(again, Ok(()), "{:?}", execution);
            }
            PropertySatisfaction::Open(_) => prop_assert!(!rejected && open),
            PropertySatisfaction::Holds => prop_assert!(!rejected && !open),
            PropertySatisfaction::Undefined(..) => prop_assert!(false, "there are no guards"),
            PropertySatisfaction::Unknown => prop_assert!(false, "the limit is high enough"),
        }
    }
}

/// A livelock is quiescent [SAFE04, §2.3]: where the property sees silence, it observes δ for ever, which `F δ` and
/// `G F δ` both ask for; the finite word of silence that comes before is not judged.
#[test]
fn a_livelock_that_is_seen_is_silence_for_ever() {
    let mut b = LtsBuilder::new();
    let s = b.named_state("s");
    b.labels_mut().intern_text("!y");
    b.transition_text(s, "i", s);
    let model = b.build().unwrap();
    let verdict = |letters: [&str; 2], quiescence| {
        let sigma = Arc::new(Alphabet::of_names(letters.iter().copied()).unwrap());
        // State 1 is entered by silence and not left; no finite word is accepted.
        let delta = sigma.letter(LabelId::DELTA);
        let row = |q: usize| -> Vec<usize> {
            let silent = |l: usize| delta.is_some_and(|d| d.index() == l);
            (0..2).map(|l| usize::from(q == 1 || silent(l))).collect()
        };
        let rows = [row(0), row(1)];
        let pairs: [(&[usize], &[usize]); 1] = [(&[1], &[])];
        let property = StreettAutomaton::from_rows(sigma, 0, &rows, &pairs).unwrap();
        let property = property.with_finite(StateSet::of(2, |_| false));
        let letters = LetterMap::new(property.alphabet(), model.labels());
        let executions = Executions {
            quiescence,
            ..Executions::default()
        };
        satisfies(&model, &property, &letters, executions, 100)
            .unwrap()
            .0
    };
    for policy in [QuiescencePolicy::Livelock, QuiescencePolicy::Fair] {
        assert_eq!(
            verdict(["!y", "delta"], policy),
            PropertySatisfaction::Holds
        );
        let unseen = verdict(["!x", "!y"], policy);
        assert!(
            matches!(unseen, PropertySatisfaction::Violated(_)),
            "{unseen:?}"
        );
    }
}

//! Lemmas 1, 2, 3, 5, 6, 7 and 10, propositions 1 to 3 and theorem 1 of [SYM04] on random models with
//! finite data. The constructions are symbolic; the languages are those of the unfolded systems, trace by
//! trace. (Lemma 4 is in `determinised.rs`.)
#![allow(missing_docs)]

mod support;

use std::collections::BTreeSet;

use iolite_expr::{Solver, Span, Term, Value};
use iolite_lts::{Determinised, LabelId, Lts, QuiescencePolicy, SetId, Suspension};
use iolite_sts::{Iosts, LabelKind, LocationId, PruningGoal, State, SymbolicTest, UnfoldBudget};
use support::{Random, over, random_model};

const HERE: Span = Span { start: 0, end: 1 };
/// The length of traces.
const DEPTH: usize = 4;

type Valued = (LabelKind, &'static str, Vec<Value>);

/// The valued actions of the random models, and δ.
fn actions() -> Vec<Valued> {
    let of = |kind, name| (0..3i64).map(move |v| (kind, name, vec![Value::from(v)]));
    of(LabelKind::Input, "a")
        .chain([(LabelKind::Input, "b", vec![])])
        .chain(of(LabelKind::Output, "u"))
        .chain([
            (LabelKind::Output, "v", vec![]),
            (LabelKind::Delta, "delta", vec![]),
        ])
        .collect()
}

/// A random observer over the gates of a system: deterministic, with a variable and guards on values.
fn random_observer(system: &Iosts, seed: u64) -> (Iosts, Vec<LocationId>) {
    use rand::SeedableRng;
    let mut g = Random {
        rng: rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xabcd),
    };
    let mut b = over(system, "Watch");
    let sort = iolite_expr::Sort::range(0, 2).unwrap();
    let n = b.variable("n", sort, Some(0.into()), HERE).unwrap();
    let places: Vec<LocationId> = (0..2)
        .map(|i| b.location(&format!("W{i}"), i == 0, HERE).unwrap())
        .collect();
    let bad = b.location("Bad", false, HERE).unwrap();
    let gates: Vec<_> = b.model().gates().map(|(id, g)| (id, g.kind)).collect();
    for &from in &places {
        for &(gate, kind) in &gates {
            let observed = kind != LabelKind::Input;
            let value = b.params(gate).first().map(iolite_expr::Var::term);
            let than: Term = iolite_expr::Int::from(g.below(3)).into();
            let guard = match value {
                Some(value) => value.equals(&than).unwrap(),
                None => n.term().lt(&than).unwrap(),
            };
            let next = n.term().plus(1).unwrap().modulo(3).unwrap();
            let target = |g: &mut Random| match g.below(4) {
                0 if observed => bad,
                k => places[k % 2],
            };
            let to = target(&mut g);
            let effect = vec![(n.clone(), next)];
            b.transition(from, gate, Some(guard.clone()), effect, to, HERE)
                .unwrap();
            // Now and then the observer has no step for the rest.
            if g.below(4) > 0 {
                let to = target(&mut g);
                let rest = guard.negated();
                b.transition(from, gate, Some(rest), vec![], to, HERE)
                    .unwrap();
            }
        }
    }
    (b.build().unwrap(), vec![bad])
}

/// A deterministic system with known data, walked by firing its transitions.
struct Walk<'a> {
    model: &'a Iosts,
    constants: Vec<Value>,
}

impl Walk<'_> {
    fn first(&self) -> State {
        let initial = self.model.variables().iter().map(|v| {
            let mut env = iolite_expr::Model::default();
            for (c, value) in self.model.constants().iter().zip(&self.constants) {
                env.insert(c.var.id, value.clone());
            }
            v.initial.as_ref().unwrap().eval(&env).unwrap()
        });
        State {
            location: self.model.initial(),
            values: initial.collect::<Vec<_>>().into(),
        }
    }

    /// The state after a step; the kind of the action may be the mirrored one.
    fn step(&self, at: &State, (kind, name, values): &Valued) -> Option<State> {
        let mirrored = match kind {
            LabelKind::Input => LabelKind::Output,
            LabelKind::Output => LabelKind::Input,
            kind => *kind,
        };
        let gate = self.model.find_gate(*kind, name);
        let gate = gate.or_else(|| self.model.find_gate(mirrored, name))?;
        let mut found = self.model.outgoing(at.location).iter().filter_map(|&t| {
            let fits = self.model.transition(t).action == gate;
            fits.then(|| self.model.fire(at, &self.constants, t, values).unwrap())?
        });
        let next = found.next();
        assert!(found.next().is_none(), "it is deterministic [def. 8]");
        next
    }
}

/// S^δ unfolded: its traces by definition.
struct Unfolded<'a> {
    view: Determinised<Suspension<&'a Lts>>,
    labels: Vec<Option<LabelId>>,
}

impl<'a> Unfolded<'a> {
    fn new(lts: &'a Lts) -> Self {
        let label = |(kind, name, values): &Valued| {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let name = match values.as_slice() {
                [] => (*name).to_owned(),
                values => format!("{name}({})", values.join(", ")),
            };
            match kind {
                LabelKind::Delta => Some(LabelId::DELTA),
                kind => lts.labels().get(*kind, &name),
            }
        };
        Self {
            labels: actions().iter().map(label).collect(),
            view: Determinised::new(Suspension::new(lts, QuiescencePolicy::Strict)),
        }
    }

    fn after(&mut self, at: SetId, action: usize) -> Option<SetId> {
        self.view.after(at, self.labels[action]?)
    }
}

fn unfolded(model: &Iosts) -> Lts {
    let budget = UnfoldBudget {
        states: 20_000,
        values: 50,
    };
    model.unfold(&mut Solver::embedded(), budget).unwrap()
}

/// A random system with known data and no cycle of internal actions.
fn system(seed: u64) -> Option<Iosts> {
    let model = random_model(seed);
    let fixed = model.variables().iter().all(|v| v.initial.is_some());
    let usable = fixed && model.internal_cycle().is_none();
    usable.then(|| model.instance("M", &[("c", Value::from(2))]).unwrap())
}

/// Lemma 1: the traces of a product are those of both; lemma 2: so are the languages of observers.
#[test]
fn products_have_the_traces_of_both() {
    let (mut checked, mut common) = (0, 0);
    for seed in 0..60 {
        let Some(s) = system(seed) else { continue };
        let (one, bad_one) = random_observer(&s, seed);
        let (two, bad_two) = random_observer(&s, seed + 1_000);
        let product = one.product(&two).unwrap();
        let walk = |model| Walk {
            model,
            constants: vec![],
        };
        let (a, b, both) = (walk(&one), walk(&two), walk(&product));
        let mut open = vec![(0, Some(a.first()), Some(b.first()), both.first())];
        while let Some((depth, x, y, z)) = open.pop() {
            for action in actions() {
                let left = x.as_ref().and_then(|x| a.step(x, &action));
                let right = y.as_ref().and_then(|y| b.step(y, &action));
                let together = both.step(&z, &action);
                assert_eq!(
                    left.is_some() && right.is_some(),
                    together.is_some(),
                    "seed {seed}"
                );
                let Some(next) = together else { continue };
                let (l, r) = (left.as_ref().unwrap(), right.as_ref().unwrap());
                let violating = bad_one.contains(&l.location) && bad_two.contains(&r.location);
                // The pair of violating locations is the only one that both names are part of.
                let name = &product.location(next.location).name;
                assert_eq!(violating, &**name == "Bad.Bad", "seed {seed}: {name}");
                checked += 1;
                common += usize::from(violating);
                if depth + 1 < DEPTH {
                    open.push((depth + 1, left, right, next));
                }
            }
        }
    }
    assert!(checked > 10_000 && common > 50, "{checked} {common}");
}

/// Lemmas 3, 5, 6, 7 and 10, and what propositions 1 to 3 and theorem 1 claim of every implementation:
/// that is, of every trace.
#[test]
fn languages_of_tests_are_those_of_the_definitions() {
    let mut met: BTreeSet<&str> = BTreeSet::new();
    let (mut tests, mut traces, mut kept, mut lost) = (0, 0, 0, 0);
    for seed in 0..260 {
        let Some(s) = system(seed) else { continue };
        let (observer, bad) = random_observer(&s, seed);
        let mut solver = Solver::embedded();
        let Ok(test) = SymbolicTest::new(&s, &observer, &bad, &mut solver, 40) else {
            continue;
        };
        let deterministic = s.quiescent().determinised(&mut solver, 40).unwrap();
        let (completed, failed) = deterministic.output_completed();
        let (pruned, _) = test.pruned_towards(PruningGoal::ViolateFail, &mut solver, 3_000);
        let (strong, _) = test.pruned_towards(PruningGoal::Violation, &mut solver, 3_000);
        let compact = pruned.trimmed(&mut solver, 3_000).compacted();
        tests += 1;
        let lts = unfolded(&s);
        let mut spec = Unfolded::new(&lts);
        let walk = |model| Walk {
            model,
            constants: vec![],
        };
        let omega = walk(&observer);
        let all = [
            &test.model,
            &completed,
            &pruned.model,
            &strong.model,
            &compact.model,
        ]
        .map(walk);
        let states = all.each_ref().map(|w| Some(w.first()));
        let start = spec.view.initial();
        let mut open = vec![(0, Some(start), Some(omega.first()), states)];
        while let Some((depth, set, watch, states)) = open.pop() {
            for (i, action) in actions().into_iter().enumerate() {
                let observed = action.0 != LabelKind::Input;
                let before = set.is_some();
                let after = set.and_then(|set| spec.after(set, i));
                let moved = watch.as_ref().and_then(|w| omega.step(w, &action));
                let violated = moved.as_ref().is_some_and(|w| bad.contains(&w.location));
                let next: Vec<Option<State>> = all
                    .iter()
                    .zip(&states)
                    .map(|(w, s)| s.as_ref().and_then(|s| w.step(s, &action)))
                    .collect();
                let at = |k: usize| next[k].as_ref().map(|s| s.location);
                let in_list =
                    |k: usize, list: &[LocationId]| at(k).is_some_and(|l| list.contains(&l));
                let context = || format!("seed {seed}, {action:?}\n{s}\n{observer}");
                // Lemma 3: L(Σ!(M), Fail) = Traces(M) · Λ! \ Traces(M).
                let wrong = before && observed && after.is_none();
                assert_eq!(in_list(1, &[failed]), wrong, "{}", context());
                // Lemma 5 and proposition 1: ViolateFail.
                let violate_fail = wrong && violated;
                assert_eq!(
                    in_list(0, &test.violate_fail),
                    violate_fail,
                    "{}",
                    context()
                );
                // Lemma 6 and proposition 2: Fail, and no violation.
                assert_eq!(in_list(0, &test.fail), wrong && !violated, "{}", context());
                // Lemma 7 and proposition 3: Violate, on traces of S^δ only.
                let violate = before && after.is_some() && violated;
                assert_eq!(in_list(0, &test.violate), violate, "{}", context());
                // Lemma 10 and theorem 1: pruning keeps ViolateFail, and adds no other verdict.
                for (k, t) in [(2, &pruned), (3, &strong), (4, &compact)] {
                    assert_eq!(
                        in_list(k, &t.violate_fail),
                        violate_fail,
                        "{k} {}",
                        context()
                    );
                    assert!(
                        !in_list(k, &t.fail) || in_list(0, &test.fail),
                        "{k} {}",
                        context()
                    );
                    assert!(!in_list(k, &t.violate) || violate, "{k} {}", context());
                }
                // The strengthened Inconc loses no violation at all.
                assert_eq!(in_list(3, &strong.violate), violate, "{}", context());
                // Both forms of the pruned test say the same.
                let same = |list: fn(&SymbolicTest) -> &Vec<LocationId>| {
                    in_list(2, list(&pruned)) == in_list(4, list(&compact))
                };
                assert!(same(|t| &t.fail) && same(|t| &t.inconc), "{}", context());
                traces += 1;
                kept += usize::from(in_list(2, &test.fail));
                lost += usize::from(in_list(2, &pruned.inconc));
                for (name, is) in [
                    ("vf", violate_fail),
                    ("v", violate),
                    ("f", wrong && !violated),
                ] {
                    if is {
                        met.insert(name);
                    }
                }
                let ends = wrong || violate || in_list(2, &pruned.inconc);
                if depth + 1 < DEPTH && after.is_some() && !ends && next[0].is_some() {
                    let states = [0, 1, 2, 3, 4].map(|k| next[k].clone());
                    open.push((depth + 1, after, moved, states));
                }
            }
        }
    }
    println!("{tests} tests, {traces} steps, {kept} fail kept, {lost} inconc");
    assert!(
        tests > 30 && traces > 5_000 && kept > 50 && lost > 50,
        "{tests} {traces} {kept} {lost}"
    );
    assert_eq!(met, BTreeSet::from(["vf", "v", "f"]));
}

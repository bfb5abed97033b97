//! Two routes, one answer: the symbolic tester and the ioco testers of the systems unfolded with each
//! value of the constant judge the same observations alike, on random models with finite data. And
//! with a running model as the system: it conforms to itself, and to another model exactly where the
//! relation says so, as far as tests can show.

use std::sync::Arc;

use iolite_derive::{
    Action, ActionId, Alphabet, ConformanceTester, IocoOracle, Menu, Progress, Step, SymbolicOracle,
    Tester, Verdict, action_of, valued_action,
};
use iolite_expr::{Solver, Strategy as Values, Value};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{Completed, Completion, Interned, LabelKind, Lts, QuiescencePolicy};
use iolite_sts::{Iosts, Simulation, Symbolic, UnfoldBudget, ValuedAction};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random model: three states, a constant that is left open, a variable, nondeterminism and
/// internal steps. Guards and effects are drawn from small pools.
fn model(rows: &[(u8, u8, u8, u8, u8)]) -> String {
    let guards = ["true", "v < 2", "v == c", "v != 0 || c == 1", "v + c == 2"];
    let input_guards = ["true", "x < 2", "x == v", "x + c < 3", "x != c"];
    let output_guards = ["y == v", "y == c", "y < v", "y >= v", "y == (v + c) % 3"];
    let effects = ["", " / v := c", " / v := (v + 1) % 3", " / v := 0"];
    let mut text = "system M { const c: 0..2  var v: 0..2 = 0\n  input a(x: 0..2)  \
                    output z(y: 0..2)  internal t\n"
        .to_owned();
    for state in 0..3 {
        let mark = if state == 0 { "initial " } else { "" };
        text += &format!("  {mark}state S{state} {{\n");
        for (from, kind, guard, effect, to) in rows {
            if from % 3 != state {
                continue;
            }
            let pick = |pool: &[&'static str]| pool[usize::from(*guard) % pool.len()];
            let event = match kind % 5 {
                0 | 1 => format!("?a(x) [{}]", pick(&input_guards)),
                2 | 3 => format!("!z(y) [{}]", pick(&output_guards)),
                _ => format!("t [{}]", pick(&guards)),
            };
            let effect = effects[usize::from(*effect) % effects.len()];
            text += &format!("    {event}{effect} -> S{}\n", to % 3);
        }
        text += "  }\n";
    }
    text + "}\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn symbolic_and_unfolded_testers_give_the_same_verdict(
        rows in prop::collection::vec(any::<(u8, u8, u8, u8, u8)>(), 1..8),
        steps in prop::collection::vec((0u8..3, 0i64..3), 1..12),
    ) {
        let text = model(&rows);
        let (file, found) = iolite_lang::parse_and_check(&text);
        prop_assert!(found.iter().all(|d| !d.is_error()), "{text}\n{found:?}");
        let iosts = Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"));
        let policy = QuiescencePolicy::Livelock;
        let semantics = Symbolic::new(iosts.clone(), &[], policy, Solver::embedded())
            .expect("no constants are given");
        let mut symbolic = tester(semantics, 1);
        let mut explicit: Vec<IocoTester> = (0..=2i64)
            .map(|c| {
                let instance = iosts.instance("I", &[("c", Value::from(c))]);
                let instance = instance.expect("no assumption speaks against it");
                let lts = instance.unfold(&mut Solver::embedded(), UnfoldBudget::default());
                ioco(lts.expect("finite data unfold"))
            })
            .collect();
        for (kind, value) in steps {
            let (sort, name) = if kind == 0 {
                (LabelKind::Input, "a")
            } else {
                (LabelKind::Output, "z")
            };
            let valued = ValuedAction {
                action: iosts.find_gate(sort, name).expect("declared"),
                values: vec![Value::from(value)],
            };
            let step = |alphabet: &Alphabet| match kind {
                0 => Step::Stimulus(action_of(&iosts, alphabet, &valued)),
                1 => Step::Output(action_of(&iosts, alphabet, &valued)),
                _ => Step::Quiescence,
            };
            let right = together(&mut explicit, |tester| {
                let step = step(tester.alphabet());
                tester.step(step)
            });
            let step = step(symbolic.alphabet());
            let left = symbolic.step(step);
            prop_assert_eq!(left, right, "{}", text);
            if left != Progress::Continue {
                return Ok(());
            }
        }
        prop_assert_eq!(symbolic.verdict(), Verdict::Pass);
    }
}

/// The best that some value of the constant makes of a run: one that goes on, one that leaves an
/// input unspecified, else a fail.
fn together(
    testers: &mut [IocoTester],
    mut step: impl FnMut(&mut IocoTester) -> Progress,
) -> Progress {
    let all: Vec<Progress> = testers.iter_mut().map(&mut step).collect();
    let best = [
        Progress::Continue,
        Progress::Ended(Verdict::Inconc),
        Progress::Ended(Verdict::Fail),
    ];
    let found = best.into_iter().find(|p| all.contains(p));
    found.expect("nothing else is said")
}

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

type IocoTester = ConformanceTester<IocoOracle<Lts>>;
type SymbolicTester = ConformanceTester<SymbolicOracle>;

fn ioco(lts: Lts) -> IocoTester {
    ConformanceTester::new(IocoOracle::new(lts, POLICY))
}

fn oracle(semantics: Symbolic, seed: u64) -> SymbolicOracle {
    let oracle = SymbolicOracle::new(semantics, &Alphabet::default(), seed, Values::Mixed);
    oracle.expect("there are initial states")
}

fn tester(semantics: Symbolic, seed: u64) -> SymbolicTester {
    ConformanceTester::new(oracle(semantics, seed))
}

type Row = (u8, u8, u8, u8, u8);

fn lowered(rows: &[Row]) -> (Arc<Iosts>, Lts) {
    let text = model(rows);
    let (file, found) = iolite_lang::parse_and_check(&text);
    assert!(found.iter().all(|d| !d.is_error()), "{text}\n{found:?}");
    let iosts = Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"));
    let lts = iosts
        .unfold(&mut Solver::embedded(), UnfoldBudget::default())
        .expect("finite data unfold");
    (iosts, lts)
}

fn symbolic(model: &Arc<Iosts>) -> Symbolic {
    Symbolic::new(model.clone(), &[], POLICY, Solver::embedded()).expect("no constants are given")
}

/// A run of the system as the engine has it, judged by both testers; `None` where the symbolic one
/// is in doubt.
fn verdicts(
    tester: &mut SymbolicTester,
    explicit: &mut IocoTester,
    system: &mut Simulation,
    seed: u64,
) -> Option<(Verdict, Verdict)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    system.start(seed).expect("it has an initial state");
    tester.reset();
    explicit.reset();
    let (ours, theirs) = (tester.alphabet().clone(), explicit.alphabet().clone());
    let iosts = system.model().clone();
    for _ in 0..30 {
        let mut menu = Menu::default();
        tester.menu(&mut menu);
        let mut stimulus = None;
        if !menu.stimuli.is_empty() && rng.random_bool(0.5) {
            let pick = rng.random_range(0..menu.stimuli.len());
            stimulus = Some(menu.stimuli.swap_remove(pick));
        }
        let output = match &stimulus {
            Some(_) => system.race(),
            None => system.observe(),
        }
        .expect("finite data are decided");
        let (left, right) = match (output, stimulus) {
            (Some(output), _) => (
                tester.step(Step::Output(action_of(&iosts, &ours, &output))),
                explicit.step(Step::Output(action_of(&iosts, &theirs, &output))),
            ),
            (None, Some(stimulus)) => {
                let action = ours.action(stimulus).expect("it was just offered");
                let input = valued_action(&iosts, &action).expect("an input of the model");
                if !system.input(&input).expect("finite data are decided") {
                    // Refused: the run ends without a verdict.
                    return Some((Verdict::Pass, Verdict::Pass));
                }
                let same = Step::Stimulus(action_of(&iosts, &theirs, &input));
                (tester.step(Step::Stimulus(stimulus)), explicit.step(same))
            }
            (None, None) => (
                tester.step(Step::Quiescence),
                explicit.step(Step::Quiescence),
            ),
        };
        if left == Progress::Ended(Verdict::Unknown) {
            return None;
        }
        // The unfolded system takes the constant for a part of its state.
        let guessed = tester.state().is_some_and(|at| at.guessed().is_some());
        let guessed = guessed && left == Progress::Ended(Verdict::Inconc);
        assert!(guessed || left == right, "{left:?}, {right:?}");
        if left != Progress::Continue {
            break;
        }
    }
    Some((tester.verdict(), explicit.verdict()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Inputs that the model refuses end the run; what it shows before is its own.
    #[test]
    fn a_running_model_conforms_to_itself(
        rows in prop::collection::vec(any::<Row>(), 1..9),
        seed: u64,
    ) {
        let (iosts, lts) = lowered(&rows);
        let mut tester = tester(symbolic(&iosts), seed);
        let mut explicit = ioco(lts);
        let mut system = Simulation::new(symbolic(&iosts));
        for run in 0..4 {
            let found = verdicts(&mut tester, &mut explicit, &mut system, seed.wrapping_add(run));
            let (left, right) = found.unwrap_or((Verdict::Pass, Verdict::Pass));
            prop_assert_eq!(left, Verdict::Pass, "{}", model(&rows));
            prop_assert_eq!(right, Verdict::Pass, "{}", model(&rows));
        }
    }
}

/// A model with one transition changed plays the system. Where the explicit relation holds, no run
/// fails; where it does not, most differences show within a few runs.
#[test]
fn changed_models_fail_only_where_the_relation_does_not_hold() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut holding, mut differing, mut found) = (0, 0, 0);
    for case in 0..250 {
        let count = rng.random_range(2..8);
        let rows: Vec<Row> = (0..count).map(|_| rng.random()).collect();
        let mut changed = rows.clone();
        let at = rng.random_range(0..rows.len());
        changed[at] = (
            rows[at].0,
            rows[at].1,
            rng.random(),
            rng.random(),
            rows[at].4,
        );
        let (spec, spec_lts) = lowered(&rows);
        let (mutant, mutant_lts) = lowered(&changed);
        let completed = Completed::over(&mutant_lts, Completion::SelfLoop, spec_lts.labels());
        let completed = Interned::new(completed);
        let answer = relate(Relation::Ioco, &completed, &spec_lts, POLICY, None);
        let conforms = matches!(answer.expect("input-enabled").holds, Holds::Yes);
        let mut tester = tester(symbolic(&spec), case);
        let mut explicit = ioco(spec_lts);
        let system = Simulation::new(symbolic(&mutant));
        let mut system = system.completed(Some(Completion::SelfLoop));
        let failed = (0..20).any(|run| {
            let verdicts = verdicts(&mut tester, &mut explicit, &mut system, case * 1000 + run);
            verdicts.is_some_and(|(_, unfolded)| unfolded == Verdict::Fail)
        });
        if conforms {
            holding += 1;
            assert!(
                !failed,
                "case {case}\n{}\n{}",
                model(&rows),
                model(&changed)
            );
        } else {
            differing += 1;
            found += usize::from(failed);
        }
    }
    assert!(holding > 40 && differing > 40, "{holding} and {differing}");
    assert!(
        found * 10 > differing * 8,
        "{found} of {differing} were found"
    );
}

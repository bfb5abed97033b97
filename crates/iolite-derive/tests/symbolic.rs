//! Two routes, one answer: the symbolic tester and the ioco testers of the systems unfolded with each
//! value of the constant judge the same observations alike, on random models with finite data. And
//! with a running model as the system: it conforms to itself, and to another model exactly where the
//! relation says so, as far as tests can show. Testers towards goals agree too.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_derive::{
    Action, Alphabet, ConformanceTester, GoalTester, Guide, Hint, IocoOracle, IoconfOracle,
    LabelGoal, Meaning, Menu, Notice, Objective, Oracle, Progress, Step, SymbolicOracle, Tester,
    UiocoOracle, Verdict, action_of, valued_action,
};
use iolite_expr::{Solver, Strategy as Values, Value};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{Completed, Completion, Interned, LabelKind, Labels, Lts, QuiescencePolicy};
use iolite_sts::{Iosts, Simulation, Symbolic, UnfoldBudget, ValuedAction};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random model: three states, a constant that is left open, a variable, nondeterminism and
/// internal steps. Guards and effects are drawn from small pools.
fn model(rows: &[Row]) -> String {
    model_with(rows, 5, "")
}

/// The same with actions that have no parameters.
fn model_with_plain_actions(rows: &[Row]) -> String {
    model_with(rows, 7, "  input b  output w\n")
}

fn model_with(rows: &[Row], kinds: u8, declared: &str) -> String {
    let guards = ["true", "v < 2", "v == c", "v != 0 || c == 1", "v + c == 2"];
    let input_guards = ["true", "x < 2", "x == v", "x + c < 3", "x != c"];
    let output_guards = ["y == v", "y == c", "y < v", "y >= v", "y == (v + c) % 3"];
    let effects = ["", " / v := c", " / v := (v + 1) % 3", " / v := 0"];
    let mut text = "system M { const c: 0..2  var v: 0..2 = 0\n  input a(x: 0..2)  \
                    output z(y: 0..2)  internal t\n"
        .to_owned();
    text += declared;
    for state in 0..3 {
        let mark = if state == 0 { "initial " } else { "" };
        text += &format!("  {mark}state S{state} {{\n");
        for (from, kind, guard, effect, to) in rows {
            if from % 3 != state {
                continue;
            }
            let pick = |pool: &[&'static str]| pool[usize::from(*guard) % pool.len()];
            let event = match kind % kinds {
                0 | 1 => format!("?a(x) [{}]", pick(&input_guards)),
                2 | 3 => format!("!z(y) [{}]", pick(&output_guards)),
                4 => format!("t [{}]", pick(&guards)),
                5 => format!("?b [{}]", pick(&guards)),
                _ => format!("!w [{}]", pick(&guards)),
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// uioco and ioconf over sets of symbolic states are those of the unfolded model, whose constant has a
    /// value: the same verdict along random runs, and only stimuli that the unfolded oracle has too.
    #[test]
    fn other_relations_are_those_of_the_unfolded_model(
        rows in prop::collection::vec(any::<Row>(), 1..9),
        steps in prop::collection::vec((0u8..4, 0i64..3), 1..12),
        c in 0i64..3,
        uioco: bool,
    ) {
        let text = model(&rows);
        let (file, _) = iolite_lang::parse_and_check(&text);
        let iosts = Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"));
        let known = [("c", Value::from(c))];
        let semantics = Symbolic::new(iosts.clone(), &known, POLICY, Solver::embedded());
        let relation = if uioco { Relation::Uioco } else { Relation::Ioconf };
        let oracle = oracle(semantics.expect("a value of c"), 3).for_relation(relation);
        let mut symbolic = ConformanceTester::new(oracle);
        let instance = iosts.instance("I", &known).expect("a value of c");
        let lts = instance.unfold(&mut Solver::embedded(), UnfoldBudget::default());
        let lts = lts.expect("finite data unfold");
        let mut explicit: Box<dyn Tester> = if uioco {
            Box::new(ConformanceTester::new(UiocoOracle::new(lts, POLICY)))
        } else {
            Box::new(ConformanceTester::new(IoconfOracle::new(lts, POLICY)))
        };
        for (kind, value) in steps {
            let offered = |tester: &mut dyn Tester| {
                let mut menu = Menu::default();
                tester.menu(&mut menu);
                let alphabet = tester.alphabet().clone();
                let texts = menu.stimuli.iter().map(|a| alphabet.text(*a).to_string());
                texts.collect::<BTreeSet<String>>()
            };
            let (ours, theirs) = (offered(&mut symbolic), offered(&mut *explicit));
            prop_assert!(ours.is_subset(&theirs), "{:?} and {:?}\n{}", ours, theirs, text);
            prop_assert_eq!(ours.is_empty(), theirs.is_empty(), "{:?}\n{}", theirs, text);
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
                1 | 2 => Step::Output(action_of(&iosts, alphabet, &valued)),
                _ => Step::Quiescence,
            };
            let left = symbolic.step(step(&symbolic.alphabet().clone()));
            let right = explicit.step(step(&explicit.alphabet().clone()));
            prop_assert_eq!(left, right, "{}", text);
            if left != Progress::Continue {
                return Ok(());
            }
        }
        prop_assert_eq!(symbolic.verdict(), explicit.verdict());
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

/// The actions without their values, as observers and purposes speak of them.
fn spoken() -> Arc<Labels> {
    let mut labels = Labels::new();
    for text in ["?a", "!z", "?b", "!w"] {
        labels.intern_text(text);
    }
    Arc::new(labels)
}

/// The labels of a symbolic goal: `o(…)` for an action with parameters.
fn goal_labels(model: &Iosts) -> Arc<Labels> {
    let mut labels = Labels::new();
    for (_, gate) in model.gates().filter(|(_, g)| g.kind.is_visible()) {
        if gate.params.is_empty() {
            labels.intern(gate.kind, &gate.name);
        } else {
            labels.intern(gate.kind, &Labels::with_other_values(&gate.name));
        }
    }
    Arc::new(labels)
}

/// What may happen: all that the model can do, values out of range, an action with a parameter too
/// few, actions that nobody declared, and silence.
fn happenings() -> Vec<(bool, Option<Action>)> {
    let action = |kind, name: &str, values: &[i64]| {
        let args = values.iter().map(|&v| Value::from(v)).collect();
        let name = name.into();
        (kind == LabelKind::Input, Some(Action { kind, name, args }))
    };
    let mut all = vec![
        (false, None),
        action(LabelKind::Input, "b", &[]),
        action(LabelKind::Output, "w", &[]),
        action(LabelKind::Output, "z", &[]),
        action(LabelKind::Output, "foreign", &[1]),
        action(LabelKind::Input, "foreign", &[]),
    ];
    for value in 0..4 {
        all.push(action(LabelKind::Input, "a", &[value]));
        all.push(action(LabelKind::Output, "z", &[value]));
    }
    all
}

fn step((input, action): &(bool, Option<Action>), alphabet: &Alphabet) -> Step {
    match action {
        None => Step::Quiescence,
        Some(action) if *input => Step::Stimulus(alphabet.intern(action.clone())),
        Some(action) => Step::Output(alphabet.intern(action.clone())),
    }
}

/// One random trace, most of it within the specification, judged by a tester towards the goal over
/// the symbolic states and by one over the unfolded system. The latter can look ahead and give up
/// where the goal is out of reach; the other then goes on, and must not reach it. How it ended.
fn same_towards_goal<O: Objective + Clone>(
    rows: &[Row],
    constant: Option<i64>,
    objective: &O,
    lookahead: usize,
    seed: u64,
) -> Result<Verdict, TestCaseError> {
    let text = model_with_plain_actions(rows);
    let (file, found) = iolite_lang::parse_and_check(&text);
    prop_assert!(found.iter().all(|d| !d.is_error()), "{text}\n{found:?}");
    let mut iosts = iolite_lang::lower_data(&file, "M").expect("it lowers");
    if let Some(c) = constant {
        let instance = iosts.instance("I", &[("c", Value::from(c))]);
        iosts = instance.expect("no assumption speaks against it");
    }
    let iosts = Arc::new(iosts);
    let lts = iosts.unfold(&mut Solver::embedded(), UnfoldBudget::default());
    let lts = lts.expect("finite data unfold");

    let symbolic = oracle(symbolic(&iosts), seed);
    let ours = symbolic.alphabet().clone();
    let goal = LabelGoal::by_text(objective.clone(), &ours, &goal_labels(&iosts));
    let mut symbolic = GoalTester::with_lookahead(symbolic, vec![goal], lookahead);
    let unfolded = IocoOracle::new(&lts, POLICY);
    let theirs = unfolded.alphabet().clone();
    let goal = LabelGoal::own(objective.clone(), &theirs, lts.shared_labels());
    let mut unfolded = GoalTester::with_lookahead(unfolded, vec![goal], lookahead);

    let all = happenings();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut guide = IocoOracle::with_alphabet(&lts, POLICY, &theirs);
    let mut at = guide.initial().expect("explicit models are decided");
    // Where no goal is in sight at all, the unfolded one is over before the first step.
    let mut menu = Menu::default();
    unfolded.menu(&mut menu);
    let mut given_up = !menu.observe;
    for _ in 0..25 {
        // Where the goal's automaton alone knows that there is no way, the symbolic one is over too.
        menu.clear();
        symbolic.menu(&mut menu);
        if !menu.observe {
            prop_assert!(given_up, "{}", text);
            return Ok(symbolic.verdict());
        }
        let right = |guide: &mut IocoOracle<_>, happening| {
            matches!(
                guide.after(&at, step(happening, &theirs)),
                Ok(Meaning::Allowed(_))
            )
        };
        let within: Vec<_> = all.iter().filter(|h| right(&mut guide, h)).collect();
        let happening = if within.is_empty() || rng.random_bool(0.1) {
            &all[rng.random_range(0..all.len())]
        } else {
            within[rng.random_range(0..within.len())]
        };
        let meaning = guide.after(&at, step(happening, &theirs));
        let left = symbolic.step(step(happening, &ours));
        let inconc = Progress::Ended(Verdict::Inconc);
        let notices = symbolic.conclude();
        let guessed = notices.iter().any(|n| matches!(n, Notice::Guessed { .. }));
        let guessed = guessed && left == inconc;
        if let Ok(Meaning::Allowed(next)) = meaning {
            at = next;
            let right = unfolded.step(step(happening, &theirs));
            if right == inconc && left == Progress::Continue {
                given_up = true;
            } else if given_up {
                prop_assert!(
                    left == Progress::Continue || left == inconc,
                    "{left:?} {text}"
                );
            } else {
                prop_assert_eq!(left, right, "{}", text);
            }
        } else if given_up {
            // Only conformance is left to judge.
            let expected = match meaning {
                Ok(Meaning::Forbidden) => Progress::Ended(Verdict::Fail),
                _ => inconc,
            };
            prop_assert!(left == expected || guessed, "{left:?} {text}");
        } else {
            let right = unfolded.step(step(happening, &theirs));
            // The unfolded system takes an open constant for a part of its state.
            prop_assert!(left == right || guessed, "{left:?} {right:?} {text}");
        }
        if let Progress::Ended(verdict) = left {
            return Ok(verdict);
        }
    }
    if !given_up {
        prop_assert_eq!(symbolic.verdict(), unfolded.verdict());
    }
    prop_assert_eq!(symbolic.results().len(), 1);
    Ok(symbolic.verdict())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn goals_over_data_and_unfolded_give_the_same_verdict(
        rows in prop::collection::vec(any::<Row>(), 1..10),
        constant in prop::option::of(0i64..3),
        observer in common::property::any_observer(spoken()),
        purpose in common::property::any_purpose(spoken()),
        lookahead in prop_oneof![Just(1usize), Just(100_000)],
        seed: u64,
    ) {
        for run in 0..3u64 {
            let seed = seed.wrapping_add(run);
            let verdict = same_towards_goal(&rows, constant, &observer, lookahead, seed)?;
            prop_assert!(verdict != Verdict::Unknown);
            let verdict = same_towards_goal(&rows, constant, &purpose, lookahead, seed)?;
            prop_assert!(!matches!(verdict, Verdict::Unknown | Verdict::Violate | Verdict::ViolateFail));
        }
    }
}

/// The runs of the test above come to each verdict there is, so it tests something.
#[test]
fn goals_over_data_come_to_every_verdict() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let labels = spoken();
    let edges = [
        ("Idle", "?a", "Armed"),
        ("Idle", "*", "Idle"),
        ("Armed", "!z", "Bad"),
        ("Armed", "?b", "Idle"),
        ("Armed", "*", "Armed"),
    ];
    let states = ["Idle", "Armed", "Bad"];
    let observer = common::property::observer("NoZ", &labels, &states, &edges);
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..150 {
        let rows: Vec<Row> = (0..rng.random_range(2..10)).map(|_| rng.random()).collect();
        let constant = [None, Some(1)][usize::from(rng.random_bool(0.5))];
        let verdict = same_towards_goal(&rows, constant, &observer, 100_000, seed);
        *seen.entry(verdict.expect("they agree")).or_insert(0) += 1;
    }
    for verdict in [
        Verdict::Violate,
        Verdict::ViolateFail,
        Verdict::Fail,
        Verdict::Inconc,
    ] {
        assert!(seen.get(&verdict).is_some_and(|n| *n > 3), "{seen:?}");
    }
}

/// Internal steps that go in circles cannot be composed into a guard, and of the values that some state takes here
/// all but one are refused by another: the one that all take is found whatever is drawn.
#[test]
fn an_input_of_uioco_is_found_where_internal_steps_go_in_circles() {
    let text = "system M { var v: 0..99 = 0  input a(x: 0..99)  output z  internal t
        initial state S0 {
          ?a(x) [x == v] -> S0
          !z [v == 0] -> S1
          !z -> S0
          t / v := (v + 1) % 100 -> S0
        }
        state S1 { ?a(x) [x == v] -> S0 }
      }";
    let (file, found) = iolite_lang::parse_and_check(text);
    assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
    let iosts = Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"));
    let gate = iosts.find_gate(LabelKind::Output, "z").expect("declared");
    let shown = ValuedAction {
        action: gate,
        values: Vec::new(),
    };
    for seed in 0..20 {
        let oracle = oracle(symbolic(&iosts), seed).for_relation(Relation::Uioco);
        let mut tester = ConformanceTester::new(oracle);
        let alphabet = tester.alphabet().clone();
        let step = Step::Output(action_of(&iosts, &alphabet, &shown));
        assert_eq!(tester.step(step), Progress::Continue);
        let mut menu = Menu::default();
        tester.menu(&mut menu);
        let texts = menu.stimuli.iter().map(|a| alphabet.text(*a).to_string());
        assert_eq!(texts.collect::<Vec<_>>(), ["?a(0)"], "seed {seed}");
    }
}

/// The way to the goal begins with an output. It is waited for, and once silence has changed nothing the tester stimulates:
/// with and without look-ahead.
#[test]
fn an_output_on_the_way_to_a_goal_is_not_waited_for_again_after_silence() {
    let text = "system M { input a(x: 0..2)  output z(y: 0..2)  initial state S { ?a(x) -> S } }";
    let (file, found) = iolite_lang::parse_and_check(text);
    assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
    let iosts = Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"));
    let lts = iosts.unfold(&mut Solver::embedded(), UnfoldBudget::default());
    let lts = lts.expect("finite data unfold");
    let edges = [("Ok", "!z", "Bad"), ("Ok", "*", "Ok")];
    let observer = common::property::observer("NoZ", &spoken(), &["Ok", "Bad"], &edges);

    let data = oracle(symbolic(&iosts), 1);
    let alphabet = data.alphabet().clone();
    let goal = LabelGoal::by_text(observer.clone(), &alphabet, &goal_labels(&iosts));
    hints_before_and_after_silence(GoalTester::with_lookahead(data, vec![goal], 1));
    let unfolded = IocoOracle::new(&lts, POLICY);
    let alphabet = unfolded.alphabet().clone();
    let goal = LabelGoal::own(observer, &alphabet, lts.shared_labels());
    hints_before_and_after_silence(GoalTester::with_lookahead(unfolded, vec![goal], 1000));
}

fn hints_before_and_after_silence(mut tester: impl Guide) {
    tester.reset();
    let mut menu = Menu::default();
    tester.menu(&mut menu);
    assert_eq!(tester.hint(&menu), Some(Hint::Observe));
    assert_eq!(tester.step(Step::Quiescence), Progress::Continue);
    menu.clear();
    tester.menu(&mut menu);
    assert!(menu.settled && !menu.stimuli.is_empty());
    assert_ne!(tester.hint(&menu), Some(Hint::Observe));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// δ leads to where it leads again, with and without a value of the constant: what may be observed and the states themselves
    /// are the same after one more.
    #[test]
    fn silence_once_more_changes_nothing(
        rows in prop::collection::vec(any::<Row>(), 1..9),
        steps in prop::collection::vec((0u8..4, 0i64..3), 1..12),
        c in prop::option::of(0i64..3),
    ) {
        let text = model(&rows);
        let (file, _) = iolite_lang::parse_and_check(&text);
        let iosts = Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"));
        let known: Vec<(&str, Value)> = c.iter().map(|&c| ("c", Value::from(c))).collect();
        let semantics = Symbolic::new(iosts.clone(), &known, POLICY, Solver::embedded());
        let mut oracle = oracle(semantics.expect("a value of c"), 3);
        let alphabet = oracle.alphabet().clone();
        let mut at = oracle.initial().expect("finite data are decided");
        for (kind, value) in steps {
            let (sort, name) = if kind == 0 { (LabelKind::Input, "a") } else { (LabelKind::Output, "z") };
            let valued = ValuedAction {
                action: iosts.find_gate(sort, name).expect("declared"),
                values: vec![Value::from(value)],
            };
            let step = match kind {
                0 => Step::Stimulus(action_of(&iosts, &alphabet, &valued)),
                1 => Step::Output(action_of(&iosts, &alphabet, &valued)),
                _ => Step::Quiescence,
            };
            let Ok(Meaning::Allowed(next)) = oracle.after(&at, step) else { return Ok(()) };
            if step == Step::Quiescence {
                prop_assert!(oracle.stays_silent(&next));
                let again = oracle.after(&next, Step::Quiescence);
                let Ok(Meaning::Allowed(again)) = again else {
                    return Err(TestCaseError::fail(format!("{again:?}\n{text}")));
                };
                prop_assert_eq!(oracle.out(&again), oracle.out(&next), "{}", &text);
                prop_assert_eq!(oracle.places(&again).locations, oracle.places(&next).locations, "{}", &text);
            }
            at = next;
        }
    }
}

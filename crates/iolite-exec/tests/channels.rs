//! Models with data through several channels: whoever ends a run does not pass what no order explains. The slow version is the
//! tester of the unfolded model through the same channels, which knows all outputs that are still to come, and is compared with
//! explicit queues itself (`iolite-derive/tests/channels.rs`).

mod support;

use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{
    ActionId, Alphabet, Channel, ChannelOracle, ConformanceTester, GoalTester, IocoOracle,
    LabelGoal, Oracle, Progress, QueueOptions, Step, SymbolicOracle, Tester, Verdict, action_of,
};
use iolite_exec::{
    Adapter, End, ExecError, Options, Quiescence, Received, RunId, RunOutcome, RunSetup, Sent,
    Uniform, run,
};
use iolite_expr::{Solver, Strategy as Values, Value};
use iolite_lts::{LabelKind, Lts, QuiescencePolicy, StateId};
use iolite_property::{AutomatonSource, Purpose};
use iolite_sts::{Iosts, Symbolic, UnfoldBudget, ValuedAction};
use proptest::prelude::*;
use support::{lts, quick};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

type Row = (u8, u8, u8, u8, u8);

/// Outputs by number, with their values.
type Shown<'a> = &'a [(u8, i64)];

/// A random model: `z` and `w` are outputs with values, and which of them comes first depends on data.
fn model(rows: &[Row]) -> Arc<Iosts> {
    let input_guards = ["true", "x < 2", "x == v", "x != v"];
    let output_guards = ["y == v", "y < v", "y >= v", "y == (v + 1) % 3"];
    let effects = ["", " / v := x", " / v := (v + 1) % 3", " / v := 0"];
    let mut text =
        "system M { var v: 0..2 = 0\n  input a(x: 0..2)  output z(y: 0..2), w(y: 0..2)  \
                    internal t\n"
            .to_owned();
    for state in 0..3 {
        let mark = if state == 0 { "initial " } else { "" };
        text += &format!("  {mark}state S{state} {{\n");
        for (from, kind, guard, effect, to) in rows.iter().filter(|r| r.0 % 3 == state) {
            let pick = |pool: &[&'static str]| pool[usize::from(*guard) % pool.len()];
            let event = match kind % 8 {
                0 | 1 => format!("?a(x) [{}]", pick(&input_guards)),
                2..=4 => format!("!z(y) [{}]", pick(&output_guards)),
                5 | 6 => format!("!w(y) [{}]", pick(&output_guards)),
                _ => "t".to_owned(),
            };
            // Only an input has the parameter that is kept.
            let kept = if kind % 8 < 2 {
                &effects[..]
            } else {
                &["", effects[2], effects[3]]
            };
            let effect = kept[usize::from(*effect) % kept.len()];
            let to = (from % 3 + to % 3) % 3;
            text += &format!("    {event}{effect} -> S{to}\n");
        }
        // Two states take every input, so that runs are longer than a step; the third may leave one open.
        if state < 2 {
            text += &format!("    ?a(x) -> S{state}\n");
        }
        text += "  }\n";
    }
    text += "}\n";
    lowered(&text)
}

fn lowered(text: &str) -> Arc<Iosts> {
    let (file, found) = iolite_lang::parse_and_check(text);
    assert!(found.iter().all(|d| !d.is_error()), "{text}\n{found:?}");
    Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"))
}

fn channels(setting: u8) -> Vec<Channel> {
    let channel = |inputs: &[&str], outputs: &[&str], loss, reorder| Channel {
        name: outputs.join("-"),
        inputs: inputs.iter().map(|&n| n.to_owned()).collect(),
        outputs: outputs.iter().map(|&n| n.to_owned()).collect(),
        loss,
        reorder,
    };
    match setting % 4 {
        0 => vec![channel(&["a"], &["z", "w"], false, true)],
        1 => vec![
            channel(&["a"], &["z"], false, false),
            channel(&[], &["w"], true, false),
        ],
        _ => vec![
            channel(&["a"], &["z"], false, false),
            channel(&[], &["w"], false, false),
        ],
    }
}

fn through<O: Oracle>(inner: O, channels: &[Channel]) -> ChannelOracle<O> {
    let options = QueueOptions {
        channels: channels.to_vec().into(),
        ..QueueOptions::default()
    };
    ChannelOracle::new(inner, options)
}

fn symbolic(model: &Arc<Iosts>, channels: &[Channel]) -> ChannelOracle<SymbolicOracle> {
    let semantics = Symbolic::new(model.clone(), &[], POLICY, Solver::embedded());
    let semantics = semantics.expect("no constants are given");
    let oracle = SymbolicOracle::new(semantics, &Alphabet::default(), 1, Values::Mixed);
    through(oracle.expect("there are initial states"), channels)
}

type Explicit = ConformanceTester<ChannelOracle<IocoOracle<Lts>>>;

fn explicit(model: &Arc<Iosts>, channels: &[Channel]) -> Explicit {
    let lts = model.unfold(&mut Solver::embedded(), UnfoldBudget::default());
    let oracle = IocoOracle::new(lts.expect("finite data unfold"), POLICY);
    ConformanceTester::new(through(oracle, channels))
}

/// One of the inputs, outputs or δ, by number.
fn action(model: &Iosts, alphabet: &Alphabet, (kind, value): (u8, i64)) -> Step {
    let (sort, name) = match kind {
        0 => (LabelKind::Input, "a"),
        1 => (LabelKind::Output, "z"),
        2 => (LabelKind::Output, "w"),
        _ => return Step::Quiescence,
    };
    let valued = ValuedAction {
        action: model.find_gate(sort, name).expect("declared"),
        values: vec![Value::from(value)],
    };
    let action = action_of(model, alphabet, &valued);
    match sort {
        LabelKind::Input => Step::Stimulus(action),
        _ => Step::Output(action),
    }
}

/// Shows these outputs and silences, one whenever it is looked at, whatever it is given; and is silent then.
struct Script {
    shown: Vec<Option<ActionId>>,
    next: usize,
    /// Whether it begins again instead.
    endless: bool,
}

impl Adapter for Script {
    fn start(&mut self, _: u64) -> Result<(), ExecError> {
        self.next = 0;
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        Ok(None)
    }

    fn send(&mut self, _: ActionId) -> Result<Sent, ExecError> {
        Ok(Sent::Given)
    }

    fn receive(&mut self, _: Duration) -> Result<Received, ExecError> {
        if self.endless && self.next == self.shown.len() {
            self.next = 0;
        }
        let shown = self.shown.get(self.next).copied().flatten();
        self.next += 1;
        Ok(shown.map_or(Received::Nothing, Received::Output))
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    fn is_timed(&self) -> bool {
        false
    }
}

fn ran<T: Tester>(tester: &mut T, mut script: Script, steps: u64, seed: u64) -> RunOutcome {
    let mut options = quick();
    options.limits.steps = Some(steps);
    let id = RunId::of(seed, 0);
    run(tester, &mut script, &mut Uniform, &options, id, &mut ()).expect("no fault")
}

fn script(model: &Iosts, alphabet: &Alphabet, shown: &[(u8, i64)]) -> Script {
    let output = |&shown: &(u8, i64)| match action(model, alphabet, shown) {
        Step::Output(output) => Some(output),
        _ => None,
    };
    Script {
        shown: shown.iter().map(output).collect(),
        next: 0,
        endless: false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Wherever a run or a log ends.
    #[test]
    fn what_the_unfolded_model_fails_is_no_pass_at_any_time(
        rows in prop::collection::vec(any::<Row>(), 2..8),
        steps in prop::collection::vec((0u8..4, 0i64..3), 1..8),
        setting: u8,
    ) {
        let model = model(&rows);
        let channels = channels(setting);
        let loses = channels.iter().any(|c| c.loss);
        let mut symbolic = ConformanceTester::new(symbolic(&model, &channels));
        let mut explicit = explicit(&model, &channels);
        let mut failed = false;
        for step in steps {
            let own = action(&model, explicit.alphabet(), step);
            let right = if failed { Progress::Ended(Verdict::Fail) } else { explicit.step(own) };
            failed = right == Progress::Ended(Verdict::Fail);
            let step = action(&model, symbolic.alphabet(), step);
            let left = symbolic.step(step);
            match (left, failed) {
                (Progress::Ended(verdict), true) => {
                    // A lost output with values that nobody knows may explain it.
                    prop_assert!(verdict == Verdict::Fail || loses && verdict == Verdict::Inconc);
                    return Ok(());
                }
                (Progress::Continue, true) => {
                    prop_assert_eq!(symbolic.verdict(), Verdict::Inconc);
                    prop_assert!(symbolic.awaits_explanation());
                    prop_assert_ne!(step, Step::Quiescence);
                }
                (Progress::Ended(_), false) => {
                    prop_assert!(left == right || loses && left == Progress::Ended(Verdict::Inconc));
                    return Ok(());
                }
                // A lost output may have led to where an input is left open, and with data nobody knows which.
                (Progress::Continue, false) if loses && right != Progress::Continue => return Ok(()),
                (Progress::Continue, false) => {
                    prop_assert_eq!(right, Progress::Continue);
                    prop_assert_eq!(explicit.verdict(), Verdict::Pass);
                    if !loses {
                        let awaits = symbolic.awaits_explanation();
                        prop_assert_eq!(awaits, explicit.awaits_explanation());
                        // What is to come need not be known: an input that may be taken where it is left open explains all.
                        let verdict = symbolic.verdict();
                        prop_assert!(verdict == Verdict::Pass || awaits && verdict == Verdict::Inconc);
                    }
                }
            }
        }
    }

    /// A run that ends by its number of steps is observed further, until the system is silent, and comes to what the unfolded model says.
    #[test]
    fn a_run_ends_with_what_the_unfolded_model_says(
        rows in prop::collection::vec(any::<Row>(), 2..8),
        shown in prop::collection::vec((1u8..4, 0i64..3), 1..6),
        limit in 1u64..6,
        setting in 2u8..5,
        seed: u64,
    ) {
        let model = model(&rows);
        let channels = channels(setting);
        let mut symbolic = ConformanceTester::new(symbolic(&model, &channels));
        let script = script(&model, symbolic.alphabet(), &shown);
        let outcome = ran(&mut symbolic, script, limit, seed);
        let mut explicit = explicit(&model, &channels);
        let mut right = Verdict::Pass;
        for &step in outcome.trace.steps() {
            let own = |action: ActionId| {
                let action = symbolic.alphabet().action(action).expect("a known action");
                explicit.alphabet().intern((*action).clone())
            };
            let step = match step {
                Step::Stimulus(action) => Step::Stimulus(own(action)),
                Step::Output(action) => Step::Output(own(action)),
                step => step,
            };
            let progress = explicit.step(step);
            if let Progress::Ended(verdict) = progress {
                right = verdict;
                break;
            }
        }
        prop_assert_eq!(outcome.verdict, right, "{:?}", outcome);
    }
}

/// `z` is sent before `w`, on another channel.
fn counter() -> Arc<Iosts> {
    lowered(
        "system M { var v: 0..2 = 0  input a(x: 0..2)  output z(y: 0..2), w(y: 0..2)
           initial state S { ?a(x) / v := x -> T }
           state T { ?a(x) -> T  !z(y) [y == v] -> U }
           state U { ?a(x) -> U  !w(y) [y == (v + 1) % 3] -> S }
         }",
    )
}

/// Gives `?a(1)` first, and then observes.
fn outcome<T: Tester>(tester: &mut T, shown: &[(u8, i64)], endless: bool) -> RunOutcome {
    let model = counter();
    let alphabet = tester.alphabet().clone();
    let Step::Stimulus(first) = action(&model, &alphabet, (0, 1)) else {
        panic!("an input");
    };
    let shown = script(&model, &alphabet, shown);
    let mut adapter = Script { endless, ..shown };
    let mut options = quick();
    options.limits.steps = Some(2);
    let ops = [iolite_exec::Op::Give(first), iolite_exec::Op::Observe];
    let mut strategy = iolite_exec::Script::new(ops.to_vec());
    let id = RunId::of(0, 0);
    run(tester, &mut adapter, &mut strategy, &options, id, &mut ()).expect("no fault")
}

#[test]
fn an_early_output_is_decided_by_what_follows_or_by_silence() {
    let channels = channels(2);
    let mut data = ConformanceTester::new(symbolic(&counter(), &channels));
    let mut unfolded = explicit(&counter(), &channels);
    // Both orders, and the output that would have explained the first one is missing or another.
    let both: [(Shown<'_>, Verdict, u64); 3] = [
        (&[(2, 2), (1, 1)], Verdict::Pass, 3),
        (&[(2, 2)], Verdict::Fail, 3),
        (&[(1, 1), (2, 2)], Verdict::Pass, 2),
    ];
    for (shown, verdict, steps) in both {
        for outcome in [
            outcome(&mut data, shown, false),
            outcome(&mut unfolded, shown, false),
        ] {
            assert_eq!(
                (outcome.verdict, outcome.steps),
                (verdict, steps),
                "{shown:?}"
            );
        }
    }
    // The unfolded model knows that no `z` explains this `w`.
    let wrong = outcome(&mut data, &[(2, 0)], false);
    assert_eq!((wrong.verdict, wrong.end), (Verdict::Fail, End::Tester));
    assert_eq!(wrong.certificate.expect("a certificate").trace.len(), 2);
    let known = outcome(&mut unfolded, &[(2, 0)], false);
    assert_eq!((known.verdict, known.steps), (Verdict::Fail, 2));
    // A system that is never silent: nothing decides, and the run ends all the same.
    let open = outcome(&mut data, &[(2, 0)], true);
    assert_eq!((open.verdict, open.end), (Verdict::Inconc, End::StepLimit));
    assert!(open.steps < 100, "{}", open.steps);
    assert!(!open.notices.is_empty());
}

/// Gives these outputs so long after each stimulus, in a time that passes when somebody waits.
struct Late {
    answer: Vec<(Duration, ActionId)>,
    due: Vec<(Duration, ActionId)>,
    now: Duration,
}

impl Adapter for Late {
    fn start(&mut self, _: u64) -> Result<(), ExecError> {
        self.due.clear();
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        Ok(match self.receive(Duration::ZERO)? {
            Received::Nothing => None,
            received => Some(received),
        })
    }

    fn send(&mut self, _: ActionId) -> Result<Sent, ExecError> {
        let due = self
            .answer
            .iter()
            .map(|&(late, output)| (self.now + late, output));
        self.due = due.collect();
        Ok(Sent::Given)
    }

    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError> {
        let until = self.now + patience;
        Ok(match self.due.first() {
            Some(&(at, output)) if at <= until => {
                self.now = self.now.max(at);
                self.due.remove(0);
                Received::Output(output)
            }
            _ => {
                self.now = until;
                Received::Nothing
            }
        })
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }
}

/// The verdict of a run through two channels whose failure by silence is repeated: both orders of `z(2)` and `w(1)` are allowed, and these
/// outputs come so many milliseconds after the input.
fn confirmed(shown: &[(u64, u8, i64)]) -> Verdict {
    let model = lowered(
        "system M { input a(x: 0..2)  output z(y: 0..2), w(y: 0..2)
           initial state On { ?a(x) -> P }
           state P { !w(y) [y == 1] -> Z  !z(y) [y == 2] -> W }
           state Z { !z(y) [y == 2] -> On }
           state W { !w(y) [y == 1] -> On } }",
    );
    let mut tester = ConformanceTester::new(symbolic(&model, &channels(2)));
    let alphabet = tester.alphabet().clone();
    let Step::Stimulus(first) = action(&model, &alphabet, (0, 1)) else {
        panic!("an input");
    };
    let answer =
        shown.iter().map(
            |&(late, kind, value)| match action(&model, &alphabet, (kind, value)) {
                Step::Output(output) => (Duration::from_millis(late), output),
                _ => panic!("an output"),
            },
        );
    let mut adapter = Late {
        answer: answer.collect(),
        due: Vec::new(),
        now: Duration::ZERO,
    };
    let options = Options {
        quiescence: Quiescence::after(Duration::from_millis(150)),
        ..Options::default()
    };
    let mut ops = vec![iolite_exec::Op::Give(first)];
    ops.extend([iolite_exec::Op::Observe; 3]);
    let setup = RunSetup {
        tester: &mut tester,
        adapter: &mut adapter,
        strategy: &mut iolite_exec::Script::new(ops),
        options: &options,
        id: RunId::of(0, 0),
        sink: &mut (),
    };
    setup.run_confirmed().expect("no fault").verdict
}

#[test]
fn an_output_that_nothing_explains_is_not_excused_by_one_that_is_late() {
    // Whoever is only late is.
    assert_eq!(confirmed(&[(0, 2, 1), (300, 1, 2)]), Verdict::Flaky);
    assert_eq!(confirmed(&[(300, 2, 1), (300, 1, 2)]), Verdict::Flaky);
    assert_eq!(confirmed(&[(0, 2, 1), (0, 1, 2)]), Verdict::Pass);
    // `w(2)` is wrong, and comes at once or late.
    assert_eq!(confirmed(&[(0, 2, 2), (300, 1, 2)]), Verdict::Fail);
    assert_eq!(confirmed(&[(300, 2, 2), (300, 1, 2)]), Verdict::Fail);
}

/// A purpose that an unexplained output reaches: the run goes on to where it is known whether the system is right.
#[test]
fn a_purpose_that_is_reached_early_does_not_hide_a_fault() {
    let reaches = lts(&[(0, "?a(…)", 0), (0, "!z(…)", 0), (0, "!w(…)", 1)]);
    let purpose = Purpose::new(
        AutomatonSource::from_lts("Reaches", &reaches),
        &[StateId::new(1)],
        &[],
    );
    let purpose = purpose.expect("a purpose");
    let oracle = symbolic(&counter(), &channels(2));
    let alphabet = oracle.alphabet().clone();
    let goal = LabelGoal::by_text(purpose, &alphabet, reaches.shared_labels());
    let mut tester = GoalTester::new(oracle, vec![goal]);
    let mut judged = |shown: &[(u8, i64)], endless| {
        let outcome = outcome(&mut tester, shown, endless);
        let result = outcome.results.first().map(|(_, verdict)| *verdict);
        (outcome.verdict, result.expect("one purpose"))
    };
    let (pass, inconc) = (Verdict::Pass, Verdict::Inconc);
    assert_eq!(judged(&[(2, 2), (1, 1)], false), (pass, pass));
    assert_eq!(judged(&[(2, 0)], false).0, Verdict::Fail);
    assert_eq!(judged(&[(2, 0)], true), (inconc, inconc));
}

//! What a specification does not declare, what a system does not take, and ids that are given anew:
//! none of them is ever mistaken for something else.

mod support;

use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{
    Action, Alphabet, ConformanceTester, IocoOracle, Menu, Notice, Progress, Step, SymbolicOracle,
    Tester, Verdict,
};
use iolite_exec::codec::{
    ActionMap, ChannelId, Dictionary, LabelDictionary, SortDictionary, WireCodec,
};
use iolite_exec::{
    Adapter, Certificate, End, Event, ExecError, InProcess, ModelSut, NamedSystem, RefusedInput,
    RunId, RunOutcome, SymbolicSut, SystemUnderTest, Uniform, run,
};
use iolite_expr::{Solver, Strategy as Values, Value};
use iolite_lts::{LabelKind, Lts, QuiescencePolicy};
use iolite_sts::{Iosts, Simulation, Symbolic};
use support::{SpecTester, lts, quick, script};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// `?a` is answered by `!x`.
fn asked() -> Lts {
    lts(&[(0, "?a", 1), (1, "!x", 0)])
}

fn ioco(spec: &Lts) -> (ConformanceTester<IocoOracle<&Lts>>, LabelDictionary) {
    let tester = ConformanceTester::new(IocoOracle::new(spec, POLICY));
    let dictionary = LabelDictionary::new(tester.alphabet(), spec.labels());
    (tester, dictionary)
}

/// A model with data, from text.
fn data(text: &str) -> Arc<Iosts> {
    let (file, found) = iolite_lang::parse_and_check_bytes(text.as_bytes());
    assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
    Arc::new(iolite_lang::lower_data(&file, "M").unwrap())
}

fn symbolic(model: &Arc<Iosts>) -> Symbolic {
    Symbolic::new(model.clone(), &[], POLICY, Solver::embedded()).unwrap()
}

fn ioco_with_data(spec: &Arc<Iosts>) -> (ConformanceTester<SymbolicOracle>, SortDictionary) {
    let alphabet = Alphabet::default();
    let oracle = SymbolicOracle::new(symbolic(spec), &alphabet, 0, Values::Mixed).unwrap();
    let dictionary = SortDictionary::new(&alphabet, spec);
    (ConformanceTester::new(oracle), dictionary)
}

/// What the specification of the tests with data says: `?put(n)` is answered by `!got(n)`.
const ECHO: &str = "system M {
  var last: int = 0
  input put(n: int)
  output got(n: int)
  initial state Wait { ?put(n) / last := n -> Say }
  state Say { !got(n) [n == last] -> Wait }
}";

/// Runs until the step limit or the verdict, and hears everything.
fn heard<T: Tester>(
    tester: &mut T,
    adapter: &mut impl Adapter,
) -> (Result<RunOutcome, ExecError>, Vec<Event>) {
    let mut events = Vec::new();
    let mut options = quick();
    options.limits.steps = Some(200);
    let id = RunId::of(7, 0);
    let result = run(tester, adapter, &mut Uniform, &options, id, &mut events);
    (result, events)
}

/// The proof that the run failed by this observation.
fn failed<T: Tester>(
    tester: &mut T,
    adapter: &mut impl Adapter,
    observed: &str,
) -> Box<Certificate> {
    let (outcome, events) = heard(tester, adapter);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.verdict, outcome.end), (Verdict::Fail, End::Tester));
    let certificate = outcome.certificate.unwrap();
    assert_eq!(certificate.observed.as_deref(), Some(observed));
    // The journal calls it by the same name.
    let told = events.iter().rev().find_map(|event| match event {
        Event::Output { action, .. } => Some(action.as_str()),
        _ => None,
    });
    assert_eq!(told, Some(observed));
    Box::new(certificate)
}

#[test]
fn an_output_that_the_specification_does_not_declare_fails_by_its_name() {
    let spec = asked();
    for output in ["!z", "!z(3)", "!x(3)", "!a", "!z(\"quoted, text\")"] {
        let model = lts(&[(0, "?a", 1), (1, output, 0)]);
        let (mut tester, dictionary) = ioco(&spec);
        let mut adapter =
            ModelSut::new(model, dictionary, 1).on_refused_input(RefusedInput::SelfLoop);
        let certificate = failed(&mut tester, &mut adapter, output);
        assert_eq!(certificate.trace.last().map(String::as_str), Some("?a"));
        assert_eq!(certificate.allowed, ["!x"]);
    }
}

/// A system without a model, which writes what it likes.
struct Writer(&'static str);
impl SystemUnderTest<String> for Writer {
    fn reset(&mut self) {}

    fn stimulate(&mut self, _: &String) {}

    fn output(&mut self, _: Duration) -> Option<String> {
        Some(self.0.to_owned())
    }
}

#[test]
fn an_output_of_another_model_with_data_fails_by_its_name() {
    let spec = data(ECHO);
    let other = |output: &str, guard: &str| {
        let text = format!(
            "system M {{
              var last: int = 0
              input put(n: int)
              output {output}
              initial state Wait {{ ?put(n) / last := n -> Say }}
              state Say {{ {guard} -> Wait }}
            }}"
        );
        data(&text)
    };
    for (output, guard, observed) in [
        ("zap", "!zap", "!zap"),
        ("zap(v: int)", "!zap(v) [v == 4]", "!zap(4)"),
        (
            "got(v: int, w: int)",
            "!got(v, w) [v == 4 && w == 5]",
            "!got(4, 5)",
        ),
        ("got(v: bool)", "!got(v) [v]", "!got(true)"),
        ("got(v: string)", "!got(v) [v == \"4\"]", "!got(\"4\")"),
    ] {
        let (mut tester, dictionary) = ioco_with_data(&spec);
        let system = Simulation::new(symbolic(&other(output, guard)));
        let mut adapter = SymbolicSut::new(system, dictionary, 0);
        let certificate = failed(&mut tester, &mut adapter, observed);
        assert!(certificate.allowed.iter().all(|a| a.starts_with("!got")));
    }
    for written in ["zap", "got(1, 2)", "got(true)"] {
        let (mut tester, dictionary) = ioco_with_data(&spec);
        let mut adapter = InProcess::new(NamedSystem::new(Writer(written), dictionary));
        failed(&mut tester, &mut adapter, &format!("!{written}"));
    }
}

#[test]
fn a_refused_stimulus_is_an_error_of_a_conformance_test() {
    let spec = lts(&[(0, "?a", 1), (1, "?a", 1)]);
    // The second `?a` is not taken; another model does not have `?a` at all.
    for model in [lts(&[(0, "?a", 1)]), lts(&[(0, "?b", 0)])] {
        let (mut tester, dictionary) = ioco(&spec);
        let mut adapter = ModelSut::new(model, dictionary, 1);
        let (result, events) = heard(&mut tester, &mut adapter);
        let Err(ExecError::Refused { stimulus, reason }) = result else {
            panic!("{result:?}");
        };
        assert_eq!(stimulus, "?a");
        assert!(reason.contains("does not take it in state"), "{reason}");
        let Some(Event::Fault { code, .. }) = events.last() else {
            panic!("{events:?}");
        };
        assert_eq!(code, "refused");
        assert!(!events.iter().any(|e| matches!(e, Event::RunEnded { .. })));
    }
    let spec = data(ECHO);
    let deaf = data(&ECHO.replace("?put(n)", "?put(n) [n > 1000000000]"));
    let (mut tester, dictionary) = ioco_with_data(&spec);
    let mut adapter = SymbolicSut::new(Simulation::new(symbolic(&deaf)), dictionary, 0);
    let (result, _) = heard(&mut tester, &mut adapter);
    let Err(ExecError::Refused { stimulus, .. }) = result else {
        panic!("{result:?}");
    };
    assert!(stimulus.starts_with("?put("), "{stimulus}");
}

/// Judges as a tester of properties does: a stimulus that is refused has not happened, and the run
/// ends with the verdict before it [PROP12, §7].
struct Forgiving {
    tester: SpecTester,
    before: Verdict,
    now: Verdict,
}

impl Tester for Forgiving {
    fn alphabet(&self) -> &Alphabet {
        self.tester.alphabet()
    }

    fn reset(&mut self) {
        self.tester.reset();
        (self.before, self.now) = (Verdict::Unknown, Verdict::Unknown);
    }

    fn menu(&mut self, menu: &mut Menu) {
        self.tester.menu(menu);
    }

    fn step(&mut self, step: Step) -> Progress {
        self.before = self.now;
        if step.is_stimulus() {
            self.now = Verdict::Fail;
            return Progress::Ended(Verdict::Fail);
        }
        Progress::Continue
    }

    fn refused(&mut self) -> Option<Progress> {
        self.now = self.before;
        Some(Progress::Ended(self.now))
    }

    fn verdict(&self) -> Verdict {
        self.now
    }

    fn allowed(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn locations(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn results(&self) -> Vec<(String, Verdict)> {
        vec![("no stimulus".into(), self.now)]
    }

    fn conclude(&mut self) -> Vec<Notice> {
        Vec::new()
    }
}

#[test]
fn a_refused_stimulus_ends_the_run_where_the_tester_judges_it() {
    let spec = lts(&[(0, "?a", 0)]);
    let mut tester = Forgiving {
        tester: SpecTester::new(spec.clone()),
        before: Verdict::Unknown,
        now: Verdict::Unknown,
    };
    for (taken, verdict) in [("?a", Verdict::Fail), ("?b", Verdict::Unknown)] {
        let dictionary = tester.tester.dictionary();
        let mut adapter = ModelSut::new(lts(&[(0, taken, 0)]), dictionary, 1);
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut script(&spec, &["observe", "?a", "observe"]),
            &quick(),
            RunId::of(0, 0),
            &mut (),
        )
        .unwrap();
        assert_eq!((outcome.verdict, outcome.end), (verdict, End::Tester));
        assert_eq!(outcome.results, [("no stimulus".to_owned(), verdict)]);
        assert_eq!(outcome.certificate.is_some(), verdict == Verdict::Fail);
        assert_eq!(outcome.steps, 2);
    }
}

/// So many actions make a table forget at the start of a run what earlier runs met.
const CROWDED: i64 = 1 << 18;

fn valued(kind: LabelKind, name: &str, n: i64) -> Action {
    Action {
        kind,
        name: name.into(),
        args: vec![Value::from(n)],
    }
}

/// Each value is the same number in the message, in the action and in what is shown, run after run,
/// though ids of earlier runs are given to other actions.
#[test]
fn a_codec_never_confuses_ids_of_different_runs() {
    let spec = data(ECHO);
    let alphabet = Alphabet::default();
    let dictionary = SortDictionary::new(&alphabet, &spec);
    let mut codec = WireCodec::new(ActionMap::new(), dictionary).unwrap();
    let mut owners: Vec<Option<i64>> = Vec::new();
    let mut given_anew = 0;
    // An input and an output for each value: just enough to be forgotten.
    let each = CROWDED / 2 + 1;
    for number in 0..3 {
        alphabet.begin_run();
        // Half of the values of a run were met by the run before, in another order.
        let values = number * each / 2..number * each / 2 + each;
        let reversed = number % 2 == 1;
        for i in values.clone() {
            let n = if reversed {
                values.end - 1 - (i - values.start)
            } else {
                i
            };
            let (output, input) = (n, -n);
            let message = format!("got({output})");
            let decoded = codec.decode(ChannelId::FIRST, message.as_bytes()).unwrap();
            assert_eq!(decoded.note, None);
            let action = alphabet.action(decoded.action).unwrap();
            assert_eq!(*action, valued(LabelKind::Output, "got", output));
            assert_eq!(codec.show(decoded.action), format!("!{message}"));
            let stimulus = alphabet.intern(valued(LabelKind::Input, "put", input));
            for _ in 0..2 {
                let mut bytes = Vec::new();
                codec.encode(stimulus, &mut bytes).unwrap();
                assert_eq!(bytes, format!("put({input})").as_bytes());
            }
            let index = decoded.action.index();
            owners.resize(owners.len().max(index + 1), None);
            let before = owners[index].replace(output);
            given_anew += usize::from(before.is_some_and(|before| before != output));
        }
    }
    assert!(given_anew > 1000, "no id had two meanings: {given_anew}");
}

/// The same through tester, engine and system: an echo over a specification with data, in so many
/// runs that the table forgets, with more in it than runs of the tester alone would bring.
#[test]
fn verdicts_are_right_though_ids_are_given_anew() {
    /// Answers with the number it got, or with another one from time to time.
    struct Echo {
        last: Option<String>,
        count: u64,
        wrong: u64,
    }
    impl SystemUnderTest<String> for Echo {
        fn reset(&mut self) {
            (self.last, self.count) = (None, 0);
        }

        fn stimulate(&mut self, stimulus: &String) {
            self.count += 1;
            let number = stimulus.strip_prefix("put").unwrap();
            self.last = Some(format!("got{number}"));
            if self.count == self.wrong {
                self.last = Some(format!("got({})", i64::MAX));
            }
        }

        fn output(&mut self, _: Duration) -> Option<String> {
            self.last.take()
        }
    }
    let spec = data(ECHO);
    let (mut tester, dictionary) = ioco_with_data(&spec);
    let alphabet = tester.alphabet().clone();
    let mut options = quick();
    options.limits.steps = Some(300);
    let mut met: i64 = 0;
    let mut stories = Vec::new();
    for number in 0..12 {
        // What other runs would have met by now.
        let more = if number % 3 == 0 { CROWDED + 1 } else { 50 };
        for n in met..met + more {
            alphabet.intern(valued(LabelKind::Output, "got", n));
        }
        met += more;
        let wrong = if number % 4 == 3 { 20 } else { u64::MAX };
        let echo = Echo {
            last: None,
            count: 0,
            wrong,
        };
        let system = NamedSystem::<String, _>::new(echo, dictionary.clone());
        let mut adapter = InProcess::new(system);
        // Two seeds: the same run has the same story, whatever ids it has.
        let id = RunId {
            number,
            seed: number % 2,
        };
        let mut events: Vec<Event> = Vec::new();
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut Uniform,
            &options,
            id,
            &mut events,
        )
        .unwrap();
        let texts: Vec<String> = events
            .iter()
            .filter_map(|event| match event {
                Event::Stimulus { action, .. } | Event::Output { action, .. } => {
                    Some(action.to_string())
                }
                _ => None,
            })
            .collect();
        if wrong == 20 {
            assert_eq!(outcome.verdict, Verdict::Fail);
            let certificate = outcome.certificate.unwrap();
            assert_eq!(certificate.observed, Some(format!("!got({})", i64::MAX)));
            let given = certificate.trace.last().unwrap();
            assert!(given.starts_with("?put("), "{given}");
            let due = given.replace("?put(", "").replace(')', "");
            assert!(certificate.allowed[0].contains(&due), "{certificate:?}");
        } else {
            assert_eq!(outcome.verdict, Verdict::Pass, "run {number}");
            for pair in texts.chunks_exact(2) {
                assert_eq!(pair[0].replace("?put", "!got"), pair[1]);
            }
            stories.push((id.seed, texts));
        }
        // What the trace speaks of is still known when the run is over.
        let shown = outcome.trace.steps().iter().map(|s| s.text(&alphabet));
        assert!(shown.clone().all(|text| text != "forgotten action"));
    }
    for (seed, story) in &stories {
        let first = stories.iter().find(|(s, _)| s == seed).unwrap();
        assert_eq!(*story, first.1, "seed {seed}");
    }
}

/// A system that plays a specification knows the same words.
#[test]
fn the_words_of_both_sides_are_the_same() {
    let spec = data(ECHO);
    let alphabet = Alphabet::default();
    let dictionary = SortDictionary::new(&alphabet, &spec);
    let map = ActionMap::new();
    let mut tester = WireCodec::new(map.clone(), dictionary.clone()).unwrap();
    let mut system = WireCodec::of_system(&map, dictionary.clone()).unwrap();
    for n in [0, 1, -1, i64::MAX, i64::MIN] {
        let put = alphabet.intern(valued(LabelKind::Input, "put", n));
        let got = alphabet.intern(valued(LabelKind::Output, "got", n));
        let mut bytes = Vec::new();
        tester.encode(put, &mut bytes).unwrap();
        let read = system.decode(ChannelId::FIRST, &bytes).unwrap();
        assert_eq!(read.action, put);
        bytes.clear();
        system.encode(got, &mut bytes).unwrap();
        assert_eq!(tester.decode(ChannelId::FIRST, &bytes).unwrap().action, got);
        // Neither takes the other's.
        assert!(system.decode(ChannelId::FIRST, &bytes).is_err());
    }
    assert_eq!(
        dictionary
            .alphabet()
            .get(&valued(LabelKind::Output, "put", 0)),
        None
    );
}

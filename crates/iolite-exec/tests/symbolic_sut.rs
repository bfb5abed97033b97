//! A model with data as the system under test, driven by the engine over valued actions.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iolite_derive::{Action, Alphabet, ConformanceTester, SymbolicOracle, Verdict, action_of};
use iolite_exec::codec::SortDictionary;
use iolite_exec::{Adapter, ExecError, Received, RunId, Sent, SymbolicSut, Uniform, run};
use iolite_expr::{Op, Solver, Sort, Span, Strategy, Term, Value};
use iolite_lts::{Completion, QuiescencePolicy};
use iolite_sts::{Builder, Iosts, LabelKind, Simulation, Symbolic, ValuedAction};
use support::quick;

const HERE: Span = Span { start: 1, end: 2 };

/// `?a(x)` with x ≥ least is answered by `!z(y)`: y is 100 / x + c, for an unknown c ≥ 5.
fn divides(least: i64) -> Arc<Iosts> {
    let mut b = Builder::new("Divides");
    let c = b.constant("c", Sort::Int, HERE).unwrap();
    b.assume(c.term().ge(5).unwrap()).unwrap();
    let n = b.variable("n", Sort::Int, Some(1.into()), HERE).unwrap();
    let a = b
        .gate(LabelKind::Input, "a", &[("x", Sort::Int)], HERE)
        .unwrap();
    let z = b
        .gate(LabelKind::Output, "z", &[("y", Sort::Int)], HERE)
        .unwrap();
    let wait = b.location("Wait", true, HERE).unwrap();
    let say = b.location("Say", false, HERE).unwrap();
    let (x, y) = (b.params(a)[0].term(), b.params(z)[0].term());
    let share = Term::apply(Op::Div, vec![100.into(), n.term()], HERE).unwrap();
    let answer = y.equals(share.plus(c.term()).unwrap()).unwrap();
    let enough = x.ge(least).unwrap();
    b.transition(wait, a, Some(enough), vec![(n, x)], say, HERE)
        .unwrap();
    b.transition(say, z, Some(answer), vec![], wait, HERE)
        .unwrap();
    Arc::new(b.build().unwrap())
}

fn symbolic(model: &Arc<Iosts>) -> Symbolic {
    let policy = QuiescencePolicy::Livelock;
    Symbolic::new(model.clone(), &[], policy, Solver::embedded()).unwrap()
}

fn tested(spec: &Arc<Iosts>, system: Simulation) -> Result<Verdict, ExecError> {
    let alphabet = Alphabet::default();
    let oracle = SymbolicOracle::new(symbolic(spec), &alphabet, 0, Strategy::Mixed).unwrap();
    let mut tester = ConformanceTester::new(oracle);
    let mut sut = SymbolicSut::new(system, SortDictionary::new(&alphabet, spec), 0);
    let mut options = quick();
    options.limits.steps = Some(60);
    let id = RunId::of(3, 0);
    let outcome = run(&mut tester, &mut sut, &mut Uniform, &options, id, &mut ())?;
    Ok(outcome.verdict)
}

#[test]
fn verdicts_and_faults_are_told_apart() {
    let model = divides(1);
    let running = |model: &Arc<Iosts>| Simulation::new(symbolic(model));
    assert_eq!(tested(&model, running(&model)), Ok(Verdict::Pass));
    // It ignores what the specification asks for.
    let deaf = running(&divides(1_000_000)).completed(Some(Completion::SelfLoop));
    assert_eq!(tested(&model, deaf), Ok(Verdict::Fail));
    let refusal = tested(&model, running(&divides(1_000_000))).unwrap_err();
    assert_eq!(refusal.code(), "refused");
    assert!(refusal.to_string().contains("Wait (n = 1)"), "{refusal}");
}

#[test]
fn errors_have_a_place_and_runs_can_be_repeated() {
    let model = divides(0);
    let told = Arc::new(AtomicUsize::new(0));
    let constants = Arc::new(Mutex::new(Vec::new()));
    let (count, list) = (told.clone(), constants.clone());
    let alphabet = Alphabet::default();
    let dictionary = SortDictionary::new(&alphabet, &model);
    let mut sut = SymbolicSut::new(Simulation::new(symbolic(&model)), dictionary, 0)
        .telling(|error| format!("text:1: {error}"))
        .starting(move |run| {
            count.fetch_add(1, Ordering::Relaxed);
            list.lock().unwrap().push(run.constants().to_vec());
        });
    let input = |x: i64| {
        let valued = ValuedAction {
            action: model.find_gate(LabelKind::Input, "a").unwrap(),
            values: vec![Value::from(x)],
        };
        action_of(&model, &alphabet, &valued)
    };
    let mut answers = Vec::new();
    for _ in 0..2 {
        sut.start(11).unwrap();
        assert_eq!(sut.poll().unwrap(), None);
        assert_eq!(sut.send(input(7)), Ok(Sent::Given));
        answers.push(sut.receive(Duration::ZERO).unwrap());
        assert_eq!(sut.receive(Duration::ZERO).unwrap(), Received::Nothing);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(told.load(Ordering::Relaxed), 2);
    let constants = constants.lock().unwrap();
    assert_eq!(constants[0], constants[1]);
    assert_eq!(sut.send(input(0)), Ok(Sent::Given));
    let fault = sut.receive(Duration::ZERO).unwrap_err();
    let text = "model under test: text:1: division by zero, in Say (n = 0)";
    assert_eq!((fault.code(), fault.to_string().as_str()), ("model", text));
    let foreign = alphabet.intern(Action::plain(LabelKind::Input, "b"));
    assert!(matches!(sut.send(foreign), Ok(Sent::Refused { .. })));
}

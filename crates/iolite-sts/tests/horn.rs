//! Programs that solve Horn clauses: what they say is used where it is right, and never believed.
#![allow(missing_docs)]

mod support;

use std::path::PathBuf;
use std::time::Duration;

use iolite_expr::{HornAnswer, Limits, Solver, Sort, Term};
use iolite_lts::QuiescencePolicy;
use iolite_sts::analysis::{
    Answer, HornProgram, InvariantSource, Method, Problem, VerifyBudget, horn_clauses, verify,
    verify_by, watch,
};
use iolite_sts::{Builder, Iosts, LabelKind, LocationId};
use support::{random_model, random_observer};

const HERE: iolite_expr::Span = iolite_expr::Span { start: 0, end: 1 };

fn budget() -> VerifyBudget {
    VerifyBudget {
        steps: 100_000,
        time: Duration::from_secs(40),
        question: Duration::from_millis(300),
    }
}

/// Z3, where it is installed.
fn z3() -> Option<PathBuf> {
    let own = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../.tools/z3/bin/z3"
    ));
    let found = own.is_file().then_some(own);
    if found.is_none() {
        eprintln!("no Z3 under .tools; scripts/install-solver fetches it");
    }
    found
}

/// x counts up from 0; the end is reached where it is `goal`.
fn counting(goal: i64) -> (Iosts, LocationId) {
    let mut b = Builder::new("Counting");
    let x = b.variable("x", Sort::Int, Some(0.into()), HERE).unwrap();
    let step = b.gate(LabelKind::Internal, "step", &[], HERE).unwrap();
    let q = b.location("Q", true, HERE).unwrap();
    let bad = b.location("Bad", false, HERE).unwrap();
    let more = vec![(x.clone(), x.term().plus(1).unwrap())];
    let at = x.term().equals(goal).unwrap();
    b.transition(q, step, None, more, q, HERE).unwrap();
    b.transition(q, step, Some(at), vec![], bad, HERE).unwrap();
    (b.build().unwrap(), bad)
}

#[test]
fn clauses_are_what_the_problem_says() {
    let (model, bad) = counting(-1);
    let script = horn_clauses(&Problem::new(&model, &[bad]))
        .script()
        .unwrap();
    expect_test::expect![[r"
        (set-logic HORN)
        (declare-fun r0 (Int) Bool)
        (declare-fun r1 (Int) Bool)
        (assert (forall ((v0_0_0 Int)) (=> (and (= v0_0_0 0)) (r0 v0_0_0))))
        (assert (forall ((v0_0_0 Int)) (=> (and (r0 v0_0_0) true) (r0 (+ v0_0_0 1)))))
        (assert (forall ((v0_0_0 Int)) (=> (and (r0 v0_0_0) (= v0_0_0 (- 1))) (r1 v0_0_0))))
        (assert (forall ((v0_0_0 Int)) (=> (and (r1 v0_0_0) true) false)))
        (check-sat)
    "]]
    .assert_eq(&script);
}

#[test]
fn spacer_agrees_with_the_portfolio() {
    let Some(path) = z3() else { return };
    let (mut proved, mut reachable, mut refuted) = (0, 0, 0);
    for seed in 0..40 {
        let system = random_model(seed);
        if system.internal_cycle().is_some() {
            continue;
        }
        let (observer, violate) = random_observer(&system, seed);
        let watched = watch(&system, &observer, &violate, QuiescencePolicy::Strict).unwrap();
        let (model, marked) = (&watched.model, &watched.marked);
        let mut solver = Solver::embedded();
        let expected = verify(model, marked, &mut solver, budget()).decided();
        let problem = Problem::new(model, marked);
        let limits = Limits::new(Duration::from_secs(10), 1_024);
        match horn_clauses(&problem).solve(&path, &limits) {
            HornAnswer::Solution(_) => assert_ne!(expected, Some(false), "seed {seed}"),
            HornAnswer::Unsolvable => {
                assert_ne!(expected, Some(true), "seed {seed}");
                reachable += 1;
            }
            HornAnswer::Unknown(why) => println!("seed {seed}: {why}"),
        }
        let source: Box<dyn InvariantSource> = Box::new(HornProgram::new(path.clone(), "Spacer"));
        let mut sources = [source];
        let answer = verify_by(&[], model, marked, &mut solver, budget(), &mut sources);
        match answer {
            Answer::Proved(proof) => {
                assert_eq!(expected, Some(true), "seed {seed}");
                assert_eq!(proof.how, "Spacer");
                proved += 1;
            }
            Answer::Refuted(refutation) => {
                assert_eq!(expected, Some(false), "seed {seed}");
                assert_eq!(refutation.how, "Spacer");
                let states = refutation.run.replay(model).expect("a run");
                let end = states.last().expect("a state").location;
                assert!(marked.contains(&end), "seed {seed}");
                refuted += 1;
            }
            Answer::Unknown { .. } => {}
        }
    }
    println!("{proved} proved, {reachable} reachable, {refuted} with a run");
    assert!(proved > 5 && reachable > 5, "{proved}, {reachable}");
    // Its facts are what our rules conclude, one by one.
    assert!(refuted * 10 >= reachable * 9, "{refuted} of {reachable}");
}

/// The values of twenty inputs come from the facts of its refutation.
#[test]
fn spacer_shows_a_long_run() {
    let Some(path) = z3() else { return };
    let mut b = Builder::new("Sum");
    let sum = b.variable("sum", Sort::Int, Some(0.into()), HERE).unwrap();
    let count = b.variable("count", Sort::Int, Some(0.into()), HERE);
    let count = count.unwrap();
    let q = b.location("Q", true, HERE).unwrap();
    let bad = b.location("Bad", false, HERE).unwrap();
    let gate = b.gate(LabelKind::Input, "add", &[("n", Sort::Int)], HERE);
    let gate = gate.unwrap();
    let n = b.params(gate)[0].term();
    let guard = Term::all([n.gt(0).unwrap(), n.lt(4).unwrap()]);
    let more = vec![
        (sum.clone(), sum.term().plus(n).unwrap()),
        (count.clone(), count.term().plus(1).unwrap()),
    ];
    b.transition(q, gate, Some(guard), more, q, HERE).unwrap();
    let done = b.gate(LabelKind::Output, "done", &[], HERE).unwrap();
    let wanted = Term::all([
        sum.term().equals(51).unwrap(),
        count.term().equals(19).unwrap(),
    ]);
    b.transition(q, done, Some(wanted), vec![], bad, HERE)
        .unwrap();
    let model = b.build().unwrap();
    let source: Box<dyn InvariantSource> = Box::new(HornProgram::new(path, "Spacer"));
    let mut solver = Solver::embedded();
    let answer = verify_by(&[], &model, &[bad], &mut solver, budget(), &mut [source]);
    let Answer::Refuted(refutation) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(refutation.run.steps.len(), 20);
}

/// Programs that lie, hang, print without end or nothing at all change no answer.
#[cfg(unix)]
#[test]
fn whatever_a_program_says_is_checked() {
    use std::os::unix::fs::PermissionsExt;
    let scripts = [
        (
            "lies",
            "echo sat; echo '\"iolite-answer-1\"'
             echo '((define-fun r0 ((a Int)) Bool true) (define-fun r1 ((a Int)) Bool false))'
             echo '\"iolite-answer-2\"'; cat > /dev/null",
        ),
        (
            "refutes",
            "echo unsat; echo '\"iolite-answer-1\"'; cat > /dev/null",
        ),
        // States that are none of the model's, and a way that jumps.
        (
            "invents",
            "if [ -e \"$0.asked\" ]; then rm \"$0.asked\"; echo sat
               echo '(mp ((_ hyper-res 0 0) rule ((_ hyper-res 0 0) rule (r0 0)) (r1 7)) x false)'
             else touch \"$0.asked\"; echo unsat; fi
             echo '\"iolite-answer-1\"'; cat > /dev/null",
        ),
        (
            "confuses",
            "if [ -e \"$0.asked\" ]; then rm \"$0.asked\"; echo sat
               echo '(let ((a a)) (mp a x false))'
             else touch \"$0.asked\"; echo unsat; fi
             echo '\"iolite-answer-1\"'; cat > /dev/null",
        ),
        ("floods", "yes nonsense"),
        ("ends", "exit 3"),
        ("hangs", "cat > /dev/null"),
        (
            "mumbles",
            "echo '(((('; echo '\"iolite-answer-1\"'; cat > /dev/null",
        ),
    ];
    let folder = std::env::temp_dir().join(format!("iolite-horn-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in scripts {
        let path = folder.join(name);
        let text = format!("#!/bin/sh\n{text}\n");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        for (goal, expected) in [(-1, true), (3, false)] {
            let (model, bad) = counting(goal);
            let source: Box<dyn InvariantSource> = Box::new(HornProgram::new(path.clone(), name));
            let mut solver = Solver::embedded();
            let budget = VerifyBudget {
                time: Duration::from_secs(4),
                ..budget()
            };
            let mut sources = [source];
            let answer = verify_by(
                &Method::ALL,
                &model,
                &[bad],
                &mut solver,
                budget,
                &mut sources,
            );
            assert_eq!(answer.decided(), Some(expected), "{name}: {answer:?}");
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

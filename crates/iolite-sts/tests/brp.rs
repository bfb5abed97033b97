//! The running example of \[SYM04\].
#![allow(missing_docs)]

mod support;

use std::sync::Arc;

use expect_test::expect;
use iolite_expr::{Solver, Strategy, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    After, Chosen, InputChoice, Iosts, LabelKind, Symbolic, SymbolicStates, ValuedAction,
};
use support::brp_sender;

struct Walk {
    semantics: Symbolic,
    states: SymbolicStates,
}

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Possible,
    Impossible,
    Unknown,
}

impl Walk {
    fn new(model: Iosts, constants: &[(&str, Value)]) -> Self {
        let mut semantics = Symbolic::new(
            Arc::new(model),
            constants,
            QuiescencePolicy::Livelock,
            Solver::embedded(),
        )
        .unwrap();
        let After::Possible(states) = semantics.initial().unwrap() else {
            panic!("initial")
        };
        Self { semantics, states }
    }

    fn said(&mut self, after: After) -> Said {
        match after {
            After::Possible(states) => {
                self.states = states;
                Said::Possible
            }
            After::Impossible => Said::Impossible,
            After::Unknown { reason, query } => {
                eprintln!("{reason}: {query}");
                Said::Unknown
            }
        }
    }

    fn sees(&mut self, label: &str, values: &[Value]) -> Said {
        let model = self.semantics.model().clone();
        let (kind, name) = match label.strip_prefix('?') {
            Some(name) => (LabelKind::Input, name),
            None => (LabelKind::Output, &label[1..]),
        };
        let action = model.find_gate(kind, name).unwrap();
        let action = ValuedAction {
            action,
            values: values.to_vec(),
        };
        let after = self.semantics.after(&self.states, &action).unwrap();
        self.said(after)
    }

    fn delta(&mut self) -> Said {
        let after = self.semantics.after_delta(&self.states).unwrap();
        self.said(after)
    }

    fn out(&mut self) -> String {
        let out = self.semantics.out(&self.states).unwrap();
        let model = self.semantics.model().clone();
        let mut text = String::new();
        for e in out.outputs {
            let name = &model.gate(e.action).name;
            text.push_str(&format!("!{name} [{}] when {}\n", e.guard, e.condition));
        }
        for (guard, condition) in out.delta {
            text.push_str(&format!("delta [{guard}] when {condition}\n"));
        }
        text
    }
}

fn msg(m: i64, bit: bool) -> Vec<Value> {
    vec![Value::from(m), Value::from(bit)]
}

#[test]
fn quiescent_form_is_the_papers() {
    let sender = brp_sender(true).quiescent();
    let delta: Vec<(String, String)> = sender
        .transitions()
        .filter(|(_, t)| sender.gate(t.action).kind == LabelKind::Delta)
        .map(|(_, t)| {
            (
                sender.location(t.source).name.to_string(),
                t.guard.to_string(),
            )
        })
        .collect();
    let text = delta
        .iter()
        .fold(String::new(), |text, (l, g)| text + l + ": " + g + "\n");
    expect![[r"
        Wait_Req: true
        Wait_Ack: rn > max
        Send_Complete: head > last
    "]]
    .assert_eq(&text);
}

#[test]
fn silence_after_the_first_message_needs_max_below_one() {
    // REQ(1) · MSG(f(0), true) · δ is a trace of the sender without max ≥ 1, and not of the one
    // with it [SYM04, §3.5].
    for (assumption, expected) in [(true, Said::Impossible), (false, Said::Possible)] {
        let mut s = Walk::new(brp_sender(assumption), &[]);
        assert_eq!(s.sees("?REQ", &[Value::from(1)]), Said::Possible);
        assert_eq!(s.sees("!MSG", &msg(17, true)), Said::Possible);
        assert_eq!(s.delta(), expected, "max >= 1 assumed: {assumption}");
    }
}

#[test]
fn unknown_constants_are_narrowed_by_what_is_seen() {
    let mut s = Walk::new(brp_sender(true), &[]);
    assert_eq!(s.sees("?REQ", &[Value::from(2)]), Said::Possible);
    assert_eq!(
        s.sees("!MSG", &msg(5, false)),
        Said::Impossible,
        "the first bit is true"
    );
    assert_eq!(s.sees("!MSG", &msg(5, true)), Said::Possible);
    expect![[r"
        !MSG [len(f) >= 1 && pBit && pMsg == f[0]] when max >= 2 && len(f) >= 1 && f[0] == 5
        !NOT_OK [true] when len(f) >= 1 && max == 1 && f[0] == 5
    "]]
    .assert_eq(&s.out());
    // A resend must carry the same packet.
    assert_eq!(s.sees("!MSG", &msg(6, true)), Said::Impossible);
    assert_eq!(s.sees("!MSG", &msg(5, true)), Said::Possible);
    // Sent twice: max ≥ 2 is known now; giving up here means max = 2.
    assert_eq!(s.sees("!NOT_OK", &[]), Said::Possible);
    assert_eq!(s.sees("?REQ", &[Value::from(1)]), Said::Possible);
    for _ in 0..2 {
        assert_eq!(s.sees("!MSG", &msg(5, true)), Said::Possible);
    }
    assert_eq!(
        s.sees("!MSG", &msg(5, true)),
        Said::Impossible,
        "one retransmission too many"
    );
    assert_eq!(s.sees("!DONT_KNOW", &[]), Said::Possible);
    assert_eq!(s.delta(), Said::Possible);
    let known = s.semantics.narrowed(&s.states).to_string();
    expect!["len(f) >= 1 && max == 2 && f[0] == 5"].assert_eq(&known);
}

#[test]
fn faults_of_a_sender_are_seen_with_known_constants() {
    let f = Value::array(vec![Value::from(7), Value::from(8), Value::from(9)]);
    let constants = [("max", Value::from(2)), ("f", f)];
    let start = || {
        let mut s = Walk::new(brp_sender(true), &constants);
        assert_eq!(s.sees("?REQ", &[Value::from(2)]), Said::Possible);
        assert_eq!(s.sees("!MSG", &msg(7, true)), Said::Possible);
        s
    };
    let mut s = start();
    assert_eq!(s.sees("?ACK", &[]), Said::Possible);
    assert_eq!(
        s.sees("!MSG", &msg(8, true)),
        Said::Impossible,
        "bit not flipped"
    );
    assert_eq!(
        s.sees("!MSG", &msg(9, false)),
        Said::Impossible,
        "wrong packet"
    );
    assert_eq!(s.sees("!MSG", &msg(8, false)), Said::Possible);
    assert_eq!(
        s.delta(),
        Said::Impossible,
        "silence after the last timeout"
    );
    assert_eq!(s.sees("!OK", &[]), Said::Impossible, "OK for DONT_KNOW");
    assert_eq!(s.sees("?ACK", &[]), Said::Possible);
    assert_eq!(s.sees("!DONT_KNOW", &[]), Said::Impossible);
    assert_eq!(s.sees("!OK", &[]), Said::Possible);
    assert_eq!(s.delta(), Said::Possible);
    assert!(s.states.is_concrete());
    assert_eq!(
        s.semantics.solver().stats().queries,
        0,
        "known values need no solver"
    );

    let mut s = start();
    assert_eq!(s.sees("!MSG", &msg(7, true)), Said::Possible);
    assert_eq!(
        s.sees("!MSG", &msg(7, true)),
        Said::Impossible,
        "max ignored"
    );
    assert_eq!(s.sees("!NOT_OK", &[]), Said::Possible);
}

#[test]
fn inputs_are_diverse_and_allowed() {
    let f = Value::array(vec![Value::from(1); 4]);
    let mut s = Walk::new(brp_sender(true), &[("max", Value::from(2)), ("f", f)]);
    let mut choice = InputChoice::new(42, Strategy::Mixed);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let Chosen::Input(input) = choice.choose(&mut s.semantics, &s.states).unwrap() else {
            panic!("an input")
        };
        let n = input.values[0].as_int().unwrap().clone();
        assert!(n > iolite_expr::Int::ZERO);
        seen.insert(n);
        let after = s.semantics.after(&s.states, &input).unwrap();
        assert!(matches!(after, After::Possible(_)));
    }
    assert!(seen.len() >= 15, "{seen:?}");
}

#[test]
fn a_fault_of_the_model_is_an_error_and_no_verdict() {
    let f = Value::array(vec![Value::from(7)]);
    let mut s = Walk::new(brp_sender(true), &[("max", Value::from(2)), ("f", f)]);
    assert_eq!(s.sees("?REQ", &[Value::from(2)]), Said::Possible);
    assert_eq!(s.sees("!MSG", &msg(7, true)), Said::Possible);
    assert_eq!(s.sees("?ACK", &[]), Said::Possible);
    // f[1] does not exist.
    let model = s.semantics.model().clone();
    let action = model.find_gate(LabelKind::Output, "MSG").unwrap();
    let seen = ValuedAction {
        action,
        values: msg(8, false),
    };
    let error = s.semantics.after(&s.states, &seen).unwrap_err();
    expect!["index 1 out of range for an array of length 1"].assert_eq(&error.to_string());
}

//! Models with data: states and formulas take turns, and agree, for properties and for relations.

mod common;

use std::path::Path;

use common::Random;
use iolite::{
    CompletionFlag, Error, FEW_STATES, ModelRef, Proof, ReadOptions, Relation, RelationDocument,
    RelationOptions, SemanticsOptions, UnfoldingLimit, VerificationOptions, VerifiedProperty,
    Workspace,
};

const FILE: &str = "m.iol";

fn verify(text: &str, property: &str, max_states: Option<usize>) -> VerifiedProperty {
    let workspace = Workspace::with_options(ReadOptions {
        max_states,
        ..ReadOptions::default()
    });
    workspace.insert(Path::new(FILE), text);
    let options = VerificationOptions {
        properties: vec![ModelRef::from(property)],
        ..VerificationOptions::default()
    };
    let model = ModelRef::from(format!("{FILE}#S").as_str());
    let found = workspace.verify(&model, &options);
    let mut found = found.unwrap_or_else(|e| panic!("{property}: {}\n{text}", e.message()));
    found.properties.remove(0)
}

fn decided(property: &VerifiedProperty) -> Option<bool> {
    match property.proof {
        Proof::Proved { .. } => Some(true),
        Proof::Refuted { .. } => Some(false),
        Proof::Unknown { .. } => None,
    }
}

const COUNTER: &str = "system S {
  var n: int = 0
  input up, ask
  output value(v: int)
  initial state Idle { ?up / n := n + 1 -> Idle  ?ask -> Busy }
  state Busy { !value(v) [v == n] -> Idle }
}
property Pos for S = ltl G !(!value(v) [v < 0])
property Small for S = ltl G !(!value(v) [v > 2])
";

#[test]
fn formulas_answer_for_infinite_models() {
    let bound = Some(30_000);
    let positive = verify(COUNTER, "m.iol#Pos", bound);
    assert_eq!(decided(&positive), Some(true), "{positive:?}");
    assert!(positive.data.is_some(), "by an invariant");
    let small = verify(COUNTER, "m.iol#Small", bound);
    let Proof::Refuted { trace, .. } = &small.proof else {
        panic!("{small:?}")
    };
    assert_eq!(trace.join(" "), "?up ?up ?up ?ask !value(3)");
    // An input violates it, and the model has no such trace.
    let answered = verify(COUNTER, "ltl:G(?ask -> X !value)", bound);
    assert_eq!(decided(&answered), Some(true), "{answered:?}");
    let never = verify(COUNTER, "ltl:G(! ?ask)", bound);
    assert_eq!(decided(&never), Some(false), "{never:?}");
    // Not safety, and too many states: honestly unknown.
    let response = verify(COUNTER, "ltl:G(?ask -> F !value)", bound);
    let Proof::Unknown { left } = &response.proof else {
        panic!("{response:?}")
    };
    assert!(left.join(" ").contains("response"), "{left:?}");
    assert!(left.join(" ").contains("30000 states"), "{left:?}");
}

/// A small machine with one variable; not all inputs are taken everywhere.
fn model(random: &mut Random) -> String {
    let mut one = |of: &[&'static str]| random.pick(of);
    let guard = one(&["k < 2", "k != n", "k <= n", "true", "k + n < 4"]);
    let effect = one(&["n := k", "n := min(n + k, 3)", "n := 3 - n"]);
    let shown = one(&["v == n", "v == 3 - n", "v >= n", "n > 1 && v == n"]);
    let other = one(&[
        "?b -> Idle",
        "?b [n > 1] -> Busy",
        "?b -> Busy",
        "step -> Done",
    ]);
    let back = one(&["Idle", "Idle", "Done"]);
    let done = one(&["!y -> Idle", "!y [n < 2] -> Idle", "?b -> Idle"]);
    format!(
        "system S {{\n  var n: 0..3 = 0\n  input a(k: 0..2), b\n  output x(v: 0..3), y\n  internal step\n  \
         initial state Idle {{\n    ?a(k) [{guard}] / {effect} -> Busy\n    {other}\n  }}\n  \
         state Busy {{ !x(v) [{shown}] -> {back} }}\n  state Done {{ {done} }}\n}}\n"
    )
}

#[test]
fn states_and_formulas_agree() {
    let mut random = Random(7);
    let properties = [
        "ltl:G(?a -> X !x)",
        "ltl:G(?b -> X !x)",
        "ltl:G(!x -> X(! !x))",
        "ltl:(! !y) W ?a",
        "ltl:G(! !y)",
        "ltl:G(?b -> X(! delta))",
        "ltl:G(! delta)",
    ];
    let (mut proved, mut refuted, mut open) = (0, 0, 0);
    for _ in 0..25 {
        let text = model(&mut random);
        for property in properties {
            let states = verify(&text, property, None);
            let formulas = verify(&text, property, Some(1));
            let (Some(expected), found) = (decided(&states), decided(&formulas)) else {
                continue;
            };
            match found {
                None => open += 1,
                Some(said) => {
                    assert_eq!(
                        said, expected,
                        "{property}\n{text}\n{states:?}\n{formulas:?}"
                    );
                    if said { proved += 1 } else { refuted += 1 }
                }
            }
        }
    }
    println!("{proved} proved, {refuted} refuted, {open} open");
    assert!(proved > 20 && refuted > 20, "{proved}, {refuted}, {open}");
    assert!(open * 4 < proved + refuted, "{open} open");
}

/// The choices that a machine of [`machine`] is made of.
type Choices = [&'static str; 5];

fn choices(random: &mut Random) -> Choices {
    let mut one = |of: &[&'static str]| random.pick(of);
    [
        one(&["k < 2", "k <= n", "true", "k + n < 4"]),
        one(&["n := k", "n := min(n + k, 3)", "n := 3 - n"]),
        one(&["v == n", "v >= n", "v == n || v == 0", "v <= n"]),
        one(&["?b -> Idle", "?b [n > 1] -> Busy", "?b -> Busy"]),
        one(&["!y -> Idle", "!y [n < 3] -> Idle", "!y / n := 0 -> Idle"]),
    ]
}

fn machine(name: &str, [guard, effect, shown, other, done]: Choices) -> String {
    format!(
        "system {name} {{\n  var n: 0..3 = 0\n  input a(k: 0..2), b\n  output x(v: 0..3), y\n  \
         initial state Idle {{\n    ?a(k) [{guard}] / {effect} -> Busy\n    {other}\n  }}\n  \
         state Busy {{ !x(v) [{shown}] -> Done }}\n  state Done {{ {done} }}\n}}\n"
    )
}

fn relate(
    text: &str,
    relation: Relation,
    complete: Option<CompletionFlag>,
    max_states: Option<usize>,
) -> Result<RelationDocument, Error> {
    let workspace = Workspace::with_options(ReadOptions {
        max_states,
        ..ReadOptions::default()
    });
    workspace.insert(Path::new(FILE), text);
    let options = RelationOptions {
        semantics: SemanticsOptions {
            complete_inputs: complete,
            ..SemanticsOptions::default()
        },
        certificate: false,
        ..RelationOptions::new(relation)
    };
    let [i, s] = ["I", "S"].map(|name| ModelRef::from(format!("{FILE}#{name}").as_str()));
    workspace.relate(&i, &s, &options, &mut |_| None)
}

/// What `relate` says by formulas is what it says by states: the answer, the length of a shortest counterexample,
/// and whether the implementation takes all inputs.
#[test]
fn relations_by_states_and_by_formulas_agree() {
    let mut random = Random(11);
    let (mut holds, mut refuted, mut open, mut refused) = (0, 0, 0, 0);
    for round in 0..60 {
        let specification = choices(&mut random);
        let mut implementation = specification;
        // Half of the implementations differ in one place, a few in all.
        match random.below(8) {
            0 => implementation = choices(&mut random),
            1..5 => {
                let at = random.below(5);
                implementation[at] = choices(&mut random)[at];
            }
            _ => {}
        }
        let text = machine("I", implementation) + &machine("S", specification);
        let relation = [Relation::Ioco, Relation::Uioco, Relation::Ioconf][round % 3];
        let complete = (random.below(5) > 0).then_some(CompletionFlag::SelfLoop);
        let states = relate(&text, relation, complete, None);
        let formulas = relate(&text, relation, complete, Some(1));
        let (states, formulas) = match (states, formulas) {
            (Ok(states), Ok(formulas)) => (states, formulas),
            (Err(states), Err(formulas)) => {
                assert_eq!(
                    states.kind(),
                    formulas.kind(),
                    "{text}\n{states}\n{formulas}"
                );
                refused += 1;
                continue;
            }
            (states, formulas) => panic!("{relation}\n{text}\n{states:?}\n{formulas:?}"),
        };
        assert!(states.proof.is_none(), "by states");
        let Some(said) = formulas.holds else {
            open += 1;
            continue;
        };
        assert_eq!(Some(said), states.holds, "{relation}\n{text}");
        let length = |d: &RelationDocument| d.counterexample.as_ref().map(|c| c.trace.len());
        assert_eq!(length(&formulas), length(&states), "{relation}\n{text}");
        if said { holds += 1 } else { refuted += 1 }
    }
    println!("{holds} hold, {refuted} refuted, {open} open, {refused} refused");
    assert!(holds >= 10 && refuted >= 10, "{holds}, {refuted}");
    assert!(refused >= 2, "{refused}");
    assert!(open * 4 < holds + refuted, "{open} open");
}

/// Nobody waits for a million states of a counter: few of them, or as many as were asked for.
#[test]
fn states_of_infinite_sorts_are_few_at_first() {
    let model = ModelRef::from("m.iol#S");
    let soon = |text: &str, max_states: Option<usize>| {
        let workspace = Workspace::with_options(ReadOptions {
            max_states,
            ..ReadOptions::default()
        });
        workspace.insert(Path::new(FILE), text);
        let found = workspace.states_soon(&model, 0).expect("a model");
        found
            .map(|_| ())
            .map_err(|e| (e.unfolding(), e.message().to_owned()))
    };
    let (limit, message) = soon(COUNTER, None).expect_err("it has no end");
    assert_eq!(limit, Some(UnfoldingLimit::Bound));
    let few = format!("more than {FEW_STATES} states");
    assert!(message.contains(&few), "{message}");
    let (_, message) = soon(COUNTER, Some(20)).expect_err("it has no end");
    assert!(message.contains("more than 20 states"), "{message}");
    // All sorts are finite: there is an end, and nothing else is tried before it.
    let finite = COUNTER
        .replace("n: int", "n: 0..6000")
        .replace("v: int", "v: 0..6000")
        .replace("?up /", "?up [n < 6000] /");
    assert_eq!(soon(&finite, None), Ok(()));
    let endless = COUNTER.replace("input up", "input any(k: int), up");
    let endless = endless.replace("?up /", "?any(k) -> Idle  ?up /");
    let (limit, _) = soon(&endless, None).expect_err("it takes any number");
    assert_eq!(limit, Some(UnfoldingLimit::InfiniteData));
}

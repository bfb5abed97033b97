//! Properties and their testers as they are printed, drawn and stored.

use expect_test::expect;
use iolite_formats::property::{dot, iol, json, text};
use iolite_formats::property_tester::{self, TesterDocument};
use iolite_formats::{WriteError, javapt};
use iolite_property::{
    CanonicalTester, PropertyVerdict, StateSet, StreettAutomaton, TesterOptions,
};

/// Π₂ of [PROP12, fig. 18] over an input and an output: first `?a`, then `!b`.
fn property() -> StreettAutomaton {
    let xml = r#"<StreettAutomaton>
      <Alphabet> <Event id="?a"/> <Event id="!b"/> </Alphabet>
      <States>
        <State id="1" initial="true"> <Transition event="?a" nextState="2"/>
          <Transition event="!b" nextState="a &quot;sink&quot;"/> </State>
        <State id="2"> <Transition event="?a" nextState="a &quot;sink&quot;"/>
          <Transition event="!b" nextState="3"/> </State>
        <State id="3"> <Transition event="?a" nextState="3"/> <Transition event="!b" nextState="3"/> </State>
        <State id="a &quot;sink&quot;"> <Transition event="?a" nextState="a &quot;sink&quot;"/>
          <Transition event="!b" nextState="a &quot;sink&quot;"/> </State>
      </States>
      <AcceptingCondition> <Pair P="" R="3"/> </AcceptingCondition>
    </StreettAutomaton>"#;
    javapt::read(xml).unwrap().automaton
}

fn tester(target: Option<PropertyVerdict>) -> TesterDocument {
    let tester = CanonicalTester::new(&property(), TesterOptions::default()).unwrap();
    TesterDocument::new("P", "inclusion", &tester, target)
}

#[test]
fn a_property() {
    expect![[r#"
        state 1: initial, currently bad
          ?a -> 2
          !b -> a "sink"
        state 2: currently bad
          ?a -> a "sink"
          !b -> 3
        state 3: good, in R1
          ?a, !b -> 3
        state a "sink": bad
          ?a, !b -> a "sink"
    "#]]
    .assert_eq(&text::write(&property()));
    expect![[r#"
        digraph property {
          rankdir=LR;
          node [style=filled];
          start [shape=point];
          start -> "1";
          "1" [shape=circle, fillcolor=mistyrose, label="1"];
          "1" -> "2" [label="?a"];
          "1" -> "a \"sink\"" [label="!b"];
          "2" [shape=circle, fillcolor=mistyrose, label="2"];
          "2" -> "a \"sink\"" [label="?a"];
          "2" -> "3" [label="!b"];
          "3" [shape=doublecircle, fillcolor=palegreen, label="3\nR1"];
          "3" -> "3" [label="?a, !b"];
          "a \"sink\"" [shape=circle, fillcolor=lightcoral, label="a \"sink\""];
          "a \"sink\"" -> "a \"sink\"" [label="?a, !b"];
        }
    "#]]
    .assert_eq(&dot::write(&property()));
    expect![[r#"
        property P over { ?a, !b } = streett {
          initial state 1 {
            ?a -> 2
            !b -> "a \"sink\""
          }
          state 2 {
            ?a -> "a \"sink\""
            !b -> 3
          }
          state 3 {
            * -> 3
          }
          state "a \"sink\"" {
            * -> "a \"sink\""
          }
          pair recurrent {3} persistent {}
        }
    "#]]
    .assert_eq(&iol::write(&property(), "2 words").unwrap());
    let value: serde_json::Value = serde_json::from_str(&json::write(&property(), "P")).unwrap();
    expect![[r#"{"alphabet":["?a","!b"],"finite_by_pairs":true,"initial":"1","name":"P","pairs":[{"persistent":[],"recurrent":["3"]}],"states":[{"accepts_finite":false,"name":"1","part":"currently-bad"},{"accepts_finite":false,"name":"2","part":"currently-bad"},{"accepts_finite":true,"name":"3","part":"good"},{"accepts_finite":false,"name":"a \"sink\"","part":"bad"}],"transitions":[{"action":"?a","source":"1","target":"2"},{"action":"!b","source":"1","target":"a \"sink\""},{"action":"?a","source":"2","target":"a \"sink\""},{"action":"!b","source":"2","target":"3"},{"action":"?a","source":"3","target":"3"},{"action":"!b","source":"3","target":"3"},{"action":"?a","source":"a \"sink\"","target":"a \"sink\""},{"action":"!b","source":"a \"sink\"","target":"a \"sink\""}]}"#]].assert_eq(&value.to_string());
    let other = property().with_finite(StateSet::empty(4));
    assert_eq!(iol::write(&other, "P"), Err(WriteError::FiniteAcceptance));
}

#[test]
fn a_tester() {
    let whole = tester(None);
    expect![[r#"
        P: canonical tester, inclusion
        state 1: initial, unknown
          ?a -> 2
          !b -> a "sink"
        state 2: unknown
          ?a -> a "sink"
          !b -> 3
        state a "sink": fail
        state 3: weak-pass
    "#]]
    .assert_eq(&property_tester::text::write(&whole));
    expect![[r#"
        digraph tester {
          rankdir=LR;
          node [style=filled];
          start [shape=point];
          start -> 0;
          0 [shape=box, fillcolor=white, label="1 unknown"];
          0 -> 1 [label="?a"];
          0 -> 2 [label="!b"];
          1 [shape=box, fillcolor=white, label="2 unknown"];
          1 -> 2 [label="?a"];
          1 -> 3 [label="!b"];
          2 [shape=box, fillcolor=lightcoral, label="a \"sink\" fail"];
          3 [shape=box, fillcolor=palegreen, label="3 weak-pass"];
        }
    "#]]
    .assert_eq(&property_tester::dot::write(&whole));
    expect![[r#"
        des (0, 6, 4)
        (0, "?a", 1)
        (0, "!b", 2)
        (1, "?a", 2)
        (1, "!b", 3)
        (2, "fail", 2)
        (3, "weak-pass", 3)
    "#]]
    .assert_eq(&property_tester::aut::write(&whole));
    let case = tester(Some(PropertyVerdict::Fail));
    expect![[r#"
        P: test case for fail, inclusion
        state 1: initial, unknown
          !b -> a "sink"
        state a "sink": fail
    "#]]
    .assert_eq(&property_tester::text::write(&case));
    expect![[r#"
        {
          "property": "P",
          "relation": "inclusion",
          "quiescence": false,
          "target": "fail",
          "states": [
            {
              "name": "1",
              "verdict": "unknown",
              "steps": [
                {
                  "action": "!b",
                  "target": 1
                }
              ]
            },
            {
              "name": "a \"sink\"",
              "verdict": "fail",
              "steps": []
            }
          ]
        }
    "#]]
    .assert_eq(&property_tester::json::write(&case));
}

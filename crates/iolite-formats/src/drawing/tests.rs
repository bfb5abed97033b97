use expect_test::{Expect, expect};
use iolite_lang::syntax::ast::Item;

use super::*;

const OBSERVER: &str = "observer NoSilence for Sender {
  var n: int = 0
  initial state Idle { ?REQ(l) [l > 3] / n := l -> Busy   * -> Idle }
  state Busy { !OK, !NOT_OK -> Idle   delta -> Bad   * -> Busy }
  violate state Bad
}";

fn drawing() -> Drawing {
    let (file, _) = iolite_lang::parse(OBSERVER);
    let Some(Item::Machine(machine)) = file.items.first() else {
        panic!("an observer");
    };
    Drawing::of_machine(machine, &file.lines)
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(text);
}

#[test]
fn a_declaration_is_drawn_as_it_is_written() {
    let drawing = drawing();
    assert_eq!(drawing.title, "observer NoSilence");
    assert_eq!(drawing.initial, Some(NodeId::new(0)));
    assert_eq!(drawing.nodes[2].meaning, Meaning::Violation);
    assert_eq!(drawing.nodes[1].tooltip.as_deref(), Some("line 4"));
    let labels: Vec<&str> = drawing.edges.iter().map(|e| e.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "?REQ(l) [l > 3] / n := l",
            "*",
            "!OK, !NOT_OK",
            "delta",
            "*"
        ]
    );
}

#[test]
fn mermaid() {
    check(
        &mermaid::write(&drawing()),
        &expect![[r##"
        flowchart TD
          %% observer NoSilence
          start(( )) --> n0
          n0(["Idle"])
          n1(["Busy"])
          n2(["Bad"])
          n0 -->|"?REQ(l) #91;l #62; 3#93; / n := l"| n1
          n0 -->|"#42;"| n0
          n1 -->|"!OK, !NOT#95;OK"| n0
          n1 -->|"delta"| n2
          n1 -->|"#42;"| n1
          classDef violation fill:#ee7b5b,stroke:#333
          class n2 violation
    "##]],
    );
}

#[test]
fn plantuml() {
    check(
        &plantuml::write(&drawing()),
        &expect![[r#"
        @startuml
        hide empty description
        title observer NoSilence
        state "Idle" as n0
        state "Busy" as n1
        state "Bad" as n2 #ee7b5b
        [*] --> n0
        n0 --> n1 : ?REQ(l) [l <U+003E> 3] / n := l
        n0 --> n0 : <U+002A>
        n1 --> n0 : !OK, !NOT<U+005F>OK
        n1 --> n2 : delta
        n1 --> n1 : <U+002A>
        @enduml
    "#]],
    );
}

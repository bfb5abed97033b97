//! HOA and Java-PT's XML: round trips, foreign conditions, hostile text.

use std::sync::Arc;

use expect_test::expect;
use iolite_formats::hoa::{self, HoaError, HoaReading};
use iolite_formats::javapt::{self, JavaPtError, JavaPtProperty};
use iolite_property::acceptance::{AcceptanceFormula, Colours};
use iolite_property::ltl::Options;
use iolite_property::{Alphabet, Lasso, Letter, Ltl, OmegaAutomaton, StateId, StateSet, Structure};
use proptest::prelude::*;

const PI_1: &str = r#"<StreettAutomaton>
  <Alphabet> <Event id="a"/> <Event id="b"/> <Event id="c"/> </Alphabet>
  <States class="tree-set"> <no-comparator/>
    <State id="2"> <Transition event="a" nextState="sink"/> <Transition event="b" nextState="2"/>
      <Transition event="c" nextState="sink"/> </State>
    <State id="1" initial="true"> <Transition event="a" nextState="1"/>
      <Transition event="b" nextState="2"/> <Transition event="c" nextState="sink"/> </State>
    <State id="sink"> <Transition event="a" nextState="sink"/>
      <Transition event="b" nextState="sink"/> <Transition event="c" nextState="sink"/> </State>
  </States>
  <Description>Automaton defining Pi1</Description>
  <AcceptingCondition> <Pair P="1,2" R=""/> </AcceptingCondition>
</StreettAutomaton>"#;

const PI_2: &str = r#"<StreettAutomaton>
  <Alphabet> <Event id="a"/> <Event id="b"/> </Alphabet>
  <States class="tree-set"> <no-comparator/>
    <State id="2"> <Transition event="a" nextState="5"/> <Transition event="b" nextState="3"/> </State>
    <State id="1" initial="true"> <Transition event="a" nextState="2"/>
      <Transition event="b" nextState="5"/> </State>
    <State id="5"> <Transition event="a" nextState="5"/> <Transition event="b" nextState="5"/> </State>
    <State id="3"> <Transition event="a" nextState="3"/> <Transition event="b" nextState="3"/> </State>
  </States>
  <Description>Automaton defining Pi2</Description>
  <AcceptingCondition> <Pair P="" R="3"/> </AcceptingCondition>
</StreettAutomaton>"#;

/// Figure 19.
#[test]
fn transcripts() {
    let run = |file: &str, text: &str| {
        let property = javapt::read(text).unwrap();
        javapt::transcript(file, &property.automaton, javapt::relation(1).unwrap()).unwrap()
    };
    expect![[r"
        *****
        * Java-PT: Properties and their Testability with Java
        *****

        Try to load file Pi1.xml...ok
        Property of file Pi1.xml is a safety property.
        Property of file Pi1.xml is Testable: true
    "]]
    .assert_eq(&run("Pi1.xml", PI_1));
    expect![[r"
        *****
        * Java-PT: Properties and their Testability with Java
        *****

        Try to load file Pi2.xml...ok
        Property of file Pi2.xml is a guarantee property.
        Property of file Pi2.xml is Testable: true
    "]]
    .assert_eq(&run("Pi2.xml", PI_2));
}

#[test]
fn javapt_round_trip_and_faults() {
    for text in [PI_1, PI_2] {
        let property = javapt::read(text).unwrap();
        let again = javapt::read(&javapt::write(&property).unwrap()).unwrap();
        assert_eq!(property, again);
    }
    let fault = |from: &str, to: &str| javapt::read(&PI_1.replacen(from, to, 1)).unwrap_err();
    assert!(matches!(
        fault("initial=\"true\"", ""),
        JavaPtError::Initial(0)
    ));
    assert!(matches!(
        fault("nextState=\"sink\"", "nextState=\"9\""),
        JavaPtError::Unknown { .. }
    ));
    assert!(matches!(
        fault("<State id=\"2\">", "<State id=\"1\">"),
        JavaPtError::Twice(_)
    ));
    assert!(matches!(
        fault("<Transition event=\"a\" nextState=\"sink\"/>", ""),
        JavaPtError::Incomplete { .. }
    ));
    assert!(matches!(fault("</States>", ""), JavaPtError::Xml { .. }));
    let deep = "<a>".repeat(100_000);
    assert!(matches!(javapt::read(&deep), Err(JavaPtError::Xml { .. })));
    let entity = javapt::read(&PI_1.replace("Pi1", "&lt;&#65;&gt;")).unwrap();
    assert_eq!(entity.description, "Automaton defining <A>");
    let free = entity.automaton.clone().with_finite(StateSet::empty(3));
    let unsayable = JavaPtProperty {
        automaton: free,
        description: String::new(),
    };
    assert_eq!(
        javapt::write(&unsayable),
        Err(JavaPtError::FiniteAcceptance)
    );
}

fn random(n: usize, letters: usize, next: &[usize]) -> Structure {
    let names: Vec<String> = (0..letters).map(|i| format!("?a{i}")).collect();
    let sigma = Arc::new(Alphabet::of_names(names.iter().map(String::as_str)).unwrap());
    let next = next
        .iter()
        .take(n * letters)
        .map(|q| StateId::new(q % n))
        .collect();
    Structure::new(sigma, StateId::new(0), next).unwrap()
}

fn condition() -> impl Strategy<Value = AcceptanceFormula> {
    let leaf = prop_oneof![
        (0_u32..3).prop_map(AcceptanceFormula::Inf),
        (0_u32..3).prop_map(AcceptanceFormula::Fin),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let many = prop::collection::vec(inner, 1..3);
        prop_oneof![
            many.clone().prop_map(AcceptanceFormula::And),
            many.prop_map(AcceptanceFormula::Or),
        ]
    })
}

fn lassos(letters: usize) -> impl Strategy<Value = Vec<Lasso>> {
    let word = move |min, max| prop::collection::vec((0..letters).prop_map(Letter::new), min..max);
    let lasso = (word(0, 4), word(1, 6)).prop_map(|(stem, cycle)| Lasso { stem, cycle });
    prop::collection::vec(lasso, 40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any condition, on the states of a random automaton: written, read, and turned into Streett's.
    #[test]
    fn hoa_round_trip(
        n in 1_usize..6,
        next in prop::collection::vec(0_usize..60, 12),
        colours in prop::collection::vec((0_u128..8).prop_map(Colours::few), 6),
        acceptance in condition(),
        bits in any::<u8>(),
        words in lassos(2),
    ) {
        let structure = random(n, 2, &next);
        let finite = StateSet::of(n, |q| bits >> q.index() & 1 == 1);
        let omega = OmegaAutomaton { structure, colours: colours[..n].to_vec(), acceptance, finite };
        let text = hoa::write_omega(&omega, "random \"one\"");
        let streett = hoa::read(&text, HoaReading::AsMarked).unwrap();
        let again = hoa::read(&hoa::write(&streett, "again"), HoaReading::AsMarked).unwrap();
        for w in &words {
            let expected = omega.accepts_lasso(w);
            prop_assert_eq!(hoa::read_omega(&text, HoaReading::AsMarked).unwrap().accepts_lasso(w), expected);
            prop_assert_eq!(streett.accepts_lasso(w), expected);
            prop_assert_eq!(again.accepts_lasso(w), expected);
            let q = omega.structure.after(omega.structure.initial(), &w.cycle);
            prop_assert_eq!(streett.accepts(&w.cycle), omega.finite.contains(q));
            prop_assert_eq!(again.accepts(&w.cycle), streett.accepts(&w.cycle));
        }
    }

    #[test]
    fn hostile_hoa_gives_an_error_or_an_automaton(text in "(HOA: v1 )?([A-Za-z:]{1,5}|[0-9]{1,3}|[!&|()\\[\\]{}]|\"x\"|--BODY--|--END--|State: |Start: 0|Acceptance: 1 Inf\\(0\\)| ){0,30}") {
        let _ = hoa::read(&text, HoaReading::AsMarked);
        let _ = javapt::read(&text);
    }
}

/// Conditions as other tools write them, each against an LTL formula of ours.
#[test]
fn foreign_conditions() {
    let cases = [
        // Büchi on states: infinitely often p.
        (
            "GFp",
            "Acceptance: 1 Inf(0)",
            "State: 0 [0] 1 [!0] 0 State: 1 {0} [0] 1 [!0] 0",
        ),
        // The same on transitions, with aliases and implicit completeness.
        (
            "GFp",
            "Alias: @p 0 Acceptance: 1 Inf(0)",
            "State: 0 [@p] 0 {0} [!@p] 0",
        ),
        (
            "FGp",
            "acc-name: co-Buchi Acceptance: 1 Fin(0)",
            "State: 0 [0] 0 [!0] 0 {0}",
        ),
        (
            "GFp & GF!p",
            "acc-name: generalized-Buchi 2 Acceptance: 2 Inf(0) & Inf(1)",
            "State: 0 [0] 0 {0} [!0] 0 {1}",
        ),
        (
            "FGp | FG!p",
            "acc-name: generalized-co-Buchi 2 Acceptance: 2 Fin(0) | Fin(1)",
            "State: 0 [0] 0 {0} [!0] 0 {1}",
        ),
        (
            "FGp & GFp",
            "acc-name: Rabin 1 Acceptance: 2 Fin(0) & Inf(1)",
            "State: 0 [0] 0 {1} [!0] 0 {0}",
        ),
        (
            "GFp -> GF!p",
            "acc-name: Streett 1 Acceptance: 2 Fin(0) | Inf(1)",
            "State: 0 [0] 0 {0} [!0] 0 {1}",
        ),
        (
            "GFp",
            "acc-name: parity min even 2 Acceptance: 2 Inf(0) | Fin(1) & f",
            "State: 0 /* a /* nested */ comment */ [0] 0 {0} [!0] 0 {1}",
        ),
        ("GF!p", "Acceptance: 1 Inf(!0)", "State: 0 [0] 0 {0} [!0] 0"),
        // A missing edge ends the run, which then is not accepted.
        ("Gp", "acc-name: all Acceptance: 0 t", "State: 0 [0] 0"),
        // Labels on states, and implicit ones.
        (
            "Fp",
            "Acceptance: 1 Inf(0)",
            "State: 0 0 1 State: [t] 1 \"done\" {0} 1",
        ),
    ];
    for (formula, header, body) in cases {
        let text = format!(
            "HOA: v1 tool: \"none\" States: 2 Start: 0 AP: 1 \"p\" {header} --BODY-- {body} --END--"
        );
        let read =
            hoa::read(&text, HoaReading::AsMarked).unwrap_or_else(|e| panic!("{formula}: {e}"));
        let (f, sigma) = Ltl::parse_propositional(formula).unwrap();
        let t = f.translate(&Arc::new(sigma), Options::default()).unwrap();
        assert_eq!(
            read.infinitary_difference(&t.automaton).unwrap(),
            None,
            "{formula}: {text}"
        );
    }
}

#[test]
fn hoa_faults() {
    let read = |header: &str, body: &str| {
        let text = format!("HOA: v1 Start: 0 AP: 1 \"p\" {header} --BODY-- {body} --END--");
        hoa::read(&text, HoaReading::AsMarked).unwrap_err()
    };
    let acc = "Acceptance: 1 Inf(0)";
    assert!(matches!(
        read(
            "Acceptance: 1 Inf(0) iolite-finite: 0",
            "State: 0 [0] 0 [t] 1 State: 1 [t] 1"
        ),
        HoaError::Nondeterministic(_)
    ));
    let says = |header: &str, body: &str, what: &str| {
        let found = read(header, body).to_string();
        assert!(found.contains(what), "{found}");
    };
    says(acc, "State: 0 [t] 1", "state 1 is named and not declared");
    says("Start: 1 Acceptance: 0 t", "State: 0 [t] 0", "state 1");
    says(acc, "State: 0 [t] 0 --END-- HOA: v1", "several automata");
    says("acc-name: co-Buchi Acceptance: 1 Inf(0)", "", "acc-name");
    says(
        "acc-name: parity min even 2 Acceptance: 2 Inf(1) | Fin(0)",
        "",
        "acc-name",
    );
    says("acc-name: Streett 1 Acceptance: 1 Inf(0)", "", "acc-name");
    says("AP: 2 \"q\" \"q\" Acceptance: 0 t", "", "twice");
    assert_eq!(read(acc, "State: 0 [t] 0&0"), HoaError::Alternating);
    assert!(matches!(
        read("Acceptance: 1 Inf(1)", ""),
        HoaError::Syntax { .. }
    ));
    assert!(matches!(
        read(acc, "State: 0 [t] 99999999999"),
        HoaError::TooLarge(_)
    ));
    // A number makes no memory, and a proposition that is not declared has no meaning.
    assert!(matches!(
        read(acc, "State: 0 [t] 4000000"),
        HoaError::TooLarge(_)
    ));
    for proposition in ["1", "64", "18446744073709551615"] {
        assert!(matches!(
            read(acc, &format!("State: 0 [0 | !{proposition}] 0")),
            HoaError::Syntax { .. }
        ));
    }
    assert!(matches!(
        read("Acceptance: 1 Inf(!0) Acceptance: 1 t", ""),
        HoaError::Syntax { .. }
    ));
    let nested = "(".repeat(100_000);
    assert!(matches!(
        read(acc, &format!("State: 0 [{nested}")),
        HoaError::Syntax { .. }
    ));
    assert!(matches!(
        read(&format!("Acceptance: 1 {nested}"), ""),
        HoaError::Syntax { .. }
    ));
    assert!(matches!(
        read("Acceptance: 1 Inf(0) Weird: 3", ""),
        HoaError::Syntax { .. }
    ));
}

/// Line breaks survive, and what XML cannot say is refused rather than lost.
#[test]
fn javapt_carries_what_xml_carries() {
    let property = javapt::read(PI_1).unwrap();
    let named = |name: &str| JavaPtProperty {
        automaton: property.automaton.clone().with_names(vec![
            name.to_owned(),
            "é <&'\"> \u{10ffff}".to_owned(),
            "3".to_owned(),
        ]),
        description: format!("d{name}d"),
    };
    for name in ["a\tb\nc\rd", "x\u{85}\u{7f}x", "]]>"] {
        let text = javapt::write(&named(name)).unwrap();
        assert_eq!(javapt::read(&text), Ok(named(name)), "{text}");
    }
    for name in ["\0", "a\u{1}", "\u{fffe}"] {
        assert_eq!(
            javapt::write(&named(name)),
            Err(JavaPtError::Character(name.to_owned()))
        );
    }
}

/// A fault is told with the byte it is at, whatever line it is in.
#[test]
fn xml_faults_have_a_place() {
    for (text, expected) in [
        ("", "the document does not have a root node at byte 0"),
        ("<a>", "the root node was opened but never closed at byte 3"),
        ("\n<é>\n é</b>", "expected 'é' tag, not 'b' at byte 9"),
        (
            " <a b='1' b='2'/>",
            "attribute 'b' is already defined at byte 10",
        ),
        ("<a>&x;</a>", "unknown entity reference 'x' at byte 3"),
    ] {
        assert_eq!(javapt::read(text).unwrap_err().to_string(), expected);
    }
}

/// (from, letter, to, colours)
type Edge = (usize, usize, usize, u128);

/// Whether some run of a nondeterministic automaton on stem·cycle^ω is accepted, by all sets of edges
/// that a run can take for ever.
fn some_run_is_accepted(
    edges: &[Edge],
    word: &Lasso,
    accepts: impl Fn(u128) -> bool,
) -> Option<bool> {
    let mut at = vec![0];
    for l in &word.stem {
        at = after(edges, &at, l.index());
    }
    let length = word.cycle.len();
    let mut nodes: Vec<(usize, usize)> = at.iter().map(|&q| (q, 0)).collect();
    let mut graph: Vec<(usize, usize, u128)> = Vec::new();
    let mut k = 0;
    while k < nodes.len() {
        let (q, i) = nodes[k];
        for &(from, l, to, colours) in edges {
            if from == q && l == word.cycle[i].index() {
                let node = (to, (i + 1) % length);
                let id = nodes.iter().position(|n| *n == node).unwrap_or_else(|| {
                    nodes.push(node);
                    nodes.len() - 1
                });
                graph.push((k, id, colours));
            }
        }
        k += 1;
    }
    if graph.len() > 12 {
        return None;
    }
    let cyclic = |set: &[(usize, usize, u128)]| {
        set.iter().all(|&(_, to, _)| {
            let mut seen = vec![to];
            let mut k = 0;
            while k < seen.len() {
                let next = set.iter().filter(|e| e.0 == seen[k]).map(|e| e.1);
                let new: Vec<usize> = next.filter(|t| !seen.contains(t)).collect();
                seen.extend(new);
                k += 1;
            }
            set.iter().all(|e| seen.contains(&e.0))
        })
    };
    Some((1_u32..1 << graph.len()).any(|subset| {
        let set: Vec<_> = (0..graph.len())
            .filter(|k| subset >> k & 1 == 1)
            .map(|k| graph[k])
            .collect();
        cyclic(&set) && accepts(set.iter().fold(0, |seen, e| seen | e.2))
    }))
}

fn after(edges: &[Edge], at: &[usize], letter: usize) -> Vec<usize> {
    let next = edges.iter().filter(|e| e.1 == letter && at.contains(&e.0));
    let mut next: Vec<usize> = next.map(|e| e.2).collect();
    next.sort_unstable();
    next.dedup();
    next
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_global_rejects: 20_000, ..Default::default() })]

    /// Automata with choices accept what one of their runs accepts.
    #[test]
    fn nondeterministic_hoa(
        edges in prop::collection::vec((0..3_usize, 0..2_usize, 0..3_usize, 0..4_u128), 1..8),
        acceptance in 0..6_usize,
        stem in prop::collection::vec(0..2_usize, 0..4),
        cycle in prop::collection::vec(0..2_usize, 1..4),
    ) {
        let labelled: Vec<Labelled> = edges
            .iter()
            .map(|&(from, l, to, colours)| (from, vec![(0, l == 1)], to, colours))
            .collect();
        let (hoa, accepts) = with_choices(&labelled, 1, acceptance);
        let letters = |word: &[usize]| word.iter().map(|&l| Letter::new(l)).collect::<Vec<_>>();
        let word = Lasso { stem: letters(&stem), cycle: letters(&cycle) };
        let expected = some_run_is_accepted(&edges, &word, accepts);
        prop_assume!(expected.is_some());
        let read = hoa::read(&hoa, HoaReading::AsMarked).unwrap();
        prop_assert_eq!(Some(read.accepts_lasso(&word)), expected, "{}", hoa);
    }

    /// The same over forty propositions: labels are functions, and letters are never listed.
    #[test]
    fn nondeterministic_hoa_over_many_propositions(
        edges in prop::collection::vec(
            (
                0..3_usize,
                prop::collection::vec((0..40_usize, any::<bool>()), 0..3),
                0..3_usize,
                0..4_u128,
            ),
            1..9,
        ),
        acceptance in 0..6_usize,
        letters in prop::collection::vec(0..1_u64 << 40, 3),
        stem in prop::collection::vec(0..3_usize, 0..4),
        cycle in prop::collection::vec(0..3_usize, 1..4),
    ) {
        let (hoa, accepts) = with_choices(&edges, 40, acceptance);
        let word = |word: &[usize]| word.iter().map(|&l| Letter::new(l)).collect::<Vec<_>>();
        let listed = Lasso { stem: word(&stem), cycle: word(&cycle) };
        // The edges that each of three letters takes.
        let fits = |label: &[(usize, bool)], l: usize| {
            label.iter().all(|&(p, holds)| (letters[l] >> p & 1 == 1) == holds)
        };
        let taken: Vec<Edge> = edges
            .iter()
            .flat_map(|(from, label, to, colours)| {
                let fitting = (0..3).filter(|&l| fits(label, l));
                fitting.map(|l| (*from, l, *to, *colours)).collect::<Vec<_>>()
            })
            .collect();
        let expected = some_run_is_accepted(&taken, &listed, accepts);
        prop_assume!(expected.is_some());
        let bits = |word: &[usize]| word.iter().map(|&l| Letter::of_bits(letters[l])).collect();
        let wide = Lasso { stem: bits(&stem), cycle: bits(&cycle) };
        let read = hoa::read(&hoa, HoaReading::AsMarked).unwrap();
        prop_assert_eq!(Some(read.accepts_lasso(&wide)), expected, "{}", hoa);
    }
}

/// From, literals of the label, to, colours.
type Labelled = (usize, Vec<(usize, bool)>, usize, u128);

/// An automaton of three states over so many propositions, and what its acceptance means.
fn with_choices(
    edges: &[Labelled],
    propositions: usize,
    acceptance: usize,
) -> (String, Box<dyn Fn(u128) -> bool>) {
    fn has(seen: u128, c: u128) -> bool {
        seen >> c & 1 == 1
    }
    let (text, accepts): (&str, Box<dyn Fn(u128) -> bool>) = match acceptance {
        0 => ("Inf(0)", Box::new(|s| has(s, 0))),
        1 => ("Fin(0)", Box::new(|s| !has(s, 0))),
        2 => ("Inf(0)&Inf(1)", Box::new(|s| has(s, 0) && has(s, 1))),
        3 => ("Fin(0)&Inf(1)", Box::new(|s| !has(s, 0) && has(s, 1))),
        4 => ("Fin(0)|Inf(1)", Box::new(|s| !has(s, 0) || has(s, 1))),
        _ => (
            "(Fin(0)|Inf(1))&Fin(1)",
            Box::new(|s| !has(s, 0) && !has(s, 1)),
        ),
    };
    let mut body = String::new();
    for q in 0..3 {
        body += &format!("State: {q}\n");
        for (_, label, to, colours) in edges.iter().filter(|e| e.0 == q) {
            let sets = (0..2).filter(|c| colours >> c & 1 == 1);
            let sets: Vec<String> = sets.map(|c: u128| c.to_string()).collect();
            let literal =
                |(p, holds): &(usize, bool)| format!("{}{p}", if *holds { "" } else { "!" });
            let mut literals: Vec<String> = label.iter().map(literal).collect();
            literals.push("t".to_owned());
            body += &format!("[{}] {to} {{{}}}\n", literals.join(" & "), sets.join(" "));
        }
    }
    let names: Vec<String> = (0..propositions).map(|p| format!("\"p{p}\"")).collect();
    let hoa = format!(
        "HOA: v1 States: 3 Start: 0 AP: {propositions} {} Acceptance: 2 {text} --BODY-- {body}--END--",
        names.join(" ")
    );
    (hoa, accepts)
}

/// A Streett automaton of so many pairs: in state i, pair i is asked for, and state i + 1 answers it.
fn ring(pairs: usize) -> String {
    let condition: Vec<String> = (0..pairs)
        .map(|i| format!("(Fin({}) | Inf({}))", 2 * i, 2 * i + 1))
        .collect();
    let mut body = String::new();
    for q in 0..pairs {
        let (next, before) = ((q + 1) % pairs, (q + pairs - 1) % pairs);
        body += &format!(
            "State: {q} {{{} {}}}\n[0] {next}\n[!0] {q}\n",
            2 * q,
            2 * before + 1
        );
    }
    format!(
        "HOA: v1 States: {pairs} Start: 0 AP: 1 \"p\" acc-name: Streett {pairs} \
         Acceptance: {} {} --BODY-- {body}--END--",
        2 * pairs,
        condition.join(" & ")
    )
}

/// There is no limit of acceptance sets but memory.
#[test]
fn many_acceptance_sets() {
    for pairs in [3, 64, 65, 200, 1000] {
        let read = hoa::read(&ring(pairs), HoaReading::AsMarked).unwrap();
        assert_eq!(read.pairs().len(), pairs);
        let word = |cycle: Vec<Letter>| Lasso {
            stem: Vec::new(),
            cycle,
        };
        // All states recur, and so does each answer; in a single one its own pair is asked for in vain.
        assert!(read.accepts_lasso(&word(vec![Letter::new(1)])));
        assert!(!read.accepts_lasso(&word(vec![Letter::new(0)])));
        let omega = read.to_omega();
        assert!(omega.accepts_lasso(&word(vec![Letter::new(1)])));
        assert!(!omega.accepts_lasso(&word(vec![Letter::new(0)])));
        let back = hoa::read(&hoa::write(&read, "ring"), HoaReading::AsMarked).unwrap();
        assert_eq!(back.pairs(), read.pairs());
    }
    // A parity automaton of one state after another.
    let count = 301;
    let nested = (0..count)
        .rev()
        .fold("f".to_owned(), |rest, c| match c % 2 {
            0 => format!("(Inf({c}) | {rest})"),
            _ => format!("(Fin({c}) & {rest})"),
        });
    let mut body = String::new();
    for q in 0..count {
        body += &format!("State: {q} {{{q}}}\n[0] {}\n[!0] {q}\n", (q + 1) % count);
    }
    let text = format!(
        "HOA: v1 States: {count} Start: 0 AP: 1 \"p\" acc-name: parity min even {count} \
         Acceptance: {count} {nested} --BODY-- {body}--END--"
    );
    let read = hoa::read_omega(&text, HoaReading::AsMarked).unwrap();
    let held = |l: usize, stem: usize| Lasso {
        stem: vec![Letter::new(1); stem],
        cycle: vec![Letter::new(l)],
    };
    assert!(read.accepts_lasso(&held(1, 0)));
    assert!(read.accepts_lasso(&held(0, 200)));
    assert!(!read.accepts_lasso(&held(0, 201)));
}

/// Numbers of sets that no memory is for are refused, and not made.
#[test]
fn acceptance_sets_without_bound() {
    let text = |sets: usize, body: &str| {
        format!(
            "HOA: v1 States: 1 Start: 0 AP: 0 Acceptance: {sets} Inf(!{}) --BODY-- {body}--END--",
            sets - 1
        )
    };
    let error = hoa::read(&text(1 << 30, "State: 0\n[t] 0\n"), HoaReading::AsMarked).unwrap_err();
    assert!(error.is_bound(), "{error}");
    let edges = "[t] 0 {999999}\n".repeat(2_000);
    let error = hoa::read(
        &text(1_000_000, &format!("State: 0\n{edges}")),
        HoaReading::AsMarked,
    )
    .unwrap_err();
    assert!(error.is_bound(), "{error}");
}

//! Guards on the values of actions in properties: lowered automata against the meaning of the formula on words
//! with values, and the letters that guards make.
#![allow(missing_docs)]

use iolite_lang::{Diagnostic, diagnostic, lower_property, parse_and_check};
use iolite_lts::LabelKind;
use iolite_property::{Classification, EventReading, Lasso, Letter, StreettAutomaton};
use proptest::prelude::*;

fn lower(text: &str) -> Result<StreettAutomaton, Vec<Diagnostic>> {
    let (file, found) = parse_and_check(text);
    if diagnostic::has_errors(&found) {
        return Err(found);
    }
    lower_property(&file, "P", &[])
}

fn letters(text: &str) -> Vec<String> {
    let automaton = lower(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let sigma = automaton.alphabet();
    sigma.iter().map(|l| sigma.text(l)).collect()
}

/// An event with a value: `?a(3)` or `!b(3)`.
#[derive(Clone, Copy, Debug)]
struct Event {
    output: bool,
    value: i64,
}

/// A guarded atom, by its text and by its meaning.
#[derive(Clone, Copy)]
struct Guard {
    text: &'static str,
    holds: fn(Event) -> bool,
}

const GUARDS: [Guard; 8] = [
    Guard {
        text: "?a",
        holds: |e| !e.output,
    },
    Guard {
        text: "?a(x) [x > 3]",
        holds: |e| !e.output && e.value > 3,
    },
    Guard {
        text: "?a(y) [y > 5]",
        holds: |e| !e.output && e.value > 5,
    },
    Guard {
        text: "?a(x) [x % 2 == 0]",
        holds: |e| !e.output && e.value.rem_euclid(2) == 0,
    },
    Guard {
        text: "!b(x) [x == 4 || x < 0]",
        holds: |e| e.output && (e.value == 4 || e.value < 0),
    },
    Guard {
        text: "!b(z) [z * z == 16]",
        holds: |e| e.output && e.value * e.value == 16,
    },
    Guard {
        text: "!b(x) [x != x]",
        holds: |_| false,
    },
    Guard {
        text: "!b",
        holds: |e| e.output,
    },
];

#[derive(Clone, Debug)]
enum Formula {
    Atom(usize),
    Unary(&'static str, Box<Formula>),
    Binary(&'static str, Box<Formula>, Box<Formula>),
}

impl Formula {
    fn text(&self) -> String {
        match self {
            Self::Atom(k) => GUARDS[*k].text.to_owned(),
            Self::Unary(op, a) => format!("{op} ({})", a.text()),
            Self::Binary(op, a, b) => format!("({}) {op} ({})", a.text(), b.text()),
        }
    }

    fn past(&self, out: &mut Vec<Self>) {
        match self {
            Self::Atom(_) => {}
            Self::Unary(op, a) => {
                a.past(out);
                if matches!(*op, "Y" | "Z" | "O" | "H") {
                    out.push(self.clone());
                }
            }
            Self::Binary(op, a, b) => {
                a.past(out);
                b.past(out);
                if matches!(*op, "S" | "T") {
                    out.push(self.clone());
                }
            }
        }
    }

    /// The truth at each position of a word after whose last position comes `back` again.
    fn at_each(&self, word: &[Event], back: usize) -> Vec<bool> {
        let n = word.len();
        // The positions from i on, in the order in which they come, until all were there.
        let from = |i: usize| (i..n).chain(if i < back { 0..0 } else { back..i });
        match self {
            Self::Atom(k) => word.iter().map(|&e| (GUARDS[*k].holds)(e)).collect(),
            Self::Unary(op, a) => {
                let a = a.at_each(word, back);
                let at = |i: usize| match *op {
                    "not" => !a[i],
                    "X" => a[if i + 1 == n { back } else { i + 1 }],
                    "F" => from(i).any(|j| a[j]),
                    "G" => from(i).all(|j| a[j]),
                    "Y" => i > 0 && a[i - 1],
                    "Z" => i == 0 || a[i - 1],
                    "O" => a[..=i].contains(&true),
                    "H" => !a[..=i].contains(&false),
                    other => panic!("{other}"),
                };
                (0..n).map(at).collect()
            }
            Self::Binary(op, a, b) => {
                let (a, b) = (a.at_each(word, back), b.at_each(word, back));
                let until = |i: usize| {
                    let first = from(i).position(|j| b[j]);
                    first.is_some_and(|k| from(i).take(k).all(|j| a[j]))
                };
                let since = |i: usize| {
                    (0..=i)
                        .rev()
                        .any(|j| b[j] && a[j + 1..=i].iter().all(|&x| x))
                };
                let at = |i: usize| match *op {
                    "and" => a[i] && b[i],
                    "or" => a[i] || b[i],
                    "->" => !a[i] || b[i],
                    "U" => until(i),
                    "W" => until(i) || from(i).all(|j| a[j]),
                    "R" => from(i)
                        .enumerate()
                        .all(|(k, j)| b[j] || from(i).take(k).any(|j| a[j])),
                    "S" => since(i),
                    // Everywhere so far b, unless a came since: a's own step still needs b.
                    "T" => (0..=i).all(|j| b[j] || a[j + 1..=i].contains(&true)),
                    other => panic!("{other}"),
                };
                (0..n).map(at).collect()
            }
        }
    }

    /// The truth at the beginning of stem·cycle·cycle·…: what past operators remember repeats after some
    /// rounds, and from there on the word is a plain circle.
    fn holds(&self, stem: &[Event], cycle: &[Event]) -> bool {
        let mut past = Vec::new();
        self.past(&mut past);
        let mut word = stem.to_vec();
        let mut ends: Vec<(Vec<bool>, usize)> = Vec::new();
        loop {
            word.extend(cycle);
            let last = word.len() - 1;
            let end: Vec<bool> = past.iter().map(|f| f.at_each(&word, 0)[last]).collect();
            if let Some((_, back)) = ends.iter().find(|(e, _)| *e == end) {
                return self.at_each(&word, *back)[0];
            }
            ends.push((end, word.len()));
        }
    }
}

fn formula() -> impl Strategy<Value = Formula> {
    let atom = (0..GUARDS.len()).prop_map(Formula::Atom);
    let unary = |op, a| Formula::Unary(op, Box::new(a));
    let binary = |op, a, b| Formula::Binary(op, Box::new(a), Box::new(b));
    let past = atom.prop_recursive(2, 6, 2, move |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (
                prop::sample::select(&["not", "Y", "Z", "O", "H"][..]),
                inner.clone()
            )
                .prop_map(move |(op, a)| unary(op, a)),
            (prop::sample::select(&["and", "or", "S", "T"][..]), two)
                .prop_map(move |(op, (a, b))| binary(op, a, b)),
            inner,
        ]
    });
    past.prop_recursive(3, 8, 2, move |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (prop::sample::select(&["not", "X", "F", "G"][..]), inner)
                .prop_map(move |(op, a)| unary(op, a)),
            (
                prop::sample::select(&["and", "or", "->", "U", "W", "R"][..]),
                two
            )
                .prop_map(move |(op, (a, b))| binary(op, a, b)),
        ]
    })
}

fn events(least: usize) -> impl Strategy<Value = Vec<Event>> {
    let event = (any::<bool>(), -5..9_i64).prop_map(|(output, value)| Event { output, value });
    prop::collection::vec(event, least..5)
}

fn word(automaton: &StreettAutomaton, events: &[Event]) -> Vec<Letter> {
    let letter = |e: &Event| {
        let (kind, name) = if e.output {
            (LabelKind::Output, "b")
        } else {
            (LabelKind::Input, "a")
        };
        let text = format!("{name}({})", e.value);
        match automaton.alphabet().read(kind, &text) {
            EventReading::Letter(letter) => letter,
            other => panic!("{text}: {other:?}"),
        }
    };
    events.iter().map(letter).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn formulas_with_guards_mean_what_they_say(
        f in formula(),
        words in prop::collection::vec((events(0), events(1)), 8),
    ) {
        let text = format!("property P over {{ ?a(x: int), !b(x: int) }} = ltl {}", f.text());
        let automaton = lower(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e:?}")))?;
        for (stem, cycle) in words {
            let lasso = Lasso { stem: word(&automaton, &stem), cycle: word(&automaton, &cycle) };
            prop_assert_eq!(
                automaton.accepts_lasso(&lasso),
                f.holds(&stem, &cycle),
                "{} on {:?} {:?}", text, stem, cycle
            );
        }
    }
}

#[test]
fn letters_are_the_combinations_that_are_possible() {
    for (text, expected) in [
        (
            "property P over { !r(x: int) } = ltl G (!r(x) [x > 3] -> X !r(y) [y > 5])",
            &["!r(x) [x > 5]", "!r(x) [x > 3 && x <= 5]", "!r(x) [x <= 3]"][..],
        ),
        // The sorts of parameters follow from their use; a parameter that nobody reads may be anything.
        (
            "property P = ltl F !r(code, _) [code == 404] or G not ?go",
            &[
                "!r(code, p1) [code == 404]",
                "!r(code, p1) [code != 404]",
                "?go",
            ],
        ),
        (
            "property P over { !r(x: 0..5) } = ltl G !r(x) [x <= 5]",
            &["!r"],
        ),
        (
            "property P over { !r(x: int) } = always (!r(x) [x > 0] | !r(y) [y < 0] !r (!r)*)*",
            &["!r(x) [x > 0]", "!r(x) [x < 0]", "!r(x) [x <= 0 && x >= 0]"],
        ),
        (
            "system S { input push(v: 0..3) output full
               initial state s { ?push(v) [v > 0] -> t } state t { !full -> s } }
             property P for S = ltl G (?push(v) [v == 1] -> F !full)",
            &["?push(v) [v == 1]", "?push(v) [v != 1]", "!full"],
        ),
    ] {
        assert_eq!(letters(text), expected, "{text}");
    }
}

/// `[x > 5]` implies `[x > 3]`: only over possible letters is the class right.
#[test]
fn classes_are_over_what_can_happen() {
    for (formula, class) in [
        ("G (!r(x) [x > 5] -> !r(x) [x > 3])", "safety and guarantee"),
        (
            "G F (!r(x) [x > 5] and !r(x) [x < 3])",
            "safety and guarantee",
        ),
        ("G F (!r(x) [x > 5])", "response"),
        ("G (!r(x) [x > 3])", "safety"),
    ] {
        let text = format!("property P over {{ !r(x: int), ?a }} = ltl {formula}");
        let automaton = lower(&text).expect("an automaton");
        let found = Classification::new(&automaton).expect("a class");
        assert_eq!(found.infinitary.class.to_string(), class, "{formula}");
    }
}

#[test]
fn automata_have_guards() {
    let text = "property P over { ?push(v: int), !pop(v: int) } = streett {
        initial state 1 { ?push(v) [v == 1] -> 2  * -> 1 }
        state 2 { !pop(v) [v == 1] -> 1  !pop(v) [v != 1] -> bad  * -> 2 }
        state bad { * -> bad }
        pair recurrent {} persistent {1, 2}
    }";
    let automaton = lower(text).expect("an automaton");
    let read = |text: &str| match automaton.alphabet().read(
        if text.starts_with("push") {
            LabelKind::Input
        } else {
            LabelKind::Output
        },
        text,
    ) {
        EventReading::Letter(l) => l,
        other => panic!("{text}: {other:?}"),
    };
    let word = |texts: &[&str]| texts.iter().map(|t| read(t)).collect::<Vec<_>>();
    assert!(automaton.accepts(&word(&["push(1)", "push(7)", "pop(1)", "pop(7)"])));
    assert!(!automaton.accepts(&word(&["push(1)", "push(7)", "pop(7)"])));
    assert!(automaton.accepts(&word(&["push(7)", "pop(7)"])));
    let both = text.replace("[v != 1]", "[v > 0]");
    let found = lower(&both).expect_err("two ways with 1");
    assert!(found[0].message.contains("two states"), "{found:?}");
}

#[test]
fn mistakes_are_told() {
    for (property, message) in [
        ("over { !r(x: int) } = ltl G !r(x) [y > 1]", "y"),
        ("over { !r(x: int) } = ltl G !r(x) [x]", "condition"),
        ("over { !r(x: int) } = ltl G !r(x) [x == \"a\"]", "string"),
        (
            "over { !r(x: int) } = ltl G !r(x, y) [x > y]",
            "1 parameter, and 2 are named",
        ),
        ("over { !r(x) } = ltl G !r(x) [x > 1]", "sorts"),
        (
            "over { !r(x: int) [x > 1] } = ltl G !r",
            "guards stand behind",
        ),
        ("over { !r(x: nosuch) } = ltl G !r(x) [x > 1]", "nosuch"),
        ("= ltl G !r(x, y) [x == y]", "not determined"),
        ("over { !r(x: int) } = ltl G delta [1 > 0]", ""),
        ("over { !r(x: int) } = ltl G !q(x) [x > 1]", "no label `!q`"),
        ("over { !r(x: int) } = ltl G !r(x) [x >", "expected"),
        (
            "over { !r(x: int) } = streett { initial state 1 { * [x > 1] -> 1 } }",
            "this is none",
        ),
    ] {
        let text = format!("property P {property}");
        let Err(found) = lower(&text) else {
            panic!("{text} passes");
        };
        assert!(
            found.iter().any(|d| d.message.contains(message)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn values_without_a_letter() {
    let automaton = lower(
        "property P over { !r(x: 0..9, s: string) } = ltl G !r(x, s) [10 / x > 1 && s != \"no\"]",
    )
    .expect("an automaton");
    let sigma = automaton.alphabet();
    let (action, _) = &sigma.guarded()[0];
    assert_eq!(action.faults().len(), 1, "{:?}", action.faults());
    for (text, why) in [
        ("r(0, a)", "has no value"),
        ("r(12, a)", "is no 0..9"),
        ("r(a, 3)", "is no 0..9"),
        ("r(3)", "carries 1 values"),
        ("r", "carries 0 values"),
    ] {
        match sigma.read(LabelKind::Output, text) {
            EventReading::Undefined(found) => assert!(found.contains(why), "{text}: {found}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(sigma.read(LabelKind::Output, "r(3, a)").letter().is_some());
    assert!(
        sigma
            .read(LabelKind::Output, "r(3, \"no\")")
            .letter()
            .is_some()
    );
    assert_eq!(
        sigma.read(LabelKind::Input, "r(3, a)"),
        EventReading::Unseen
    );
}

/// What is written again means the same.
#[test]
fn layout_keeps_guards() {
    let text =
        "property P over { !r(x: int, s: string), ?a } =\n  ltl G (!r(x, _) [x >= 500] -> F ?a)\n";
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let once = iolite_lang::fmt::format_file(&file);
    assert!(
        once.contains("!r(x: int, s: string)") && once.contains("!r(x, _) [x >= 500]"),
        "{once}"
    );
    let (again, found) = parse_and_check(&once);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    assert_eq!(iolite_lang::fmt::format_file(&again), once);
}

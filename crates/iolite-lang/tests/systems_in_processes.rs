//! Systems with data behind `;`, `>>`, `[>` and within processes that call themselves, against the same system
//! written out as processes without data, a process for each location and value.

mod common;

use common::bisimilar;
use iolite_expr::Solver;
use iolite_lang::{diagnostic, has_data, lower_system, parse_and_check, unfold_data};
use iolite_lts::{LabelKind, Lts, LtsBuilder};
use iolite_sts::UnfoldBudget;

/// A generator of numbers, so that a failing test can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// What n is from then on.
#[derive(Clone, Copy)]
enum Effect {
    Keep,
    Set(usize),
    /// Where n is below 2.
    Next,
}

struct Step {
    source: usize,
    event: &'static str,
    /// The value that n must have.
    when: Option<usize>,
    effect: Effect,
    target: usize,
}

const EVENTS: [&str; 3] = ["?a", "!b", "!v"];

fn random_steps(random: &mut Random) -> Vec<Step> {
    let count = 3 + random.below(5);
    let step = |_| Step {
        source: random.below(2),
        event: EVENTS[random.below(3)],
        when: [None, Some(random.below(3))][random.below(2)],
        effect: [Effect::Keep, Effect::Set(random.below(3)), Effect::Next][random.below(3)],
        target: random.below(2),
    };
    (0..count).map(step).collect()
}

/// The system with a variable.
fn with_data(steps: &[Step], sort: &str) -> String {
    let mut text = format!(
        "system M {{\n  var n: {sort} = 0\n  input a\n  output b, v(p: 0..2)\n  initial state L0 {{\n"
    );
    for location in 0..2 {
        if location == 1 {
            text += "  }\n  state L1 {\n";
        }
        for step in steps.iter().filter(|s| s.source == location) {
            let mut guards = Vec::new();
            if let Some(value) = step.when {
                guards.push(format!("n == {value}"));
            }
            let event = if step.event == "!v" {
                guards.push("p == n".to_owned());
                "!v(p)"
            } else {
                step.event
            };
            let effect = match step.effect {
                Effect::Keep => String::new(),
                Effect::Set(value) => format!(" / n := {value}"),
                Effect::Next => {
                    guards.push("n < 2".to_owned());
                    " / n := n + 1".to_owned()
                }
            };
            let guard = match guards.as_slice() {
                [] => String::new(),
                guards => format!(" [{}]", guards.join(" && ")),
            };
            text += &format!("    {event}{guard}{effect} -> L{}\n", step.target);
        }
    }
    text + "  }\n}\n"
}

/// The same without: where it begins is `L0_0`.
fn written_out(steps: &[Step]) -> String {
    let mut text = String::new();
    for location in 0..2 {
        for n in 0..3 {
            let mut choices = Vec::new();
            for step in steps.iter().filter(|s| s.source == location) {
                let next = match step.effect {
                    Effect::Keep => n,
                    Effect::Set(value) => value,
                    Effect::Next if n < 2 => n + 1,
                    Effect::Next => continue,
                };
                if step.when.is_some_and(|value| value != n) {
                    continue;
                }
                let event = match step.event {
                    "!v" => format!("!v({n})"),
                    event => event.to_owned(),
                };
                choices.push(format!("{event}; L{}_{next}", step.target));
            }
            let body = match choices.as_slice() {
                [] => "stop".to_owned(),
                choices => choices.join(" [] "),
            };
            text += &format!("process L{location}_{n} = {body}\n");
        }
    }
    text
}

/// Processes around a system `M`.
const CONTEXTS: [&str; 9] = [
    "?go; M",
    "M [> ?reset; stop",
    "(?go; exit) >> M",
    "?go; (M [> ?reset; T)",
    "?go; M [] ?no; !v(0); stop",
    "(?go; M) ||| (?other; stop)",
    "(?go; M) |[b]| (?b; ?b; stop)",
    "?go; (M |[b]| (M [> ?reset; stop))",
    "hide b in (?go; M [> ?reset; M)",
];

fn with_one_internal(lts: &Lts) -> Lts {
    let mut b = LtsBuilder::new();
    b.ensure_states(lts.state_count());
    b.set_initial(lts.initial());
    for (s, l, t) in lts.transitions() {
        match lts.labels().kind(l) {
            LabelKind::Internal => b.transition_text(s, "i", t),
            _ => b.transition_text(s, &lts.labels().text(l), t),
        }
    }
    b.build().expect("a system")
}

#[test]
fn systems_with_data_are_parts_of_processes() {
    let mut compared = 0;
    for seed in 1..=40_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let steps = random_steps(&mut random);
        for context in CONTEXTS {
            let plain = context.replace('M', "L0_0");
            let plain = format!("{}process T = {plain}\n", written_out(&steps));
            let (file, found) = parse_and_check(&plain);
            assert!(!diagnostic::has_errors(&found), "{plain}\n{found:?}");
            let expected = lower_system(&file, "T", 20_000);
            let expected = expected.unwrap_or_else(|e| panic!("{plain}\n{e:?}"));
            for sort in ["0..2", "int"] {
                let text = format!("{}process T = {context}\n", with_data(&steps, sort));
                let (file, found) = parse_and_check(&text);
                assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
                assert!(has_data(&file, "T"), "{text}");
                let budget = UnfoldBudget {
                    states: 20_000,
                    ..UnfoldBudget::default()
                };
                let unfolded = unfold_data(&file, "T", &mut Solver::embedded(), budget);
                let unfolded = unfolded.unwrap_or_else(|e| panic!("{text}\n{e:?}"));
                assert!(
                    bisimilar(&with_one_internal(&expected), &with_one_internal(&unfolded)),
                    "seed {seed}, {context}, n: {sort}\n{text}\n{plain}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 40 * CONTEXTS.len() * 2);
}

/// Constants get values where a system is called; one without a value is a mistake that names it.
#[test]
fn constants_of_systems_in_processes() {
    let system = "system M {\n  const most: int\n  var n: int = 0\n  input a\n  output b\n  \
                  initial state S { ?a [n < most] / n := n + 1 -> S  !b [n == most] -> S }\n}\n";
    let unfolded = |process: &str| {
        let text = format!("{system}process T = {process}\n");
        let (file, found) = parse_and_check(&text);
        assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
        unfold_data(&file, "T", &mut Solver::embedded(), UnfoldBudget::default())
    };
    let given = unfolded("?go; M(most = 2) [] ?more; M(most = 3)").expect("values are given");
    assert_eq!(given.state_count(), 1 + 3 + 4);
    let found = unfolded("?go; M").expect_err("no value");
    assert!(
        found[0].message.contains("constant `most` has no value"),
        "{found:?}"
    );
}

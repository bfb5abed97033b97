//! Three and four systems that meet on one action with a value: it happens where all of them allow the value, and
//! all change at once. On the fly and unfolded, against the rule written out over states of all components.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Solver, Value};
use iolite_lang::{diagnostic, lower_data, parse_and_check, unfold_data};
use iolite_lts::{LabelKind, QuiescencePolicy};
use iolite_sts::{After, Symbolic, SymbolicStates, UnfoldBudget, ValuedAction};

/// A generator of numbers, so that a failing test can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// A number below another one.
    fn number(&mut self, bound: i64) -> i64 {
        let all: Vec<i64> = (0..bound).collect();
        all[self.below(all.len())]
    }
}

/// Values of the action that all meet on.
const VALUES: i64 = 6;
/// Values of each system's variable.
const MODULUS: i64 = 3;

/// What a system asks of the value, and of its variable.
#[derive(Clone, Copy, Debug)]
enum Guard {
    Above(i64),
    Below(i64),
    Remainder(i64),
    Own,
    OwnAndAbove(i64),
}

impl Guard {
    fn random(random: &mut Random) -> Self {
        let n = random.number(VALUES);
        match random.below(5) {
            0 => Self::Above(n),
            1 => Self::Below(n),
            2 => Self::Remainder(n % 2),
            3 => Self::Own,
            _ => Self::OwnAndAbove(n % 3),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Above(n) => format!("x > {n}"),
            Self::Below(n) => format!("x <= {n}"),
            Self::Remainder(n) => format!("x % 2 == {n}"),
            Self::Own => "x >= v".to_owned(),
            Self::OwnAndAbove(n) => format!("v < 2 && x > {n}"),
        }
    }

    fn holds(self, x: i64, v: i64) -> bool {
        match self {
            Self::Above(n) => x > n,
            Self::Below(n) => x <= n,
            Self::Remainder(n) => x % 2 == n,
            Self::Own => x >= v,
            Self::OwnAndAbove(n) => v < 2 && x > n,
        }
    }
}

/// A step on the common action, or on the system's own one.
#[derive(Clone, Copy, Debug)]
struct Step {
    source: usize,
    target: usize,
    /// `None` for its own action.
    meets: Option<Guard>,
    /// v := (v + add + x) % 3, or the same without x.
    add: i64,
}

type Component = Vec<Step>;

fn component(random: &mut Random) -> Component {
    let mut steps: Component = (0..2)
        .map(|source| Step {
            source,
            target: random.below(2),
            meets: Some(Guard::random(random)),
            add: random.number(3),
        })
        .collect();
    for _ in 0..random.below(3) {
        steps.push(Step {
            source: random.below(2),
            target: random.below(2),
            meets: (random.below(2) == 0).then(|| Guard::random(random)),
            add: random.number(3),
        });
    }
    steps
}

/// The system `S{k}`; the first one says the value, the others are told.
fn text(k: usize, steps: &[Step]) -> String {
    let kind = if k == 0 { "output" } else { "input" };
    let sigil = if k == 0 { '!' } else { '?' };
    let mut text =
        format!("system S{k} {{\n  var v: int = 0\n  {kind} g(x: 0..5)\n  output own{k}\n");
    for location in 0..2 {
        let initial = if location == 0 { "initial " } else { "" };
        text += &format!("  {initial}state L{location} {{\n");
        for s in steps.iter().filter(|s| s.source == location) {
            let (add, target) = (s.add, s.target);
            text += &match s.meets {
                Some(guard) => format!(
                    "    {sigil}g(x) [{}] / v := (v + {add} + x) % {MODULUS} -> L{target}\n",
                    guard.text()
                ),
                None => format!("    !own{k} / v := (v + {add}) % {MODULUS} -> L{target}\n"),
            };
        }
        text += "  }\n";
    }
    text + "}\n"
}

/// A location and a value for each component.
type Place = Vec<(usize, i64)>;

/// `None` for the common action, else whose own it is; and the value.
type Label = (Option<usize>, i64);

fn after(components: &[Component], places: &BTreeSet<Place>, (own, x): Label) -> BTreeSet<Place> {
    let mut all = BTreeSet::new();
    for place in places {
        let mut ways: Vec<Place> = vec![Vec::new()];
        for (k, &(location, v)) in place.iter().enumerate() {
            let next: Vec<(usize, i64)> = match own {
                Some(other) if other != k => vec![(location, v)],
                _ => components[k]
                    .iter()
                    .filter(|s| s.source == location)
                    .filter_map(|s| match (own, s.meets) {
                        (None, Some(guard)) if guard.holds(x, v) => {
                            Some((s.target, (v + s.add + x) % MODULUS))
                        }
                        (Some(_), None) => Some((s.target, (v + s.add) % MODULUS)),
                        _ => None,
                    })
                    .collect(),
            };
            let longer = ways.iter().flat_map(|way| {
                next.iter()
                    .map(|n| way.iter().copied().chain([*n]).collect())
            });
            ways = longer.collect();
        }
        all.extend(ways);
    }
    all
}

fn labels(count: usize) -> Vec<Label> {
    let own = (0..count).map(|k| (Some(k), 0));
    (0..VALUES).map(|x| (None, x)).chain(own).collect()
}

/// How often an action was possible, and how often not.
#[derive(Default)]
struct Tally {
    possible: u32,
    impossible: u32,
    unfolded: u32,
}

fn walk(
    components: &[Component],
    symbolic: &mut Symbolic,
    (places, states): (&BTreeSet<Place>, &SymbolicStates),
    depth: u32,
    tally: &mut Tally,
) {
    for label in labels(components.len()) {
        let expected = after(components, places, label);
        let name = label.0.map_or("g".to_owned(), |k| format!("own{k}"));
        let action = symbolic.model().find_gate(LabelKind::Output, &name);
        let action = action.expect("an output");
        let values = match label.0 {
            None => vec![Value::from(label.1)],
            Some(_) => Vec::new(),
        };
        let found = symbolic.after(states, &ValuedAction { action, values });
        match found.expect("no faults") {
            After::Possible(next) => {
                assert!(!expected.is_empty(), "{label:?} is not possible");
                tally.possible += 1;
                if depth > 0 {
                    walk(components, symbolic, (&expected, &next), depth - 1, tally);
                }
            }
            After::Impossible => {
                assert!(expected.is_empty(), "{label:?} is possible");
                tally.impossible += 1;
            }
            After::Unknown { reason, .. } => panic!("{label:?}: {reason}"),
        }
    }
}

/// All places that there are.
fn explored(components: &[Component]) -> BTreeSet<Place> {
    let initial: Place = vec![(0, 0); components.len()];
    let mut seen = BTreeSet::from([initial.clone()]);
    let mut open = vec![initial];
    while let Some(place) = open.pop() {
        for label in labels(components.len()) {
            for next in after(components, &BTreeSet::from([place.clone()]), label) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    seen
}

#[test]
fn all_that_meet_agree_on_the_value() {
    let mut tally = Tally::default();
    for seed in 1..=60 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed));
        let count = 3 + random.below(2);
        let components: Vec<Component> = (0..count).map(|_| component(&mut random)).collect();
        let mut file: String = (0..count).map(|k| text(k, &components[k])).collect();
        let all = match random.below(3) {
            0 => (1..count).fold("S0".to_owned(), |left, k| format!("({left} |[g]| S{k})")),
            1 => (0..count - 1)
                .rev()
                .fold(format!("S{}", count - 1), |right, k| {
                    format!("(S{k} |[g]| {right})")
                }),
            _ => (1..count).fold("S0".to_owned(), |all, k| format!("{all} |[g]| S{k}")),
        };
        file += &format!("system All = {all}\n");
        let (parsed, diagnostics) = parse_and_check(&file);
        assert!(
            !diagnostic::has_errors(&diagnostics),
            "{file}\n{diagnostics:?}"
        );
        let model = Arc::new(lower_data(&parsed, "All").expect("it lowers"));
        let mut symbolic = Symbolic::new(
            Arc::clone(&model),
            &[],
            QuiescencePolicy::Livelock,
            Solver::embedded(),
        )
        .expect("no constants");
        let Ok(After::Possible(states)) = symbolic.initial() else {
            panic!("no initial states")
        };
        let places = BTreeSet::from([vec![(0, 0); count]]);
        walk(
            &components,
            &mut symbolic,
            (&places, &states),
            2,
            &mut tally,
        );
        let unfolded = unfold_data(
            &parsed,
            "All",
            &mut Solver::embedded(),
            UnfoldBudget::default(),
        )
        .expect("it unfolds");
        assert_eq!(
            unfolded.state_count(),
            explored(&components).len(),
            "{file}"
        );
        tally.unfolded += 1;
    }
    assert!(tally.possible > 1_000, "{}", tally.possible);
    assert!(tally.impossible > 1_000, "{}", tally.impossible);
}

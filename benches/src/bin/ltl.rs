//! From formulas to automata: sizes and times beside those that another tool had.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin ltl [-- --each]`
//!
//! Formulas with known sizes are read from the file that `IOLITE_LTL_SIZES` names, patterns from the one
//! of `IOLITE_LTL_PATTERNS`, by default those beside the project; without them these tables are left
//! out. Lines are `group, class, states, states, formula` and `name, class, formula`, with tabs between.
//! Random formulas and the usual families need no file. `--each` prints a line for each formula read.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use iolite_property::ltl::Options;
use iolite_property::{Ltl, Normalised};

fn main() {
    let each = std::env::args().any(|a| a == "--each");
    println!(
        "| formulas | of | class as known | no answer | states | with finite words | recorded | seconds | slowest |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    recorded("IOLITE_LTL_PATTERNS", "dac-patterns.tsv", each);
    recorded("IOLITE_LTL_SIZES", "spot-sizes.tsv", each);
    random();
    println!();
    families();
}

struct Translated {
    /// Of the automaton in the shape of its class, which is what other tools count.
    states: usize,
    /// Of the one that judges finite words too.
    with_finite: usize,
    pairs: usize,
    class: String,
    code: char,
    seconds: f64,
}

fn translate(formula: &str) -> Result<Translated, String> {
    let start = Instant::now();
    let (ltl, alphabet) = Ltl::parse_propositional(formula).map_err(|e| e.to_string())?;
    let translation = ltl
        .translate(&Arc::new(alphabet), Options::default())
        .map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let shape = Normalised::new(&translation.automaton).map_err(|e| e.to_string())?;
    Ok(Translated {
        seconds,
        states: shape.automaton.structure().len(),
        with_finite: translation.automaton.structure().len(),
        pairs: shape.automaton.pairs().len(),
        class: translation.class.class.to_string(),
        code: translation.class.class.code(),
    })
}

/// One row of the first table.
#[derive(Default)]
struct Sum {
    name: String,
    count: usize,
    right: usize,
    failed: usize,
    states: usize,
    with_finite: usize,
    recorded: usize,
    seconds: f64,
    slowest: f64,
}

impl Sum {
    fn add(&mut self, formula: &str, code: Option<&str>, recorded: Option<usize>, each: bool) {
        self.count += 1;
        self.recorded += recorded.unwrap_or(0);
        match translate(formula) {
            Ok(t) => {
                self.right += usize::from(code.is_none_or(|c| c == t.code.to_string()));
                self.states += t.states;
                self.with_finite += t.with_finite;
                self.seconds += t.seconds;
                self.slowest = self.slowest.max(t.seconds);
                if each {
                    let known = recorded.map_or(String::new(), |n| n.to_string());
                    let (n, pairs, class) = (t.states, t.pairs, t.class);
                    eprintln!(
                        "{n}\t{known}\t{pairs}\t{class}\t{:.3}\t{formula}",
                        t.seconds
                    );
                }
            }
            Err(e) => {
                self.failed += 1;
                eprintln!("{formula}: {e}");
            }
        }
    }

    fn print(&self) {
        let recorded = match self.recorded {
            0 => String::new(),
            n => n.to_string(),
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {recorded} | {:.2} | {:.2} |",
            self.name,
            self.count,
            self.right,
            self.failed,
            self.states,
            self.with_finite,
            self.seconds,
            self.slowest
        );
    }
}

fn recorded(variable: &str, name: &str, each: bool) {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/cases/ltl")
        .join(name);
    let path = std::env::var_os(variable).map_or(beside, Into::into);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!(
            "no formulas at {}; name a file in {variable}",
            path.display()
        );
        return;
    };
    let mut sums: Vec<Sum> = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (group, code, states, formula) = match columns[..] {
            [name, code, formula] => (name.split(':').next().unwrap_or(name), code, None, formula),
            [group, code, states, _, formula] => (group, code, states.parse().ok(), formula),
            _ => continue,
        };
        if sums.last().is_none_or(|s| s.name != group) && !sums.iter().any(|s| s.name == group) {
            sums.push(Sum {
                name: group.to_owned(),
                ..Sum::default()
            });
        }
        let sum = sums.iter_mut().find(|s| s.name == group);
        sum.expect("just made")
            .add(formula, Some(code), states, each);
    }
    sums.iter().for_each(Sum::print);
}

/// Numbers that are the same in every run: xorshift, seeded.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// A formula of so many nodes over four propositions.
    fn formula(&mut self, nodes: usize) -> String {
        if nodes == 1 {
            return ["p", "q", "r", "s"][self.below(4)].to_owned();
        }
        if nodes == 2 || self.below(3) == 0 {
            let operator = ["!", "X ", "F ", "G "][self.below(4)];
            return format!("{operator}({})", self.formula(nodes - 1));
        }
        let left = 1 + self.below(nodes - 2);
        let operator = ["U", "R", "W", "M", "&", "|", "->", "<->"][self.below(8)];
        let (a, b) = (self.formula(left), self.formula(nodes - 1 - left));
        format!("({a}) {operator} ({b})")
    }
}

fn random() {
    let mut numbers = Numbers(11);
    for (low, high, count) in [(5, 14, 400), (15, 20, 400), (20, 30, 400)] {
        let mut sum = Sum {
            name: format!("random, {low} to {high} nodes"),
            ..Sum::default()
        };
        for _ in 0..count {
            let nodes = low + numbers.below(high - low + 1);
            let formula = numbers.formula(nodes);
            sum.add(&formula, None, None, false);
        }
        sum.print();
    }
}

/// The usual families, in n.
fn families() {
    type Family = (&'static str, fn(usize) -> String, &'static [usize]);
    fn joined(n: usize, by: &str, part: impl Fn(usize) -> String) -> String {
        (1..=n).map(part).collect::<Vec<_>>().join(by)
    }
    let families: [Family; 13] = [
        (
            "∧ GF p_i",
            |n| joined(n, " & ", |i| format!("G F p{i}")),
            &[2, 4, 6, 8, 20, 40, 60],
        ),
        (
            "∨ FG p_i",
            |n| joined(n, " | ", |i| format!("F G p{i}")),
            &[2, 4, 6, 20, 40],
        ),
        (
            "∧ G(p_i → F q_i)",
            |n| joined(n, " & ", |i| format!("G(p{i} -> F q{i})")),
            &[1, 2, 3, 4, 5, 6],
        ),
        (
            "∧ (GF p_i → GF q_i)",
            |n| joined(n, " & ", |i| format!("(G F p{i} -> G F q{i})")),
            &[1, 2, 3, 4, 5, 6],
        ),
        (
            "(∧ GF p_i) → GF q",
            |n| format!("({}) -> G F q", joined(n, " & ", |i| format!("G F p{i}"))),
            &[1, 2, 3, 4],
        ),
        (
            "((p_1 U p_2) U …) U p_n",
            |n| (2..=n).fold("p1".to_owned(), |f, i| format!("({f}) U p{i}")),
            &[2, 4, 6, 8],
        ),
        (
            "p_1 U (p_2 U (… p_n))",
            |n| {
                (1..n)
                    .rev()
                    .fold(format!("p{n}"), |f, i| format!("p{i} U ({f})"))
            },
            &[2, 4, 8, 12, 16, 20, 40],
        ),
        (
            "F(p_1 ∧ F(p_2 ∧ …))",
            |n| {
                (1..n)
                    .rev()
                    .fold(format!("F p{n}"), |f, i| format!("F(p{i} & {f})"))
            },
            &[2, 4, 6, 8],
        ),
        (
            "G(p_1 → F(p_2 ∧ X F(p_3 ∧ …)))",
            |n| {
                let chain = (2..n)
                    .rev()
                    .fold(format!("F p{n}"), |f, i| format!("F(p{i} & X {f})"));
                format!("G(p1 -> {chain})")
            },
            &[2, 3, 4, 8, 12],
        ),
        (
            "G(p_1 ∨ … ∨ p_n ∨ F G(q_1 ∧ … ∧ q_n))",
            |n| {
                let any = joined(n, " | ", |i| format!("p{i}"));
                format!("G({any} | F G({}))", joined(n, " & ", |i| format!("q{i}")))
            },
            &[1, 4, 10, 20],
        ),
        (
            "F(p_1 ∧ G(p_2 ∨ X(p_3 U (… p_n))))",
            |n| {
                let chain = (3..n)
                    .rev()
                    .fold(format!("p{n}"), |f, i| format!("p{i} U ({f})"));
                format!("F(p1 & G(p2 | X({chain})))")
            },
            &[4, 8, 12],
        ),
        (
            "G(q → (p_1 ∨ …) S (p_n ∧ …)), past",
            |n| {
                let any = joined(n / 2, " | ", |i| format!("p{i}"));
                let all: Vec<String> = (n / 2 + 1..=n).map(|i| format!("p{i}")).collect();
                format!("G(q -> ({any}) S ({}))", all.join(" & "))
            },
            &[4, 10, 20, 40],
        ),
        (
            "G(p → Xⁿ q)",
            |n| format!("G(p -> {}q)", "X ".repeat(n)),
            &[1, 4, 8, 12],
        ),
    ];
    println!("| family | n | states | pairs | class | seconds |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, formula, sizes) in families {
        for &n in sizes {
            match translate(&formula(n)) {
                Ok(t) => println!(
                    "| {name} | {n} | {} | {} | {} | {:.3} |",
                    t.states, t.pairs, t.class, t.seconds
                ),
                Err(e) => println!("| {name} | {n} | {e} | | | |"),
            }
        }
    }
}

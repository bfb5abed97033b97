//! Monitoring, classification and translation of properties.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin properties`
//!
//! The pattern formulas are read from the file that `IOLITE_LTL_PATTERNS` names, by default the one
//! beside the project; without it that table is left out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use iolite_lts::LabelId;
use iolite_property::ltl::Options;
use iolite_property::{
    Alphabet, Basis, CanonicalTester, Classification, Ltl, Monitor, Pair, Relation, StateId,
    StateSet, StreettAutomaton, Structure, Testability, TesterOptions,
};

/// Numbers that are the same in every run: xorshift, seeded.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn main() {
    monitoring();
    classification();
    patterns();
    families();
}

fn property(formula: &str, alphabet: &Arc<Alphabet>) -> StreettAutomaton {
    let ltl = Ltl::parse(formula, alphabet).expect("a formula");
    let translation = ltl.translate(alphabet, Options::default());
    translation.expect("an automaton").automaton
}

/// Events a second of one tester and of several at once. Verdicts would end a run, so the
/// properties are ones that these events never settle.
fn monitoring() {
    const EVENTS: usize = 1 << 26;
    let names = ["?req", "?cancel", "!ok", "!nok", "!log", "!idle"];
    let alphabet = Arc::new(Alphabet::of_names(names).expect("an alphabet"));
    let formulas = [
        "G(?req -> F !ok)",
        "G F !idle",
        "G(!nok -> F !log)",
        "F G (! ?cancel)",
        "G(?cancel -> F(!ok | !nok))",
        "G F !log -> G F !idle",
        "G(!ok -> F ?req)",
        "G(!log -> F !idle)",
    ];
    let testers: Vec<CanonicalTester> = formulas
        .iter()
        .map(|f| {
            let automaton = property(f, &alphabet);
            CanonicalTester::new(&automaton, TesterOptions::default()).expect("a tester")
        })
        .collect();
    let mut numbers = Numbers(7);
    let letters: Vec<LabelId> = alphabet.iter().map(|l| alphabet.label(l)).collect();
    let word: Vec<LabelId> = (0..1 << 16)
        .map(|_| letters[numbers.below(letters.len())])
        .collect();
    println!("| monitoring | properties | events | seconds | events/s |");
    println!("| --- | --- | --- | --- | --- |");
    let row = |what: &str, properties: usize, seconds: f64| {
        println!(
            "| {what} | {properties} | {EVENTS} | {seconds:.2} | {:.1e} |",
            EVENTS as f64 / seconds
        );
    };
    let tester = &testers[0];
    let start = Instant::now();
    let mut q = tester.initial();
    for _ in 0..EVENTS / word.len() {
        for &event in &word {
            q = tester.step(q, event);
        }
    }
    std::hint::black_box(q);
    row("canonical tester", 1, start.elapsed().as_secs_f64());
    for count in [1, 2, 4, 8] {
        let mut monitor = Monitor::new(testers[..count].to_vec(), 1 << 20);
        // Ids are those of the monitor's own table.
        let own: Vec<LabelId> = word
            .iter()
            .map(|&l| {
                let label = alphabet.labels().label(l);
                monitor
                    .labels()
                    .get(label.kind, &label.name)
                    .expect("it knows it")
            })
            .collect();
        let start = Instant::now();
        for _ in 0..EVENTS / own.len() {
            for &event in &own {
                monitor.step(event);
            }
        }
        std::hint::black_box(monitor.verdicts());
        row("monitor", count, start.elapsed().as_secs_f64());
    }
    println!();
}

/// A random automaton of these many states, letters and pairs; in `blocks` parts that cannot be
/// re-entered once left, so that there is more than one large cycle.
fn random(states: usize, letters: usize, pairs: usize, blocks: usize) -> StreettAutomaton {
    let names: Vec<String> = (0..letters).map(|i| format!("a{i}")).collect();
    let alphabet = Alphabet::of_names(names.iter().map(String::as_str)).expect("an alphabet");
    let mut numbers = Numbers(states as u64 * 31 + pairs as u64 * 7 + blocks as u64 + 1);
    let size = states / blocks;
    let mut next = Vec::with_capacity(states * letters);
    for q in 0..states {
        let block = (q / size).min(blocks - 1);
        let last = block + 1 == blocks;
        for _ in 0..letters {
            let onward = !last && numbers.below(size) < 2;
            let block = if onward { block + 1 } else { block };
            let width = if block + 1 == blocks {
                states - block * size
            } else {
                size
            };
            next.push(StateId::new(block * size + numbers.below(width)));
        }
    }
    let structure = Structure::new(Arc::new(alphabet), StateId::new(0), next).expect("a table");
    let mut set = |density: usize| StateSet::of(states, |_| numbers.below(100) < density);
    let pairs = (0..pairs)
        .map(|_| Pair {
            recurrent: set(2),
            persistent: set(90),
        })
        .collect();
    StreettAutomaton::new(structure, pairs).expect("an automaton")
}

fn classification() {
    println!("| classification | states | letters | pairs | class | classify s | testability s |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (states, letters, pairs, blocks) in [
        (10_000, 4, 1, 1),
        (100_000, 4, 1, 1),
        (100_000, 4, 2, 1),
        (100_000, 4, 3, 1),
        (100_000, 4, 1, 1_000),
        (100_000, 4, 2, 1_000),
        (100_000, 16, 1, 100),
        (1_000_000, 2, 1, 1),
    ] {
        let automaton = random(states, letters, pairs, blocks);
        let start = Instant::now();
        let class = Classification::new(&automaton);
        let classify = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let testable = Testability::new(&automaton, Relation::Inclusion, true, Basis::default());
        let ask = start.elapsed().as_secs_f64();
        let class = class.map_or_else(|e| e.to_string(), |c| c.infinitary.class.to_string());
        let blocks = if blocks > 1 {
            format!(" in {blocks} parts")
        } else {
            String::new()
        };
        assert!(testable.is_ok());
        println!(
            "| random{blocks} | {states} | {letters} | {pairs} | {class} | {classify:.3} | {ask:.3} |"
        );
    }
    println!();
}

struct Translated {
    states: usize,
    pairs: usize,
    class: String,
    seconds: f64,
}

fn translate(formula: &str) -> Result<Translated, String> {
    let start = Instant::now();
    let (ltl, alphabet) = Ltl::parse_propositional(formula).map_err(|e| e.to_string())?;
    let translation = ltl
        .translate(&Arc::new(alphabet), Options::default())
        .map_err(|e| e.to_string())?;
    Ok(Translated {
        seconds: start.elapsed().as_secs_f64(),
        states: translation.automaton.structure().len(),
        pairs: translation.automaton.pairs().len(),
        class: translation.class.class.to_string(),
    })
}

fn patterns() {
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/ltl/dac-patterns.tsv");
    let path = std::env::var_os("IOLITE_LTL_PATTERNS").map_or(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!(
            "no pattern formulas at {}; name a file in IOLITE_LTL_PATTERNS",
            path.display()
        );
        return;
    };
    let (mut count, mut right, mut failed) = (0, 0, 0);
    let (mut states, mut largest) = (0, (0, String::new()));
    let (mut seconds, mut slowest) = (0.0, (0.0, String::new()));
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, class, formula] = columns[..] else {
            continue;
        };
        count += 1;
        let Ok(found) = translate(formula) else {
            failed += 1;
            continue;
        };
        let code = |class: &str| match class {
            "safety and guarantee" => "B",
            "safety" => "S",
            "guarantee" => "G",
            "response" => "R",
            "persistence" => "P",
            c if c.ends_with("obligation") => "O",
            _ => "T",
        };
        right += usize::from(code(&found.class) == class);
        states += found.states;
        seconds += found.seconds;
        if found.states > largest.0 {
            largest = (found.states, name.to_owned());
        }
        if found.seconds > slowest.0 {
            slowest = (found.seconds, name.to_owned());
        }
    }
    println!(
        "| patterns | class as known | failed | states in all | largest | seconds in all | slowest |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    println!(
        "| {count} | {right} | {failed} | {states} | {} ({}) | {seconds:.3} | {:.3} ({}) |\n",
        largest.0, largest.1, slowest.0, slowest.1
    );
}

/// The usual families, in n.
fn families() {
    type Family = (&'static str, fn(usize) -> String, &'static [usize]);
    fn joined(n: usize, by: &str, part: impl Fn(usize) -> String) -> String {
        (1..=n).map(part).collect::<Vec<_>>().join(by)
    }
    let families: [Family; 9] = [
        (
            "∧ GF p_i",
            |n| joined(n, " & ", |i| format!("G F p{i}")),
            &[2, 4, 6, 8],
        ),
        (
            "∨ FG p_i",
            |n| joined(n, " | ", |i| format!("F G p{i}")),
            &[2, 4, 6],
        ),
        (
            "∧ G(p_i → F q_i)",
            |n| joined(n, " & ", |i| format!("G(p{i} -> F q{i})")),
            &[1, 2, 3, 4],
        ),
        (
            "∧ (GF p_i → GF q_i)",
            |n| joined(n, " & ", |i| format!("(G F p{i} -> G F q{i})")),
            &[1, 2, 3],
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
            &[2, 4, 6, 8],
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

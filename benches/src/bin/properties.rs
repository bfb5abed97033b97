//! Monitoring and classification of properties.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin properties`

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

//! Relations end to end, file reading included, beside merc: CPU time and peak memory, median of
//! five interleaved runs. Relations that merc does not know are compared with our own trace check of
//! the same pair.
//!
//! `cargo build --release -p iolite-cli` first, then
//! `cargo run --release --manifest-path benches/Cargo.toml --bin relations`.

use std::path::{Path, PathBuf};

use iolite_benches::{Cost, Models, measure, measure_if_asked, median};

/// How many runs a median is of, where the second argument does not say.
const ROUNDS: usize = 5;

struct Case {
    name: String,
    implementation: String,
    specification: String,
    relations: &'static [&'static str],
}

fn main() {
    measure_if_asked();
    let number = |k: usize| std::env::args().nth(k)?.parse::<usize>().ok();
    let largest = number(1).unwrap_or(1_000_000);
    let rounds = number(2).unwrap_or(ROUNDS);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let iolite = std::env::var_os("IOLITE").map_or(target.join("release/iolite"), PathBuf::from);
    assert!(
        iolite.exists(),
        "{}: build iolite in release first",
        iolite.display()
    );
    let merc = std::env::current_exe()
        .expect("a path")
        .with_file_name("merc_peer");

    println!(
        "| pair | relation | iolite s | merc s | time ratio | iolite MB | merc MB | memory ratio |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases(largest) {
        let mut trace = None;
        for relation in case.relations {
            let args = [
                *relation,
                case.implementation.as_str(),
                case.specification.as_str(),
            ];
            let has_peer = matches!(*relation, "trace" | "testing");
            let completion: &[&str] = if has_peer {
                &[]
            } else {
                &["--complete-inputs", "self-loop"]
            };
            let ours_args = [&["relate"], args.as_slice(), completion].concat();
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                ours.push(measure(&iolite, &ours_args));
                if has_peer {
                    theirs.push(measure(&merc, &args));
                }
            }
            assert!(
                ours[0].code <= 1,
                "iolite gave no answer on {} {relation}",
                case.name
            );
            let ours = median(&ours);
            let theirs = has_peer.then(|| median(&theirs));
            row(&case.name, relation, ours, theirs, trace);
            if *relation == "trace" {
                trace = Some(ours);
            }
        }
    }
}

fn row(name: &str, relation: &str, ours: Cost, theirs: Option<Cost>, trace: Option<Cost>) {
    let Cost {
        seconds, megabytes, ..
    } = ours;
    match (theirs, trace) {
        (Some(peer), _) => println!(
            "| {name} | {relation} | {seconds:.3} | {:.3} | {:.2} | {megabytes:.0} | {:.0} | {:.2} |",
            peer.seconds,
            seconds / peer.seconds,
            peer.megabytes,
            megabytes / peer.megabytes
        ),
        (None, Some(trace)) => println!(
            "| {name} | {relation} | {seconds:.3} | | {:.2} of our trace | {megabytes:.0} | | {:.2} of our trace |",
            seconds / trace.seconds,
            megabytes / trace.megabytes
        ),
        (None, None) => println!("| {name} | {relation} | {seconds:.3} | | | {megabytes:.0} | | |"),
    }
}

/// True pairs by thinning, false ones by one more edge, and two families of another shape.
fn cases(largest: usize) -> Vec<Case> {
    let models = Models::new();
    let plain: &[&str] = &["trace", "testing"];
    let mut cases = Vec::new();
    for size in [10_000, 100_000, 1_000_000]
        .into_iter()
        .filter(|&n| n <= largest)
    {
        let (states, trans) = ((size / 3).to_string(), size.to_string());
        let shape = ["--inputs", "8", "--outputs", "8", "--tau", "0.05"];
        let args = [
            &["random", "--states", &states, "--trans", &trans],
            shape.as_slice(),
        ]
        .concat();
        let random = models.make(&format!("random-{size}"), &args);
        let thin = models.make(&format!("random-{size}-thin"), &["thin", &random]);
        let mutant = models.make(&format!("random-{size}-mutate"), &["mutate", &random]);
        cases.push(Case {
            name: format!("random {size} + thin"),
            implementation: thin,
            specification: random.clone(),
            relations: plain,
        });
        cases.push(Case {
            name: format!("random {size} + mutate"),
            implementation: mutant,
            specification: random,
            relations: plain,
        });
        // Complete machines, an input and its output a step, for the relations with inputs and
        // outputs. (Random models with every input enabled explode under determinisation.)
        let states = (size / 16).to_string();
        let args = [
            "mealy",
            "--states",
            &states,
            "--inputs",
            "8",
            "--outputs",
            "8",
        ];
        let mealy = models.make(&format!("mealy-{size}"), &args);
        cases.push(Case {
            name: format!("mealy {size}, itself"),
            implementation: mealy.clone(),
            specification: mealy,
            relations: &["trace", "testing", "ioco", "ioconf"],
        });
    }
    let product = models.make("product-7-5", &["product", "--n", "7", "--len", "5"]);
    cases.push(Case {
        name: "product 7 × 5, itself".to_owned(),
        implementation: product.clone(),
        specification: product,
        relations: plain,
    });
    // 2^k sets of specification states, all but k of which a smaller one makes superfluous. The
    // specification takes its one input everywhere that a trace leads to.
    for k in [18, 22] {
        let hard = models.make(&format!("hard-{k}"), &["hard", "--k", &k.to_string()]);
        cases.push(Case {
            name: format!("hard {k}, itself"),
            implementation: hard.clone(),
            specification: hard,
            relations: &["trace", "testing", "ioco", "ioconf"],
        });
    }
    for k in [18, 20] {
        partial(&models, k, &mut cases);
    }
    cases
}

/// The same counter behind an input that is taken once, so that every set of states leaves it open: an implementation that holds,
/// and one that says what nothing allows after k + 4 actions.
fn partial(models: &Models, k: usize, cases: &mut Vec<Case>) {
    let mut counter = vec![(0, "?go", 1), (1, "?a", 1), (1, "!x", 1), (1, "?a", 2)];
    counter.extend((2..=k).flat_map(|j| [(j, "?a", j + 1), (j, "!x", j + 1)]));
    counter.push((k + 1, "!y", k + 2));
    let specification = models.write(&format!("partial-{k}"), &counter);
    let (start, last) = ((0, "?go", 1), k + 5);
    let mut counting = vec![start, (last, "!z", last)];
    counting.extend((1..last).flat_map(|j| [(j, "?a", j + 1), (j, "!x", j + 1)]));
    let holds = [start, (1, "?a", 1), (1, "!x", 1)];
    for (name, transitions) in [("holds", &holds[..]), ("counting", &counting)] {
        cases.push(Case {
            name: format!("partial {k}, {name}"),
            implementation: models.write(&format!("partial-{k}-{name}"), transitions),
            specification: specification.clone(),
            relations: &["ioco", "ioconf"],
        });
    }
}

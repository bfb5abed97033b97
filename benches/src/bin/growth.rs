//! How the cost of a command grows with its input, where the work is linear: CPU time of `iolite` on
//! inputs of growing size, and the exponent that fits them best. An exponent above 1.15 is pointed out.
//!
//! `cargo build --release -p iolite-cli` first, then
//! `cargo run --release --manifest-path benches/Cargo.toml --bin growth`; an argument is the largest
//! number of transitions, or of lines of a log.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use iolite_benches::{Cost, Models, measure, measure_if_asked, median};
use iolite_formats::aut;

/// Runs that a median is of.
const ROUNDS: usize = 3;

/// What linear work may grow with, at most: logarithms, and caches that are too small.
const LINEAR: f64 = 1.15;

/// What starting the command costs is measured on an input of this size.
const TINY: usize = 160;

/// After ?a0 a complete machine is never silent, so verification walks all of it.
const OBSERVER: &str = "observer Answers {
  initial state Idle {
    ?a0 -> Asked
    * -> Idle
  }
  state Asked {
    delta -> Violate
    * -> Idle
  }
  violate state Violate
}
";

/// The files of one size.
struct Input {
    model: String,
    log: String,
}

struct Growth {
    iolite: PathBuf,
    folder: PathBuf,
    models: Models,
}

fn main() {
    measure_if_asked();
    let largest = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let largest: usize = largest.unwrap_or(1_000_000);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let iolite = std::env::var_os("IOLITE").map_or(target.join("release/iolite"), PathBuf::from);
    assert!(
        iolite.exists(),
        "{}: build iolite in release first",
        iolite.display()
    );
    let growth = Growth {
        iolite,
        folder: std::env::temp_dir().join(format!("iolite-growth-{}", std::process::id())),
        models: Models::new(),
    };
    fs::create_dir_all(&growth.folder).expect("a folder for temporary files");
    let sizes: Vec<usize> = [10_000, 31_600, 100_000, 316_000, 1_000_000, 3_160_000]
        .into_iter()
        .filter(|&n| n <= largest)
        .collect();
    let inputs: Vec<Input> = sizes.iter().map(|&n| growth.input(n)).collect();
    let tiny = growth.input(TINY);

    let columns: String = sizes.iter().map(|n| format!(" {n} |")).collect();
    println!("| command |{columns} exponent | |");
    println!("| --- |{} --- | --- |", " --- |".repeat(sizes.len()));
    for command in ["read", "relate", "verify", "derive", "monitor"] {
        let start = growth.cost(command, &tiny).seconds;
        let seconds: Vec<f64> = inputs
            .iter()
            .map(|input| (growth.cost(command, input).seconds - start).max(1e-4))
            .collect();
        let exponent = exponent(&sizes, &seconds);
        let mut row = format!("| {command} |");
        for s in &seconds {
            let _ = write!(row, " {s:.3} |");
        }
        let remark = if exponent > LINEAR {
            "**more than linear**"
        } else {
            ""
        };
        println!("{row} {exponent:.2} | {remark} |");
    }
    let _ = fs::remove_dir_all(&growth.folder);
}

impl Growth {
    /// A complete machine of so many transitions, and a log of so many lines that it allows.
    fn input(&self, size: usize) -> Input {
        let states = (size / 16).max(2).to_string();
        let shape = ["--inputs", "8", "--outputs", "8"];
        let args = [&["mealy", "--states", &states], shape.as_slice()].concat();
        let model = self.models.make(&format!("mealy-{size}"), &args);
        let log = self.folder.join(format!("{size}.jsonl"));
        fs::write(&log, walk(&model, size)).expect("a log can be written");
        Input {
            model,
            log: log.display().to_string(),
        }
    }

    fn cost(&self, command: &str, input: &Input) -> Cost {
        let model = input.model.as_str();
        let suite = self.folder.join("suite").display().to_string();
        let observer = self.folder.join("answers.iol");
        fs::write(&observer, OBSERVER).expect("an observer can be written");
        let observer = observer.display().to_string();
        let args: Vec<&str> = match command {
            "read" => vec!["check", model],
            // One thread: this is about growth, and CPU time counts all threads anyway.
            "relate" => vec!["relate", "trace", model, model, "--jobs", "1"],
            "verify" => vec!["verify", model, "--property", &observer, "--jobs", "1"],
            "derive" => {
                let cover = ["derive", model, "--cover", "transitions", "--jobs", "1"];
                [cover.as_slice(), &["-o", &suite]].concat()
            }
            _ => vec!["monitor", model, &input.log],
        };
        let costs: Vec<Cost> = (0..ROUNDS)
            .map(|_| {
                let _ = fs::remove_dir_all(&suite);
                measure(&self.iolite, &args)
            })
            .collect();
        assert_eq!(costs[0].code, 0, "iolite {}", args.join(" "));
        median(&costs)
    }
}

/// A walk through a model as JSON lines. Which step is taken depends on a fixed sequence of numbers.
fn walk(model: &str, lines: usize) -> String {
    let bytes = fs::read(model).expect("the model is there");
    let lts = aut::read(&bytes, &aut::AutOptions::default()).expect("the model is well formed");
    let lts = lts.value;
    let mut text = String::new();
    let (mut at, mut number) = (lts.initial(), 1_u64);
    for _ in 0..lines {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let steps = lts.steps(at);
        let (label, next) = steps[(number >> 33) as usize % steps.len()];
        let _ = writeln!(text, "{{\"action\":\"{}\"}}", lts.labels().text(label));
        at = next;
    }
    text
}

/// The slope of the line that fits the logarithms best.
fn exponent(sizes: &[usize], seconds: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = sizes
        .iter()
        .zip(seconds)
        .map(|(&n, &s)| ((n as f64).ln(), s.ln()))
        .collect();
    let count = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    covariance / variance
}

//! Time and memory to an answer for small programs with data, beside Z3's Spacer on the same problems
//! as Horn clauses; for a sender with growing constants; and how polyhedra grow with variables.
//!
//! Each answer is that of a process of its own, so start-up counts on both sides.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin verify [Z3]`

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use iolite_benches::{Cost, measure, measure_if_asked, median};
use iolite_expr::Solver;
use iolite_lts::QuiescencePolicy;
use iolite_sts::analysis::{
    Problem, Strength, VerifyBudget, described, horn_clauses, satisfies, watch,
};
use iolite_sts::{Iosts, LocationId};

#[path = "../../../crates/iolite/tests/programs/mod.rs"]
mod programs;

/// Interleaved runs of each side.
const RUNS: usize = 3;

/// Spacer is stopped after so many seconds.
const LIMIT: &str = "-T:20";

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// The system and the observer of a text.
fn lowered(text: &str) -> (Iosts, Iosts, Vec<LocationId>) {
    let (file, _) = iolite_lang::parse(text);
    let system = iolite_lang::lower_data(&file, "P").expect("a system with data");
    let observer = iolite_lang::lower_data_observer(&file, "Never", &system).expect("an observer");
    (system, observer.iosts, observer.violate)
}

/// The sender with `max` fixed, and the programs by name.
fn text(name: &str) -> String {
    let find = |name: &str| programs::PROGRAMS.iter().find(|p| p.name == name);
    match name.strip_prefix("max=") {
        Some(max) => {
            let sender = find("sender_with_symbolic_max").expect("the sender");
            let whole = programs::text(sender);
            whole.replace("assume max >= 1", &format!("assume max == {max}"))
        }
        None => programs::text(find(name).expect("a program")),
    }
}

/// Answers one problem: 0 proved, 1 refuted, 3 unknown.
fn solve(name: &str) -> i32 {
    let (system, observer, violate) = lowered(&text(name));
    let mut solver = Solver::embedded();
    let budget = VerifyBudget::default();
    let found = satisfies(&system, &observer, &violate, POLICY, &mut solver, budget);
    match found.expect("they are compatible").1.decided() {
        Some(true) => 0,
        Some(false) => 1,
        None => 3,
    }
}

/// The problem as Horn clauses, in a file; none where its data are beyond numbers and Booleans.
fn clauses(name: &str, folder: &Path) -> Option<PathBuf> {
    let (system, observer, violate) = lowered(&text(name));
    let watched = watch(&system, &observer, &violate, POLICY).expect("they are compatible");
    let (model, marked) = watched.for_proofs();
    let script = horn_clauses(&Problem::new(model, marked)).script().ok()?;
    let path = folder.join(format!("{name}.smt2"));
    std::fs::write(&path, script).expect("a file is written");
    Some(path)
}

/// What Spacer says: `unsat` of the clauses is a violation.
fn spacer_says(z3: &str, script: &str) -> &'static str {
    let output = Command::new(z3).args([LIMIT, script]).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    match text.unwrap_or_default().trim() {
        "sat" => "proved",
        "unsat" => "refuted",
        _ => "unknown",
    }
}

/// What we take, and what Spacer takes and says.
fn compare(name: &str, z3: &str, folder: &Path) -> (Cost, Option<(Cost, &'static str)>) {
    let this = std::env::current_exe().expect("this program has a path");
    let script = clauses(name, folder);
    let script = script.as_ref().map(|s| s.to_str().expect("a plain path"));
    let (mut ours, mut spacer) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(measure(&this, &["--solve", name]));
        spacer.extend(script.map(|script| measure(Path::new(z3), &[LIMIT, script])));
    }
    let spacer = script.map(|script| (median(&spacer), spacer_says(z3, script)));
    (median(&ours), spacer)
}

/// The ratio, where Spacer has the problem too, and whether we have no answer.
fn row(name: &str, z3: &str, folder: &Path) -> (Option<f64>, bool) {
    let (ours, spacer) = compare(name, z3, folder);
    let said = match ours.code {
        0 => "proved",
        1 => "refuted",
        _ => "unknown",
    };
    let unknown = ours.code == 3;
    let Some((spacer, answer)) = spacer else {
        println!(
            "| {name} | {said} | | {:.3} | | | {:.0} | |",
            ours.seconds, ours.megabytes
        );
        return (None, unknown);
    };
    let ratio = ours.seconds / spacer.seconds.max(0.001);
    println!(
        "| {name} | {said} | {answer} | {:.3} | {:.3} | {ratio:.2} | {:.0} | {:.0} |",
        ours.seconds, spacer.seconds, ours.megabytes, spacer.megabytes
    );
    (Some(ratio), unknown)
}

/// Counters that take from one another; what they have together stays the same.
fn counters(count: usize) -> Iosts {
    let vars: Vec<String> = (0..count).map(|k| format!("x{k}: int = {k}")).collect();
    let steps = (0..count).map(|k| {
        let next = (k + 1) % count;
        format!("?go(n) [n >= 0 && n <= x{k}] / x{k} := x{k} - n, x{next} := x{next} + n -> S")
    });
    let steps: Vec<String> = steps.collect();
    let text = format!(
        "system P {{ var {} input go(n: int) output bad initial state S {{ {} }} }}",
        vars.join(", "),
        steps.join(" ")
    );
    let (file, _) = iolite_lang::parse(&text);
    iolite_lang::lower_data(&file, "P").expect("a system with data")
}

fn main() {
    measure_if_asked();
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = args.as_slice()
        && flag == "--solve"
    {
        std::process::exit(solve(name));
    }
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/z3/bin/z3");
    let z3 = args.first().map_or(bundled, String::as_str);
    let folder = std::env::temp_dir().join(format!("iolite-verify-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder is made");
    let head = "| iolite | Spacer | iolite s | Spacer s | ratio | iolite MB | Spacer MB |";
    println!("| program {head}\n| --- | --- | --- | --- | --- | --- | --- | --- |");
    let rows = programs::PROGRAMS.iter();
    let (ratios, unknown): (Vec<Option<f64>>, Vec<bool>) =
        rows.map(|p| row(p.name, z3, &folder)).unzip();
    let mut ratios: Vec<f64> = ratios.into_iter().flatten().collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "\nMedian ratio {:.2}, {} of {} within 2, {} unknown.\n",
        ratios[ratios.len() / 2],
        ratios.iter().filter(|r| **r <= 2.0).count(),
        ratios.len(),
        unknown.iter().filter(|u| **u).count()
    );
    println!("| sender {head}\n| --- | --- | --- | --- | --- | --- | --- | --- |");
    for max in ["10", "1000", "100000", "10000000"] {
        row(&format!("max={max}"), z3, &folder);
    }
    println!("\n| counters | boxes s | octagons s | polyhedra s |\n| --- | --- | --- | --- |");
    for count in 2..=8 {
        let model = counters(count);
        let time = |strength| {
            let started = Instant::now();
            let found = described(&model, strength, u64::MAX);
            assert!(found.is_some(), "a fixpoint");
            started.elapsed().as_secs_f64()
        };
        println!(
            "| {count} | {:.4} | {:.4} | {:.4} |",
            time(Strength::Boxes),
            time(Strength::Octagons),
            time(Strength::Polyhedra)
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
}

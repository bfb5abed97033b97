//! Reading `.aut`, building rows, and suspension + determinisation, on generated families.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin kernel`

use std::time::Instant;

use iolite_benches::Models;
use iolite_formats::aut;
use iolite_lts::{Determinised, QuiescencePolicy, SetId, Suspension};
use nix::sys::resource::{UsageWho, getrusage};

fn main() {
    if let Some(path) = std::env::args().nth(1) {
        one(&path);
        return;
    }
    let models = Models::new();
    let this = std::env::current_exe().expect("a path");
    println!(
        "| model | states | transitions | read s | sets | set steps | determinise s | sets/s | peak MB |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for size in [10_000, 100_000, 1_000_000] {
        let (states, trans) = ((size / 3).to_string(), size.to_string());
        let args = ["random", "--states", &states, "--trans", &trans];
        let args = [
            &args,
            ["--inputs", "8", "--outputs", "8", "--tau", "0.05"].as_slice(),
        ]
        .concat();
        report(
            &this,
            "random",
            &models.make(&format!("random-{size}"), &args),
        );
    }
    report(
        &this,
        "product 7 × 5",
        &models.make("product-7-5", &["product", "--n", "7", "--len", "5"]),
    );
    report(
        &this,
        "hard 18",
        &models.make("hard-18", &["hard", "--k", "18"]),
    );
}

/// Each model in a process of its own, so that the peak is its own.
fn report(this: &std::path::Path, name: &str, path: &str) {
    let output = std::process::Command::new(this)
        .arg(path)
        .output()
        .expect("it starts");
    print!("| {name} | {}", String::from_utf8_lossy(&output.stdout));
}

fn one(path: &str) {
    let start = Instant::now();
    let bytes = std::fs::read(path).expect("the model is there");
    let lts = aut::read(&bytes, &aut::AutOptions::default())
        .expect("the model is well formed")
        .value;
    drop(bytes);
    let read = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut view = Determinised::new(Suspension::new(&lts, QuiescencePolicy::Livelock));
    view.initial();
    let (mut sets, mut steps) = (0, 0);
    while sets < view.set_count() {
        steps += view.row_in_order(SetId::new(sets)).len();
        sets += 1;
    }
    let time = start.elapsed().as_secs_f64();
    let peak = getrusage(UsageWho::RUSAGE_SELF)
        .expect("usage is known")
        .max_rss() as f64
        / 1024.0;
    println!(
        "{} | {} | {read:.3} | {sets} | {steps} | {time:.3} | {:.0} | {peak:.0} |",
        lts.state_count(),
        lts.transition_count(),
        sets as f64 / time
    );
}

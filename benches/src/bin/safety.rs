//! Safety: verification, the complete test graph, and the first stimulus of the on-the-fly test.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin safety`

use std::sync::Arc;
use std::time::Instant;

use iolite_benches::Models;
use iolite_derive::{Guide, Menu, SafetyTest, SafetyTester, Satisfaction, Tester, verify};
use iolite_formats::aut;
use iolite_lts::{Lts, QuiescencePolicy, StateId, Suspension};
use iolite_property::star_automaton::{Edge, On, Place};
use iolite_property::{AutomatonSource, Observer, ObserverRules};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

fn main() {
    let models = Models::new();
    println!(
        "| model | transitions | verify s | answer | whole graph s | nodes | first stimulus ms | \
         whole / first |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for size in [10_000, 100_000, 1_000_000] {
        let (states, trans) = ((size / 3).to_string(), size.to_string());
        let args = ["random", "--states", &states, "--trans", &trans, "--det"];
        let shape = ["--inputs", "8", "--outputs", "8", "--tau", "0"];
        let path = models.make(&format!("det-{size}"), &[&args, shape.as_slice()].concat());
        let bytes = std::fs::read(path).expect("the model is there");
        let options = aut::AutOptions::default();
        let lts = aut::read(&bytes, &options)
            .expect("the model is well formed")
            .value;
        row(&lts);
    }
}

/// "After ?a0 the output !zz, which no specification has, never comes": true of every model, so
/// verification must walk all of it.
fn observer(lts: &Lts) -> (Lts, Observer) {
    let mut labels = lts.labels().clone();
    let zz = labels.intern_text("!zz");
    let labels = Arc::new(labels);
    let map: Vec<_> = lts.labels().iter().map(|(id, _)| id).collect();
    let lts = lts.over(Arc::clone(&labels), &map);
    let a0 = labels.get_text("?a0").expect("the model has ?a0");
    let edge = |source, on, target| Edge {
        source: StateId::new(source),
        on,
        target: StateId::new(target),
        line: 0,
    };
    let source = AutomatonSource {
        name: "no zz".to_owned(),
        labels,
        states: ["idle", "armed", "bad"]
            .map(|name| Place::new(name, 0))
            .to_vec(),
        initial: StateId::FIRST,
        edges: vec![
            edge(0, On::Label(a0), 1),
            edge(0, On::Any, 0),
            edge(1, On::Label(zz), 2),
            edge(1, On::Any, 1),
        ],
    };
    let observer = Observer::new(source, &[StateId::new(2)], ObserverRules::Definition5);
    (lts, observer.expect("a sound observer"))
}

fn row(lts: &Lts) {
    let (lts, observer) = observer(lts);
    let start = Instant::now();
    let view = Suspension::new(&lts, POLICY);
    let answers = verify(&view, std::slice::from_ref(&observer), usize::MAX).answers;
    let verified = start.elapsed().as_secs_f64();
    let answer = match &answers[0] {
        Satisfaction::Holds => "proved",
        Satisfaction::Violated { .. } => "refuted",
        Satisfaction::Unknown => "unknown",
    };

    let start = Instant::now();
    let mut tester = SafetyTester::explicit(&lts, POLICY, vec![observer.clone()]);
    let mut menu = Menu::default();
    tester.menu(&mut menu);
    let hint = tester.hint(&menu);
    let first = start.elapsed().as_secs_f64() * 1000.0;
    assert!(hint.is_some() || menu.observe, "there is something to do");

    let start = Instant::now();
    let test = SafetyTest::build(&lts, POLICY, observer, usize::MAX).expect("no limit");
    let built = start.elapsed().as_secs_f64();
    println!(
        "| random, deterministic | {} | {verified:.3} | {answer} | {built:.3} | {} | {first:.2} | \
         {:.0} |",
        lts.transition_count(),
        test.graph().lts().state_count(),
        built * 1000.0 / first
    );
}

//! Product, composition, hiding, renaming, instances and lints.
#![allow(missing_docs)]

mod support;

use std::collections::BTreeSet;

use iolite_expr::{Solver, Sort, Span, Value};
use iolite_lts::{Composition, Determinised, Gates, Interned, Lts, QuiescencePolicy, Suspension};
use iolite_sts::{Builder, Iosts, LabelKind, Lint, UnfoldBudget};
use support::random_model;

const HERE: Span = Span { start: 3, end: 4 };

fn unfold(model: &Iosts) -> Lts {
    let model = if model.constants().is_empty() {
        model.clone()
    } else {
        let names: Vec<String> = model
            .constants()
            .iter()
            .map(|c| c.var.name.to_string())
            .collect();
        let values: Vec<(&str, Value)> =
            names.iter().map(|n| (n.as_str(), Value::from(1))).collect();
        model.instance(model.name(), &values).unwrap()
    };
    model
        .unfold(&mut Solver::embedded(), UnfoldBudget::default())
        .unwrap()
}

/// The traces up to a length, without δ, as text.
fn traces(lts: &Lts, length: usize) -> BTreeSet<Vec<String>> {
    let mut view = Determinised::new(lts);
    let mut all = BTreeSet::from([Vec::new()]);
    let start = view.initial();
    let mut layer = vec![(Vec::<String>::new(), start)];
    for _ in 0..length {
        let mut next = Vec::new();
        for (trace, set) in layer {
            let row = view.row(set).to_vec();
            for (label, to) in row {
                let mut longer = trace.clone();
                longer.push(lts.labels().text(label));
                all.insert(longer.clone());
                next.push((longer, to));
            }
        }
        layer = next;
    }
    all
}

#[test]
fn the_product_has_the_common_traces() {
    // Traces(S₁ || S₂) = Traces(S₁) ∩ Traces(S₂) [SYM04, lemma 1].
    for seed in 0..40 {
        let (a, b) = (random_model(seed), random_model(seed + 1_000));
        let product = a.product(&b).unwrap();
        let (x, y) = (traces(&unfold(&a), 4), traces(&unfold(&b), 4));
        let common: BTreeSet<Vec<String>> = x.intersection(&y).cloned().collect();
        assert_eq!(traces(&unfold(&product), 4), common, "seed {seed}");
    }
}

#[test]
fn composing_then_unfolding_is_unfolding_then_composing() {
    for seed in 0..30 {
        let (a, b) = (random_model(seed), random_model(seed + 2_000));
        // Explicit labels carry values in their names, so the gates are actions without any.
        let symbolic = Gates::Names(["b", "v"].map(String::from).into());
        let together = unfold(&a.compose(&b, &symbolic).unwrap());
        let (x, y) = (unfold(&a), unfold(&b));
        let explicit = Interned::new(Composition::new(&x, &y, &symbolic).unwrap());
        let explicit = iolite_lts::explore(&explicit, 100_000).unwrap();
        assert_eq!(traces(&together, 3), traces(&explicit, 3), "seed {seed}");
    }
}

#[test]
fn values_pass_between_components() {
    let int = || Sort::range(0, 3).unwrap();
    let mut b = Builder::new("Producer");
    let out = b
        .gate(LabelKind::Output, "mid", &[("m", int())], HERE)
        .unwrap();
    let get = b
        .gate(LabelKind::Input, "get", &[("g", int())], HERE)
        .unwrap();
    let x = b.variable("x", int(), Some(0.into()), HERE).unwrap();
    let (p, q) = (
        b.location("P", true, HERE).unwrap(),
        b.location("Q", false, HERE).unwrap(),
    );
    let g = b.params(get)[0].term();
    b.transition(p, get, None, vec![(x.clone(), g)], q, HERE)
        .unwrap();
    let m = b.params(out)[0].term();
    b.transition(q, out, Some(m.equals(&x).unwrap()), vec![], p, HERE)
        .unwrap();
    let producer = b.build().unwrap();

    let mut b = Builder::new("Consumer");
    let mid = b
        .gate(LabelKind::Input, "mid", &[("k", int())], HERE)
        .unwrap();
    let put = b
        .gate(LabelKind::Output, "put", &[("w", int())], HERE)
        .unwrap();
    let x = b.variable("x", int(), Some(0.into()), HERE).unwrap();
    let (p, q) = (
        b.location("P", true, HERE).unwrap(),
        b.location("Q", false, HERE).unwrap(),
    );
    let k = b.params(mid)[0].term();
    b.transition(
        p,
        mid,
        Some(k.gt(0).unwrap()),
        vec![(x.clone(), k)],
        q,
        HERE,
    )
    .unwrap();
    let w = b.params(put)[0].term();
    b.transition(q, put, Some(w.equals(&x).unwrap()), vec![], p, HERE)
        .unwrap();
    let consumer = b.build().unwrap();

    let gates = Gates::Names(["mid".to_owned()].into());
    let net = producer.compose(&consumer, &gates).unwrap();
    let kinds: Vec<String> = net.gates().map(|(_, a)| a.to_string()).collect();
    assert_eq!(kinds, ["!mid(m: 0..3)", "?get(g: 0..3)", "!put(w: 0..3)"]);
    let net = net
        .hide(&["mid"])
        .unwrap()
        .rename(&[("put", "give")])
        .unwrap();
    let lts = unfold(&net);
    let seen = traces(&lts, 2);
    assert!(seen.contains(&vec!["?get(2)".to_owned(), "!give(2)".to_owned()]));
    assert!(!seen.contains(&vec!["?get(2)".to_owned(), "!give(1)".to_owned()]));
    // A value that nobody takes blocks: the net is silent after it.
    let mut view = Determinised::new(Suspension::new(&lts, QuiescencePolicy::Livelock));
    let start = view.initial();
    let label = lts.labels().get_text("?get(0)").unwrap();
    let after = view.after(start, label).unwrap();
    let out: Vec<String> = view
        .out(after)
        .into_iter()
        .map(|l| lts.labels().text(l))
        .collect();
    assert_eq!(out, ["delta"]);
    assert!(producer.hide(&["nothing"]).is_err());
    assert!(producer.product(&consumer).is_err());
}

#[test]
fn lints_have_witnesses() {
    let mut b = Builder::new("Doubtful");
    let c = b.constant("c", Sort::Int, HERE).unwrap();
    b.assume(c.term().gt(5).unwrap()).unwrap();
    let a = b
        .gate(LabelKind::Input, "a", &[("p", Sort::Int)], HERE)
        .unwrap();
    let p = b.params(a)[0].term();
    let l: Vec<_> = (0..4)
        .map(|i| b.location(&format!("L{i}"), i == 0, HERE).unwrap())
        .collect();
    let mut t = |guard, to| {
        b.transition(l[0], a, Some(guard), vec![], l[to], HERE)
            .unwrap();
    };
    t(p.gt(&c).unwrap(), 1);
    t(p.gt(10).unwrap(), 2);
    t(p.lt(3).unwrap().and(p.gt(&c).unwrap()).unwrap(), 3);
    let found = b.build().unwrap().lint(&mut Solver::embedded());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(matches!(&found[0], Lint::NeverTrue { transition } if transition.index() == 2));
    let Lint::Overlap {
        first,
        second,
        witness,
    } = &found[1]
    else {
        panic!("{found:?}")
    };
    assert_eq!((first.index(), second.index()), (0, 1));
    assert!(witness.value(p.as_var().unwrap().id).is_some());
    assert!(matches!(&found[2], Lint::Unreachable { location } if location.index() == 3));
    assert!(
        support::brp_sender(true)
            .lint(&mut Solver::embedded())
            .is_empty()
    );
}

#[test]
fn the_builder_refuses_what_does_not_fit() {
    let mut b = Builder::new("Bad");
    let x = b
        .variable("x", Sort::range(0, 7).unwrap(), Some(3.into()), HERE)
        .unwrap();
    assert_eq!(
        b.variable("x", Sort::Int, None, HERE).unwrap_err().span,
        HERE
    );
    let e = b
        .variable("y", Sort::range(0, 7).unwrap(), Some(9.into()), HERE)
        .unwrap_err();
    assert_eq!(e.to_string(), "9 does not fit 0..7");
    let a = b
        .gate(LabelKind::Input, "a", &[("p", Sort::Int)], HERE)
        .unwrap();
    let o = b.gate(LabelKind::Output, "o", &[], HERE).unwrap();
    assert!(b.gate(LabelKind::Delta, "delta", &[], HERE).is_err());
    let l = b.location("L", true, HERE).unwrap();
    assert!(b.location("M", true, HERE).is_err());
    let p = b.params(a)[0].term();
    let e = b
        .transition(l, o, Some(p.gt(1).unwrap()), vec![], l, HERE)
        .unwrap_err();
    assert_eq!(e.to_string(), "the guard reads p, which is not in scope");
    let e = b
        .transition(l, a, Some(p.plus(1).unwrap()), vec![], l, HERE)
        .unwrap_err();
    assert_eq!(e.to_string(), "expected bool, found int");
    let twice = vec![(x.clone(), p.clone()), (x.clone(), 1.into())];
    let e = b.transition(l, a, None, twice, l, HERE).unwrap_err();
    assert_eq!(e.to_string(), "x is assigned twice");
    let e = b
        .transition(l, a, None, vec![(x, true.into())], l, HERE)
        .unwrap_err();
    assert_eq!(e.to_string(), "expected 0..7, found bool");
}

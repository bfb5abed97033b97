use iolite_lts::{Lts, LtsBuilder, StateId};

use super::*;

fn svg(lts: &Lts) -> String {
    let mut text = String::new();
    write(&Drawing::of_lts("test", lts, &[]), &mut text).expect("small enough");
    text
}

fn system(edges: &[(usize, &str, usize)]) -> Lts {
    let mut b = LtsBuilder::new();
    for &(s, l, t) in edges {
        b.transition_text(StateId::new(s), l, StateId::new(t));
    }
    b.build().expect("states")
}

#[test]
fn every_state_and_label_is_drawn_once() {
    let lts = system(&[
        (0, "?a", 1),
        (0, "?<b>&", 1),
        (1, "!x", 0),
        (1, "i", 1),
        (0, "!z", 2),
    ]);
    let text = svg(&lts);
    for needle in [
        ">0<",
        ">1<",
        ">2<",
        ">?a<",
        ">?&lt;b&gt;&amp;<",
        ">!x<",
        ">τ<",
        ">!z<",
    ] {
        assert_eq!(text.matches(needle).count(), 1, "{needle}");
    }
    // Three edges, a loop and the initial arrow.
    assert_eq!(text.matches("url(#arrow)").count(), 5);
}

#[test]
fn no_two_things_of_a_layer_overlap() {
    let edges: Vec<(usize, String, usize)> = (0..40)
        .map(|k| (k * 7 % 12, format!("!label{k}"), k * 5 % 12))
        .collect();
    let edges: Vec<_> = edges.iter().map(|(s, l, t)| (*s, l.as_str(), *t)).collect();
    let lts = system(&edges);
    let mut layers =
        layers::Layers::new(&Drawing::of_lts("test", &lts, &[]), MOST_PLACES).expect("small");
    order::reduce_crossings(&mut layers);
    let drawing = place::place(&layers);
    for layer in &layers.rows {
        for pair in layer.windows(2) {
            let (a, b) = (&layers.items[pair[0]], &layers.items[pair[1]]);
            assert!(drawing.x[pair[0]] + a.right < drawing.x[pair[1]] - b.left);
        }
    }
}

#[test]
fn what_nobody_could_read_is_refused() {
    let chain: Vec<(usize, &str, usize)> = (0..=MOST_STATES).map(|k| (k, "a", k + 1)).collect();
    let lts = system(&chain);
    let mut text = String::new();
    assert!(matches!(
        write(&Drawing::of_lts("test", &lts, &[]), &mut text),
        Err(SvgError::TooBig { .. })
    ));
}

#[test]
fn long_labels_are_told_apart() {
    let stem = "!alert_with_a_very_long_name_that_nobody_would_write_by_hand_";
    let names: Vec<String> = (0..3).map(|k| format!("{stem}{k}")).collect();
    let lts = system(&[(0, &names[0], 1), (0, &names[1], 2), (0, &names[2], 3)]);
    let text = svg(&lts);
    for (k, name) in names.iter().enumerate() {
        assert!(text.contains(&format!("<title>{name}</title>")), "{name}");
        assert_eq!(text.matches(&format!("by_hand_{k}</text>")).count(), 1);
    }
}

#[test]
fn labels_with_blanks_are_wrapped() {
    let guard = "?REQ(l) [l > head and last == 0 and not busy] / last := l, head := head + 1";
    let edge = |label: &str| crate::drawing::Edge {
        source: crate::drawing::NodeId::new(0),
        target: crate::drawing::NodeId::new(1),
        label: label.to_owned(),
        kind: iolite_lts::LabelKind::Input,
    };
    let drawing = Drawing {
        nodes: vec![crate::drawing::Node::default(); 2],
        edges: vec![edge(guard)],
        ..Drawing::default()
    };
    let mut text = String::new();
    write(&drawing, &mut text).expect("small");
    assert!(text.contains(">?REQ(l) [l &gt; head and last == 0 and not busy] /</text>"));
    assert!(text.contains(">last := l, head := head + 1</text>"));
}

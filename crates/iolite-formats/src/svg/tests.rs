use iolite_lts::LtsBuilder;

use super::*;

fn svg(lts: &Lts) -> String {
    let mut text = String::new();
    write(lts, &SvgOptions::default(), &mut text).expect("small enough");
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
    let mut layers = layers::Layers::new(&lts, MOST_PLACES).expect("small");
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
        write(&lts, &SvgOptions::default(), &mut text),
        Err(SvgError::TooBig { .. })
    ));
}

//! Machines that were read as Mealy machines are drawn as such.

use iolite_lts::LabelKind;

use super::{Drawing, Edge, NodeId};

impl Drawing {
    /// The same with `a / x` on one edge where `?a` leads to a state that the reader of Mealy machines put
    /// between input and output (`dot/mealy.rs`), and `!x` from there. States that somebody named stay.
    #[must_use]
    pub fn with_mealy_edges(self) -> Self {
        let count = self.nodes.len();
        let (mut incoming, mut outgoing) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (k, edge) in self.edges.iter().enumerate() {
            incoming[edge.target.index()].push(k);
            outgoing[edge.source.index()].push(k);
        }
        // The edge that leaves a state between, for those that are.
        let between = |id: NodeId| {
            let node = self.node(id);
            let ([into], [out]) = (&incoming[id.index()][..], &outgoing[id.index()][..]) else {
                return None;
            };
            let (into, out) = (&self.edges[*into], &self.edges[*out]);
            let (line, input) = node.name.split_once(':')?;
            let own = !line.is_empty()
                && line.bytes().all(|b| b.is_ascii_digit())
                && into.label.strip_prefix('?') == Some(input.strip_prefix('?').unwrap_or(input));
            let kinds = into.kind == LabelKind::Input && out.kind == LabelKind::Output;
            (own && kinds && self.initial != Some(id) && !node.accepting).then_some(out)
        };
        let out: Vec<Option<&Edge>> = self.ids().map(between).collect();
        if out.iter().all(Option::is_none) {
            return self;
        }
        let mut places = Vec::with_capacity(count);
        let mut nodes = Vec::new();
        for (node, out) in self.nodes.iter().zip(&out) {
            places.push(NodeId::new(nodes.len()));
            if out.is_none() {
                nodes.push(node.clone());
            }
        }
        let place = |id: NodeId| places[id.index()];
        let edges = self.edges.iter().filter_map(|edge| {
            if out[edge.source.index()].is_some() {
                return None;
            }
            let (target, label) = match out[edge.target.index()] {
                None => (edge.target, edge.label.clone()),
                Some(next) => {
                    let bare =
                        |text: &'_ str, sign| text.strip_prefix(sign).unwrap_or(text).to_owned();
                    let label = format!("{} / {}", bare(&edge.label, '?'), bare(&next.label, '!'));
                    (next.target, label)
                }
            };
            Some(Edge {
                source: place(edge.source),
                target: place(target),
                label,
                kind: edge.kind,
            })
        });
        Self {
            path: None,
            edges: edges.collect(),
            initial: self.initial.map(place),
            title: self.title.clone(),
            nodes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::{DotMode, DotOptions, MealyOptions, read};

    const MACHINE: &str = "digraph {
  __start0 -> s0;
  s0 -> s1 [label=\"coin / ok\"];
  s0 -> s0 [label=\"push / no\"];
  s1 -> s0 [label=\"push / through\"];
  s1 -> s1 [label=\"coin / silent\"];
}";

    #[test]
    fn a_mealy_machine_stays_one() {
        let silent_outputs = vec!["silent".to_owned()];
        let options = DotOptions {
            mode: DotMode::Mealy(MealyOptions { silent_outputs }),
            ..DotOptions::default()
        };
        let Ok(loaded) = read(MACHINE.as_bytes(), &options) else {
            panic!("a machine");
        };
        let split = Drawing::of_lts("m", &loaded.value, &[]);
        assert_eq!(split.nodes.len(), 5);
        let drawn = split.with_mealy_edges();
        let names: Vec<&str> = drawn.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names, ["s0", "s1"]);
        let mut edges: Vec<String> = drawn
            .edges
            .iter()
            .map(|e| format!("{} {} {}", e.source.index(), e.label, e.target.index()))
            .collect();
        edges.sort();
        assert_eq!(
            edges,
            [
                "0 coin / ok 1",
                "0 push / no 0",
                "1 ?coin 1",
                "1 push / through 0"
            ]
        );
    }

    #[test]
    fn states_with_names_stay() {
        let (file, _) = iolite_lang::parse(
            "system S { input a output x initial state P { ?a -> Q } state Q { !x -> P } }",
        );
        let lts = iolite_lang::lower_system(&file, "S", 10).expect("two states");
        let drawing = Drawing::of_lts("S", &lts, &[]);
        assert_eq!(drawing.clone().with_mealy_edges(), drawing);
    }
}

//! Random models and a look at certificates, for several tests.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::path::Path;

use iolite::{CheckOutcome, ExplainOptions, WholeCertificate, Workspace};

/// A small generator, so that failures repeat.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

pub const DIRECTED: [&str; 5] = ["?a", "?b", "!x", "!y", "i"];
pub const PLAIN: [&str; 4] = ["a", "b", "c", "i"];

pub fn model(random: &mut Random, labels: &[&str]) -> String {
    let states = 2 + random.below(3);
    let count = 2 + random.below(6);
    let mut text = format!("des (0, {count}, {states})\n");
    for _ in 0..count {
        let (from, to) = (random.below(states), random.below(states));
        text += &format!("({from}, \"{}\", {to})\n", random.pick(labels));
    }
    text
}

pub fn explain(workspace: &Workspace, certificate: &WholeCertificate) -> CheckOutcome {
    let path = Path::new("c.json");
    workspace.insert(
        path,
        serde_json::to_vec(certificate).expect("a certificate"),
    );
    let explained = workspace.explain(path, &ExplainOptions::default());
    explained.map_or_else(|e| CheckOutcome::Refuted(e.to_string()), |e| e.checked)
}

/// A random model in which every visible action occurs; `None` where one is missing.
pub fn model_with_all_actions(random: &mut Random) -> Option<String> {
    let text = model(random, &DIRECTED);
    let visible = &DIRECTED[..4];
    visible.iter().all(|l| text.contains(l)).then_some(text)
}

/// An action more (0), one less (1) or another one (2) in the trace of a certificate, which for the
/// latter two has one.
pub fn edit_trace(random: &mut Random, c: &mut WholeCertificate, kind: usize, labels: &[&str]) {
    match kind {
        0 => {
            let at = random.below(c.trace.len() + 1);
            let new = random.pick(labels).to_owned();
            c.trace.insert(at, new);
        }
        1 => drop(c.trace.remove(random.below(c.trace.len()))),
        _ => {
            let at = random.below(c.trace.len());
            random.pick(labels).clone_into(&mut c.trace[at]);
        }
    }
}

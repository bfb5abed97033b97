//! Random models and a look at certificates, for several tests.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeSet;
use std::path::Path;

use iolite::{CheckOutcome, ExplainOptions, Observation, WholeCertificate, Workspace};
use iolite_derive::{Action, Alphabet, Meaning, Oracle, Step};
use iolite_lts::LabelKind;

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

/// What the producer's view says of a trace.
pub struct Explained {
    pub allowed: BTreeSet<Observation>,
    pub places: BTreeSet<String>,
    /// Whether the observation after it is forbidden.
    pub wrong: bool,
}

/// `None` where the trace is not explained, or anything may follow.
pub fn explained<O: Oracle>(mut view: O, trace: &[String], observed: &str) -> Option<Explained> {
    // An action that nobody declared is one all the same.
    let step = |alphabet: &Alphabet, text: &str| {
        let action = |kind| {
            let foreign = || alphabet.intern(Action::plain(kind, &text[1..]));
            alphabet.declared(text).unwrap_or_else(foreign)
        };
        match text.as_bytes() {
            b"delta" => Some(Step::Quiescence),
            [b'?', ..] => Some(Step::Stimulus(action(LabelKind::Input))),
            [b'!', ..] => Some(Step::Output(action(LabelKind::Output))),
            _ => None,
        }
    };
    let mut at = view.initial().ok()?;
    for action in trace {
        let step = step(view.alphabet(), action)?;
        at = match view.after(&at, step).ok()? {
            Meaning::Allowed(next) => next,
            _ => return None,
        };
    }
    let last = step(view.alphabet(), observed).filter(|step| !step.is_stimulus())?;
    let wrong = match view.after(&at, last).ok()? {
        Meaning::Forbidden => true,
        Meaning::Allowed(_) => false,
        // Where anything may follow, nothing is wrong.
        _ => return None,
    };
    Some(Explained {
        allowed: view.out(&at).into_iter().map(Observation::Action).collect(),
        places: view.places(&at).locations.into_iter().collect(),
        wrong,
    })
}

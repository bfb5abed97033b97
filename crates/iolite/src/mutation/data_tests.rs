//! Mutants of models with data are sorted alike by their states and by formulas.

use std::path::PathBuf;

use iolite_derive::ModelRef;
use iolite_lang::mutation::{Mutations, Operator};

use super::examine::BUDGET;
use super::{MutationOptions, pick};
use crate::{RelationOptions, SemanticsOptions, Workspace};

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A small machine with one variable; inputs and outputs take turns, so it has a deterministic form.
fn model(random: &mut Random) -> String {
    let guard = random.one(&["k < 2", "k != n", "k <= n", "true", "k + n < 4"]);
    let effect = random.one(&[
        "n := k",
        "n := min(n + k, 3)",
        "n := 3 - n",
        "n := max(n - 1, 0)",
    ]);
    let shown = random.one(&["v == n", "v == 3 - n", "v >= n", "v == n || v == 0"]);
    let other = random.one(&[
        "?b -> Idle",
        "?b / n := 0 -> Idle",
        "?b [n > 1] -> Busy",
        "?b -> Busy",
    ]);
    let back = random.one(&["Idle", "Idle", "Done"]);
    format!(
        "system S {{\n  var n: 0..3 = 0\n  input a(k: 0..2), b\n  output x(v: 0..3), y\n  \
         initial state Idle {{\n    ?a(k) [{guard}] / {effect} -> Busy\n    {other}\n  }}\n  \
         state Busy {{ !x(v) [{shown}] -> {back} }}\n  state Done {{ !y -> Idle }}\n}}\n"
    )
}

#[test]
fn formulas_sort_mutants_as_states_do() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let options = MutationOptions::default();
    let (mut proved, mut refuted, mut open) = (0, 0, 0);
    for _ in 0..6 {
        let text = model(&mut random);
        let workspace = Workspace::new();
        let path = PathBuf::from("model.iol");
        let source = workspace.insert(&path, text.as_bytes());
        let file = source.file().expect("a model");
        let mutations = Mutations::new(file, "S", &Operator::ALL);
        let picked = pick::pick(&mutations, &text, 12, random.below(1000));
        let specification = workspace.spec(&ModelRef::file(&path)).expect("a model");
        let explicit = workspace.explicit(&ModelRef::file(&path)).expect("finite");
        for mutant in picked.mutants {
            let other = Workspace::new();
            let path = PathBuf::from("mutant.iol");
            other.insert(&path, mutant.text.as_bytes());
            let reference = ModelRef::file(&path);
            let Ok(states) = other.explicit(&reference) else {
                continue;
            };
            let asked = RelationOptions {
                semantics: SemanticsOptions {
                    ..options.semantics()
                },
                ..RelationOptions::new(options.relation)
            };
            let mut side = workspace.specification(&explicit, &asked).expect("a side");
            let expected = side.decide(&states, &mut |_| None).expect("an answer");
            let mutant_spec = other.spec(&reference).expect("a model");
            let found = workspace.relate_models(&mutant_spec, &specification, &asked, BUDGET);
            let found = found.unwrap_or_else(|e| panic!("{}\n{}", mutant.text, e.message()));
            match found.holds {
                None => open += 1,
                Some(true) => proved += 1,
                Some(false) => refuted += 1,
            }
            if found.holds.is_none() {
                continue;
            }
            assert_eq!(found.holds, expected.holds, "{text}\n{}", mutant.text);
            let length =
                |trace: Option<&crate::CounterexampleDocument>| trace.map(|c| c.trace.len());
            assert_eq!(
                length(found.counterexample.as_ref()),
                length(expected.counterexamples.first()),
                "{text}\n{}",
                mutant.text
            );
        }
    }
    println!("{proved} proved, {refuted} refuted, {open} unknown");
    assert!(
        proved > 5 && refuted > 20,
        "{proved} proved, {refuted} refuted"
    );
    assert!(open * 4 < proved + refuted, "{open} unknown");
}

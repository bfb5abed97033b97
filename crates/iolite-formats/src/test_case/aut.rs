//! Test cases as Aldebaran graphs.

use std::collections::BTreeMap;
use std::fmt::Write;

use iolite_derive::{TestCase, TestStep, Verdict};

use super::ending::ending;

/// The test case in Aldebaran form. A step into a final state carries its verdict,
/// `"!choc (fail)"`, as TGV writes them; θ is `delta`. Labels are the implementation's: `?` what
/// the tester sends, `!` what it receives.
///
/// Where a run may end on the way, a step into a further final state says so: `"deadlock (fail)"` where
/// nothing is received and there is no θ, `"refusal (pass)"` where the implementation takes none of the
/// actions offered, and `"!liq pre-empts (fail)"` where an output comes before the stimulus. So two test
/// cases with the same text are the same but for their names and what they say of places.
pub fn write(case: &TestCase) -> String {
    let mut body = String::new();
    let mut count = 0;
    let mut entered = vec![false; case.states().len()];
    let mut ends = FurtherEnds::new(case.states().len());
    for (source, state) in case.states().iter().enumerate() {
        let mut step = |text: &str, target: usize| {
            let _ = writeln!(body, "({source}, \"{text}\", {target})");
            count += 1;
        };
        for (label, target) in state.steps() {
            entered[target.index()] = true;
            let to = case.state(target);
            let verdict = match to.step {
                TestStep::End => format!(" ({})", to.verdict),
                _ => String::new(),
            };
            let text = escaped(&case.labels().text(label));
            step(&format!("{text}{verdict}"), target.index());
        }
        if let TestStep::Stimulate { preempted, .. } = &state.step {
            for &(label, verdict) in preempted {
                let text = escaped(&case.labels().text(label));
                step(&format!("{text} pre-empts ({verdict})"), ends.of(verdict));
            }
        }
        if let Some((what, verdict)) = ending(state) {
            step(&format!("{what} ({verdict})"), ends.of(verdict));
        }
    }
    // A final state that nothing leads to has no other place for its verdict.
    for (source, state) in case.states().iter().enumerate() {
        if state.step == TestStep::End && !entered[source] {
            let verdict = state.verdict;
            let _ = writeln!(body, "({source}, \"end ({verdict})\", {source})");
            count += 1;
        }
    }
    let states = case.states().len() + ends.numbers.len();
    format!("des (0, {count}, {states})\n{body}")
}

/// Final states that the test case itself does not have, one a verdict.
struct FurtherEnds {
    first: usize,
    numbers: BTreeMap<Verdict, usize>,
}

impl FurtherEnds {
    fn new(first: usize) -> Self {
        Self {
            first,
            numbers: BTreeMap::new(),
        }
    }

    fn of(&mut self, verdict: Verdict) -> usize {
        let next = self.first + self.numbers.len();
        *self.numbers.entry(verdict).or_insert(next)
    }
}

/// A label on one line that cannot be taken for one with a verdict. Quotes are kept, as everywhere in
/// this format.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '(' if before == ' ' => out.push_str("\\("),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
        before = c;
    }
    out
}

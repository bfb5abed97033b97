//! Test cases as Aldebaran graphs.

use std::fmt::Write;

use iolite_derive::{TestCase, TestStep};

/// The test case in Aldebaran form. A step into a final state carries its verdict,
/// `"!choc (fail)"`, as TGV writes them; θ is `delta`. Labels are the implementation's: `?` what
/// the tester sends, `!` what it receives.
pub fn write(case: &TestCase) -> String {
    let mut body = String::new();
    let mut count = 0;
    for (source, state) in case.states().iter().enumerate() {
        for (label, target) in state.steps() {
            let to = case.state(target);
            let verdict = match to.step {
                TestStep::End => format!(" ({})", to.verdict),
                _ => String::new(),
            };
            let text = case.labels().text(label).replace('"', "'");
            let _ = writeln!(body, "({source}, \"{text}{verdict}\", {})", target.index());
            count += 1;
        }
    }
    format!("des (0, {count}, {})\n{body}", case.states().len())
}

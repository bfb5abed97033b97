//! Test cases as behaviour expressions.

use std::fmt;

use iolite_lts::LabelId;

use crate::{TestCase, TestStateId, TestStep};

/// A test case as a behaviour expression, `?but; ( !choc; fail + !liq; pass + θ; fail )`, for people
/// and for tests; shared states are written out, up to a length.
impl fmt::Display for TestCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_state(self.initial(), 0, f)
    }
}

/// Deeper than this an expression helps nobody.
const DISPLAY_DEPTH: usize = 40;

impl TestCase {
    fn write_state(
        &self,
        id: TestStateId,
        depth: usize,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        if depth > DISPLAY_DEPTH {
            return f.write_str("…");
        }
        let state = self.state(id);
        match &state.step {
            TestStep::End => write!(f, "{}", state.verdict),
            TestStep::Stimulate { stimulus, next, .. } => {
                write!(f, "{}; ", self.labels().label(*stimulus))?;
                self.write_state(*next, depth + 1, f)
            }
            TestStep::Observe { .. } | TestStep::Offer { .. } => {
                f.write_str("(")?;
                let mut plus = "";
                for (label, next) in state.steps() {
                    f.write_str(plus)?;
                    plus = " + ";
                    match label {
                        LabelId::DELTA => f.write_str("θ; ")?,
                        _ => write!(f, "{}; ", self.labels().label(label))?,
                    }
                    self.write_state(next, depth + 1, f)?;
                }
                f.write_str(")")?;
                if !matches!(
                    state.step,
                    TestStep::Observe {
                        quiescence: Some(_),
                        ..
                    }
                ) {
                    write!(f, "/{}", state.verdict)?;
                }
                Ok(())
            }
        }
    }
}

//! Test cases as TTCN-3 modules.
//!
//! Every state of a test case becomes a function, so the module's size is that of the test case and
//! nothing nests. Actions are values of two enumerations; the port and the timer are named so that a
//! test harness can bind them.

use std::collections::BTreeSet;
use std::fmt::Write;

use iolite_derive::{TestCase, TestStateId, TestStep, Verdict};
use iolite_lts::{LabelId, LabelKind};

use super::ending::ending;

/// The test case as a TTCN-3 module of its own. `fail` covers all failing verdicts, with the
/// exact one in the verdict's reason. Comments say which label an identifier stands for, and what the
/// language has no words for: verdicts on the way, outputs before a stimulus, actions to be agreed on.
pub fn write(case: &TestCase) -> String {
    let names = Names::of(case);
    let mut out = String::new();
    // A name of its own may be a keyword.
    let module = format!("Test_{}", identifier(case.name()));
    let _ = writeln!(
        out,
        "// {} test case {}",
        comment(case.criterion().name()),
        comment(case.name())
    );
    let _ = writeln!(
        out,
        "// model {} {}",
        comment(case.model().name.as_deref().unwrap_or_default()),
        comment(case.model().hash.as_deref().unwrap_or_default())
    );
    let _ = writeln!(out, "module {module} {{\n");
    for (name, kind) in [
        ("Stimulus", LabelKind::Input),
        ("Response", LabelKind::Output),
    ] {
        let values: Vec<&str> = case
            .labels()
            .of_kind(kind)
            .map(|l| names.of_label(l))
            .collect();
        // An enumeration cannot be empty.
        let values = if values.is_empty() {
            "none".to_owned()
        } else {
            values.join(", ")
        };
        let _ = writeln!(out, "  type enumerated {name} {{ {values} }}");
    }
    for (id, label) in case.labels().iter().filter(|(_, l)| l.kind.is_visible()) {
        if label.kind != LabelKind::Delta {
            let text = comment(&case.labels().text(id));
            let _ = writeln!(out, "  // {} is {text}", names.of_label(id));
        }
    }
    out.push_str(concat!(
        "\n  type port SystemPort message { out Stimulus; in Response }\n",
        "  type component TestComponent {\n",
        "    port SystemPort system_port;\n",
        "    timer quiescence := 1.0;\n",
        "  }\n",
    ));
    for (i, state) in case.states().iter().enumerate() {
        let _ = writeln!(out, "\n  function state_{i}() runs on TestComponent {{");
        if !state.locations.is_empty() {
            let _ = writeln!(out, "    // {}", comment(&state.locations.join(", ")));
        }
        write_state(case, i, &names, &mut out);
        out.push_str("  }\n");
    }
    let _ = writeln!(
        out,
        "\n  testcase TC_{module}() runs on TestComponent system TestComponent {{"
    );
    out.push_str(concat!(
        "    map(mtc:system_port, system:system_port);\n",
        "    state_0();\n",
        "    unmap(mtc:system_port, system:system_port);\n",
        "  }\n\n",
    ));
    let _ = writeln!(out, "  control {{ execute(TC_{module}()); }}\n}}");
    out
}

fn write_state(case: &TestCase, i: usize, names: &Names, out: &mut String) {
    let state = &case.states()[i];
    if let Some((what, verdict)) = ending(state) {
        let _ = writeln!(out, "    // {what}: {verdict}");
    }
    let branch = |out: &mut String, guard: &str, next: TestStateId| {
        let _ = writeln!(out, "      [] {guard} {{ state_{}(); }}", next.index());
    };
    match &state.step {
        TestStep::End => {
            let _ = writeln!(out, "    {};", set_verdict(state.verdict));
        }
        TestStep::Stimulate {
            stimulus,
            next,
            preempted,
        } => {
            for &(label, verdict) in preempted {
                let label = names.of_label(label);
                let _ = writeln!(out, "    // pre-empted by {label}: {verdict}");
            }
            let _ = writeln!(
                out,
                "    system_port.send(Stimulus:{});\n    state_{}();",
                names.of_label(*stimulus),
                next.index()
            );
        }
        TestStep::Observe {
            outputs,
            quiescence,
        } => {
            out.push_str("    quiescence.start;\n    alt {\n");
            for &(label, next) in outputs {
                let guard = format!("system_port.receive(Response:{})", names.of_label(label));
                branch(out, &guard, next);
            }
            match quiescence {
                Some(next) => branch(out, "quiescence.timeout", *next),
                None => {
                    let _ = writeln!(
                        out,
                        "      [] quiescence.timeout {{ {}; }}",
                        set_verdict(state.verdict)
                    );
                }
            }
            let _ = writeln!(
                out,
                "      [] system_port.receive {{ {}; }}\n    }}",
                set_verdict(Verdict::Fail)
            );
        }
        // Symmetric interaction has no counterpart in TTCN-3's messages.
        TestStep::Offer { actions } => {
            for &(label, next) in actions {
                let (label, next) = (names.of_label(label), next.index());
                let _ = writeln!(out, "    // offers {label}, then state_{next}");
            }
            out.push_str("    setverdict(error, \"symmetric interaction\");\n");
        }
    }
}

pub(crate) fn set_verdict(verdict: Verdict) -> String {
    let kind = match verdict {
        Verdict::Pass | Verdict::WeakPass => "pass",
        verdict if verdict.is_failing() => "fail",
        _ => "inconc",
    };
    format!("setverdict({kind}, \"{verdict}\")")
}

/// Distinct TTCN-3 identifiers for the labels.
struct Names(Vec<String>);

impl Names {
    fn of(case: &TestCase) -> Self {
        let mut taken = BTreeSet::new();
        Self(
            case.labels()
                .iter()
                .map(|(_, label)| {
                    let prefix = match label.kind {
                        LabelKind::Input => "in",
                        LabelKind::Output => "out",
                        _ => "act",
                    };
                    let base = format!("{prefix}_{}", identifier(&label.name));
                    let mut name = base.clone();
                    let mut n = 1;
                    while !taken.insert(name.clone()) {
                        n += 1;
                        name = format!("{base}_{n}");
                    }
                    name
                })
                .collect(),
        )
    }

    fn of_label(&self, label: LabelId) -> &str {
        &self.0[label.index()]
    }
}

/// Letters, digits and underscores, starting with a letter.
fn identifier(text: &str) -> String {
    let mut out: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(0, 'x');
    }
    out
}

/// On one line, and different for different texts.
fn comment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

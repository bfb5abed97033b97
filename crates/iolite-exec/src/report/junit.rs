//! `JUnit` XML, which build servers read: a test case a run.

use std::fmt::Write as _;
use std::io::Write;

use crate::{Event, ExecError, Sink, chart};

struct Case {
    run: u64,
    seconds: f64,
    kind: Kind,
}

enum Kind {
    Passed,
    /// `inconc` and `unknown`: neither passed nor failed.
    Skipped(String),
    Failed {
        verdict: String,
        detail: String,
    },
    Error {
        code: String,
        message: String,
    },
}

/// Collects the runs and writes the document at the end of the campaign.
pub struct JUnit<W> {
    out: W,
    suite: String,
    cases: Vec<Case>,
    dropped: u64,
}

/// Test cases of one document; more are counted and not written.
const CASES: usize = 100_000;

impl<W: Write> JUnit<W> {
    /// A report under this name.
    pub fn new(out: W, suite: impl Into<String>) -> Self {
        Self {
            out,
            suite: suite.into(),
            cases: Vec::new(),
            dropped: 0,
        }
    }

    fn push(&mut self, case: Case) {
        if self.cases.len() < CASES {
            self.cases.push(case);
        } else {
            self.dropped += 1;
        }
    }

    fn document(&mut self, elapsed: f64) -> String {
        self.cases.sort_by_key(|case| case.run);
        let count = |is: fn(&Kind) -> bool| self.cases.iter().filter(|c| is(&c.kind)).count();
        let suite = escape(&self.suite);
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(
            xml,
            "<testsuite name=\"{suite}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
             skipped=\"{}\" time=\"{elapsed:.6}\">",
            self.cases.len(),
            count(|k| matches!(k, Kind::Failed { .. })),
            count(|k| matches!(k, Kind::Error { .. })),
            count(|k| matches!(k, Kind::Skipped(_))),
        );
        for case in &self.cases {
            let _ = write!(
                xml,
                "  <testcase classname=\"{suite}\" name=\"run {}\" time=\"{:.6}\"",
                case.run, case.seconds
            );
            let _ = match &case.kind {
                Kind::Passed => writeln!(xml, "/>"),
                Kind::Skipped(verdict) => writeln!(
                    xml,
                    "><skipped message=\"{}\"/></testcase>",
                    escape(verdict)
                ),
                Kind::Failed { verdict, detail } => writeln!(
                    xml,
                    "><failure type=\"{0}\" message=\"{0}\">{1}</failure></testcase>",
                    escape(verdict),
                    escape(detail)
                ),
                Kind::Error { code, message } => writeln!(
                    xml,
                    "><error type=\"{}\" message=\"{}\">{}</error></testcase>",
                    escape(code),
                    escape(message.lines().next().unwrap_or_default()),
                    escape(message)
                ),
            };
        }
        if self.dropped > 0 {
            let _ = writeln!(xml, "  <system-out>{} runs more</system-out>", self.dropped);
        }
        xml.push_str("</testsuite>\n");
        xml
    }
}

/// Escapes for text and attributes; characters that XML 1.0 does not have become U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

impl<W: Write> Sink for JUnit<W> {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        match event {
            Event::RunEnded {
                run,
                verdict,
                elapsed,
                certificate,
                ..
            } => {
                use iolite_derive::Verdict;
                let kind = match verdict {
                    _ if verdict.is_failing() => Kind::Failed {
                        verdict: verdict.to_string(),
                        detail: certificate.as_ref().map(|c| chart(c)).unwrap_or_default(),
                    },
                    Verdict::Inconc | Verdict::Unknown => Kind::Skipped(verdict.to_string()),
                    _ => Kind::Passed,
                };
                self.push(Case {
                    run: *run,
                    seconds: seconds(*elapsed),
                    kind,
                });
                Ok(())
            }
            Event::Fault {
                run, code, message, ..
            } => {
                self.push(Case {
                    run: *run,
                    seconds: 0.0,
                    kind: Kind::Error {
                        code: code.clone(),
                        message: message.clone(),
                    },
                });
                Ok(())
            }
            Event::CampaignEnded { elapsed, .. } => {
                let xml = self.document(seconds(*elapsed));
                self.out
                    .write_all(xml.as_bytes())
                    .and_then(|()| self.out.flush())
                    .map_err(|e| ExecError::Report(e.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn wants_steps(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;
    use iolite_derive::Verdict;

    #[test]
    fn runs_are_test_cases() {
        let mut out = Vec::new();
        let mut report = JUnit::new(&mut out, "a<b");
        let ended = |run, verdict| Event::RunEnded {
            run,
            verdict,
            end: End::Tester,
            steps: 1,
            elapsed: 1500,
            certificate: None,
        };
        for event in [
            ended(1, Verdict::Fail),
            ended(0, Verdict::Pass),
            ended(2, Verdict::Inconc),
            Event::Fault {
                run: 3,
                steps: 0,
                code: "ended".into(),
                message: "signal 9\n\u{1}\"<".into(),
            },
            Event::CampaignEnded {
                verdicts: std::collections::BTreeMap::new(),
                faults: 1,
                steps: 3,
                elapsed: 2_000_000,
            },
        ] {
            report.event(&event).unwrap();
        }
        expect_test::expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="a&lt;b" tests="4" failures="1" errors="1" skipped="1" time="2.000000">
              <testcase classname="a&lt;b" name="run 0" time="0.001500"/>
              <testcase classname="a&lt;b" name="run 1" time="0.001500"><failure type="fail" message="fail"></failure></testcase>
              <testcase classname="a&lt;b" name="run 2" time="0.001500"><skipped message="inconc"/></testcase>
              <testcase classname="a&lt;b" name="run 3" time="0.000000"><error type="ended" message="signal 9">signal 9
            �&quot;&lt;</error></testcase>
            </testsuite>
        "#]]
        .assert_eq(&String::from_utf8(out).unwrap());
    }
}

//! `JUnit` XML, which build servers read: a test case a run.

use std::io::Write;
use std::time::Duration;

use iolite_derive::Verdict;

use super::xml_lines::XmlLines;
use crate::{Event, ExecError, JournalHeader, Sink, brief, chart};

struct Case {
    run: u64,
    micros: u64,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    /// `inconc`, `unknown`, and a run that a signal ended: neither passed nor failed.
    Skipped(String),
    Failed {
        verdict: Verdict,
        detail: String,
    },
    /// A flaky run, where those are allowed: passed, with the failure that did not come back.
    Flaky {
        detail: String,
    },
    Error {
        code: String,
        message: String,
    },
}

impl Outcome {
    fn is_good(&self) -> bool {
        matches!(self, Self::Passed | Self::Skipped(_) | Self::Flaky { .. })
    }
}

/// Collects the runs and writes the document when it is finished ([`Sink::finish`]): its first line counts
/// what follows. Memory is bounded, in cases and in text; the journal has everything.
pub struct JUnit<W> {
    out: W,
    suite: String,
    allow_flaky: bool,
    properties: Vec<(&'static str, String)>,
    /// The command that replays a run, without its number.
    replay: Option<String>,
    cases: Vec<Case>,
    /// Cases that went wrong.
    bad: usize,
    /// Bytes of text that the cases hold.
    text: usize,
    dropped: u64,
    /// How long the campaigns took.
    elapsed: Duration,
}

/// Test cases of one document, good ones and bad ones each; more are counted and not written.
const CASES: usize = 100_000;

/// Bytes of text of one test case.
const CASE_TEXT: usize = 64 << 10;

/// Bytes of text of all test cases.
const ALL_TEXT: usize = 32 << 20;

impl<W: Write> JUnit<W> {
    /// A report under this name.
    pub fn new(out: W, suite: impl Into<String>) -> Self {
        Self {
            out,
            suite: suite.into(),
            allow_flaky: false,
            properties: Vec::new(),
            replay: None,
            cases: Vec::new(),
            bad: 0,
            text: 0,
            dropped: 0,
            elapsed: Duration::ZERO,
        }
    }

    /// Flaky runs count as passed, and not as failed.
    #[must_use]
    pub fn allow_flaky(mut self, allow: bool) -> Self {
        self.allow_flaky = allow;
        self
    }

    /// Model, system and seed become properties of the suite, and the command that replays a run a property of each run that went wrong.
    #[must_use]
    pub fn about(mut self, header: &JournalHeader, replay: Option<String>) -> Self {
        let hash = header.model.hash.clone();
        let properties = [
            ("model", Some(header.model.to_string())),
            ("model-hash", hash),
            ("criterion", Some(header.kind.to_string())),
            ("context", Some(header.context.to_string())),
            ("seed", Some(header.seed.to_string())),
            ("system", Some(header.sut.to_string())),
            ("iolite", Some(header.version.clone())),
        ];
        let given =
            |(name, value): (&'static str, Option<String>)| Some((name, printable(&value?)));
        self.properties = properties.into_iter().filter_map(given).collect();
        self.replay = replay.map(|line| printable(&line));
        self
    }

    fn push(&mut self, run: u64, micros: u64, outcome: Outcome) {
        let alike = if outcome.is_good() {
            self.cases.len() - self.bad
        } else {
            self.bad
        };
        if alike >= CASES {
            self.dropped += 1;
            return;
        }
        self.bad += usize::from(!outcome.is_good());
        self.cases.push(Case {
            run,
            micros,
            outcome,
        });
    }

    /// As much of a text as there is room for.
    fn keep(&mut self, text: &str) -> String {
        let room = CASE_TEXT.min(ALL_TEXT.saturating_sub(self.text));
        let mut end = room.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let kept = printable(&text[..end]);
        self.text += kept.len();
        match text.len() - end {
            0 => kept,
            left => format!("{kept}\n… {left} bytes more, which the journal has"),
        }
    }

    fn document(&mut self) -> String {
        self.cases.sort_by_key(|case| case.run);
        let cases = std::mem::take(&mut self.cases);
        let count = |is_one: fn(&Outcome) -> bool| {
            cases
                .iter()
                .filter(|case| is_one(&case.outcome))
                .count()
                .to_string()
        };
        let tests = cases.len().to_string();
        let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        let failures = count(|outcome| matches!(outcome, Outcome::Failed { .. }));
        let errors = count(|outcome| matches!(outcome, Outcome::Error { .. }));
        let name = printable(&self.suite);
        let time = seconds(self.elapsed);
        let mut xml = XmlLines::new();
        let about_all = [
            ("name", &*name),
            ("tests", &*tests),
            ("skipped", &*skipped),
            ("failures", &*failures),
            ("errors", &*errors),
            ("time", &*time),
        ];
        let about_suite = [
            ("name", &*name),
            ("tests", &*tests),
            ("skipped", &*skipped),
            ("errors", &*errors),
            ("failures", &*failures),
            ("time", &*time),
        ];
        xml.begin("testsuites", &about_all);
        if self.properties.is_empty() && cases.is_empty() && self.dropped == 0 {
            xml.empty("testsuite", &about_suite);
        } else {
            xml.begin("testsuite", &about_suite);
            let properties = self.properties.iter();
            write_properties(&mut xml, properties.map(|(name, value)| (*name, &**value)));
            for case in &cases {
                self.write_case(&mut xml, &name, case);
            }
            if self.dropped > 0 {
                xml.text("system-out", &[], &format!("{} runs more", self.dropped));
            }
            xml.end("testsuite");
        }
        xml.end("testsuites");
        xml.into_text()
    }

    fn write_case(&self, xml: &mut XmlLines, suite: &str, case: &Case) {
        let name = format!("run {}", case.run);
        let time = seconds(Duration::from_micros(case.micros));
        let about = [("name", &*name), ("classname", suite), ("time", &*time)];
        if let Outcome::Passed = case.outcome {
            return xml.empty("testcase", &about);
        }
        xml.begin("testcase", &about);
        if let (false, Some(replay)) = (case.outcome.is_good(), &self.replay) {
            let replay = format!("{replay} --run {}", case.run);
            write_properties(xml, [("replay", &*replay)].into_iter());
        }
        match &case.outcome {
            Outcome::Passed => {}
            Outcome::Skipped(reason) => xml.empty("skipped", &[("message", reason)]),
            Outcome::Failed { verdict, detail } => {
                let verdict = verdict.name();
                xml.text(
                    "failure",
                    &[("message", verdict), ("type", verdict)],
                    detail,
                );
            }
            Outcome::Flaky { detail } => {
                let verdict = Verdict::Flaky.name();
                xml.text(
                    "flakyFailure",
                    &[("message", verdict), ("type", verdict)],
                    detail,
                );
            }
            Outcome::Error { code, message } => {
                let first = brief(message.lines().next().unwrap_or_default());
                xml.text("error", &[("message", &first), ("type", code)], message);
            }
        }
        xml.end("testcase");
    }
}

fn write_properties<'a>(
    xml: &mut XmlLines,
    properties: impl ExactSizeIterator<Item = (&'static str, &'a str)>,
) {
    if properties.len() == 0 {
        return;
    }
    xml.begin("properties", &[]);
    for (name, value) in properties {
        xml.empty("property", &[("name", name), ("value", value)]);
    }
    xml.end("properties");
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Characters that XML 1.0 does not have become U+FFFD, so that one sees that something was there. Tabs and control
/// characters beyond ASCII, which XML has and readers treat in ways of their own, are left out.
fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\t' | '\u{80}'..='\u{9f}'))
        .map(|c| match c {
            '\n' => c,
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            _ => c,
        })
        .collect()
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
                let outcome = match *verdict {
                    verdict if verdict.is_failing() || verdict == Verdict::Flaky => {
                        let detail = certificate.as_ref().map(|c| chart(c)).unwrap_or_default();
                        let detail = self.keep(&detail);
                        if verdict == Verdict::Flaky && self.allow_flaky {
                            Outcome::Flaky { detail }
                        } else {
                            Outcome::Failed { verdict, detail }
                        }
                    }
                    verdict @ (Verdict::Inconc | Verdict::Unknown) => {
                        Outcome::Skipped(verdict.to_string())
                    }
                    _ => Outcome::Passed,
                };
                self.push(*run, *elapsed, outcome);
                Ok(())
            }
            Event::Fault {
                run, code, message, ..
            } => {
                let message = self.keep(message);
                let outcome = if code == "interrupted" {
                    Outcome::Skipped(message)
                } else {
                    let code = code.clone();
                    Outcome::Error { code, message }
                };
                self.push(*run, 0, outcome);
                Ok(())
            }
            // A suite is a campaign for each of its test cases, and one report.
            Event::CampaignEnded { elapsed, .. } => {
                self.elapsed += Duration::from_micros(*elapsed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), ExecError> {
        let text = self.document();
        self.out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush())
            .map_err(|e| ExecError::Report(e.to_string()))
    }

    fn wants_steps(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;

    fn ended(run: u64, verdict: Verdict) -> Event {
        Event::RunEnded {
            run,
            verdict,
            end: End::Tester,
            steps: 1,
            elapsed: 1500,
            certificate: None,
            results: std::collections::BTreeMap::new(),
        }
    }

    fn fault(run: u64, message: &str) -> Event {
        Event::Fault {
            run,
            steps: 0,
            code: "ended".into(),
            message: message.into(),
        }
    }

    fn document(events: impl IntoIterator<Item = Event>) -> String {
        let mut out = Vec::new();
        let mut report = JUnit::new(&mut out, "a<b");
        let end = Event::CampaignEnded {
            verdicts: std::collections::BTreeMap::new(),
            faults: 1,
            steps: 3,
            elapsed: 2_000_000,
            untried: Vec::new(),
        };
        for event in events.into_iter().chain([end]) {
            report.event(&event).unwrap();
        }
        report.finish().unwrap();
        drop(report);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn runs_are_test_cases() {
        expect_test::expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="a&lt;b" tests="4" skipped="1" failures="1" errors="1" time="2.000">
                <testsuite name="a&lt;b" tests="4" skipped="1" errors="1" failures="1" time="2.000">
                    <testcase name="run 0" classname="a&lt;b" time="0.002"/>
                    <testcase name="run 1" classname="a&lt;b" time="0.002">
                        <failure message="fail" type="fail"></failure>
                    </testcase>
                    <testcase name="run 2" classname="a&lt;b" time="0.002">
                        <skipped message="inconc"/>
                    </testcase>
                    <testcase name="run 3" classname="a&lt;b" time="0.000">
                        <error message="signal 9" type="ended">signal 9
            �&quot;&lt;�[31m�</error>
                    </testcase>
                </testsuite>
            </testsuites>
        "#]]
        .assert_eq(&document([
            ended(1, Verdict::Fail),
            ended(0, Verdict::Pass),
            ended(2, Verdict::Inconc),
            fault(3, "signal 9\n\u{1}\"<\u{1b}[31m\u{ffff}"),
        ]));
    }

    /// No character that XML 1.0 lacks reaches the file, wherever it comes from.
    #[test]
    fn the_document_has_no_forbidden_character() {
        let all: String = (0..=0x2_0000).filter_map(char::from_u32).collect();
        let xml = document([fault(0, &all)]);
        let forbidden = |c: char| !matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert_eq!(xml.find(forbidden), None);
    }

    #[test]
    fn memory_is_bounded() {
        let long = "é".repeat(CASE_TEXT);
        let xml = document((0..1000).map(|run| fault(run, &long)));
        assert!(xml.len() < ALL_TEXT + (1 << 20), "{}", xml.len());
        assert!(xml.contains("bytes more, which the journal has"));
        // What went wrong is written even after very many good runs.
        let good = (0..CASES as u64 + 5).map(|run| ended(run, Verdict::Pass));
        let xml = document(good.chain([ended(CASES as u64 + 5, Verdict::Fail)]));
        assert!(xml.contains("<failure") && xml.contains("5 runs more"));
    }
}

//! What is said of a failure that rests on silence alone.

use std::time::Duration;

use iolite::{Summary, Verdict};
use iolite_exec::{Certificate, ProcessConfig, Quiescence, SutConfig};

use super::counted;

/// How to wait longer, where the system failed by a silence whose length nobody chose: the system may
/// only be slow; and where a program never said anything, what may be the cause. Empty in every other case.
pub(crate) fn hint(certificate: &Certificate, config: &SutConfig) -> String {
    let buffered = buffering(certificate, config);
    let default = Quiescence::default().default;
    let assumed = config.quiescence.timeout_ms.is_none()
        && certificate.patience.map(Duration::from_micros) == Some(default);
    if !assumed {
        return buffered;
    }
    let mut text = buffered;
    text += &format!(
        "  silence:  it lasted {} ms, the default; where the system may take longer, measure it with\n            \
         `iolite calibrate`, and set [quiescence] timeout-ms in its description or --quiescence-ms\n",
        default.as_millis()
    );
    if may_be_starting(certificate, config) {
        text += "            nothing was observed before: where the system is slow to start, set `ready` in its\n            \
                 description to what it writes when it has started\n";
    }
    text
}

/// Whether a run ended before anything but its own inputs was seen, of a program that has no way to say that it has started.
fn may_be_starting(certificate: &Certificate, config: &SutConfig) -> bool {
    let first = certificate.trace_omitted == 0
        && certificate.trace.iter().all(|step| step.starts_with('?'));
    let process = config.system.process();
    first && process.is_some_and(|process| process.ready.is_none())
}

/// The doubt that a program which never said anything keeps its output in a buffer.
fn buffering(certificate: &Certificate, config: &SutConfig) -> String {
    let silent = certificate.observed.as_deref() == Some("delta")
        && certificate.trace_omitted == 0
        && certificate.instead.is_empty()
        && !certificate.trace.iter().any(|step| step.starts_with('!'));
    // Who has said that it is ready does write.
    let ready = |process: &ProcessConfig| process.ready.is_some();
    let stdio = config
        .system
        .channels()
        .iter()
        .any(|c| c.transport.is_stdio());
    if !silent || !stdio || config.system.process().is_some_and(ready) {
        return String::new();
    }
    "  buffered? no output ever came; a program that writes to a pipe may keep its output in a buffer until it\n            \
     flushes (`python3 -u`, `flush=True`, `fflush`, `stdbuf -oL`)\n"
        .to_owned()
}

/// Flaky runs that are reported one by one.
const TOLD: usize = 5;

/// What flaky runs showed, and what that means.
pub(crate) fn flaky(summary: &Summary, config: Option<&SutConfig>, journaled: bool) -> String {
    let mut text = String::new();
    for (run, certificate) in summary.flaky.iter().take(TOLD) {
        let observed = match certificate.observed.as_deref() {
            Some("delta") => "silence",
            Some(observed) => observed,
            None => "the end of the run",
        };
        let waited = certificate.patience.map_or_else(String::new, |patience| {
            format!(" of {} ms", patience.div_ceil(1000))
        });
        text += &format!(
            "run {run}: flaky: {observed}{waited} after {}, allowed: {}\n",
            counted(certificate.trace.len() as u64, "step"),
            certificate.allowed.join(", ")
        );
    }
    let count = summary.verdicts.get(&Verdict::Flaky).copied().unwrap_or(0);
    if count > 0 {
        let told = summary.flaky.len().min(TOLD) as u64;
        if count > told {
            text += &format!("and {} flaky runs more\n", count - told);
        }
        text += "flaky means: the run failed, and did not fail again when it was repeated with more patience;\n  \
                 the timeout may be too short (`iolite calibrate` measures it), or the system answers at times\n  \
                 only. It fails the command unless --allow-flaky\n";
        let starting = |c: &Certificate| config.is_some_and(|config| may_be_starting(c, config));
        if !summary.flaky.is_empty() && summary.flaky.values().all(starting) {
            text += "  in none of them was anything observed before: where the system is slow to start, set `ready` in its\n  \
                     description to what it writes when it has started\n";
        }
        if journaled {
            text += "  the repetitions are in the journal as `confirmation`\n";
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(trace: &[&str], patience: Option<u64>) -> Certificate {
        let json = serde_json::json!({
            "format": "iolite-certificate/1", "kind": "ioco", "model": {}, "verdict": "fail",
            "trace": trace, "observed": "delta", "patience": patience, "allowed": ["!x"],
            "locations": [], "run": 0, "seed": 0,
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn only_a_silence_that_nobody_chose_is_doubted() {
        let command = SutConfig::from_flag("cmd:cat").unwrap();
        let first = hint(&certificate(&["?a"], Some(1_000_000)), &command);
        assert!(
            first.contains("1000 ms") && first.contains("`ready`"),
            "{first}"
        );
        let later = hint(&certificate(&["?a", "!x", "?a"], Some(1_000_000)), &command);
        assert!(
            later.contains("calibrate") && !later.contains("`ready`"),
            "{later}"
        );
        let tcp = SutConfig::from_flag("tcp:localhost:1").unwrap();
        assert!(!hint(&certificate(&[], Some(1_000_000)), &tcp).contains("`ready`"));
        let mut set = command.clone();
        set.quiescence.timeout_ms = Some(1000);
        let answered = ["?a", "!x", "?a"];
        assert_eq!(hint(&certificate(&answered, Some(1_000_000)), &set), "");
        // A timeout of a state or an action, and a model, which takes no time.
        assert_eq!(hint(&certificate(&answered, Some(70_000)), &command), "");
        assert_eq!(hint(&certificate(&answered, None), &command), "");
    }

    #[test]
    fn flaky_runs_that_showed_nothing_may_have_been_starting() {
        let command = SutConfig::from_flag("cmd:cat").unwrap();
        let told = |traces: &[&[&str]]| {
            let mut summary = Summary::default();
            summary.verdicts.insert(Verdict::Flaky, traces.len() as u64);
            for (run, trace) in (0..).zip(traces) {
                summary.flaky.insert(run, certificate(trace, Some(70_000)));
            }
            flaky(&summary, Some(&command), false)
        };
        assert!(told(&[&["?a"], &[]]).contains("slow to start"));
        assert!(!told(&[&["?a"], &["?a", "!x"]]).contains("slow to start"));
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn a_program_that_never_wrote_may_be_buffered() {
        let text = |flag: &str, trace: &[&str]| {
            let config = SutConfig::from_flag(flag).unwrap();
            hint(&certificate(trace, Some(70_000)), &config)
        };
        assert!(text("cmd:cat", &["?a"]).contains("buffered?"));
        assert_eq!(text("cmd:cat", &["?a", "!x"]), "");
        assert_eq!(text("tcp:localhost:1", &["?a"]), "");
        let mut ready = SutConfig::from_flag("cmd:cat").unwrap();
        ready.system.process_mut().unwrap().ready = Some("ready".into());
        assert_eq!(hint(&certificate(&["?a"], Some(70_000)), &ready), "");
    }
}

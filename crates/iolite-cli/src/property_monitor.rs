//! `iolite monitor` by properties: one verdict a property, from one pass over the log.

use std::io::BufRead;

use iolite_derive::Verdict;
use iolite_exec::{LogReader, MonitorOptions, Monitored, chart, monitor_watched};
use serde::Serialize;

use super::monitor::look;
use super::property_run::PropertyJudge;
use super::time_limit::Watch;
use super::{Exit, Failure, print, print_json};

#[derive(Serialize)]
struct Document {
    verdict: Verdict,
    steps: u64,
    /// The line where the last property was settled; `null` when the log ended before.
    line: Option<usize>,
    /// Why the log was not read to its end, where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    properties: Vec<PropertyDocument>,
    /// Events that are actions of some property, and events that are not.
    seen: u64,
    unseen: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<iolite_exec::Certificate>,
}

#[derive(Serialize)]
struct PropertyDocument {
    property: String,
    verdict: Verdict,
    /// The event, from 1, that settled it.
    step: Option<u64>,
}

pub(super) fn run<R: BufRead>(
    judge: &PropertyJudge,
    log: &mut LogReader<R>,
    options: &MonitorOptions,
    json: bool,
    watch: &mut Watch,
) -> Result<Exit, Failure> {
    let mut tester = judge.monitor();
    let parse = |text: &str| judge.parse(text);
    let watched = &mut |steps, line| look(watch, steps, line);
    let monitored = monitor_watched(&mut tester, log, &parse, options, watched);
    watch.finish();
    let Monitored {
        verdict,
        steps,
        line,
        certificate,
        broken_off: reason,
    } = monitored.map_err(|e| Failure::input(e.to_string()))?;
    let properties: Vec<PropertyDocument> = tester
        .outcomes()
        .into_iter()
        .map(|o| PropertyDocument {
            property: o.name,
            // What the rest of the log would have settled is open.
            verdict: match (&reason, o.step) {
                (Some(_), None) => Verdict::Unknown,
                _ => o.verdict,
            },
            step: o.step,
        })
        .collect();
    let settled = properties.iter().map(|p| p.verdict);
    let failing = settled.filter(|v| reason.is_some() && v.is_failing()).min();
    let verdict = failing.unwrap_or(verdict);
    let (seen, unseen) = judge.counts();
    if seen == 0 && unseen > 0 {
        eprintln!(
            "warning: none of the {unseen} events is an action of a property; is a --map missing?"
        );
    }
    let certificate = certificate.map(|c| judge.blame(&c).0);
    let document = Document {
        verdict,
        steps,
        line,
        reason,
        properties,
        seen,
        unseen,
        certificate,
    };
    if json {
        print_json(&document)?;
    } else {
        print(&tell(&document))?;
    }
    Ok(match verdict {
        verdict if verdict.is_failing() => Exit::Fails,
        Verdict::Pass | Verdict::WeakPass => Exit::Holds,
        _ => Exit::Inconclusive,
    })
}

fn tell(document: &Document) -> String {
    let mut text = match &document.certificate {
        // The trace of a property that failed early would show the whole log.
        Some(certificate) if document.properties.len() == 1 => chart(certificate),
        _ => String::new(),
    };
    for p in &document.properties {
        text += &match p.step {
            Some(step) => format!("{}: {} at event {step}\n", p.property, p.verdict),
            None if document.reason.is_some() => format!("{}: {}\n", p.property, p.verdict),
            None => format!("{}: {} at the end of the log\n", p.property, p.verdict),
        };
    }
    let other = match document.unseen {
        0 => String::new(),
        n => format!(", {n} of them no action of a property"),
    };
    text += &format!("{} events{other}\n", document.steps);
    if let Some(reason) = &document.reason {
        text += &format!("the log was not read on: {reason}\n");
    }
    text
}

//! `iolite monitor` by properties: one verdict a property, from one pass over the log.

use std::io::BufRead;

use iolite::{Certificate, Error, LogReport, Monitor, Verdict, WholeCertificate};
use iolite_exec::{LogReader, chart};
use serde::Serialize;

use super::monitor::look;
use crate::args::time_limit::Watch;
use crate::output::{Exit, print, print_json};

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
    certificate: Option<WholeCertificate>,
    /// What people are shown of it.
    #[serde(skip)]
    shown: Option<Certificate>,
}

#[derive(Serialize)]
struct PropertyDocument {
    property: String,
    verdict: Verdict,
    /// The event, from 1, that settled it.
    step: Option<u64>,
}

pub(crate) fn run<R: BufRead>(
    monitor: &Monitor,
    log: &mut LogReader<R>,
    json: bool,
    watch: &mut Watch,
    certify: &dyn Fn(&Certificate) -> Result<Option<WholeCertificate>, Error>,
) -> Result<Exit, Error> {
    let report = monitor.log(log, &mut |steps, line| look(watch, steps, line));
    watch.finish();
    let LogReport {
        verdict,
        steps,
        line,
        certificate,
        broken_off: reason,
        properties,
        seen: (seen, unseen),
        ..
    } = report?;
    if seen == 0 && unseen > 0 {
        eprintln!(
            "warning: none of the {unseen} events is an action of a property; is a --map missing?"
        );
    }
    let properties = properties.into_iter().map(|outcome| PropertyDocument {
        property: outcome.name,
        verdict: outcome.verdict,
        step: outcome.step,
    });
    let document = Document {
        verdict,
        steps,
        line,
        reason,
        properties: properties.collect(),
        seen,
        unseen,
        certificate: certificate.as_ref().map(certify).transpose()?.flatten(),
        shown: certificate,
    };
    if json {
        print_json(&document)?;
    } else {
        print(&tell(&document))?;
    }
    Ok(verdict.into())
}

fn tell(document: &Document) -> String {
    let mut text = match &document.shown {
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

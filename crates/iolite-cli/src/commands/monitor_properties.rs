//! `iolite monitor` by properties: one verdict a property.

use std::path::Path;

use iolite::{Certificate, Error, LogReport, Monitor, Verdict, WholeCertificate, verdict_beside};
use iolite_exec::chart;
use iolite_formats::drawing::{self, Drawing, NodeId};
use iolite_formats::svg;
use serde::Serialize;

use super::monitor_logs::JudgedLog;
use crate::output::certificates::Certified;
use crate::output::write_whole;

#[derive(Serialize)]
struct Document {
    verdict: Verdict,
    /// What the specification says, where there is one beside the properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    conformance: Option<ConformanceDocument>,
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
    /// The certificate of a property, where `certificate` is of the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    property_certificate: Option<WholeCertificate>,
    /// Certificates that could not be made, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// What people are shown of it.
    #[serde(skip)]
    shown: Option<Certificate>,
}

#[derive(Serialize)]
struct ConformanceDocument {
    verdict: Verdict,
    /// The line where it came; `null` for the verdict at the end of the log.
    line: Option<usize>,
}

#[derive(Serialize)]
struct PropertyDocument {
    property: String,
    verdict: Verdict,
    /// The event, from 1, that settled it.
    step: Option<u64>,
    /// What is owed at the end of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<PendingDocument>,
    /// Why the property could not be judged to the end: a guard has no value for an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct PendingDocument {
    /// The event, from 1, since which something is owed; 0 for the beginning.
    since: u64,
    /// Actions one of which is owed next.
    owed: Vec<String>,
    /// How many actions it takes at least until nothing is owed.
    steps: usize,
}

impl PendingDocument {
    fn tell(&self) -> String {
        let owed = match &self.owed[..] {
            [first @ .., last] if first.len() < NAMED => {
                let mut text = String::new();
                for action in first {
                    text += &format!("`{action}`, ");
                }
                text.truncate(text.len().saturating_sub(2));
                let or = if first.is_empty() { "" } else { " or " };
                format!("{text}{or}`{last}` is owed")
            }
            many => format!("one of {} actions is owed", many.len()),
        };
        let since = match self.since {
            0 => "from the beginning".to_owned(),
            n => format!("since event {n}"),
        };
        match self.steps {
            1 => format!("  {owed} {since}\n"),
            n => format!("  {owed} {since}, as the first of {n} actions\n"),
        }
    }
}

/// Actions that are named one by one.
const NAMED: usize = 5;

/// The tester of the property, with the way that the log took through it.
pub(crate) fn draw(monitor: &Monitor, report: &LogReport, path: &Path) -> Result<(), Error> {
    let judge = monitor.judge().properties();
    let watched = judge.map_or(&[][..], |judge| judge.watched());
    let (Some(watched), [outcome]) = (watched.first(), &report.properties[..]) else {
        // The flags were checked.
        return Ok(());
    };
    let mut drawing = Drawing::of_tester(&watched.name, &watched.tester);
    let node = |q: iolite_property::StateId| NodeId::new(q.index());
    drawing.path = outcome.trail.as_ref().map(|(steps, at)| drawing::Path {
        steps: steps.iter().map(|&(a, b)| (node(a), node(b))).collect(),
        at: Some(node(*at)),
    });
    let mut text = String::new();
    svg::write(&drawing, &mut text).map_err(|e| Error::input(e.to_string()))?;
    write_whole(path, text.as_bytes())
}

/// Makes the whole certificate: of the specification, or of a property.
type Certify<'a> = &'a dyn Fn(&Certificate, bool) -> Result<Certified, Error>;

/// What properties say of a log, and the specification beside them where there is one.
pub(crate) fn conclude(
    report: LogReport,
    conformance: Option<LogReport>,
    certify: Certify<'_>,
    write: &dyn Fn(&WholeCertificate) -> Result<(), Error>,
) -> Result<JudgedLog, Error> {
    let together = conformance
        .as_ref()
        .map(|conformance| verdict_beside(conformance.verdict, &report));
    let LogReport {
        verdict,
        steps,
        line,
        certificate,
        broken_off: reason,
        properties,
        seen: (seen, unseen),
        ..
    } = report;
    if seen == 0 && unseen > 0 {
        warning!(
            "warning: none of the {unseen} events is an action of a property; is a --map missing?"
        );
    }
    let properties = properties.into_iter().map(|outcome| PropertyDocument {
        property: outcome.name,
        verdict: outcome.verdict,
        step: outcome.step,
        pending: outcome.pending.map(|(debt, since)| PendingDocument {
            since,
            owed: debt.owed,
            steps: debt.steps,
        }),
        reason: outcome.doubt,
    });
    let mut document = Document {
        verdict: together.unwrap_or(verdict),
        conformance: None,
        steps,
        line,
        reason,
        properties: properties.collect(),
        seen,
        unseen,
        certificate: None,
        property_certificate: None,
        warnings: Vec::new(),
        shown: certificate,
    };
    let mut warnings = Vec::new();
    let mut certified = |judged: &Certificate, by_model| {
        let missing = |reason| {
            let warning = format!("there is no certificate: {reason}");
            warning!("warning: {warning}");
            warnings.push(warning);
        };
        let certified = certify(judged, by_model);
        let certified = certified.unwrap_or_else(|e| Err(e.message().to_owned()));
        certified.map_err(missing).ok()
    };
    if let Some(conformance) = conformance {
        document.steps = steps.max(conformance.steps);
        if let Some(judged) = &document.shown {
            document.property_certificate = certified(judged, false);
        }
        if let Some(judged) = conformance.certificate {
            document.certificate = certified(&judged, true);
            document.shown = Some(judged);
        } else {
            document.certificate = document.property_certificate.take();
        }
        document.reason = conformance.broken_off.or(document.reason);
        document.conformance = Some(ConformanceDocument {
            verdict: conformance.verdict,
            line: conformance.line,
        });
    } else if let Some(judged) = &document.shown {
        document.certificate = certified(judged, false);
    }
    document.warnings = warnings;
    // Where both are violated, the file holds what does not conform.
    let of_any = document.certificate.as_ref();
    let whole = of_any.or(document.property_certificate.as_ref());
    let written = whole.map_or(Ok(()), write);
    let judged = JudgedLog::new(document.verdict, tell(&document), &document)?;
    Ok(judged.beside(written))
}

fn tell(document: &Document) -> String {
    let mut text = match &document.shown {
        // The trace of a property that failed early would show the whole log.
        Some(certificate) if document.properties.len() == 1 => chart(certificate),
        _ => String::new(),
    };
    if let Some(conformance) = &document.conformance {
        text += &match conformance.line {
            Some(line) => format!("conformance: {} at line {line}\n", conformance.verdict),
            None => format!(
                "conformance: {} at the end of the log\n",
                conformance.verdict
            ),
        };
    }
    for p in &document.properties {
        text += &match p.step {
            Some(step) => format!("{}: {} at event {step}\n", p.property, p.verdict),
            None if document.reason.is_some() => format!("{}: {}\n", p.property, p.verdict),
            None => format!("{}: {} at the end of the log\n", p.property, p.verdict),
        };
        if let Some(pending) = &p.pending {
            text += &pending.tell();
        }
        if let Some(reason) = &p.reason {
            text += &format!("  {reason}\n");
        }
    }
    let other = match document.unseen {
        0 => String::new(),
        n => format!(", {n} of them no action of a property"),
    };
    if document.conformance.is_some() {
        text += &format!("together: {}\n", document.verdict);
    }
    text += &format!("{} events{other}\n", document.steps);
    if let Some(reason) = &document.reason {
        text += &format!("the log was not read on: {reason}\n");
    }
    text
}

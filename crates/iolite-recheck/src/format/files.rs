//! The files of a certificate: each is what its hash says, each is used, and each model has one.

use crate::claims::suite;
use crate::format::document::{Certificate, FORMAT, Named, hash};
use crate::{Outcome, Report, rejected};

/// Format and files: each is what its hash says, each is used, and each model has one.
pub(crate) fn check_files(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    if certificate.format != FORMAT {
        return rejected(format!("`{}` is not {FORMAT}", certificate.format));
    }
    let models = [&certificate.specification, &certificate.implementation];
    let models = models.into_iter().flatten().map(|m| &m.reference);
    let observers = certificate.observers.iter().chain(&certificate.traces);
    let references = models
        .chain(observers.map(|o| &o.reference))
        .chain(certificate.data_observers.iter().map(|o| &o.reference))
        .chain(certificate.property.iter().map(|p| &p.reference))
        .chain(
            certificate
                .properties
                .iter()
                .map(|p| &p.automaton.reference),
        )
        .chain(certificate.test.iter().map(|t| &t.reference))
        .chain(certificate.suite.iter().map(|t| &t.reference))
        .chain(certificate.data.iter().map(|d| &d.observer))
        .filter(|reference| !reference.is_empty());
    let references: Vec<&String> = references.collect();
    let is_in = |reference: &str, path: &str| {
        let rest = reference.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    };
    for (k, file) in certificate.files.iter().enumerate() {
        if hash(file.text.as_bytes()) != file.hash {
            return rejected(format!("{}: the text does not have its hash", file.path));
        }
        if certificate.files[..k]
            .iter()
            .any(|other| other.path == file.path)
        {
            return rejected(format!("{} is there twice", file.path));
        }
        if !references
            .iter()
            .any(|reference| is_in(reference, &file.path))
        {
            report
                .notes
                .push(format!("{} is of no model here", file.path));
        }
    }
    for reference in references {
        let found = certificate
            .files
            .iter()
            .any(|file| is_in(reference, &file.path));
        if !found && !reference.starts_with("ltl:") {
            return rejected(format!("the text of {reference} is missing"));
        }
    }
    report
        .confirmed
        .push("files: each text has its hash".to_owned());
    check_name(certificate)
}

/// What judged is the test case, the specification or the property, with the hash of its file.
fn check_name(certificate: &Certificate) -> Outcome<()> {
    let Named {
        file,
        name,
        hash: told,
    } = &certificate.model;
    let file = file.as_deref().unwrap_or_default();
    let whole = match name {
        Some(name) => format!("{file}#{name}"),
        None => file.to_owned(),
    };
    let specification = certificate.specification.as_ref().map(|m| &m.reference);
    let property = certificate.property.as_ref().map(|p| &p.reference);
    let tests = certificate.test.iter().map(|t| &t.reference);
    let test = tests
        .chain(certificate.data.iter().map(|d| &d.observer))
        .next();
    let judge = if suite::is_claimed(certificate) {
        specification
    } else {
        let first = specification.filter(|_| certificate.data.is_some());
        first.or(test).or(specification).or(property)
    };
    let formula = file.starts_with("ltl:") && judge.is_some_and(|judge| judge.starts_with(file));
    if judge != Some(&whole) && !formula {
        return rejected(format!("{whole} is not what judged"));
    }
    let own = match certificate.files.iter().find(|f| f.path == file) {
        Some(own) => own.hash.clone(),
        None => hash(file.trim_start_matches("ltl:").as_bytes()),
    };
    if told.as_ref().is_some_and(|told| *told != own) {
        return rejected(format!("{file}: this is not its hash"));
    }
    Ok(())
}

//! Failing runs as annotations of the model's text, in the forms that forges show beside a change.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use iolite::{Certificate, Error};
use iolite_exec::{Event, ExecError, JournalHeader, Sink};
use serde::Serialize;

use super::report_files::ReportFile;

/// Ways to fail that are annotated; more would bury the change.
const MOST: usize = 50;

/// Where annotations go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnnotationForm {
    /// Workflow commands of GitHub's runners, on standard error.
    GitHub,
    /// A code quality report, which `GitLab` reads as an artefact.
    GitLab(PathBuf),
}

impl FromStr for AnnotationForm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "github" => Ok(Self::GitHub),
            Some(("gitlab", file)) if !file.is_empty() => Ok(Self::GitLab(file.into())),
            _ => Err("annotations are `github`, or `gitlab:FILE.json`".to_owned()),
        }
    }
}

/// A failure at a place of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Annotation {
    path: String,
    line: u32,
    title: String,
    message: String,
}

/// An entry of a code quality report.
#[derive(Serialize)]
struct Quality<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'a str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

/// Annotates each way to fail once, at the first place of the model where it can have been.
pub(crate) struct Annotations {
    /// None for standard error.
    file: Option<ReportFile>,
    model: String,
    replay: Option<String>,
    seen: BTreeSet<(String, Vec<String>, Option<String>)>,
    found: Vec<Annotation>,
}

impl Annotations {
    pub(crate) fn new(
        form: &AnnotationForm,
        header: &JournalHeader,
        replay: Option<String>,
    ) -> Result<Self, Error> {
        Ok(Self {
            file: match form {
                AnnotationForm::GitHub => None,
                AnnotationForm::GitLab(path) => Some(ReportFile::new(path)?),
            },
            model: header.model.path().display().to_string(),
            replay,
            seen: BTreeSet::new(),
            found: Vec::new(),
        })
    }

    fn add(&mut self, run: u64, verdict: &str, certificate: &Certificate) {
        let places = &certificate.locations;
        let observed = certificate.observed.clone();
        let key = (verdict.to_owned(), places.clone(), observed.clone());
        if self.found.len() >= MOST || !self.seen.insert(key) {
            return;
        }
        let line = places.iter().find_map(|place| {
            let (_, line) = place.rsplit_once("(line ")?;
            line.strip_suffix(')')?.parse().ok()
        });
        let replay = self.replay.as_ref();
        let replay = replay.map_or(String::new(), |r| format!("; {r} --run {run}"));
        self.found.push(Annotation {
            path: self.model.clone(),
            line: line.unwrap_or(1),
            title: format!("run {run}: {verdict}"),
            message: format!(
                "observed {}, allowed {}, in {}{replay}",
                observed.as_deref().unwrap_or("the end of the run"),
                certificate.allowed.join(" "),
                places.join(", ")
            ),
        });
    }

    fn write(&mut self) -> std::io::Result<()> {
        let Some(file) = &mut self.file else {
            for annotation in self.found.drain(..) {
                super::status::say(&annotation.workflow_command());
            }
            return Ok(());
        };
        let report: Vec<Quality<'_>> = self.found.iter().map(Annotation::quality).collect();
        serde_json::to_writer_pretty(&mut *file, &report)?;
        writeln!(file)?;
        file.flush()
    }
}

impl Annotation {
    fn workflow_command(&self) -> String {
        format!(
            "::error file={},line={},title={}::{}",
            property(&self.path),
            self.line,
            property(&self.title),
            data(&self.message)
        )
    }

    fn quality(&self) -> Quality<'_> {
        let Self {
            path,
            line,
            title,
            message,
        } = self;
        // Without the number of the run, so that the same failure has the same fingerprint tomorrow.
        let verdict = title.rsplit(' ').next().unwrap_or_default();
        let what = message.split(';').next().unwrap_or_default();
        Quality {
            description: format!("{title}: {message}"),
            check_name: "iolite test",
            fingerprint: fingerprint(&[path, verdict, what]),
            severity: "major",
            location: Location {
                path,
                lines: Lines { begin: *line },
            },
        }
    }
}

/// The text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// FNV-1a over the parts: short, and the same everywhere.
fn fingerprint(parts: &[&str]) -> String {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

impl Sink for Annotations {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        match event {
            Event::RunEnded {
                run,
                verdict,
                certificate: Some(certificate),
                ..
            } if verdict.is_failing() => self.add(*run, verdict.name(), certificate),
            _ => {}
        }
        Ok(())
    }

    fn wants_steps(&self) -> bool {
        false
    }

    fn finish(&mut self) -> Result<(), ExecError> {
        self.write()
            .map_err(|e| ExecError::Report(format!("annotations: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        assert_eq!("github".parse(), Ok(AnnotationForm::GitHub));
        assert_eq!(
            "gitlab:q.json".parse(),
            Ok(AnnotationForm::GitLab("q.json".into()))
        );
        assert!("gitlab".parse::<AnnotationForm>().is_err());
        assert!("gitlab:".parse::<AnnotationForm>().is_err());
    }

    #[test]
    fn what_a_system_wrote_is_no_command() {
        let annotation = Annotation {
            path: "a,b:c.iol".to_owned(),
            line: 3,
            title: "run 1: fail".to_owned(),
            message: "observed !x\n::set-env 100%".to_owned(),
        };
        assert_eq!(
            annotation.workflow_command(),
            "::error file=a%2Cb%3Ac.iol,line=3,title=run 1%3A fail::observed !x%0A::set-env 100%25"
        );
    }
}

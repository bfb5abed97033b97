//! `iolite monitor` over several logs, and the shares of that.

use std::collections::BTreeMap;

use iolite::{Error, ErrorKind, Verdict};
use iolite_exec::interrupted;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::monitor::{Args, check, judge_log};
use crate::output::status;
use crate::output::{Exit, beside_answer, counted, print, print_json, to_json};

/// A log that was judged.
pub(crate) struct JudgedLog {
    pub(crate) verdict: Verdict,
    /// The answer for people.
    text: String,
    /// The document for scripts.
    json: String,
    /// Files beside the answer that could not be written.
    unwritten: Vec<Error>,
    /// Why not all of it could be read.
    error: Option<Error>,
}

impl JudgedLog {
    pub(crate) fn new(
        verdict: Verdict,
        text: String,
        document: &impl Serialize,
    ) -> Result<Self, Error> {
        let json = to_json(document)?;
        Ok(Self {
            verdict,
            text,
            json,
            unwritten: Vec::new(),
            error: None,
        })
    }

    /// The same, with a file that was asked for beside the answer.
    pub(crate) fn beside(mut self, written: Result<(), Error>) -> Self {
        self.unwritten.extend(written.err());
        self
    }

    /// The same, where the log could not be read on.
    pub(crate) fn but(mut self, error: Option<Error>) -> Self {
        self.error = error;
        self
    }

    /// The only answer of a command.
    pub(crate) fn print(self, json: bool) -> Result<Exit, Error> {
        if json {
            print(&format!("{}\n", self.json))?;
        } else {
            print(&self.text)?;
        }
        let mut exit = Exit::from(self.verdict);
        if let Some(error) = &self.error {
            say!("{error}");
            // What failed before has failed.
            if exit != Exit::Fails {
                exit = error.into();
            }
        }
        let unwritten = self.unwritten.into_iter();
        Ok(unwritten.fold(exit, |exit, error| beside_answer(exit, Err(error))))
    }
}

/// One of several logs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LogDocument {
    /// Which one, from 0.
    pub(crate) number: u64,
    log: String,
    /// None where it could not be judged.
    pub(crate) verdict: Option<Verdict>,
    /// Why it could not be judged, or not to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<LogError>,
    /// What `iolite monitor` says of this log alone.
    document: Box<RawValue>,
}

/// Why a log could not be judged to its end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LogError {
    kind: LogErrorKind,
    pub(crate) message: String,
}

/// Whose fault it is, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LogErrorKind {
    Undecided,
    Input,
    Fault,
}

impl From<&Error> for LogError {
    fn from(error: &Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Undecided => LogErrorKind::Undecided,
            ErrorKind::Input => LogErrorKind::Input,
            ErrorKind::Fault => LogErrorKind::Fault,
        };
        Self {
            kind,
            message: error.message().to_owned(),
        }
    }
}

impl From<LogErrorKind> for Exit {
    fn from(kind: LogErrorKind) -> Self {
        match kind {
            LogErrorKind::Undecided => Self::Inconclusive,
            LogErrorKind::Input => Self::BadInput,
            LogErrorKind::Fault => Self::Fault,
        }
    }
}

impl LogDocument {
    /// Leaves out what is said of this log alone, where nobody asks for it.
    #[cfg(feature = "fleet")]
    pub(crate) fn without_document(&mut self) {
        self.document = Box::default();
    }

    /// Judges one of the logs.
    pub(crate) fn of(args: &Args, at: usize) -> Result<(Self, String), Error> {
        let judged = judge_log(&args.of_log(at))?;
        if let Some(error) = &judged.error {
            say!("{error}");
        }
        let document = RawValue::from_string(judged.json)
            .map_err(|e| Error::fault(format!("writing JSON: {e}")))?;
        let document = Self {
            verdict: Some(judged.verdict),
            error: judged.error.as_ref().map(LogError::from),
            document,
            ..Self::unjudged(args, at)
        };
        Ok((document, judged.text))
    }

    fn unjudged(args: &Args, at: usize) -> Self {
        let log = args.logs.get(at).map(|log| log.display().to_string());
        Self {
            number: at as u64,
            log: log.unwrap_or_default(),
            verdict: None,
            error: None,
            document: Box::default(),
        }
    }

    /// Whether something has failed.
    #[cfg(feature = "fleet")]
    pub(crate) fn is_failing(&self) -> bool {
        self.verdict.is_some_and(Verdict::is_failing)
    }
}

/// What several logs came to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LogsDocument {
    /// The worst.
    pub(crate) verdict: Option<Verdict>,
    /// How often each verdict was seen.
    verdicts: BTreeMap<Verdict, u64>,
    model: String,
    /// How many logs all shares have.
    all: u64,
    logs: Vec<LogDocument>,
}

impl LogsDocument {
    pub(crate) fn new(args: &Args, logs: Vec<LogDocument>) -> Self {
        let mut document = Self {
            verdict: None,
            verdicts: BTreeMap::new(),
            model: args.model.to_string(),
            all: args.logs.len() as u64,
            logs,
        };
        document.count();
        document
    }

    fn count(&mut self) {
        self.verdicts.clear();
        for log in &self.logs {
            if let Some(verdict) = log.verdict {
                *self.verdicts.entry(verdict).or_default() += 1;
            }
        }
        // Whatever is in a log that could not be read, it was not judged.
        let unread = self.logs.iter().any(|log| log.error.is_some());
        let doubt = unread.then_some(Verdict::Unknown);
        self.verdict = Verdict::worst(self.verdicts.keys().copied().chain(doubt));
    }

    /// The shares of one command, joined.
    pub(crate) fn merge(shares: Vec<(String, Self)>, partial: bool) -> Result<Self, String> {
        let mut shares = shares.into_iter();
        let Some((one, mut whole)) = shares.next() else {
            return Err("there is nothing to merge".to_owned());
        };
        for (other, share) in shares {
            if (&whole.model, whole.all) != (&share.model, share.all) {
                return Err(format!(
                    "{other} is about other logs, or another model, than {one}"
                ));
            }
            whole.logs.extend(share.logs);
        }
        whole.logs.sort_by_key(|log| log.number);
        let twice = whole
            .logs
            .windows(2)
            .find(|two| two[0].number == two[1].number);
        if let Some(log) = twice {
            return Err(format!("{} is in two shares", log[0].log));
        }
        if whole.logs.iter().any(|log| log.number >= whole.all) {
            return Err(format!("{one} has more logs than there are"));
        }
        let missing = whole.all - whole.logs.len() as u64;
        if missing > 0 && !partial {
            return Err(format!("{} in no share", counted(missing, "log")));
        }
        whole.count();
        Ok(whole)
    }

    /// The answer for people, beside those about each log.
    fn tell(&self) -> String {
        let verdicts = self.verdicts.iter();
        let mut verdicts: Vec<String> = verdicts.map(|(v, n)| format!("{n} {v}")).collect();
        let unjudged = self.logs.iter().filter(|log| log.verdict.is_none());
        match unjudged.count() {
            0 => {}
            n => verdicts.push(format!("{n} not judged")),
        }
        let logs = counted(self.logs.len() as u64, "log");
        format!("{}: {logs}: {}\n", self.model, verdicts.join(", "))
    }

    /// The answer of a command that judged none of them itself.
    pub(crate) fn conclude(&self, json: bool) -> Result<Exit, Error> {
        if json {
            print_json(self)?;
        } else {
            let mut text = String::new();
            for log in &self.logs {
                text += &match (log.verdict, &log.error) {
                    (Some(verdict), None) => format!("{}: {verdict}\n", log.log),
                    (Some(verdict), Some(error)) => {
                        format!("{}: {verdict}; {}\n", log.log, error.message)
                    }
                    (None, error) => {
                        let why = error.as_ref().map_or("no document", |e| &e.message);
                        format!("{}: not judged: {why}\n", log.log)
                    }
                };
            }
            print(&(text + &self.tell()))?;
        }
        Ok(self.exit())
    }

    fn exit(&self) -> Exit {
        let errors = self.logs.iter().filter_map(|log| log.error.as_ref());
        let worst = errors.map(|error| error.kind).max();
        match (self.verdict, worst) {
            (Some(verdict), _) if verdict.is_failing() => Exit::Fails,
            (_, Some(worst)) => worst.into(),
            (verdict, None) => verdict.map_or(Exit::Inconclusive, Exit::from),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let one = [
        (args.run.is_some(), "--run"),
        (args.certificate.is_some(), "--certificate"),
        (args.picture.is_some(), "--picture"),
    ];
    if let Some((_, flag)) = one.into_iter().find(|(given, _)| *given) {
        return Err(Error::input(format!("{flag} is for one log")));
    }
    let mut logs = Vec::new();
    let mut is_cut_short = false;
    let takes = |at: &usize| args.partition.is_none_or(|p| p.takes(*at as u64));
    let taken: Vec<usize> = (0..args.logs.len()).filter(takes).collect();
    if let Some(first) = taken.first() {
        // A mistake in the model is no matter of a log.
        check(&args.of_log(*first))?;
    }
    for at in taken {
        if interrupted().is_some() {
            is_cut_short = true;
            break;
        }
        status::part(at, args.logs.len(), "logs");
        let (log, text) = match LogDocument::of(args, at) {
            Err(_) if interrupted().is_some() => {
                is_cut_short = true;
                break;
            }
            Err(error) => {
                say!("{error}");
                let mut log = LogDocument::unjudged(args, at);
                log.error = Some((&error).into());
                (log, String::new())
            }
            Ok(judged) => judged,
        };
        if !args.json {
            print(&text)?;
        }
        logs.push(log);
    }
    let mut document = LogsDocument::new(args, logs);
    if let Some(by) = interrupted().filter(|_| is_cut_short) {
        let judged = counted(document.logs.len() as u64, "log");
        say!("interrupted by {by} after {judged}; the others were not judged");
        let so_far = document.verdict.into_iter();
        document.verdict = Verdict::worst(so_far.chain([Verdict::Unknown]));
    }
    if args.json {
        print_json(&document)?;
    } else {
        print(&document.tell())?;
    }
    Ok(document.exit())
}

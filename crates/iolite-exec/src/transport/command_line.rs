//! The command that starts a system under test.

use serde::{Deserialize, Serialize};

use crate::ExecError;

/// Program and arguments, as a list or as one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// Words with spaces between; `'…'` and `"…"` hold a word together. There is no shell.
    Line(String),
    /// Program and arguments.
    Words(Vec<String>),
}

impl CommandLine {
    /// Program and arguments.
    pub fn words(&self) -> Result<Vec<String>, ExecError> {
        match self {
            Self::Words(words) => Ok(words.clone()),
            Self::Line(line) => split_words(line),
        }
    }
}

/// Words that a shell would act on, and that no program expects.
const SHELL_WORDS: [&str; 9] = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"];

fn split_words(line: &str) -> Result<Vec<String>, ExecError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), _) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(c),
        }
    }
    // One that is meant as it stands is quoted in the line, or the command is a list.
    let shell = line.split_whitespace().find(|w| SHELL_WORDS.contains(w));
    if let Some(operator) = shell.filter(|o| words.iter().chain(&word).any(|w| w == o)) {
        return Err(ExecError::Config(format!(
            "command {line:?}: there is no shell, and {operator} would be an argument of the program; \
             write [\"sh\", \"-c\", \"…\"] for one"
        )));
    }
    // So are paths and variables that only a shell would fill in.
    let unfilled = line.split_whitespace().find(|w| {
        let variable = w.strip_prefix('$').is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '{')
        });
        w.starts_with("~/") || variable
    });
    if let Some(word) = unfilled.filter(|o| words.iter().chain(&word).any(|w| w == o)) {
        return Err(ExecError::Config(format!(
            "command {line:?}: there is no shell, and {word} would reach the program as it stands; write it out, or \
             [\"sh\", \"-c\", \"…\"] for a shell"
        )));
    }
    if quote.is_some() {
        return Err(ExecError::Config(format!(
            "command {line:?} has an open quote"
        )));
    }
    words.extend(word);
    Ok(words)
}

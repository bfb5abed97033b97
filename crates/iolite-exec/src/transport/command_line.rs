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
    pub(crate) fn words(&self) -> Result<Vec<String>, ExecError> {
        match self {
            Self::Words(words) => Ok(words.clone()),
            Self::Line(line) => split_words(line),
        }
    }
}

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
    if quote.is_some() {
        return Err(ExecError::Config(format!(
            "command {line:?} has an open quote"
        )));
    }
    words.extend(word);
    Ok(words)
}

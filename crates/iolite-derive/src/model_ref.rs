//! How a model is named: by users, in journals, in certificates and test cases.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use iolite_lts::Lts;
use serde::{Deserialize, Serialize};

use crate::model_hash;

/// `FILE`, or `FILE#Name` for one declaration of it, or `FILE#Name(max = 3)` for an instance; with the
/// hash of its text where one is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModelRef {
    /// The file, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The declaration in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A hash of the model's text or structure, as whoever wrote it computes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl ModelRef {
    /// A file, without a declaration.
    pub fn file(path: &Path) -> Self {
        Self {
            file: Some(path.display().to_string()),
            ..Self::default()
        }
    }

    /// An explicit model, with the hash of its structure.
    pub fn of(name: impl Into<String>, model: &Lts) -> Self {
        Self {
            file: None,
            name: Some(name.into()),
            hash: Some(model_hash(model)),
        }
    }

    /// The same file, another declaration.
    #[must_use]
    pub fn with_name(&self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self.clone()
        }
    }

    /// The same, with the hash of its text.
    #[must_use]
    pub fn with_hash(&self, hash: impl Into<String>) -> Self {
        Self {
            hash: Some(hash.into()),
            ..self.clone()
        }
    }

    /// The file's path; empty without one.
    pub fn path(&self) -> &Path {
        Path::new(self.file.as_deref().unwrap_or_default())
    }

    /// The ending of the file's name, the one before `.gz` where it is packed; none where it is a command
    /// line.
    pub fn ending(&self) -> &str {
        if self
            .file
            .as_ref()
            .is_some_and(|f| f.starts_with("explore:"))
        {
            return "";
        }
        let path = self.path();
        let packed = path.extension().is_some_and(|ending| ending == "gz");
        let unpacked = path.file_stem().filter(|_| packed).map(Path::new);
        let ending = unpacked.unwrap_or(path).extension();
        ending.and_then(|e| e.to_str()).unwrap_or_default()
    }

    /// Whether the file is standard input, which is read as one of our own language.
    pub fn is_stdin(&self) -> bool {
        self.path() == Path::new("-")
    }

    /// Whether the file is one of our own language.
    pub fn is_iol(&self) -> bool {
        self.ending() == "iol" || self.is_stdin()
    }
}

impl FromStr for ModelRef {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        // Formulas and command lines may contain anything; arguments may have any text in quotes.
        let declared = |rest: &str| {
            let (name, arguments) = rest.split_at(rest.find(['(', '[']).unwrap_or(rest.len()));
            !name.is_empty()
                && !name.contains(['/', '#'])
                && (arguments.is_empty() || arguments.ends_with([')', ']']))
        };
        let mark = text
            .match_indices('#')
            .map(|(i, _)| i)
            .filter(|_| !text.starts_with("ltl:") && !text.starts_with("explore:"))
            .find(|i| declared(&text[i + 1..]));
        Ok(Self {
            file: Some(mark.map_or(text, |i| &text[..i]).to_owned()),
            name: mark.map(|i| text[i + 1..].to_owned()),
            hash: None,
        })
    }
}

impl From<&str> for ModelRef {
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(reference) => reference,
        }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or_default())?;
        match (&self.file, &self.name) {
            (_, None) => Ok(()),
            (None, Some(name)) => f.write_str(name),
            (Some(_), Some(name)) => write!(f, "#{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_and_shown() {
        for (text, file, name) in [
            ("a.iol", "a.iol", None),
            ("a.iol#S", "a.iol", Some("S")),
            (
                "d#1/a.iol#S(f = \"#)\")",
                "d#1/a.iol",
                Some("S(f = \"#)\")"),
            ),
            ("odd#.iol", "odd", Some(".iol")),
            ("ltl:G !a#b", "ltl:G !a#b", None),
            ("explore:sh a#b", "explore:sh a#b", None),
        ] {
            let reference = ModelRef::from(text);
            assert_eq!(reference.file.as_deref(), Some(file), "{text}");
            assert_eq!(reference.name.as_deref(), name, "{text}");
            assert_eq!(reference.to_string(), text);
        }
    }
}

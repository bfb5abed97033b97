//! What a description says about TLS.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

/// How a channel over TLS is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TlsConfig {
    /// PEM file of the certificates that are trusted: authorities, or the system's own certificate.
    /// Those of the operating system when missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// The name that the system's certificate must be for; the host of the address when missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// PEM file of the tester's own certificate, for a system that asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert: Option<PathBuf>,
    /// PEM file of the key of `cert`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
}

impl TlsConfig {
    fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        [&mut self.ca, &mut self.cert, &mut self.key]
            .into_iter()
            .flatten()
    }

    /// The files, which are relative to this folder. Those of `{dir}` are the job's.
    pub(super) fn relative_to(&mut self, folder: &Path) {
        for file in self.files_mut().filter(|file| !is_of_job(file)) {
            *file = folder.join(&*file);
        }
    }

    /// The same with `{dir}` and its like filled in, and whether each file that nobody is about to
    /// write is there.
    pub(super) fn filled<E>(
        &self,
        mut fill: impl FnMut(&str) -> Result<String, E>,
        mut missing: impl FnMut(&Path) -> E,
    ) -> Result<Self, E> {
        let mut filled = self.clone();
        for file in filled.files_mut() {
            if is_of_job(file) {
                *file = PathBuf::from(fill(&file.display().to_string())?);
            } else if !file.is_file() {
                return Err(missing(file));
            }
        }
        Ok(filled)
    }

    /// What contradicts itself.
    pub(super) fn mistake(&self) -> Option<&'static str> {
        match (&self.cert, &self.key) {
            (Some(_), None) => Some("tls: cert needs the key of the certificate"),
            (None, Some(_)) => Some("tls: key needs the cert that it belongs to"),
            _ => None,
        }
    }
}

/// Whether a file lies in the folder of a job, where the system may write it when it starts.
fn is_of_job(file: &Path) -> bool {
    file.starts_with("{dir}")
}

/// The key `tls`: a switch, or a table that switches it on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum TlsKey {
    Switch(bool),
    Table(TlsConfig),
}

impl TlsKey {
    pub(super) fn config(self) -> Option<TlsConfig> {
        match self {
            Self::Switch(on) => on.then(TlsConfig::default),
            Self::Table(config) => Some(config),
        }
    }
}

impl From<TlsConfig> for TlsKey {
    fn from(config: TlsConfig) -> Self {
        if config == TlsConfig::default() {
            Self::Switch(true)
        } else {
            Self::Table(config)
        }
    }
}

/// By hand, because an untagged enum hides which key of the table is unknown.
impl<'de> Deserialize<'de> for TlsKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;
        impl<'de> Visitor<'de> for Key {
            type Value = TlsKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a table with ca, name, cert, key")
            }

            fn visit_bool<E>(self, on: bool) -> Result<TlsKey, E> {
                Ok(TlsKey::Switch(on))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TlsKey, A::Error> {
                TlsConfig::deserialize(MapAccessDeserializer::new(map)).map(TlsKey::Table)
            }
        }
        deserializer.deserialize_any(Key)
    }
}

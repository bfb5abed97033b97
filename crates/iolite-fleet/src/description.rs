//! What a campaign is: all that its runs depend on, and how far it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::FleetError;
use crate::files::{digest, is_plain_path};

/// The format of descriptions.
const FORMAT: &str = "iolite-fleet/1";

/// What the items of a campaign are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Runs of `iolite test`.
    Test,
    /// Mutants of `iolite mutate`.
    Mutate,
    /// Logs of `iolite monitor`.
    Monitor,
}

impl Kind {
    /// The command that makes the items.
    pub fn command(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Mutate => "mutate",
            Self::Monitor => "monitor",
        }
    }

    /// What an item is called.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Test => "run",
            Self::Mutate => "mutant",
            Self::Monitor => "log",
        }
    }
}

/// A file that the campaign needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TravellingFile {
    /// Where it is, relative to the campaign's folder.
    pub path: String,
    /// Its content.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Whether it may be executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

/// What a worker has, or a campaign needs: `device=board7`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Capabilities(BTreeMap<String, BTreeSet<String>>);

impl Capabilities {
    /// Adds one.
    pub fn add(&mut self, (name, value): (String, String)) {
        self.0.entry(name).or_default().insert(value);
    }

    /// Whether everything that is needed is among these.
    pub fn satisfy(&self, needed: &Self) -> bool {
        needed.0.iter().all(|(name, values)| {
            let have = self.0.get(name);
            have.is_some_and(|have| values.is_subset(have))
        })
    }

    /// Reads `NAME=VALUE`.
    pub fn parse(text: &str) -> Result<(String, String), String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok((name.to_owned(), value.to_owned()))
            }
            _ => Err("a capability is NAME=VALUE, such as device=board7".to_owned()),
        }
    }
}

impl FromIterator<(String, String)> for Capabilities {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        let mut all = Self::default();
        pairs.into_iter().for_each(|pair| all.add(pair));
        all
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.0.iter();
        let pairs = pairs.flat_map(|(name, values)| values.iter().map(move |v| (name, v)));
        let texts: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        f.write_str(&texts.join(", "))
    }
}

/// How far the whole campaign goes, whoever makes its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// No new run after a failing one.
    #[serde(default)]
    pub stop_on_fail: bool,
    /// No new run once this share of the suspension automaton was seen, between 0 and 1.
    #[serde(default)]
    pub until_coverage: Option<f64>,
    /// No new run so many seconds after the first was begun.
    #[serde(default)]
    pub budget: Option<f64>,
    /// Further runs after one whose infrastructure failed in every try.
    #[serde(default)]
    pub keep_going: bool,
    /// A run that says nothing for so many seconds is ended, and tried again.
    #[serde(default)]
    pub run_timeout: Option<f64>,
}

/// A campaign: run r of it is determined by this, its files and r.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    format: String,
    /// The version of Iolite that made it; another one may draw other runs from one seed.
    pub version: String,
    /// What people call it.
    pub name: String,
    /// What its items are.
    pub kind: Kind,
    /// The command line that makes all items in one process, in the campaign's folder.
    pub command: Vec<String>,
    /// What it needs to be there.
    pub files: Vec<TravellingFile>,
    /// How many items there are.
    pub items: u64,
    /// How far it goes.
    #[serde(default)]
    pub limits: Limits,
    /// What a worker must offer.
    #[serde(default)]
    pub needs: Capabilities,
    /// Tries of an item before it is set aside.
    pub tries: u32,
    /// Items of one message.
    pub range: u64,
    /// Seconds after which the items of a worker that says nothing are given to another.
    pub patience: f64,
}

/// Bytes of a description.
const MOST_BYTES: usize = 512 << 10;
/// Files of a campaign.
const MOST_FILES: usize = 4096;
/// Bytes of one file.
const MOST_FILE_BYTES: u64 = 256 << 20;
/// Bytes of all files.
const MOST_BYTES_OF_FILES: u64 = 1 << 30;
/// Items of one message.
const MOST_RANGE: u64 = 100_000;
/// Items of a campaign.
const MOST_ITEMS: u64 = 100_000_000;

impl Description {
    /// A campaign with usual numbers of tries and runs of a message.
    pub fn new(name: &str, kind: Kind, command: Vec<String>, items: u64) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            kind,
            command,
            files: Vec::new(),
            items,
            limits: Limits::default(),
            needs: Capabilities::default(),
            tries: 3,
            range: (items / 50).clamp(1, 50),
            patience: 30.0,
        }
    }

    /// The text that is stored and hashed.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FleetError> {
        let bytes = serde_json::to_vec(self)
            .map_err(|e| FleetError::Input(format!("the description: {e}")))?;
        if bytes.len() > MOST_BYTES {
            return Err(FleetError::Input(format!(
                "the description has {} bytes, more than {MOST_BYTES}",
                bytes.len()
            )));
        }
        Ok(bytes)
    }

    /// The hash of everything that it says, the content of its files included.
    pub fn hash(&self) -> Result<String, FleetError> {
        Ok(digest(&self.to_bytes()?))
    }

    /// Reads what a server holds.
    pub fn read(bytes: &[u8]) -> Result<Self, FleetError> {
        if bytes.len() > MOST_BYTES {
            return Err(FleetError::content("a description that is too large"));
        }
        let read: Self = serde_json::from_slice(bytes)
            .map_err(|e| FleetError::content(format!("no description of a campaign: {e}")))?;
        read.check().map_err(FleetError::Content)?;
        Ok(read)
    }

    /// Whether numbers and names are within what a worker accepts.
    pub fn check(&self) -> Result<(), String> {
        let positive = |number: Option<f64>| number.is_none_or(|n| n.is_finite() && n > 0.0);
        let of_one = |share: Option<f64>| share.is_none_or(|s| (0.0..=1.0).contains(&s));
        let checks = [
            (
                self.format == FORMAT,
                format!("format {:?} is not {FORMAT:?}", self.format),
            ),
            (self.name.len() <= 200, "its name is too long".to_owned()),
            (
                self.command.get(1).map(String::as_str) == Some(self.kind.command()),
                format!("its command is not `iolite {}`", self.kind.command()),
            ),
            (
                self.files.len() <= MOST_FILES,
                format!("more than {MOST_FILES} files"),
            ),
            (
                self.files.iter().all(|f| f.bytes <= MOST_FILE_BYTES),
                format!("a file of more than {MOST_FILE_BYTES} bytes"),
            ),
            (
                self.files
                    .iter()
                    .fold(0, |sum: u64, f| sum.saturating_add(f.bytes))
                    <= MOST_BYTES_OF_FILES,
                format!("files of more than {MOST_BYTES_OF_FILES} bytes"),
            ),
            (
                (1..=MOST_ITEMS).contains(&self.items),
                format!("{} items; from 1 to {MOST_ITEMS} are possible", self.items),
            ),
            (
                (1..=MOST_RANGE).contains(&self.range),
                format!(
                    "{} items a message; from 1 to {MOST_RANGE} are possible",
                    self.range
                ),
            ),
            (
                (1..=100).contains(&self.tries),
                "tries are from 1 to 100".to_owned(),
            ),
            (
                (0.5..=3600.0).contains(&self.patience),
                "patience is from 0.5 to 3600 seconds".to_owned(),
            ),
            (
                positive(self.limits.budget) && positive(self.limits.run_timeout),
                "a time is above zero".to_owned(),
            ),
            (
                of_one(self.limits.until_coverage),
                "a coverage is from 0 to 1".to_owned(),
            ),
        ];
        if let Some((_, wrong)) = checks.into_iter().find(|(right, _)| !right) {
            return Err(wrong);
        }
        let mut paths = BTreeSet::new();
        for file in &self.files {
            if !is_plain_path(&file.path) {
                return Err(format!(
                    "{:?} is not a path within the campaign's folder",
                    file.path
                ));
            }
            if !is_hash(&file.sha256) {
                return Err(format!("{:?} is not a SHA-256", file.sha256));
            }
            if !paths.insert(&file.path) {
                return Err(format!("{:?} is there twice", file.path));
            }
        }
        Ok(())
    }
}

/// Whether a text is a SHA-256 in hexadecimal digits.
pub(crate) fn is_hash(text: &str) -> bool {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == 64 && text.bytes().all(digit)
}

/// The name of a campaign on the server, which is part of names of streams and keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CampaignId(String);

impl CampaignId {
    /// One that is made of what people call it and its hash.
    pub(crate) fn of(name: &str, hash: &str) -> Self {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name: String = name
            .chars()
            .map(|c| if fits(c) { c } else { '-' })
            .take(40)
            .collect();
        let hash = hash.get(..12).unwrap_or(hash);
        Self(format!("{name}-{hash}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CampaignId {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Self, FleetError> {
        let fits = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        if !text.is_empty() && text.len() <= 64 && text.bytes().all(fits) {
            return Ok(Self(text.to_owned()));
        }
        Err(FleetError::Input(format!(
            "{text:?} is no name of a campaign on a server: up to 64 letters, digits, - and _"
        )))
    }
}

impl fmt::Display for CampaignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Description {
        let command = ["iolite", "test", "a.iol"].map(str::to_owned).to_vec();
        Description::new("nightly", Kind::Test, command, 5000)
    }

    #[test]
    fn a_description_comes_back_as_it_was() {
        let mut it = some();
        it.needs.add(("device".into(), "board7".into()));
        it.files.push(TravellingFile {
            path: "a.iol".into(),
            sha256: digest(b"x"),
            bytes: 1,
            executable: false,
        });
        let read = Description::read(&it.to_bytes().unwrap()).unwrap();
        assert_eq!(read, it);
        assert_eq!(read.hash(), it.hash());
        let mut other = it.clone();
        other.files[0].sha256 = digest(b"y");
        assert_ne!(other.hash(), it.hash());
    }

    #[test]
    fn hostile_descriptions_are_refused() {
        let file = |path: &str| TravellingFile {
            path: path.into(),
            sha256: digest(b"x"),
            bytes: 1,
            executable: false,
        };
        let mutate: &[fn(&mut Description)] = &[
            |d| d.items = 0,
            |d| d.items = u64::MAX,
            |d| d.range = 0,
            |d| d.range = u64::MAX,
            |d| d.tries = 0,
            |d| d.patience = f64::NAN,
            |d| d.patience = -1.0,
            |d| d.limits.budget = Some(-3.0),
            |d| d.limits.until_coverage = Some(7.0),
            |d| d.command = vec!["iolite".into(), "serve".into()],
            |d| d.command.clear(),
            |d| d.format = "other".into(),
            |d| d.name = "x".repeat(1000),
        ];
        for (k, change) in mutate.iter().enumerate() {
            let mut it = some();
            change(&mut it);
            assert!(it.check().is_err(), "{k}");
        }
        for path in ["../a", "/etc/passwd", "a/../../b", ""] {
            let mut it = some();
            it.files.push(file(path));
            assert!(
                Description::read(&it.to_bytes().unwrap()).is_err(),
                "{path}"
            );
        }
        let mut twice = some();
        twice.files = vec![file("a"), file("a")];
        assert!(twice.check().is_err());
        let mut wrong = some();
        wrong.files = vec![TravellingFile {
            sha256: "../x".into(),
            ..file("a")
        }];
        assert!(wrong.check().is_err());
        assert!(Description::read(&vec![b' '; 600 << 10]).is_err());
        assert!(Description::read(b"[[[[[").is_err());
        assert!(Description::read(&[0xff; 10]).is_err());
    }

    #[test]
    fn capabilities() {
        let of = |texts: &[&str]| -> Capabilities {
            texts
                .iter()
                .map(|t| Capabilities::parse(t).unwrap())
                .collect()
        };
        let worker = of(&["device=board7", "os=linux", "device=board8"]);
        assert!(worker.satisfy(&Capabilities::default()));
        assert!(worker.satisfy(&of(&["device=board8"])));
        assert!(!worker.satisfy(&of(&["device=board9"])));
        assert!(!worker.satisfy(&of(&["device=board7", "arch=arm"])));
        assert!(Capabilities::parse("board7").is_err());
        assert!(Capabilities::parse("=x").is_err());
    }

    #[test]
    fn names_on_the_server() {
        assert_eq!(
            CampaignId::of("a b.c", "0123456789abcdef").as_str(),
            "a-b-c-0123456789ab"
        );
        for wrong in ["", "a.b", "a b", "*", ">", "ä", "a/b"] {
            assert!(wrong.parse::<CampaignId>().is_err(), "{wrong}");
        }
    }
}

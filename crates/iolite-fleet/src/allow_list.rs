//! Which campaigns a worker runs. A description can start programs, so this is the worker's to say.

use std::collections::BTreeSet;

use crate::Description;
use crate::description::is_hash;

/// What a campaign would start on this machine, as the worker's own command finds it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// Command lines of programs.
    pub programs: Vec<String>,
    /// Addresses that are connected to.
    pub addresses: Vec<String>,
}

/// The campaigns that a worker runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    hashes: BTreeSet<String>,
    models: bool,
}

impl AllowList {
    /// Adds an entry: `sha256:…` for the one campaign with this hash, `models` for all that start no
    /// program and connect to nothing.
    pub fn add(&mut self, entry: &str) -> Result<(), String> {
        if entry == "models" {
            self.models = true;
            return Ok(());
        }
        match entry.strip_prefix("sha256:") {
            Some(hash) if is_hash(hash) => {
                self.hashes.insert(hash.to_owned());
                Ok(())
            }
            _ => Err(format!(
                "{entry:?} names no campaign: sha256:… as `iolite fleet submit` prints it, or models"
            )),
        }
    }

    /// Adds the entries of a file: one a line; what follows # is for people.
    pub fn add_lines(&mut self, text: &str) -> Result<(), String> {
        for (number, line) in (1..).zip(text.lines()) {
            let entry = line.split('#').next().unwrap_or_default().trim();
            if !entry.is_empty() {
                self.add(entry)
                    .map_err(|why| format!("line {number}: {why}"))?;
            }
        }
        Ok(())
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty() && !self.models
    }

    /// Whether the hash alone is enough.
    pub(crate) fn names(&self, hash: &str) -> bool {
        self.hashes.contains(hash)
    }

    /// Whether a campaign may be looked at further, once its files are there.
    pub(crate) fn may_allow(&self, hash: &str) -> bool {
        self.models || self.names(hash)
    }

    /// Why a campaign with these programs is not run; `None` where it is.
    pub(crate) fn refusal(
        &self,
        hash: &str,
        description: &Description,
        programs: &Programs,
    ) -> Option<String> {
        if self.names(hash) {
            return None;
        }
        if !self.models {
            return Some("it is not on the allow-list".to_owned());
        }
        if let Some(program) = programs.programs.first() {
            return Some(format!("it starts a program: {}", program.escape_debug()));
        }
        if let Some(address) = programs.addresses.first() {
            return Some(format!("it connects to {}", address.escape_debug()));
        }
        let file = description.files.iter().find(|file| file.executable)?;
        Some(format!("it brings a program: {}", file.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn only_what_is_named() {
        let command = ["iolite", "test"].map(str::to_owned).to_vec();
        let it = Description::new("x", Kind::Test, command, 1);
        let (hash, other) = ("a".repeat(64), "b".repeat(64));
        let mut list = AllowList::default();
        assert!(list.is_empty());
        list.add_lines(&format!("# ours\n\nsha256:{hash} # nightly\n"))
            .unwrap();
        let harmless = Programs::default();
        let program = Programs {
            programs: vec!["rm -rf /".into()],
            addresses: Vec::new(),
        };
        let address = Programs {
            programs: Vec::new(),
            addresses: vec!["10.0.0.1:1".into()],
        };
        assert_eq!(list.refusal(&hash, &it, &program), None);
        assert!(list.refusal(&other, &it, &harmless).is_some());
        list.add("models").unwrap();
        assert_eq!(list.refusal(&other, &it, &harmless), None);
        assert!(
            list.refusal(&other, &it, &program)
                .unwrap()
                .contains("rm -rf")
        );
        assert!(
            list.refusal(&other, &it, &address)
                .unwrap()
                .contains("10.0.0.1")
        );
        for wrong in ["", "*", "nightly", "sha256:", "sha256:abc", &hash] {
            assert!(list.add(wrong).is_err(), "{wrong}");
        }
        assert!(
            list.add_lines("models\nall\n")
                .unwrap_err()
                .contains("line 2")
        );
    }
}

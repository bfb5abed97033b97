//! The folder of models: its files, and no others.

use std::cmp::Reverse;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use axum::http::StatusCode;
use serde::Serialize;

use crate::refusal::Refusal;

/// Files that are listed, and how deep folders are looked into.
const MOST_FILES: usize = 2000;
const MOST_DEPTH: usize = 8;

/// Where tests leave their journals, and how many are listed.
const JOURNALS: &str = ".iolite";
const MOST_JOURNALS: usize = 100;

/// Bytes of a file that is shown or saved.
const MOST_BYTES: u64 = 4 << 20;

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Model,
    Property,
    Description,
    Journal,
}

impl Kind {
    /// What a file of this name, or at this path, is.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let unpacked = name.strip_suffix(".gz").unwrap_or(name);
        let (_, ending) = unpacked.rsplit_once('.')?;
        match ending {
            "iol" | "aut" | "dot" | "gv" => Some(Self::Model),
            "hoa" => Some(Self::Property),
            "toml" if !matches!(name, "Cargo.toml" | "iolite.toml") => Some(Self::Description),
            "jsonl" | "iolj" => Some(Self::Journal),
            _ => None,
        }
    }
}

/// A file of the folder.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    /// Its path in the folder, with slashes.
    path: String,
    kind: Kind,
}

/// The files of the folder.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Listing {
    files: Vec<Entry>,
    /// Whether there are more than are listed.
    more: bool,
}

/// The text of a file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Text {
    text: String,
    /// Says whether the file changed since it was read.
    version: String,
}

/// The folder that is served.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

fn version(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
}

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let root = path.canonicalize()?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The file that a relative path names, links followed: it is there, and in the folder.
    pub(crate) fn file(&self, path: &str) -> Result<PathBuf, Refusal> {
        let outside = || Refusal::request(format!("{path}: not a file of the folder"));
        let plain = |part: Component<'_>| match part {
            Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"-"),
            _ => false,
        };
        if path.contains('\0') || !Path::new(path).components().all(plain) {
            return Err(outside());
        }
        let whole = self.root.join(path).canonicalize().map_err(|_| outside())?;
        if !whole.starts_with(&self.root) || !whole.is_file() {
            return Err(outside());
        }
        Ok(whole)
    }

    /// A reference `FILE#Name` to a file of the folder, as the command takes it.
    pub(crate) fn reference(&self, reference: &str) -> Result<String, Refusal> {
        let (path, name) = reference.split_once('#').unwrap_or((reference, ""));
        self.file(path)?;
        if name.contains(['\0', '\n']) {
            return Err(Refusal::request("not a name of a declaration"));
        }
        Ok(format!("./{reference}"))
    }

    /// The files that the page can do something with.
    pub(crate) fn list(&self) -> Listing {
        let mut listing = Listing {
            files: Vec::new(),
            more: false,
        };
        self.list_in(&self.root, 0, &mut listing);
        listing
    }

    /// The journals of the folder, those that tests leave in `.iolite` included, newest first.
    pub(crate) fn journals(&self) -> Listing {
        let mut listing = self.list();
        let hidden = self.root.join(JOURNALS);
        // Only a folder of its own: a link may lead out.
        if hidden.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            self.list_in(&hidden, MOST_DEPTH, &mut listing);
        }
        listing.files.retain(|file| file.kind == Kind::Journal);
        let age = |file: &Entry| {
            let found = fs::metadata(self.root.join(&file.path));
            found.and_then(|found| found.modified()).ok()
        };
        listing.files.sort_by_cached_key(|file| Reverse(age(file)));
        listing.more |= listing.files.len() > MOST_JOURNALS;
        listing.files.truncate(MOST_JOURNALS);
        listing
    }

    fn list_in(&self, folder: &Path, depth: usize, listing: &mut Listing) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with(['.', '-'])) else {
                continue;
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            if kind.is_dir() {
                if depth == MOST_DEPTH {
                    listing.more = true;
                } else if !matches!(name, "target" | "node_modules") {
                    self.list_in(&path, depth + 1, listing);
                }
            } else if let (Some(kind), Ok(relative)) =
                (Kind::of(name), path.strip_prefix(&self.root))
            {
                if listing.files.len() == MOST_FILES {
                    listing.more = true;
                    return;
                }
                let path = relative.display().to_string();
                listing.files.push(Entry { path, kind });
            }
        }
    }

    /// The text of a file.
    pub(crate) fn read(&self, path: &str) -> Result<Text, Refusal> {
        let file = self.file(path)?;
        let wrong = |e: io::Error| Refusal::request(format!("{path}: {e}"));
        if fs::metadata(&file).map_err(wrong)?.len() > MOST_BYTES {
            return Err(Refusal::request(format!(
                "{path}: larger than the {MOST_BYTES} bytes that are shown"
            )));
        }
        let bytes = fs::read(&file).map_err(wrong)?;
        let version = version(&bytes);
        let text = String::from_utf8(bytes)
            .map_err(|_| Refusal::request(format!("{path}: not a text")))?;
        Ok(Text { text, version })
    }

    /// Puts a new text in the place of a model that still has the version which was edited. Only models
    /// can be changed: a description names programs, and whoever can write one can start any.
    pub(crate) fn save(&self, path: &str, text: &str, edited: &str) -> Result<Text, Refusal> {
        let file = self.file(path)?;
        let packed = file.extension().is_some_and(|ending| ending == "gz");
        if Kind::of(path) != Some(Kind::Model) || packed {
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!("{path}: only models can be changed here"),
            ));
        }
        if self.read(path)?.version != edited {
            return Err(Refusal::new(
                StatusCode::CONFLICT,
                format!("{path} was changed by somebody else; open it again"),
            ));
        }
        let wrong = |e: io::Error| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Refusal::new(status, format!("{path}: {e}"))
        };
        // A name beside it, so that there is never half a file under the old one.
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let beside = file.with_file_name(name);
        let write = || -> io::Result<()> {
            let mut out = fs::File::create(&beside)?;
            out.write_all(text.as_bytes())?;
            out.sync_all()?;
            fs::set_permissions(&beside, fs::metadata(&file)?.permissions())?;
            fs::rename(&beside, &file)
        };
        if let Err(e) = write() {
            let _ = fs::remove_file(&beside);
            return Err(wrong(e));
        }
        self.read(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (Folder, PathBuf) {
        let unique = format!(
            "iolite-serve-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let outer = std::env::temp_dir().join(unique);
        let _ = fs::remove_dir_all(&outer);
        fs::create_dir_all(outer.join("models/sub")).unwrap();
        fs::write(outer.join("secret.iol"), "secret").unwrap();
        fs::write(outer.join("models/a.iol"), "a").unwrap();
        fs::write(outer.join("models/sub/b.toml"), "b").unwrap();
        fs::write(outer.join("models/.hidden.iol"), "h").unwrap();
        std::os::unix::fs::symlink(outer.join("secret.iol"), outer.join("models/link.iol"))
            .unwrap();
        (Folder::open(&outer.join("models")).unwrap(), outer)
    }

    #[test]
    fn journals_come_newest_first() {
        let (folder, outer) = folder();
        let hidden = outer.join("models/.iolite");
        fs::create_dir_all(&hidden).unwrap();
        let old = fs::File::create(hidden.join("old.jsonl")).unwrap();
        let day = std::time::Duration::from_secs(86_400);
        old.set_modified(std::time::SystemTime::now() - day)
            .unwrap();
        fs::write(outer.join("models/new.iolj"), "").unwrap();
        let listed = folder.journals();
        let paths: Vec<String> = listed.files.into_iter().map(|f| f.path).collect();
        assert_eq!(paths, ["new.iolj", ".iolite/old.jsonl"]);
        // A link instead of the folder is not followed.
        fs::remove_dir_all(&hidden).unwrap();
        fs::write(outer.join("secret.jsonl"), "").unwrap();
        std::os::unix::fs::symlink(&outer, &hidden).unwrap();
        assert_eq!(folder.journals().files.len(), 1);
        fs::remove_dir_all(&outer).unwrap();
    }

    #[test]
    fn no_path_leads_outside() {
        let (folder, outer) = folder();
        let absolute = outer.join("secret.iol").display().to_string();
        for path in [
            "../secret.iol",
            "sub/../../secret.iol",
            "link.iol",
            &absolute,
            "-x",
            "",
            ".",
            "sub",
            "none.iol",
            "a.iol\0",
        ] {
            assert!(folder.file(path).is_err(), "{path:?}");
        }
        assert!(folder.file("a.iol").is_ok() && folder.file("sub/b.toml").is_ok());
        let paths: Vec<String> = folder.list().files.into_iter().map(|f| f.path).collect();
        assert_eq!(paths, ["a.iol", "link.iol", "sub/b.toml"]);
        fs::remove_dir_all(outer).unwrap();
    }

    #[test]
    fn a_model_is_saved_once_a_version_and_descriptions_never() {
        let (folder, outer) = folder();
        let first = folder.read("a.iol").unwrap();
        let second = folder.save("a.iol", "new", &first.version).unwrap();
        assert_eq!(second.text, "new");
        let stale = folder.save("a.iol", "late", &first.version).unwrap_err();
        assert_eq!(stale.status, StatusCode::CONFLICT);
        let version = folder.read("sub/b.toml").unwrap().version;
        let refused = folder
            .save("sub/b.toml", "command = \"rm\"", &version)
            .unwrap_err();
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert_eq!(fs::read_dir(outer.join("models")).unwrap().count(), 4);
        fs::remove_dir_all(outer).unwrap();
    }
}

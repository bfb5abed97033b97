//! Files that are written whole or not at all.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::Error;

/// Writes a file whole or not at all: to a neighbour first, which then takes its name. A link is
/// followed, and what is no file (a pipe, a device) is written to as it is.
pub fn write_whole(path: &Path, text: &[u8]) -> Result<(), Error> {
    write_whole_by(path, |file| {
        file.write_all(text).map_err(|e| Error::writing(path, &e))
    })
}

/// The same, for a text that is made while it is written.
pub fn write_whole_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    PartFile::write(path, write)?.publish()
}

/// A file that has its content and not yet its name. [`publish`](Self::publish) gives it the name; else it is removed.
///
/// So many threads may write files of which none is to be seen before its turn.
#[derive(Debug)]
#[must_use = "a file that is not published is removed"]
pub struct PartFile {
    /// The neighbour that has the content. What is no file (a pipe, a device) was written to as it is.
    part: Option<PathBuf>,
    /// The name it gets, links being followed.
    path: PathBuf,
}

/// Tells the neighbours of one process apart.
static PARTS: AtomicU64 = AtomicU64::new(0);

impl PartFile {
    /// Writes the content.
    pub fn write(
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (part, mut file) = Self::create(path)?;
        write(&mut file)?;
        Ok(part)
    }

    /// Opens what will have the content.
    fn create(path: &Path) -> Result<(Self, File), Error> {
        // Most often there is nothing of this name yet: no link to follow, and no device.
        let is_new =
            std::fs::symlink_metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound);
        if is_new {
            return Self::beside(path, path);
        }
        let followed = std::fs::canonicalize(path).ok();
        let path_followed = followed.as_deref().unwrap_or(path);
        if std::fs::metadata(path_followed).is_ok_and(|m| !m.is_file()) {
            let file = File::create(path_followed).map_err(|e| Error::writing(path, &e))?;
            let part = Self {
                part: None,
                path: path_followed.to_owned(),
            };
            return Ok((part, file));
        }
        Self::beside(path_followed, path)
    }

    /// The same in a folder that was made for the files of this process, so that nobody else has put a link or a device
    /// there.
    pub fn write_new(
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (part, mut file) = Self::beside(path, path)?;
        write(&mut file)?;
        Ok(part)
    }

    fn beside(path: &Path, shown: &Path) -> Result<(Self, File), Error> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        let number = PARTS.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{number}.part", std::process::id()));
        let part = path.with_file_name(name);
        let opened = File::create(&part).map_err(|e| Error::writing(shown, &e))?;
        // From here on it is removed where something goes wrong.
        let part = Self {
            part: Some(part),
            path: path.to_owned(),
        };
        Ok((part, opened))
    }

    /// Gives the file its name.
    pub fn publish(mut self) -> Result<(), Error> {
        if let Some(part) = &self.part {
            std::fs::rename(part, &self.path).map_err(|e| Error::writing(&self.path, &e))?;
            self.part = None;
        }
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = std::fs::remove_file(part);
        }
    }
}

/// A file that grows while what goes into it is made, and gets its name when it is whole.
#[derive(Debug)]
pub struct GrowingFile {
    part: PartFile,
    file: BufWriter<File>,
}

impl GrowingFile {
    /// An empty one.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let (part, file) = PartFile::create(path)?;
        Ok(Self {
            part,
            file: BufWriter::with_capacity(1 << 16, file),
        })
    }

    /// Appends to it.
    pub fn append(&mut self, text: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(text);
        written.map_err(|e| Error::writing(&self.part.path, &e))
    }

    /// Gives the file its name.
    pub fn publish(mut self) -> Result<(), Error> {
        let written = self.file.flush();
        written.map_err(|e| Error::writing(&self.part.path, &e))?;
        self.part.publish()
    }
}

/// As [`write_whole`], packed where the name ends in `.gz`.
pub fn write_packed(path: &Path, text: &[u8]) -> Result<(), Error> {
    if path.extension().is_none_or(|ending| ending != "gz") {
        return write_whole(path, text);
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    let written = packed.write_all(text).and_then(|()| packed.finish());
    write_whole(path, &written.map_err(|e| Error::writing(path, &e))?)
}

/// Saves a query that a solver could not decide, and says where it is; nothing without a query.
pub fn save_query(query: &str, path: &Path) -> String {
    if query.is_empty() {
        return String::new();
    }
    match write_whole(path, query.as_bytes()) {
        Ok(()) => format!("; the query is in {}", path.display()),
        Err(e) => format!("; the query is lost: {e}"),
    }
}

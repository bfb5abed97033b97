//! Files that are written whole or not at all.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

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
    let shown = path;
    let writing = |e: &std::io::Error| Error::writing(shown, e);
    // Most often there is nothing of this name yet: no link to follow, and no device.
    let is_new = std::fs::symlink_metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound);
    let followed = (!is_new)
        .then(|| std::fs::canonicalize(path).ok())
        .flatten();
    let path = followed.as_deref().unwrap_or(path);
    if !is_new && std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return write(&mut File::create(path).map_err(|e| writing(&e))?);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part).map_err(|e| writing(&e));
    let written = written.and_then(|mut file| write(&mut file));
    let written = written.and_then(|()| std::fs::rename(&part, path).map_err(|e| writing(&e)));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// The same, packed where the name ends in `.gz`.
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

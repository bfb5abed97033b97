//! Files that are written whole or not at all.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::Error;

/// Writes a file whole or not at all: to a neighbour first, which then takes its name. A link is
/// followed, and what is no file (a pipe, a device) is written to as it is.
pub fn write_whole(path: &Path, text: &[u8]) -> Result<(), Error> {
    let followed = std::fs::canonicalize(path);
    let shown = path;
    let path = followed.as_deref().unwrap_or(path);
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return std::fs::write(path, text).map_err(|e| Error::writing(shown, &e));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|e| {
        let _ = std::fs::remove_file(&part);
        Error::writing(shown, &e)
    })
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

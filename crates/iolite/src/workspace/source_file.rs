//! A file as it was when it was first asked for.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use flate2::Crc;
use flate2::read::MultiGzDecoder;
use iolite_derive::ModelRef;
use iolite_lang::{Diagnostic, File, Style, codes, diagnostic, render};

use crate::{Error, UnfoldingLimit};

/// Bytes that a packed file, or standard input, may have: a few packed kilobytes can stand for all of
/// memory.
const MOST_UNPACKED: u64 = 1 << 30;

/// The bytes of a file, unpacked where its name ends in `.gz`, or of standard input.
pub(super) fn read(file: &ModelRef) -> io::Result<Vec<u8>> {
    let path = file.path();
    if file.is_stdin() {
        return bounded(io::stdin().lock());
    }
    if path.extension().is_none_or(|ending| ending != "gz") {
        return std::fs::read(path);
    }
    let packed = io::BufReader::new(std::fs::File::open(path)?);
    bounded(MultiGzDecoder::new(packed))
}

/// What is wanted of a file beside what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) text: bool,
    pub(super) hash: bool,
}

/// What is left of a file that was read piece by piece.
pub(super) enum Left {
    Source(Arc<SourceFile>),
    /// Neither text nor hash were wanted.
    Checksum(Checksum),
}

/// Notices that a file changed while somebody uses what it said. A fingerprint, which others see, takes ten times as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum {
    sum: u32,
    /// How many bytes there were, as far as 32 bits hold it.
    amount: u32,
}

impl Checksum {
    fn taken(crc: &Crc) -> Self {
        Self {
            sum: crc.sum(),
            amount: crc.amount(),
        }
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut crc = Crc::new();
        crc.update(bytes);
        Self::taken(&crc)
    }
}

/// Reads a file piece by piece, and takes on the way what is wanted of it.
pub(super) struct FileStream {
    inner: Box<dyn Read + Send>,
    /// Bytes of the file, packed as it may be.
    size: u64,
    left: u64,
    takes: Takes,
}

enum Takes {
    Checksum(Crc),
    Fingerprint(Fingerprint),
    Text(Fingerprint, Vec<u8>),
}

impl FileStream {
    /// Opens a file that has more bytes than this, or is packed; `None` for others, and where it cannot be opened.
    pub(super) fn open(file: &ModelRef, more_than: usize, wanted: Wanted) -> Option<Self> {
        let path = file.path();
        // Standard input cannot be read again, should there be something to say about it, nor can a pipe.
        if file.is_stdin() {
            return None;
        }
        let opened = std::fs::File::open(path).ok()?;
        let about = opened.metadata().ok()?;
        let is_packed = path.extension().is_some_and(|ending| ending == "gz");
        if !about.is_file() || !is_packed && about.len() <= more_than as u64 {
            return None;
        }
        Some(Self {
            size: about.len(),
            left: if is_packed { MOST_UNPACKED } else { u64::MAX },
            inner: if is_packed {
                Box::new(MultiGzDecoder::new(io::BufReader::new(opened)))
            } else {
                Box::new(opened)
            },
            takes: match wanted {
                Wanted { text: true, .. } => {
                    let mut text = Vec::new();
                    let length = usize::try_from(about.len()).ok()?;
                    text.try_reserve_exact(length).ok()?;
                    Takes::Text(Fingerprint::default(), text)
                }
                Wanted { hash: true, .. } => Takes::Fingerprint(Fingerprint::default()),
                _ => Takes::Checksum(Crc::new()),
            },
        })
    }

    /// Bytes of the file, packed as it may be.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// What is left of the file, which was read to its end.
    pub(super) fn finish(self, path: &Path, style: Style) -> Left {
        match self.takes {
            Takes::Checksum(crc) => Left::Checksum(Checksum::taken(&crc)),
            Takes::Fingerprint(hash) => {
                let source = SourceFile::streamed(path, hash.text(), style);
                Left::Source(Arc::new(source))
            }
            Takes::Text(hash, text) => Left::Source(Arc::new(SourceFile {
                bytes: text,
                forgotten: false,
                ..SourceFile::streamed(path, hash.text(), style)
            })),
        }
    }
}

impl Read for FileStream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(room)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(too_large)?;
        let bytes = &room[..count];
        match &mut self.takes {
            Takes::Checksum(crc) => crc.update(bytes),
            Takes::Fingerprint(hash) => hash.add(bytes),
            Takes::Text(hash, text) => {
                hash.add(bytes);
                text.extend_from_slice(bytes);
            }
        }
        Ok(count)
    }
}

fn too_large() -> io::Error {
    let message = format!("more than {MOST_UNPACKED} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST_UNPACKED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_UNPACKED {
        return Err(too_large());
    }
    Ok(bytes)
}

/// The bytes of a file, their hash, and for the `.iol` language their tree.
#[derive(Debug)]
pub struct SourceFile {
    path: PathBuf,
    bytes: Vec<u8>,
    hash: String,
    style: Style,
    tree: OnceLock<(File, Vec<Diagnostic>)>,
    /// Whether the bytes were given up after they had been read.
    forgotten: bool,
}

impl SourceFile {
    pub(crate) fn new(path: &Path, bytes: Vec<u8>, style: Style) -> Self {
        Self {
            path: path.to_owned(),
            hash: hash(&bytes),
            bytes,
            style,
            tree: OnceLock::new(),
            forgotten: false,
        }
    }

    /// A file that was read piece by piece: its name and its hash.
    pub(super) fn streamed(path: &Path, hash: String, style: Style) -> Self {
        Self {
            path: path.to_owned(),
            bytes: Vec::new(),
            hash,
            style,
            tree: OnceLock::new(),
            forgotten: true,
        }
    }

    /// What is left of a file whose bytes nobody asks for any more: its name and its hash.
    pub(super) fn without_bytes(&self) -> Self {
        Self::streamed(&self.path, self.hash.clone(), self.style)
    }

    /// The same file with one more line, as if it stood there; the hash stays that of the file.
    pub(crate) fn with_line(&self, line: &str) -> Self {
        let mut bytes = self.bytes.clone();
        bytes.extend_from_slice(format!("\n{line}\n").as_bytes());
        Self {
            path: self.path.clone(),
            bytes,
            hash: self.hash.clone(),
            style: self.style,
            tree: OnceLock::new(),
            forgotten: self.forgotten,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A fingerprint of the file as it is on disk.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether its bytes were given up.
    pub(super) fn is_forgotten(&self) -> bool {
        self.forgotten
    }

    /// The tree of an `.iol` file, and what is wrong or doubtful about it.
    pub fn tree(&self) -> (&File, &[Diagnostic]) {
        let parse = || iolite_lang::parse_and_check_bytes(&self.bytes);
        let (file, found) = self.tree.get_or_init(parse);
        (file, found)
    }

    /// The tree of an `.iol` file without mistakes.
    pub fn file(&self) -> Result<&File, Error> {
        let (file, found) = self.tree();
        if diagnostic::has_errors(found) {
            return Err(self.rejected(found));
        }
        Ok(file)
    }

    /// The names of the declarations that start with this word. A file with mistakes declares nothing: they are the error.
    pub fn declared(&self, keyword: &str) -> Result<Vec<&str>, Error> {
        let items = self.file()?.items.iter();
        let items = items.filter(|item| item.keyword() == keyword);
        Ok(items.map(|item| item.name().text.as_str()).collect())
    }

    /// Diagnostics with the lines they are about.
    pub fn rendered(&self, found: &[Diagnostic]) -> String {
        let path = self.path.display().to_string();
        render(&path, &self.bytes, found, self.style)
    }

    /// Errors, with the warnings among them, as one.
    pub fn rejected(&self, found: &[Diagnostic]) -> Error {
        let text = self.rendered(found);
        let mut errors = found.iter().filter(|d| d.is_error());
        // A bound that ran out says nothing against the file.
        if !found.is_empty() && errors.clone().all(|d| d.code == codes::UNFOLDING_BOUND) {
            return Error::undecided(text.trim_end()).unfolding_to(UnfoldingLimit::Bound);
        }
        let error = Error::input(text.trim_end());
        if errors.any(|d| d.code == codes::INFINITE_DATA) {
            return error.unfolding_to(UnfoldingLimit::InfiniteData);
        }
        error
    }

    /// The text of a file that must be one.
    pub(crate) fn text(&self) -> Result<&str, Error> {
        if self.forgotten {
            let path = self.path.display();
            return Err(Error::input(format!("the text of {path} was not kept")));
        }
        std::str::from_utf8(&self.bytes)
            .map_err(|_| Error::input(format!("{}: no UTF-8 text", self.path.display())))
    }
}

/// A fingerprint: 64 bits of FNV-1a, enough to notice that a file changed.
#[derive(Clone, Copy, Debug)]
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    fn add(&mut self, bytes: &[u8]) {
        let step = |h: u64, &b: &u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, step);
    }

    fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The fingerprint of these bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(bytes);
    fingerprint.text()
}

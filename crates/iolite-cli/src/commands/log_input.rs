//! The bytes of a log: a file, which may be opened as often as it is asked for, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use iolite_exec::await_readable;

use crate::output::status;

/// Bytes of standard input that are kept, so that the header of a journal can be looked at before the
/// log is judged.
const KEPT: usize = 1 << 20;

/// Bytes of a file that are read at once: most lines are read where they stand in them.
const BUFFER: usize = 1 << 16;

/// Opens a log; `-` is standard input.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if is_standard_input(path) {
        static INPUT: LazyLock<io::Result<Replay<Stoppable>>> = LazyLock::new(|| {
            // Not through the buffer that the process has for it: what waits there nobody can wait for.
            let input = io::stdin().as_fd().try_clone_to_owned()?;
            Ok(Replay::new(Stoppable(input.into())))
        });
        let input = INPUT.as_ref().map_err(|e| io::Error::from(e.kind()))?;
        return Ok(Box::new(BufReader::new(input.reader())));
    }
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Ok(Box::new(BufReader::new(Stoppable(file))));
    }
    status::read_from_start(about.len());
    Ok(Box::new(BufReader::with_capacity(BUFFER, Measured(file))))
}

/// A pipe or a device, whose next bytes may never come: a signal ends the wait for them, where the process listens to signals.
struct Stoppable(File);

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        await_readable(self.0.as_fd()).map_err(io::Error::other)?;
        self.0.read(buffer)
    }
}

/// A file of which the status line shows how much was read.
struct Measured(File);

impl Read for Measured {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        status::read_more(read);
        Ok(read)
    }
}

pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// A stream whose first bytes can be read several times. What comes after them is given to one reader
/// as it arrives, so a log without end is judged while it is written, in bounded memory.
struct Replay<S> {
    inner: Arc<Mutex<Stream<S>>>,
}

struct Stream<S> {
    source: S,
    kept: Vec<u8>,
    /// Whether a reader has gone on to bytes that are not kept.
    is_spent: bool,
}

impl<S: Read> Replay<S> {
    fn new(source: S) -> Self {
        let stream = Stream {
            source,
            kept: Vec::new(),
            is_spent: false,
        };
        Self {
            inner: Arc::new(Mutex::new(stream)),
        }
    }

    fn reader(&self) -> ReplayReader<S> {
        ReplayReader {
            inner: Arc::clone(&self.inner),
            at: 0,
            is_beyond: false,
        }
    }
}

struct ReplayReader<S> {
    inner: Arc<Mutex<Stream<S>>>,
    /// Where it is in the bytes that are kept.
    at: usize,
    /// Whether it is the one that went on to the bytes after them.
    is_beyond: bool,
}

impl<S: Read> Read for ReplayReader<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stream = lock(&self.inner);
        let Stream {
            source,
            kept,
            is_spent,
        } = &mut *stream;
        if self.at < kept.len() {
            let read = (&kept[self.at..]).read(buffer)?;
            self.at += read;
            return Ok(read);
        }
        if *is_spent && !self.is_beyond {
            return Err(io::Error::other(
                "standard input can be read once, and this asks for it again; save it to a file",
            ));
        }
        let read = source.read(buffer)?;
        if !*is_spent && kept.len() + read <= KEPT {
            kept.extend_from_slice(&buffer[..read]);
            self.at += read;
        } else if read > 0 {
            *is_spent = true;
            self.is_beyond = true;
        }
        Ok(read)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_can_be_read_again() {
        let input = Replay::new(&b"?a\n!x\n"[..]);
        for _ in 0..3 {
            let mut text = String::new();
            let mut reader = input.reader();
            reader.read_to_string(&mut text).expect("bytes");
            assert_eq!(text, "?a\n!x\n");
        }
    }

    /// Two readers of a long stream: the first looks at its head, the second has all of it, a third is
    /// refused.
    #[test]
    fn what_is_long_is_given_once() {
        let bytes: Vec<u8> = (0..3 * KEPT).map(|i| (i % 251) as u8).collect();
        let input = Replay::new(&bytes[..]);
        let mut head = [0; 1000];
        input.reader().read_exact(&mut head).expect("bytes");
        assert_eq!(head[..], bytes[..1000]);
        let mut all = Vec::new();
        let mut reader = input.reader();
        reader.read_to_end(&mut all).expect("bytes");
        assert!(all == bytes);
        input.reader().read_exact(&mut head).expect("the head");
        assert!(input.reader().read_to_end(&mut all).is_err());
    }
}

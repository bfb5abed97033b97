//! A file that is read piece by piece: its text is never in memory as a whole, and several threads may parse it.

use std::io::{self, ErrorKind, Read};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use iolite_lang::Span;
use iolite_lts::{LabelId, Lts, StateId, Step, in_order};
use memchr::{memchr, memchr_iter, memrchr};

use super::{AutOptions, LabelTexts, Reader, Transition, trim};

/// Bytes that are parsed at a time. A line that is longer takes more.
const PIECE: usize = 1 << 18;

/// Pieces that may be parsed ahead of the one that is entered, for each thread.
const AHEAD: usize = 2;

/// Reads a system from a stream, to its end, by so many threads. `None` where there is anything to say about the file, be it an
/// error or a warning: that needs the text of the lines it is about, so [`read`](super::read) the whole file then.
///
/// Pieces are parsed by whoever is free and entered in the order of the file, so labels get the numbers that they get when one
/// line is read after the other.
pub fn read_stream(
    stream: &mut (dyn Read + Send),
    options: &AutOptions,
    jobs: NonZeroUsize,
) -> io::Result<Option<Lts>> {
    read_pieces(stream, options, jobs, PIECE)
}

fn read_pieces(
    stream: &mut (dyn Read + Send),
    options: &AutOptions,
    jobs: NonZeroUsize,
    piece: usize,
) -> io::Result<Option<Lts>> {
    let mut reader = Reader::new(options);
    let pool = Pool::default();
    let mut pieces = Pieces::new(stream, &pool, piece);
    let Some(first) = pieces.next().transpose()? else {
        return Ok(None);
    };
    let Some((header, at)) = reader.header(&first) else {
        return Ok(None);
    };
    let mut length = 0;
    let mut transitions = 0;
    let items = std::iter::once((Ok(first), at)).chain(pieces.map(|piece| (piece, 0)));
    let parse = |(bytes, at): (io::Result<Vec<u8>>, usize)| {
        let bytes = bytes?;
        let mut lines = pool.lines.take();
        lines.read(&bytes, at);
        pool.bytes.give(bytes);
        Ok(lines)
    };
    let ahead = AHEAD * jobs.get();
    let end = in_order(
        items,
        &mut { parse },
        vec![parse; jobs.get() - 1],
        &|taken| taken + ahead,
        &mut |lines: io::Result<Lines>| {
            let mut lines = match lines {
                Ok(lines) => lines,
                Err(e) => return ControlFlow::Break(Err(e)),
            };
            length += lines.bytes;
            transitions += lines.sources.len() as u64;
            if !reader.enter(&mut lines) {
                return ControlFlow::Break(Ok(()));
            }
            pool.lines.give(lines);
            ControlFlow::Continue(())
        },
    );
    if let ControlFlow::Break(end) = end {
        return end.map(|()| None);
    }
    if header.transitions != transitions {
        return Ok(None);
    }
    let loaded = reader.finish(&header, length, jobs).ok();
    Ok(loaded
        .filter(|loaded| loaded.lints.is_empty())
        .map(|loaded| loaded.value))
}

impl Reader<'_> {
    /// Adds what some lines say, and takes it from them. `false` where there is something to say about them.
    fn enter(&mut self, lines: &mut Lines) -> bool {
        let span = Span::default();
        let labels: Option<Vec<LabelId>> = lines
            .labels
            .texts()
            .map(|text| self.label(text, span))
            .collect();
        let Some(labels) = labels.filter(|_| lines.are_good) else {
            return false;
        };
        self.states = self.states.max(lines.states);
        let Lines { sources, steps, .. } = lines;
        for (label, _) in &mut *steps {
            *label = labels[label.index()];
        }
        if labels.contains(&LabelId::DELTA) {
            for (&source, &(label, target)) in sources.iter().zip(&*steps) {
                self.transition(source, label, target, span);
            }
        } else {
            self.builder.append(sources, steps, lines.states as usize);
        }
        true
    }
}

/// The lines of a piece, parsed.
#[derive(Default)]
struct Lines {
    /// How many bytes they were.
    bytes: usize,
    /// Sources, as far as the lines are good.
    sources: Vec<StateId>,
    /// Labels and targets. Labels are numbered here in the order of the lines.
    steps: Vec<Step>,
    labels: LabelTexts,
    /// One more than the highest state that a line names.
    states: u64,
    are_good: bool,
}

impl Lines {
    /// Replaces them by those of some bytes, from here on.
    fn read(&mut self, bytes: &[u8], mut at: usize) {
        self.bytes = bytes.len();
        self.sources.clear();
        self.steps.clear();
        // What is read may be kept as it is.
        let lines = memchr_iter(b'\n', &bytes[at.min(bytes.len())..]).count() + 1;
        self.sources.reserve_exact(lines);
        self.steps.reserve_exact(lines);
        self.labels.clear();
        self.states = 0;
        self.are_good = true;
        while at < bytes.len() && self.are_good {
            let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
            self.line(&bytes[at..end]);
            at = end + 1;
        }
    }

    fn line(&mut self, line: &[u8]) {
        let line = trim(line);
        if line.is_empty() {
            return;
        }
        let Ok(Transition {
            source,
            label,
            target,
        }) = Transition::of(line)
        else {
            self.are_good = false;
            return;
        };
        let known = self.labels.get(label);
        let number = known.unwrap_or_else(|| self.labels.add(label));
        let label = LabelId::new(number as usize);
        self.states = self.states.max(u64::from(source.max(target)) + 1);
        let [source, target] = [source, target].map(|state| StateId::new(state as usize));
        self.sources.push(source);
        self.steps.push((label, target));
    }
}

/// Memory of pieces that are done with.
#[derive(Default)]
struct Pool {
    bytes: Spare<Vec<u8>>,
    lines: Spare<Lines>,
}

struct Spare<T>(Mutex<Vec<T>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Default> Spare<T> {
    fn take(&self) -> T {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_default()
    }

    fn give(&self, done: T) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spare.push(done);
    }
}

/// A stream in pieces that end where a line ends.
struct Pieces<'a> {
    stream: &'a mut (dyn Read + Send),
    pool: &'a Pool,
    /// How many bytes a piece has, if there are as many and lines are not longer.
    size: usize,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    ended: bool,
}

impl<'a> Pieces<'a> {
    fn new(stream: &'a mut (dyn Read + Send), pool: &'a Pool, size: usize) -> Self {
        Self {
            stream,
            pool,
            size,
            rest: Vec::new(),
            ended: false,
        }
    }

    /// The next lines; nothing at the end.
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = self.pool.bytes.take();
        let mut filled = self.rest.len();
        bytes.resize(self.size.max(2 * filled), 0);
        bytes[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        while !self.ended {
            if filled == bytes.len() {
                if let Some(last) = memrchr(b'\n', &bytes) {
                    self.rest.extend_from_slice(&bytes[last + 1..]);
                    bytes.truncate(last + 1);
                    return Ok(bytes);
                }
                bytes.resize(2 * bytes.len(), 0);
            }
            match self.stream.read(&mut bytes[filled..]) {
                Ok(0) => self.ended = true,
                Ok(count) => filled += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    self.ended = true;
                    return Err(e);
                }
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

impl Iterator for Pieces<'_> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.read() {
            Ok(bytes) if bytes.is_empty() => None,
            piece => Some(piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{read, write};
    use super::*;

    /// Gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(room.len()).min(self.0.len());
            room[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn text(lts: &Lts) -> String {
        let mut text = String::new();
        write(lts, &mut text).expect("labels of an .aut file");
        text
    }

    /// The same system, with the same numbers of labels, as from the whole file, or nothing where there is something to say,
    /// whatever threads there are.
    fn compare(bytes: &[u8], drops: usize, piece: usize) {
        let options = AutOptions::default();
        let whole = read(bytes, &options)
            .ok()
            .filter(|loaded| loaded.lints.is_empty())
            .map(|loaded| loaded.value);
        for jobs in [1, 2, 4] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let streamed = read_pieces(&mut Drops(bytes, drops), &options, jobs, piece)
                .expect("no error of reading");
            assert_eq!(streamed, whole);
            assert_eq!(streamed.as_ref().map(text), whole.as_ref().map(text));
        }
    }

    proptest! {
        #[test]
        fn a_stream_is_read_as_the_whole_file(
            steps in proptest::collection::vec((0..9u32, 0..6usize, 0..9u32), 0..40),
            transitions in proptest::option::weighted(0.1, 0..40usize),
            states in 8..11u32,
            drops in 1..50usize,
            piece in prop_oneof![1..100usize, Just(PIECE)],
            junk in proptest::option::weighted(0.2, (0..400usize, any::<u8>())),
            end in prop_oneof!["", "\n", "\r\n\n"],
        ) {
            let labels = ["?a", "!x", "i", "delta", "G !TRUE", "b(1, \"c\")"];
            let transitions = transitions.unwrap_or(steps.len());
            let mut file = format!("des (0, {transitions}, {states})");
            for (source, label, target) in steps {
                file += &format!("\n({source}, \"{}\", {target})", labels[label]);
            }
            let mut bytes = (file + &end).into_bytes();
            if let Some((at, byte)) = junk {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            compare(&bytes, drops, piece);
        }
    }

    /// Sources in order or not, and a mistake in the last of many pieces.
    #[test]
    fn mistakes_far_behind_the_beginning_are_found_by_any_threads() {
        let mistakes = [
            "(0, \"a\", 1)",
            "(0, \"a\", 1",
            "(0, \"\", 1)",
            "des (0, 900, 900)",
            "(4294967295, \"a\", 1)",
            "(0, \"a\", 900)",
            "(0, \"delta\", 1)",
        ];
        for stride in [1, 7] {
            for mistake in mistakes {
                let mut file = String::from("des (0, 900, 900)\n");
                for k in 0..899 {
                    let state = k * stride % 900;
                    file += &format!("({state}, \"l{}\", {})\n", k % 13, k % 50);
                }
                file += mistake;
                compare(file.as_bytes(), 50, 64);
            }
        }
    }

    #[test]
    fn lines_may_be_longer_than_a_piece() {
        let label = "x".repeat(3 * PIECE);
        let file = format!("des (0, 2, 2)\n(0, \"{label}\", 1)\n(1, \"a\", 0)\n");
        compare(file.as_bytes(), PIECE / 3, PIECE);
        compare(b"", 1, 1);
        compare(b"\n\n", 1, 1);
        compare(b"des (0, 0, 1)", 4, 4);
    }

    /// Fails after so many bytes.
    struct Failing<'a>(Drops<'a>);

    impl Read for Failing<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            match self.0.read(room) {
                Ok(0) => Err(io::Error::other("the disk is gone")),
                read => read,
            }
        }
    }

    #[test]
    fn an_error_of_reading_is_one_whatever_threads_there_are() {
        let file = format!("des (0, 900, 2)\n{}", "(0, \"a\", 1)\n".repeat(900));
        for jobs in [1, 2, 4] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            for cut in [0, 5, 16, 3000] {
                let mut stream = Failing(Drops(&file.as_bytes()[..cut], 7));
                let read = read_pieces(&mut stream, &AutOptions::default(), jobs, 64);
                assert_eq!(read.unwrap_err().to_string(), "the disk is gone");
            }
        }
    }
}

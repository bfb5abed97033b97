//! A file that is read piece by piece: its text is never in memory as a whole.

use std::io::{self, ErrorKind, Read};

use iolite_lts::Lts;
use memchr::memrchr;

use super::{AutOptions, Reader};

/// Bytes that are read at once. A line that is longer takes more.
const PIECE: usize = 1 << 18;

/// Reads a system from a stream, to its end. `None` where there is anything to say about the file, be it an error or a warning:
/// that needs the text of the lines it is about, so [`read`](super::read) the whole file then.
pub fn read_stream(stream: &mut dyn Read, options: &AutOptions) -> io::Result<Option<Lts>> {
    let mut reader = Reader::new(options);
    let mut pieces = Pieces::new(stream);
    let mut known = None;
    let mut transitions = 0;
    while let Some(lines) = pieces.next()? {
        let at = if known.is_none() {
            let Some((header, at)) = reader.header(lines) else {
                return Ok(None);
            };
            known = Some(header);
            at
        } else {
            0
        };
        transitions += reader.lines(lines, at);
        if !reader.found.is_empty() {
            return Ok(None);
        }
    }
    let Some(header) = known.filter(|header| header.transitions == transitions) else {
        return Ok(None);
    };
    let loaded = reader.finish(&header, pieces.length).ok();
    Ok(loaded
        .filter(|loaded| loaded.lints.is_empty())
        .map(|loaded| loaded.value))
}

/// A stream in pieces that end where a line ends.
struct Pieces<'a> {
    stream: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// Where the bytes begin that were not given, and where they end.
    start: usize,
    end: usize,
    /// Bytes that were read so far.
    length: usize,
    ended: bool,
}

impl<'a> Pieces<'a> {
    fn new(stream: &'a mut dyn Read) -> Self {
        Self {
            stream,
            buffer: vec![0; PIECE],
            start: 0,
            end: 0,
            length: 0,
            ended: false,
        }
    }

    /// The next lines; `None` at the end.
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while !self.ended {
            let from = self.end;
            if from == self.buffer.len() {
                self.buffer.resize(2 * self.buffer.len(), 0);
            }
            match self.stream.read(&mut self.buffer[from..]) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    self.end += count;
                    self.length += count;
                    if let Some(last) = memrchr(b'\n', &self.buffer[from..self.end]) {
                        self.start = from + last + 1;
                        return Ok(Some(&self.buffer[..self.start]));
                    }
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.start = self.end;
        Ok((self.end > 0).then_some(&self.buffer[..self.end]))
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

    /// The same system as from the whole file, or nothing where there is something to say.
    fn compare(bytes: &[u8], drops: usize) {
        let options = AutOptions::default();
        let streamed =
            read_stream(&mut Drops(bytes, drops), &options).expect("no error of reading");
        let whole = read(bytes, &options)
            .ok()
            .filter(|loaded| loaded.lints.is_empty())
            .map(|loaded| loaded.value);
        assert_eq!(streamed.as_ref().map(text), whole.as_ref().map(text));
    }

    proptest! {
        #[test]
        fn a_stream_is_read_as_the_whole_file(
            steps in proptest::collection::vec((0..9u32, 0..6usize, 0..9u32), 0..40),
            transitions in proptest::option::weighted(0.1, 0..40usize),
            states in 8..11u32,
            drops in 1..50usize,
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
            compare(&bytes, drops);
        }
    }

    #[test]
    fn lines_may_be_longer_than_a_piece() {
        let label = "x".repeat(3 * PIECE);
        let file = format!("des (0, 2, 2)\n(0, \"{label}\", 1)\n(1, \"a\", 0)\n");
        compare(file.as_bytes(), PIECE / 3);
        compare(b"", 1);
        compare(b"\n\n", 1);
        compare(b"des (0, 0, 1)", 4);
    }
}

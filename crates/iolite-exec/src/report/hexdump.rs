//! Bytes for people: offset, hexadecimal, characters.

use std::fmt::Write;

/// At most this many bytes are shown; what is left out is counted.
pub(crate) const SHOWN: usize = 256;

/// Sixteen bytes a line, as `hexdump -C` writes them, cut after `SHOWN` bytes.
pub(crate) fn hexdump(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (row, chunk) in bytes[..bytes.len().min(SHOWN)].chunks(16).enumerate() {
        if row > 0 {
            text.push('\n');
        }
        let _ = write!(text, "{:08x} ", row * 16);
        for i in 0..16 {
            if i == 8 {
                text.push(' ');
            }
            match chunk.get(i) {
                Some(byte) => {
                    let _ = write!(text, " {byte:02x}");
                }
                None => text.push_str("   "),
            }
        }
        text.push_str("  |");
        text.extend(chunk.iter().map(|&b| match b {
            b' '..=b'~' => char::from(b),
            _ => '.',
        }));
        text.push('|');
    }
    if bytes.is_empty() {
        text.push_str("(no bytes)");
    }
    if bytes.len() > SHOWN {
        let _ = write!(text, "\n… {} bytes more", bytes.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_offsets_bytes_and_characters() {
        let dump = hexdump(b"BUTTON \xff\x00 twenty");
        expect_test::expect![[r"
            00000000  42 55 54 54 4f 4e 20 ff  00 20 74 77 65 6e 74 79  |BUTTON .. twenty|"]]
        .assert_eq(&dump);
        assert!(hexdump(&[7; 1000]).ends_with("… 744 bytes more"));
        assert_eq!(hexdump(b""), "(no bytes)");
    }
}

//! Header lines that say how long the body behind them is.

/// Where the next `\r\n` begins.
pub(crate) fn find_crlf(bytes: &[u8], from: usize) -> Option<usize> {
    let found = bytes
        .get(from..)?
        .windows(2)
        .position(|two| two == b"\r\n")?;
    Some(from + found)
}

/// What a header block says of the body behind it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    /// Where the body begins.
    pub(crate) start: usize,
    /// How many bytes it has; `None` where that is beyond memory.
    pub(crate) length: Option<usize>,
}

/// The header block at the beginning of the bytes, if its empty line has come; nothing before `from` is that line.
pub(crate) fn announced(bytes: &[u8], from: usize) -> Result<Option<Announced>, String> {
    let Some(found) = bytes
        .get(from..)
        .and_then(|rest| rest.windows(4).position(|four| four == b"\r\n\r\n"))
    else {
        return Ok(None);
    };
    let end = from + found;
    let mut said: Option<&str> = None;
    let mut at = 0;
    while at < end {
        let line_end = find_crlf(bytes, at).unwrap_or(end);
        let line = std::str::from_utf8(&bytes[at..line_end])
            .map_err(|_| "a header line that is no UTF-8")?;
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| format!("a header line without a colon: {line:?}"))?;
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim();
            if value.is_empty() || !value.bytes().all(|b| b.is_ascii_digit()) {
                return Err(format!("{value:?} is no length"));
            }
            if said.is_some_and(|said| said != value) {
                return Err("two lengths in one header".into());
            }
            said = Some(value);
        }
        at = line_end + 2;
    }
    let length = said.ok_or("a header without Content-Length")?.parse().ok();
    let start = end + 4;
    Ok(Some(Announced { start, length }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_when_its_empty_line_has_come() {
        let whole = b"content-length:  12\r\nContent-Type: a; b=\"c:d\"\r\n\r\n{}";
        let end = whole.len() - 2;
        for cut in 0..end {
            assert_eq!(announced(&whole[..cut], 0), Ok(None), "{cut}");
        }
        let expected = Announced {
            start: end,
            length: Some(12),
        };
        assert_eq!(announced(whole, 0), Ok(Some(expected)));
    }

    #[test]
    fn what_says_no_length_or_two_is_an_error() {
        for wrong in [
            &b"\r\n\r\n"[..],
            b"Content-Type: a\r\n\r\n",
            b"Content-Length: -1\r\n\r\n",
            b"Content-Length: +1\r\n\r\n",
            b"Content-Length:\r\n\r\n",
            b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
            b"hello\r\n\r\n",
            b"\xff: 1\r\n\r\n",
        ] {
            assert!(announced(wrong, 0).is_err(), "{wrong:?}");
        }
        let huge = announced(b"Content-Length: 99999999999999999999\r\n\r\n", 0)
            .unwrap()
            .unwrap();
        assert_eq!(huge.length, None);
    }
}

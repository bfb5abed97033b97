//! Where a value of the Redis protocol ends.

use crate::transport::header_block::find_crlf;

/// Where the first value of the Redis protocol ends, its `\r\n` included; `None` where more must come.
/// Aggregates say how many values follow, so that counting is enough and nothing recurses.
pub(crate) fn resp_end(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut values: u64 = 1;
    let mut at = 0;
    while values > 0 {
        let Some(end) = find_crlf(bytes, at) else {
            return Ok(None);
        };
        let (kind, rest) = (bytes.get(at).copied(), &bytes[(at + 1).min(end)..end]);
        at = end + 2;
        values -= 1;
        let count = || -> Result<Option<u64>, String> {
            let text = String::from_utf8_lossy(rest);
            if text == "-1" {
                return Ok(None);
            }
            let count = text.parse().map_err(|_| format!("{text:?} is no length"));
            count.map(Some)
        };
        match kind {
            Some(b'$' | b'=' | b'!') => {
                if let Some(length) = count()? {
                    let end = usize::try_from(length)
                        .ok()
                        .and_then(|length| at.checked_add(length)?.checked_add(2))
                        .ok_or("a length beyond memory")?;
                    if bytes.len() < end {
                        return Ok(None);
                    }
                    if &bytes[end - 2..end] != b"\r\n" {
                        return Err("a text is longer than its length".into());
                    }
                    at = end;
                }
            }
            Some(b'*' | b'~' | b'>') => {
                values = values.saturating_add(count()?.unwrap_or(0));
            }
            Some(b'%') => values = values.saturating_add(count()?.unwrap_or(0).saturating_mul(2)),
            Some(b'|') => {
                let pairs = count()?.unwrap_or(0).saturating_mul(2);
                values = values.saturating_add(pairs).saturating_add(1);
            }
            Some(b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(') => {}
            _ => return Err("no value of the Redis protocol begins so".into()),
        }
    }
    Ok(Some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_value_is_an_error_and_what_may_become_one_is_not() {
        for wrong in [
            &b"x\r\n"[..],
            b"$z\r\n",
            b"$1\r\nabcd\r\n",
            b"$99999999999999999999\r\n",
            b"\r\n",
        ] {
            assert!(resp_end(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(resp_end(b"*18446744073709551615\r\n"), Ok(None));
    }
}

//! Requests of HTTP/1.1, as a message describes them.

use crate::ExecError;

/// `http://host:port/base`, or `https://…`, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) host: String,
    pub(crate) address: String,
    pub(crate) path: String,
}

impl Url {
    /// Reads a URL of this scheme, `http` or `ws`, or of the one over TLS, which has an `s` behind it.
    pub(crate) fn parse(url: &str, scheme: &str) -> Result<Self, ExecError> {
        let rest = url.strip_prefix(scheme).and_then(|rest| {
            let plain = rest.strip_prefix("://").map(|rest| (rest, 80));
            plain.or_else(|| rest.strip_prefix("s://").map(|rest| (rest, 443)))
        });
        let Some((rest, port)) = rest else {
            return Err(ExecError::Config(format!(
                "{url:?} does not start with {scheme}:// or {scheme}s://"
            )));
        };
        let (host, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        if host.is_empty() {
            return Err(ExecError::Config(format!("{url:?} has no host")));
        }
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(_, p)| p.parse::<u16>().is_ok());
        Ok(Self {
            host: host.into(),
            address: if has_port {
                host.into()
            } else {
                format!("{host}:{port}")
            },
            path: path.trim_end_matches('/').into(),
        })
    }
}

/// Why a message is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("the request's head is no text")]
    NoText,
    #[error("{0:?} is no `METHOD PATH`")]
    FirstLine(String),
    #[error("{0:?} is no HTTP method")]
    Method(String),
    #[error("{0:?} is no HTTP path: it begins with a slash, and a blank in it is written %20")]
    Path(String),
    #[error("{0:?} is no HTTP header")]
    Header(String),
}

/// Appends the bytes of a request whose message is `METHOD PATH`, header lines, an empty line and a body, and says which
/// method it has. What was appended before an error is of no use.
pub(crate) fn encode<'a>(
    message: &'a [u8],
    url: &Url,
    bytes: &mut Vec<u8>,
) -> Result<&'a str, RequestError> {
    let (head, body) = match message.windows(2).position(|w| w == b"\n\n") {
        Some(at) => (&message[..at], &message[at + 2..]),
        None => (message, &b""[..]),
    };
    let head = std::str::from_utf8(head).map_err(|_| RequestError::NoText)?;
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let (method, path) = first
        .split_once(' ')
        .ok_or_else(|| RequestError::FirstLine(first.into()))?;
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(RequestError::Method(method.into()));
    }
    if !path.starts_with('/') || path.bytes().any(|b| b <= b' ' || b == 0x7f) {
        return Err(RequestError::Path(path.into()));
    }
    bytes.extend_from_slice(method.as_bytes());
    bytes.push(b' ');
    bytes.extend_from_slice(url.path.as_bytes());
    // A request target is ASCII [RFC 9112, §3.2]; servers read other bytes as they like.
    for byte in path.bytes() {
        if byte.is_ascii() {
            bytes.push(byte);
        } else {
            bytes.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    for part in [" HTTP/1.1\r\nHost: ", &url.host, "\r\n"] {
        bytes.extend_from_slice(part.as_bytes());
    }
    for line in lines {
        if !line.contains(':') {
            return Err(RequestError::Header(line.into()));
        }
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    if !body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    Ok(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_written() {
        let url = Url::parse("http://localhost:8080/api/", "http").unwrap();
        let mut bytes = Vec::new();
        let method = encode(b"POST /users\nX: 1\n\n{\"a\":1}", &url, &mut bytes).unwrap();
        assert_eq!(method, "POST");
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "POST /api/users HTTP/1.1\r\nHost: localhost:8080\r\nX: 1\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
        );
        let mut bytes = Vec::new();
        encode("GET /é?q=☃%20".as_bytes(), &url, &mut bytes).unwrap();
        let line = bytes.split(|&b| b == b'\r').next().unwrap();
        assert_eq!(line, b"GET /api/%C3%A9?q=%E2%98%83%20 HTTP/1.1");
        assert!(encode(b"GET /a b", &url, &mut Vec::new()).is_err());
        assert!(encode(b"nothing", &url, &mut Vec::new()).is_err());
    }
}

//! Who is answered: whoever knows the token, from a page of this server.
//!
//! Any page of any site may make a browser ask an address on this machine. The token is what it cannot
//! know; the checks of Host and Origin keep out a site whose name was made to point here.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::Shared;
use crate::refusal::Refusal;

/// The token, and the address that requests must be for.
#[derive(Debug)]
pub(crate) struct Guard {
    token: String,
    address: SocketAddr,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr) -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let token = format!("{:032x}", u128::from_be_bytes(bytes));
        Ok(Self { token, address })
    }

    /// What the user opens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    /// Whether a Host header, or an Origin without its scheme, names this server. A name other than
    /// `localhost` is never accepted: names can be made to point anywhere.
    fn is_here(&self, authority: &str) -> bool {
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (authority, "80"),
        };
        if port != self.address.port().to_string() {
            return false;
        }
        let host = host
            .strip_prefix('[')
            .and_then(|h| h.strip_suffix(']'))
            .unwrap_or(host);
        let loopback = |ip: IpAddr| ip.is_loopback();
        match host.parse::<IpAddr>() {
            Ok(ip) if loopback(self.address.ip()) => loopback(ip),
            Ok(_) => true,
            Err(_) => host == "localhost",
        }
    }

    fn check_place(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let foreign = |what: &str| Refusal::new(StatusCode::FORBIDDEN, format!("foreign {what}"));
        if !text(HOST).is_some_and(|host| self.is_here(host)) {
            return Err(foreign("Host"));
        }
        let origin = text(ORIGIN).map(|origin| origin.strip_prefix("http://").unwrap_or("?"));
        if origin.is_some_and(|origin| !self.is_here(origin)) {
            return Err(foreign("Origin"));
        }
        Ok(())
    }

    fn check_token(&self, request: &Request) -> Result<(), Refusal> {
        let query = request.uri().query().unwrap_or_default();
        let asked = query
            .split('&')
            .find_map(|part| part.strip_prefix("token="));
        let header = request.headers().get(AUTHORIZATION);
        let header = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        // Every byte is looked at, so that time says nothing about how many were right.
        let same = |given: &str| {
            given.len() == self.token.len()
                && given
                    .bytes()
                    .zip(self.token.bytes())
                    .fold(0, |all, (a, b)| all | (a ^ b))
                    == 0
        };
        if asked.or(header).is_some_and(same) {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "the address needs the token that `iolite serve` printed",
        ))
    }
}

/// Lets requests for this server pass; scripts and style sheets hold no secrets.
pub(crate) async fn place(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    shared.guard.check_place(request.headers())?;
    Ok(next.run(request).await)
}

/// Lets requests with the token pass.
pub(crate) async fn token(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    shared.guard.check_token(&request)?;
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_server_is_here() {
        let guard = |address: &str| Guard {
            token: "t".into(),
            address: address.parse().unwrap(),
        };
        let own = guard("127.0.0.1:4000");
        for here in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000"] {
            assert!(own.is_here(here), "{here}");
        }
        for foreign in [
            "evil.example:4000",
            "127.0.0.1:4001",
            "127.0.0.1",
            "localhost",
            "10.0.0.1:4000",
            "localhost.evil.example:4000",
            "",
            "?",
        ] {
            assert!(!own.is_here(foreign), "{foreign}");
        }
        let open = guard("0.0.0.0:4000");
        assert!(open.is_here("10.0.0.1:4000") && !open.is_here("evil.example:4000"));
    }
}

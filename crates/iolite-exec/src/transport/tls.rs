//! TLS with the tester as client: which certificates are trusted, and the handshake.
//!
//! `rustls` speaks the protocol. What fails here is a fault of the infrastructure, with a hint: nothing
//! was said about the system's behaviour yet.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    RootCertStore, SignatureScheme,
};

use crate::transport::interrupt;
use crate::transport::link::ExitProbe;
use crate::transport::readiness::wait;
use crate::transport::tls_stream::TlsStream;
use crate::{ExecError, TlsConfig};

/// Bytes of a PEM file; the bundles of operating systems have a quarter of that.
const PEM_FILE: u64 = 1 << 20;

/// Where operating systems keep the authorities that they trust; `SSL_CERT_FILE` goes first.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// The client's side of TLS for one address.
pub(crate) struct TlsClient {
    config: TlsConfig,
    name: ServerName<'static>,
    /// What the files say, read with the first connection after a start: the system may write its
    /// certificate when it starts.
    client: Option<Arc<ClientConfig>>,
}

impl TlsClient {
    /// For a host whose certificate is for its own name, unless the description says another.
    pub(crate) fn new(host: &str, config: TlsConfig) -> Result<Self, ExecError> {
        let name = config.name.clone().unwrap_or_else(|| host.into());
        let name = ServerName::try_from(name.clone()).map_err(|_| {
            ExecError::Config(format!("tls: {name:?} is no name that a certificate has"))
        })?;
        Ok(Self {
            config,
            name,
            client: None,
        })
    }

    /// Reads the files anew at the next connection.
    pub(crate) fn forget_files(&mut self) {
        self.client = None;
    }

    fn client(&mut self) -> Result<Arc<ClientConfig>, String> {
        if let Some(client) = &self.client {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(client_config(&self.config)?);
        self.client = Some(Arc::clone(&client));
        Ok(client)
    }

    /// Makes a TLS stream of a connected socket that does not block.
    pub(crate) fn handshake(
        &mut self,
        tcp: TcpStream,
        deadline: Instant,
        alive: ExitProbe,
    ) -> Result<TlsStream, HandshakeError> {
        let client = self.client()?;
        let connection =
            ClientConnection::new(client, self.name.clone()).map_err(|e| self.explain(&e, &[]))?;
        let mut stream = TlsStream::new(tcp, connection);
        loop {
            if let Err(e) = stream.shake() {
                return Err(match e.get_ref().and_then(|e| e.downcast_ref()) {
                    Some(error) => self.explain(error, stream.beginning()),
                    None if matches!(
                        e.kind(),
                        ErrorKind::UnexpectedEof
                            | ErrorKind::ConnectionReset
                            | ErrorKind::BrokenPipe
                    ) =>
                    {
                        "closed during the TLS handshake; does the server speak TLS?".into()
                    }
                    None => format!("during the TLS handshake: {e}"),
                }
                .into());
            }
            if !stream.is_handshaking() {
                return Ok(stream);
            }
            interrupt::check().map_err(HandshakeError::Fault)?;
            if let Some(exit) = alive() {
                return Err(format!("the system under test ended: {exit}").into());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(
                    "the TLS handshake did not end in time; does the server speak TLS?"
                        .to_owned()
                        .into(),
                );
            }
            let both = PollFlags::IN | PollFlags::OUT;
            let wanted = if stream.wants_write() {
                both
            } else {
                PollFlags::IN
            };
            let mut fds = [PollFd::new(&stream, wanted)];
            // Short, to notice signals and the end of the system.
            wait(&mut fds, Some(left.min(Duration::from_millis(50))))
                .map_err(HandshakeError::Fault)?;
        }
    }

    /// What went wrong, and what to write in the description.
    fn explain(&self, error: &rustls::Error, answer: &[u8]) -> String {
        let name = self.name.to_str();
        match error {
            rustls::Error::InvalidCertificate(
                CertificateError::UnknownIssuer
                | CertificateError::BadSignature
                // A self-signed one that calls itself an authority and is not known.
                | CertificateError::Other(_),
            ) => {
                let known = match &self.config.ca {
                    Some(file) => format!("{} does not vouch for", file.display()),
                    None => "no authority of this machine vouches for".into(),
                };
                format!(
                    "{known} its certificate; give the PEM file of its authority, or of the \
                     certificate itself: tls = {{ ca = \"FILE.pem\" }}"
                )
            }
            rustls::Error::InvalidCertificate(CertificateError::NotValidForName) => {
                format!("its certificate is not for {name}; {}", name_hint())
            }
            rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext {
                presented,
                ..
            }) => {
                // A hostile certificate may have any number of names.
                let names: Vec<_> = presented.iter().take(5).map(|n| bare_name(n)).collect();
                let names = match &*names {
                    [] => "no name at all (subjectAltName)".into(),
                    names => names.join(", ").escape_debug().to_string(),
                };
                format!(
                    "its certificate is not for {name} but for {names}; {}",
                    name_hint()
                )
            }
            rustls::Error::InvalidMessage(_) if !matches!(answer.first(), Some(20..=24)) => {
                format!(
                    "its answer is no TLS: {:?}; does a plain server listen there? Then write http:// \
                     for https://, ws:// for wss://, and no tls for tcp",
                    String::from_utf8_lossy(answer)
                )
            }
            rustls::Error::AlertReceived(
                alert @ (AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::HandshakeFailure),
            ) => format!(
                "it ended the TLS handshake with {alert:?}; if it asks for a certificate of the \
                 tester, give one: tls = {{ cert = \"FILE.pem\", key = \"FILE.pem\" }}"
            ),
            error => format!("TLS: {error}"),
        }
    }
}

/// `localhost` of `DnsName("localhost")`, which is how the library writes names.
fn bare_name(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

fn name_hint() -> &'static str {
    "say which name is meant: tls = { name = \"NAME\" }"
}

/// Why a handshake did not succeed.
pub(crate) enum HandshakeError {
    /// The other side, or a file: the address cannot be reached.
    Reason(String),
    /// A signal, or the operating system.
    Fault(ExecError),
}

impl From<String> for HandshakeError {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

fn client_config(config: &TlsConfig) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = match &config.ca {
        Some(file) => CertificateVerifier::new(certificates(file)?, &provider)
            .ok_or_else(|| format!("no certificate of {} is usable", file.display()))?,
        None => system_verifier(&provider)?,
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    match (&config.cert, &config.key) {
        (Some(cert), Some(key)) => {
            let chain = certificates(cert)?;
            let text = read(key)?;
            let private = PrivateKeyDer::from_pem_slice(&text).map_err(|e| {
                format!(
                    "no private key in {}: {e} (a key behind a password is not read)",
                    key.display()
                )
            })?;
            builder
                .with_client_auth_cert(chain, private)
                .map_err(|e| format!("{} and {}: {e}", cert.display(), key.display()))
        }
        _ => Ok(builder.with_no_client_auth()),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let fail = |e: &dyn std::fmt::Display| format!("cannot read {}: {e}", file.display());
    let mut text = Vec::new();
    // A pipe that the system put there would block the tester.
    if std::fs::metadata(file).is_ok_and(|m| !m.is_file()) {
        return Err(fail(&"it is no file"));
    }
    File::open(file)
        .and_then(|f| f.take(PEM_FILE + 1).read_to_end(&mut text))
        .map_err(|e| fail(&e))?;
    if text.len() as u64 > PEM_FILE {
        return Err(fail(&format!("it has more than {PEM_FILE} bytes")));
    }
    Ok(text)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(format!(
            "there is no certificate in {}; a PEM file has -----BEGIN CERTIFICATE-----",
            file.display()
        )),
        Ok(found) => Ok(found),
        Err(e) => Err(format!("{}: {e}", file.display())),
    }
}

fn system_verifier(
    provider: &Arc<rustls::crypto::CryptoProvider>,
) -> Result<CertificateVerifier, String> {
    let chosen = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let known = BUNDLES.iter().map(PathBuf::from).find(|f| f.is_file());
    let file = chosen.or(known).ok_or(
        "this machine has no list of authorities; give the PEM file of the system's: \
         tls = { ca = \"FILE.pem\" }",
    )?;
    CertificateVerifier::new(certificates(&file)?, provider)
        .ok_or_else(|| format!("no certificate of {} is usable", file.display()))
}

/// Trusts what authorities sign, and a certificate that is itself in the file: self-signed ones often
/// call themselves authorities, which the rules of the web refuse at a server.
#[derive(Debug)]
struct CertificateVerifier {
    known: Vec<CertificateDer<'static>>,
    authorities: Arc<WebPkiServerVerifier>,
}

impl CertificateVerifier {
    fn new(
        known: Vec<CertificateDer<'static>>,
        provider: &Arc<rustls::crypto::CryptoProvider>,
    ) -> Option<Self> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(known.iter().cloned());
        let authorities =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                .build()
                .ok()?;
        Some(Self { known, authorities })
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.known.contains(end_entity) {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            rustls::client::verify_server_name(&certificate, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.authorities.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

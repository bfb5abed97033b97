//! The connection to a server.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::{self, Context, kv, object_store, stream};
use async_nats::{Client, ConnectOptions, ServerAddr};

use crate::FleetError;

/// How a server is reached.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// `nats://HOST:PORT`, `tls://HOST:PORT`, several with commas; user and password may stand in it.
    pub url: String,
    /// A file of credentials, as the tools of NATS make them.
    pub credentials: Option<PathBuf>,
    /// A file with a token.
    pub token: Option<PathBuf>,
    /// Certificates that the server's is checked by, beside those of the machine.
    pub ca: Option<PathBuf>,
    /// The certificate that is shown to the server, and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl ServerOptions {
    /// The address without what is secret in it.
    pub fn shown(&self) -> String {
        let shown = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, place))) => format!("{scheme}://{place}"),
            (None, Some((_, place))) => place.to_owned(),
            _ => url.to_owned(),
        };
        let urls: Vec<String> = self.url.split(',').map(|url| shown(url.trim())).collect();
        urls.join(",")
    }
}

/// The bucket of all campaigns.
const CAMPAIGNS: &str = "iolite-campaigns";

/// The store of files, by content hash.
const FILES: &str = "iolite-files";

/// Answers of the server are waited for so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server with `JetStream`.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) client: Client,
    pub(crate) jetstream: Context,
}

fn read(path: &PathBuf) -> Result<String, FleetError> {
    let text = std::fs::read_to_string(path);
    text.map_err(|e| FleetError::Input(format!("{}: {e}", path.display())))
}

impl Server {
    pub(crate) async fn connect(options: &ServerOptions) -> Result<Self, FleetError> {
        let shown = options.shown();
        let addresses: Result<Vec<ServerAddr>, _> = options
            .url
            .split(',')
            .map(|url| url.trim().parse())
            .collect();
        let addresses = addresses.map_err(|e: std::io::Error| {
            FleetError::Input(format!("{shown} is no address: {e}"))
        })?;
        let mut connect = ConnectOptions::new()
            .name("iolite fleet")
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE));
        if let Some(address) = addresses.iter().find(|a| a.has_user_pass()) {
            let user = address.username().unwrap_or_default().to_owned();
            let password = address.password().unwrap_or_default().to_owned();
            connect = connect.user_and_password(user, password);
        }
        if let Some(path) = &options.credentials {
            let credentials = connect.credentials(&read(path)?);
            connect =
                credentials.map_err(|e| FleetError::Input(format!("{}: {e}", path.display())))?;
        }
        if let Some(path) = &options.token {
            connect = connect.token(read(path)?.trim().to_owned());
        }
        if let Some(path) = &options.ca {
            // Read once before, for a message that names the file.
            read(path)?;
            connect = connect.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &options.certificate {
            read(certificate)?;
            read(key)?;
            connect = connect.add_client_certificate(certificate.clone(), key.clone());
        }
        let client = connect.connect(addresses).await.map_err(|e| {
            FleetError::server(&format!("cannot connect to the server at {shown}"), e)
        })?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(PATIENCE);
        Ok(Self { client, jetstream })
    }

    /// The bucket of campaigns; `None` where nobody submitted one.
    pub(crate) async fn campaigns(&self) -> Result<Option<kv::Store>, FleetError> {
        self.bucket(CAMPAIGNS).await
    }

    /// A bucket that may not be there.
    pub(crate) async fn bucket(&self, name: &str) -> Result<Option<kv::Store>, FleetError> {
        match self.jetstream.get_key_value(name).await {
            Ok(store) => Ok(Some(store)),
            Err(e) if is_missing(&e) => Ok(None),
            Err(e) => Err(explain(&format!("bucket {name}"), &e)),
        }
    }

    /// A bucket that is made where it is not there.
    pub(crate) async fn make_bucket(
        &self,
        name: &str,
        replicas: usize,
    ) -> Result<kv::Store, FleetError> {
        if let Some(store) = self.bucket(name).await? {
            return Ok(store);
        }
        // A bucket is a stream of this shape. The client's own way asks first for something that servers
        // before 2.10 do not say.
        let config = stream::Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            num_replicas: replicas,
            discard: stream::DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..stream::Config::default()
        };
        let made = self.jetstream.create_stream(config).await;
        made.map_err(|e| explain(&format!("making the bucket {name}"), &e))?;
        let made = self.bucket(name).await?;
        made.ok_or_else(|| FleetError::Server(format!("the bucket {name} is gone again")))
    }

    pub(crate) async fn make_campaigns(&self, replicas: usize) -> Result<kv::Store, FleetError> {
        self.make_bucket(CAMPAIGNS, replicas).await
    }

    pub(crate) async fn files(&self) -> Result<object_store::ObjectStore, FleetError> {
        let store = self.jetstream.get_object_store(FILES).await;
        store.map_err(|e| explain("the store of files", &e))
    }

    pub(crate) async fn make_files(
        &self,
        replicas: usize,
    ) -> Result<object_store::ObjectStore, FleetError> {
        if let Ok(store) = self.jetstream.get_object_store(FILES).await {
            return Ok(store);
        }
        let config = object_store::Config {
            bucket: FILES.to_owned(),
            num_replicas: replicas,
            ..object_store::Config::default()
        };
        let made = self.jetstream.create_object_store(config).await;
        made.map_err(|e| explain("making the store of files", &e))
    }

    /// Bytes of a value that is certainly accepted.
    pub(crate) fn most_value(&self) -> usize {
        let payload = self.client.server_info().max_payload;
        (payload / 2).clamp(4 << 10, 512 << 10)
    }
}

/// All that an error says, its causes included.
pub(crate) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

fn is_missing(error: &dyn std::error::Error) -> bool {
    whole(error).contains("not found")
}

fn explain(doing: &str, error: &dyn std::error::Error) -> FleetError {
    let text = whole(error);
    if text.contains("no responders") || text.contains("503") || text.contains("not enabled") {
        return FleetError::Server(format!(
            "{doing}: the server has no JetStream; `nats-server -js -sd FOLDER` starts one that has ({text})"
        ));
    }
    FleetError::Server(format!("{doing}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let shown = |url: &str| {
            let url = url.to_owned();
            ServerOptions {
                url,
                ..ServerOptions::default()
            }
            .shown()
        };
        assert_eq!(shown("nats://me:secret@host:4222"), "nats://host:4222");
        assert_eq!(shown("me:se@cret@host"), "host");
        assert_eq!(shown("tls://a:1, nats://u:p@b:2"), "tls://a:1,nats://b:2");
        assert_eq!(shown("localhost"), "localhost");
    }
}

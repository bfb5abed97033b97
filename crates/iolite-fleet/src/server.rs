//! The connection to a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, ReplayPolicy, pull};
use async_nats::jetstream::{self, Context, Message, kv, object_store, stream};
use async_nats::{Client, ConnectOptions, ServerAddr};
use futures_util::StreamExt;

use crate::FleetError;
use crate::description::CampaignId;

/// How a server is reached.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// `nats://HOST:PORT`, `tls://HOST:PORT`, several with commas; user and password may stand in it.
    pub url: String,
    /// A file of credentials, as the tools of NATS make them.
    pub credentials: Option<PathBuf>,
    /// The seed of a user's key, as `nk` makes it.
    pub nkey: Option<PathBuf>,
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
        let urls: Vec<String> = self.addresses().map(shown).collect();
        urls.join(",")
    }

    /// The addresses. A comma may be part of a password; it separates addresses where a scheme follows, or where no
    /// password can end any more.
    fn addresses(&self) -> impl Iterator<Item = &str> {
        let mut rest = Some(&*self.url);
        std::iter::from_fn(move || {
            let url = rest?;
            let separates = |at: &usize| {
                let next = url[at + 1..].trim_start();
                let word = next.find(|c: char| !c.is_ascii_alphanumeric());
                word.is_some_and(|end| end > 0 && next[end..].starts_with("://"))
                    || !next.contains('@')
            };
            let mut commas = url.match_indices(',').map(|(at, _)| at);
            let at = commas.find(separates);
            rest = at.map(|at| &url[at + 1..]);
            Some(url[..at.unwrap_or(url.len())].trim())
        })
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
        let addresses: Result<Vec<ServerAddr>, _> = options.addresses().map(str::parse).collect();
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
        if let Some(path) = &options.nkey {
            connect = connect.nkey(seed(path, &read(path)?)?);
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

/// The seed in a file; what does not look like one is not sent to a client that would only say that it is wrong.
fn seed(path: &Path, text: &str) -> Result<String, FleetError> {
    let is_seed = |line: &&str| {
        let digit = |c: u8| c.is_ascii_uppercase() || (b'2'..=b'7').contains(&c);
        line.starts_with("SU") && line.len() == 58 && line.bytes().all(digit)
    };
    let found = text.lines().map(str::trim).find(is_seed);
    found.map(str::to_owned).ok_or_else(|| {
        FleetError::Input(format!(
            "{}: there is no seed of a user's key, SU and 56 characters more",
            path.display()
        ))
    })
}

/// The server is waited for so long where it sends many things one after the other.
const SILENCE: Duration = Duration::from_secs(30);

/// What an operation of several answers comes to, unless the server falls silent in the middle.
pub(crate) async fn in_time<T>(
    doing: &str,
    answer: impl Future<Output = T>,
) -> Result<T, FleetError> {
    let answer = tokio::time::timeout(SILENCE, answer).await;
    answer.map_err(|_| FleetError::server(doing, "the server sends no more"))
}

/// How often a reader is asked for that does not come in time.
const ATTEMPTS: usize = 5;

/// Messages that are asked for at once.
const BATCH: usize = 500;

impl Server {
    /// The headers of every value of a bucket whose key fits `filter`, in the order in which they were written, from behind
    /// a place on.
    ///
    /// The reader is kept by as many servers as the bucket: one that a cluster keeps on one server alone may be given to a
    /// server that has just died.
    pub(crate) async fn scan(
        &self,
        bucket: &str,
        filter: &str,
        behind: u64,
        take: &mut dyn FnMut(&str, Message) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let doing = format!("reading the bucket {bucket}");
        let prefix = format!("$KV.{bucket}.");
        let config = pull::Config {
            filter_subject: format!("{prefix}{filter}"),
            headers_only: true,
            deliver_policy: match behind {
                0 => DeliverPolicy::All,
                behind => DeliverPolicy::ByStartSequence {
                    start_sequence: behind.saturating_add(1),
                },
            },
            ..pull::Config::default()
        };
        let name = format!("KV_{bucket}");
        self.messages(&doing, &name, config, &mut |message| {
            let key = message.subject.strip_prefix(&prefix).map(str::to_owned);
            match key {
                Some(key) if !is_deleted(&message) => take(&key, message),
                _ => Ok(()),
            }
        })
        .await
    }

    /// The content of an object with at most `most` bytes.
    ///
    /// The client's own reader of objects panics where a cluster is too slow to make a consumer for it, which is what happens
    /// while servers agree on who leads.
    pub(crate) async fn object(&self, name: &str, most: usize) -> Result<Vec<u8>, FleetError> {
        let doing = "reading a file";
        let objects = self.files().await?;
        let info = in_time(doing, objects.info(name)).await?;
        let info = info.map_err(|e| FleetError::server(doing, whole(&e)))?;
        if info.deleted || info.options.is_some_and(|options| options.link.is_some()) {
            return Err(FleetError::content(format!(
                "the server's file {name} is no file any more"
            )));
        }
        let config = pull::Config {
            filter_subject: format!("$O.{FILES}.C.{}", info.nuid),
            ..pull::Config::default()
        };
        let mut bytes = Vec::new();
        if info.chunks > 0 {
            let stream = format!("OBJ_{FILES}");
            self.messages(doing, &stream, config, &mut |message| {
                bytes.extend_from_slice(&message.payload);
                if bytes.len() > most {
                    return Err(FleetError::content(format!(
                        "the server's file {name} is larger than {most} bytes"
                    )));
                }
                Ok(())
            })
            .await?;
        }
        Ok(bytes)
    }

    /// The messages of a stream that are there now, in order.
    async fn messages(
        &self,
        doing: &str,
        stream: &str,
        filter: pull::Config,
        take: &mut dyn FnMut(Message) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let failed = |e: &dyn std::error::Error| FleetError::server(doing, whole(e));
        let stream = self.jetstream.get_stream(stream).await;
        let stream = stream.map_err(|e| failed(&e))?;
        let config = pull::Config {
            replay_policy: ReplayPolicy::Instant,
            ack_policy: AckPolicy::None,
            num_replicas: stream.cached_info().config.num_replicas,
            memory_storage: true,
            inactive_threshold: SILENCE,
            ..filter
        };
        let mut consumer = stream.create_consumer(config.clone()).await;
        for _ in 1..ATTEMPTS {
            // Servers that have lost one of them need a while to agree on who answers.
            match &consumer {
                Err(e) if whole(e).contains("timed out") => {
                    consumer = stream.create_consumer(config.clone()).await;
                }
                _ => break,
            }
        }
        let consumer = consumer.map_err(|e| failed(&e))?;
        let mut left = consumer.cached_info().num_pending;
        let mut expected = 1;
        while left > 0 {
            let batch = consumer.batch().max_messages(BATCH).expires(PATIENCE);
            let batch = batch.messages().await;
            let mut batch = batch.map_err(|e| failed(&e))?;
            let before = expected;
            while left > 0
                && let Some(message) = in_time(doing, batch.next()).await?
            {
                let message = message.map_err(|e| failed(&*e))?;
                let info = message.info().map_err(|e| failed(&*e))?;
                if info.consumer_sequence != expected {
                    return Err(FleetError::server(
                        doing,
                        "the server has left something out",
                    ));
                }
                (expected, left) = (expected + 1, info.pending);
                take(message)?;
            }
            if expected == before {
                return Err(FleetError::server(doing, "the server sends no more"));
            }
        }
        let _ = stream.delete_consumer(&consumer.cached_info().name).await;
        Ok(())
    }

    /// The keys of a bucket that fit `filter` and are `wanted`, in order, up to a bound that no fleet reaches.
    pub(crate) async fn keys(
        &self,
        bucket: &str,
        filter: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, FleetError> {
        const MOST_KEYS: usize = 100_000;
        let mut names = Vec::new();
        self.scan(bucket, filter, 0, &mut |key, _| {
            if wanted(key) && names.len() < MOST_KEYS {
                names.push(key.to_owned());
            }
            Ok(())
        })
        .await?;
        names.sort();
        Ok(names)
    }

    /// The names of all campaigns.
    pub(crate) async fn campaign_ids(&self) -> Result<Vec<CampaignId>, FleetError> {
        if self.campaigns().await?.is_none() {
            return Ok(Vec::new());
        }
        // Others may keep what they like in the bucket.
        let is_id = |key: &str| key.parse::<CampaignId>().is_ok();
        let keys = self.keys(CAMPAIGNS, "*", is_id).await?;
        Ok(keys.iter().filter_map(|key| key.parse().ok()).collect())
    }
}

/// Whether a value says that its key is no more.
fn is_deleted(message: &Message) -> bool {
    let operation = message.headers.as_ref().and_then(|h| h.get("KV-Operation"));
    operation.is_some_and(|operation| matches!(operation.as_str(), "DEL" | "PURGE"))
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
            "{doing}: nobody answers for JetStream: either the server has none (`nats-server -js -sd FOLDER` starts one \
             that has), or its cluster has not agreed on a leader yet ({text})"
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
        // A comma may be part of the password.
        assert_eq!(shown("nats://u:pa,ss@h"), "nats://h");
        assert_eq!(shown("u:pa,ss@h, tls://v:q,r@i"), "h,tls://i");
        let options = ServerOptions {
            url: "nats://u:pa,ss@a:1, tls://b:2,c:3".to_owned(),
            ..ServerOptions::default()
        };
        let addresses: Vec<&str> = options.addresses().collect();
        assert_eq!(addresses, ["nats://u:pa,ss@a:1", "tls://b:2", "c:3"]);
    }
}

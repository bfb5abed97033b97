//! The place of one campaign on the server: its work queue, and the bucket of what its items came to.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{self, RetentionPolicy};
use async_nats::jetstream::{Message, kv};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::description::CampaignId;
use crate::outcome::{ERROR, MOST_PACKED};
use crate::server::{Server, whole};
use crate::status::StopReason;
use crate::{Description, FleetError, Outcome, files};

/// The header that says what an item came to, so that whoever counts need not read it.
pub(crate) const VERDICT: &str = "Iolite-Verdict";

/// Where a result is that is too large for a value.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    object: String,
}

/// A campaign on the server.
#[derive(Clone)]
pub(crate) struct Board {
    pub(crate) server: Server,
    pub(crate) id: CampaignId,
    pub(crate) results: kv::Store,
}

/// A message that was taken.
pub(crate) struct Taken {
    pub(crate) message: Message,
    pub(crate) claim: Claim,
    /// How often it was given to a worker, this time included.
    pub(crate) delivered: u64,
}

impl Board {
    pub(crate) fn bucket(id: &CampaignId) -> String {
        format!("iolite-{id}")
    }

    pub(crate) fn queue(id: &CampaignId) -> String {
        format!("iolite-work-{id}")
    }

    fn subject(id: &CampaignId) -> String {
        format!("iolite.work.{id}")
    }

    /// The campaign's place; `None` where it is not there.
    pub(crate) async fn open(server: &Server, id: &CampaignId) -> Result<Option<Self>, FleetError> {
        let bucket = server.bucket(&Self::bucket(id)).await?;
        Ok(bucket.map(|results| Self {
            server: server.clone(),
            id: id.clone(),
            results,
        }))
    }

    /// Makes the place of a campaign.
    pub(crate) async fn make(
        server: &Server,
        id: &CampaignId,
        description: &Description,
        replicas: usize,
    ) -> Result<Self, FleetError> {
        let results = server.make_bucket(&Self::bucket(id), replicas).await?;
        let config = stream::Config {
            name: Self::queue(id),
            subjects: vec![Self::subject(id)],
            retention: RetentionPolicy::WorkQueue,
            num_replicas: replicas,
            ..stream::Config::default()
        };
        let failed = |e: &dyn std::error::Error| FleetError::server("making a queue", whole(e));
        let queue = server.jetstream.get_or_create_stream(config).await;
        let queue = queue.map_err(|e| failed(&e))?;
        let consumer = pull::Config {
            durable_name: Some("workers".to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: Duration::from_secs_f64(description.patience),
            // What is given up is for workers to decide, who write down why.
            max_deliver: -1,
            max_ack_pending: 100_000,
            ..pull::Config::default()
        };
        let made = queue.get_or_create_consumer("workers", consumer).await;
        made.map_err(|e| failed(&e))?;
        Ok(Self {
            server: server.clone(),
            id: id.clone(),
            results,
        })
    }

    /// Puts items into the queue.
    pub(crate) async fn give(&self, claims: &[Claim]) -> Result<(), FleetError> {
        let failed = |e: &dyn std::error::Error| FleetError::server("giving work", whole(e));
        // Several on their way at once, in order.
        for some in claims.chunks(256) {
            let mut waiting = Vec::with_capacity(some.len());
            for claim in some {
                let bytes = claim.to_bytes().into();
                let sent = self
                    .server
                    .jetstream
                    .publish(Self::subject(&self.id), bytes)
                    .await;
                waiting.push(sent.map_err(|e| failed(&e))?);
            }
            for ack in waiting {
                ack.await.map_err(|e| failed(&e))?;
            }
        }
        Ok(())
    }

    pub(crate) async fn consumer(&self) -> Result<PullConsumer, FleetError> {
        let queue = Self::queue(&self.id);
        let found = self
            .server
            .jetstream
            .get_consumer_from_stream("workers", queue)
            .await;
        found.map_err(|e| FleetError::server("the queue", whole(&e)))
    }

    /// Messages that are not acknowledged: when there are none, every item is done.
    pub(crate) async fn left(&self) -> Result<u64, FleetError> {
        let stream = self
            .server
            .jetstream
            .get_stream(Self::queue(&self.id))
            .await;
        let stream = stream.map_err(|e| FleetError::server("the queue", whole(&e)))?;
        Ok(stream.cached_info().state.messages)
    }

    /// Takes a message, if one comes in time.
    pub(crate) async fn take(
        consumer: &PullConsumer,
        description: &Description,
        wait: Duration,
    ) -> Result<Option<Taken>, FleetError> {
        let failed = |e: String| FleetError::server("taking work", e);
        let batch = consumer
            .batch()
            .max_messages(1)
            .expires(wait)
            .messages()
            .await;
        let mut batch = batch.map_err(|e| failed(whole(&e)))?;
        // The server ends the request itself; this is for one that went away.
        let next = tokio::time::timeout(wait + Duration::from_secs(2), batch.next()).await;
        let Ok(Some(message)) = next else {
            return Ok(None);
        };
        let message = message.map_err(|e| failed(e.to_string()))?;
        let delivered = message.info().map_err(|e| failed(e.to_string()))?.delivered;
        match Claim::read(&message.payload, description.items, description.range) {
            Ok(claim) => Ok(Some(Taken {
                message,
                claim,
                delivered: u64::try_from(delivered).unwrap_or(1),
            })),
            Err(wrong) => {
                // Nobody can do anything with it, now or later.
                let _ = message.ack_with(async_nats::jetstream::AckKind::Term).await;
                Err(wrong)
            }
        }
    }

    fn run_key(item: u64) -> String {
        format!("run.{item}")
    }

    fn key_subject(&self, key: &str) -> String {
        format!("$KV.{}.{key}", Self::bucket(&self.id))
    }

    /// Writes what an item came to, unless that is written. Whether it was.
    pub(crate) async fn write(&self, outcome: &Outcome) -> Result<bool, FleetError> {
        let packed = outcome.pack()?;
        if packed.len() > MOST_PACKED {
            return Err(FleetError::Input(format!(
                "the record of {} is larger than {MOST_PACKED} bytes",
                outcome.item
            )));
        }
        let value = if packed.len() > self.server.most_value() {
            let object = files::digest(&packed);
            files::store(&self.server.files().await?, &object, &packed).await?;
            serde_json::to_vec(&Elsewhere { object }).unwrap_or_default()
        } else {
            packed
        };
        let key = Self::run_key(outcome.item);
        let header = (VERDICT, outcome.verdict.as_str());
        self.create(&key, value, Some(header)).await
    }

    /// Creates a key; `false` where it is there.
    async fn create(
        &self,
        key: &str,
        value: Vec<u8>,
        header: Option<(&'static str, &str)>,
    ) -> Result<bool, FleetError> {
        let failed = |e: &dyn std::error::Error| FleetError::server("writing", whole(e));
        let mut message = PublishMessage::build()
            .payload(value.into())
            .expected_last_subject_sequence(0);
        if let Some((name, value)) = header {
            message = message.header(name, value);
        }
        let subject = self.key_subject(key);
        let sent = self.server.jetstream.send_publish(subject, message).await;
        match sent.map_err(|e| failed(&e))?.await {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == PublishErrorKind::WrongLastSequence => Ok(false),
            Err(e) => Err(failed(&e)),
        }
    }

    /// Whether an item is done.
    pub(crate) async fn is_done(&self, item: u64) -> Result<bool, FleetError> {
        let entry = self.results.entry(Self::run_key(item)).await;
        let entry = entry.map_err(|e| FleetError::server("reading", whole(&e)))?;
        Ok(entry.is_some())
    }

    /// What an item came to, if it is done.
    pub(crate) async fn result(&self, item: u64) -> Result<Option<Outcome>, FleetError> {
        let value = self.results.get(Self::run_key(item)).await;
        let value = value.map_err(|e| FleetError::server("reading a result", whole(&e)))?;
        match value {
            Some(value) => self.read(item, &value).await.map(Some),
            None => Ok(None),
        }
    }

    /// The result in a value.
    async fn read(&self, item: u64, value: &[u8]) -> Result<Outcome, FleetError> {
        if value.first() != Some(&b'{') {
            return Outcome::unpack(value, item);
        }
        let wrong = |why: String| FleetError::content(format!("the result of {item}: {why}"));
        if value.len() > 4096 {
            return Err(wrong("no result".to_owned()));
        }
        let place: Elsewhere = serde_json::from_slice(value).map_err(|e| wrong(e.to_string()))?;
        Outcome::unpack(
            &files::fetch(&self.server, &place.object, MOST_PACKED).await?,
            item,
        )
    }

    /// A value; empty where there is none.
    pub(crate) async fn value(&self, key: &str) -> Result<Vec<u8>, FleetError> {
        let value = self.results.get(key).await;
        let value = value.map_err(|e| FleetError::server("reading", whole(&e)))?;
        Ok(value.map(Vec::from).unwrap_or_default())
    }

    /// The place of what was written last, and how many values there are.
    pub(crate) async fn extent(&self) -> Result<(u64, u64), FleetError> {
        let status = self.results.status().await;
        let status = status.map_err(|e| FleetError::server("reading", whole(&e)))?;
        let state = &status.info.state;
        Ok((state.last_sequence, state.messages))
    }

    /// The headers of every result of an item that was written behind this place, in the order in which they were
    /// written.
    pub(crate) async fn each(
        &self,
        behind: u64,
        take: &mut dyn FnMut(u64, Message) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let bucket = Self::bucket(&self.id);
        let mut each = |key: &str, message| match key.strip_prefix("run.").map(str::parse) {
            Some(Ok(item)) => take(item, message),
            _ => Ok(()),
        };
        self.server.scan(&bucket, "run.*", behind, &mut each).await
    }

    /// The keys under which workers are heard.
    pub(crate) async fn workers(&self) -> Result<Vec<String>, FleetError> {
        let bucket = Self::bucket(&self.id);
        self.server.keys(&bucket, "worker.*", |_| true).await
    }

    /// Ends the campaign before its time.
    pub(crate) async fn stop(&self, reason: &StopReason) -> Result<(), FleetError> {
        let value = serde_json::to_vec(reason).unwrap_or_default();
        self.create("stop", value, None).await?;
        Ok(())
    }

    /// Why the campaign was ended, if it was.
    pub(crate) async fn stopped(&self) -> Result<Option<StopReason>, FleetError> {
        let entry = self.results.get("stop").await;
        let entry = entry.map_err(|e| FleetError::server("reading", whole(&e)))?;
        Ok(entry.map(|value| StopReason::read(&value)))
    }

    /// Notes a try that came to nothing, and says what all tries said.
    pub(crate) async fn note_try(&self, item: u64, said: &str) -> Result<Vec<String>, FleetError> {
        let said: String = said.chars().take(MOST_LOG).collect();
        self.change(&format!("try.{item}"), |old| {
            let mut tries = read_tries(old);
            tries.push(said.clone());
            let skip = tries.len().saturating_sub(MOST_TRIES);
            let tries: Vec<String> = tries.into_iter().skip(skip).collect();
            let value = serde_json::to_vec(&tries).unwrap_or_default();
            Some((value, tries))
        })
        .await
        .map(Option::unwrap_or_default)
    }

    /// What was said in tries of an item.
    pub(crate) async fn tries(&self, item: u64) -> Result<Vec<String>, FleetError> {
        Ok(read_tries(&self.value(&format!("try.{item}")).await?))
    }

    /// Changes a value by compare and set, until nobody was faster. `None` where nothing is to be changed.
    pub(crate) async fn change<T>(
        &self,
        key: &str,
        mut how: impl FnMut(&[u8]) -> Option<(Vec<u8>, T)>,
    ) -> Result<Option<T>, FleetError> {
        for _ in 0..100 {
            let entry = self.results.entry(key).await;
            let entry = entry.map_err(|e| FleetError::server("reading", whole(&e)))?;
            let old = entry.as_ref().map(|e| e.value.clone()).unwrap_or_default();
            let Some((value, answer)) = how(&old) else {
                return Ok(None);
            };
            if value.len() > self.server.most_value() {
                return Ok(None);
            }
            let written = match &entry {
                None => self.create(key, value, None).await?,
                Some(entry) => {
                    let update = self.results.update(key, value.into(), entry.revision).await;
                    match update {
                        Ok(_) => true,
                        Err(e) if e.kind() == kv::UpdateErrorKind::WrongLastRevision => false,
                        Err(e) => return Err(FleetError::server("writing", whole(&e))),
                    }
                }
            };
            if written {
                return Ok(Some(answer));
            }
        }
        Err(FleetError::Server(format!(
            "{key} is changed by others all the time"
        )))
    }
}

/// Characters of a log that are kept of one try.
const MOST_LOG: usize = 8 << 10;

/// Tries that are kept.
const MOST_TRIES: usize = 10;

fn read_tries(value: &[u8]) -> Vec<String> {
    serde_json::from_slice(value).unwrap_or_default()
}

/// The record of an item that was set aside.
pub(crate) fn set_aside(item: u64, worker: &str, record: String, tries: Vec<String>) -> Outcome {
    Outcome {
        item,
        verdict: ERROR.to_owned(),
        worker: worker.to_owned(),
        record: serde_json::value::RawValue::from_string(record).unwrap_or_default(),
        tries,
    }
}

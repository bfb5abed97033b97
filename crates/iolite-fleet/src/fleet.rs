//! A fleet as commands see it: submit, work, look, read.

use std::collections::BTreeMap;
use std::path::Path;

use async_nats::jetstream::kv;
use futures_util::StreamExt;
use tokio::runtime::Runtime;

use crate::board::{Board, VERDICT};
use crate::claim::Claim;
use crate::description::CampaignId;
use crate::outcome::ERROR;
use crate::server::{Server, whole};
use crate::status::StopReason;
use crate::worker::{self, Accepts, WorkEnd, WorkOptions};
use crate::{
    Description, FleetError, Outcome, Seen, ServerOptions, Status, WorkerStatus, digest, files,
};

/// A server, and everything that can be asked of it. Calls wait for their answers.
pub struct Fleet {
    runtime: Runtime,
    server: Server,
}

/// A campaign that was submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Its name on the server.
    pub id: String,
    /// The hash that an allow-list names.
    pub hash: String,
    /// Whether it was there before.
    pub known: bool,
}

/// A campaign with what its items came to.
pub struct ReportedCampaign {
    /// What it is.
    pub description: Description,
    /// How far it is.
    pub status: Status,
    /// What its items came to, in their order.
    pub outcomes: BTreeMap<u64, Outcome>,
}

/// Items that were set aside and are named.
const MOST_NAMED: usize = 100;

impl Fleet {
    /// Connects to a server.
    pub fn connect(options: &ServerOptions) -> Result<Self, FleetError> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build();
        let runtime = runtime.map_err(|e| FleetError::server("starting", e))?;
        let server = runtime.block_on(Server::connect(options))?;
        Ok(Self { runtime, server })
    }

    /// Puts a campaign on the server, under this name or one that is made from its hash. `files` are the
    /// contents of the description's files, in its order.
    pub fn submit(
        &self,
        description: &Description,
        files: &[Vec<u8>],
        id: Option<&str>,
        replicas: usize,
    ) -> Result<Submitted, FleetError> {
        description.check().map_err(FleetError::Input)?;
        let bytes = description.to_bytes()?;
        let hash = digest(&bytes);
        let id = match id {
            Some(id) => id.parse()?,
            None => CampaignId::of(&description.name, &hash),
        };
        let known = self.runtime.block_on(async {
            let campaigns = self.server.make_campaigns(replicas).await?;
            let failed = |e: String| FleetError::server("submitting", e);
            let there = campaigns
                .get(id.as_str())
                .await
                .map_err(|e| failed(whole(&e)))?;
            match there {
                Some(there) if digest(&there) == hash => return Ok(true),
                Some(_) => {
                    return Err(FleetError::Input(format!(
                        "the server has another campaign that is called {id}"
                    )));
                }
                None => {}
            }
            let store = self.server.make_files(replicas).await?;
            for (file, bytes) in description.files.iter().zip(files) {
                files::store(&store, &file.sha256, bytes).await?;
            }
            let board = Board::make(&self.server, &id, description, replicas).await?;
            // An earlier attempt may have got as far as this; items count once.
            let claims: Vec<Claim> = Claim::all(description.items, description.range).collect();
            board.give(&claims).await?;
            // Workers see it when all of it is there.
            let created = campaigns.create(id.as_str(), bytes.into()).await;
            match created {
                Ok(_) => Ok(false),
                Err(e) if e.kind() == kv::CreateErrorKind::AlreadyExists => Ok(true),
                Err(e) => Err(failed(whole(&e))),
            }
        })?;
        let id = id.to_string();
        Ok(Submitted { id, hash, known })
    }

    /// Works until a signal comes or, where that is asked for, nothing is left to do.
    pub fn work(
        &self,
        options: &WorkOptions,
        accepts: &dyn Accepts,
    ) -> Result<WorkEnd, FleetError> {
        self.runtime
            .block_on(worker::work(self.server.clone(), options, accepts))
    }

    /// The names of all campaigns.
    pub fn campaigns(&self) -> Result<Vec<String>, FleetError> {
        self.runtime.block_on(async {
            let Some(store) = self.server.campaigns().await? else {
                return Ok(Vec::new());
            };
            let failed = |e: String| FleetError::server("listing campaigns", e);
            let mut keys = store.keys().await.map_err(|e| failed(whole(&e)))?;
            let mut names = Vec::new();
            while let Some(key) = keys.next().await {
                let key = key.map_err(|e| failed(whole(&e)))?;
                if key.parse::<CampaignId>().is_ok() {
                    names.push(key);
                }
            }
            names.sort();
            Ok(names)
        })
    }

    async fn open(&self, id: &str) -> Result<(Board, Description, String), FleetError> {
        let missing = || FleetError::Input(format!("the server has no campaign {id}"));
        let id: CampaignId = id.parse()?;
        let store = self.server.campaigns().await?.ok_or_else(missing)?;
        let bytes = store.get(id.as_str()).await;
        let bytes = bytes.map_err(|e| FleetError::server("reading a campaign", whole(&e)))?;
        let bytes = bytes.ok_or_else(missing)?;
        let board = Board::open(&self.server, &id).await?.ok_or_else(missing)?;
        Ok((board, Description::read(&bytes)?, digest(&bytes)))
    }

    /// What a campaign is.
    pub fn description(&self, id: &str) -> Result<Description, FleetError> {
        let opened = self.runtime.block_on(self.open(id))?;
        Ok(opened.1)
    }

    /// How far a campaign is.
    pub fn status(&self, id: &str) -> Result<Status, FleetError> {
        self.runtime.block_on(async {
            let (board, description, hash) = self.open(id).await?;
            let mut count = Count::default();
            board
                .each(true, &mut |item, message| {
                    count.add(item, &message);
                    Ok(())
                })
                .await?;
            status(&board, &description, hash, count).await
        })
    }

    /// Ends a campaign before its time.
    pub fn stop(&self, id: &str) -> Result<(), FleetError> {
        self.runtime.block_on(async {
            let (board, ..) = self.open(id).await?;
            board.stop(&StopReason::Asked).await
        })
    }

    /// A campaign with what its items came to.
    pub fn report(&self, id: &str) -> Result<ReportedCampaign, FleetError> {
        self.runtime.block_on(async {
            let (board, description, hash) = self.open(id).await?;
            let mut count = Count::default();
            let mut values = BTreeMap::new();
            board
                .each(false, &mut |item, message| {
                    count.add(item, &message);
                    values.insert(item, message.payload.clone());
                    Ok(())
                })
                .await?;
            let mut outcomes = BTreeMap::new();
            for (item, value) in values {
                if item >= description.items {
                    return Err(FleetError::content(format!(
                        "there is a result of {item}, and the campaign has {} items",
                        description.items
                    )));
                }
                outcomes.insert(item, board.read(item, &value).await?);
            }
            let status = status(&board, &description, hash, count).await?;
            Ok(ReportedCampaign {
                description,
                status,
                outcomes,
            })
        })
    }

    /// Writes the files of a campaign below a folder.
    pub fn unpack(&self, description: &Description, folder: &Path) -> Result<(), FleetError> {
        self.runtime.block_on(async {
            let store = self.server.files().await?;
            files::unpack(&store, description, folder).await
        })
    }
}

/// What was read of results.
#[derive(Default)]
struct Count {
    verdicts: BTreeMap<String, u64>,
    done: u64,
    set_aside: Vec<u64>,
    first: Option<i128>,
    last: Option<i128>,
}

impl Count {
    fn add(&mut self, item: u64, message: &async_nats::jetstream::Message) {
        let header = message.headers.as_ref().and_then(|h| h.get(VERDICT));
        // A word; whoever wrote something else counts as nobody.
        let verdict = header.map_or("", |v| v.as_str());
        let is_word = |v: &str| {
            (1..=40).contains(&v.len()) && v.bytes().all(|c| c.is_ascii_lowercase() || c == b'-')
        };
        let verdict = if is_word(verdict) { verdict } else { ERROR };
        if verdict == ERROR && self.set_aside.len() < MOST_NAMED {
            self.set_aside.push(item);
        }
        *self.verdicts.entry(verdict.to_owned()).or_default() += 1;
        self.done += 1;
        if let Ok(info) = message.info() {
            let time = info.published.unix_timestamp_nanos();
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = Some(self.last.map_or(time, |last| last.max(time)));
        }
    }
}

async fn status(
    board: &Board,
    description: &Description,
    hash: String,
    count: Count,
) -> Result<Status, FleetError> {
    let failed = |e: String| FleetError::server("reading", e);
    let entry = |key: &'static str| async move {
        let entry = board.results.entry(key).await;
        entry.map_err(|e| failed(whole(&e)))
    };
    let stopped = board.stopped().await?;
    let begun = entry("begun")
        .await?
        .map(|e| e.created.unix_timestamp_nanos());
    let seen = entry("seen").await?.map(|e| e.value);
    let seen = seen.and_then(|s| Seen::read(std::str::from_utf8(&s).ok()?).ok());
    let learnt = entry("learnt").await?.map(|e| e.value).unwrap_or_default();
    let mut keys = board.results.keys().await.map_err(|e| failed(whole(&e)))?;
    let mut names = Vec::new();
    while let Some(key) = keys.next().await {
        let key = key.map_err(|e| failed(whole(&e)))?;
        if key.starts_with("worker.") && names.len() < 10_000 {
            names.push(key);
        }
    }
    names.sort();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |d| d.as_nanos().cast_signed());
    let mut workers = Vec::new();
    for name in names {
        let entry = board
            .results
            .entry(name)
            .await
            .map_err(|e| failed(whole(&e)))?;
        if let Some(entry) = entry
            && let Ok(mut worker) = serde_json::from_slice::<WorkerStatus>(&entry.value)
        {
            worker.heard = seconds(now - entry.created.unix_timestamp_nanos());
            workers.push(worker);
        }
    }
    let left = board.left().await?;
    let begun = begun.or(count.first);
    let length = begun
        .zip(count.last)
        .map_or(0, |(begun, last)| last - begun);
    Ok(Status {
        id: board.id.to_string(),
        name: description.name.clone(),
        kind: description.kind,
        hash,
        items: description.items,
        done: count.done,
        verdicts: count.verdicts,
        set_aside: count.set_aside,
        needs: description.needs.to_string(),
        complete: count.done >= description.items || stopped.is_some() || left == 0,
        stopped,
        seconds: seconds(length),
        coverage: seen.map(|seen| (seen.count(), seen.total())),
        learnt: serde_json::from_slice(&learnt).unwrap_or_default(),
        workers,
    })
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn seconds(nanos: i128) -> f64 {
    (nanos.max(0) as f64) / 1e9
}

//! A fleet as commands see it: submit, work, look, read.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use async_nats::jetstream::kv;
use futures_util::stream::{self, StreamExt};
use tokio::runtime::Runtime;

use crate::board::Board;
use crate::claim::Claim;
use crate::description::CampaignId;
use crate::server::{Server, whole};
use crate::status::StopReason;
use crate::tally::Tally;
use crate::worker::{self, Accepts, WorkEnd, WorkOptions};
use crate::{
    Bounds, Description, FleetError, Outcome, Seen, ServerOptions, Status, WorkerStatus, digest,
    files,
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

/// A campaign, and how far it is.
#[derive(Clone, Debug)]
pub struct ReportedCampaign {
    /// What it is.
    pub description: Description,
    /// How far it is.
    pub status: Status,
}

/// Results that are on their way at the same time when they are read in order.
const AHEAD: usize = 32;

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
                Some(there) if digest(&there) == hash => {
                    self.give_again(&id, description).await?;
                    return Ok(true);
                }
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

    /// Gives workers what nobody has to do and nobody has done: a queue that somebody emptied, or that a server lost
    /// with its disk.
    async fn give_again(
        &self,
        id: &CampaignId,
        description: &Description,
    ) -> Result<(), FleetError> {
        let Some(board) = Board::open(&self.server, id).await? else {
            return Ok(());
        };
        if board.stopped().await?.is_some() || board.left().await? > 0 {
            return Ok(());
        }
        let mut done = BTreeSet::new();
        board
            .each(0, &mut |item, _| {
                done.insert(item);
                Ok(())
            })
            .await?;
        let missing: Vec<u64> = (0..description.items)
            .filter(|item| !done.contains(item))
            .collect();
        let ranges = missing.chunks(description.range as usize);
        let claims: Vec<Claim> = ranges.flat_map(Claim::of).collect();
        board.give(&claims).await
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
            let ids = self.server.campaign_ids().await?;
            Ok(ids.iter().map(CampaignId::to_string).collect())
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
            let left = board.left().await?;
            let tally = Tally::of(&board).await?;
            status(&board, &description, hash, (left, tally)).await
        })
    }

    /// Ends a campaign before its time.
    pub fn stop(&self, id: &str) -> Result<(), FleetError> {
        self.runtime.block_on(async {
            let (board, ..) = self.open(id).await?;
            board.stop(&StopReason::Asked).await
        })
    }

    /// A campaign whose results are to be read.
    pub fn report(&self, id: &str) -> Result<ReportedCampaign, FleetError> {
        self.runtime.block_on(async {
            let (board, description, hash) = self.open(id).await?;
            let left = board.left().await?;
            // Counted anew: a report does not rest on what somebody noted.
            let mut tally = Tally::default();
            board
                .each(0, &mut |item, message| {
                    if item >= description.items {
                        return Err(FleetError::content(format!(
                            "there is a result of {item}, and the campaign has {} items",
                            description.items
                        )));
                    }
                    tally.add(item, &message);
                    Ok(())
                })
                .await?;
            let status = status(&board, &description, hash, (left, tally)).await?;
            Ok(ReportedCampaign {
                description,
                status,
            })
        })
    }

    /// Reads what the items of a range came to, in their order, and keeps none of it. Items without a result are
    /// passed over.
    pub fn outcomes(
        &self,
        id: &str,
        items: Range<u64>,
        take: &mut dyn FnMut(Outcome) -> ControlFlow<()>,
    ) -> Result<(), FleetError> {
        self.runtime.block_on(async {
            let (board, description, _) = self.open(id).await?;
            let items = items.start..items.end.min(description.items);
            let results = stream::iter(items).map(|item| board.result(item));
            let mut results = results.buffered(AHEAD);
            while let Some(result) = results.next().await {
                if let Some(outcome) = result?
                    && take(outcome).is_break()
                {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Writes the files of a campaign below a folder.
    pub fn unpack(&self, description: &Description, folder: &Path) -> Result<(), FleetError> {
        self.runtime
            .block_on(files::unpack(&self.server, description, folder))
    }
}

/// How far a campaign is, by what was left of its queue *before* its results were counted: a queue that was empty then had
/// all of them written.
async fn status(
    board: &Board,
    description: &Description,
    hash: String,
    (left, tally): (u64, Tally),
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
    let bounds = entry("bounds").await?.map(|e| e.value).unwrap_or_default();
    let names = board.workers().await?;
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
    let begun = begun.or(tally.first.map(i128::from));
    let length = begun
        .zip(tally.last.map(i128::from))
        .map_or(0, |(begun, last)| last - begun);
    Ok(Status {
        id: board.id.to_string(),
        name: description.name.clone(),
        kind: description.kind,
        hash,
        items: description.items,
        done: tally.done,
        verdicts: tally.verdicts,
        set_aside: tally.set_aside,
        needs: description.needs.to_string(),
        complete: tally.done >= description.items || stopped.is_some() || left == 0,
        stopped,
        seconds: seconds(length),
        coverage: seen.map(|seen| (seen.count(), seen.reachable())),
        learnt: serde_json::from_slice(&learnt).unwrap_or_default(),
        bounds: Bounds::read(&bounds),
        workers,
    })
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn seconds(nanos: i128) -> f64 {
    (nanos.max(0) as f64) / 1e9
}

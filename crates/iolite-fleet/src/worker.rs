//! A worker: claims items, has them made, writes what they came to, acknowledges.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::PullConsumer;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::board::{Board, Taken};
use crate::claim::Claim;
use crate::description::CampaignId;
use crate::maker::Maker;
use crate::server::{Server, whole};
use crate::{AllowList, Capabilities, Description, FleetError, MakerSpec, Programs, digest, files};

mod lane;
mod scratch;

use scratch::Scratch;

/// What a worker does, and for whom.
#[derive(Clone, Debug)]
pub struct WorkOptions {
    /// Its name.
    pub name: String,
    /// What it has.
    pub offers: Capabilities,
    /// Which campaigns it runs.
    pub allow: AllowList,
    /// Only these of them; all where none is named.
    pub only: Vec<String>,
    /// Items that are made at the same time.
    pub lanes: usize,
    /// Whether it ends when nothing is left to do.
    pub until_done: bool,
    /// How long a server that does not answer is waited for; for ever, where it is not said.
    pub give_up: Option<Duration>,
    /// What makes items.
    pub maker: MakerSpec,
}

/// What the worker's command knows of descriptions.
pub trait Accepts {
    /// What a campaign whose files are in `folder` would start; an error where it is no campaign that the
    /// command can run.
    fn programs(&self, description: &Description, folder: &Path) -> Result<Programs, String>;

    /// Says something to the user.
    fn say(&self, text: &str);
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkEnd {
    /// Nothing is left to do.
    Done,
    /// By this signal.
    Signal(i32),
}

/// A campaign whose files are here.
struct Ready {
    board: Board,
    description: Description,
    folder: PathBuf,
    consumer: PullConsumer,
    /// When it was submitted.
    since: i128,
    /// Whether nothing is left to do.
    finished: Cell<bool>,
    /// When this worker was last heard of there.
    heard: Cell<Option<Instant>>,
    written: Cell<u64>,
    /// When it was last looked whether the campaign goes on.
    looked: Cell<Instant>,
}

/// What is known of a campaign.
#[derive(Clone)]
enum Known {
    Ready(Rc<Ready>),
    /// It is not for this worker.
    Refused,
}

pub(crate) struct Worker<'a> {
    server: Server,
    options: &'a WorkOptions,
    accepts: &'a dyn Accepts,
    scratch: Scratch,
    known: RefCell<BTreeMap<CampaignId, Known>>,
    /// The campaigns that this worker runs, oldest first, and when the server was asked for them.
    listed: RefCell<(Option<Instant>, Vec<Rc<Ready>>)>,
    /// The signal that came.
    signal: watch::Receiver<Option<i32>>,
    /// Since when the server does not answer, which is said once.
    trouble: RefCell<Option<Instant>>,
}

/// Between two looks for work.
const PAUSE: Duration = Duration::from_millis(500);

/// A list of campaigns is taken for true so long.
const LIST: Duration = Duration::from_secs(3);

/// What a lane found to do.
enum Turn {
    Worked,
    Idle {
        /// Whether all campaigns that this worker knows are complete, and there is one.
        all_done: bool,
    },
}

/// Works until a signal comes or, where that is asked for, nothing is left.
pub(crate) async fn work(
    server: Server,
    options: &WorkOptions,
    accepts: &dyn Accepts,
) -> Result<WorkEnd, FleetError> {
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(listen(sender));
    let worker = Worker {
        server,
        options,
        accepts,
        scratch: Scratch::new()?,
        known: RefCell::default(),
        listed: RefCell::default(),
        signal: receiver,
        trouble: RefCell::default(),
    };
    let lanes = (0..options.lanes.max(1)).map(|_| worker.lane());
    for ended in join_all(lanes).await {
        ended?;
    }
    let signal = *worker.signal.borrow();
    Ok(signal.map_or(WorkEnd::Done, WorkEnd::Signal))
}

/// Notes the first signal; the second ends the process.
async fn listen(sender: watch::Sender<Option<i32>>) {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return;
    };
    loop {
        let number = tokio::select! {
            _ = interrupt.recv() => 2,
            _ = terminate.recv() => 15,
        };
        if sender.borrow().is_some() {
            // Makers see that their input ends.
            std::process::exit(128 + number);
        }
        let _ = sender.send(Some(number));
    }
}

impl Worker<'_> {
    fn is_stopping(&self) -> bool {
        self.signal.borrow().is_some()
    }

    /// Waits, or less where a signal comes.
    async fn pause(&self, time: Duration) {
        let mut signal = self.signal.clone();
        let _ = tokio::time::timeout(time, signal.wait_for(Option::is_some)).await;
    }

    async fn lane(&self) -> Result<(), FleetError> {
        let mut maker = None;
        let result = self.turns(&mut maker).await;
        if let Some((_, maker)) = maker {
            let maker: Maker = maker;
            maker.end().await;
        }
        result
    }

    async fn turns(&self, maker: &mut Option<(CampaignId, Maker)>) -> Result<(), FleetError> {
        while !self.is_stopping() {
            match self.turn(maker).await {
                Ok(Turn::Worked) => self.well(),
                Ok(Turn::Idle { all_done }) => {
                    self.well();
                    if all_done && self.options.until_done {
                        break;
                    }
                    self.pause(PAUSE).await;
                }
                Err(FleetError::Input(why)) => return Err(FleetError::Input(why)),
                Err(FleetError::Server(why)) => {
                    self.trouble(&why)?;
                    self.pause(PAUSE).await;
                }
                Err(FleetError::Lost(why)) => return Err(FleetError::Lost(why)),
                Err(FleetError::Content(why)) => self.accepts.say(&format!("warning: {why}")),
            }
        }
        Ok(())
    }

    /// The server did not answer: that is said once, and borne until it is too long.
    fn trouble(&self, why: &str) -> Result<(), FleetError> {
        let mut trouble = self.trouble.borrow_mut();
        let since = trouble.get_or_insert_with(|| {
            self.accepts.say(&format!(
                "warning: {why}; trying again until the server answers"
            ));
            Instant::now()
        });
        match self.options.give_up {
            Some(time) if since.elapsed() >= time => Err(FleetError::Lost(format!(
                "the server has not answered for {} s: {why}",
                time.as_secs_f64()
            ))),
            _ => Ok(()),
        }
    }

    fn well(&self) {
        if self.trouble.borrow_mut().take().is_some() {
            self.accepts.say("the server answers again");
        }
    }

    async fn turn(&self, maker: &mut Option<(CampaignId, Maker)>) -> Result<Turn, FleetError> {
        let campaigns = self.listed().await?;
        let wait = match campaigns.iter().filter(|c| !c.finished.get()).count() {
            0 | 1 => Duration::from_secs(1),
            _ => Duration::from_millis(100),
        };
        for ready in &campaigns {
            if ready.finished.get() {
                continue;
            }
            if let Some(reason) = ready.board.stopped().await? {
                let noun = ready.description.kind.noun();
                let id = &ready.board.id;
                self.accepts
                    .say(&format!("{id} has ended: {}", reason.tell(noun)));
                self.drop_rest(ready).await?;
                ready.finished.set(true);
                continue;
            }
            if let Some(taken) = Board::take(&ready.consumer, &ready.description, wait).await? {
                self.work_on(ready, taken, maker).await?;
                return Ok(Turn::Worked);
            }
            if self.is_stopping() {
                break;
            }
            if ready.board.left().await? == 0 {
                self.accepts.say(&format!("{} is complete", ready.board.id));
                if ready.heard.get().is_some() {
                    self.be_heard(ready, Duration::ZERO).await?;
                }
                ready.finished.set(true);
            }
        }
        let known = self.known.borrow();
        let named = &self.options.only;
        let refused = |id: &String| {
            let id = id.parse::<CampaignId>().ok();
            id.is_some_and(|id| matches!(known.get(&id), Some(Known::Refused)))
        };
        if !named.is_empty() && named.iter().all(refused) {
            return Err(FleetError::Input(
                "none of the campaigns that are named is run here".to_owned(),
            ));
        }
        let all_done = !campaigns.is_empty() && campaigns.iter().all(|c| c.finished.get());
        Ok(Turn::Idle { all_done })
    }

    /// Nothing of a campaign that was ended is done any more.
    async fn drop_rest(&self, ready: &Ready) -> Result<(), FleetError> {
        let failed = |e: String| FleetError::server("the queue", e);
        let queue = Board::queue(&ready.board.id);
        let queue = self.server.jetstream.get_stream(queue).await;
        let queue = queue.map_err(|e| failed(whole(&e)))?;
        queue.purge().await.map_err(|e| failed(whole(&e)))?;
        Ok(())
    }

    /// The campaigns that this worker runs, oldest first; the server is asked for them now and then.
    async fn listed(&self) -> Result<Vec<Rc<Ready>>, FleetError> {
        let (asked, known) = self.listed.borrow().clone();
        if asked.is_some_and(|asked| asked.elapsed() < LIST) {
            return Ok(known);
        }
        let campaigns = self.campaigns().await?;
        *self.listed.borrow_mut() = (Some(Instant::now()), campaigns.clone());
        Ok(campaigns)
    }

    async fn campaigns(&self) -> Result<Vec<Rc<Ready>>, FleetError> {
        let Some(store) = self.server.campaigns().await? else {
            return Ok(Vec::new());
        };
        let mut ids: Vec<CampaignId> = Vec::new();
        if self.options.only.is_empty() {
            ids = self.server.campaign_ids().await?;
        } else {
            for id in &self.options.only {
                ids.push(id.parse()?);
            }
        }
        let mut ready = Vec::new();
        for id in ids {
            let known = self.known.borrow().get(&id).cloned();
            let known = if let Some(known) = known {
                known
            } else {
                let Some(known) = self.look_at(&store, &id).await? else {
                    continue;
                };
                self.known.borrow_mut().insert(id, known.clone());
                known
            };
            if let Known::Ready(campaign) = known {
                ready.push(campaign);
            }
        }
        ready.sort_by(|a, b| (a.since, &a.board.id).cmp(&(b.since, &b.board.id)));
        Ok(ready)
    }

    /// Reads a description, and says whether it is for this worker. `None` where it is not there yet.
    async fn look_at(
        &self,
        store: &async_nats::jetstream::kv::Store,
        id: &CampaignId,
    ) -> Result<Option<Known>, FleetError> {
        let entry = store.entry(id.as_str()).await;
        let entry = entry.map_err(|e| FleetError::server("reading a campaign", whole(&e)))?;
        let Some(entry) = entry else {
            return Ok(None);
        };
        let refused = |why: &str| {
            self.accepts.say(&format!("{id} is not run here: {why}"));
            Ok(Some(Known::Refused))
        };
        let hash = digest(&entry.value);
        let description = match Description::read(&entry.value) {
            Ok(description) => description,
            Err(why) => return refused(&why.to_string()),
        };
        if !self.options.offers.satisfy(&description.needs) {
            return refused(&format!("it needs {}", description.needs));
        }
        if !self.options.allow.may_allow(&hash) {
            return refused(&format!("sha256:{hash} is not on the allow-list"));
        }
        let own = env!("CARGO_PKG_VERSION");
        if description.version != own {
            return refused(&format!(
                "it was made by version {}, and this is {own}, which may draw other runs from one seed",
                description.version
            ));
        }
        let folder = self.scratch.path().join(id.as_str());
        match files::unpack(&self.server, &description, &folder).await {
            Err(FleetError::Content(why)) => return refused(&why),
            other => other?,
        }
        let _ = std::fs::create_dir_all(&folder);
        let programs = match self.accepts.programs(&description, &folder) {
            Ok(programs) => programs,
            Err(why) => return refused(&why),
        };
        if let Some(why) = self.options.allow.refusal(&hash, &description, &programs) {
            return refused(&why);
        }
        let Some(board) = Board::open(&self.server, id).await? else {
            return refused("its results have no place on the server");
        };
        let consumer = board.consumer().await?;
        self.accepts.say(&format!(
            "{id}: {} {}s",
            description.items,
            description.kind.noun()
        ));
        Ok(Some(Known::Ready(Rc::new(Ready {
            board,
            description,
            folder,
            consumer,
            since: entry.created.unix_timestamp_nanos(),
            finished: Cell::new(false),
            heard: Cell::new(None),
            written: Cell::new(0),
            looked: Cell::new(Instant::now()),
        }))))
    }

    /// Those items that nobody has done.
    async fn undone(&self, ready: &Ready, items: Vec<u64>) -> Result<Vec<u64>, FleetError> {
        let asked = stream::iter(items).map(|item| async move {
            let done = ready.board.is_done(item).await?;
            Ok::<_, FleetError>((!done).then_some(item))
        });
        let left: Vec<Option<u64>> = asked.buffered(32).try_collect().await?;
        Ok(left.into_iter().flatten().collect())
    }

    async fn work_on(
        &self,
        ready: &Rc<Ready>,
        taken: Taken,
        maker: &mut Option<(CampaignId, Maker)>,
    ) -> Result<(), FleetError> {
        let mut items: Vec<u64> = taken.claim.items().collect();
        if taken.delivered > 1 || taken.claim.again {
            items = self.undone(ready, items).await?;
        }
        if items.is_empty() {
            return self.acknowledge(&taken).await;
        }
        if taken.delivered > 1 && items.len() > 1 {
            // Whoever had it has died or was cut off, perhaps of the item that was its next: that one is
            // tried by itself from now on, so that it cannot take others with it.
            let mut claims = Claim::of(&items[..1]);
            claims.extend(Claim::of(&items[1..]));
            ready.board.give(&claims).await?;
            return self.acknowledge(&taken).await;
        }
        let tries = u64::from(ready.description.tries);
        if taken.delivered > tries {
            for &item in &items {
                let why = format!("{tries} workers ended, or were cut off, while they made it");
                self.set_aside(ready, item, "set-aside", &why).await?;
            }
            return self.acknowledge(&taken).await;
        }
        self.make_all(ready, &items, &taken, maker).await
    }

    async fn acknowledge(&self, taken: &Taken) -> Result<(), FleetError> {
        let acknowledged = taken.message.ack().await;
        acknowledged.map_err(|e| FleetError::server("acknowledging", e))
    }
}

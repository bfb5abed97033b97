//! How a lane of a worker has items made, and writes what they came to.

use std::rc::Rc;
use std::time::{Duration, Instant};

use async_nats::jetstream::AckKind;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::{MissedTickBehavior, interval, sleep_until};

use super::{Ready, Worker};
use crate::board::{Taken, set_aside};
use crate::claim::Claim;
use crate::description::CampaignId;
use crate::maker::{MadeItem, Maker, MakerLine, MakerOrder, RangeEnd};
use crate::server::whole;
use crate::status::StopReason;
use crate::{Bounds, FleetError, Outcome, Seen, WorkerStatus};

/// Results that are on their way to the server.
const MOST_WRITES: usize = 64;

/// Between two looks at whether the campaign goes on.
const LOOK: Duration = Duration::from_secs(2);

/// Conditions on constants that are kept.
const MOST_LEARNT: usize = 100;

/// How making a range ended.
enum Ending {
    /// Everything is written.
    All,
    /// Something is left to be tried again.
    Again,
    /// The campaign was ended.
    Stopped,
    /// A signal came.
    Signal,
}

impl Worker<'_> {
    pub(super) async fn make_all(
        &self,
        ready: &Rc<Ready>,
        items: &[u64],
        taken: &Taken,
        maker: &mut Option<(CampaignId, Maker)>,
    ) -> Result<(), FleetError> {
        self.begin(ready).await?;
        // Ranges may be shorter than the time between two looks.
        if ready.description.limits.budget.is_some() && ready.looked.get().elapsed() >= LOOK / 4 {
            ready.looked.set(Instant::now());
            self.be_heard(ready, Duration::ZERO).await?;
            if self.is_over(ready).await? {
                return self.acknowledge(taken).await;
            }
        }
        for claim in Claim::of(items) {
            let made = self.make(ready, claim, taken, maker).await;
            if made.is_err() {
                // It may still be making what nobody waits for.
                self.end_maker(maker).await;
            }
            match made? {
                Ending::All => {}
                Ending::Stopped => break,
                Ending::Again => {
                    return self
                        .hand_back(taken, Some(Duration::from_millis(200)))
                        .await;
                }
                Ending::Signal => return self.hand_back(taken, None).await,
            }
        }
        self.acknowledge(taken).await?;
        self.be_heard(ready, Duration::from_secs(1)).await
    }

    /// Gives a message back to the queue.
    async fn hand_back(&self, taken: &Taken, after: Option<Duration>) -> Result<(), FleetError> {
        let given = taken.message.ack_with(AckKind::Nak(after)).await;
        given.map_err(|e| FleetError::server("handing work back", e))
    }

    /// Notes when the first item of a campaign was begun, where time matters.
    async fn begin(&self, ready: &Ready) -> Result<(), FleetError> {
        if ready.heard.get().is_some() {
            return Ok(());
        }
        let write = |old: &[u8]| old.is_empty().then(|| (b"begun".to_vec(), ()));
        ready.board.change("begun", write).await?;
        self.be_heard(ready, Duration::ZERO).await
    }

    /// Says that this worker is there, unless it did so lately.
    pub(super) async fn be_heard(&self, ready: &Ready, lately: Duration) -> Result<(), FleetError> {
        if ready
            .heard
            .get()
            .is_some_and(|heard| heard.elapsed() < lately)
        {
            return Ok(());
        }
        let status = WorkerStatus {
            name: self.options.name.clone(),
            offers: self.options.offers.to_string(),
            written: ready.written.get(),
            heard: 0.0,
        };
        let value = serde_json::to_vec(&status).unwrap_or_default();
        let put = ready.board.results.put(self.key(), value.into()).await;
        put.map_err(|e| FleetError::server("writing", whole(&e)))?;
        ready.heard.set(Some(Instant::now()));
        Ok(())
    }

    /// The key under which this worker is heard.
    fn key(&self) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name = self.options.name.chars();
        let name: String = name
            .map(|c| if fits(c) { c } else { '-' })
            .take(100)
            .collect();
        format!("worker.{name}")
    }

    /// The maker of a campaign, started where it is not there.
    async fn maker_of<'m>(
        &self,
        ready: &Ready,
        maker: &'m mut Option<(CampaignId, Maker)>,
    ) -> Result<&'m mut Maker, FleetError> {
        let id = &ready.board.id;
        if let Some((of, _)) = maker
            && of != id
            && let Some((_, old)) = maker.take()
        {
            old.end().await;
        }
        if maker.is_none() {
            let spec = &self.options.maker;
            let new = Maker::start(spec, &ready.description, &ready.folder).await?;
            *maker = Some((id.clone(), new));
        }
        match maker {
            Some((_, maker)) => Ok(maker),
            None => Err(FleetError::Input("no maker".to_owned())),
        }
    }

    /// Has neighbouring items made.
    async fn make(
        &self,
        ready: &Rc<Ready>,
        claim: Claim,
        taken: &Taken,
        slot: &mut Option<(CampaignId, Maker)>,
    ) -> Result<Ending, FleetError> {
        let order = MakerOrder {
            from: claim.from,
            to: claim.to,
            seen: String::from_utf8(ready.board.value("seen").await?)
                .ok()
                .filter(|seen| !seen.is_empty()),
            bounds: Bounds::read(&ready.board.value("bounds").await?),
        };
        let maker = self.maker_of(ready, slot).await?;
        maker.order(&order).await;
        let patience = Duration::from_secs_f64(ready.description.patience);
        let mut ticks = interval((patience / 3).min(LOOK));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        let limit = ready
            .description
            .limits
            .run_timeout
            .map(Duration::from_secs_f64);
        // Far enough away to be never, where there is no limit.
        let limit = limit.unwrap_or(Duration::from_secs(1 << 30));
        let mut deadline = tokio::time::Instant::now() + limit;
        let mut signal = self.signal.clone();
        let mut writes = FuturesUnordered::new();
        let mut started = claim.from;
        // What is neither written nor tried in vain was not made: the tester ended the range.
        let mut settled = 0;
        let broken: String = loop {
            tokio::select! {
                line = maker.next(), if writes.len() < MOST_WRITES => {
                    deadline = tokio::time::Instant::now() + limit;
                    match line {
                        Some(Ok(MakerLine::Started(item))) => started = item,
                        Some(Ok(MakerLine::Made(made))) if !claim.items().contains(&made.item) => {
                            break format!("the tester made {}, which nobody asked for", made.item);
                        }
                        Some(Ok(MakerLine::Made(made))) => writes.push(self.written(ready, made)),
                        Some(Ok(MakerLine::End(end))) => {
                            while let Some(done) = writes.next().await {
                                settled += u64::from(done?);
                            }
                            self.share(ready, end).await?;
                            let all = claim.to - claim.from;
                            return Ok(if settled < all { Ending::Again } else { Ending::All });
                        }
                        Some(Ok(MakerLine::Refused(why))) => {
                            break format!("the campaign cannot be run here: {why}");
                        }
                        Some(Err(why)) => break format!("the tester wrote something else: {why}"),
                        None => break "the tester ended".to_owned(),
                    }
                }
                Some(done) = writes.next(), if !writes.is_empty() => settled += u64::from(done?),
                _ = ticks.tick() => {
                    // Where the server does not answer, others may get the same items: they count once.
                    let _ = taken.message.ack_with(AckKind::Progress).await;
                    if ready.looked.get().elapsed() >= LOOK {
                        ready.looked.set(Instant::now());
                        if self.is_over(ready).await.unwrap_or(false) {
                            drop(writes);
                            self.end_maker(slot).await;
                            return Ok(Ending::Stopped);
                        }
                    }
                }
                () = sleep_until(deadline) => {
                    break format!("the tester said nothing for {} s", limit.as_secs_f64());
                }
                _ = signal.wait_for(Option::is_some) => {
                    // What is made is not lost.
                    while let Ok(Some(Ok(_))) = tokio::time::timeout(
                        Duration::from_secs(2), writes.next()).await {}
                    drop(writes);
                    self.end_maker(slot).await;
                    return Ok(Ending::Signal);
                }
            }
        };
        while let Some(done) = writes.next().await {
            done?;
        }
        drop(writes);
        let ended = self.end_maker(slot).await;
        let why = format!("{broken}: {ended}");
        let noun = ready.description.kind.noun();
        self.accepts
            .say(&format!("warning: {noun} {started}: {why}"));
        let tries = ready.board.note_try(started, &self.said(&why)).await?;
        if tries.len() >= ready.description.tries as usize {
            self.set_aside(ready, started, "set-aside", &why).await?;
        }
        Ok(Ending::Again)
    }

    fn said(&self, why: &str) -> String {
        format!("{}: {why}", self.options.name)
    }

    async fn end_maker(&self, slot: &mut Option<(CampaignId, Maker)>) -> String {
        match slot.take() {
            Some((_, maker)) => maker.end().await,
            None => String::new(),
        }
    }

    /// Whether the campaign was ended, or is ended now, since its time is over.
    async fn is_over(&self, ready: &Ready) -> Result<bool, FleetError> {
        self.be_heard(ready, LOOK).await?;
        if ready.board.stopped().await?.is_some() {
            return Ok(true);
        }
        let Some(budget) = ready.description.limits.budget else {
            return Ok(false);
        };
        // Both times are the server's, since clocks of machines differ.
        let time = async |key: &str| {
            let entry = ready.board.results.entry(key).await;
            let entry = entry.map_err(|e| FleetError::server("reading", whole(&e)))?;
            Ok::<_, FleetError>(entry.map(|e| e.created))
        };
        let (Some(begun), Some(now)) = (time("begun").await?, time(&self.key()).await?) else {
            return Ok(false);
        };
        if (now - begun).as_seconds_f64() < budget {
            return Ok(false);
        }
        ready.board.stop(&StopReason::Budget).await?;
        Ok(true)
    }

    /// Writes what an item came to, however long that takes; whether it is settled.
    async fn written(&self, ready: &Ready, made: MadeItem) -> Result<bool, FleetError> {
        let item = made.item;
        let mut tries = Vec::new();
        if let Some(fault) = &made.fault {
            let why = self.said(&format!("{}: {}", fault.code, fault.message));
            tries = self
                .insist(async || ready.board.note_try(item, &why).await)
                .await?;
            if tries.len() < ready.description.tries as usize {
                return Ok(false);
            }
        }
        let outcome = Outcome {
            item,
            verdict: made.verdict,
            worker: self.options.name.clone(),
            record: made.record,
            tries,
        };
        let written = self
            .insist(async || ready.board.write(&outcome).await)
            .await;
        let written = match written {
            // The record is too large to be kept.
            Err(FleetError::Input(why)) => {
                self.set_aside(ready, item, "record", &why).await?;
                return Ok(true);
            }
            other => other?,
        };
        ready.written.set(ready.written.get() + u64::from(written));
        let limits = &ready.description.limits;
        let reason = if made.fault.is_some() {
            (!limits.keep_going).then_some(StopReason::Fault { item })
        } else {
            (made.failing && limits.stop_on_fail).then_some(StopReason::Failed { item })
        };
        if let Some(reason) = reason {
            self.insist(async || ready.board.stop(&reason).await)
                .await?;
        }
        Ok(true)
    }

    /// Does something until the server answers.
    async fn insist<T>(
        &self,
        mut action: impl AsyncFnMut() -> Result<T, FleetError>,
    ) -> Result<T, FleetError> {
        loop {
            match action().await {
                Err(FleetError::Server(why)) if !self.is_stopping() => {
                    self.trouble(&why)?;
                    self.pause(super::PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// Writes that an item comes to nothing, with everything that was said in its tries.
    pub(super) async fn set_aside(
        &self,
        ready: &Ready,
        item: u64,
        code: &str,
        why: &str,
    ) -> Result<(), FleetError> {
        let noun = ready.description.kind.noun();
        self.accepts
            .say(&format!("warning: {noun} {item} is set aside: {why}"));
        let tries = ready.board.tries(item).await?;
        let record = serde_json::json!({ "error": { "code": code, "message": why } });
        let outcome = set_aside(item, &self.options.name, record.to_string(), tries);
        self.insist(async || ready.board.write(&outcome).await)
            .await?;
        Ok(())
    }

    /// Adds what was seen and learnt to what others saw and learnt.
    async fn share(&self, ready: &Ready, end: RangeEnd) -> Result<(), FleetError> {
        if let Some(Ok(seen)) = end.seen.as_deref().map(Seen::read) {
            let mut all = seen.clone();
            let add = |old: &[u8]| {
                let old = std::str::from_utf8(old).ok();
                all = seen.clone();
                match old.and_then(|old| Seen::read(old).ok()) {
                    // Others saw all of it.
                    Some(mut old) if old.total() == seen.total() => {
                        let new = old.add(&seen);
                        all = old;
                        new.then(|| (all.to_text().into_bytes(), ()))
                    }
                    _ => Some((all.to_text().into_bytes(), ())),
                }
            };
            ready.board.change("seen", add).await?;
            let wanted = ready.description.limits.until_coverage;
            if wanted.is_some_and(|wanted| all.share() >= wanted) {
                ready.board.stop(&StopReason::Covered).await?;
            }
        }
        if !end.bounds.is_empty() {
            let add = |old: &[u8]| {
                let mut all = Bounds::read(old);
                let new = all.add_all(&end.bounds);
                new.then(|| (serde_json::to_vec(&all).unwrap_or_default(), ()))
            };
            ready.board.change("bounds", add).await?;
        }
        if end.learnt.is_empty() {
            return Ok(());
        }
        let add = |old: &[u8]| {
            let mut all: Vec<String> = serde_json::from_slice(old).unwrap_or_default();
            let before = all.len();
            for condition in &end.learnt {
                if !all.contains(condition) && all.len() < MOST_LEARNT {
                    all.push(condition.clone());
                }
            }
            (all.len() > before).then(|| (serde_json::to_vec(&all).unwrap_or_default(), ()))
        };
        ready.board.change("learnt", add).await?;
        Ok(())
    }
}

//! The adapter of every system that is reached through bytes: a process, channels, a codec.

use std::thread;
use std::time::{Duration, Instant};

use iolite_derive::ActionId;
use rustix::event::{PollFd, PollFlags};

use crate::codec::concrete_action::without_controls;
use crate::codec::{ChannelId, Decoded, WireCodec};
use crate::record::traffic::TrafficLog;
use crate::transport::bounds::from_now;
use crate::transport::interrupt;
use crate::transport::link::{Address, Inbox, Link};
use crate::transport::listener;
use crate::transport::process::Process;
use crate::transport::read_habit::ReadHabit;
use crate::transport::readiness::wait;
use crate::{
    Adapter, Bounds, ExecError, Exit, ExitKind, JobPlace, Received, Sent, Traffic, Way, hexdump,
};

/// How a run brings the system back to its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reset {
    /// The process is ended and started anew; without a process, the channels are reconnected.
    #[default]
    Restart,
    /// The channels are closed and connected again, and the process goes on.
    Reconnect,
    /// A message is sent, before the first run as well. Outputs are discarded up to the answer `expect`, or without it until the
    /// system has been silent for the default timeout.
    Action {
        /// The channel of the message.
        channel: ChannelId,
        /// The message.
        send: Vec<u8>,
        /// The answer.
        expect: Option<Vec<u8>>,
    },
}

/// Which descriptors have something to read.
#[derive(Clone, Copy, Debug, Default)]
struct Readiness {
    links: bool,
    process: bool,
}

/// How long the exit status of a system that closed its channel is waited for.
const EXIT_GRACE: Duration = Duration::from_millis(200);

/// Waits without a read before them while such reads find nothing. A read in vain is a quarter of a wait, so that this is hardly
/// more than none.
const EARLY_READ_PAUSE: u32 = 16;

/// Messages of a system that is silent on its standard error and answers before it is waited for, between two looks there.
const STDERR_PAUSE: u32 = 8;

/// A system under test behind byte channels.
#[expect(
    clippy::struct_excessive_bools,
    reason = "what is known of system and channels, each by itself"
)]
pub struct ByteAdapter {
    process: Option<Process>,
    links: Vec<Box<dyn Link>>,
    names: Vec<String>,
    codec: WireCodec,
    reset: Reset,
    /// Silence after which nothing of the last run comes any more.
    silence: Duration,
    /// What [`Adapter::leave_time`] asks for beyond that, until the next run has begun.
    leave: Duration,
    /// For how long nothing has come now, where nothing was sent either.
    quiet: Duration,
    bounds: Bounds,
    /// The message by which the system says that it has started; it is not an output.
    ready: Option<(ChannelId, Vec<u8>)>,
    /// Whether the address may be held by a process that this adapter did not start.
    attach: bool,
    /// The last run left the system in order, so that it may be reset without a restart.
    sound: bool,
    /// The channel that is read first; it changes with each message, so that none starves the others.
    turn: usize,
    message: Vec<u8>,
    note: Option<String>,
    /// Bytes since they were last asked for; none where nobody asks.
    traffic: Option<TrafficLog>,
    /// Whether standard error need not be looked at: a wait has just done so, or the system has hardly had time since.
    knows_stderr: bool,
    /// Whether the last look at all channels found nothing, not even half a message, and none was read since: whatever
    /// comes is in the operating system, where a wait sees it.
    is_dry: bool,
    /// Whether to read right after a stimulus, before waiting for an answer.
    early_read: ReadHabit,
    /// Whether to look at standard error where no wait has done so.
    stderr_read: ReadHabit,
    /// Ports and directory of the job. Declared last: they are released after the process has ended.
    place: Option<JobPlace>,
}

impl ByteAdapter {
    pub(crate) fn new(
        process: Option<Process>,
        links: Vec<(String, Box<dyn Link>)>,
        codec: WireCodec,
        reset: Reset,
        silence: Duration,
        bounds: Bounds,
    ) -> Self {
        let (names, links) = links.into_iter().unzip();
        Self {
            process,
            links,
            names,
            codec,
            reset,
            silence,
            leave: Duration::ZERO,
            quiet: Duration::ZERO,
            bounds,
            ready: None,
            attach: false,
            sound: false,
            turn: 0,
            message: Vec::new(),
            note: None,
            traffic: None,
            knows_stderr: false,
            is_dry: false,
            early_read: ReadHabit::new(EARLY_READ_PAUSE),
            stderr_read: ReadHabit::new(STDERR_PAUSE),
            place: None,
        }
    }

    /// Waits for this message after each start of the process.
    pub(crate) fn ready_by(mut self, ready: Option<(ChannelId, Vec<u8>)>) -> Self {
        self.ready = ready;
        self
    }

    /// Takes whoever answers at the address for the system.
    pub(crate) fn attaching(mut self, attach: bool) -> Self {
        self.attach = attach;
        self
    }

    pub(crate) fn at(mut self, place: JobPlace) -> Self {
        self.place = Some(place);
        self
    }

    fn launch(&mut self) -> Result<(), ExecError> {
        self.shut();
        for link in &mut self.links {
            link.prepare()?;
        }
        self.check_addresses_are_free()?;
        if self.process.is_none() || self.attach {
            self.outwait_datagrams()?;
        }
        let deadline = from_now(self.bounds.startup_timeout);
        if let Some(process) = &mut self.process {
            process.start(deadline)?;
        }
        self.connect(deadline)?;
        self.check_listeners()?;
        if let Some((channel, ready)) = self.ready.clone() {
            self.await_ready(channel, &ready, deadline)?;
        }
        Ok(())
    }

    /// What answers before the system was started is not the system.
    fn check_addresses_are_free(&self) -> Result<(), ExecError> {
        if self.process.is_none() || self.attach {
            return Ok(());
        }
        for address in self.links.iter().filter_map(|link| link.address()) {
            match address {
                Address::Tcp(address) => listener::check_tcp_is_free(address)?,
                Address::Udp(address) => listener::check_udp_is_free(address)?,
            }
        }
        Ok(())
    }

    /// What was connected to is the system that was started.
    fn check_listeners(&self) -> Result<(), ExecError> {
        let process = self.process.as_ref().filter(|_| !self.attach);
        let Some((leader, mark)) = process.and_then(Process::identity) else {
            return Ok(());
        };
        for link in &self.links {
            if let Some(Address::Tcp(address)) = link.address() {
                listener::check_listener(address, leader, mark)?;
            }
        }
        Ok(())
    }

    fn await_ready(
        &mut self,
        channel: ChannelId,
        ready: &[u8],
        deadline: Instant,
    ) -> Result<(), ExecError> {
        let what = format!("channel {}", self.names[channel.index()]);
        // What came instead helps with a line that is awaited in vain.
        let mut instead = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.receive_message(left)? {
                Received::Output(from) if from == channel && self.message == ready => return Ok(()),
                Received::Output(_) if Instant::now() < deadline => {
                    instead = Some(self.message.clone());
                }
                Received::Ended(exit) => {
                    return Err(ExecError::unreachable(what, format!("it ended: {exit}")));
                }
                Received::Output(_) | Received::Nothing => {
                    return Err(ExecError::unreachable(
                        what,
                        not_ready(ready, instead.as_deref()),
                    ));
                }
            }
        }
    }

    fn connect(&mut self, deadline: Instant) -> Result<(), ExecError> {
        // A handshake may have read the beginning of what follows.
        self.is_dry = false;
        self.quiet = Duration::ZERO;
        let Self { process, links, .. } = self;
        let retry = process.is_some();
        let mut alive = || process.as_mut().and_then(Process::exited);
        for link in links {
            link.connect(deadline, retry, &mut alive)?;
        }
        Ok(())
    }

    fn reconnect(&mut self) -> Result<(), ExecError> {
        for link in &mut self.links {
            link.close();
        }
        for link in &mut self.links {
            link.prepare()?;
        }
        self.outwait_datagrams()?;
        self.connect(from_now(self.bounds.startup_timeout))
    }

    /// How long a system that goes on is left alone before a run.
    fn time_left(&self) -> Duration {
        self.silence.max(self.leave)
    }

    /// Waits until nothing comes any more to the channels that were opened again and would get what an earlier run left under way, or
    /// another tester that had these ports.
    fn outwait_datagrams(&mut self) -> Result<(), ExecError> {
        let silence = self.time_left();
        let no_datagrams = !self.links.iter().any(|link| link.is_connectionless());
        if no_datagrams || self.quiet >= silence {
            return Ok(());
        }
        let deadline = from_now(silence.saturating_add(self.bounds.startup_timeout));
        loop {
            let mut polled: Vec<PollFd<'_>> = Vec::new();
            for link in self.links.iter().filter(|link| link.is_connectionless()) {
                link.readers(&mut polled);
            }
            polled.extend(interrupt::wake().map(|w| PollFd::from_borrowed_fd(w, PollFlags::IN)));
            let is_silent = wait(&mut polled, Some(silence))? == Some(0);
            interrupt::check()?;
            self.drain();
            if is_silent {
                return Ok(());
            }
            for link in &mut self.links {
                link.discard()?;
            }
            if Instant::now() >= deadline {
                return Err(self.never_silent());
            }
        }
    }

    fn never_silent(&self) -> ExecError {
        ExecError::Reset(format!(
            "output of the last run does not end after {:?}; it cannot be told from what the system says by itself",
            self.bounds.startup_timeout
        ))
    }

    /// Whether something of the last run may come after the message of a reset, or be taken for its answer: on another connection the
    /// message can overtake it, and before the answer there may be one that reads the same.
    fn may_say_more(&self, is_answered: bool) -> bool {
        match &*self.links {
            [link] => link.owes() || (is_answered && !link.only_answers()),
            _ => true,
        }
    }

    /// Waits until what the last run left under way has come, unless it ended in silence. What is still owed after a silence comes no
    /// more.
    fn settle(&mut self, is_answered: bool) -> Result<(), ExecError> {
        let silence = self.time_left();
        let deadline = from_now(silence.saturating_add(self.bounds.startup_timeout));
        while self.quiet < silence && self.may_say_more(is_answered) {
            match self.receive_message(silence)? {
                Received::Output(_) if Instant::now() >= deadline => {
                    return Err(self.never_silent());
                }
                Received::Output(_) => {}
                Received::Nothing => break,
                Received::Ended(exit) => {
                    return Err(ExecError::Reset(format!("the system ended: {exit}")));
                }
            }
        }
        for link in &mut self.links {
            link.forsake();
        }
        Ok(())
    }

    fn reset_by_action(
        &mut self,
        channel: ChannelId,
        send: &[u8],
        expect: Option<&[u8]>,
    ) -> Result<(), ExecError> {
        self.settle(expect.is_some())?;
        // A server may have closed an idle connection since the last run.
        self.pump()?;
        self.write(channel, send)?;
        let silence = self.time_left();
        let deadline = from_now(self.bounds.startup_timeout);
        loop {
            let patience = match expect {
                Some(_) => deadline.saturating_duration_since(Instant::now()),
                None => silence,
            };
            match self.receive_message(patience)? {
                Received::Output(from) => {
                    if expect == Some(&*self.codec.text(from, &self.message)) {
                        return Ok(());
                    }
                    if Instant::now() >= deadline {
                        return Err(ExecError::Reset(format!(
                            "output does not end after {:?}",
                            self.bounds.startup_timeout
                        )));
                    }
                }
                Received::Nothing if expect.is_none() => return Ok(()),
                Received::Nothing => {
                    return Err(ExecError::Reset(format!(
                        "the answer {:?} did not come in {:?}",
                        String::from_utf8_lossy(expect.unwrap_or_default()),
                        self.bounds.startup_timeout
                    )));
                }
                Received::Ended(exit) => {
                    return Err(ExecError::Reset(format!("the system ended: {exit}")));
                }
            }
        }
    }

    fn shut(&mut self) {
        self.sound = false;
        for link in &mut self.links {
            link.close();
        }
        if let Some(process) = &mut self.process {
            process.stop();
        }
    }

    /// Waits until something can be read, or written on `writing`.
    fn wait(&self, timeout: Duration, writing: Option<usize>) -> Result<Readiness, ExecError> {
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(self.links.len() + 3);
        for link in &self.links {
            link.readers(&mut polled);
        }
        let of_links = polled.len();
        if let Some(process) = &self.process {
            process.readers(&mut polled);
        }
        let of_process = polled.len();
        if let Some(fd) = writing.and_then(|link| self.links[link].writer()) {
            polled.push(PollFd::from_borrowed_fd(fd, PollFlags::OUT));
        }
        let of_writer = polled.len();
        if let Some(wake) = interrupt::wake() {
            polled.push(PollFd::from_borrowed_fd(wake, PollFlags::IN));
        }
        wait(&mut polled, Some(timeout))?;
        if polled.len() > of_writer {
            interrupt::check()?;
        }
        let any = |fds: &[PollFd<'_>]| fds.iter().any(|fd| !fd.revents().is_empty());
        Ok(Readiness {
            links: any(&polled[..of_links]),
            process: any(&polled[of_links..of_process]),
        })
    }

    /// Reads each channel once.
    fn pump(&mut self) -> Result<bool, ExecError> {
        let mut any = false;
        for link in &mut self.links {
            any |= link.pump()?;
        }
        self.is_dry &= !any;
        Ok(any)
    }

    /// Reads what the system writes beside its channels; only the end of it is kept.
    fn drain(&mut self) {
        if let Some(process) = &mut self.process {
            process.drain();
        }
    }

    /// Takes the next complete message of any channel into `self.message`, and reads where none is
    /// complete. The order between channels is unknown, except that messages already read came before
    /// those still to be read; so the channels take turns.
    fn fetch(&mut self) -> Result<(Inbox, ChannelId), ExecError> {
        self.is_dry = false;
        if let [link] = &mut *self.links {
            self.message.clear();
            let inbox = link.receive(&mut self.message)?;
            self.is_dry = inbox == Inbox::Empty;
            return Ok((inbox, ChannelId::FIRST));
        }
        self.fetch_by_turns()
    }

    fn fetch_by_turns(&mut self) -> Result<(Inbox, ChannelId), ExecError> {
        let count = self.links.len();
        let order = (self.turn..count).chain(0..self.turn);
        for i in order.clone() {
            self.message.clear();
            if self.links[i].next(&mut self.message)? {
                return Ok(self.took(i));
            }
        }
        let mut left = (Inbox::Empty, ChannelId::FIRST);
        for i in order {
            self.message.clear();
            match self.links[i].receive(&mut self.message)? {
                Inbox::Message => return Ok(self.took(i)),
                Inbox::Empty => {}
                Inbox::Ended if left.0 == Inbox::Half => {}
                inbox @ (Inbox::Half | Inbox::Ended) => left = (inbox, ChannelId::new(i)),
            }
        }
        self.is_dry = left.0 == Inbox::Empty;
        Ok(left)
    }

    fn took(&mut self, link: usize) -> (Inbox, ChannelId) {
        self.turn = if link + 1 < self.links.len() {
            link + 1
        } else {
            0
        };
        (Inbox::Message, ChannelId::new(link))
    }

    fn half(&self) -> Option<(usize, &[u8])> {
        self.links
            .iter()
            .enumerate()
            .find_map(|(i, link)| Some((i, link.half()?)))
    }

    fn half_error(&self, link: usize, waited: Duration) -> ExecError {
        let bytes = self.links[link].half().unwrap_or_default();
        ExecError::HalfMessage {
            channel: self.names[link].clone(),
            bytes: bytes.len(),
            waited,
            missing: self.links[link].missing(),
            dump: hexdump(bytes),
        }
    }

    /// How the process ended, which takes a moment after it has closed its channels.
    fn exited_soon(&mut self) -> Option<Exit> {
        let deadline = Instant::now() + EXIT_GRACE;
        let process = self.process.as_mut()?;
        loop {
            let exit = process.exited();
            if exit.is_some() || Instant::now() >= deadline {
                return exit;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// What half a message means whose rest does not come. A process that was killed, or that says itself that it failed, has crashed in
    /// the middle of it; otherwise the message has no end that the description knows of, as a prompt has none.
    fn ended_within_message(
        &mut self,
        link: usize,
        exit: Option<Exit>,
        waited: Duration,
    ) -> Result<Exit, ExecError> {
        let half = self.half_error(link, waited);
        match exit {
            Some(exit) if !matches!(exit.how, ExitKind::Code(0)) => Ok(Exit {
                within: Some(half.to_string()),
                ..exit
            }),
            _ => Err(half),
        }
    }

    /// The end of the system, if it has come and every message before it was taken.
    fn end(&mut self) -> Result<Option<Exit>, ExecError> {
        let closed = self.links.iter().position(|link| link.ended().is_some());
        let Some(link) = closed else {
            return Ok(None);
        };
        let exit = self.exited_soon();
        if self.links[link].half().is_some() {
            return self
                .ended_within_message(link, exit, Duration::ZERO)
                .map(Some);
        }
        if exit.is_some() {
            return Ok(exit);
        }
        let reason = self.links[link].ended().unwrap_or_default();
        Ok(Some(Exit {
            how: ExitKind::Closed(format!("channel {}: {reason}", self.names[link])),
            stderr: self
                .process
                .as_mut()
                .map(Process::stderr_text)
                .unwrap_or_default(),
            within: None,
        }))
    }

    /// A message that is there before it is waited for; it is in `self.message` then. A fast system has answered by
    /// now, and a read is cheaper than a look at the clock and a poll of every descriptor.
    fn early_message(&mut self) -> Result<Option<ChannelId>, ExecError> {
        if self.is_dry && !self.early_read.is_worthwhile() {
            return Ok(None);
        }
        let (inbox, channel) = self.fetch()?;
        let found = inbox == Inbox::Message;
        self.early_read.learn(found);
        Ok(found.then_some(channel))
    }

    /// Waits for a message, which is in `self.message` afterwards.
    fn receive_message(&mut self, patience: Duration) -> Result<Received<ChannelId>, ExecError> {
        match self.early_message()? {
            Some(channel) => Ok(Received::Output(channel)),
            None => self.await_message(patience),
        }
    }

    fn await_message(&mut self, patience: Duration) -> Result<Received<ChannelId>, ExecError> {
        let mut deadline = from_now(patience);
        let mut left = patience;
        // Start of the wait for the rest of a message. It is not renewed when bytes come: one that
        // drips in must end in time as well.
        let mut half_since: Option<Instant> = None;
        let mut checked_exit = false;
        loop {
            if let Some(exit) = self.end()? {
                return Ok(Received::Ended(Box::new(exit)));
            }
            let ready = self.wait(left, None)?;
            if ready.process {
                self.drain();
            }
            self.knows_stderr = true;
            if ready.links {
                match self.fetch()? {
                    (Inbox::Message, channel) => return Ok(Received::Output(channel)),
                    (Inbox::Ended, _) => continue,
                    (Inbox::Half | Inbox::Empty, _) => {}
                }
            }
            left = deadline.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                continue;
            }
            if let Some((link, _)) = self.half() {
                match half_since {
                    None => {
                        half_since = Some(Instant::now());
                        left = self.bounds.message_timeout;
                        deadline = from_now(left);
                        continue;
                    }
                    Some(since) => {
                        let waited = since.elapsed();
                        let exit = self.process.as_mut().and_then(Process::exited);
                        let exit = self.ended_within_message(link, exit, waited)?;
                        return Ok(Received::Ended(Box::new(exit)));
                    }
                }
            }
            // A grandchild may hold the channel open after the system itself has ended.
            if let Some(exit) = self.process.as_mut().and_then(Process::exited) {
                if checked_exit {
                    return Ok(Received::Ended(Box::new(exit)));
                }
                // Its last bytes may have come between the read and the look at its state.
                checked_exit = true;
                continue;
            }
            return Ok(Received::Nothing);
        }
    }

    fn write(&mut self, channel: ChannelId, message: &[u8]) -> Result<(), ExecError> {
        let link = channel.index();
        self.links[link].enqueue(message)?;
        // HTTP looks whether a connection is still open, and may read an answer then.
        self.is_dry &= self.links[link].pending() == 0;
        let mut begin = None;
        loop {
            let left = match self.links[link].flush() {
                Ok(0) => return Ok(()),
                Ok(left) => left,
                Err(error @ ExecError::Dropped { .. }) => {
                    // A system that has ended takes no input. The end is what is reported, after the
                    // outputs that came before it.
                    return if self.has_ended()? {
                        Ok(())
                    } else {
                        Err(error)
                    };
                }
                Err(error) => return Err(error),
            };
            let waited = begin.get_or_insert_with(Instant::now).elapsed();
            if waited >= self.bounds.send_timeout {
                return Err(ExecError::SendBlocked {
                    channel: self.names[link].clone(),
                    written: (message.len() + 1).saturating_sub(left),
                    total: message.len(),
                    waited,
                });
            }
            let ready = self.wait(self.bounds.send_timeout.saturating_sub(waited), Some(link))?;
            // A system that blocks on its output does not come to read its input.
            if ready.process {
                self.drain();
            }
            if ready.links {
                self.pump()?;
            }
            for (i, link) in self.links.iter().enumerate() {
                if link.pending() > self.bounds.max_pending {
                    return Err(ExecError::Flooding {
                        statement: format!(
                            "{} bytes wait on channel {} while a stimulus is written, more than \
                             {} (max-pending-bytes)",
                            link.pending(),
                            self.names[i],
                            self.bounds.max_pending
                        ),
                    });
                }
            }
        }
    }

    fn has_ended(&mut self) -> Result<bool, ExecError> {
        let deadline = Instant::now() + EXIT_GRACE;
        loop {
            self.pump()?;
            if self.links.iter().any(|link| link.ended().is_some())
                || self.process.as_mut().and_then(Process::exited).is_some()
            {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn decode(&mut self, received: Received<ChannelId>) -> Result<Received, ExecError> {
        Ok(match received {
            Received::Nothing => Received::Nothing,
            Received::Ended(exit) => Received::Ended(exit),
            Received::Output(channel) => Received::Output(self.decode_message(channel)?),
        })
    }

    /// The action of `self.message`, which came on this channel.
    fn decode_message(&mut self, channel: ChannelId) -> Result<ActionId, ExecError> {
        if let Some(traffic) = &mut self.traffic {
            let name = &self.names[channel.index()];
            traffic.message(Way::Received, name, &self.message);
        }
        match self.codec.decode(channel, &self.message) {
            Ok(Decoded { action, note }) => {
                self.note = note.map(|n| format!("{n}\n{}", hexdump(&self.message)));
                Ok(action)
            }
            Err(reason) => Err(ExecError::Undecodable {
                channel: self.names[channel.index()].clone(),
                reason: without_controls(&reason.0).into_owned(),
                dump: hexdump(&self.message),
            }),
        }
    }

    fn marking<T>(&mut self, result: Result<T, ExecError>) -> Result<T, ExecError> {
        if result.is_err() {
            self.sound = false;
        }
        result
    }

    fn try_poll(&mut self) -> Result<Option<Received>, ExecError> {
        let received = match self.fetch()? {
            (Inbox::Message, channel) => Received::Output(channel),
            // An output has begun: it was first, whenever its rest comes.
            (Inbox::Half, _) => self.receive_message(Duration::ZERO)?,
            (Inbox::Ended, _) => match self.end()? {
                Some(exit) => Received::Ended(Box::new(exit)),
                None => return Ok(None),
            },
            (Inbox::Empty, _) => return Ok(None),
        };
        self.decode(received).map(Some)
    }
}

impl Adapter for ByteAdapter {
    fn start(&mut self, _: u64) -> Result<(), ExecError> {
        self.note = None;
        self.codec.begin_run();
        let ready = if self.sound {
            match self.reset {
                Reset::Restart => self.launch(),
                Reset::Reconnect => self.reconnect(),
                Reset::Action { .. } => Ok(()),
            }
        } else {
            self.launch()
        };
        // The message is sent before the first run too. A server that is only connected to may hold what others left there, and one that
        // was started need not begin where the message leads; a run and its replay must not depend on which of them came first.
        let result = ready.and_then(|()| match &self.reset {
            Reset::Restart | Reset::Reconnect => Ok(()),
            Reset::Action {
                channel,
                send,
                expect,
            } => {
                let (channel, send, expect) = (*channel, send.clone(), expect.clone());
                self.reset_by_action(channel, &send, expect.as_deref())
            }
        });
        self.quiet = Duration::ZERO;
        self.leave = Duration::ZERO;
        self.sound = result.is_ok();
        if result.is_err() {
            self.shut();
        }
        result
    }

    fn shares_process(&self) -> bool {
        false
    }

    fn leave_time(&mut self, time: Duration) {
        self.leave = self.leave.max(time);
    }

    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        let result = self.try_poll();
        if !matches!(result, Ok(None)) {
            self.quiet = Duration::ZERO;
        }
        if matches!(result, Ok(Some(Received::Ended(_)))) {
            self.sound = false;
        }
        self.marking(result)
    }

    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError> {
        let mut bytes = std::mem::take(&mut self.message);
        bytes.clear();
        self.quiet = Duration::ZERO;
        let encoded = self.codec.encode(stimulus, &mut bytes);
        let result = match encoded {
            Ok(channel) if channel.index() < self.links.len() => {
                if let Some(traffic) = &mut self.traffic {
                    let name = &self.names[channel.index()];
                    traffic.message(Way::Sent, name, &bytes);
                    self.knows_stderr = true;
                }
                self.write(channel, &bytes)
            }
            Ok(channel) => Err(ExecError::Config(format!(
                "there is no channel number {}",
                channel.index()
            ))),
            Err(reason) => Err(ExecError::Unencodable {
                action: self.codec.show(stimulus),
                reason: reason.0,
            }),
        };
        self.message = bytes;
        self.marking(result).map(|()| Sent::Given)
    }

    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError> {
        let result = match self.early_message() {
            Ok(Some(channel)) => self.decode_message(channel).map(Received::Output),
            Ok(None) => self
                .await_message(patience)
                .and_then(|received| self.decode(received)),
            Err(error) => Err(error),
        };
        self.quiet = match result {
            Ok(Received::Nothing) => self.quiet.max(patience),
            _ => Duration::ZERO,
        };
        if matches!(result, Ok(Received::Ended(_))) {
            self.sound = false;
        }
        self.marking(result)
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        self.shut();
        Ok(())
    }

    fn take_note(&mut self) -> Option<String> {
        self.note.take()
    }

    fn keep_traffic(&mut self, keep: bool) {
        self.traffic = keep.then(TrafficLog::default);
        // What an earlier run left behind is not of this one.
        if let Some(process) = &mut self.process {
            process.forget_stderr();
        }
    }

    fn take_traffic(&mut self, traffic: &mut Vec<Traffic>) {
        let Some(log) = &mut self.traffic else {
            traffic.clear();
            return;
        };
        // Nobody asks without a message but at the end of a run, when nothing may be left out.
        let is_last = log.is_empty();
        log.exchange(traffic);
        let knows = std::mem::take(&mut self.knows_stderr);
        if let Some(process) = &mut self.process {
            if !knows && (is_last || self.stderr_read.is_worthwhile()) {
                process.drain();
                self.stderr_read.learn(process.has_stderr());
            }
            traffic.extend(process.take_stderr());
        }
    }
}

/// Says that the line of readiness did not come, and which one came last.
fn not_ready(ready: &[u8], instead: Option<&[u8]>) -> String {
    let shown = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let short: String = text.chars().take(80).collect();
        let dots = if short.len() < text.len() { "…" } else { "" };
        format!("{:?}", short + dots)
    };
    let came = instead.map(|bytes| {
        let is_part = bytes.windows(ready.len()).any(|part| part == ready);
        let whole = if is_part {
            ", of which it is a part; on the channel it is a whole message"
        } else {
            ""
        };
        format!("; what came last is {}{whole}", shown(bytes))
    });
    format!(
        "{} (`ready`) did not come{}",
        shown(ready),
        came.unwrap_or_else(|| ", nor anything else".to_owned())
    )
}

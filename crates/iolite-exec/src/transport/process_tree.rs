//! The processes behind a system under test, also those that left its process group.
//!
//! Each system gets a mark in its environment, which its children inherit. Where this process adopts
//! orphans (Linux), a daemon that left group and session becomes a child of ours when the process that
//! started it ends; so after the system was stopped, what is left of it is among our children. Those of
//! our own process group are none of it: solvers run there.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, waitid,
    waitpid,
};

/// The environment variable that tells a system's processes from others.
pub(crate) const MARK: &str = "IOLITE_SYSTEM";

static MARKS: AtomicU64 = AtomicU64::new(0);

/// Leaders of process groups, with their marks.
type Leaders = BTreeMap<i32, String>;

/// Those that are running. Systems are started, and strays looked for and killed, by whoever holds the lock.
static RUNNING: Mutex<Leaders> = Mutex::new(BTreeMap::new());

static ADOPTS: AtomicBool = AtomicBool::new(false);

fn running() -> MutexGuard<'static, Leaders> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A mark that no other system of this machine has now.
pub(crate) fn new_mark() -> String {
    let number = MARKS.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Starts a system as the leader of a process group. Until it is entered as one, the new process looks like a stray to another job whose
/// system ends: it is our child and, before it executes its program, has no mark. So nobody looks for strays meanwhile.
pub(crate) fn start(command: &mut Command, mark: &str) -> io::Result<Child> {
    let mut running = running();
    let child = command.spawn()?;
    if let Ok(leader) = i32::try_from(child.id()) {
        running.insert(leader, mark.to_owned());
    }
    Ok(child)
}

/// A system's group was killed and its leader reaped; its daemons follow.
pub(crate) fn stopped(leader: Pid, mark: &str) {
    let leader = leader.as_raw_nonzero().get();
    let mut running = running();
    // Its number may be another system's by now.
    if running.get(&leader).is_some_and(|of| of == mark) {
        running.remove(&leader);
    }
    drop(running);
    if ADOPTS.load(Ordering::Relaxed) {
        kill_strays(mark);
    }
}

/// How often the lock is asked for, a millisecond apart, before an end at once: a program whose file does not answer holds it.
const TRIES: usize = 200;

/// Kills every group, for an end at once.
pub(crate) fn kill_everything() {
    let running = (0..TRIES).find_map(|_| match RUNNING.try_lock() {
        Ok(running) => Some(running),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(Duration::from_millis(1));
            None
        }
    });
    let Some(running) = running else { return };
    for &leader in running.keys() {
        if let Some(leader) = Pid::from_raw(leader) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
    if ADOPTS.load(Ordering::Relaxed) {
        for child in stray_children(&running) {
            let _ = kill_process(child.pid, Signal::KILL);
        }
    }
}

/// Makes this process the parent of orphaned descendants, where the operating system can.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok() {
        ADOPTS.store(true, Ordering::Relaxed);
    }
}

struct Stray {
    pid: Pid,
    ended: bool,
}

impl Stray {
    /// The mark in its environment, where that can be read.
    fn mark(&self) -> Option<String> {
        let environment = std::fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let prefix = format!("{MARK}=");
        environment
            .split(|&b| b == 0)
            .find_map(|entry| entry.strip_prefix(prefix.as_bytes()))
            .map(|mark| String::from_utf8_lossy(mark).into_owned())
    }
}

/// Generations of daemons that start daemons while they are being killed.
const ROUNDS: usize = 100;

/// Ends what has this mark, and, where no other system runs, what has none.
fn kill_strays(mark: &str) {
    for _ in 0..ROUNDS {
        // Without any child there is no stray, and most systems leave none.
        let any = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if matches!(waitid(WaitId::All, any), Err(rustix::io::Errno::CHILD)) {
            return;
        }
        let ended = end_strays(mark);
        if ended.is_empty() {
            return;
        }
        ended.into_iter().for_each(reap);
    }
}

/// Kills the strays of a mark that there are now; those that ended by themselves belong to what is to be reaped too.
fn end_strays(mark: &str) -> Vec<Pid> {
    let running = running();
    let is_ours = |stray: &Stray| match stray.mark() {
        Some(of) => of == mark,
        None => running.is_empty(),
    };
    let mut strays = stray_children(&running);
    strays.retain(|stray| stray.ended || is_ours(stray));
    let kill = |stray: Stray| {
        if !stray.ended {
            let _ = kill_process(stray.pid, Signal::KILL);
        }
        stray.pid
    };
    strays.into_iter().map(kill).collect()
}

/// Waits for the end of a child that was killed; not for long, since the kernel may hold it.
fn reap(pid: Pid) {
    for _ in 0..200 {
        match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(None) => std::thread::sleep(Duration::from_micros(500)),
            Ok(Some(_)) | Err(_) => return,
        }
    }
}

/// Our children that are neither a system's leader nor of our own process group.
#[cfg(target_os = "linux")]
fn stray_children(running: &Leaders) -> Vec<Stray> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let own_group = rustix::process::getpgrp().as_raw_nonzero().get();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let stray = |entry: io::Result<std::fs::DirEntry>| {
        let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // `pid (name) state parent group …`, and the name may hold anything.
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let state = fields.next()?;
        let parent: i32 = fields.next()?.parse().ok()?;
        let group: i32 = fields.next()?.parse().ok()?;
        let is_stray = parent == own && group != own_group && !running.contains_key(&pid);
        is_stray.then_some(Stray {
            pid: Pid::from_raw(pid)?,
            ended: state == "Z",
        })
    };
    entries.filter_map(stray).collect()
}

#[cfg(not(target_os = "linux"))]
fn stray_children(_: &Leaders) -> Vec<Stray> {
    Vec::new()
}

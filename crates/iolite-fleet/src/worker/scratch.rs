//! The folder in which a worker keeps the files of campaigns.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::FleetError;

/// How folders and their locks are called: `iolite-fleet-PROCESS-NUMBER` and the same with `.lock`.
const PREFIX: &str = "iolite-fleet-";

/// A folder of this process, removed at its end. A process that is killed leaves it behind, and the next
/// worker removes it: the lock beside it is held as long as its owner lives, whatever happens to that one.
pub(super) struct Scratch {
    folder: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl Scratch {
    pub(super) fn new() -> Result<Self, FleetError> {
        Self::below(&std::env::temp_dir())
    }

    fn below(parent: &Path) -> Result<Self, FleetError> {
        clean(parent);
        let mut last = None;
        for k in 0..100 {
            let name = format!("{PREFIX}{}-{k}", std::process::id());
            match Self::make(parent, &name) {
                Ok(made) => return Ok(made),
                Err(e) => last = Some(e),
            }
        }
        let why = last.map(|e| e.to_string()).unwrap_or_default();
        Err(FleetError::Input(format!("{}: {why}", parent.display())))
    }

    /// Locks before there is anything to be removed. A file or folder that somebody else has made is not used.
    fn make(parent: &Path, name: &str) -> std::io::Result<Self> {
        let lock = parent.join(format!("{name}.lock"));
        let folder = parent.join(name);
        let mut options = OpenOptions::new();
        let held = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&lock)?;
        flock(&held, FlockOperation::NonBlockingLockExclusive)?;
        if let Err(e) = DirBuilder::new().mode(0o700).create(&folder) {
            let _ = std::fs::remove_file(&lock);
            return Err(e);
        }
        Ok(Self {
            folder,
            lock,
            _held: held,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        let _ = std::fs::remove_file(&self.lock);
    }
}

/// Removes folders of this user whose owners have died.
fn clean(parent: &Path) {
    let own = rustix::process::getuid().as_raw();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
            continue;
        };
        let Some(folder) = name.strip_suffix(".lock") else {
            continue;
        };
        let lock = entry.path();
        // Nobody else's, and no link to elsewhere.
        let is_own_file = |m: &std::fs::Metadata| m.is_file() && m.uid() == own;
        if !std::fs::symlink_metadata(&lock).is_ok_and(|m| is_own_file(&m)) {
            continue;
        }
        let Ok(file) = File::open(&lock) else {
            continue;
        };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let folder = parent.join(folder);
            if std::fs::symlink_metadata(&folder).is_ok_and(|m| m.is_dir() && m.uid() == own) {
                let _ = std::fs::remove_dir_all(&folder);
            }
            let _ = std::fs::remove_file(&lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_is_removed_and_nothing_else() {
        let parent = std::env::temp_dir().join(format!("scratch-test-{}", std::process::id()));
        std::fs::create_dir_all(&parent).unwrap();
        let living = Scratch::below(&parent).unwrap();
        std::fs::write(living.path().join("model.iol"), "x").unwrap();
        let other = parent.join("iolite-fleet-notes");
        std::fs::create_dir(&other).unwrap();
        // Somebody died: a folder and a lock that nobody holds.
        let dead = parent.join("iolite-fleet-1-0");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join("model.iol"), "x").unwrap();
        std::fs::write(parent.join("iolite-fleet-1-0.lock"), "").unwrap();
        // A link in the place of a folder is not followed.
        let precious = parent.join("precious");
        std::fs::create_dir(&precious).unwrap();
        std::os::unix::fs::symlink(&precious, parent.join("iolite-fleet-2-0")).unwrap();
        std::fs::write(parent.join("iolite-fleet-2-0.lock"), "").unwrap();
        let next = Scratch::below(&parent).unwrap();
        assert!(!dead.exists() && !parent.join("iolite-fleet-1-0.lock").exists());
        assert!(living.path().join("model.iol").exists() && next.path().exists());
        assert!(other.exists() && precious.exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
        drop(next);
        std::fs::remove_dir_all(&parent).unwrap();
    }
}

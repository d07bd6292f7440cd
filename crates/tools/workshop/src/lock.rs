//! What one process does at a time. The system gives a lock back however its holder ends,
//! so nobody waits for a process that is gone.

use std::fs::{File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result};

use crate::step;

/// Held until it is dropped.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, and calls `on_wait` first if another process has it.
    ///
    /// # Errors
    /// A file that cannot be created or locked.
    pub fn wait(path: &Path, on_wait: impl FnOnce()) -> Result<Self> {
        if let Some(lock) = Self::try_now(path)? {
            return Ok(lock);
        }
        on_wait();
        let file = open(path)?;
        file.lock().with_context(|| cannot_lock(path))?;
        Ok(Self { _file: file })
    }

    /// Takes the lock if nobody has it.
    ///
    /// # Errors
    /// A file that cannot be created or locked.
    pub fn try_now(path: &Path) -> Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| cannot_lock(path))
            }
        }
    }
}

fn open(path: &Path) -> Result<File> {
    step::make_folder_of(path)?;
    let mut options = File::options();
    // Not truncated: another may hold it.
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).with_context(|| cannot_lock(path))
}

fn cannot_lock(path: &Path) -> String {
    format!("{} could not be locked", path.display())
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Whether the lock is given back within 10 s. Not at once: a child that another
    /// thread starts shares every open file until it runs its own program.
    fn comes_free(path: &Path) -> bool {
        (0..1000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            Lock::try_now(path).unwrap().is_some()
        })
    }

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/lock");
        let held = Lock::try_now(&path).unwrap().unwrap();
        assert!(Lock::try_now(&path).unwrap().is_none());
        drop(held);
        assert!(comes_free(&path));
    }
}

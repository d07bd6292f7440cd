//! One step of set-up or of verifying: a program run to its end, its output in a log, the
//! log's end in the error; and files written whole or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{group, paths};

/// Runs a program to its end, its output in `.learn/log`. It ends with this one.
///
/// # Errors
/// A program that cannot be started or fails, with the end of its log.
pub fn run(name: &str, command: &mut Command) -> Result<()> {
    let log = paths::state().join("log").join(format!("{name}.log"));
    let output = create(&log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let status = group::status(command)
        .with_context(|| format!("{:?} could not be started", command.get_program()))?;
    if !status.success() {
        bail!("{name} failed ({status}); the end of {}:\n{}", log.display(), tail(&log));
    }
    Ok(())
}

/// The last lines of a log, for an error.
pub fn tail(log: &PathBuf) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Creates a file, and the folders above it.
///
/// # Errors
/// A file or folder that cannot be made.
pub fn create(path: &Path) -> Result<File> {
    make_folder_of(path)?;
    File::create(path).with_context(|| format!("{} could not be written", path.display()))
}

/// Writes a file unless it holds just that, so that times of change mean something.
///
/// Whatever reads it meanwhile, and whatever ends this process, the file holds all of the
/// old contents or all of the new.
///
/// # Errors
/// A file or folder that cannot be written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let contents = contents.as_ref();
    if fs::read(path).is_ok_and(|before| before == contents) {
        return Ok(());
    }
    replace(path, |new| fs::write(new, contents))
}

/// Copies a file unless the copy is equal, in the way of [`write()`].
///
/// # Errors
/// A file that cannot be read, or a file or folder that cannot be written.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes =
        fs::read(from).with_context(|| format!("{} is not there", from.display()))?;
    if fs::read(to).is_ok_and(|before| before == bytes) {
        return Ok(());
    }
    // Copied and not written, for the sake of the right to be run.
    replace(to, |new| fs::copy(from, new).map(drop))
}

/// Makes the folders above a file.
///
/// # Errors
/// A folder that cannot be made.
pub fn make_folder_of(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder)
        .with_context(|| format!("{} could not be made", folder.display()))
}

/// Gives a file or folder another name. On Windows this fails while anybody has a file in it
/// open (a server, a search for viruses): there it is tried again for two seconds.
///
/// # Errors
/// What the system says the last time.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let n_more = if cfg!(windows) { 40 } else { 0 };
    for _ in 0..n_more {
        match fs::rename(from, to) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                thread::sleep(Duration::from_millis(50));
            }
            outcome => return outcome,
        }
    }
    fs::rename(from, to)
}

/// Lets `fill` write a new file beside `path`, and puts it in its place.
fn replace(path: &Path, fill: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<()> {
    make_folder_of(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name of its own for each write: two threads may write the same file.
    static N_WRITES: AtomicUsize = AtomicUsize::new(0);
    let n = N_WRITES.fetch_add(1, Ordering::Relaxed);
    let new = path.with_file_name(format!(".{name}.{}-{n}.new", std::process::id()));
    fill(&new).and_then(|()| rename(&new, path)).map_err(|error| {
        let _ = fs::remove_file(&new);
        anyhow::Error::new(error)
            .context(format!("{} could not be written", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_half_way_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/notebook.ipynb");
        write(&path, "old").unwrap();
        let full = |new: &Path| {
            fs::write(new, "ne")?;
            Err(std::io::ErrorKind::StorageFull.into())
        };
        let error = replace(&path, full).unwrap_err();
        assert!(format!("{error:#}").contains("notebook.ipynb"), "{error:#}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 1);

        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn two_threads_may_write_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.py");
        let both = std::sync::Barrier::new(2);
        let fill = |new: &Path| {
            fs::write(new, "script")?;
            both.wait();
            Ok(())
        };
        std::thread::scope(|scope| {
            let writes = [0, 1].map(|_| scope.spawn(|| replace(&path, fill)));
            writes.into_iter().for_each(|write| write.join().unwrap().unwrap());
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), "script");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_equal_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write(&from, "text").unwrap();
        copy(&from, &to).unwrap();
        let changed = || fs::metadata(&to).unwrap().modified().unwrap();
        let before = changed();
        copy(&from, &to).unwrap();
        write(&to, "text").unwrap();
        assert_eq!(changed(), before);
    }
}

//! A file that is there in full at any moment: as it was, or as it is to be.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

/// Replaces what a file held by these bytes.
///
/// They go to a second file beside it, which takes its name when it is complete. What a
/// link points to is replaced, and not the link; what is no plain file, such as
/// `/dev/stdout`, is written to as it is.
///
/// # Errors
/// A place that cannot be written to; then the file is as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let found = match fs::metadata(path) {
        Ok(found) if !found.is_file() => return fs::write(path, bytes),
        found => found.ok(),
    };
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let complete = beside(&path, bytes)?;
    if let Some(found) = found {
        complete.as_file().set_permissions(found.permissions())?;
    }
    complete.persist(path)?;
    Ok(())
}

/// Gives these bytes to a file that is not there yet, also where others try at the same
/// moment: one of them does, and the others fail.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] for a file that is there; as [`write()`].
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match beside(path, bytes)?.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(failed.error)
        }
        // A disk that has no links: the name is taken first, and then replaced.
        Err(failed) => {
            fs::File::create_new(path)?;
            failed.file.persist(path).map(drop).map_err(|failed| {
                let _ = fs::remove_file(path);
                failed.error
            })
        }
    }
}

/// A file with these bytes in the folder of another, to be given its name: a rename does
/// not cross from one disk to another.
///
/// # Errors
/// A folder that cannot be written to, or a full disk.
pub fn beside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    remove_left_behind(folder);
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED);
    // As for any new file, less what the user's mask takes away.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// How a file begins that has not got its name yet, before six letters by chance.
const UNFINISHED: &str = ".unfinished-";

/// No file takes so long to be written.
const LONG_AGO: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what a command left beside its file that was killed while it wrote.
fn remove_left_behind(folder: &Path) {
    let is_left = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let letters = name.to_str().and_then(|name| name.strip_prefix(UNFINISHED));
        let is_ours = letters.is_some_and(|letters| {
            letters.len() == 6 && letters.bytes().all(|c| c.is_ascii_alphanumeric())
        });
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        is_ours && age().is_some_and(|age| age > LONG_AGO)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // What cannot be removed is no failure of what is written now.
    entries.filter(is_left).for_each(|entry| drop(fs::remove_file(entry.path())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_writers_of_a_new_file_one_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let write = |nth: u8| {
                let path = &path;
                scope.spawn(move || write_new(path, &[nth; 1 << 16]))
            };
            let all: Vec<_> = (0..8).map(write).collect();
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let written = outcomes.iter().position(Result::is_ok).unwrap();
        let failed: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
        assert_eq!(failed.len(), 7);
        assert!(failed.iter().all(|it| it.kind() == io::ErrorKind::AlreadyExists));
        assert_eq!(fs::read(&path).unwrap(), [written as u8; 1 << 16]);
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_was_left_behind_long_ago_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = std::time::SystemTime::now() - 2 * LONG_AGO;
        for name in [".unfinished-aB3xyZ", ".unfinished-of-mine", ".unfinished-fresh0"] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            if !name.contains("fresh") {
                file.set_modified(long_ago).unwrap();
            }
        }
        write(&folder.path().join("a"), b"1").unwrap();
        let mut found = names(folder.path());
        found.sort();
        assert_eq!(found, [".unfinished-fresh0", ".unfinished-of-mine", "a"]);
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, b"1").unwrap();
        write(&path, b"2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(names(folder.path()), ["a"]);
        assert!(write(&folder.path().join("no/a"), b"3").is_err());
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    #[cfg(unix)]
    fn links_permissions_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "1").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        symlink("a", &link).unwrap();
        write(&link, b"2").unwrap();
        let found = fs::metadata(&path).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(found.permissions().mode() & 0o777, 0o640);
        assert_ne!(found.ino(), inode, "it was never half written");
        write(Path::new("/dev/null"), b"3").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

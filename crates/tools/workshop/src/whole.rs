//! A file that is there in full at any moment: as it was, or as it is to be.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

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

/// A file with these bytes in the folder of another, to be given its name: a rename does
/// not cross from one disk to another.
///
/// # Errors
/// A folder that cannot be written to, or a full disk.
pub fn beside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = Builder::new();
    builder.prefix(".unfinished-");
    // As for any new file, less what the user's mask takes away.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! The file in which the answers are kept.
//!
//! Four rules. After each answer the whole file is written next to its place and then takes
//! it, so that it is there in full at any moment. A lock is held from reading the file to
//! writing it, so that sittings in several terminals keep the answers of all. A file that
//! cannot be understood is never written over: it gets another name, which is said. And
//! where nothing can be written, the questions go on.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tempfile::NamedTempFile;

use super::memory::{Attempt, Memory, VERSION};

/// The answers, and where they are kept.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    memory: Memory,
    /// Nothing can be written here: said once, and not tried again.
    has_given_up: bool,
}

/// Why there is nothing to go on from.
#[derive(Debug)]
enum Unread {
    /// It is no memory of this version, for this reason.
    NotOurs(String),
    /// It could not be looked at.
    Io(io::Error),
}

impl Store {
    /// What is kept there, and what the reader must be told.
    ///
    /// The folder is made if need be, and it is tried whether it can be written to.
    pub fn open(path: PathBuf) -> (Self, Vec<String>) {
        let mut store = Self { path, memory: Memory::default(), has_given_up: false };
        let _lock = store.lock();
        let mut notices: Vec<String> = store.refresh().into_iter().collect();
        if !store.has_given_up
            && let Err(error) = store.try_place()
        {
            notices.push(store.give_up(&error));
        }
        (store, notices)
    }

    /// What is kept there, for a look that changes nothing, and what the reader must be
    /// told.
    pub fn peek(path: &Path) -> (Memory, Option<String>) {
        match read(path) {
            Ok(memory) => (memory.unwrap_or_default(), None),
            Err(Unread::NotOurs(why)) => {
                let notice = format!(
                    "{} cannot be used: {why}. The next sitting moves it aside and begins \
                     a new one.",
                    path.display()
                );
                (Memory::default(), Some(notice))
            }
            Err(Unread::Io(error)) => {
                let notice = format!("{} cannot be read: {error}.", path.display());
                (Memory::default(), Some(notice))
            }
        }
    }

    /// The answers so far.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Where the answers are kept; nothing if they are not.
    pub fn path(&self) -> Option<&Path> {
        (!self.has_given_up).then_some(self.path.as_path())
    }

    /// Keeps an answer, and gives what the reader must be told.
    pub fn record(&mut self, question: &str, attempt: Attempt) -> Option<String> {
        let _lock = self.lock();
        // Another sitting, in another terminal, may have written since.
        let mut notice = self.refresh();
        self.memory.record(question, attempt);
        if !self.has_given_up
            && let Err(error) = self.write()
        {
            notice = Some(self.give_up(&error));
        }
        notice
    }

    /// Takes what the file holds, and moves a file aside that cannot be used.
    fn refresh(&mut self) -> Option<String> {
        if self.has_given_up {
            return None;
        }
        match read(&self.path) {
            Ok(Some(memory)) => {
                self.memory = memory;
                None
            }
            Ok(None) => None,
            Err(Unread::Io(error)) => Some(self.give_up(&error)),
            Err(Unread::NotOurs(why)) => Some(match move_aside(&place(&self.path)) {
                Ok(aside) => format!(
                    "{} cannot be used: {why}. It is now {}, and a new one is begun.",
                    self.path.display(),
                    aside.display()
                ),
                Err(error) => self.give_up(&error),
            }),
        }
    }

    fn write(&self) -> io::Result<()> {
        let place = place(&self.path);
        let mut unfinished = self.unfinished(&place)?;
        serde_json::to_writer_pretty(&mut unfinished, &self.memory)?;
        unfinished.write_all(b"\n")?;
        unfinished.as_file().sync_all()?;
        if let Ok(metadata) = fs::metadata(&place) {
            unfinished.as_file().set_permissions(metadata.permissions())?;
        }
        unfinished.persist(&place)?;
        Ok(())
    }

    /// Before a reader thinks about five questions: could their answers be kept?
    fn try_place(&self) -> io::Result<()> {
        self.unfinished(&place(&self.path))?.close()
    }

    /// A new file beside the place, since a rename does not cross from one disk to another.
    /// It goes with its value unless it is made to stay.
    fn unfinished(&self, place: &Path) -> io::Result<NamedTempFile> {
        self.make_folder()?;
        let folder = place.parent().unwrap_or(Path::new("."));
        tempfile::Builder::new().prefix(".predictions.").tempfile_in(folder)
    }

    /// Waits until no other sitting reads or writes, and keeps others waiting until the
    /// value goes. Where there can be no lock, nothing waits.
    fn lock(&self) -> Option<File> {
        if self.has_given_up {
            return None;
        }
        self.make_folder().ok()?;
        let place = place(&self.path);
        let name = place.file_name()?.to_string_lossy().into_owned();
        // Never removed: one who waits for a file that is removed and one who comes next
        // would have two different locks.
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(place.with_file_name(format!(".{name}.lock")))
            .ok()?;
        file.lock().ok()?;
        Some(file)
    }

    fn make_folder(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), fs::create_dir_all)
    }

    fn give_up(&mut self, error: &io::Error) -> String {
        self.has_given_up = true;
        format!(
            "{} cannot be used: {error}. The answers of this sitting are not kept.",
            self.path.display()
        )
    }
}

/// What the file holds; nothing where there is no file.
fn read(path: &Path) -> Result<Option<Memory>, Unread> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Unread::Io(error)),
    };
    let not_ours = |error: serde_json::Error| Unread::NotOurs(error.to_string());
    let Versioned { version } = serde_json::from_slice(&bytes).map_err(not_ours)?;
    if version != VERSION {
        let why = format!("it is of version {version}, and this is version {VERSION}");
        return Err(Unread::NotOurs(why));
    }
    serde_json::from_slice(&bytes).map(Some).map_err(not_ours)
}

/// Gives a file the first free name of `predictions.unused-1.json`, `…-2.json`, ….
fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for nth in 1.. {
        let aside = path.with_file_name(format!("{stem}.unused-{nth}.json"));
        // Making it first keeps the name from anybody else, and the rename replaces it.
        match File::create_new(&aside) {
            Ok(_) => {
                return fs::rename(path, &aside).map(|()| aside.clone()).inspect_err(
                    |_| {
                        let _ = fs::remove_file(&aside);
                    },
                );
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("there is always a larger number")
}

/// Where the file is: what a link names, since a rename over a link would end it.
fn place(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    // As many links in a row as Linux follows.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&place) else { break };
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    place
}

#[cfg(test)]
mod tests;

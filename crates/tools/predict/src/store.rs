//! What was missed and what was right, in `.learn/predictions.json`.
//!
//! A file that cannot be understood is never written over: it gets another name, which is
//! said. And where nothing can be written, the questions go on.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use questions::Verdict;
use serde::{Deserialize, Serialize};
use workshop::{lock::Lock, whole};

/// How each question went when it was last answered, with how many times it was: that is
/// the seed of its next numbers, so that none come twice in a row.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// By the questions' ids; what was only near is among them. A question that is not
    /// asked any more stays.
    missed: BTreeMap<String, u64>,
    right: BTreeMap<String, u64>,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Missed or near, the last time.
    Missed,
    /// Never answered.
    New,
    /// Right, the last time.
    Right,
}

impl Answers {
    /// Where this question stands.
    pub fn state(&self, question: &str) -> State {
        match (self.missed.get(question), self.right.get(question)) {
            (Some(_), _) => State::Missed,
            (None, Some(_)) => State::Right,
            (None, None) => State::New,
        }
    }

    /// How many times this question was answered.
    pub fn n_times(&self, question: &str) -> u64 {
        self.missed.get(question).or(self.right.get(question)).map_or(0, |&n| n)
    }

    fn insert(&mut self, question: &str, verdict: Verdict, n_times: u64) {
        let (to, from) = match verdict {
            Verdict::Right => (&mut self.right, &mut self.missed),
            Verdict::Near | Verdict::Missed => (&mut self.missed, &mut self.right),
        };
        from.remove(question);
        to.insert(question.to_owned(), n_times);
    }
}

/// The answers, and where they are kept.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    answers: Answers,
    /// Not where nothing can be written: said once, and not tried again.
    is_kept: bool,
}

impl Store {
    /// What is kept there, and what the reader must be told: before they think about five
    /// questions, whether the answers can be kept.
    pub fn open(path: PathBuf) -> (Self, Option<String>) {
        let mut store = Self { path, answers: Answers::default(), is_kept: true };
        let outcome = store.lock().and_then(|_lock| store.refresh());
        let notice = store.notice(outcome);
        (store, notice)
    }

    /// What is kept there, for a look that changes nothing.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub fn peek(path: &Path) -> Result<Answers> {
        let cannot = || format!("{} cannot be used", path.display());
        let bytes = bytes(path).with_context(cannot)?;
        let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).with_context(cannot);
        bytes.map_or(Ok(Answers::default()), read)
    }

    /// The answers so far.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Where the answers are kept; nothing if they are not.
    pub fn path(&self) -> Option<&Path> {
        self.is_kept.then_some(self.path.as_path())
    }

    /// Keeps an answer, and gives what the reader must be told.
    pub fn record(&mut self, question: &str, verdict: Verdict) -> Option<String> {
        let outcome = if self.is_kept { self.add(question, verdict) } else { Ok(None) };
        self.notice(outcome)
    }

    fn add(&mut self, question: &str, verdict: Verdict) -> Result<Option<String>> {
        let _lock = self.lock()?;
        // Another terminal may have written since.
        let notice = self.refresh()?;
        let n_times = self.answers.n_times(question).saturating_add(1);
        self.answers.insert(question, verdict, n_times);
        let json = serde_json::to_string_pretty(&self.answers)? + "\n";
        whole::write(&self.path, json.as_bytes())?;
        Ok(notice)
    }

    fn lock(&self) -> Result<Lock> {
        // Held for as long as it takes to read and write a small file.
        Lock::wait(&self.path.with_extension("lock"), || {})
    }

    /// Takes what the file holds, and moves a file aside that cannot be understood.
    fn refresh(&mut self) -> Result<Option<String>> {
        match bytes(&self.path)?.map(|bytes| serde_json::from_slice(&bytes)) {
            None => Ok(None),
            Some(Ok(answers)) => {
                self.answers = answers;
                Ok(None)
            }
            Some(Err(error)) => {
                let aside = move_aside(&self.path)?;
                let (path, aside) = (self.path.display(), aside.display());
                Ok(Some(format!(
                    "{path} cannot be used: {error}. It is now {aside}, and a new one is \
                     begun."
                )))
            }
        }
    }

    fn notice(&mut self, outcome: Result<Option<String>>) -> Option<String> {
        outcome.unwrap_or_else(|error| {
            self.is_kept = false;
            let path = self.path.display();
            Some(format!("{path} cannot be used: {error:#}. Your answers are not kept."))
        })
    }
}

/// What the file holds; nothing where there is no file.
fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a file the first free name of `predictions.unused-1.json`, `…-2.json`, ….
fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = |nth: usize| path.with_file_name(format!("{stem}.unused-{nth}.json"));
    let mut nth = 1;
    while name(nth).exists() {
        nth += 1;
    }
    fs::rename(path, name(nth))?;
    Ok(name(nth))
}

#[cfg(test)]
mod tests {
    use tempfile::{TempDir, tempdir};

    use super::*;
    use Verdict::{Missed, Near, Right};

    fn place() -> (TempDir, PathBuf) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("state").join("predictions.json");
        (folder, path)
    }

    #[test]
    fn each_answer_is_in_the_file_at_once() {
        let (_folder, path) = place();
        let (mut store, notice) = Store::open(path.clone());
        assert!(notice.is_none() && !path.exists(), "{notice:?}");
        for (question, verdict) in
            [("a", Missed), ("b", Right), ("c", Near), ("a", Right), ("d", Missed)]
        {
            assert_eq!(store.record(question, verdict), None);
            assert_eq!(Store::peek(&path).unwrap(), *store.answers());
        }
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        {
          "missed": {
            "c": 1,
            "d": 1
          },
          "right": {
            "a": 2,
            "b": 1
          }
        }
        "#);
        let states = ["a", "c", "e"].map(|question| store.answers().state(question));
        assert_eq!(states, [State::Right, State::Missed, State::New]);
        assert_eq!(Store::open(path.clone()).0.path(), Some(path.as_path()));
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_moved_aside_and_said() {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut told = String::new();
        let broken = [
            "",
            r#"{"missed": {}, "#,
            r#"{"missed": {}, "right": {"a": -1}}"#,
            r#"{"version": 2, "questions": {}}"#,
        ];
        for (content, nth) in broken.iter().zip(1..) {
            fs::write(&path, content).unwrap();
            assert!(Store::peek(&path).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), *content, "after a look");

            let (mut store, notice) = Store::open(path.clone());
            told += &notice
                .unwrap()
                .replace(&path.parent().unwrap().display().to_string(), "…")
                .replace('\\', "/");
            told += "\n";
            assert_eq!(store.record("a", Missed), None);
            let aside = path.with_file_name(format!("predictions.unused-{nth}.json"));
            assert_eq!(fs::read_to_string(aside).unwrap(), *content);
        }
        insta::assert_snapshot!(told, @"
        …/predictions.json cannot be used: EOF while parsing a value at line 1 column 0. It is now …/predictions.unused-1.json, and a new one is begun.
        …/predictions.json cannot be used: EOF while parsing a value at line 1 column 15. It is now …/predictions.unused-2.json, and a new one is begun.
        …/predictions.json cannot be used: invalid value: integer `-1`, expected u64 at line 1 column 32. It is now …/predictions.unused-3.json, and a new one is begun.
        …/predictions.json cannot be used: unknown field `version`, expected `missed` or `right` at line 1 column 10. It is now …/predictions.unused-4.json, and a new one is begun.
        ");
    }

    #[test]
    fn a_file_that_breaks_between_two_answers_loses_none_of_them() {
        let (_folder, path) = place();
        let (mut store, _) = Store::open(path.clone());
        store.record("a", Missed);
        fs::write(&path, "not ours").unwrap();
        let notice = store.record("b", Right).unwrap();
        assert!(notice.contains("predictions.unused-1.json"), "{notice}");
        let kept = Store::peek(&path).unwrap();
        assert_eq!((kept.n_times("a"), kept.n_times("b")), (1, 1));
    }

    #[test]
    fn answers_in_several_terminals_at_once_are_all_kept() {
        const EACH: usize = 10;
        let (_folder, path) = place();
        let places = ["a", "b", "c"];
        std::thread::scope(|scope| {
            for name in places {
                let (mut store, _) = Store::open(path.clone());
                scope.spawn(move || {
                    for nth in 0..EACH {
                        assert_eq!(store.record(&format!("{name}{nth}"), Right), None);
                    }
                });
            }
        });
        assert_eq!(Store::peek(&path).unwrap().right.len(), places.len() * EACH);
    }

    #[test]
    fn where_nothing_can_be_written_it_says_so_once() {
        let (folder, path) = place();
        // A file where the folder should be, and a folder where the file should be.
        fs::write(path.parent().unwrap(), "").unwrap();
        let in_the_way = folder.path().join("other/predictions.json");
        fs::create_dir_all(&in_the_way).unwrap();
        for path in [path, in_the_way.clone()] {
            let (mut store, notice) = Store::open(path);
            let notice = notice.unwrap();
            assert!(notice.contains("not kept"), "{notice}");
            assert_eq!((store.record("a", Missed), store.path()), (None, None));
        }
        assert!(in_the_way.is_dir());

        let path = folder.path().join("later/predictions.json");
        let (mut store, _) = Store::open(path.clone());
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path.parent().unwrap(), "").unwrap();
        assert!(store.record("a", Missed).unwrap().contains("not kept"));
        assert_eq!(store.record("b", Missed), None);
    }
}

//! What the tutor remembers of each exercise, in `.learn/tutor.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use workshop::step;

/// What is remembered of an exercise.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The verdict on the answer, as a `Report` has it; empty before the first.
    pub verdict: String,
    /// The ids of the mistakes that were named.
    pub mistakes: Vec<String>,
    /// How many steps of the hint were given since the verdict is this one.
    pub n_hints: usize,
}

/// The notes of all exercises.
pub struct Notes {
    path: PathBuf,
    /// Tools run side by side.
    lock: Mutex<()>,
}

impl Notes {
    /// Those in this file, which need not be there.
    pub fn new(path: PathBuf) -> Self {
        Self { path, lock: Mutex::new(()) }
    }

    /// By the names of the exercises; none where the file cannot be read, since they are only
    /// notes.
    pub fn all(&self) -> BTreeMap<String, Note> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Changes the note of an exercise, and gives what it holds then.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn change(&self, exercise: &str, change: impl FnOnce(&mut Note)) -> Result<Note> {
        let _one = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.all();
        let note = all.entry(exercise.to_owned()).or_default();
        change(note);
        let note = note.clone();
        step::write(&self.path, serde_json::to_string_pretty(&all)? + "\n")?;
        Ok(note)
    }

    /// Notes the verdict of a `Report`. Where it is another than before, the hint begins anew.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn verdict(&self, report: &Value) -> Result<()> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mistakes = report["mistakes"].as_array().into_iter().flatten();
        let mistakes = mistakes.map(|mistake| text(&mistake["id"])).collect();
        let new = Note { verdict: text(&report["verdict"]), mistakes, n_hints: 0 };
        self.change(&text(&report["exercise"]), |note| {
            if (&note.verdict, &note.mistakes) != (&new.verdict, &new.mistakes) {
                *note = new;
            }
        })?;
        Ok(())
    }
}

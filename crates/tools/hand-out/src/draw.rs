//! What a seed draws: for each exercise a variant, and for each student a seed.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, ensure};
use catalogue::{Exercise, digest};

/// A set: the seed of its inputs, and the variant of each exercise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// Whose it is; nobody's if it is that of the class.
    pub student: Option<String>,
    /// By what it was drawn.
    pub seed: u64,
    /// Each exercise with its variant, in the order of the book.
    pub drawn: Vec<(String, Option<String>)>,
}

impl Set {
    /// The set of a class.
    pub fn of_class(seed: u64, exercises: &[Exercise]) -> Self {
        let drawn = exercises.iter().map(|exercise| {
            let variants = &exercise.sheet.variants;
            let name = &exercise.name;
            let n = u64::try_from(variants.len()).unwrap_or(1).max(1);
            let variant = variants.get(place(&format!("{seed} {name}"), n));
            (name.clone(), variant.map(|variant| variant.id.clone()))
        });
        Self { student: None, seed, drawn: drawn.collect() }
    }

    /// The set of a student, by a seed of their own.
    pub fn of_student(seed: u64, student: &str, exercises: &[Exercise]) -> Self {
        let own = place(&format!("{seed} {student}"), SEEDS);
        let set = Self::of_class(own as u64, exercises);
        Self { student: Some(student.to_owned()), ..set }
    }
}

/// The seed of the inputs of an exercise, where those of the set do not serve.
pub fn again(seed: u64, exercise: &str, draw: u64) -> u64 {
    place(&format!("{seed} {exercise} {draw}"), SEEDS) as u64
}

/// The seeds that are drawn lie below this.
const SEEDS: u64 = 1_000_000_000;

/// A number below n for a text, the same on every machine.
fn place(text: &str, n: u64) -> usize {
    // The lower bits of the digest are hardly mixed.
    let mixed = digest(text) >> 32;
    usize::try_from(mixed % n).unwrap_or_default()
}

/// The names in a file, each fit to be that of a folder.
///
/// # Errors
/// A name that is none, or is there twice, with its line.
pub fn students(text: &str, file: &Path) -> Result<Vec<String>> {
    let (mut names, mut known) = (Vec::new(), BTreeSet::new());
    for (line, number) in text.lines().zip(1..) {
        let name = line.trim();
        if name.is_empty() {
            continue;
        }
        let file = file.display();
        let is_unfit = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
        ensure!(
            !name.contains(is_unfit) && !name.starts_with('.') && !name.ends_with('.'),
            "{file}:{number}: {name:?} cannot be the name of a folder"
        );
        ensure!(
            known.insert(name.to_lowercase()),
            "{file}:{number}: {name:?} is there already"
        );
        names.push(name.to_owned());
    }
    ensure!(!names.is_empty(), "{}: no name", file.display());
    Ok(names)
}

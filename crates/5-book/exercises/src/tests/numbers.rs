//! The numbers that are kept, of every right answer and of every mistake, on every input, are
//! those that the bank gives. A file of them is a text and, behind it, the numbers:
//!
//! ```text
//! case 3 queries, 3 keys
//! right 3x3
//! mistake works down the columns
//! 0 3x3
//! 1 panicked
//! numbers 18
//! ```
//!
//! `right` has the shapes of what the reference gives on the case above it, and a line below
//! a mistake those of what it gives on that case. A case that is left out is one on which the
//! mistake is right, and of a matrix that is right stands `=`. The numbers are f64 in
//! little-endian order, row by row, in the order of the lines.

use std::fmt::Write;
use std::{env, fs};

use attention::Matrix;

use crate::compare::same_answer;
use crate::outcome::{self, Outcome};
use crate::tests::root;
use crate::{Answer, Entry, Exercise, all};

#[test]
fn the_numbers_that_are_kept_are_those_of_the_bank() {
    let folder = root().join("crates/5-book/exercises/numbers");
    fs::create_dir_all(&folder).expect("a folder of numbers");
    let mut differ = Vec::new();
    for entry in all() {
        let Some(numbers) = entry.numbers() else { continue };
        let path = folder.join(entry.name()).with_extension("bin");
        let kept = fs::read(&path).unwrap_or_default();
        if !is_same(&kept, &numbers) {
            differ.push(entry.name());
            if env::var_os("CI").is_none() {
                fs::write(&path, numbers).expect("the numbers");
            }
        }
    }
    assert!(differ.is_empty(), "the numbers of {differ:?} are others");
}

/// Whether two files say the same: the same text, and numbers that are equal to within what
/// another machine rounds.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let ((text_a, a), (text_b, b)) = (parts(a), parts(b));
    let near = |(a, b): (&f64, &f64)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(1.0)
    };
    text_a == text_b && a.len() == b.len() && a.iter().zip(&b).all(near)
}

/// The text of a file, and its numbers.
fn parts(file: &[u8]) -> (&[u8], Vec<f64>) {
    let last = file.windows(9).position(|bytes| bytes == b"\nnumbers ");
    let end = last.and_then(|last| {
        let line = last + 1;
        Some(line + 1 + file[line..].iter().position(|&byte| byte == b'\n')?)
    });
    let (text, numbers) = file.split_at(end.unwrap_or(0));
    let numbers = numbers.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
    (text, numbers.collect())
}

impl<I, O: Answer> Exercise<I, O> {
    /// The numbers of the reference and of every mistake, as they are kept.
    pub(crate) fn numbers(&self) -> Vec<u8> {
        let (mut text, mut numbers) = (String::new(), Vec::new());
        let cases = (self.cases)();
        let mut right: Vec<O> = Vec::new();
        for case in &cases {
            let answer = (self.reference)(&case.input);
            let shapes = add(&answer.parts(), &[], &mut numbers);
            let square = if case.square { " square" } else { "" };
            writeln!(text, "case{square} {}\nright {shapes}", case.sizes).unwrap();
            right.push(answer);
        }
        for mistake in self.mistakes {
            writeln!(text, "mistake {}", mistake.name).unwrap();
            for (at, (case, right)) in cases.iter().zip(&right).enumerate() {
                let shapes = match outcome::call(|| (mistake.answer)(&case.input)) {
                    Outcome::Value(answer) if same_answer(&answer, right) => continue,
                    Outcome::Value(answer) => {
                        add(&answer.parts(), &right.parts(), &mut numbers)
                    }
                    Outcome::Panicked(_) => "panicked".to_owned(),
                };
                writeln!(text, "{at} {shapes}").unwrap();
            }
        }
        writeln!(text, "numbers {}", numbers.len()).unwrap();
        let bytes = numbers.iter().flat_map(|number: &f64| number.to_le_bytes());
        text.into_bytes().into_iter().chain(bytes).collect()
    }
}

/// Adds the numbers of an answer, and gives the shapes of its parts; of one that is right,
/// nothing is added.
fn add(parts: &[Matrix], right: &[Matrix], numbers: &mut Vec<f64>) -> String {
    let mut shape = |(at, part): (usize, &Matrix)| {
        if right.get(at).is_some_and(|right| same_answer(part, right)) {
            return "=".to_owned();
        }
        numbers.extend_from_slice(part.transpose().as_slice());
        format!("{}x{}", part.nrows(), part.ncols())
    };
    parts.iter().enumerate().map(&mut shape).collect::<Vec<_>>().join(" ")
}

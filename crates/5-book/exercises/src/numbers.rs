//! The numbers that are kept of an exercise: of its right answer and of each mistake, on
//! every input.
//!
//! A file of them is a text and, behind it, the numbers:
//!
//! ```text
//! softmax, made from 7a31c0de4f2b9e55
//! case square 3 queries, 3 keys
//! right #0
//! named the matrix of head 0
//! mistake 0.0 works-down-the-columns
//! 0 #1
//! 1 panicked
//! arrays 3x3 3x3
//! ```
//!
//! A second line, `seed 17`, says by which seed the inputs are drawn, where that is not 0.
//! `right` has the matrices of the right answer to the case above it, and `named` what each is
//! called, with ` | ` between two. Below a mistake, with
//! its place in the sheet, that of its answer, and its id, stands what it gives on each case, and a case that is
//! left out is one on which it is right. The last line has the shape of every matrix; then
//! come their entries, f64 in little-endian order, row by row. A matrix that several mistakes
//! give is kept once, and of a large one that is wrong every eighth column.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, str};

use attention::Matrix;

/// What is kept of an exercise.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// The name of the exercise.
    pub name: String,
    /// What it was made from: another sheet or solution has other numbers.
    pub made_from: u64,
    /// By which seed its inputs are drawn.
    pub seed: u64,
    /// The right answer to each case.
    pub cases: Vec<CaseNumbers>,
    /// What is wrong, in the order of the sheet.
    pub wrong: Vec<Wrong>,
}

/// The matrices of an answer; nothing where it panics.
pub type Parts = Option<Vec<Matrix>>;

/// A case, and the right answer to it.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseNumbers {
    /// Its sizes, as a message names them.
    pub sizes: String,
    /// Whether sizes are equal that may differ.
    pub square: bool,
    /// The matrices of the right answer.
    pub right: Vec<Matrix>,
    /// What each is called.
    pub labels: Vec<String>,
}

/// What a mistake gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// Its place among the mistakes of the sheet.
    pub mistake: usize,
    /// The place of the answer among those that make it.
    pub answer: usize,
    /// Its id there.
    pub id: String,
    /// What it gives on each case; nothing where it is right.
    pub outcomes: Vec<Option<Parts>>,
}

impl Numbers {
    /// What is kept of an exercise.
    ///
    /// # Errors
    /// If it cannot be read, or was made from another sheet or solution.
    pub fn of(exercise: &catalogue::Exercise) -> Result<Self, String> {
        Self::of_file(&Self::path(&exercise.name), exercise)
    }

    /// The same of an exercise of another set, from the file in which that keeps them.
    ///
    /// # Errors
    /// If it cannot be read, or was made from another sheet or solution.
    pub fn of_file(path: &Path, exercise: &catalogue::Exercise) -> Result<Self, String> {
        let file =
            fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let kept =
            Self::read(&file).ok_or_else(|| format!("{}: damaged", path.display()))?;
        if kept.made_from == exercise.fingerprint() {
            return Ok(kept);
        }
        Err(format!(
            "the numbers of {0} are kept, and set/{0}.rs or set/{0}.md has changed since: \
             `cargo learn mistakes {0}` computes them anew",
            exercise.name
        ))
    }

    /// Where the numbers of an exercise are.
    pub fn path(name: &str) -> PathBuf {
        catalogue::folder().with_file_name("numbers").join(name).with_extension("bin")
    }

    /// The bytes of a file.
    pub fn write(&self) -> Vec<u8> {
        let mut arrays = Table::default();
        let mut text = format!("{}, made from {:016x}\n", self.name, self.made_from);
        if self.seed != 0 {
            let _ = writeln!(text, "seed {}", self.seed);
        }
        for case in &self.cases {
            let square = if case.square { " square" } else { "" };
            let right = arrays.add(&case.right);
            let (sizes, labels) = (&case.sizes, case.labels.join(" | "));
            let _ = write!(text, "case{square} {sizes}\nright{right}\nnamed {labels}\n");
        }
        for wrong in &self.wrong {
            let (mistake, answer) = (wrong.mistake, wrong.answer);
            let _ = writeln!(text, "mistake {mistake}.{answer} {}", wrong.id);
            for (at, outcome) in wrong.outcomes.iter().enumerate() {
                let _ = match outcome {
                    None => Ok(()),
                    Some(None) => writeln!(text, "{at} panicked"),
                    Some(Some(parts)) => writeln!(text, "{at}{}", arrays.add(parts)),
                };
            }
        }
        text += "arrays";
        for matrix in &arrays.0 {
            let _ = write!(text, " {}x{}", matrix.nrows(), matrix.ncols());
        }
        text += "\n";
        let entries =
            arrays.0.iter().flat_map(|matrix| matrix.transpose().as_slice().to_vec());
        text.into_bytes().into_iter().chain(entries.flat_map(f64::to_le_bytes)).collect()
    }

    /// Reads a file.
    pub fn read(file: &[u8]) -> Option<Self> {
        const ARRAYS: &[u8] = b"\narrays";
        let at = file.windows(ARRAYS.len()).position(|bytes| bytes == ARRAYS)? + 1;
        let end = at + file[at..].iter().position(|&byte| byte == b'\n')? + 1;
        let shapes = str::from_utf8(&file[at..end]).ok()?;
        let arrays = matrices(shapes, &file[end..])?;
        let mut lines = str::from_utf8(&file[..at]).ok()?.lines();
        let (name, made_from) = lines.next()?.split_once(", made from ")?;
        let made_from = u64::from_str_radix(made_from, 16).ok()?;
        let (cases, wrong) = (Vec::new(), Vec::new());
        let mut kept = Self { name: name.to_owned(), made_from, seed: 0, cases, wrong };
        for line in lines {
            let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
            match what {
                "seed" => kept.seed = rest.parse().ok()?,
                "case" => {
                    let square = rest.strip_prefix("square ");
                    let sizes = square.unwrap_or(rest).to_owned();
                    let square = square.is_some();
                    let (right, labels) = (Vec::new(), Vec::new());
                    kept.cases.push(CaseNumbers { sizes, square, right, labels });
                }
                "right" => kept.cases.last_mut()?.right = picked(&arrays, rest)?,
                "named" => {
                    let labels = rest.split(" | ").map(str::to_owned);
                    kept.cases.last_mut()?.labels = labels.collect();
                }
                "mistake" => {
                    let (place, id) = rest.split_once(' ')?;
                    let (mistake, answer) = place.split_once('.')?;
                    kept.wrong.push(Wrong {
                        mistake: mistake.parse().ok()?,
                        answer: answer.parse().ok()?,
                        id: id.to_owned(),
                        outcomes: vec![None; kept.cases.len()],
                    });
                }
                case => {
                    let parts = match rest {
                        "panicked" => None,
                        _ => Some(picked(&arrays, rest)?),
                    };
                    let wrong = kept.wrong.last_mut()?;
                    *wrong.outcomes.get_mut(case.parse::<usize>().ok()?)? = Some(parts);
                }
            }
        }
        Some(kept)
    }
}

/// Matrices, each once.
#[derive(Default)]
struct Table(Vec<Matrix>);

impl Table {
    /// The places of these matrices, as a line names them.
    fn add(&mut self, parts: &[Matrix]) -> String {
        let bits = |matrix: &Matrix| matrix.map(f64::to_bits);
        let place = |matrix: &Matrix| {
            let same = |other: &Matrix| {
                other.shape() == matrix.shape() && bits(other) == bits(matrix)
            };
            let place = self.0.iter().position(same).unwrap_or_else(|| {
                self.0.push(matrix.clone());
                self.0.len() - 1
            });
            format!(" #{place}")
        };
        parts.iter().map(place).collect()
    }
}

/// The matrices that a line names.
fn picked(arrays: &[Matrix], line: &str) -> Option<Vec<Matrix>> {
    let places =
        line.split_whitespace().map(|place| place.strip_prefix('#')?.parse().ok());
    places.map(|place: Option<usize>| arrays.get(place?).cloned()).collect()
}

/// The matrices of these shapes.
fn matrices(shapes: &str, mut bytes: &[u8]) -> Option<Vec<Matrix>> {
    let mut matrices = Vec::new();
    for shape in shapes.split_whitespace().skip(1) {
        let (n_rows, n_columns) = shape.split_once('x')?;
        let (n_rows, n_columns) = (n_rows.parse().ok()?, n_columns.parse().ok()?);
        let length = usize::checked_mul(n_rows, n_columns)?.checked_mul(8)?;
        let (entries, rest) = bytes.split_at_checked(length)?;
        let entries =
            entries.as_chunks().0.iter().map(|&entry| f64::from_le_bytes(entry));
        matrices.push(Matrix::from_row_iterator(n_rows, n_columns, entries));
        bytes = rest;
    }
    bytes.is_empty().then_some(matrices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let matrix = Matrix::from_row_slice(2, 3, &[1.0, -0.5, 1e300, 0.1, -0.0, 7.0]);
        let case = |square, right| {
            let labels = vec!["d_w".to_owned(), "d_b".to_owned()];
            CaseNumbers { sizes: "2 queries, é".into(), square, right, labels }
        };
        let wrong =
            |mistake, outcomes| Wrong { mistake, answer: 1, id: "a-b".into(), outcomes };
        let kept = Numbers {
            name: "softmax".into(),
            made_from: 0xabc,
            seed: 0,
            cases: vec![
                case(true, vec![matrix.clone(), Matrix::zeros(0, 4)]),
                case(false, vec![]),
            ],
            wrong: vec![
                wrong(0, vec![None, Some(None)]),
                wrong(2, vec![Some(Some(vec![matrix.clone(), &matrix * 2.0])), None]),
            ],
        };
        let file = kept.write();
        assert_eq!(Numbers::read(&file), Some(kept.clone()));
        let seeded = Numbers { seed: 17, ..kept };
        let with_seed = seeded.write();
        assert_eq!(Numbers::read(&with_seed), Some(seeded));
        let line = b"seed 17\n";
        let at = with_seed.windows(8).position(|it| it == line).unwrap();
        let without = [&with_seed[..at], &with_seed[at + line.len()..]].concat();
        assert_eq!(without, file, "seed 0 is not said");
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains("\narrays 2x3 0x4 2x3\n"), "each once: {text}");
        for n in 0..file.len() {
            assert_eq!(Numbers::read(&file[..n]), None, "{n} bytes");
        }
    }
}

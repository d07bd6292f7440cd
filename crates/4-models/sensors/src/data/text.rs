//! The format of NASA's C-MAPSS files: 26 columns apart by spaces, a line per reading.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Engine, Reading};
use crate::sizes::{N_COLUMNS, N_SENSORS, N_SETTINGS};
use crate::{Error, Result};

/// The engines of a text; `file` is what errors call it.
///
/// ```text
/// 1 1 -0.0007 -0.0004 100.0 518.67 641.82 1589.70 …    unit, cycle, 3 settings, 21 sensors
/// 1 2 0.0019 -0.0003 100.0 518.67 642.15 1591.82 …
/// ```
///
/// # Errors
/// [`Error::Columns`], [`Error::Number`], [`Error::NotFinite`], [`Error::Cycle`] or
/// [`Error::UnitAgain`] with the line; [`Error::NoReadings`] for a text without any.
///
/// # Source
/// Saxena and Goebel 2008, the readme of the set.
pub fn parse_engines(file: &str, text: &str) -> Result<Vec<Engine>> {
    let (mut engines, mut units) = (Vec::<Engine>::new(), BTreeSet::new());
    for (line, words) in lines(text) {
        let at = Place { file, line };
        let n = words.len();
        let Ok(words) = <[&str; N_COLUMNS]>::try_from(words) else {
            return Err(Error::Columns { file: file.into(), line, found: n });
        };
        let (unit, cycle) = (at.whole(words[0], 1)?, at.whole(words[1], 2)?);
        let is_next = engines.last().is_some_and(|engine| engine.unit == unit);
        if !is_next {
            if !units.insert(unit) {
                return Err(Error::UnitAgain { file: file.into(), line, unit });
            }
            engines.push(Engine { unit, readings: Vec::new() });
        }
        let Some(engine) = engines.last_mut() else { continue };
        let expected = engine.n_cycles() + 1;
        if cycle != expected {
            let file = file.into();
            return Err(Error::Cycle { file, line, unit, expected, found: cycle });
        }
        let mut reading =
            Reading { settings: [0.0; N_SETTINGS], sensors: [0.0; N_SENSORS] };
        let numbers = reading.settings.iter_mut().chain(&mut reading.sensors);
        for (i, number) in numbers.enumerate() {
            *number = at.number(words[2 + i], 3 + i)?;
        }
        engine.readings.push(reading);
    }
    if engines.is_empty() {
        return Err(Error::NoReadings { file: file.into() });
    }
    Ok(engines)
}

/// The remaining lives of a text, one per line: of each engine of a test file, how many
/// cycles it ran on after its last reading.
///
/// # Errors
/// [`Error::Number`] or [`Error::NotFinite`] with the line, also for a line with more than
/// one number.
pub fn parse_lives(file: &str, text: &str) -> Result<Vec<usize>> {
    let life = |(line, words): (usize, Vec<&str>)| {
        Place { file, line }.whole(&words.join(" "), 1)
    };
    lines(text).map(life).collect()
}

/// Engines as a text in that format; [`parse_engines`] reads the same numbers from it.
pub fn write_engines(engines: &[Engine]) -> String {
    let mut text = String::new();
    for engine in engines {
        for (t, reading) in engine.readings.iter().enumerate() {
            let _ = write!(text, "{} {}", engine.unit, t + 1);
            for number in reading.settings.iter().chain(&reading.sensors) {
                let _ = write!(text, " {number}");
            }
            text.push('\n');
        }
    }
    text
}

/// The lines that hold something, counted from 1, as words.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let numbered = text.lines().enumerate();
    let words = numbered.map(|(i, line)| (i + 1, line.split_whitespace().collect()));
    words.filter(|(_, words): &(usize, Vec<&str>)| !words.is_empty())
}

/// Where a word stands, for errors.
struct Place<'a> {
    file: &'a str,
    line: usize,
}

impl Place<'_> {
    fn whole(&self, word: &str, column: usize) -> Result<usize> {
        word.parse().map_err(|_| self.error(word, column, "a whole number"))
    }

    fn number(&self, word: &str, column: usize) -> Result<f64> {
        let number: f64 =
            word.parse().map_err(|_| self.error(word, column, "a number"))?;
        if !number.is_finite() {
            let (file, line) = (self.file.into(), self.line);
            return Err(Error::NotFinite { file, line, column, number });
        }
        Ok(number)
    }

    fn error(&self, word: &str, column: usize, expected: &'static str) -> Error {
        // A word from a file may be of any length and hold anything.
        let word: String = word.chars().take(40).flat_map(char::escape_debug).collect();
        Error::Number { file: self.file.into(), line: self.line, column, word, expected }
    }
}

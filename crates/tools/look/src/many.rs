//! What each head does over a file of texts: each habit beside its chance level.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ::texts::{Long, Pieces};
use anyhow::{Context, Result, ensure};
use maps::habits::{Habit, Spread, Texts};
use workshop::progress;

use crate::source::{Opened, text_file};
use crate::view::share;

/// The texts of a file, one per line, in tokens: before anything is computed, every one is
/// known to be readable.
fn lines(path: &Path, opened: &Opened, long: Long) -> Result<Vec<Pieces>> {
    let name = path.display();
    let file = text_file(path)?;
    let lines = file.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let lines = lines.map(|(nth, line)| {
        let pieces = opened.pieces(line, long);
        pieces.with_context(|| format!("{name}, line {}", nth + 1))
    });
    let lines = lines.collect::<Result<Vec<_>>>()?;
    ensure!(!lines.is_empty(), "{name} has no text: a text is a line");
    Ok(lines)
}

/// What was measured, and in which words.
pub struct Measured {
    /// Of each head and an even one.
    pub texts: Texts,
    /// How many texts the file has.
    n_in_file: usize,
    seconds: f64,
}

/// All texts of a file; Ctrl-C keeps those that are done.
pub fn measure(folder: &Path, path: &Path, long: Long) -> Result<Measured> {
    let opened = Opened::of(folder)?;
    let lines = lines(path, &opened, long)?;
    let reader = opened.reader()?;
    let is_stopped = Arc::new(AtomicBool::new(false));
    let hear = Arc::clone(&is_stopped);
    // Where another handler stands, Ctrl-C ends the command.
    let _ = ctrlc::set_handler(move || hear.store(true, Ordering::Relaxed));
    let n_in_file = lines.len();
    let (bar, start) = (progress::steps(n_in_file), Instant::now());
    let mut texts = Texts::default();
    for pieces in lines {
        if is_stopped.load(Ordering::Relaxed) {
            break;
        }
        texts.add(&reader.heads(pieces)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    ensure!(texts.n_texts > 0, "stopped before the first text was read");
    Ok(Measured { texts, n_in_file, seconds: start.elapsed().as_secs_f64() })
}

impl Measured {
    /// A row per head, those first that are farthest above chance in a habit; without one,
    /// in any share.
    pub fn table(&self, sorted: Option<Habit>) -> String {
        let Self { texts, n_in_file, seconds } = self;
        let mut to = match texts.n_texts {
            n if n < *n_in_file => format!("Stopped: {n} of {n_in_file} texts were read"),
            n => format!("{n} texts"),
        };
        // Writing to a String cannot fail.
        let _ = write!(
            to,
            " in {seconds:.1} s. Each number is a mean over texts, ± how far they spread; chance \
             is a head\nthat gives every key it sees the same. same: the other tokens that are \
             the same; induction:\nthe token after the last same one; bits, away: over how much \
             a row spreads, and how far it goes.\n\nhead  "
        );
        for habit in Habit::ALL {
            let _ = write!(to, "{:>11}", habit.name());
        }
        let _ = write!(to, "\nchance");
        texts.chance.iter().for_each(|number| to += &cell(number));
        for name in texts.sorted(sorted) {
            let [layer, head] = name;
            let _ = write!(to, "\n{:<6}", format!("{layer}.{head}"));
            texts.heads[layer][head].iter().for_each(|number| to += &cell(number));
        }
        to + "\n"
    }
}

/// `.62 ±.10`.
fn cell(number: &Spread) -> String {
    if number.n == 0 {
        return format!("{:>11}", "–");
    }
    format!("{:>11}", format!("{} ±{}", share(number.mean), share(number.deviation())))
}

//! Every notebook from a fresh kernel: compared with what is committed, or committed anew.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{compare, execute, place};
use workshop::progress::Progress;
use workshop::{at_once, step};

/// A kernel takes up to a gigabyte.
const MOST_AT_ONCE: usize = 2;

/// How one notebook fared.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its file name without the ending.
    pub name: String,
    /// From a fresh kernel to the first figure.
    pub first_figure: Option<Duration>,
    /// The slowest cell after that.
    pub slowest_later: Option<Duration>,
    /// The first cell that failed or gave something else, told in full.
    pub difference: Option<String>,
    /// How often it was run.
    pub runs: usize,
}

/// Runs each of our notebooks and compares its outputs with the committed ones. Writes nothing
/// outside `.learn/`. Two are run at once where there are two processors, so the times are
/// those of a busy machine.
///
/// One that differs is run again, up to twice: on a busy machine a kernel's last printed line can
/// come after its cell is done.
///
/// # Errors
/// What kept a notebook from being run at all. A notebook that ran and differs is no
/// error but an [`Outcome`] with a difference.
pub fn verify(progress: &Progress) -> Result<Vec<Outcome>> {
    let at_once = at_once::n_processors().min(MOST_AT_ONCE);
    each(progress, at_once, 3, &|notebook, committed, run| {
        let difference = compare::difference(committed, &run.notebook).or_else(|| {
            let all = run.compiled.join(", ");
            let is_ready = run.compiled.is_empty();
            (!is_ready).then(|| format!("cells had to wait until cargo compiled {all}"))
        });
        Ok(outcome(notebook, &run, difference))
    })
}

/// Runs each of our notebooks, one after the other, and writes its outputs into the committed file, in a form
/// that changes only where an output does. A notebook that fails is left as it is, and so
/// is one in whose writing this process is ended.
///
/// # Errors
/// As [`verify`], or a file that cannot be written.
pub fn rewrite(progress: &Progress) -> Result<Vec<Outcome>> {
    // Some print times.
    each(progress, 1, 1, &|notebook, _, run| {
        // Compared with itself, only a failure is left to find.
        let difference = compare::difference(&run.notebook, &run.notebook);
        if difference.is_none() {
            step::copy(&result(notebook), notebook)?;
        }
        Ok(outcome(notebook, &run, difference))
    })
}

type Judge = dyn Fn(&Path, &Value, execute::Run) -> Result<Outcome> + Sync;

/// Each of our notebooks, so many at once, each up to `most` times.
fn each(
    progress: &Progress,
    at_once: usize,
    most: usize,
    judge: &Judge,
) -> Result<Vec<Outcome>> {
    let one = |notebook: &PathBuf| run(progress, notebook, most, judge);
    at_once::map(&place::all()?, at_once, one).into_iter().collect()
}

fn run(
    progress: &Progress,
    notebook: &Path,
    most: usize,
    judge: &Judge,
) -> Result<Outcome> {
    let name = place::name(notebook);
    progress.set_message(format!("notebook {name}"));
    let text = fs::read_to_string(notebook)
        .with_context(|| format!("{} could not be read", notebook.display()))?;
    let committed = serde_json::from_str(&text)
        .with_context(|| format!("{} is no notebook", notebook.display()))?;
    let result = result(notebook);
    fs::create_dir_all(result.parent().context("in .learn")?)?;
    let once = || {
        let run = execute::execute(notebook, &result, &mut |done, all| {
            progress.set_detail(format!("notebook {name}: {done} of {all} cells"));
        })?;
        judge(notebook, &committed, run)
    };
    let mut outcome = once()?;
    while outcome.difference.is_some() && outcome.runs < most {
        outcome = Outcome { runs: outcome.runs + 1, ..once()? };
    }
    Ok(outcome)
}

/// The executed copy.
fn result(notebook: &Path) -> PathBuf {
    place::state("run").join(notebook.file_name().unwrap_or_default())
}

fn outcome(notebook: &Path, run: &execute::Run, difference: Option<String>) -> Outcome {
    Outcome {
        name: place::name(notebook),
        first_figure: run.first_figure(),
        slowest_later: run.slowest_later(),
        difference,
        runs: 1,
    }
}

impl fmt::Display for Outcome {
    /// One line, and the difference below it where there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.difference.is_none() { "as committed" } else { "differs" };
        write!(f, "{:<24} {verdict}", self.name)?;
        if let Some(time) = self.first_figure {
            write!(f, ", first figure after {:.1} s", time.as_secs_f64())?;
        }
        if let Some(time) = self.slowest_later {
            write!(f, ", slowest later cell {:.1} s", time.as_secs_f64())?;
        }
        if self.runs > 1 {
            write!(f, ", run {} times", self.runs)?;
        }
        match &self.difference {
            Some(difference) => write!(f, "\n{difference}"),
            None => Ok(()),
        }
    }
}

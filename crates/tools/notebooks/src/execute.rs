//! One notebook, run from a fresh kernel, with a clock.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::place;
use workshop::{group, step};

/// The script, nbclient's user; in the binary, so that there is one version of it.
const SCRIPT: &str = include_str!("run.py");

/// What a run gave.
pub struct Run {
    /// The executed notebook.
    pub notebook: Value,
    /// When each code cell was done, counted from before the kernel started.
    pub done: Vec<CellRun>,
    /// The crates from the registry that cells had to wait for: set-up compiles them.
    pub compiled: Vec<String>,
}

/// One code cell that was run.
pub struct CellRun {
    /// When it was done.
    pub at: Duration,
    /// Whether it drew a figure.
    pub figure: bool,
}

impl Run {
    /// From nothing to the first figure.
    pub fn first_figure(&self) -> Option<Duration> {
        self.done.iter().find(|cell| cell.figure).map(|cell| cell.at)
    }

    /// The longest that a cell after the first figure took, or after the first cell.
    pub fn slowest_later(&self) -> Option<Duration> {
        let first = self.done.iter().position(|cell| cell.figure).unwrap_or(0);
        let later = self.done.get(first..)?;
        later.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at)).max()
    }
}

/// Runs `notebook` and leaves the result in `result`. After each cell `on_cell` is told how
/// many are done, of how many.
pub fn execute(
    notebook: &Path,
    result: &Path,
    on_cell: &mut dyn FnMut(usize, usize),
) -> Result<Run> {
    let script = place::state("tools/run.py");
    step::write(&script, SCRIPT)?;
    let source: Value = serde_json::from_str(&fs::read_to_string(notebook)?)?;
    let cells = source["cells"].as_array().map_or(0, |cells| {
        cells.iter().filter(|cell| cell["cell_type"] == "code").count()
    });

    let log = place::state("log").join(format!("run-{}.log", place::name(notebook)));
    let mut python = place::python();
    python.arg(&script).args([notebook, result, &place::notebooks()]);
    python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(step::create(&log)?);
    let (mut child, _group) = group::spawn(&mut python)
        .context("the notebooks' Python could not be started")?;
    let mut done = Vec::new();
    for line in BufReader::new(child.stdout.take().context("piped above")?).lines() {
        // The kernel's own words end up here too.
        let Ok(event) = serde_json::from_str::<Value>(&line?) else { continue };
        if event["event"] != "cell" {
            continue;
        }
        let at = Duration::from_secs_f64(event["at"].as_f64().unwrap_or_default());
        done.push(CellRun { at, figure: event["figure"] == true });
        on_cell(done.len(), cells);
    }
    let status = child.wait()?;
    if !status.success() {
        let name = place::name(notebook);
        bail!("{name} could not be run; {}:\n{}", log.display(), step::tail(&log));
    }
    let notebook = serde_json::from_str(&fs::read_to_string(result)?)?;
    let said = fs::read(&log).unwrap_or_default();
    Ok(Run { notebook, done, compiled: compiled(&String::from_utf8_lossy(&said)) })
}

/// The crates of the registry that were compiled while a kernel ran. Those with a path are of
/// this workspace: they are compiled again where someone works on them.
fn compiled(log: &str) -> Vec<String> {
    let crates =
        log.lines().filter_map(|line| line.trim_start().strip_prefix("Compiling "));
    crates.filter(|it| !it.ends_with(')')).map(str::to_owned).collect()
}

/// A text as notebooks hold it: one string, or one a line.
pub fn text(value: &Value) -> String {
    match value {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(done: &[(u64, bool)]) -> Run {
        let done = done.iter().map(|&(seconds, figure)| CellRun {
            at: Duration::from_secs(seconds),
            figure,
        });
        Run { notebook: Value::Null, done: done.collect(), compiled: Vec::new() }
    }

    #[test]
    fn cells_after_the_first_figure_are_timed_one_by_one() {
        let run = run(&[(5, false), (6, false), (8, true), (9, false), (12, true)]);
        assert_eq!(run.first_figure(), Some(Duration::from_secs(8)));
        assert_eq!(run.slowest_later(), Some(Duration::from_secs(3)));
    }

    #[test]
    fn crates_that_set_up_should_have_compiled_are_told_from_those_in_work() {
        let log =
            "   Compiling nalgebra v0.35.0\nReady\n   Compiling figures v0.1.0 (/a)\n";
        assert_eq!(compiled(log), ["nalgebra v0.35.0"]);
    }

    #[test]
    fn without_a_figure_the_first_cell_is_the_slow_one() {
        let run = run(&[(5, false), (6, false), (8, false)]);
        assert_eq!(run.first_figure(), None);
        assert_eq!(run.slowest_later(), Some(Duration::from_secs(2)));
    }
}

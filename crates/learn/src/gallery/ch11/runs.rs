//! What `cargo learn bench` measured: the reference run, and the reader's own.

use anyhow::Result;

use crate::bench::case::CASES;
use crate::bench::growth::{LONG, slope};
use crate::bench::report::{CaseReport, Point, Run};
use crate::paths;

/// There.
pub const FORWARD: &str = "forward";
/// There and back.
pub const FORWARD_BACKWARD: &str = "forward + backward";

/// The run that is part of the workspace.
///
/// # Errors
/// A file that is not there, or holds no run.
pub fn reference() -> Result<Run> {
    Run::open(&paths::workspace().join("crates/learn/data/bench.json")).map(in_order)
}

/// What the reader's last `cargo learn bench` left, if it left anything.
pub fn of_the_reader() -> Option<Run> {
    Run::open(&paths::state().join("bench.json")).map(in_order).ok()
}

/// A file has its cases in the order in which they were measured.
fn in_order(mut run: Run) -> Run {
    let place = |name: &str| CASES.iter().position(|case| case.name == name);
    run.cases.sort_by_key(|case| place(&case.name).unwrap_or(CASES.len()));
    run
}

/// The case of this name.
pub fn case<'a>(run: &'a Run, name: &str) -> Option<&'a CaseReport> {
    run.cases.iter().find(|case| case.name == name)
}

/// What a case is, in short: `4k: 1 × 4096 × 512`.
pub fn said(case: &CaseReport) -> String {
    let CaseReport { name, batch, tokens, d_model, .. } = case;
    format!("{name}: {batch} × {tokens} × {d_model}")
}

/// Whose growth was measured, in the order of their first points.
pub fn growers(run: &Run) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for point in &run.growth {
        if !names.contains(&point.who) {
            names.push(point.who.clone());
        }
    }
    names
}

/// The powers of n by which someone's time and memory grow, fitted to the long inputs.
pub fn slopes(run: &Run, who: &str) -> [Option<f64>; 2] {
    let long = || run.growth.iter().filter(|p| p.who == who && p.tokens >= LONG);
    let times: Vec<_> = long().map(|p| (p.tokens as f64, p.median_ms)).collect();
    let bytes = |p: &Point| p.peak_bytes.filter(|&bytes| bytes > 0);
    let sizes: Vec<_> =
        long().filter_map(|p| Some((p.tokens as f64, bytes(p)? as f64))).collect();
    [slope(&times), slope(&sizes)]
}

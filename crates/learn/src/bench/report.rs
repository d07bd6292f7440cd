//! What a run found, as it is kept in a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::case::{Case, Pass};

/// A run: where it ran, and what was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub machine: Machine,
    pub cases: Vec<CaseReport>,
    pub growth: Vec<Point>,
}

/// Where times were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    /// The vector instructions that ours were told to use.
    pub simd: String,
    pub threads: usize,
    pub fma_peak_gflops: f64,
    pub bandwidth_gb_s: f64,
    pub versions: BTreeMap<String, String>,
}

/// One size, and everyone's rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    pub name: String,
    pub batch: usize,
    pub tokens: usize,
    pub d_model: usize,
    pub heads: usize,
    pub causal: bool,
    pub rows: Vec<Row>,
}

/// One implementation that gave the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub who: String,
    /// `ours` or `peer`.
    pub side: String,
    /// `forward` or `forward + backward`.
    pub pass: String,
    pub difference: f64,
    pub min_ms: f64,
    pub median_ms: f64,
    /// From the median.
    pub gflops: f64,
    /// Of the FMA peak in the same rounds.
    pub share_of_peak: f64,
    /// Median against median; below 1, the row is faster.
    pub ratio_to_best_peer: Option<f64>,
    /// Beyond input, parameters and results.
    pub peak_bytes: Option<u64>,
}

/// One length at which time and memory were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub who: String,
    pub side: String,
    pub tokens: usize,
    pub median_ms: f64,
    pub peak_bytes: Option<u64>,
}

impl Run {
    /// Writes it, over what was there.
    ///
    /// # Errors
    /// A place that cannot be written to.
    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(file, text)
            .with_context(|| format!("{} could not be written", file.display()))
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// No such file, or not a run.
    pub fn open(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("{} could not be read", file.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} holds no run", file.display()))
    }

    /// This run, with what an earlier one on the same machine found and this one did not
    /// look at.
    pub fn over(mut self, earlier: Run) -> Self {
        if !self.machine.is_like(&earlier.machine) {
            return self;
        }
        for case in earlier.cases {
            if self.cases.iter().all(|mine| mine.name != case.name) {
                self.cases.push(case);
            }
        }
        if self.growth.is_empty() {
            self.growth = earlier.growth;
        }
        for (name, version) in earlier.machine.versions {
            self.machine.versions.entry(name).or_insert(version);
        }
        self
    }
}

impl Machine {
    /// Whether times of the two may stand side by side.
    fn is_like(&self, other: &Machine) -> bool {
        let all = |machine: &Machine| {
            (machine.processor.clone(), machine.simd.clone(), machine.threads)
        };
        let same_version =
            |(name, version)| self.versions.get(name).is_none_or(|mine| mine == version);
        all(self) == all(other) && other.versions.iter().all(same_version)
    }
}

impl CaseReport {
    pub fn new(case: &Case, rows: Vec<Row>) -> Self {
        let Case { name, batch, tokens, d_model, heads, causal } = *case;
        Self { name: name.into(), batch, tokens, d_model, heads, causal, rows }
    }
}

/// Sets every row's ratio to the fastest peer of its pass.
pub fn compare(rows: &mut [Row]) {
    for pass in [Pass::Forward, Pass::ForwardBackward] {
        let of_pass = |row: &&Row| row.pass == pass.name();
        let peers = rows.iter().filter(of_pass).filter(|row| row.side == "peer");
        let best = peers.map(|row| row.median_ms).min_by(f64::total_cmp);
        for row in rows.iter_mut().filter(|row| row.pass == pass.name()) {
            row.ratio_to_best_peer = best.map(|best| row.median_ms / best);
        }
    }
}

//! What a run found, as it is kept in a file.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::{CASES, Case, Pass};

/// A run: where it ran, and what was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Where it ran.
    pub machine: Machine,
    /// The cases, each with everyone's rows.
    pub cases: Vec<CaseReport>,
    /// Time and memory against the number of tokens.
    pub growth: Vec<Point>,
}

/// Where times were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name, as the system says it.
    pub processor: String,
    /// The vector instructions that ours were told to use.
    pub simd: String,
    /// How many threads everyone had.
    pub threads: usize,
    /// The FMA peak, in GFLOP/s: the best of all that were measured in the run, before it and
    /// between passes. Every share of the peak is a share of this.
    pub fma_peak_gflops: f64,
    /// The clock of one core in GHz, where it could be measured.
    #[serde(default)]
    pub clock_ghz: Option<f64>,
    /// How fast memory is read.
    pub bandwidth_gb_s: f64,
    /// Of the compiler and the peers.
    pub versions: BTreeMap<String, String>,
}

/// One size, and everyone's rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// Its name, as `--case` takes it.
    pub name: String,
    /// The number of sequences.
    pub batch: usize,
    /// The number of tokens of each.
    pub tokens: usize,
    /// The width of a token.
    pub d_model: usize,
    /// The number of heads.
    pub heads: usize,
    /// Whether a causal mask is on.
    pub causal: bool,
    /// The implementations that gave the right answer.
    pub rows: Vec<Row>,
}

/// One implementation that gave the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The implementation, as in `packed` or `PyTorch sdpa`.
    pub who: String,
    /// `ours` or `peer`.
    pub side: String,
    /// A [`Pass`]'s name.
    pub pass: String,
    /// How far it is from f64.
    pub difference: f64,
    /// The fastest round that counts.
    pub min_ms: f64,
    /// The round in the middle.
    pub median_ms: f64,
    /// From the median.
    pub gflops: f64,
    /// How many times as fast as the fastest peer of its pass, by the medians; above 1, the
    /// row is faster.
    pub speed_relative_to_best_peer: Option<f64>,
    /// Beyond input, parameters and results.
    pub peak_bytes: Option<u64>,
}

/// One length at which time and memory were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The implementation, as in `packed` or `PyTorch sdpa`.
    pub who: String,
    /// `ours` or `peer`.
    pub side: String,
    /// The number of tokens.
    pub tokens: usize,
    /// The round in the middle.
    pub median_ms: f64,
    /// Beyond input, parameters and results.
    pub peak_bytes: Option<u64>,
}

impl Run {
    /// As text for a file.
    ///
    /// # Errors
    /// A number that JSON cannot hold.
    pub fn to_text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads what [`Run::to_text`] wrote, its cases in the order of [`CASES`] and not in
    /// that in which they were measured.
    ///
    /// # Errors
    /// Text that is not a run.
    pub fn parse(text: &str) -> Result<Self> {
        let mut run: Self =
            serde_json::from_str(text).context("not a run of the benchmark")?;
        let place = |name: &str| CASES.iter().position(|case| case.name == name);
        run.cases.sort_by_key(|case| place(&case.name).unwrap_or(CASES.len()));
        Ok(run)
    }

    /// The case of this name.
    pub fn case(&self, name: &str) -> Option<&CaseReport> {
        self.cases.iter().find(|case| case.name == name)
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
        let peak = &mut self.machine.fma_peak_gflops;
        *peak = peak.max(earlier.machine.fma_peak_gflops);
        for (name, version) in earlier.machine.versions {
            self.machine.versions.entry(name).or_insert(version);
        }
        self
    }
}

impl Row {
    /// The share of the machine's FMA peak, from 0 to 1.
    pub fn share_of_peak(&self, machine: &Machine) -> f64 {
        self.gflops / machine.fma_peak_gflops
    }
}

impl Machine {
    /// How many multiply-adds of one number each a core does in a cycle at the peak: the
    /// width of its vectors times how many it starts.
    pub fn multiply_adds_a_cycle(&self) -> Option<f64> {
        let a_thread = self.fma_peak_gflops / 2.0 / self.threads as f64;
        Some(a_thread / self.clock_ghz?)
    }

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

impl fmt::Display for CaseReport {
    /// In short: `4k: 1 × 4096 × 512`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, batch, tokens, d_model, .. } = self;
        write!(f, "{name}: {batch} × {tokens} × {d_model}")
    }
}

impl CaseReport {
    /// What was found of a case.
    pub fn new(case: &Case, rows: Vec<Row>) -> Self {
        let Case { name, batch, tokens, d_model, heads, causal } = *case;
        Self { name: name.into(), batch, tokens, d_model, heads, causal, rows }
    }
}

/// Sets every row's speed relative to the fastest peer of its pass.
pub fn compare(rows: &mut [Row]) {
    for pass in Pass::ALL {
        let of_pass = |row: &&Row| row.pass == pass.name();
        let peers = rows.iter().filter(of_pass).filter(|row| row.side == "peer");
        let best = peers.map(|row| row.median_ms).min_by(f64::total_cmp);
        for row in rows.iter_mut().filter(|row| row.pass == pass.name()) {
            row.speed_relative_to_best_peer = best.map(|best| best / row.median_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(who: &str, side: &str, pass: Pass, median_ms: f64) -> Row {
        Row {
            who: who.into(),
            side: side.into(),
            pass: pass.name().into(),
            difference: 1e-6,
            min_ms: median_ms,
            median_ms,
            gflops: 1.0,
            speed_relative_to_best_peer: None,
            peak_bytes: None,
        }
    }

    fn run(threads: usize, cases: &[&str], versions: &[(&str, &str)]) -> Run {
        let case = |name: &&str| {
            let rows = vec![row("plain", "ours", Pass::Forward, threads as f64)];
            let case = Case::new("", [1, 2, 4, 2], false);
            CaseReport { name: name.to_string(), ..CaseReport::new(&case, rows) }
        };
        let text =
            |(name, version): &(&str, &str)| (name.to_string(), version.to_string());
        let machine = Machine {
            processor: "Abacus".into(),
            simd: "scalar".into(),
            threads,
            fma_peak_gflops: 1.0,
            clock_ghz: None,
            bandwidth_gb_s: 1.0,
            versions: versions.iter().map(text).collect(),
        };
        Run { machine, cases: cases.iter().map(case).collect(), growth: vec![] }
    }

    fn names(run: &Run) -> Vec<&str> {
        run.cases.iter().map(|case| &case.name[..]).collect()
    }

    #[test]
    fn every_row_is_held_against_the_fastest_peer_of_its_pass() {
        let (there, back) = (Pass::Forward, Pass::ForwardBackward);
        let mut rows = [
            row("packed", "ours", there, 1.0),
            row("sdpa", "peer", there, 4.0),
            row("textbook", "peer", there, 8.0),
            row("packed", "ours", back, 3.0),
        ];
        compare(&mut rows);
        let speeds = rows.map(|row| row.speed_relative_to_best_peer);
        assert_eq!(speeds, [Some(4.0), Some(1.0), Some(0.5), None]);
    }

    #[test]
    fn what_was_found_before_stays_if_it_may_stand_beside() {
        let new = || run(2, &["003"], &[("PyTorch", "2.15.0")]);
        let old = run(2, &["4k", "003"], &[("PyTorch", "2.15.0"), ("burn", "0.21.0")]);
        let both = new().over(old);
        assert_eq!(names(&both), ["003", "4k"]);
        assert_eq!(both.machine.versions.len(), 2);

        for other in [run(1, &["4k"], &[]), run(2, &["4k"], &[("PyTorch", "2.14.0")])] {
            assert_eq!(new().over(other), new());
        }
    }

    #[test]
    fn a_run_is_read_as_it_was_written_and_rubbish_is_refused() {
        let found = run(2, &["003"], &[("rustc", "1.91.0")]);
        assert_eq!(Run::parse(&found.to_text().unwrap()).unwrap(), found);
        let refused = Run::parse("{}").unwrap_err().to_string();
        assert_eq!(refused, "not a run of the benchmark");
    }

    #[test]
    fn the_reference_run_has_every_case() {
        let run = crate::reference().unwrap();
        for case in crate::CASES {
            assert!(run.case(case.name).is_some(), "{}", case.name);
        }
    }
}

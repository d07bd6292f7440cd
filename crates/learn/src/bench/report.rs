//! What a run found, as it is kept in a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::case::{Case, Pass};
use crate::whole;

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
    /// The best FMA peak of the run, in GFLOP/s.
    pub fma_peak_gflops: f64,
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
    /// Whoever gave the right answer.
    pub rows: Vec<Row>,
}

/// One implementation that gave the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The implementation, as in `packed` or `PyTorch sdpa`.
    pub who: String,
    /// `ours` or `peer`.
    pub side: String,
    /// `forward` or `forward + backward`.
    pub pass: String,
    /// How far it is from f64.
    pub difference: f64,
    /// The fastest round that counts.
    pub min_ms: f64,
    /// The round in the middle.
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
    /// Writes it, over what was there, which is whole until this is.
    ///
    /// # Errors
    /// A place that cannot be written to.
    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        whole::write(file, text.as_bytes())
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
    pub(super) fn new(case: &Case, rows: Vec<Row>) -> Self {
        let Case { name, batch, tokens, d_model, heads, causal } = *case;
        Self { name: name.into(), batch, tokens, d_model, heads, causal, rows }
    }
}

/// Sets every row's ratio to the fastest peer of its pass.
pub(super) fn compare(rows: &mut [Row]) {
    for pass in [Pass::Forward, Pass::ForwardBackward] {
        let of_pass = |row: &&Row| row.pass == pass.name();
        let peers = rows.iter().filter(of_pass).filter(|row| row.side == "peer");
        let best = peers.map(|row| row.median_ms).min_by(f64::total_cmp);
        for row in rows.iter_mut().filter(|row| row.pass == pass.name()) {
            row.ratio_to_best_peer = best.map(|best| row.median_ms / best);
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
            share_of_peak: 0.5,
            ratio_to_best_peer: None,
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
        let ratios = rows.map(|row| row.ratio_to_best_peer);
        assert_eq!(ratios, [Some(0.25), Some(1.0), Some(2.0), None]);
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
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.json");
        let found = run(2, &["003"], &[("rustc", "1.91.0")]);
        found.save(&file).unwrap();
        assert_eq!(Run::open(&file).unwrap(), found);
        // Whoever has it open reads it to its end.
        let mut open = fs::File::open(&file).unwrap();
        run(1, &["4k"], &[]).save(&file).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut open, &mut text).unwrap();
        assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), found);
        fs::write(&file, "{}").unwrap();
        let refused = Run::open(&file).unwrap_err().to_string();
        assert!(refused.ends_with("run.json holds no run"), "{refused}");
        let nowhere = found.save(&folder.path().join("no/run.json")).unwrap_err();
        assert!(nowhere.to_string().ends_with("could not be written"), "{nowhere}");
    }
}

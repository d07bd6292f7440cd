//! A step of training the crate `gpt`'s models: the loss and all gradients, on each rung, beside
//! PyTorch with its own autograd.
//!
//! All have the same parameters and names. Who gives other numbers has no row.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use attention::{Matrix, Rng, SeedableRng, max_abs_diff, median};
use gpt::{Architecture, Gradients, NAMES, RUNGS, Rung, scalars};
use runs::{Case, Pass};
use serde_json::json;
use tensors::{Existing, NewTensor, save};
use tiles::Instructions;
use workshop::output::print;
use workshop::{progress, whole};

use super::ours::{AT_LEAST_MS, mean_ms};
use super::results::{Results, expect_near};
use super::rounds::{self, Runner};
use super::side::{Job, Program, Side};
use super::{Beside, expect_optimised, peers};

/// Models by name: their sizes, and the names of a step.
const MODELS: [(&str, Architecture, usize); 2] =
    [("small", Architecture::SMALL, 8), ("larger", Architecture::LARGER, 32)];

/// How far a loss or a gradient may be from that in f64: what f32 brings.
const TOLERANCE: f64 = 1e-5;

/// Which rounds, and where what was found goes.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[command(flatten)]
    beside: Beside,

    /// Where to write the medians
    #[arg(long, value_name = "F")]
    json: Option<PathBuf>,
}

/// Checks, times and prints; beside PyTorch, if a Python is given or to be found.
///
/// # Errors
/// A file that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let n_rounds = args.beside.rounds()?;
    expect_optimised()?;
    let peer = args.beside.peer(&peers::PYTORCH, "gpt.py")?;
    let mut lines = Vec::new();
    for (name, sizes, n_names) in MODELS {
        let step = Step::new(sizes, n_names);
        let bar = progress::spinner(format!("{name}: who gives the same numbers"));
        let (who, mut remarks) = right(&step, peer.as_ref())?;
        bar.finish_and_clear();
        let (names, mut who): (Vec<_>, Vec<_>) =
            who.into_iter().map(|(name, delta, who)| ((name, delta), who)).unzip();
        let peak = || runs::machine::fma_peak(1, Instructions::best());
        let ms = rounds::run(&mut who, n_rounds, peak, |_| ()).ms;
        let mut rows = Vec::new();
        for ((name, delta), ms) in names.into_iter().zip(ms) {
            match ms {
                Ok(ms) => rows.push((name, delta, median(ms))),
                Err(why) => remarks.push(format!("{name} is left out: {why}")),
            }
        }
        lines.extend(rows.iter().map(|(rung, _, ms)| {
            json!({ "model": name, "rung": rung, "ms": (ms * 1e4).round() / 1e4 })
                .to_string()
        }));
        let Architecture { d_model, n_blocks, .. } = sizes;
        let s = if n_blocks == 1 { "" } else { "s" };
        let title = format!(
            "{name}: {d_model} wide, {n_blocks} block{s}, {n_names} names a step, one thread"
        );
        print(grid(&title, &rows, &remarks))?;
    }
    if let Some(file) = &args.json {
        whole::write(file, format!("[\n{}\n]\n", lines.join(",\n")).as_bytes())
            .with_context(|| format!("{} could not be written", file.display()))?;
    }
    Ok(print(LEGEND)?)
}

/// Parameters, and the names whose loss is computed.
struct Step {
    sizes: Architecture,
    parameters: Vec<f64>,
    names: Vec<Vec<usize>>,
}

impl Step {
    /// Random parameters, and names from all over the list.
    fn new(sizes: Architecture, n_names: usize) -> Self {
        let parameters = sizes.parameters(&mut Rng::seed_from_u64(1));
        let every = NAMES.lines().count() / n_names;
        let names = NAMES.lines().step_by(every).take(n_names).map(scalars::ids);
        Self { sizes, parameters, names: names.collect() }
    }

    fn gradients(&self, rung: Rung) -> Result<Gradients> {
        Ok(rung.gradients(self.sizes, &self.parameters, &self.names)?)
    }

    /// The loss and the gradients, in a row.
    fn numbers(&self, rung: Rung) -> Result<Matrix> {
        let (loss, gradients) = self.gradients(rung)?;
        let row = [vec![loss], gradients].concat();
        Ok(Matrix::from_row_slice(1, row.len(), &row))
    }

    /// For a peer: names filled up to one length, and what comes after each letter.
    fn save(&self, file: &Path) -> Result<()> {
        let length = self.names.iter().map(Vec::len).max().unwrap_or(1) - 1;
        let filled = |first: usize, fill: f32| {
            Matrix::from_fn(self.names.len(), length, |name, t| {
                let is_letter = t + 1 < self.names[name].len();
                if is_letter { self.names[name][first + t] as f32 } else { fill }
            })
        };
        let Architecture { d_model, n_blocks, n_positions, .. } = self.sizes;
        let sizes = [d_model, n_blocks, n_positions].map(|size| size as f32);
        let parameters = self.parameters.iter().map(|&x| x as f32);
        let all = [
            ("sizes", Matrix::from_row_slice(1, 3, &sizes)),
            ("parameters", Matrix::from_iterator(1, self.parameters.len(), parameters)),
            ("ids", filled(0, 0.0)),
            ("targets", filled(1, -100.0)),
        ];
        let tensor = |(name, matrix): &(&'static str, Matrix<f32>)| {
            NewTensor::new(*name, &[matrix.nrows(), matrix.ncols()], [matrix])
        };
        let tensors: Vec<_> = all.iter().map(tensor).collect::<Result<_, _>>()?;
        Ok(save(file, &tensors, Existing::Replace)?)
    }
}

/// Someone who gave the right numbers, and how far from f64.
type Right<'a> = (String, f64, Who<'a>);

/// The rungs and the peer that are right, and remarks on the others.
fn right<'a>(
    step: &'a Step,
    peer: Option<&Program>,
) -> Result<(Vec<Right<'a>>, Vec<String>)> {
    let (mut right, mut remarks) = (Vec::new(), Vec::new());
    let expected = step.numbers(Rung::BATCH)?;
    let mut compare = |name: &str, found: &Matrix, who| match difference(found, &expected)
    {
        Ok(delta) => right.push((name.to_owned(), delta, who)),
        Err(why) => remarks.push(format!("{name} is left out: {why:#}")),
    };
    let is_small = step.sizes == Architecture::SMALL;
    for rung in RUNGS.into_iter().filter(|rung| is_small || !rung.is_small) {
        compare(rung.name, &step.numbers(rung)?, Who::Rung(step, rung));
    }
    if let Some(program) = peer {
        let (side, found) = answer_of(program, step)?;
        compare(program.name, &found, Who::Peer(Box::new(side)));
    }
    Ok((right, remarks))
}

fn difference(found: &Matrix, expected: &Matrix) -> Result<f64> {
    expect_near(max_abs_diff(found, expected)?, TOLERANCE)
}

/// A peer at work, and its loss and gradients in a row.
fn answer_of(program: &Program, step: &Step) -> Result<(Side, Matrix)> {
    let folder = tempfile::tempdir().context("no folder for temporary files")?;
    let (file, results) = (folder.path().join("step"), folder.path().join("results"));
    step.save(&file)?;
    let Architecture { d_model, n_heads, n_positions, .. } = step.sizes;
    let case = Case::new("", [step.names.len(), n_positions, d_model, n_heads], true);
    let instructions = Instructions::best().name();
    let job = Job { file: &file, case, threads: 1, instructions };
    let mut side = Side::start(program, &job)?;
    side.check(program.name, Pass::Forward, &results)?;
    Ok((side, Results::open(&results, false)?.out().clone()))
}

enum Who<'a> {
    Rung(&'a Step, Rung),
    Peer(Box<Side>),
}

impl Runner for Who<'_> {
    fn time(&mut self) -> Result<f64> {
        match self {
            Self::Rung(step, rung) => {
                mean_ms(AT_LEAST_MS, || step.gradients(*rung).map(drop))
            }
            Self::Peer(side) => side.time(peers::PYTORCH.name, Pass::Forward),
        }
    }
}

/// Names, differences and medians, the slowest first.
fn grid(title: &str, rows: &[(String, f64, f64)], remarks: &[String]) -> String {
    let mut text = format!("\n{title}\n");
    text += &format!(
        "  {:10}{:>9}{:>10}{:>9}{:>8}{:>8}\n",
        "", "median ms", "× before", "× first", "× peer", "|Δ|"
    );
    let peer = rows.iter().find(|(name, ..)| name == peers::PYTORCH.name);
    for (i, (name, delta, ms)) in rows.iter().enumerate() {
        let [before, first] = [i.saturating_sub(1), 0].map(|i| rows[i].2 / ms);
        let beside =
            peer.map_or("–".into(), |(_, _, peer)| format!("{:.2}", peer / ms));
        text += &format!(
            "  {name:10}{ms:>9.3}{before:>10.2}{first:>9.1}{beside:>8}{delta:>8.0e}\n"
        );
    }
    for remark in remarks {
        text += &format!("  {remark}\n");
    }
    text
}

const LEGEND: &str = "
× before, × first, × peer: how many times as fast as the row above, the first row and
  PyTorch, by the medians.
|Δ|: how far the loss and the gradients are from those in f64, at most 1e-5.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_is_right_and_timed() {
        for (name, sizes, _) in MODELS {
            let step = Step::new(sizes, 2);
            let (mut who, remarks) = right(&step, None).unwrap();
            assert_eq!(who.len(), if name == "small" { 6 } else { 3 }, "{remarks:?}");
            assert!(who.iter_mut().all(|(_, _, who)| who.time().unwrap() > 0.0));
        }
    }

    #[test]
    fn who_is_wrong_by_too_much_or_gives_no_number_is_not_timed() {
        let expected = Step::new(Architecture::SMALL, 2).numbers(Rung::BATCH).unwrap();
        let planted = |by: f64| {
            let mut found = expected.clone();
            found[(0, 7)] += by;
            difference(&found, &expected).map_err(|why| why.to_string())
        };
        assert!(planted(1e-6).unwrap() > 0.0);
        insta::assert_snapshot!(planted(1.0).unwrap_err(), @"wrong by 1.0e0, and 1e-5 is allowed");
        insta::assert_snapshot!(planted(f64::NAN).unwrap_err(), @"wrong by NaN, and 1e-5 is allowed");
    }

    #[test]
    fn a_table_of_rungs_and_of_a_peer() {
        let row = |name: &str, delta, ms| (name.to_owned(), delta, ms);
        let rows = [
            row("scalars", 0.0, 4.4),
            row("tiles", 3e-7, 0.22),
            row("PyTorch", 2e-7, 2.2),
        ];
        let remarks = ["loops is left out: wrong by 1.0e0".to_owned()];
        insta::assert_snapshot!(grid("small", &rows, &remarks));
    }
}

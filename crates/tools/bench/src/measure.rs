//! One case: everyone is checked, then timed in turn, then asked for its memory.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;

use anyhow::{Context, Result};
use attention::median;
use indicatif::ProgressBar;
use tiles::Instructions;

use super::layer::Layer;
use super::reference::{Reference, TOLERANCE};
use super::results::{Results, expect_near};
use super::rounds::{self, Rounds, Runner};
use super::side::{Job, Program, Side};
use super::table::bytes;
use runs::{Case, Pass};
use runs::{Row, compare};
use workshop::progress;

/// How cases are measured.
pub struct Plan<'a> {
    pub programs: &'a [Program],
    pub threads: usize,
    pub instructions: Instructions,
    pub n_rounds: usize,
    /// What n × n matrices may take, in bytes.
    pub memory: u64,
    pub takes_part: TakesPart<'a>,
}

/// Whether a variant of a program is wanted.
pub type TakesPart<'a> = &'a dyn Fn(&Program, &str) -> bool;

/// What was found of one pass of one case.
#[derive(Default)]
pub struct Measurement {
    pub rows: Vec<Row>,
    /// The FMA peak in the rounds that count, GFLOP/s.
    pub peak: f64,
    /// The best FMA peak between passes.
    pub best_peak: f64,
    /// Why someone has no row, and whatever else a reader of the rows must know.
    pub remarks: Vec<String>,
    pub versions: Vec<(String, String)>,
}

/// A variant that gave the right answer.
struct Checked {
    program: usize,
    side: Rc<RefCell<Side>>,
    variant: String,
    pass: Pass,
    difference: f64,
}

impl Runner for Checked {
    fn time(&mut self) -> Result<f64> {
        self.side.borrow_mut().time(&self.variant, self.pass)
    }
}

/// Measures one pass of one case.
///
/// # Errors
/// What keeps the case from being set up. An implementation that fails by itself gets a remark.
pub fn measure(case: &Case, pass: Pass, plan: &Plan<'_>) -> Result<Measurement> {
    let title = format!("{} {}", case.name, pass.name());
    let bar = progress::spinner(format!("{title}: the right answer, in f64"));
    let mut found =
        Measurement { best_peak: 0.0, peak: f64::NAN, ..Measurement::default() };
    let layer = Layer::random(*case)?;
    let reference = match Reference::new(&layer, pass) {
        Ok(reference) => reference,
        Err(why) => {
            found.remarks.push(format!("{why:#}"));
            return Ok(found);
        }
    };
    found.remarks.extend(reference.remark());
    let folder = tempfile::tempdir().context("no folder for temporary files")?;
    let file = folder.path().join("layer.safetensors");
    layer.save(&file)?;
    drop(layer);
    let job = Job {
        file: &file,
        case: *case,
        threads: plan.threads,
        instructions: plan.instructions.name(),
    };

    let mut checked = Vec::new();
    for (p, program) in plan.programs.iter().enumerate() {
        bar.set_message(format!("{title}: checking {}", program.name));
        match check(p, &job, pass, plan, &reference, &mut found) {
            Ok(variants) => checked.extend(variants),
            Err(why) => {
                found.remarks.push(format!("{} is left out: {why:#}", program.name))
            }
        }
    }
    bar.finish_and_clear();
    let rounds = timed(&title, &mut checked, plan);
    found.remarks.extend(thrown_away(rounds.n_thrown_away, rounds.n_kept));
    (found.peak, found.best_peak) = (rounds.peak, rounds.best_peak);
    let memory = {
        let bar = progress::spinner(format!("{title}: memory"));
        let memory = memory(&checked, &job, plan, &mut found.remarks);
        bar.finish_and_clear();
        memory
    };
    for ((checked, ms), peak_bytes) in checked.iter().zip(rounds.ms).zip(memory) {
        match ms {
            Ok(ms) => found.rows.push(row(case, checked, &ms, peak_bytes, plan)?),
            Err(why) => {
                found.remarks.push(format!("{} is left out: {why}", checked.variant))
            }
        }
    }
    compare(&mut found.rows);
    Ok(found)
}

fn thrown_away(n: usize, n_kept: usize) -> Option<String> {
    let all = n + n_kept;
    (n > 0).then(|| {
        format!(
            "{n} of {all} rounds thrown away, in which the FMA peak itself was lower by \
             more than 10 %."
        )
    })
}

/// The variants of one side that gave the right answer. An error leaves out the side.
fn check(
    program: usize,
    job: &Job<'_>,
    pass: Pass,
    plan: &Plan<'_>,
    reference: &Reference,
    found: &mut Measurement,
) -> Result<Vec<Checked>> {
    let of = &plan.programs[program];
    let mut side = Side::start(of, job)?;
    found.versions.extend(side.versions.clone());
    let mut right = Vec::new();
    for variant in side.variants.clone() {
        if !(plan.takes_part)(of, &variant) {
            continue;
        }
        let Some(needs) = side.needs(&variant, pass)? else { continue };
        if needs >= plan.memory {
            found.remarks.push(format!(
                "{variant} is left out: its n × n matrices take {} at once, and less than \
                 {} may be used (--memory).",
                bytes(needs),
                bytes(plan.memory)
            ));
            continue;
        }
        match difference(&mut side, &variant, pass, job, reference) {
            Ok(difference) => right.push((variant, difference)),
            Err(Unequal::Wrong(why)) => {
                found.remarks.push(format!("{variant} is left out: {why}"))
            }
            Err(Unequal::Broken(why)) => return Err(why.context(variant)),
        }
    }
    let side = Rc::new(RefCell::new(side));
    let checked = |(variant, difference)| Checked {
        program,
        side: Rc::clone(&side),
        variant,
        pass,
        difference,
    };
    Ok(right.into_iter().map(checked).collect())
}

/// Why a variant has no row: its answer is wrong, or its side does not answer.
enum Unequal {
    Wrong(String),
    Broken(anyhow::Error),
}

/// How far a variant's answer is from the reference, if it is near enough.
fn difference(
    side: &mut Side,
    variant: &str,
    pass: Pass,
    job: &Job<'_>,
    reference: &Reference,
) -> Result<f64, Unequal> {
    let file = job.file.with_file_name("results.safetensors");
    let wrong = |why: anyhow::Error| Unequal::Wrong(format!("{why:#}"));
    // What the one before wrote is not to be taken for this one's.
    let _ = fs::remove_file(&file);
    side.check(variant, pass, &file).map_err(Unequal::Broken)?;
    let results = Results::open(&file, pass == Pass::ForwardBackward).map_err(wrong)?;
    let difference = reference.difference(&results).map_err(wrong)?;
    expect_near(difference, TOLERANCE).map_err(wrong)
}

fn timed(title: &str, checked: &mut [Checked], plan: &Plan<'_>) -> Rounds {
    if checked.is_empty() {
        return Rounds::default();
    }
    let bar = progress::steps(plan.n_rounds);
    bar.set_message(format!("{title}: rounds"));
    let peak = || runs::machine::fma_peak(plan.threads, plan.instructions);
    let count = |bar: &ProgressBar, n_kept| bar.set_position(n_kept as u64);
    let rounds = rounds::run(checked, plan.n_rounds, peak, |n_kept| count(&bar, n_kept));
    bar.finish_and_clear();
    rounds
}

/// What each variant takes, asked of fresh processes, one a side.
fn memory(
    checked: &[Checked],
    job: &Job<'_>,
    plan: &Plan<'_>,
    remarks: &mut Vec<String>,
) -> Vec<Option<u64>> {
    let mut sides: Vec<Option<Side>> = plan.programs.iter().map(|_| None).collect();
    let mut ask = |checked: &Checked| -> Result<Option<u64>> {
        let side = &mut sides[checked.program];
        if side.is_none() {
            *side = Some(Side::start_for_memory(&plan.programs[checked.program], job)?);
        }
        let side = side.as_mut().context("just started")?;
        side.memory(&checked.variant, checked.pass)
    };
    let one = |checked: &Checked| {
        ask(checked).unwrap_or_else(|why| {
            remarks.push(format!("{}: no memory: {why:#}", checked.variant));
            None
        })
    };
    checked.iter().map(one).collect()
}

fn row(
    case: &Case,
    checked: &Checked,
    ms: &[f64],
    peak_bytes: Option<u64>,
    plan: &Plan<'_>,
) -> Result<Row> {
    let median_ms = median(ms.iter().copied());
    let gflops = case.flops(checked.pass)? / median_ms / 1e6;
    let is_peer = plan.programs[checked.program].is_peer;
    Ok(Row {
        who: checked.variant.clone(),
        side: if is_peer { "peer" } else { "ours" }.into(),
        pass: checked.pass.name().into(),
        difference: checked.difference,
        min_ms: ms.iter().copied().fold(f64::INFINITY, f64::min),
        median_ms,
        gflops,
        speed_relative_to_best_peer: None,
        peak_bytes,
    })
}

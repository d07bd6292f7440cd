//! “The ladder”: a softmax in blocks, from the compiled code, and what was
//! measured, from files.

mod growth;
pub mod measured;
pub mod online;
pub mod tiles;
pub mod traffic;
pub mod work;

use anyhow::{Context, Result};
use attention::Dims;
use figures::{
    Figure, Reached, Roof, Roofline, Timed, TimedCase, TimedRun, ladder_times, roofline,
};

use runs::{CaseReport, Pass, Run};

use crate::args::{Args, Entry};
use growth::Line;
use work::Work;

pub(crate) const FIGURES: &[Entry] = &[
    ("roofline", roof),
    ("ladder-forward", |args| ladder(args, Pass::Forward)),
    ("ladder-backward", |args| ladder(args, Pass::ForwardBackward)),
    ("growth", grown),
    ("few-bits", measured::few_bits),
    ("ladder-products", measured::bare_products),
    ("ladder-widths", measured::widths),
];

/// The case that the chapter follows.
pub const CASE: &str = "4k";

/// That case: 4,096 tokens, 512 wide, 8 heads.
///
/// # Errors
/// None; the heads divide the width.
pub fn work() -> Result<Work> {
    Ok(Work { dims: Dims::new(512, 8)?, batch: 1, tokens: 4096 })
}

/// The reference run, and the reader's own if there is one, each with its name.
fn named_runs(args: &Args) -> Result<Vec<(&'static str, Run)>> {
    let mut named = vec![("reference run", runs::reference()?)];
    named.extend(args.run().map(|run| ("your run", run.clone())));
    Ok(named)
}

/// What a caption says of where numbers are from.
fn measured_on(runs: &[(&str, Run)]) -> String {
    let one = |(name, run): &(&str, Run)| {
        let machine = &run.machine;
        format!(
            "{name}: {}, {} threads, {}",
            machine.processor, machine.threads, machine.simd
        )
    };
    let each: Vec<String> = runs.iter().map(one).collect();
    format!("({})", each.join("; "))
}

fn roof(args: &Args) -> Result<Figure> {
    let runs = named_runs(args)?;
    let mut reached = Vec::new();
    for (nth, (_, run)) in runs.iter().enumerate() {
        let Some(case) = run.case(CASE) else { continue };
        let flops_per_byte = Work::of(case)?.layer().intensity();
        let ours = case
            .rows
            .iter()
            .filter(|row| row.pass == Pass::Forward.name() && row.side == "ours");
        reached.extend(ours.map(|row| Reached {
            name: row.who.clone(),
            flops_per_byte,
            gflops: row.gflops,
            roof: nth,
        }));
    }
    let roofs: Vec<Roof> = runs
        .iter()
        .map(|(name, run)| Roof {
            name: (*name).to_owned(),
            peak_gflops: run.machine.fma_peak_gflops,
            bandwidth_gb_s: run.machine.bandwidth_gb_s,
        })
        .collect();
    let work =
        Work::of(runs[0].1.case(CASE).context("the reference run has no case 4k")?)?;
    let it = Roofline { roofs: &roofs, steps: &work.marks(), reached: &reached };
    let title = format!(
        "4,096 tokens, 512 wide, 8 heads: the layer could work at the flat part of the roof, \
         and the readable rungs are far below it {}",
        measured_on(&runs)
    );
    Ok(roofline(title, it)?)
}

fn ladder(args: &Args, pass: Pass) -> Result<Figure> {
    let runs = named_runs(args)?;
    let timed = |(name, run): &(&str, Run)| {
        let case = |case: &CaseReport| TimedCase {
            name: case.to_string(),
            rows: case
                .rows
                .iter()
                .filter(|row| row.pass == pass.name())
                .map(|row| Timed {
                    // A label has not more room.
                    who: row.who.replace("nn.MultiheadAttention", "module"),
                    is_ours: row.side == "ours",
                    milliseconds: row.median_ms,
                })
                .collect(),
        };
        let cases = run.cases.iter().map(case).filter(|case| !case.rows.is_empty());
        TimedRun { name: (*name).to_owned(), cases: cases.collect() }
    };
    let all: Vec<TimedRun> =
        runs.iter().map(timed).filter(|run| !run.cases.is_empty()).collect();
    let title = format!("The {} pass, medians {}", pass.name(), measured_on(&runs));
    Ok(ladder_times(title, &all)?)
}

fn grown(args: &Args) -> Result<Figure> {
    let runs = named_runs(args)?;
    let mut lines = Vec::new();
    for (nth, (name, run)) in runs.iter().enumerate() {
        for who in runs::growers(&run.growth) {
            let points = run.growth.iter().filter(|point| point.who == who).collect();
            let slopes = runs::slopes(&run.growth, who);
            let name = if nth == 0 { who.to_owned() } else { format!("{who}, {name}") };
            lines.push(Line { name, run: nth, points, slopes });
        }
    }
    let title = format!(
        "Time and peak memory against the number of tokens, 256 wide, 4 heads {}",
        measured_on(&runs)
    );
    Ok(growth::figure(title, &lines)?)
}

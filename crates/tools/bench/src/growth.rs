//! How time and memory grow with the number of tokens.

use std::iter;

use anyhow::{Result, ensure};
use runs::{Case, LONG, Pass, Point, Run, growers};
use workshop::output::print;

use crate::measure::{Measurement, Plan, measure};
use crate::side::Program;
use crate::{Common, Limits, expect_optimised, ours, peers, table, tell};

/// The first length; the next is twice as long.
const SHORTEST: usize = 256;

/// The longest that may be asked for: a pass over as many tokens takes a day.
const LONGEST: usize = 1 << 20;

/// How long it grows.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The longest, in tokens
    #[arg(value_name = "N", default_value_t = 32768)]
    longest: usize,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    common: Common,
}

/// The last rung and the first, and PyTorch with and without n × n matrices: checked, timed
/// and printed.
///
/// # Errors
/// An argument that does not fit, with what there is.
pub fn run(args: &Args) -> Result<()> {
    let Args { longest, limits, common } = args;
    ensure!(*longest >= SHORTEST, "N is {longest}, and must be at least {SHORTEST}");
    ensure!(*longest <= LONGEST, "N is {longest}, and must be at most {LONGEST}");
    let (settings, memory) = (common.settings()?, limits.memory()?);
    expect_optimised()?;
    let mut programs = common.beside.programs()?;
    programs.retain(|program| program.name != peers::RUST);
    let mut machine = settings.machine()?;
    print(table::machine(&machine))?;
    let last = ours::last_rung()?;
    let grows = |_: &Program, variant: &str| {
        [last, "plain", "PyTorch sdpa", "PyTorch textbook"].contains(&variant)
    };
    let plan = settings.plan(&programs, memory, &grows);
    let growth = measure_all(&plan, *longest, |case, found| {
        tell(&case.to_string(), found, &mut machine)
    })?;
    print(slopes(&growth))?;
    print(table::LEGEND)?;
    limits.keep(Run { machine, cases: Vec::new(), growth })
}

/// Measures every length up to the longest, and hands over what was found of each.
fn measure_all(
    plan: &Plan<'_>,
    longest: usize,
    mut tell: impl FnMut(&Case, &Measurement) -> Result<()>,
) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    let doubled = |&n: &usize| n.checked_mul(2);
    let lengths = iter::successors(Some(SHORTEST), doubled);
    for tokens in lengths.take_while(|&tokens| tokens <= longest) {
        let case = Case::new("growth", [1, tokens, 256, 4], false);
        let found = measure(&case, Pass::Forward, plan)?;
        tell(&case, &found)?;
        points.extend(found.rows.into_iter().map(|row| Point {
            who: row.who,
            side: row.side,
            tokens: case.tokens,
            median_ms: row.median_ms,
            peak_bytes: row.peak_bytes,
        }));
    }
    Ok(points)
}

/// The slopes of everyone's time and memory, from 2,048 tokens on.
fn slopes(points: &[Point]) -> String {
    let mut text = format!(
        "\nGrowth from {} tokens on, as n to the power of\n",
        attention::thousands(LONG)
    );
    let names = growers(points);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for name in names {
        let [times, sizes] = runs::slopes(points, name);
        let show = |slope: Option<f64>| {
            slope.map_or("–".into(), |slope| format!("{slope:.2}"))
        };
        text +=
            &format!("  {name:<width$}  time {}, memory {}\n", show(times), show(sizes));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(who: &str, tokens: usize, median_ms: f64, peak_bytes: Option<u64>) -> Point {
        Point { who: who.into(), side: "ours".into(), tokens, median_ms, peak_bytes }
    }

    #[test]
    fn slopes_leave_out_short_inputs_and_what_was_not_measured() {
        let points = [
            point("packed", 1024, 1000.0, Some(1)),
            point("packed", 2048, 1.0, Some(100)),
            point("packed", 4096, 4.0, Some(200)),
            point("textbook", 2048, 3.0, None),
        ];
        insta::assert_snapshot!(slopes(&points), @"

        Growth from 2,048 tokens on, as n to the power of
          packed    time 2.00, memory 1.00
          textbook  time –, memory –
        ");
    }
}

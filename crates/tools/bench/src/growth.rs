//! How time and memory grow with the number of tokens.

use std::iter;

use anyhow::Result;

use runs::{Case, LONG, Pass, Point, growers};

use super::measure::{Measurement, Plan, measure};

/// The first length; the next is twice as long.
pub const SHORTEST: usize = 256;

/// The longest that may be asked for: a pass over as many tokens takes a day.
pub const LONGEST: usize = 1 << 20;

/// Measures every length up to the longest, and hands over what was found of each.
pub fn measure_all(
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
pub fn slopes(points: &[Point]) -> String {
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

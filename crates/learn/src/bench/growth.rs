//! How time and memory grow with the number of tokens.

use std::iter;

use anyhow::Result;

use super::case::{Case, Pass};
use super::measure::{Found, Plan, measure};
use super::report::Point;

/// The first length; the next is twice as long.
pub const SHORTEST: usize = 256;

/// The longest that may be asked for: a pass over as many tokens takes a day.
pub const LONGEST: usize = 1 << 20;

/// Slopes are fitted from here on: before, other things than n² cost more.
pub const LONG: usize = 2048;

/// Measures every length up to the longest, and hands over what was found of each.
pub fn measure_all(
    plan: &Plan<'_>,
    longest: usize,
    mut tell: impl FnMut(&Case, &Found) -> Result<()>,
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
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.who.as_str()) {
            names.push(&point.who);
        }
    }
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for name in names {
        let long = points.iter().filter(|p| p.who == name && p.tokens >= LONG);
        let (mut times, mut sizes) = (Vec::new(), Vec::new());
        for Point { tokens, median_ms, peak_bytes, .. } in long {
            times.push((*tokens as f64, *median_ms));
            sizes.extend(
                peak_bytes
                    .filter(|&size| size > 0)
                    .map(|size| (*tokens as f64, size as f64)),
            );
        }
        let show = |slope: Option<f64>| {
            slope.map_or("–".into(), |slope| format!("{slope:.2}"))
        };
        text += &format!(
            "  {name:<width$}  time {}, memory {}\n",
            show(slope(&times)),
            show(slope(&sizes))
        );
    }
    text
}

/// The slope of the straight line through the logarithms, by least squares.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / n;
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (logs.len() > 1 && variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(who: &str, tokens: usize, median_ms: f64, peak_bytes: Option<u64>) -> Point {
        Point { who: who.into(), side: "ours".into(), tokens, median_ms, peak_bytes }
    }

    #[test]
    fn a_power_is_found_and_noise_averages_out() {
        let power = |p: f64| [2.0, 4.0, 8.0].map(|x: f64| (x, 3.0 * x.powf(p)));
        assert!((slope(&power(1.7)).unwrap() - 1.7).abs() < 1e-12);
        // Off by the same factor at both ends: the line stays as steep.
        let mut bent = power(2.0);
        bent[0].1 *= 1.5;
        bent[2].1 *= 1.5;
        assert!((slope(&bent).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(slope(&power(2.0)[..1]), None);
        assert_eq!(slope(&[]), None);
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

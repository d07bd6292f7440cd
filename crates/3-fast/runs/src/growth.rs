//! How time and memory grow with the number of tokens.

use crate::Point;

/// Slopes are fitted from here on: before, other things than n² cost more.
pub const LONG: usize = 2048;

/// Whose growth was measured, in the order of their first points.
pub fn growers(points: &[Point]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.who.as_str()) {
            names.push(&point.who);
        }
    }
    names
}

/// The powers of n by which someone's time and memory grow, fitted to the long inputs.
pub fn slopes(points: &[Point], who: &str) -> [Option<f64>; 2] {
    let long = || points.iter().filter(|p| p.who == who && p.tokens >= LONG);
    let times: Vec<_> = long().map(|p| (p.tokens as f64, p.median_ms)).collect();
    let bytes = |p: &Point| p.peak_bytes.filter(|&bytes| bytes > 0);
    let sizes: Vec<_> =
        long().filter_map(|p| Some((p.tokens as f64, bytes(p)? as f64))).collect();
    [slope(&times), slope(&sizes)]
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
}

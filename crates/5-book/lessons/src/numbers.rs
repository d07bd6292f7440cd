//! What lessons ask of lists of numbers.

use attention::{Matrix, median, thousands};
use figures::Lines;

pub use figures::share;

/// The mean; NaN of no number.
pub fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = numbers.into_iter().fold((0.0, 0.0), |(sum, n), x| (sum + x, n + 1.0));
    sum / n
}

/// How far a matrix is from what it should be, as a part of that one's size: of their norms.
pub fn apart(found: &Matrix, expected: &Matrix) -> f64 {
    (found - expected).norm() / expected.norm()
}

/// The least, the median and the greatest; NaN of no number.
pub fn ends(numbers: impl IntoIterator<Item = f64>) -> [f64; 3] {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted[..] {
        [] => [f64::NAN; 3],
        [least, .., most] => [least, median(sorted), most],
        [alone] => [alone; 3],
    }
}

/// The points of a line: numbers over 0, 1, 2, ….
pub fn along<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Vec<[f64; 2]> {
    numbers.into_iter().enumerate().map(|(at, &y)| [at as f64, y]).collect()
}

/// A panel of lines over what x is, in even steps.
pub fn lines_panel(
    title: impl Into<String>,
    x: &str,
    lines: Vec<(String, Vec<[f64; 2]>)>,
) -> Lines {
    Lines { title: title.into(), x: x.to_owned(), is_log: false, lines }
}

/// The part of the numbers that reach `least`.
pub fn reaching(numbers: &[f64], least: f64) -> f64 {
    mean(numbers.iter().map(|&number| f64::from(number >= least)))
}

/// The entropy of shares that sum to 1, in bits.
pub fn entropy(shares: impl IntoIterator<Item = f64>) -> f64 {
    let bits = |a: f64| if a == 0.0 { 0.0 } else { -a * a.log2() };
    shares.into_iter().map(bits).sum()
}

/// At most so many decimals, no 0 at their end, and the minus sign of a formula.
pub fn written(number: f64, decimals: i32) -> String {
    let unit = 10f64.powi(decimals);
    // Adding 0 takes the sign from a zero.
    ((number * unit).round() / unit + 0.0).to_string().replace('-', "−")
}

/// To whole numbers.
pub fn whole(number: f64) -> String {
    written(number, 0)
}

/// A part of 1: `95.5 %`.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// Bytes, to the nearest thousand: `4,194 kB`.
pub fn kilobytes(bytes: usize) -> String {
    format!("{} kB", thousands((bytes as u64 + 500) / 1000))
}

/// A number of any size, shortly: `1.125`, `4e-16`, `0`.
pub fn brief(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e4).contains(&size) => ((number * 1e3).round() / 1e3).to_string(),
        _ => format!("{number:.0e}"),
    }
}

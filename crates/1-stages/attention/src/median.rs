//! The middle of a list of numbers.

/// The number in the middle; of an even number of them, the mean of the two; NaN of none.
///
/// ```
/// use attention::median;
///
/// assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
/// assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
/// assert!(median([]).is_nan());
/// ```
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

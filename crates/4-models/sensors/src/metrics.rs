//! How far off a prediction is.

/// The root of the mean squared error.
///
/// # Shapes
/// As many predictions as targets; pairs are compared as long as both last.
pub fn rmse(predicted: &[f64], targets: &[f64]) -> f64 {
    let squares = errors(predicted, targets).map(|error| error * error);
    (squares.sum::<f64>() / predicted.len().min(targets.len()).max(1) as f64).sqrt()
}

/// NASA's score, the sum of `exp(−d / 13) − 1` where the prediction is d too early (d < 0)
/// and `exp(d / 10) − 1` where it is too late: who trusts a late one flies too long.
///
/// # Source
/// Saxena, Goebel, Simon and Eklund 2008, equation 8.
///
/// ```
/// use sensors::nasa_score;
///
/// let (early, late) = (nasa_score(&[80.0], &[100.0]), nasa_score(&[120.0], &[100.0]));
/// assert!(early < late);
/// assert_eq!(late, 2f64.exp() - 1.0);
/// ```
pub fn nasa_score(predicted: &[f64], targets: &[f64]) -> f64 {
    let cost = |d: f64| if d < 0.0 { (-d / 13.0).exp() } else { (d / 10.0).exp() };
    errors(predicted, targets).map(|d| cost(d) - 1.0).sum()
}

fn errors(predicted: &[f64], targets: &[f64]) -> impl Iterator<Item = f64> {
    predicted.iter().zip(targets).map(|(predicted, target)| predicted - target)
}

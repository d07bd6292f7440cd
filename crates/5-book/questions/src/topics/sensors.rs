//! Sensors.

use super::*;

pub fn windows_of_an_engine(n: &Facts) -> Result<Facts> {
    let [rows, steps] = n.wholes(["rows", "steps"])?;
    let cycles: Vec<usize> = (0..rows).collect();
    let all: Vec<&[usize]> = cycles.windows(steps).collect();
    let told = |window: &[usize]| format!("{} to {}", window[0], window[steps - 1]);
    Ok(facts![
        first = told(all[0]),
        second = told(all[1]),
        last = told(all[all.len() - 1]),
        all = all.len(),
    ])
}

/// The mean of some readings, and the sum of the squares of how far each is from it.
fn mean_and_squares(readings: &[f64]) -> (f64, f64) {
    let mean = readings.iter().sum::<f64>() / readings.len() as f64;
    (mean, readings.iter().map(|x| (x - mean).powi(2)).sum())
}

pub fn on_the_trainings_scale(n: &Facts) -> Result<Facts> {
    let ([a, b, c], [test]) = (n.row("train")?, n.decimals(["test"])?);
    let (mean, squares) = mean_and_squares(&[a, b, c]);
    let (mean_of_all, squares_of_all) = mean_and_squares(&[a, b, c, test]);
    let spread = (squares / 3.0).sqrt();
    Ok(facts![
        mean,
        spread,
        scaled = (test - mean) / spread,
        by_n_less_1 = (test - mean) / (squares / 2.0).sqrt(),
        with_test = (test - mean_of_all) / (squares_of_all / 4.0).sqrt(),
    ])
}

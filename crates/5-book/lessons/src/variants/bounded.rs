//! Scores that are kept within bounds: by a cap, before the mask or after it.

use anyhow::Result;
use attention::{Mask, Matrix, softmax_rows};
use figures::{Figure, lines};
use variants::SoftCap;

use crate::args::Args;
use crate::numbers::lines_panel;

/// Scores of one query; its mask blocks the last key.
pub const SCORES: [f64; 3] = [2.0, 1.0, 4.0];

/// The attention weights under a cap that comes before the mask, and under one that comes after it.
///
/// # Errors
/// A cap that is not above 0.
pub fn capped(cap: f64) -> Result<[Matrix; 2]> {
    let cap = SoftCap::new(cap)?;
    let scores = Matrix::from_row_slice(1, SCORES.len(), &SCORES);
    let mask = Mask::FirstKeys(SCORES.len() - 1);
    let before = mask.apply(cap.apply(scores.clone()));
    let after = cap.apply(mask.apply(scores));
    Ok([before, after].map(softmax_rows))
}

/// What caps make of scores.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let scores: Vec<f64> = (-60..=60).map(f64::from).collect();
    let line = |cap: f64| -> Result<(String, Vec<[f64; 2]>)> {
        let capped =
            SoftCap::new(cap)?.apply(Matrix::from_row_slice(1, scores.len(), &scores));
        let points = scores.iter().zip(capped.iter());
        Ok((format!("c = {cap}"), points.map(|(&x, &y)| [x, y]).collect()))
    };
    let plain = ("no cap".to_owned(), scores.iter().map(|&x| [x, x]).collect());
    let all = vec![plain, line(50.0)?, line(5.0)?];
    let title = "A soft cap leaves small scores, and bounds large ones";
    Ok(lines(title, &[lines_panel("score with a cap", "score", all)])?)
}

//! What “Variants” quotes: each change counted, measured, or trained.

mod changed;
mod count;
mod places;
mod shared;
mod stretched;

use lessons::numbers::ends;

/// `57.1 %`.
fn share(score: f64) -> String {
    format!("{:.1} %", 100.0 * score)
}

/// The median in percent, and between what the seeds lie: `88 (83–95)`.
fn ranged(scores: &[f64]) -> String {
    let [least, median, most] =
        ends(scores.iter().copied()).map(|score| (100.0 * score).round());
    if least == most {
        median.to_string()
    } else {
        format!("{median} ({least}–{most})")
    }
}

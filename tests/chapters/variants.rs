//! What “Variants” quotes: each change counted, measured, or trained.

mod changed;
mod count;
mod places;
mod shared;

/// `57.1 %`.
fn share(score: f64) -> String {
    format!("{:.1} %", 100.0 * score)
}

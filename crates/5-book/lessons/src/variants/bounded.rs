//! Scores that are kept within bounds: by a cap, before the mask or after it, and by a norm.

use anyhow::Result;
use attention::{Mask, View};
use attention::{Matrix, Rng, SeedableRng, random_matrix, softmax_rows};
use variants::{Changes, Groups, Positions, QkNorm, SoftCap, attend};

/// Scores of one query; its mask blocks the last key.
pub const SCORES: [f64; 3] = [2.0, 1.0, 4.0];

/// The shares under a cap that comes before the mask, and under one that comes after it.
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

/// The largest size of a score of queries and keys whose entries have this spread, heads
/// being 64 wide: as it is, and with a norm of queries and keys.
///
/// # Errors
/// None; the sizes fit.
pub fn largest(spread: f64) -> Result<[f64; 2]> {
    let rng = &mut Rng::seed_from_u64(1);
    let [q, k] = [0, 1].map(|_| random_matrix::<f64>(32, 64, spread, rng));
    let largest = |norm: Option<QkNorm>| -> Result<f64> {
        let changes = Changes { norm, ..Changes::default() };
        let at = Positions::new(32, 32);
        let q = changes.prepare_queries(q.clone(), 64, &at.queries)?;
        let k = changes.prepare_keys(k.clone(), 64, &at.keys)?;
        let views: [View<'_, f64>; 3] = [q.as_view(), k.as_view(), k.as_view()];
        let heads = attend(views, Groups::new(1, 1)?, &at, &changes, &Mask::None)?;
        Ok(heads[0].scores.amax())
    };
    Ok([largest(None)?, largest(Some(QkNorm::identity(64)))?])
}

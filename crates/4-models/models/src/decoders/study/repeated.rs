//! A text of which nothing but itself says what comes next.

use attention::{Rng, SeedableRng};
use rand::RngExt;

/// Ids below are control tokens, single bytes and marks.
const FIRST_WORD: usize = 1000;
/// How many random tokens are repeated.
pub const PERIOD: usize = 50;
/// How often they stand there.
pub const COPIES: usize = 4;

/// Random tokens, all different, and the same again: [`PERIOD`] of them, [`COPIES`] times.
/// No model can know the first copy, and whatever it knows of the later ones it has copied.
///
/// # Shapes
/// `[PERIOD · COPIES]`; ids are from 1,000 on, or all of a vocabulary that has hardly more.
///
/// # Source
/// Olsson et al. 2022, section "Induction heads", who repeat once.
pub fn repeated(seed: u64, n_vocabulary: usize) -> Vec<usize> {
    let rng = &mut Rng::seed_from_u64(seed);
    let first = if n_vocabulary > FIRST_WORD + PERIOD { FIRST_WORD } else { 0 };
    let mut ids: Vec<usize> = Vec::with_capacity(PERIOD * COPIES);
    while ids.len() < PERIOD.min(n_vocabulary) {
        let id = rng.random_range(first..n_vocabulary);
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.repeat(COPIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_no_token_twice() {
        for n_vocabulary in [49_152, 97, 3] {
            let ids = repeated(1, n_vocabulary);
            let period = &ids[..ids.len() / COPIES];
            assert_eq!(period.len(), PERIOD.min(n_vocabulary));
            assert!((1..period.len()).all(|i| !period[..i].contains(&period[i])));
            assert!(ids.iter().all(|&id| id < n_vocabulary));
            assert_eq!(ids, period.repeat(COPIES));
        }
        assert_ne!(repeated(1, 49_152), repeated(2, 49_152));
        assert!(repeated(1, 0).is_empty());
    }
}

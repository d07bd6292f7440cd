//! Sets of as many other heads of the same layers: the control of an ablation.

use std::collections::BTreeSet;

use attention::{Rng, SeedableRng};
use rand::seq::IndexedRandom;

use crate::HeadOfLayer as Head;

/// For each head another one of its layer, drawn at random without replacement, but none of
/// those in `but`. Where a layer has no more, nothing is drawn.
pub fn others_of_same_layers(
    heads: &[Head],
    but: &[Head],
    n_heads: usize,
    seed: u64,
) -> Vec<Head> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut chosen: Vec<Head> = Vec::new();
    for &(layer, _) in heads {
        let others: Vec<Head> = (0..n_heads)
            .map(|i| (layer, i))
            .filter(|head| !but.contains(head) && !chosen.contains(head))
            .collect();
        chosen.extend(others.choose(rng));
    }
    chosen
}

/// The control of an ablation: sets of as many other heads of the same layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draws {
    /// The sets, no two alike.
    pub sets: Vec<Vec<Head>>,
    /// Layers that have too few others, and how many heads each set lacks there.
    pub missing: Vec<(usize, usize)>,
}

impl Draws {
    /// At most `n` draws of [`others_of_same_layers`], by seeds from `seed` on; fewer where
    /// the layers have no more sets.
    pub fn new(heads: &[Head], n_heads: usize, n: usize, seed: u64) -> Self {
        // Of few sets the last are drawn late.
        const PATIENCE: usize = 50;
        let of_layer = |layer| heads.iter().filter(|(of, _)| *of == layer).count();
        let layers: BTreeSet<usize> = heads.iter().map(|(layer, _)| *layer).collect();
        let missing = layers.into_iter().filter_map(|layer| {
            let n_missing = (2 * of_layer(layer)).saturating_sub(n_heads);
            (n_missing > 0).then_some((layer, n_missing))
        });
        let mut sets: Vec<Vec<Head>> = Vec::new();
        for draw in 0..n.saturating_mul(PATIENCE) {
            let seed = seed.wrapping_add(draw as u64);
            let mut set = others_of_same_layers(heads, heads, n_heads, seed);
            set.sort_unstable();
            if sets.len() < n && !set.is_empty() && !sets.contains(&set) {
                sets.push(set);
            }
        }
        Self { sets, missing: missing.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N_HEADS: usize = 9;

    fn all() -> Vec<Head> {
        (0..30).flat_map(|layer| (0..N_HEADS).map(move |i| (layer, i))).collect()
    }

    #[test]
    fn others_are_of_the_same_layers_and_none_that_may_not_be() {
        let heads = [(3, 1), (3, 2), (5, 0)];
        let but = [heads.as_slice(), &[(5, 1), (5, 2)]].concat();
        for seed in 0..100 {
            let others = others_of_same_layers(&heads, &but, N_HEADS, seed);
            let layers: Vec<usize> = others.iter().map(|(layer, _)| *layer).collect();
            assert_eq!(layers, [3, 3, 5]);
            assert!(others[0] != others[1] && others.iter().all(|it| !but.contains(it)));
        }
        let draws = [1, 2].map(|seed| others_of_same_layers(&heads, &but, N_HEADS, seed));
        assert_ne!(draws[0], draws[1]);
        assert!(others_of_same_layers(&[(0, 0)], &all(), N_HEADS, 1).is_empty());
    }

    #[test]
    fn draws_differ_and_say_where_a_layer_has_too_few() {
        let heads = [(3, 1), (5, 2), (5, 4)];
        let draws = Draws::new(&heads, N_HEADS, 20, 0);
        assert_eq!((draws.sets.len(), draws.missing.len()), (20, 0));
        for (i, set) in draws.sets.iter().enumerate() {
            assert!(!draws.sets[..i].contains(set));
            let layers: Vec<usize> = set.iter().map(|(layer, _)| *layer).collect();
            assert_eq!(layers, [3, 5, 5]);
            assert!(set.iter().all(|it| !heads.contains(it)), "{set:?}");
        }
        // One head of nine has eight others.
        let one = Draws::new(&heads[..1], N_HEADS, 20, 0);
        assert_eq!((one.sets.len(), one.missing), (8, vec![]));
        let six: Vec<Head> = (0..6).map(|i| (3, i)).collect();
        let few = Draws::new(&six, N_HEADS, 20, 0);
        assert_eq!((few.sets.len(), few.missing), (1, vec![(3, 3)]));
        let layer: Vec<Head> = (0..N_HEADS).map(|i| (3, i)).collect();
        let none = Draws::new(&layer, N_HEADS, 20, 0);
        assert_eq!((none.sets.len(), none.missing), (0, vec![(3, 9)]));
    }
}

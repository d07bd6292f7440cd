//! Random heads of a whole model, to compare a choice of heads with.

use std::collections::BTreeSet;
use std::ops::Range;

use attention::{Rng, SeedableRng};
use rand::seq::{IndexedRandom, SliceRandom};

/// A head of a whole model: its layer, and its number there.
pub type HeadOfLayer = (usize, usize);

/// For each head another one of its layer, drawn at random without replacement, but none of
/// those in `but`. Where a layer has no more, nothing is drawn.
pub fn others_of_same_layers(
    heads: &[HeadOfLayer],
    but: &[HeadOfLayer],
    n_heads: usize,
    seed: u64,
) -> Vec<HeadOfLayer> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut chosen: Vec<HeadOfLayer> = Vec::new();
    for &(layer, _) in heads {
        let others: Vec<HeadOfLayer> = (0..n_heads)
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
    pub sets: Vec<Vec<HeadOfLayer>>,
    /// Layers that have too few others, and how many heads each set lacks there.
    pub missing: Vec<(usize, usize)>,
}

impl Draws {
    /// At most `n` draws of [`others_of_same_layers`], by seeds from `seed` on; fewer where
    /// the layers have no more sets.
    pub fn new(heads: &[HeadOfLayer], n_heads: usize, n: usize, seed: u64) -> Self {
        // Of few sets the last are drawn late.
        const PATIENCE: usize = 50;
        let of_layer = |layer| heads.iter().filter(|(of, _)| *of == layer).count();
        let layers: BTreeSet<usize> = heads.iter().map(|(layer, _)| *layer).collect();
        let missing = layers.into_iter().filter_map(|layer| {
            let n_missing = (2 * of_layer(layer)).saturating_sub(n_heads);
            (n_missing > 0).then_some((layer, n_missing))
        });
        let mut sets: Vec<Vec<HeadOfLayer>> = Vec::new();
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

/// As many random heads as were chosen, and as many of each layer.
///
/// It is the control of a choice of heads: what layers differ in, both share. A draw from
/// all layers also says whether the chosen heads lie in layers that matter less, and is
/// beaten by any choice that spares the layer that matters most.
pub fn drawn_alike(
    chosen: &[HeadOfLayer],
    n_heads: usize,
    rng: &mut Rng,
) -> Vec<HeadOfLayer> {
    let top = chosen.iter().map(|(layer, _)| layer + 1).max().unwrap_or(0);
    let of = |layer: usize| chosen.iter().filter(|(of, _)| *of == layer).count();
    (0..top)
        .flat_map(|layer| drawn_from(layer..layer + 1, n_heads, of(layer), rng))
        .collect()
}

/// So many different random heads of these layers; all of them if there are no more.
pub fn drawn_from(
    layers: Range<usize>,
    n_heads: usize,
    n: usize,
    rng: &mut Rng,
) -> Vec<HeadOfLayer> {
    let heads = layers.flat_map(|layer| (0..n_heads).map(move |head| (layer, head)));
    let mut heads: Vec<_> = heads.collect();
    let n = n.min(heads.len());
    heads.partial_shuffle(rng, n).0.to_vec()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::odds::rank_p;

    const N_OF_LAYER: usize = 9;

    fn all() -> Vec<HeadOfLayer> {
        (0..30).flat_map(|layer| (0..N_OF_LAYER).map(move |i| (layer, i))).collect()
    }

    #[test]
    fn others_are_of_the_same_layers_and_none_that_may_not_be() {
        let heads = [(3, 1), (3, 2), (5, 0)];
        let but = [heads.as_slice(), &[(5, 1), (5, 2)]].concat();
        for seed in 0..100 {
            let others = others_of_same_layers(&heads, &but, N_OF_LAYER, seed);
            let layers: Vec<usize> = others.iter().map(|(layer, _)| *layer).collect();
            assert_eq!(layers, [3, 3, 5]);
            assert!(others[0] != others[1] && others.iter().all(|it| !but.contains(it)));
        }
        let draws =
            [1, 2].map(|seed| others_of_same_layers(&heads, &but, N_OF_LAYER, seed));
        assert_ne!(draws[0], draws[1]);
        assert!(others_of_same_layers(&[(0, 0)], &all(), N_OF_LAYER, 1).is_empty());
    }

    #[test]
    fn draws_differ_and_say_where_a_layer_has_too_few() {
        let heads = [(3, 1), (5, 2), (5, 4)];
        let draws = Draws::new(&heads, N_OF_LAYER, 20, 0);
        assert_eq!((draws.sets.len(), draws.missing.len()), (20, 0));
        for (i, set) in draws.sets.iter().enumerate() {
            assert!(!draws.sets[..i].contains(set));
            let layers: Vec<usize> = set.iter().map(|(layer, _)| *layer).collect();
            assert_eq!(layers, [3, 5, 5]);
            assert!(set.iter().all(|it| !heads.contains(it)), "{set:?}");
        }
        // One head of nine has eight others.
        let one = Draws::new(&heads[..1], N_OF_LAYER, 20, 0);
        assert_eq!((one.sets.len(), one.missing), (8, vec![]));
        let six: Vec<HeadOfLayer> = (0..6).map(|i| (3, i)).collect();
        let few = Draws::new(&six, N_OF_LAYER, 20, 0);
        assert_eq!((few.sets.len(), few.missing), (1, vec![(3, 3)]));
        let layer: Vec<HeadOfLayer> = (0..N_OF_LAYER).map(|i| (3, i)).collect();
        let none = Draws::new(&layer, N_OF_LAYER, 20, 0);
        assert_eq!((none.sets.len(), none.missing), (0, vec![(3, 9)]));
    }

    const N_LAYERS: usize = 6;
    const N_HEADS: usize = 12;

    /// What each head costs, as it is measured once.
    fn costs(of: impl Fn(usize, usize) -> f64, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut cost = |l, i| of(l, i) + 0.1 * rng.random::<f64>();
        (0..N_LAYERS).map(|l| (0..N_HEADS).map(|i| cost(l, i)).collect()).collect()
    }

    /// Half of all heads go, those that cost least in one measurement; another says what is
    /// lost. The p against draws from all layers, and against draws alike.
    fn p(of: impl Fn(usize, usize) -> f64, seed: u64) -> [f64; 2] {
        let rng = &mut Rng::seed_from_u64(seed);
        let [set, measured] = [costs(&of, rng), costs(&of, rng)];
        let mut order = drawn_from(0..N_LAYERS, N_HEADS, N_LAYERS * N_HEADS, rng);
        order.sort_by(|a, b| set[a.0][a.1].total_cmp(&set[b.0][b.1]));
        let chosen = &order[..N_LAYERS * N_HEADS / 2];
        let kept = |heads: &[HeadOfLayer]| {
            -heads.iter().map(|&(l, i)| measured[l][i]).sum::<f64>()
        };
        let n = chosen.len();
        let all = (0..99).map(|_| kept(&drawn_from(0..N_LAYERS, N_HEADS, n, rng)));
        let all: Vec<f64> = all.collect();
        let alike = (0..99).map(|_| kept(&drawn_alike(chosen, N_HEADS, rng)));
        let alike: Vec<f64> = alike.collect();
        [rank_p(kept(chosen), &all), rank_p(kept(chosen), &alike)]
    }

    /// Where only the last layer costs more, an order of heads knows nothing of heads: draws
    /// from all layers take it for knowledge, and draws alike do not. Where heads of a layer
    /// differ, both see it.
    #[test]
    fn a_draw_alike_tells_heads_from_layers() {
        let mut alarms = [0, 0];
        for seed in 0..40 {
            let layers_alone = p(|l, _| f64::from(u8::from(l == 5)), seed);
            for (alarms, p) in alarms.iter_mut().zip(layers_alone) {
                *alarms += usize::from(p <= 0.05);
            }
            let planted = p(|_, i| f64::from(u8::from(i % 2 == 0)), seed);
            assert_eq!(planted, [0.01; 2], "seed {seed}");
        }
        assert_eq!(alarms[0], 40, "draws from all layers are always beaten");
        assert!(alarms[1] <= 5, "draws alike, of 40: {}", alarms[1]);
    }

    #[test]
    fn heads_are_drawn_from_the_layers_asked_for() {
        let rng = &mut Rng::seed_from_u64(0);
        let chosen = [(0, 3), (2, 1), (2, 5), (2, 0)];
        let mut drawn = drawn_alike(&chosen, 6, rng);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.iter().map(|(l, _)| *l).collect::<Vec<_>>(), [0, 2, 2, 2]);
        assert!(
            drawn_from(1..3, 4, 8, rng)
                .iter()
                .all(|&(l, i)| (1..3).contains(&l) && i < 4)
        );
        assert_eq!(drawn_from(0..1, 4, 9, rng).len(), 4);
        assert!(drawn_alike(&[], 4, rng).is_empty());
    }
}

//! Random heads of a whole model, to compare a choice of heads with.

use std::ops::Range;

use attention::Rng;
use rand::seq::SliceRandom;

/// A head of a whole model: its layer, and its number there.
pub type HeadOfLayer = (usize, usize);

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
    use attention::SeedableRng;
    use rand::RngExt;

    use super::*;
    use crate::odds::rank_p;

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

//! Which heads do one of the source's eight things, next to heads that nobody trained.

use ablation::odds::Count;
use attention::{LayerParameters, Matrix, Rng};
use training::windows::{Found, HeadMeasures, Window, found};

use super::{directions, matched, rows, spreads};

/// A correlation counts if the scores of a head spread at least this far: its weights then
/// differ from even ones by about a tenth. Ripples on even weights correlate with anything.
pub const LEAST_SPREAD: f64 = 0.1;

/// The criteria that are correlations, whatever their size: temperature, pressure, trend.
const CORRELATIONS: [usize; 3] = [2, 3, 5];

/// For each of the eight criteria, the heads of a trained layer that meet it, and how many
/// draws of each control have as many, or one where the trained layer has none.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The heads of the trained layer that meet each.
    pub trained: Found,
    /// Random mixtures of the trained heads.
    pub mixed: [Count; 8],
    /// Fresh layers.
    pub fresh: [Count; 8],
}

impl Judged {
    /// Asks a layer and `n_draws` of both controls, whose heads spread their scores as far as the trained
    /// ones do, head by head. How the controls could fail: they differ from the trained heads
    /// in what they look at and in nothing else, so a criterion that any heads meet which
    /// look unevenly is met by as many of them.
    ///
    /// # Shapes
    /// `tokens` are `[30, d_model]` each, one for each window.
    ///
    /// # Errors
    /// None for a layer that fits together.
    pub fn of(
        layer: &LayerParameters,
        tokens: &[Matrix],
        windows: &[Window],
        n_draws: usize,
        rng: &mut Rng,
    ) -> attention::Result<Self> {
        let spreads = spreads(layer, tokens);
        let met = |layer: &LayerParameters| met(layer, tokens, windows);
        let (mut mixed, mut fresh) = (Vec::new(), Vec::new());
        for _ in 0..n_draws {
            let drawn = directions(layer, rng)?;
            mixed.push(met(&matched(&drawn, tokens, &spreads)));
            let drawn = LayerParameters::random(layer.dims(), true, rng);
            fresh.push(met(&matched(&drawn, tokens, &spreads)));
        }
        let trained = met(layer);
        let count = |draws: &[Found]| {
            std::array::from_fn(|i| {
                let least = trained[i].len().max(1);
                Count::of(draws.iter().map(|met| met[i].len() >= least))
            })
        };
        let (mixed, fresh) = (count(&mixed), count(&fresh));
        Ok(Self { trained, mixed, fresh })
    }
}

/// Which heads meet each criterion, a correlation at [`LEAST_SPREAD`] or more.
///
/// # Shapes
/// As [`rows`].
pub fn met(layer: &LayerParameters, tokens: &[Matrix], windows: &[Window]) -> Found {
    let measure = |rows: &Matrix| HeadMeasures::of(rows, windows);
    let measures: Vec<HeadMeasures> = rows(layer, tokens).iter().map(measure).collect();
    let (mut met, spreads) = (found(&measures), spreads(layer, tokens));
    for criterion in CORRELATIONS {
        met[criterion].retain(|&head| spreads[head] >= LEAST_SPREAD);
    }
    met
}

#[cfg(test)]
mod tests {
    use attention::{Dims, SeedableRng, random_matrix};

    use super::*;
    use crate::N_STEPS;

    /// Tokens of noise whose first entry is time, and windows that say nothing.
    fn noise(rng: &mut Rng) -> (Vec<Matrix>, Vec<Window>) {
        let token = |_| {
            let mut x: Matrix = random_matrix(N_STEPS, 16, 1.0, rng);
            (0..N_STEPS).for_each(|t| x[(t, 0)] = (t as f64 - 14.5) / 8.66);
            x
        };
        let tokens: Vec<Matrix> = (0..64).map(token).collect();
        let line = |rng: &mut Rng| {
            let x: Matrix = random_matrix(N_STEPS, 1, 1.0, rng);
            std::array::from_fn(|t| x[t])
        };
        let window = |_| Window {
            temperature: line(rng),
            pressure: line(rng),
            vibration: line(rng),
            transition: 10,
            spike: 20,
        };
        (tokens, (0..64).map(window).collect())
    }

    fn layer(rng: &mut Rng) -> LayerParameters {
        LayerParameters::random(Dims::new(16, 4).unwrap(), true, rng)
    }

    /// Two heads that look at the first readings and at the last: the criterion fires, and
    /// neither control does, though their scores spread as far.
    #[test]
    fn a_planted_pair_of_heads_is_found_and_its_controls_are_not() {
        let rng = &mut Rng::seed_from_u64(4);
        let (tokens, windows) = noise(rng);
        let mut heads = layer(rng).heads().to_vec();
        for (head, sign) in heads.iter_mut().zip([-1.0, 1.0]) {
            head.w_q.weight.fill(0.0);
            head.w_q.bias.as_mut().unwrap().fill(0.0);
            head.w_q.bias.as_mut().unwrap()[0] = 4.0 * sign;
            head.w_k.weight.fill(0.0);
            head.w_k.weight[(0, 0)] = 1.0;
        }
        let planted = LayerParameters::new(heads, layer(rng).w_o().clone()).unwrap();
        let judged = Judged::of(&planted, &tokens, &windows, 100, rng).unwrap();
        assert_eq!(judged.trained[6], [0, 1]);
        for control in [judged.mixed[6], judged.fresh[6]] {
            assert!(control.hits() <= 5, "{control}");
        }
    }

    /// Layers of which nobody trained anything differ from their controls in nothing: that
    /// fewer than five draws of a hundred have as many heads happens by chance alone. And even
    /// heads meet no correlation.
    #[test]
    fn noise_is_not_found() {
        let rng = &mut Rng::seed_from_u64(5);
        let (tokens, windows) = noise(rng);
        let (n, mut rare) = (10, 0);
        for _ in 0..n {
            let layer = layer(rng);
            let layer = matched(&layer, &tokens, &[1.0; 4]);
            let Judged { trained, fresh, .. } =
                Judged::of(&layer, &tokens, &windows, 100, rng).unwrap();
            let stands_out = |i: &usize| !trained[*i].is_empty() && fresh[*i].hits() < 5;
            rare += (0..8).filter(stands_out).count();
        }
        // One of twenty by chance: 4 of 80, and rarely more than twice as many.
        assert!(rare <= 8, "{rare} of {}", 8 * n);
        let even = matched(&layer(rng), &tokens, &[0.05; 4]);
        let found = met(&even, &tokens, &windows);
        assert!(CORRELATIONS.iter().all(|&i| found[i].is_empty()), "{found:?}");
        assert_eq!(found[7].len(), 4);
    }
}

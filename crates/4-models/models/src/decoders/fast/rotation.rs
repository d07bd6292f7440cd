//! Rotary positions of some tokens: sines and cosines once, for all layers and heads.

use attention::Matrix;
use variants::Rotary;

/// The rotary positions of all layers, each kind once.
#[derive(Debug)]
pub(super) struct Rotations {
    kinds: Vec<Rotary>,
    /// The kind of each layer.
    layers: Vec<Option<usize>>,
}

impl Rotations {
    pub(super) fn new(layers: impl Iterator<Item = Option<Rotary>>) -> Self {
        let mut kinds: Vec<Rotary> = Vec::new();
        let mut kind = |rotary: Rotary| {
            kinds.iter().position(|kind| *kind == rotary).unwrap_or_else(|| {
                kinds.push(rotary);
                kinds.len() - 1
            })
        };
        let layers = layers.map(|rotary| rotary.map(&mut kind)).collect();
        Self { kinds, layers }
    }
}

/// The angles of some tokens, in all layers.
pub(super) struct AllAngles<'a> {
    kinds: Vec<Angles>,
    layers: &'a [Option<usize>],
}

impl<'a> AllAngles<'a> {
    pub(super) fn new(rotations: &'a Rotations, positions: &[usize]) -> Self {
        let kinds = rotations.kinds.iter().map(|rotary| Angles::new(rotary, positions));
        Self { kinds: kinds.collect(), layers: &rotations.layers }
    }

    /// Those of a layer.
    pub(super) fn of(&self, layer: usize) -> Option<&Angles> {
        self.layers.get(layer).copied().flatten().map(|kind| &self.kinds[kind])
    }
}

/// The sines and cosines of some tokens' places.
#[derive(Debug)]
pub(super) struct Angles {
    rotary: Rotary,
    /// `[n_tokens, pairs]`
    sin: Matrix<f32>,
    /// `[n_tokens, pairs]`
    cos: Matrix<f32>,
}

impl Angles {
    pub(super) fn new(rotary: &Rotary, positions: &[usize]) -> Self {
        let of = |f: fn(f64) -> f64| {
            let frequencies = &rotary.frequencies;
            Matrix::from_fn(positions.len(), frequencies.len(), |token, p| {
                (rotary.amplitude * f(positions[token] as f64 * frequencies[p])) as f32
            })
        };
        Self { rotary: rotary.clone(), sin: of(f64::sin), cos: of(f64::cos) }
    }

    /// Rotates heads that lie side by side, each `d_k` wide, as [`Rotary::rotate`] does.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, n_heads · d_k]`.
    pub(super) fn rotate(&self, x: &mut Matrix<f32>, d_k: usize) {
        let n = x.nrows();
        for head in x.as_mut_slice().chunks_exact_mut(n * d_k) {
            for p in 0..self.rotary.frequencies.len() {
                let [a, b] = self.rotary.pair(p); // a is the first of the two
                let (before, from_b) = head.split_at_mut(b * n);
                let (x_a, x_b) = (&mut before[a * n..][..n], &mut from_b[..n]);
                let [sin, cos] =
                    [&self.sin, &self.cos].map(|all| &all.as_slice()[p * n..][..n]);
                let angles = sin.iter().zip(cos);
                for ((x_a, x_b), (sin, cos)) in x_a.iter_mut().zip(x_b).zip(angles) {
                    (*x_a, *x_b) = (*x_a * cos - *x_b * sin, *x_a * sin + *x_b * cos);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, random_matrix};
    use variants::Pairing;

    #[test]
    fn it_is_the_readable_rotation() {
        let rng = &mut Rng::seed_from_u64(1);
        for pairing in [Pairing::Halves, Pairing::Pairs] {
            let mut rotary = Rotary::new(pairing, 6, 100.0).unwrap(); // of 8 entries
            rotary.amplitude = 1.25;
            let mut x: Matrix<f32> = random_matrix(4, 3 * 8, 1.0, rng);
            let mut expected = x.map(f64::from);
            rotary.rotate(&mut expected, 8, &[7, 8, 9, 1000]).unwrap();
            Angles::new(&rotary, &[7, 8, 9, 1000]).rotate(&mut x, 8);
            assert!((x.map(f64::from) - expected).amax() < 1e-6);
        }
    }
}

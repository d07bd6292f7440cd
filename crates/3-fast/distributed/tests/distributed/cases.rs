//! Random layers, inputs and masks.

use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, Real, Rng,
    SeedableRng, random_matrix,
};
use fused_heads::FusedAttention;
use rand::RngExt;

/// The numbers of ranks.
pub const SIZES: [usize; 5] = [1, 2, 3, 4, 8];

/// A layer, and what goes into it.
#[derive(Debug)]
pub struct Case<T: Real> {
    pub layer: LayerParameters<T>,
    pub x: Batch<T>,
    pub masks: Vec<Mask>,
}

impl<T: Real> Case<T> {
    /// A case of a size that its seed chooses: lengths that nothing divides, 1 to 9 heads,
    /// 1 to 3 sequences, with and without biases.
    pub fn random(seed: u64) -> Self {
        let rng = &mut Rng::seed_from_u64(seed);
        let n_heads = rng.random_range(1..=9);
        let [d_k, d_v] = [(); 2].map(|()| rng.random_range(1..=6));
        let d_model = rng.random_range(1..=12);
        let dims = Dims::with_head_sizes(d_model, n_heads, d_k, d_v).unwrap();
        let layer = LayerParameters::random(dims, rng.random::<bool>(), rng);
        let (n, n_tokens) = (rng.random_range(1..=3), rng.random_range(1..=70));
        let x = random_matrix(n * n_tokens, d_model, 1.5, rng);
        let x = Batch::new(n, x).unwrap();
        let masks = (0..n).map(|_| mask(n_heads, n_tokens, rng)).collect();
        Self { layer, x, masks }
    }

    pub fn n_tokens(&self) -> usize {
        self.x.n_tokens()
    }

    /// The output of one machine.
    pub fn on_one(&self) -> Matrix<T> {
        let layer = FusedAttention::new(&self.layer);
        layer.pass_batch(&self.x, &self.x, &self.x, &self.masks).unwrap().out
    }

    pub fn name(&self, seed: u64, size: usize) -> String {
        let dims = FusedAttention::new(&self.layer).dims();
        format!(
            "seed {seed}, {size} ranks, {} × {} tokens, {dims:?}, {:?}",
            self.x.n_sequences(),
            self.n_tokens(),
            self.masks
        )
    }
}

fn mask(n_heads: usize, n: usize, rng: &mut Rng) -> Mask {
    let n_open = rng.random_range(0..=n);
    match rng.random_range(0..7) {
        0 => Mask::None,
        1 => Mask::CausalTopLeft,
        2 => Mask::FirstKeys(n_open),
        3 => Mask::All(vec![Mask::Causal, Mask::FirstKeys(n_open)]),
        4 => Mask::Keys((0..n).map(|_| rng.random::<bool>()).collect()),
        5 => Mask::PerHead(
            (0..n_heads)
                .map(|i| if i % 2 == 0 { Mask::Causal } else { Mask::FirstKeys(n_open) })
                .collect(),
        ),
        _ => Mask::Causal,
    }
}

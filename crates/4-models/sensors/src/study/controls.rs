//! Heads that nobody trained, in place of trained ones.

use ablation::orthonormal;
use attention::{HeadParameters, LayerParameters, Linear, Matrix, Rng, RowVector};

/// The layer with heads that are random directions of the trained ones: all W_i^Q side by
/// side, and all W_i^K, times one random orthonormal matrix R, and cut into heads anew. What
/// all heads score together, `Σ q_i k_iᵀ`, stays the same; what one does, does not.
///
/// # Errors
/// None for a layer that fits together.
// ANCHOR: directions
pub fn directions(
    layer: &LayerParameters,
    rng: &mut Rng,
) -> attention::Result<LayerParameters> {
    let (n_heads, d_k) = (layer.dims().n_heads(), layer.dims().d_k());
    let r = orthonormal(n_heads * d_k, n_heads * d_k, rng).map(f64::from);
    // What head i sees of all: its d_k columns of [W_1 … W_h] R.
    let cut = |i: usize, of: &dyn Fn(&HeadParameters) -> &Linear| {
        let (mut weight, mut bias) = (Matrix::zeros(0, 0), RowVector::zeros(d_k));
        for (j, head) in layer.heads().iter().enumerate() {
            let block = r.view((j * d_k, i * d_k), (d_k, d_k));
            let Linear { weight: w, bias: b } = of(head);
            let part = w * block;
            weight = if j == 0 { part } else { weight + part };
            bias += b.as_ref().map_or(RowVector::zeros(d_k), |b| b * block);
        }
        Linear { weight, bias: of(&layer.heads()[i]).bias.as_ref().map(|_| bias) }
    };
    let head = |i: usize| HeadParameters {
        w_q: cut(i, &|head| &head.w_q),
        w_k: cut(i, &|head| &head.w_k),
        w_v: layer.heads()[i].w_v.clone(),
    };
    LayerParameters::new((0..n_heads).map(head).collect(), layer.w_o().clone())
}
// ANCHOR_END: directions

#[cfg(test)]
mod tests {
    use attention::{Dims, SeedableRng, random_matrix};

    use super::*;

    #[test]
    fn all_heads_together_score_the_same_and_each_another() {
        let rng = &mut Rng::seed_from_u64(2);
        let layer: LayerParameters =
            LayerParameters::random(Dims::new(24, 3).unwrap(), true, rng);
        let x: Matrix = random_matrix(5, 24, 1.0, rng);
        let scores = |layer: &LayerParameters| -> Vec<Matrix> {
            let of = |head: &HeadParameters| {
                head.w_q.forward(&x).unwrap() * head.w_k.forward(&x).unwrap().transpose()
            };
            layer.heads().iter().map(of).collect()
        };
        let (before, after) = (scores(&layer), scores(&directions(&layer, rng).unwrap()));
        let sum = |all: &[Matrix]| all.iter().sum::<Matrix>();
        assert!((sum(&before) - sum(&after)).amax() < 1e-5); // R is in f32
        for (a, b) in before.iter().zip(&after) {
            assert!((a - b).amax() > 0.1);
        }
    }
}

//! How much of what a head writes another one reads, by their weights alone.

use attention::{Error, LayerParameters, Matrix, Result};

use super::Predictor;

/// Composition scores of the heads of the first layer with those of the second: entry (i, j)
/// is `‖M‖ / (‖W_i^VO‖ ‖W‖)` in the Frobenius norm, with `W_i^VO = W_i^V W_i^O`,
/// `[n_heads, n_heads]` each.
///
/// # Source
/// Elhage et al. 2021, section "Composition of attention heads"; there tokens are columns.
/// Differs: nothing is subtracted for chance. Fresh models have as much.
#[derive(Debug, Clone, PartialEq)]
pub struct CompositionScores {
    /// The second head's queries: `M = W_i^VO W_j^QK`, with `W_j^QK = W_j^Q W_j^Kᵀ`.
    pub q: Matrix,
    /// Its keys: `M = W_i^VO W_j^QKᵀ`.
    pub k: Matrix,
    /// Its values: `M = W_i^VO W_j^VO`.
    pub v: Matrix,
}

impl CompositionScores {
    /// Those of a model of two layers.
    ///
    /// # Errors
    /// [`attention::Error`] unless it has two layers.
    pub fn of(model: &Predictor) -> Result<Self> {
        Error::expect_length("the list of layers", 2, model.stack.blocks.len())?;
        let heads = |l: usize| circuits(&model.layer(l).unpack().cast());
        let (first, second) = (heads(0), heads(1));
        let score = |read: fn(&[Matrix; 2]) -> Matrix| {
            Matrix::from_fn(first.len(), second.len(), |i, j| {
                let (written, read) = (&first[i][1], read(&second[j]));
                (written * &read).norm() / (written.norm() * read.norm())
            })
        };
        Ok(Self {
            q: score(|[w_qk, _]| w_qk.clone()),
            k: score(|[w_qk, _]| w_qk.transpose()),
            v: score(|[_, w_vo]| w_vo.clone()),
        })
    }
}

/// `W_i^Q W_i^Kᵀ` and `W_i^V W_i^O` of each head, `[d_model, d_model]`.
fn circuits(layer: &LayerParameters) -> Vec<[Matrix; 2]> {
    let of_head = |(i, head): (usize, &attention::HeadParameters)| {
        let w_qk = &head.w_q.weight * head.w_k.weight.transpose();
        [w_qk, &head.w_v.weight * layer.w_o_of_head(i)]
    };
    layer.heads().iter().enumerate().map(of_head).collect()
}

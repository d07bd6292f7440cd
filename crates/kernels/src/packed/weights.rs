//! The parameters of a layer, packed once.

use std::f32::consts::LOG2_E;

use attention::{Dims, LayerParameters, Linear, Matrix};

use super::panels::{Panels, round_up};

/// Every projection in panels.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    pub(crate) dims: Dims,
    /// W_i^Q, W_i^K and W_i^V of each head. W_i^Q and b_i^Q are multiplied by
    /// `log2 e / √d_k`, so that `2^score` is what softmax needs and no score is scaled.
    pub(crate) heads: Vec<[Panels; 3]>,
    /// W^O, whose rows leave room for the unused rows of each head's place.
    pub(crate) w_o: Panels,
}

/// What multiplies a query before it meets a key: `log2 e / √d_k`.
pub(crate) fn query_factor(dims: Dims) -> f32 {
    LOG2_E / (dims.d_k() as f32).sqrt()
}

/// The rows of one head in a group's panel. A head's queries stand there first, `d_k`
/// rows, and then its output, `d_v` rows: it is as high as the higher of the two.
pub(crate) fn rows_per_head(dims: Dims) -> usize {
    round_up(dims.d_k()).max(round_up(dims.d_v()))
}

impl Weights {
    pub(crate) fn new(parameters: &LayerParameters<f32>) -> Self {
        let dims = parameters.dims();
        let heads = parameters.heads().iter().map(|head| {
            let w_q = Panels::new(&head.w_q, query_factor(dims));
            [w_q, Panels::new(&head.w_k, 1.0), Panels::new(&head.w_v, 1.0)]
        });
        let w_o = Panels::new(&spread_rows(parameters.w_o(), dims), 1.0);
        Self { dims, heads: heads.collect(), w_o }
    }
}

/// W^O with zero rows between the heads, where there is room that no output fills.
fn spread_rows(w_o: &Linear<f32>, dims: Dims) -> Linear<f32> {
    let (d_v, rows) = (dims.d_v(), rows_per_head(dims));
    let mut weight = Matrix::zeros(dims.n_heads() * rows, dims.d_model());
    for i in 0..dims.n_heads() {
        weight.rows_mut(i * rows, d_v).copy_from(&w_o.weight.rows(i * d_v, d_v));
    }
    Linear { weight, bias: w_o.bias.clone() }
}

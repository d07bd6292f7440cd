//! The parameters of a layer, packed once.

use std::f32::consts::LOG2_E;

use attention::{Dims, HeadParameters, LayerParameters, Linear, Matrix};
use tiles::panels::{Panels, rows_per_head};

/// Every projection in panels.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    pub(crate) dims: Dims,
    /// W_i^Q and b_i^Q of each head, multiplied by `log2 e / √d_k`: so `2^score` is what
    /// softmax needs, and no score is scaled.
    pub(crate) w_q: Vec<Panels>,
    /// W_i^K of each head.
    pub(crate) w_k: Vec<Panels>,
    /// W_i^V of each head.
    pub(crate) w_v: Vec<Panels>,
    /// W^O, whose rows leave room for the unused rows of each head's place.
    pub(crate) w_o: Panels,
}

/// What multiplies a query before it meets a key: `log2 e / √d_k`.
pub(crate) fn query_factor(dims: Dims) -> f32 {
    LOG2_E / (dims.d_k() as f32).sqrt()
}

impl Weights {
    pub(crate) fn new(parameters: &LayerParameters<f32>) -> Self {
        let dims = parameters.dims();
        let packed = |of: fn(&HeadParameters<f32>) -> &Linear<f32>, factor| {
            let heads = parameters.heads().iter();
            heads.map(|head| Panels::new(of(head), factor)).collect()
        };
        Self {
            dims,
            w_q: packed(|head| &head.w_q, query_factor(dims)),
            w_k: packed(|head| &head.w_k, 1.0),
            w_v: packed(|head| &head.w_v, 1.0),
            w_o: Panels::new(&spread_rows(parameters.w_o(), dims), 1.0),
        }
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

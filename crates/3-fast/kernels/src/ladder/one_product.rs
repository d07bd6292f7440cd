//! W^Q, W^K and W^V side by side, and so one product instead of three.
//!
//! **What it buys:** next to nothing by itself. The three products read the same tokens,
//! and a processor's cache holds them anyway; the number of multiply-adds is the same.
//!
//! **Where it is slower:** nowhere by much. In cross-attention query and key are
//! different matrices, and three products are made as before. The weights are kept twice.

use attention::{Dims, LayerParameters, Linear, Matrix, PackedParameters, Result, View};
use tiles::Lengths;

use super::plain::attend;
use crate::{Inputs, Rung};

/// The layer with one product for Q, K and V.
#[derive(Debug, Clone)]
pub struct OneProduct {
    w: Joined,
}

impl OneProduct {
    /// The layer with these parameters.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self { w: Joined::new(parameters) }
    }
}

impl Rung for OneProduct {
    fn name(&self) -> &'static str {
        "one product"
    }

    fn dims(&self) -> Dims {
        self.w.packed.dims()
    }

    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let lengths = inputs.check(self.dims(), out)?;
        let projected = self.w.project(inputs, Linear::forward)?;

        let (n_q, d_v) = (lengths.n_q, self.dims().d_v());
        let mut concat = Matrix::zeros(out.nrows(), self.dims().concat_width());
        for s in 0..lengths.n_sequences {
            for i in 0..self.dims().n_heads() {
                let [q_i, k_i, v_i] = projected.head(self.dims(), lengths, s, i);
                let head_i = attend(q_i, k_i, v_i, &inputs.mask(s).of_head(i));
                concat.view_mut((s * n_q, i * d_v), (n_q, d_v)).copy_from(&head_i);
            }
        }
        out.copy_from(&self.w.packed.w_o().forward(&concat)?);
        Ok(())
    }
}

/// The parameters, and W^Q, W^K, W^V once more side by side.
#[derive(Debug, Clone)]
pub(super) struct Joined {
    pub(super) packed: PackedParameters<f32>,
    /// `[W^Q | W^K | W^V]`, if they are of one height.
    w_qkv: Option<Linear<f32>>,
}

/// Q, K and V of all heads.
pub(super) enum Projected {
    /// Three blocks of columns, `[n_sequences · n_tokens, h · (d_k + d_k + d_v)]`.
    Together(Matrix<f32>),
    /// Three matrices.
    Apart([Matrix<f32>; 3]),
}

impl Joined {
    pub(super) fn new(parameters: &LayerParameters<f32>) -> Self {
        let packed = parameters.pack();
        let all = [packed.w_q(), packed.w_k(), packed.w_v()];
        let one_height = all.iter().all(|w| w.d_in() == packed.dims().d_model());
        let w_qkv = one_height.then(|| side_by_side(all));
        Self { packed, w_qkv }
    }

    /// Q, K and V, by one product where the tokens are the same matrix.
    ///
    /// `apply` makes a product: `x · W + b`.
    pub(super) fn project(
        &self,
        inputs: &Inputs<'_>,
        apply: impl Fn(&Linear<f32>, &Matrix<f32>) -> Result<Matrix<f32>>,
    ) -> Result<Projected> {
        match &self.w_qkv {
            Some(w_qkv) if inputs.is_self_attention() => {
                Ok(Projected::Together(apply(w_qkv, inputs.query)?))
            }
            _ => Ok(Projected::Apart([
                apply(self.packed.w_q(), inputs.query)?,
                apply(self.packed.w_k(), inputs.key)?,
                apply(self.packed.w_v(), inputs.value)?,
            ])),
        }
    }
}

impl Projected {
    /// q, k and v of head `i` of sequence `s`: views, nothing is copied.
    ///
    /// # Shapes
    /// `[n_q, d_k]`, `[n_kv, d_k]`, `[n_kv, d_v]`.
    pub(super) fn head(
        &self,
        dims: Dims,
        lengths: Lengths,
        s: usize,
        i: usize,
    ) -> [View<'_, f32>; 3] {
        let (h, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());
        let (all_q, all_k, all_v, first) = match self {
            Self::Together(qkv) => (qkv, qkv, qkv, [0, h * d_k, 2 * h * d_k]),
            Self::Apart([q, k, v]) => (q, k, v, [0; 3]),
        };
        let (n_q, n_kv) = (lengths.n_q, lengths.n_kv);
        [
            all_q.view((s * n_q, first[0] + i * d_k), (n_q, d_k)),
            all_k.view((s * n_kv, first[1] + i * d_k), (n_kv, d_k)),
            all_v.view((s * n_kv, first[2] + i * d_v), (n_kv, d_v)),
        ]
    }
}

/// Projections of the same input as one: their columns, and their biases, end to end. A
/// projection without a bias has zeros where another has one.
///
/// # Shapes
/// `[d_in, …]` each; the result is as wide as all of them.
fn side_by_side(linears: [&Linear<f32>; 3]) -> Linear<f32> {
    let columns: Vec<_> =
        linears.iter().flat_map(|linear| linear.weight.column_iter()).collect();
    let has_bias = linears.iter().any(|linear| linear.bias.is_some());
    let biases: Vec<f32> = linears
        .iter()
        .flat_map(|linear| match &linear.bias {
            Some(bias) => bias.iter().copied().collect(),
            None => vec![0.0; linear.d_out()],
        })
        .collect();
    Linear {
        weight: Matrix::from_columns(&columns),
        bias: has_bias.then(|| biases.into()),
    }
}

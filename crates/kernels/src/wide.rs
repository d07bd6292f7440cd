//! The projections of all heads side by side.

use attention::{Dims, HeadParameters, LayerParameters, Linear, Matrix};

/// `W^Q = [W_1^Q | … | W_h^Q]`, K and V likewise, with their biases; and W^O.
#[derive(Debug, Clone)]
pub(crate) struct Wide {
    pub(crate) dims: Dims,
    pub(crate) w_q: Linear<f32>,
    pub(crate) w_k: Linear<f32>,
    pub(crate) w_v: Linear<f32>,
    pub(crate) w_o: Linear<f32>,
}

impl Wide {
    pub(crate) fn new(parameters: &LayerParameters<f32>) -> Self {
        let all = |of: fn(&HeadParameters<f32>) -> &Linear<f32>| {
            side_by_side(parameters.heads().iter().map(of))
        };
        Self {
            dims: parameters.dims(),
            w_q: all(|head| &head.w_q),
            w_k: all(|head| &head.w_k),
            w_v: all(|head| &head.w_v),
            w_o: parameters.w_o().clone(),
        }
    }
}

/// Projections of the same input as one: their columns, and their biases, end to end. A
/// projection without a bias has zeros where another has one.
///
/// # Shapes
/// `[d_in, …]` each; the result is as wide as all of them.
pub(crate) fn side_by_side<'a>(
    linears: impl Iterator<Item = &'a Linear<f32>> + Clone,
) -> Linear<f32> {
    let columns: Vec<_> =
        linears.clone().flat_map(|linear| linear.weight.column_iter()).collect();
    let has_bias = linears.clone().any(|linear| linear.bias.is_some());
    let biases: Vec<f32> = linears
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

//! The backward pass of self-attention, right and wrong in seven ways, and the
//! differences by which the wrong ones are found. It stands here and not in the crate, which
//! has no wrong ones.

use anyhow::{Context, Result};
use attention::{
    Batch, InputGradients, Linear, Mask, Matrix, MultiHeadAttention, PackedParameters,
};
use fused_heads::{FusedAttention, FusedPass};
use gradients::{
    Gradients, LayerPass, LinearGradients, linear_backward, mean_squared_error,
    softmax_rows_backward,
};

use crate::learning::{RATE, Task};

const NO_BIAS: &str = "every layer of this chapter has biases";

/// What people do in a backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As it must be.
    Right,
    /// The scores' gradient is not divided by √d_k.
    NoScale,
    /// The softmax's Jacobian is taken for its diagonal.
    Elementwise,
    /// x gets the gradient through the queries alone.
    XOnce,
    /// A bias gets the mean over tokens instead of the sum.
    BiasMean,
    /// W^O is not transposed.
    WoNotTransposed,
    /// A is not transposed.
    ANotTransposed,
    /// W^O makes its step before the rest of the pass.
    InPlace,
}

impl Way {
    /// Each with what the chapter calls it, the right one first.
    pub const ALL: [(Self, &str); 8] = [
        (Self::Right, "right"),
        (Self::NoScale, "no 1/√d_k"),
        (Self::Elementwise, "softmax: a (1 − a) d_a"),
        (Self::XOnce, "x through the queries alone"),
        (Self::BiasMean, "biases: mean over tokens"),
        (Self::WoNotTransposed, "W^O not transposed"),
        (Self::ANotTransposed, "A not transposed"),
        (Self::InPlace, "W^O moved before the rest"),
    ];
}

/// The backward pass of self-attention without a mask, done in one of these ways.
///
/// # Errors
/// If the layer has another width than the task, or no biases.
pub fn back(layer: &FusedAttention, task: &Task, way: Way) -> Result<Gradients> {
    let (x, n_sequences) = (task.x.tokens(), task.x.n_sequences());
    let pass = LayerPass::forward_batch(layer, &task.x, &task.x, &task.x, &[Mask::None])?;
    let loss = mean_squared_error(pass.out(), &task.target)?;
    let (n, p, dims) = (task.x.n_tokens(), layer.parameters(), layer.dims());
    let (d_k, d_v) = (dims.d_k(), dims.d_v());

    let linear = |w: &Linear, x: &Matrix, d_y: &Matrix| -> Result<(Linear, Matrix)> {
        let LinearGradients { mut d_linear, d_x } = linear_backward(w, x, d_y)?;
        if way == Way::BiasMean {
            *d_linear.bias.as_mut().context(NO_BIAS)? /= x.nrows() as f64;
        }
        Ok((d_linear, d_x))
    };
    let (d_w_o, mut d_concat) = linear(p.w_o(), pass.concat(), &loss.gradient)?;
    if way == Way::WoNotTransposed {
        d_concat = &loss.gradient * &p.w_o().weight;
    }
    if way == Way::InPlace {
        let moved = &p.w_o().weight - &d_w_o.weight * RATE;
        d_concat = &loss.gradient * moved.transpose();
    }

    let FusedPass { q, k, v, .. } = pass.fused();
    let [mut dq, mut dk, mut dv] = [q, k, v].map(|m| Matrix::zeros(m.nrows(), m.ncols()));
    for s in 0..n_sequences {
        for (i, attn) in pass.attn()[s].iter().enumerate() {
            let of_k = |m: &Matrix| m.view((s * n, i * d_k), (n, d_k)).into_owned();
            let of_v = |m: &Matrix| m.view((s * n, i * d_v), (n, d_v)).into_owned();
            let d_head = of_v(&d_concat);
            let d_attn = &d_head * of_v(v).transpose();
            let over_queries = match way {
                Way::ANotTransposed => attn.clone(),
                _ => attn.transpose(),
            };
            dv.view_mut((s * n, i * d_v), (n, d_v)).copy_from(&(over_queries * &d_head));
            let d_scores = match way {
                Way::Elementwise => attn.zip_map(&d_attn, |a, d_a| a * (1.0 - a) * d_a),
                _ => softmax_rows_backward(attn, d_attn)?,
            };
            let scale = if way == Way::NoScale { 1.0 } else { (d_k as f64).sqrt() };
            let d_products = d_scores / scale;
            dq.view_mut((s * n, i * d_k), (n, d_k)).copy_from(&(&d_products * of_k(k)));
            let of_keys = d_products.transpose() * of_k(q);
            dk.view_mut((s * n, i * d_k), (n, d_k)).copy_from(&of_keys);
        }
    }
    let (d_w_q, d_query) = linear(p.w_q(), x, &dq)?;
    let (d_w_k, mut d_key) = linear(p.w_k(), x, &dk)?;
    let (d_w_v, mut d_value) = linear(p.w_v(), x, &dv)?;
    if way == Way::XOnce {
        d_key.fill(0.0);
        d_value.fill(0.0);
    }
    let d_inputs = InputGradients::CrossAttention { d_query, d_key, d_value };
    Ok(Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs })
}

/// Weights of Q, K, V and O, biases of Q, V and O end to end, and x.
///
/// # Errors
/// If the layer has no biases.
pub fn compared(d: &Gradients) -> Result<[Matrix; 6]> {
    let [q, k, v, o] = d.projections().map(|linear| linear.weight.clone());
    let mut biases = Vec::new();
    for linear in [&d.d_w_q, &d.d_w_v, &d.d_w_o] {
        biases.extend_from_slice(linear.bias.as_ref().context(NO_BIAS)?.as_slice());
    }
    Ok([q, k, v, o, Matrix::from_row_slice(1, biases.len(), &biases), d.d_x()?])
}

/// All of them by central differences, entry by entry.
///
/// # Errors
/// If the layer has another width than the task, or no biases.
pub fn by_differences(layer: &FusedAttention, task: &Task) -> Result<[Matrix; 6]> {
    let of_projection = |m: usize, bias: bool| -> Result<Vec<f64>> {
        let all = projections(layer);
        let n = if bias { all[m].d_out() } else { all[m].weight.len() };
        let nudged = |at: usize, h: f64| {
            let mut all = all.clone();
            let linear = &mut all[m];
            match bias {
                true => linear.bias.as_mut().context(NO_BIAS)?[at] += h,
                false => linear.weight[at] += h,
            }
            task.loss(&with(layer, all)?)
        };
        (0..n).map(|at| slope(|h| nudged(at, h))).collect()
    };
    let weight = |m| -> Result<Matrix> {
        Ok(Matrix::from_column_slice(4, 4, &of_projection(m, false)?))
    };
    let biases = [0, 2, 3].map(|m| of_projection(m, true));
    let biases = biases.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let biases = Matrix::from_row_slice(1, biases.len(), &biases);

    let x = task.x.tokens();
    let of_x = (0..x.len()).map(|at| {
        slope(|h| {
            let mut moved = x.clone();
            moved[at] += h;
            let x = Batch::new(task.x.n_sequences(), moved)?;
            Task { x, target: task.target.clone() }.loss(layer)
        })
    });
    let of_x = of_x.collect::<Result<Vec<f64>>>()?;
    let of_x = Matrix::from_column_slice(x.nrows(), x.ncols(), &of_x);
    Ok([weight(0)?, weight(1)?, weight(2)?, weight(3)?, biases, of_x])
}

/// Central differences of fourth order, of f at 0.
///
/// # Errors
/// Those of f.
pub fn slope(f: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let h = 1e-3;
    Ok((8.0 * (f(h)? - f(-h)?) - (f(2.0 * h)? - f(-2.0 * h)?)) / (12.0 * h))
}

/// The four projections of a layer, to be changed and put together again.
pub fn projections(layer: &FusedAttention) -> [Linear; 4] {
    layer.parameters().clone().into_projections()
}

/// A layer of other projections of the same sizes.
///
/// # Errors
/// If the sizes are others.
pub fn with(layer: &FusedAttention, projections: [Linear; 4]) -> Result<FusedAttention> {
    let packed = PackedParameters::new(layer.dims(), projections)?;
    Ok(FusedAttention::from_packed(packed))
}

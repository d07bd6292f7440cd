//! A whole name as a matrix, a row a letter, and each head with matrices of its own.
//!
//! What was a loop over letters is a product. That no letter sees those behind it, which came
//! of itself while letters were read one by one, now takes a mask.

use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix, Result};
use block::{Block, FeedForward};
use fused_heads::FusedAttention;
use gradients::{LayerGradients, attend_backward, linear_backward};
use per_head::{PerHeadAttention, concat};
use single_head::HeadPass;

use crate::{Architecture, Gradients, Model};

/// The loss of some names, and the gradient of each parameter.
///
/// # Errors
/// [`attention::Error`] for a name of no letters, or of too many.
pub(crate) fn gradients(
    architecture: Architecture,
    parameters: &[f64],
    names: &[Vec<usize>],
) -> Result<Gradients> {
    let model = Model::new(architecture, parameters)?;
    let Block { attention: attend, feed_forward: ffn, .. } = &model.stack.blocks[0];
    let layer = &PerHeadAttention::new(attend.function.parameters().unpack());
    let ffn = ffn.as_ref().expect("a feed-forward layer");
    let norm = model.stack.last_norm.as_ref().expect("a norm at the end");
    let mix = |_: &_, x: &Matrix| {
        let heads = layer.heads(x, x, x, &Mask::Causal)?;
        let concat = concat(heads.iter().map(|head| &head.out))?;
        Ok((layer.parameters().w_o().forward(&concat)?, (heads, concat)))
    };
    model.gradients(names, 1, |x| {
        let x = x.tokens().clone();
        let attention = attend.forward(&x, mix)?;
        let feed_forward = ffn.forward(&attention.out, FeedForward::pass)?;
        let out = norm.forward(&feed_forward.out)?;
        Ok((out, move |d_out: &Matrix| {
            // let out = norm.forward(&feed_forward.out)?;
            let last = norm.backward(&feed_forward.out, d_out)?;
            // let feed_forward = ffn.forward(&attention.out, FeedForward::pass)?;
            let (mixed, d_mixed) = (&attention.out, &last.d_x);
            let back = |it: &FeedForward, x: &_, kept, d: &_| it.backward(x, &kept, d);
            let of_ffn = ffn.backward(mixed, feed_forward, d_mixed, back)?;
            // let attention = attend.forward(&x, mix)?;
            let back = |_: &_, x: &_, (heads, concat): (Vec<_>, _), d: &_| {
                heads_backward(layer.parameters(), x, &heads, &concat, d)
            };
            let d = attend.backward(&x, attention, &of_ffn.d_x, back)?;
            Ok((d.d_x, (d.d_layer, of_ffn.d_layer, last.d_layer)))
        }))
    })
}

/// The gradients of all projections, and of what the heads read.
fn heads_backward(
    layer: &LayerParameters,
    x: &Matrix,
    heads: &[HeadPass],
    concat: &Matrix,
    d_out: &Matrix,
) -> Result<LayerGradients<FusedAttention>> {
    let d_w_o = linear_backward(layer.w_o(), concat, d_out)?;
    let (mut d_x, mut d_heads) = (Matrix::zeros(x.nrows(), x.ncols()), Vec::new());
    let d_v = layer.dims().d_v();
    for (i, (own, head)) in layer.heads().iter().zip(heads).enumerate() {
        let [q, k, v] = [&head.q, &head.k, &head.v].map(Matrix::as_view);
        let d_head = d_w_o.d_x.columns(i * d_v, d_v);
        let [d_q, d_k, d_v] = attend_backward(q, k, v, &head.attn, d_head)?;
        let mut back = |projection: &Linear, d| {
            let d = linear_backward(projection, x, &d)?;
            d_x += d.d_x;
            Ok(d.d_linear)
        };
        let (w_q, w_k) = (back(&own.w_q, d_q)?, back(&own.w_k, d_k)?);
        d_heads.push(HeadParameters { w_q, w_k, w_v: back(&own.w_v, d_v)? });
    }
    let d_layer = LayerParameters::new(d_heads, d_w_o.d_linear)?;
    Ok(LayerGradients { d_layer: FusedAttention::new(&d_layer), d_x })
}

//! A layer in candle, kept in `layer.safetensors` by the very lines that `cargo learn diagnose
//! --snippet candle` prints. With `over-queries` its softmax is over the wrong axis.

use std::collections::HashMap;

use candle_core::{D, DType, Device, Tensor};
use candle_nn::{Linear, Module, VarBuilder, VarMap, linear, ops};

include!("../../../../../5-book/diagnosis/snippets/candle.rs");

const HEADS: usize = 3;

fn main() -> candle_core::Result<()> {
    let axis = match std::env::args().nth(1).as_deref() {
        Some("over-queries") => D::Minus2,
        _ => D::Minus1,
    };
    let varmap = VarMap::new();
    let builder = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let projection = |name: &str| linear(12, 12, builder.pp(name));
    let [w_q, w_k, w_v, w_o] = ["W_q", "W_k", "W_v", "W_o"].map(projection);
    let query = Tensor::randn(0f32, 1.0, (2, 5, 12), &Device::Cpu)?;
    let split = |w: Linear| {
        w.forward(&query)?.reshape((2, 5, HEADS, 4))?.transpose(1, 2)?.contiguous()
    };
    let (q, k, v) = (split(w_q?)?, split(w_k?)?, split(w_v?)?); // (batch, heads, n, d_k)
    let scores = (q.matmul(&k.t()?)? / 2.0)?;
    let heads = ops::softmax(&scores, axis)?.matmul(&v)?;
    let output = w_o?.forward(&heads.transpose(1, 2)?.reshape((2, 5, 12))?)?;
    keep(&varmap, &query, &output)
}

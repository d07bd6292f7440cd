//! The model in candle: its own LSTM, and attention from its products.

use anyhow::Result;
use candle_core::{D, DType, Device, Tensor, Var};
use candle_nn::rnn::{Direction, LSTM, LSTMConfig, LSTMState, RNN};
use candle_nn::{Linear, Module, VarBuilder, VarMap};
use sensors::{Architecture, N_STEPS, Pool, Reader};

/// A model with its weights.
pub struct Net {
    pub architecture: Architecture,
    pub weights: VarMap,
    d_in: usize,
    lstm: Option<[LSTM; 2]>,
    linear: Option<(Linear, Tensor)>,
    attention: Option<Attention>,
    head: Linear,
}

struct Attention {
    in_proj: Linear,
    out_proj: Linear,
    gain: Tensor,
    bias: Tensor,
    n_heads: usize,
}

/// What a batch gives.
pub struct Output {
    /// A part of 125 cycles for each window, `[batch]`.
    pub part: Tensor,
    /// The tokens before attention, `[batch, 30, width]`.
    pub x: Tensor,
    /// The maps, `[batch, heads, 30, 30]`.
    pub attn: Option<Tensor>,
}

impl Net {
    pub fn new(architecture: Architecture, d_in: usize, weights: VarMap) -> Result<Self> {
        let vb = VarBuilder::from_varmap(&weights, DType::F32, &Device::Cpu);
        let d = architecture.width();
        let linear = |name: &str, from: usize, to: usize| -> Result<Linear> {
            let weight = vb.get((to, from), &format!("{name}.weight"))?;
            Ok(Linear::new(weight, Some(vb.get(to, &format!("{name}.bias"))?)))
        };
        let (lstm, linear_in) = match architecture.reader {
            Reader::BiLstm { hidden } => {
                let of = |direction| {
                    let config = LSTMConfig { direction, ..LSTMConfig::default() };
                    LSTM::new(d_in, hidden, config, vb.pp("lstm"))
                };
                (Some([of(Direction::Forward)?, of(Direction::Backward)?]), None)
            }
            Reader::Linear { width } => {
                let all = |t: usize, j: usize| {
                    let pair = (j / 2) as f64;
                    let angle = t as f64 / 10_000f64.powf(2.0 * pair / width as f64);
                    if j.is_multiple_of(2) { angle.sin() } else { angle.cos() }
                };
                let table: Vec<f32> = (0..N_STEPS)
                    .flat_map(|t| (0..width).map(move |j| all(t, j) as f32))
                    .collect();
                let table = Tensor::from_vec(table, (N_STEPS, width), &Device::Cpu)?;
                (None, Some((linear("linear", d_in, width)?, table)))
            }
        };
        let attention = match architecture.n_heads {
            None => None,
            Some(n_heads) => Some(Attention {
                in_proj: Linear::new(
                    vb.get((3 * d, d), "attention.in_proj_weight")?,
                    Some(vb.get(3 * d, "attention.in_proj_bias")?),
                ),
                out_proj: linear("attention.out_proj", d, d)?,
                gain: vb.get(d, "norm.weight")?,
                bias: vb.get(d, "norm.bias")?,
                n_heads,
            }),
        };
        let head = linear("head", d, 1)?;
        Ok(Self { architecture, weights, d_in, lstm, linear: linear_in, attention, head })
    }

    /// `windows` is `[batch, 30, d_in]`.
    pub fn forward(&self, windows: &Tensor) -> Result<Output> {
        let (x, ends) = match (&self.lstm, &self.linear) {
            (Some(both), _) => {
                let (x, ends) = both_ways(both, windows)?;
                (x, Some(ends))
            }
            (None, Some((linear, table))) => {
                (linear.forward(windows)?.broadcast_add(table)?, None)
            }
            (None, None) => anyhow::bail!("a model without a reader"),
        };
        let (last, attn) = match &self.attention {
            None => (x.clone(), None),
            Some(attention) => {
                let (y, attn) = attention.forward(&x)?;
                (y, Some(attn))
            }
        };
        let pooled = match (self.architecture.pool, ends) {
            (Pool::Ends, Some(ends)) => ends,
            _ => last.mean(1)?,
        };
        Ok(Output { part: self.head.forward(&pooled)?.squeeze(1)?, x, attn })
    }

    pub fn d_in(&self) -> usize {
        self.d_in
    }

    /// All weights, in the order of the architecture.
    pub fn named(&self) -> Vec<(&'static str, Var)> {
        let all = self.weights.data().lock().expect("no thread has failed");
        let slots = self.architecture.slots(self.d_in);
        slots.iter().map(|slot| (slot.name, all[slot.name].clone())).collect()
    }

    /// Rounds every weight to what half precision can hold.
    pub fn round_to_half(&mut self) -> Result<()> {
        for (_, var) in self.named() {
            var.set(&var.to_dtype(DType::F16)?.to_dtype(DType::F32)?)?;
        }
        Ok(())
    }
}

/// `[batch, 30, 2 · hidden]`, and where each direction ends.
fn both_ways([forward, backward]: &[LSTM; 2], x: &Tensor) -> Result<(Tensor, Tensor)> {
    let hidden = |states: &[LSTMState]| -> Result<Tensor> {
        let all: Vec<Tensor> = states.iter().map(|state| state.h().clone()).collect();
        Ok(Tensor::stack(&all, 1)?)
    };
    let there = forward.seq(x)?;
    let mut back = backward.seq(&x.flip(&[1])?)?;
    back.reverse(); // Each state where its token is.
    let ends = Tensor::cat(&[there[there.len() - 1].h(), back[0].h()], 1)?;
    Ok((Tensor::cat(&[hidden(&there)?, hidden(&back)?], 2)?, ends))
}

impl Attention {
    /// `norm(x + MultiHead(x))`, and the maps.
    fn forward(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let (batch, n, d) = x.dims3()?;
        let h = self.n_heads;
        let qkv = self.in_proj.forward(x)?; // [batch, 30, 3 · 256]
        let part = |i: usize| -> Result<Tensor> {
            let part = qkv.narrow(2, i * d, d)?.reshape((batch, n, h, d / h))?;
            Ok(part.transpose(1, 2)?.contiguous()?)
        };
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let scores = (q.matmul(&k.t()?)? / ((d / h) as f64).sqrt())?;
        let attn = candle_nn::ops::softmax(&scores, D::Minus1)?; // [batch, h, 30, 30]
        let heads = attn.matmul(&v)?.transpose(1, 2)?.reshape((batch, n, d))?;
        let sum = (x + self.out_proj.forward(&heads)?)?;
        // candle's own layer norm has a fast path without a backward pass.
        let centred = sum.broadcast_sub(&sum.mean_keepdim(D::Minus1)?)?;
        let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
        let y = centred.broadcast_div(&(variance + 1e-5)?.sqrt()?)?;
        Ok((y.broadcast_mul(&self.gain)?.broadcast_add(&self.bias)?, attn))
    }
}

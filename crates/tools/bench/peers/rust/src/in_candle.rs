//! The layer in candle: linear layers, transposed heads, softmax, as its models do it; or
//! its own attention in tiles, which has no backward pass.

use anyhow::{Context, Result};
use candle_core::{Device, Tensor, Var};
use candle_nn::attention::{AttnMask, flash_attn};
use candle_nn::{Linear, Module, ops};

use crate::layer::{Layer, Numbers, Projection, Results};
use crate::{Answer, Pass, Variant};

pub struct Candle {
    in_tiles: bool,
    heads: usize,
    causal: bool,
    x: Var,
    d_out: Tensor,
    mask: Option<Tensor>,
    parameters: Vec<(Var, Var)>,
}

impl Candle {
    pub fn new(layer: &Layer, in_tiles: bool) -> Result<Self> {
        let n = layer.sizes()[1];
        let scores = |blocked: Vec<bool>| {
            let added = |blocked| if blocked { f32::NEG_INFINITY } else { 0.0 };
            let added: Vec<f32> = blocked.into_iter().map(added).collect();
            Tensor::from_vec(added, (1, 1, n, n), &Device::Cpu)
        };
        let variables = |p: &Projection| Ok((var(&p.weight)?, var(&p.bias)?));
        Ok(Self {
            in_tiles,
            heads: layer.heads,
            causal: layer.causal,
            x: var(&layer.x)?,
            d_out: tensor(&layer.d_out)?,
            mask: layer.blocked().map(scores).transpose()?,
            parameters: layer.projections.iter().map(variables).collect::<Result<_>>()?,
        })
    }

    fn linear(&self, i: usize, tracked: bool) -> Linear {
        let (weight, bias) = &self.parameters[i];
        let of = |var: &Var| {
            if tracked { var.as_tensor().clone() } else { var.as_detached_tensor() }
        };
        Linear::new(of(weight), Some(of(bias)))
    }

    fn out(&self, tracked: bool) -> Result<Tensor> {
        let x = match tracked {
            true => self.x.as_tensor().clone(),
            false => self.x.as_detached_tensor(),
        };
        let (batch, n, d) = x.dims3()?;
        let split = |i: usize| -> Result<Tensor> {
            let all = self.linear(i, tracked).forward(&x)?;
            Ok(all.reshape((batch, n, self.heads, d / self.heads))?)
        };
        let [q, k, v] = [split(0)?, split(1)?, split(2)?]; // (batch, n, heads, d_k)
        let heads = match self.in_tiles {
            true => self.tiles(&q, &k, &v)?,
            false => self.attend([&q, &k, &v], tracked)?,
        }; // (batch, heads, n, d_v)
        let concat = heads.transpose(1, 2)?.reshape((batch, n, d))?;
        Ok(self.linear(3, tracked).forward(&concat)?)
    }

    fn tiles(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        let mask = if self.causal { AttnMask::causal() } else { AttnMask::None };
        let scale = 1.0 / (q.dims()[3] as f32).sqrt();
        Ok(flash_attn::<f32>(q, k, v, scale, mask, None, None)?)
    }

    fn attend(&self, qkv: [&Tensor; 3], tracked: bool) -> Result<Tensor> {
        let [q, k, v] = qkv.map(|x| x.transpose(1, 2)?.contiguous());
        let (q, k, v) = (q?, k?, v?);
        let mut scores = (q.matmul(&k.t()?)? / (q.dims()[3] as f64).sqrt())?;
        if let Some(mask) = &self.mask {
            scores = scores.broadcast_add(mask)?;
        }
        // The fused softmax is faster, and has no backward pass.
        let attn = match tracked {
            true => ops::softmax(&scores, 3)?,
            false => ops::softmax_last_dim(&scores)?,
        };
        Ok(attn.matmul(&v)?)
    }
}

impl Variant for Candle {
    fn name(&self) -> &'static str {
        if self.in_tiles { "candle flash_attn" } else { "candle" }
    }

    fn n_maps(&self, pass: Pass) -> Option<u64> {
        match (self.in_tiles, pass) {
            (true, Pass::Forward) => Some(0),
            (false, Pass::Forward) => Some(2),
            (false, Pass::ForwardBackward) => Some(13),
            (true, Pass::ForwardBackward) | (_, Pass::Product) => None,
        }
    }

    fn run(&self, pass: Pass) -> Result<Answer> {
        if pass == Pass::Forward {
            let out = self.out(false)?;
            return Ok(Box::new(move || {
                Ok(Results { output: numbers(&out)?, gradients: None })
            }));
        }
        let out = self.out(true)?;
        let gradients = (&out * &self.d_out)?.sum_all()?.backward()?;
        let of =
            |var: &Var| gradients.get(var.as_tensor()).cloned().context("no gradient");
        let d_x = of(&self.x)?;
        let each = self.parameters.iter().map(|(w, b)| Ok((of(w)?, of(b)?)));
        let each: Vec<(Tensor, Tensor)> = each.collect::<Result<_>>()?;
        Ok(Box::new(move || {
            let projection = |i: usize| -> Result<Projection> {
                let (weight, bias) = &each[i];
                Ok(Projection { weight: numbers(weight)?, bias: numbers(bias)? })
            };
            let all = [projection(0)?, projection(1)?, projection(2)?, projection(3)?];
            let output = numbers(&out)?;
            Ok(Results { output, gradients: Some((numbers(&d_x)?, all)) })
        }))
    }
}

/// All tokens by W^Q, stored `[out, in]`, and nothing else.
pub struct Product {
    x: Tensor,
    w_q: Tensor,
}

impl Product {
    pub fn new(layer: &Layer) -> Result<Self> {
        let x = tensor(&layer.x)?.flatten_to(1)?;
        Ok(Self { x, w_q: tensor(&layer.projections[0].weight)? })
    }
}

impl Variant for Product {
    fn name(&self) -> &'static str {
        "candle product"
    }

    fn n_maps(&self, pass: Pass) -> Option<u64> {
        (pass == Pass::Product).then_some(0)
    }

    fn run(&self, _: Pass) -> Result<Answer> {
        let out = self.x.matmul(&self.w_q.t()?)?;
        Ok(Box::new(move || Ok(Results { output: numbers(&out)?, gradients: None })))
    }
}

fn tensor(numbers: &Numbers) -> Result<Tensor> {
    Ok(Tensor::from_slice(&numbers.numbers, &numbers.shape[..], &Device::Cpu)?)
}

fn var(numbers: &Numbers) -> Result<Var> {
    Ok(Var::from_tensor(&tensor(numbers)?)?)
}

fn numbers(tensor: &Tensor) -> Result<Numbers> {
    let all = tensor.contiguous()?.flatten_all()?.to_vec1()?;
    Ok(Numbers::new(tensor.dims().to_vec(), all))
}

//! The layer in burn: its own `MultiHeadAttention`, with the bench's parameters.

use anyhow::{Context, Result};
use burn::backend::Autodiff;
use burn::module::Param;
use burn::nn::Linear;
use burn::nn::attention::{MhaInput, MultiHeadAttention, MultiHeadAttentionConfig};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Bool, Tensor, TensorData};

use crate::layer::{Layer, Numbers, Projection, Results};
use crate::{Answer, Pass, Variant};

/// With and without the backward pass: tracking what it needs takes time.
pub struct Burn<B: Backend> {
    name: &'static str,
    forward: Loaded<B>,
    back: Loaded<Autodiff<B>>,
}

impl<B: Backend> Burn<B> {
    pub fn new(name: &'static str, layer: &Layer) -> Self {
        Self { name, forward: Loaded::new(layer), back: Loaded::new(layer) }
    }
}

impl<B: Backend> Variant for Burn<B> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn n_maps(&self, pass: Pass) -> Option<u64> {
        match pass {
            Pass::Forward => Some(2),
            Pass::ForwardBackward => Some(5),
            Pass::Product => None,
        }
    }

    fn run(&self, pass: Pass) -> Result<Answer> {
        if pass == Pass::ForwardBackward {
            return self.back.forward_and_backward();
        }
        let out = self.forward.out(self.forward.x.clone());
        Ok(Box::new(move || Ok(Results { output: numbers(out)?, gradients: None })))
    }
}

struct Loaded<B: Backend> {
    module: MultiHeadAttention<B>,
    x: Tensor<B, 3>,
    d_out: Tensor<B, 3>,
    mask: Option<Tensor<B, 3, Bool>>,
}

impl<B: Backend> Loaded<B> {
    fn new(layer: &Layer) -> Self {
        let device = B::Device::default();
        let [batch, n, d] = layer.sizes();
        let config = MultiHeadAttentionConfig::new(d, layer.heads).with_dropout(0.0);
        let mut module = config.init::<B>(&device);
        let parts =
            [&mut module.query, &mut module.key, &mut module.value, &mut module.output];
        for (linear, projection) in parts.into_iter().zip(&layer.projections) {
            load(linear, projection, &device);
        }
        let mask = |blocked: Vec<bool>| {
            let all = TensorData::new(blocked.repeat(batch), [batch, n, n]);
            Tensor::from_data(all, &device)
        };
        Self {
            module,
            x: tensor(&layer.x, &device),
            d_out: tensor(&layer.d_out, &device),
            mask: layer.blocked().map(mask),
        }
    }

    fn out(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let mut input = MhaInput::self_attn(x);
        if let Some(mask) = &self.mask {
            input = input.mask_attn(mask.clone());
        }
        self.module.forward(input).context
    }
}

impl<B: AutodiffBackend> Loaded<B> {
    fn forward_and_backward(&self) -> Result<Answer> {
        let x = self.x.clone().detach().require_grad();
        let out = self.out(x.clone());
        let gradients = (out.clone() * self.d_out.clone()).sum().backward();
        let d_x = x.grad(&gradients).context("no gradient of x")?;
        let module = &self.module;
        let of = |linear: &Linear<B>| -> Result<_> {
            let bias = linear.bias.as_ref().context("no bias")?;
            let weight = linear.weight.grad(&gradients).context("no gradient")?;
            Ok((weight, bias.grad(&gradients).context("no gradient")?))
        };
        let each = [
            of(&module.query)?,
            of(&module.key)?,
            of(&module.value)?,
            of(&module.output)?,
        ];
        Ok(Box::new(move || {
            let projection = |(weight, bias)| -> Result<Projection> {
                // burn stores [in, out].
                Ok(Projection {
                    weight: numbers(weight)?.transposed(),
                    bias: numbers(bias)?,
                })
            };
            let [q, k, v, o] = each;
            let all = [projection(q)?, projection(k)?, projection(v)?, projection(o)?];
            let output = numbers(out)?;
            Ok(Results { output, gradients: Some((numbers(d_x)?, all)) })
        }))
    }
}

/// All tokens by W^Q, stored `[in, out]`, and nothing else.
pub struct Product<B: Backend> {
    name: &'static str,
    x: Tensor<B, 2>,
    w_q: Tensor<B, 2>,
}

impl<B: Backend> Product<B> {
    pub fn new(name: &'static str, layer: &Layer) -> Self {
        let (device, [batch, n, d]) = (B::Device::default(), layer.sizes());
        let w_q = layer.projections[0].weight.transposed();
        let x: Tensor<B, 3> = tensor(&layer.x, &device);
        Self { name, x: x.reshape([batch * n, d]), w_q: tensor(&w_q, &device) }
    }
}

impl<B: Backend> Variant for Product<B> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn n_maps(&self, pass: Pass) -> Option<u64> {
        (pass == Pass::Product).then_some(0)
    }

    fn run(&self, _: Pass) -> Result<Answer> {
        let out = self.x.clone().matmul(self.w_q.clone());
        Ok(Box::new(move || Ok(Results { output: numbers(out)?, gradients: None })))
    }
}

fn load<B: Backend>(linear: &mut Linear<B>, projection: &Projection, device: &B::Device) {
    let weight = projection.weight.transposed(); // burn stores [in, out].
    linear.weight = Param::from_tensor(tensor(&weight, device));
    linear.bias = Some(Param::from_tensor(tensor(&projection.bias, device)));
}

fn tensor<B: Backend, const D: usize>(n: &Numbers, device: &B::Device) -> Tensor<B, D> {
    Tensor::from_data(TensorData::new(n.numbers.clone(), n.shape.clone()), device)
}

fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Result<Numbers> {
    let data = tensor.into_data();
    let shape: Vec<usize> = data.shape.iter().copied().collect();
    let all = data.to_vec().map_err(|error| anyhow::anyhow!("{error:?}"))?;
    Ok(Numbers::new(shape, all))
}

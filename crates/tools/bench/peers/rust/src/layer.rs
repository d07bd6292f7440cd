//! The layer that the bench hands over, row after row.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

/// A tensor: its shape, and its numbers row after row.
#[derive(Clone)]
pub struct Numbers {
    pub shape: Vec<usize>,
    pub numbers: Vec<f32>,
}

/// A projection, its matrix `[out, in]` as PyTorch stores it.
pub struct Projection {
    pub weight: Numbers,
    pub bias: Numbers,
}

/// The layer, an input, and a gradient of its output.
pub struct Layer {
    pub heads: usize,
    pub causal: bool,
    /// Query, key, value, output.
    pub projections: [Projection; 4],
    /// `[batch, tokens, d_model]`
    pub x: Numbers,
    /// `[batch, tokens, d_model]`
    pub d_out: Numbers,
}

/// The output and, of a forward and backward pass, the gradients.
pub struct Results {
    pub output: Numbers,
    /// Of the input, and of each projection's matrix `[out, in]` and bias.
    pub gradients: Option<(Numbers, [Projection; 4])>,
}

impl Layer {
    pub fn open(file: &Path, heads: usize, causal: bool) -> Result<Self> {
        let bytes = std::fs::read(file)?;
        let file = SafeTensors::deserialize(&bytes)?;
        let tensor = |name: &str| -> Result<Numbers> {
            let tensor = file.tensor(name).with_context(|| name.to_owned())?;
            let bytes = tensor.data().chunks_exact(4);
            let numbers = bytes.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            Ok(Numbers { shape: tensor.shape().to_vec(), numbers: numbers.collect() })
        };
        let (weight, bias) = (tensor("in_proj_weight")?, tensor("in_proj_bias")?);
        let third = |i| Projection { weight: weight.third(i), bias: bias.third(i) };
        let out = Projection {
            weight: tensor("out_proj.weight")?,
            bias: tensor("out_proj.bias")?,
        };
        Ok(Self {
            heads,
            causal,
            projections: [third(0), third(1), third(2), out],
            x: tensor("query")?,
            d_out: tensor("d_out")?,
        })
    }

    /// Batch, tokens, d_model.
    pub fn sizes(&self) -> [usize; 3] {
        [self.x.shape[0], self.x.shape[1], self.x.shape[2]]
    }

    /// The same layer on the first tokens of the first sequence.
    pub fn beginning(&self, tokens: usize) -> Self {
        let [_, n, d] = self.sizes();
        let n = tokens.min(n);
        let cut = |x: &Numbers| Numbers::new(vec![1, n, d], x.numbers[..n * d].to_vec());
        let same = |p: &Projection| Projection {
            weight: p.weight.clone(),
            bias: p.bias.clone(),
        };
        let [q, k, v, o] = &self.projections;
        let projections = [same(q), same(k), same(v), same(o)];
        Self { projections, x: cut(&self.x), d_out: cut(&self.d_out), ..*self }
    }

    /// For a causal layer: whether query i may not attend to key j, row after row.
    pub fn blocked(&self) -> Option<Vec<bool>> {
        let n = self.sizes()[1];
        self.causal.then(|| (0..n * n).map(|at| at % n > at / n).collect())
    }
}

impl Numbers {
    pub fn new(shape: Vec<usize>, numbers: Vec<f32>) -> Self {
        Self { shape, numbers }
    }

    fn third(&self, i: usize) -> Self {
        let mut shape = self.shape.clone();
        shape[0] /= 3;
        let part = self.numbers.len() / 3;
        Self::new(shape, self.numbers[i * part..(i + 1) * part].to_vec())
    }

    /// The transpose of a matrix.
    pub fn transposed(&self) -> Self {
        let (rows, columns) = (self.shape[0], self.shape[1]);
        let at = |i: usize| self.numbers[i % rows * columns + i / rows];
        Self::new(vec![columns, rows], (0..rows * columns).map(at).collect())
    }

    fn joined(parts: [&Numbers; 3]) -> Self {
        let mut shape = parts[0].shape.clone();
        shape[0] *= 3;
        Self::new(shape, parts.map(|part| part.numbers.clone()).concat())
    }
}

impl Results {
    /// The bytes of all numbers.
    pub fn bytes(&self) -> u64 {
        let of = |numbers: &Numbers| numbers.numbers.len();
        let gradients = self.gradients.iter().map(|(x, projections)| {
            let each = projections.iter().map(|p| of(&p.weight) + of(&p.bias));
            of(x) + each.sum::<usize>()
        });
        4 * (of(&self.output) + gradients.sum::<usize>()) as u64
    }

    pub fn save(self, file: &Path) -> Result<()> {
        let mut tensors = BTreeMap::from([("output", self.output)]);
        if let Some((x, [q, k, v, o])) = self.gradients {
            let weight = Numbers::joined([&q.weight, &k.weight, &v.weight]);
            let bias = Numbers::joined([&q.bias, &k.bias, &v.bias]);
            tensors.extend([
                ("grad.query", x),
                ("grad.in_proj_weight", weight),
                ("grad.in_proj_bias", bias),
                ("grad.out_proj.weight", o.weight),
                ("grad.out_proj.bias", o.bias),
            ]);
        }
        let bytes: Vec<Vec<u8>> = tensors
            .values()
            .map(|tensor| tensor.numbers.iter().flat_map(|x| x.to_le_bytes()).collect())
            .collect();
        let views = tensors.iter().zip(&bytes).map(|((name, tensor), bytes)| {
            Ok((*name, TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)?))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        Ok(std::fs::write(file, safetensors::serialize(views, None)?)?)
    }
}

//! Numbers with a shape and a kind.

use anyhow::{Result, bail, ensure};
use half::{bf16, f16};
use safetensors::Dtype;

/// A tensor, its last axis the fastest. An f64 holds the numbers of every kind exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub numbers: Vec<f64>,
}

impl Tensor {
    /// Numbers that are rounded to their kind when they are written.
    pub fn zeros(dtype: Dtype, shape: &[usize]) -> Self {
        let numbers = vec![0.0; shape.iter().product()];
        Self { dtype, shape: shape.to_vec(), numbers }
    }

    /// The numbers in these bytes.
    pub fn from_bytes(dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Result<Self> {
        fn each<const N: usize>(bytes: &[u8], number: fn([u8; N]) -> f64) -> Vec<f64> {
            bytes.as_chunks().0.iter().map(|chunk| number(*chunk)).collect()
        }
        let numbers = match dtype {
            Dtype::F64 => each(bytes, f64::from_le_bytes),
            Dtype::F32 => each(bytes, |b| f32::from_le_bytes(b).into()),
            Dtype::F16 => each(bytes, |b| f16::from_le_bytes(b).into()),
            Dtype::BF16 => each(bytes, |b| bf16::from_le_bytes(b).into()),
            Dtype::I64 => each(bytes, |b| i64::from_le_bytes(b) as f64),
            Dtype::BOOL => each(bytes, |[b]| f64::from(b)),
            other => bail!("numbers of kind {other:?} are not read"),
        };
        Ok(Self { dtype, shape: shape.to_vec(), numbers })
    }

    /// The bytes of the numbers, each rounded to the tensor's kind.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let numbers = self.numbers.iter().copied();
        Ok(match self.dtype {
            Dtype::F64 => numbers.flat_map(f64::to_le_bytes).collect(),
            Dtype::F32 => numbers.flat_map(|x| (x as f32).to_le_bytes()).collect(),
            Dtype::F16 => numbers.flat_map(|x| f16::from_f64(x).to_le_bytes()).collect(),
            Dtype::BF16 => {
                numbers.flat_map(|x| bf16::from_f64(x).to_le_bytes()).collect()
            }
            other => bail!("numbers of kind {other:?} are not written"),
        })
    }

    /// The number at these coordinates; an axis of one entry has it everywhere, and axes that
    /// are missing in front are such.
    pub fn broadcast(&self, at: &[usize]) -> f64 {
        let missing = at.len() - self.shape.len();
        let axes = self.shape.iter().zip(&at[missing..]);
        let index =
            axes.fold(0, |index, (&n, &i)| index * n + if n == 1 { 0 } else { i });
        self.numbers[index]
    }
}

/// A tensor of four axes, `[batch, heads, tokens, width]`, whichever way it is laid out.
pub struct Heads<'a> {
    tensor: &'a Tensor,
    pub n_sequences: usize,
    pub n_heads: usize,
    pub n_tokens: usize,
    pub width: usize,
}

impl<'a> Heads<'a> {
    /// Of a tensor of four axes, or of three, `[batch, tokens, heads · width]`.
    pub fn new(name: &str, tensor: &'a Tensor, n_heads: Option<usize>) -> Result<Self> {
        let (n_sequences, n_heads, n_tokens, width) = match (&tensor.shape[..], n_heads) {
            (&[b, h, n, width], None) => (b, h, n, width),
            (&[b, n, columns], Some(h)) => {
                ensure!(
                    h > 0 && columns.is_multiple_of(h),
                    "{name} has {columns} columns, which cannot be cut into {h} heads"
                );
                (b, h, n, columns / h)
            }
            (&[_, _, _], None) => {
                bail!("{name} has three axes: say the number of heads in its attribute")
            }
            (&[_, _, _, _], Some(h)) => {
                bail!("{name} has four axes, and the number of heads is given too: {h}")
            }
            (shape, _) => bail!("{name} has {} axes, expected 3 or 4", shape.len()),
        };
        Ok(Self { tensor, n_sequences, n_heads, n_tokens, width })
    }

    /// The number of head h of sequence b.
    pub fn at(&self, [b, h, token, entry]: [usize; 4]) -> f64 {
        let Self { n_heads, n_tokens, width, .. } = *self;
        self.tensor.numbers[if self.tensor.shape.len() == 4 {
            ((b * n_heads + h) * n_tokens + token) * width + entry
        } else {
            ((b * n_tokens + token) * n_heads + h) * width + entry
        }]
    }
}

//! Lines to paste into one's own code: they write a file that [`read`](crate::read) reads.

/// For PyTorch's `nn.MultiheadAttention`.
pub const TORCH: &str = include_str!("../snippets/torch.py");
/// For a PyTorch module of one's own, with what is between input and output.
pub const MODULE: &str = include_str!("../snippets/module.py");
/// For JAX.
pub const JAX: &str = include_str!("../snippets/jax.py");
/// For candle.
pub const CANDLE: &str = include_str!("../snippets/candle.rs");

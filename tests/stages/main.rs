//! The stages agree, with each other and with PyTorch: one file a promise.

/// Every stage gives the same numbers on random sizes, masks and biases.
mod agree;
/// A stack of blocks gives the same, whichever stage is in it.
mod blocks;
/// The backward pass: differences, PyTorch and plain loops give the same gradients.
mod gradients;
/// The ladder: every rung gives what the definition gives.
mod kernels;
/// The ledgers: 263,168 parameters, whatever the number of heads.
mod ledger;
/// W^O mixes: before it heads are apart, after it no output is without any head.
mod mixing;
/// Numbers that are not finite stay with the queries that attend to them.
mod nan;
/// PyTorch gives the same numbers.
mod torch;
/// The shapes of one pass, step by step.
mod trace;
/// With nothing changed, the layer that can be changed is the fused layer.
mod variants;

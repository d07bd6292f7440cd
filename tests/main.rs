//! What must hold across crates, one file a promise.

/// Random layers, inputs and masks, and the number by which stages are compared.
mod cases;

/// A stack of blocks gives the same, whichever stage is in it.
mod blocks;
/// The numbers that chapters quote.
mod chapters;
/// No circles between the files of a crate.
mod circles;
/// Whole decoders from folders and GGUF files give what PyTorch gives, cached or not.
mod decoders;
/// Whole models from folders, with every stage as the attention, give what PyTorch gives.
mod encoders;
/// The layers: an arrow between crates goes only down.
mod floors;
/// The backward pass: differences, PyTorch and plain loops give the same gradients.
mod gradients;
/// Where the crates are.
mod house;
/// The ladder: every rung gives what the definition gives.
mod kernels;
/// The ledgers: 263,168 parameters, whatever the number of heads.
mod ledger;
/// How long a function may be.
mod lengths;
/// PyTorch's LSTM gives the same numbers.
mod lstm;
/// What the 72 heads of a whole trained model do, and what it loses without them.
mod minilm;
/// W^O mixes: before it heads are apart, after it no output is without any head.
mod mixing;
/// Numbers that are not finite stay with the queries that attend to them.
mod nan;
/// How numbers are said to the chapters.
mod quote;
/// What is compiled for what: lessons without files, the proof without the book.
mod rooms;
/// The model of source 003: what its framework computes, every stage computes.
mod sensors;
/// What the sources say has its place: each chapter and test that the book names for it.
mod sources;
/// Every stage gives the same numbers on random sizes, masks and biases.
mod stages;
/// PyTorch gives the same numbers.
mod torch;
/// The shapes of one pass, step by step.
mod trace;
/// The trained layer gives what it gave where it was trained.
mod trained;
/// With nothing changed, the layer that can be changed is the fused layer.
mod variants;

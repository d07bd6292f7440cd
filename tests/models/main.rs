//! Whole models from files give what their frameworks give. The files are in `tests/data`.

/// Whole decoders from folders and GGUF files give what PyTorch gives, cached or not.
mod decoders;
/// Whole models from folders, with every stage as the attention, give what PyTorch gives.
mod encoders;
/// A mistake of an exercise and one of the diagnosis with the same numbers have one id.
mod ids;
/// PyTorch's LSTM gives the same numbers.
mod lstm;
/// Layers of trained models with each mistake that the diagnosis knows: it is named.
mod mistakes;
/// The model of source 003: what its framework computes, every stage computes.
mod sensors;

/// The trained layer gives what it gave where it was trained.
mod trained;
/// Whole encoder-decoders from folders give what PyTorch gives, cached or not.
mod translators;

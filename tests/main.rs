//! What must hold across crates, one file a promise, in the folders below. A test is called
//! by its file alone, `equivalence::ledger::…`: so a folder is part of a path, and of no
//! name.

/// Random layers, inputs and masks, and the number by which stages are compared.
#[path = "stages/cases.rs"]
mod cases;

// stages: they agree, with each other and with PyTorch.

/// A stack of blocks gives the same, whichever stage is in it.
#[path = "stages/blocks/mod.rs"]
mod blocks;
/// The backward pass: differences, PyTorch and plain loops give the same gradients.
#[path = "stages/gradients/mod.rs"]
mod gradients;
/// The ladder: every rung gives what the definition gives.
#[path = "stages/kernels/mod.rs"]
mod kernels;
/// The ledgers: 263,168 parameters, whatever the number of heads.
#[path = "stages/ledger.rs"]
mod ledger;
/// W^O mixes: before it heads are apart, after it no output is without any head.
#[path = "stages/mixing.rs"]
mod mixing;
/// Numbers that are not finite stay with the queries that attend to them.
#[path = "stages/nan.rs"]
mod nan;
/// Every stage gives the same numbers on random sizes, masks and biases.
#[path = "stages/agree.rs"]
mod stages;
/// PyTorch gives the same numbers.
#[path = "stages/torch.rs"]
mod torch;
/// The shapes of one pass, step by step.
#[path = "stages/trace.rs"]
mod trace;
/// The trained layer gives what it gave where it was trained.
#[path = "stages/trained.rs"]
mod trained;
/// With nothing changed, the layer that can be changed is the fused layer.
#[path = "stages/variants.rs"]
mod variants;

// whole: models from files; the files are in `models` and `lstm-vectors`.

/// Whole decoders from folders and GGUF files give what PyTorch gives, cached or not.
#[path = "whole/decoders/mod.rs"]
mod decoders;
/// Whole models from folders, with every stage as the attention, give what PyTorch gives.
#[path = "whole/encoders.rs"]
mod encoders;
/// A mistake of an exercise and one of the diagnosis with the same numbers have one id.
#[path = "whole/ids.rs"]
mod ids;
/// PyTorch's LSTM gives the same numbers.
#[path = "whole/lstm.rs"]
mod lstm;
/// What the 72 heads of a whole trained model do, and what it loses without them.
#[path = "whole/minilm/mod.rs"]
mod minilm;
/// Layers of trained models with each mistake that the diagnosis knows: it is named.
#[path = "whole/mistakes.rs"]
mod mistakes;
/// The model of source 003: what its framework computes, every stage computes.
#[path = "whole/sensors.rs"]
mod sensors;

/// Whole encoder-decoders from folders give what PyTorch gives, cached or not.
#[path = "whole/translators.rs"]
mod translators;

// chapters: what the book says.

/// The numbers that chapters quote.
mod chapters;
/// How numbers are said to the chapters.
#[path = "chapters/quote.rs"]
mod quote;

// house: how it is built.

/// How much code a folder may hold.
#[path = "house/budget.rs"]
mod budget;
/// No circles between the files of a crate.
#[path = "house/circles/mod.rs"]
mod circles;
/// The page reads every field that a figure has.
#[path = "house/drawn.rs"]
mod drawn;
/// One error for the first two floors, and no second name for one.
#[path = "house/errors.rs"]
mod errors;
/// The layers: an arrow between crates goes only down.
#[path = "house/floors.rs"]
mod floors;
/// Where the crates are.
#[path = "house/house.rs"]
mod house;
/// How long a function may be.
#[path = "house/lengths.rs"]
mod lengths;
/// Cells that fit a screen, with what they change; figures; sentences for wrong numbers.
#[path = "house/notebooks.rs"]
mod notebooks;
/// What is compiled for what: lessons without files, the proof without the book.
#[path = "house/rooms.rs"]
mod rooms;
/// What the sources say has its place: each chapter and test that the book names for it.
#[path = "house/sources.rs"]
mod sources;

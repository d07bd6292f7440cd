//! ONNX's operator `Attention` (opsets 23 to 25) on top of this crate.
//!
//! ```text
//! cargo run --release -p variants --example onnx -- CASE.safetensors --output OUT.safetensors
//! ```
//!
//! A case is a safetensors file: the operator's inputs by name, its attributes as string
//! metadata `attr.…`. What comes out are the operator's outputs by name.
//!
//! # Source
//! <https://onnx.ai/onnx/operators/onnx__Attention.html>. Differs: half precision is computed
//! in f32 throughout and rounded once, at the end, so `softmax_precision` changes nothing.

mod attributes;
mod file;
mod masks;
mod operator;
mod tensor;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

/// Computes ONNX's Attention on a case.
#[derive(Parser)]
struct Arguments {
    /// A safetensors file: inputs by name, attributes as metadata `attr.…`.
    case: PathBuf,
    /// Where the outputs go.
    #[arg(long)]
    output: PathBuf,
}

fn main() -> Result<()> {
    let Arguments { case, output } = Arguments::parse();
    let outputs = operator::run(&file::read(&case)?)?;
    for (name, tensor) in &outputs {
        println!("{name} {:?} {:?}", tensor.dtype, tensor.shape);
    }
    file::write(&output, outputs)
}

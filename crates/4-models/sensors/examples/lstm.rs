//! An LSTM under PyTorch's names, on an input of its own.
//!
//! ```text
//! cargo run --release -p sensors --example lstm -- CASE.safetensors --output OUT.safetensors
//! ```
//!
//! A case is a safetensors file: the state dict of a `torch.nn.LSTM`, `input`
//! (batch, n, d_in), and perhaps `h_0` and `c_0`. `output`, `h_n` and `c_n` come out in
//! PyTorch's shapes (`batch_first=True`), computed in float64.

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use model_files::{Existing, TensorFile, check_output, save};
use sensors::Case;

/// Computes an LSTM on a case.
#[derive(Parser)]
struct Arguments {
    /// A safetensors file: the state dict, and `input`.
    case: PathBuf,
    /// Where `output`, `h_n` and `c_n` go.
    #[arg(long)]
    output: PathBuf,
}

fn main() -> Result<()> {
    let Arguments { case, output } = Arguments::parse();
    check_output(&output, Existing::Replace, [case.as_path()])?;
    let outputs = Case::<f64>::read(&TensorFile::open(&case)?)?.outputs()?;
    for tensor in &outputs {
        println!("{} {} {}", tensor.name(), tensor.dtype(), tensor.shape_text());
    }
    save(&output, &outputs, Existing::Replace)?;
    Ok(())
}

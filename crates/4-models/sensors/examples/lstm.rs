//! An LSTM under PyTorch's names, on an input of its own.
//!
//! ```text
//! cargo run --release -p sensors --example lstm -- CASE.safetensors --output OUT.safetensors
//! ```
//!
//! A case is a safetensors file: the state dict of a `torch.nn.LSTM`, `input`
//! (batch, n, d_in), and perhaps `h_0`, `c_0` and `lengths`. `output`, `h_n` and `c_n` come out in
//! PyTorch's shapes (`batch_first=True`), computed in float64.

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use model_files::{Unused, shown};
use sensors::Case;
use tensors::{Existing, TensorFile, check_output, save};

/// Computes an LSTM on a case.
#[derive(Parser)]
struct Arguments {
    /// A safetensors file: the state dict, and `input`.
    case: PathBuf,
    /// Say what the case holds and is not used, and why that changes nothing.
    #[arg(long)]
    unused: bool,
    /// Which LSTM of the case, where there are several: what stands before the names of its
    /// tensors, such as `encoder.lstm.`
    #[arg(long)]
    prefix: Option<String>,
    /// Where `output`, `h_n` and `c_n` go.
    #[arg(long)]
    output: PathBuf,
}

fn main() -> Result<()> {
    let Arguments { case, unused, prefix, output } = Arguments::parse();
    check_output(&output, Existing::Replace, [case.as_path()])?;
    let file = TensorFile::open(&case)?;
    let outputs = Case::<f64>::read(&file, prefix.as_deref())?.outputs()?;
    if unused {
        for Unused { name, why } in Case::<f64>::unused(&file, prefix.as_deref())? {
            println!("not used: {}: {why}", shown(&name));
        }
    }
    for tensor in &outputs {
        println!("{} {} {}", tensor.name(), tensor.dtype(), tensor.shape_text());
    }
    save(&output, &outputs, Existing::Replace)?;
    Ok(())
}

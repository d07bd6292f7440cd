//! Writes `data/minilm-queries-keys.safetensors`: the trained layer's queries and keys of
//! its four sentences.

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/minilm-queries-keys.safetensors");
    fs::write(path, model_files::minilm()?.project()?)?;
    Ok(())
}

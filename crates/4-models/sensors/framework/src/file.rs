//! Weights as safetensors with PyTorch's names, and what the framework makes of some windows.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Tensor};
use sensors::{At, CAP, N_STEPS, Prepared};

use crate::evaluate::inputs;
use crate::model::Net;

/// How many windows the reference has.
const N_WINDOWS: usize = 4;

/// Writes the weights, in half precision, and the reference next to them.
pub fn save(path: &Path, net: &Net, prepared: &Prepared) -> Result<()> {
    let weights = net
        .named()
        .into_iter()
        .map(|(name, var)| Ok((name.to_string(), var.as_tensor().to_dtype(DType::F16)?)));
    let weights = weights.collect::<Result<Vec<(String, Tensor)>>>()?;
    let words =
        |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let scale = &prepared.scale;
    let sensors: Vec<String> = scale.sensors.iter().map(usize::to_string).collect();
    let mut texts: HashMap<String, String> = net
        .architecture
        .texts()
        .into_iter()
        .map(|(key, text)| (key.to_string(), text))
        .collect();
    texts.extend([
        ("sensors".to_string(), sensors.join(" ")),
        ("mean".to_string(), words(&scale.mean)),
        ("spread".to_string(), words(&scale.spread)),
        ("cap".to_string(), CAP.to_string()),
        ("window".to_string(), N_STEPS.to_string()),
    ]);
    write(path, &safetensors::serialize(weights, Some(texts))?)?;
    let name = path.file_stem().context("the output has no name")?.to_string_lossy();
    let reference = path.with_file_name(format!("{name}-reference.safetensors"));
    write(&reference, &safetensors::serialize(reference_of(net, prepared)?, None)?)
}

/// Writes a file whose header is in alphabetical order: as it comes, its order changes from
/// run to run, and the same weights would make another file.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let (length, rest) = bytes.split_first_chunk().context("no safetensors file")?;
    let n = usize::try_from(u64::from_le_bytes(*length))?;
    let (header, tensors) = rest.split_at_checked(n).context("no header")?;
    let header: serde_json::Value = serde_json::from_slice(header)?;
    let header = format!("{:<n$}", header.to_string());
    ensure!(header.len() == n, "the header has {} bytes, expected {n}", header.len());
    Ok(std::fs::write(path, [length, header.as_bytes(), tensors].concat())?)
}

/// `windows` (4, 30, 14), and of them `x`, `attn` and `remaining`.
fn reference_of(net: &Net, prepared: &Prepared) -> Result<Vec<(String, Tensor)>> {
    let last = prepared.test.last();
    let some: Vec<At> = last
        .iter()
        .step_by((last.len() / N_WINDOWS).max(1))
        .take(N_WINDOWS)
        .copied()
        .collect();
    let windows = inputs(&prepared.test, &some, net.d_in())?;
    let output = net.forward(&windows)?;
    let remaining = (output.part * CAP)?;
    let mut all = vec![
        ("windows".to_string(), windows),
        ("x".to_string(), output.x),
        ("remaining".to_string(), remaining),
    ];
    all.extend(output.attn.map(|attn| ("attn".to_string(), attn)));
    Ok(all)
}

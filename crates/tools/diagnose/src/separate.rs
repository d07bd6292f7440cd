//! An input that tells apart what the numbers cannot.

use std::path::Path;

use anyhow::{Context, Result};
use attention::Matrix;
use diagnosis::{Diagnosis, Reading, Record, Separation, Verdict, separate, showing};
use tensors::{Existing, NewTensor, save};

/// Writes such an input, and says what it is.
pub fn write(path: &Path, reading: &Reading, diagnosis: &Diagnosis) -> Result<String> {
    let Reading { record, intent, .. } = reading;
    let (separation, shown) = match diagnosis.verdict {
        Verdict::Right | Verdict::Condition => {
            let Some((separation, shown)) = showing(record, intent, &diagnosis.invisible)
            else {
                return Ok("\nNothing was written: no input shows more.\n".to_string());
            };
            let names = shown.iter().map(|it| it.entry().name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            (separation, format!(" These mistakes would show in it: {names}."))
        }
        _ => {
            let separation = separate(record, intent, &diagnosis.explanations)
                .context("no input tells all of them apart: some are one computation")?;
            (separation, String::new())
        }
    };
    save(path, &tensors(&separation)?, Existing::Keep)?;
    Ok(format!(
        "\nWrote {}: {}. The two nearest outputs differ by {:.0} % of their spread.{shown} Run \
         your code with it, and add what it gives as output.\n",
        path.display(),
        separation.changes.join(", "),
        100.0 * separation.distance.min(9.99)
    ))
}

/// Parameters as PyTorch stores them, inputs as (batch, n, d), and masks whose true blocks.
fn tensors(separation: &Separation) -> Result<Vec<NewTensor>> {
    let Record { weights, inputs, masks, .. } = &separation.record;
    let mut tensors = Vec::new();
    let mut add = |name: String, shape: &[usize], matrices: &[Matrix]| -> Result<()> {
        let stored = matrices.iter().map(|m| m.map(|x| x as f32));
        let stored: Vec<Matrix<f32>> = stored.collect();
        tensors.push(NewTensor::new(name, shape, &stored)?);
        Ok(())
    };
    let mut rows: Vec<(String, &[f64])> = Vec::new();
    let linears = weights.projections.iter().chain(&weights.output);
    for (linear, name) in linears.zip(["W_q", "W_k", "W_v", "W_o"]) {
        let weight = linear.weight.transpose();
        add(format!("{name}.weight"), &[weight.nrows(), weight.ncols()], &[weight])?;
        rows.extend(linear.bias.iter().map(|b| (format!("{name}.bias"), b.as_slice())));
    }
    for (norm, name) in weights.norms.iter().flatten().zip(["q_norm", "k_norm"]) {
        rows.push((format!("{name}.weight"), norm.gain.as_slice()));
        rows.extend(norm.bias.iter().map(|b| (format!("{name}.bias"), b.as_slice())));
    }
    rows.extend(weights.sinks.iter().map(|it| ("sinks".to_string(), it.as_slice())));
    for (name, numbers) in rows {
        let n = numbers.len();
        add(name, &[n], &[Matrix::from_row_slice(1, n, numbers)])?;
    }
    for (inputs, name) in inputs.iter().zip(["query", "key", "value"]) {
        let shape = [inputs.len(), inputs[0].nrows(), inputs[0].ncols()];
        add(name.to_string(), &shape, inputs)?;
    }
    if let Some(padding) = &masks.padding {
        let blocked: Vec<bool> = padding.iter().flatten().map(|open| !open).collect();
        let shape = [padding.len(), padding[0].len()];
        tensors.push(NewTensor::flags("key_padding_mask", &shape, &blocked)?);
    }
    for pairs in masks.pairs.iter().flatten() {
        let blocked: Vec<bool> = pairs.transpose().iter().map(|open| !open).collect();
        let shape = [pairs.nrows(), pairs.ncols()];
        tensors.push(NewTensor::flags("attn_mask", &shape, &blocked)?);
    }
    Ok(tensors)
}

//! An input that tells apart what the numbers cannot.

use std::path::Path;

use anyhow::{Context, Result};
use attention::Matrix;
use diagnosis::{Diagnosis, Reading, Separation, Verdict, separate, showing};
use model_files::{Existing, NewTensor, save};

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
    let record = &separation.record;
    let mut tensors = Vec::new();
    let linears = record.weights.projections.iter().chain(&record.weights.output);
    for (linear, name) in linears.zip(["W_q", "W_k", "W_v", "W_o"]) {
        let weight: Matrix<f32> = linear.weight.transpose().map(|x| x as f32);
        let shape = [weight.nrows(), weight.ncols()];
        tensors.push(NewTensor::new(format!("{name}.weight"), &shape, [&weight])?);
        if let Some(bias) = &linear.bias {
            let row = Matrix::<f32>::from_fn(1, bias.len(), |_, c| bias[c] as f32);
            tensors.push(NewTensor::new(format!("{name}.bias"), &[bias.len()], [&row])?);
        }
    }
    let row = |numbers: &[f64]| {
        Matrix::<f32>::from_fn(1, numbers.len(), |_, c| numbers[c] as f32)
    };
    let norms = record.weights.norms.iter().flatten().zip(["q_norm", "k_norm"]);
    for (norm, name) in norms {
        for (numbers, end) in [(Some(&norm.gain), "weight"), (norm.bias.as_ref(), "bias")]
        {
            let Some(numbers) = numbers.map(|numbers| row(numbers.as_slice())) else {
                continue;
            };
            let name = format!("{name}.{end}");
            tensors.push(NewTensor::new(name, &[numbers.len()], [&numbers])?);
        }
    }
    if let Some(sinks) = &record.weights.sinks {
        tensors.push(NewTensor::new("sinks", &[sinks.len()], [&row(sinks)])?);
    }
    for (inputs, name) in record.inputs.iter().zip(["query", "key", "value"]) {
        let inputs: Vec<Matrix<f32>> =
            inputs.iter().map(|m| m.map(|x| x as f32)).collect();
        let shape = [inputs.len(), inputs[0].nrows(), inputs[0].ncols()];
        tensors.push(NewTensor::new(name, &shape, &inputs)?);
    }
    if let Some(padding) = &record.masks.padding {
        let blocked: Vec<bool> = padding.iter().flatten().map(|open| !open).collect();
        let shape = [padding.len(), padding[0].len()];
        tensors.push(NewTensor::flags("key_padding_mask", &shape, &blocked)?);
    }
    for pairs in record.masks.pairs.iter().flatten() {
        let blocked: Vec<bool> = pairs.transpose().iter().map(|open| !open).collect();
        let shape = [pairs.nrows(), pairs.ncols()];
        tensors.push(NewTensor::flags("attn_mask", &shape, &blocked)?);
    }
    Ok(tensors)
}

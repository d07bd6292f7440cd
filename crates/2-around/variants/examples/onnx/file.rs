//! Cases in, outputs out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

use crate::attributes::Attributes;
use crate::tensor::Tensor;

/// What the operator gets.
#[derive(Debug, Clone)]
pub struct Case {
    pub attributes: Attributes,
    pub tensors: BTreeMap<String, Tensor>,
}

impl Case {
    /// An input that must be there.
    pub fn input(&self, name: &str) -> Result<&Tensor> {
        self.tensors.get(name).with_context(|| format!("the case has no input {name}"))
    }
}

/// Reads a case; expected outputs that it may hold are among its tensors.
pub fn read(path: &Path) -> Result<Case> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let of_file = || format!("{} is no safetensors file", path.display());
    let (_, header) = SafeTensors::read_metadata(&bytes).with_context(of_file)?;
    let metadata = header.metadata().iter().flatten();
    let mut tensors = BTreeMap::new();
    for (name, view) in SafeTensors::deserialize(&bytes).with_context(of_file)?.tensors()
    {
        let tensor = Tensor::from_bytes(view.dtype(), view.shape(), view.data());
        tensors.insert(name.clone(), tensor.with_context(|| name)?);
    }
    expect_known(&tensors)?;
    Ok(Case { attributes: Attributes::read(metadata)?, tensors })
}

/// The operator's inputs, and its outputs, which a case may hold to be compared with.
const INPUTS: [&str; 7] =
    ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"];
const OUTPUTS: [&str; 4] = ["Y", "present_key", "present_value", "qk_matmul_output"];

/// Refuses a tensor that is neither: left aside, it may change the result.
pub fn expect_known(tensors: &BTreeMap<String, Tensor>) -> Result<()> {
    let is_known = |name: &&String| {
        INPUTS.contains(&name.as_str()) || OUTPUTS.contains(&name.as_str())
    };
    match tensors.keys().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(found) => bail!(
            "{found:?} is no input or output of the operator and may change the result: its \
             inputs are {}",
            INPUTS.join(", ")
        ),
    }
}

/// Writes outputs by name, each in its own kind of numbers.
pub fn write(path: &Path, outputs: BTreeMap<String, Tensor>) -> Result<()> {
    let bytes = outputs.values().map(Tensor::to_bytes).collect::<Result<Vec<_>>>()?;
    let views = outputs.iter().zip(&bytes).map(|((name, tensor), bytes)| {
        Ok((name, TensorView::new(tensor.dtype, tensor.shape.clone(), bytes)?))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let file = safetensors::serialize(views, None)?;
    fs::write(path, file).with_context(|| path.display().to_string())
}

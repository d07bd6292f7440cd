//! The names of BERT and of the models that were built like it.

use attention::Linear;
use tensors::TensorFile;

use super::projections::{Projections, biases, linear, transposed};
use crate::Result;

/// A tensor whose name ends in one of these belongs to such a layer.
pub(super) const SIGNS: &[&str] = &[
    "attention.self.query.weight",
    "attention.self.key.weight",
    "attention.self.value.weight",
];

const NAMES: [&str; 4] = ["self.query", "self.key", "self.value", "output.dense"];

/// The projections of the layer with this prefix. Every weight is `[d, d]`.
pub(super) fn read(file: &TensorFile, prefix: &str) -> Result<Projections> {
    let names = NAMES.map(|name| format!("{prefix}attention.{name}"));
    let w_q_name = format!("{}.weight", names[0]);
    let d = transposed(&file.tensor(&w_q_name)?)?.nrows();

    let biases = biases(file, names.clone().map(|name| (format!("{name}.bias"), d)))?;
    let read = |i: usize| -> Result<Linear> {
        let name = format!("{}.weight", names[i]);
        let weight = file.tensor(&name)?;
        weight.expect_shape(&[d, d])?;
        linear(
            file,
            transposed(&weight)?,
            biases.as_ref().map(|biases| biases[i].clone()),
        )
    };
    Ok(Projections { w_q: read(0)?, w_k: read(1)?, w_v: read(2)?, w_o: read(3)? })
}

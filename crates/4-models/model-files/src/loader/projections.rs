//! The four projections of a layer, whatever they were called.

use attention::{Linear, Matrix};
use tensors::{Tensor, TensorFile};

use crate::{Error, Result};

/// W^Q, W^K, W^V and W^O with their biases, `[in, out]`, heads side by side.
pub(super) struct Projections {
    pub w_q: Linear,
    pub w_k: Linear,
    pub w_v: Linear,
    pub w_o: Linear,
}

/// A weight that the file stores as `[out, in]`, transposed: `[in, out]`.
///
/// Row after row in the file is column after column here, so the numbers stay where they
/// are and only the two sizes change places.
// ANCHOR: transposed
pub(super) fn transposed(weight: &Tensor<'_>) -> Result<Matrix> {
    let [d_out, d_in] = *weight.shape() else {
        return Err(weight.shape_error("two dimensions").into());
    };
    Ok(Matrix::from_vec(d_in, d_out, weight.numbers()?)) // [in, out]
}
// ANCHOR_END: transposed

/// The biases of these names and lengths, or none if the file has none of them.
///
/// PyTorch and BERT store all or none. A file with some of them is damaged, and computing
/// without the others would give an output that looks right.
pub(super) fn biases<const N: usize>(
    file: &TensorFile,
    named: [(String, usize); N],
) -> Result<Option<[Vec<f64>; N]>> {
    if !named.iter().any(|(name, _)| file.contains(name)) {
        return Ok(None);
    }
    let mut biases = [const { Vec::new() }; N];
    for (bias, (name, length)) in biases.iter_mut().zip(&named) {
        let tensor = file.tensor(name)?;
        tensor.expect_shape(&[*length])?;
        *bias = tensor.numbers()?;
    }
    Ok(Some(biases))
}

/// A projection from a weight and a bias that were compared with each other.
pub(super) fn linear(
    file: &TensorFile,
    weight: Matrix,
    bias: Option<Vec<f64>>,
) -> Result<Linear> {
    let linear = Linear::new(weight, bias.map(Into::into));
    linear.map_err(|source| Error::Layer { file: file.name().to_string(), source })
}

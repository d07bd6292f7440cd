//! What a model gave of a batch, as tensors of a file.

use attention::Matrix;
use block::Layers;
use tensors::{NewTensor, Stored};

use crate::Result;

/// Hidden states and maps, `hidden.0` … and `attn.0` … behind what stands before their names.
///
/// # Shapes
/// `hidden.l` is `(n_sequences, n_tokens, d_model)`, `attn.l` is
/// `(n_sequences, h, n_tokens, n_tokens)`.
pub(crate) fn of_layers<T: Stored>(
    before: &str,
    batch: &[Layers<T>],
) -> Result<Vec<NewTensor>> {
    let mut tensors = Vec::new();
    for l in 0..batch.first().map_or(0, |first| first.hidden.len()) {
        let hidden = batch.iter().filter_map(|layers| layers.hidden.get(l));
        let name = format!("{before}hidden.{l}");
        tensors.extend(of_matrices(name, batch.len(), None, hidden)?);
    }
    let maps: Vec<_> = batch.iter().map(|layers| layers.attn.as_slice()).collect();
    tensors.extend(of_maps(&format!("{before}attn"), &maps)?);
    Ok(tensors)
}

/// The maps of every layer of a batch.
pub(crate) fn of_maps<T: Stored>(
    name: &str,
    batch: &[&[Vec<Matrix<T>>]],
) -> Result<Vec<NewTensor>> {
    let mut tensors = Vec::new();
    for (l, first) in batch.first().copied().unwrap_or_default().iter().enumerate() {
        let maps = batch.iter().filter_map(|layers| layers.get(l)).flatten();
        let name = format!("{name}.{l}");
        tensors.extend(of_matrices(name, batch.len(), Some(first.len()), maps)?);
    }
    Ok(tensors)
}

/// `(n, rows, columns)`, or with `within` maps a text `(n, within, rows, columns)`; none of no
/// matrix.
pub(crate) fn of_matrices<'a, T: Stored>(
    name: String,
    n: usize,
    within: Option<usize>,
    matrices: impl Iterator<Item = &'a Matrix<T>> + Clone,
) -> Result<Option<NewTensor>> {
    let Some((rows, columns)) = matrices.clone().next().map(Matrix::shape) else {
        return Ok(None);
    };
    let shape: Vec<usize> =
        [Some(n), within, Some(rows), Some(columns)].into_iter().flatten().collect();
    Ok(Some(NewTensor::new(name, &shape, matrices)?))
}

//! A file's tensors once more, in few bits.

use crate::error::Result;
use crate::few_bits::Bits;
use crate::file::TensorFile;
use crate::save::NewTensor;

/// The tensors of a file with each matrix of floats in few bits, as a tensor and its scales; the
/// others, and matrices with an odd number of columns, are as they were.
///
/// # Errors
/// [`Error::Read`](crate::Error::Read); [`Error::Dtype`](crate::Error::Dtype) for an odd number
/// of columns that are in few bits already.
pub fn in_bits(file: &TensorFile, bits: Bits) -> Result<Vec<NewTensor>> {
    let mut tensors = Vec::new();
    for name in file.names() {
        let tensor = file.tensor(&name)?;
        match (tensor.shape(), tensor.numbers_as::<f32>()) {
            (&[rows, cols], Ok(numbers)) if cols % 2 == 0 => {
                tensors.extend(NewTensor::in_bits(&name, [rows, cols], &numbers, bits));
            }
            _ => tensors.push(tensor.to_new()?),
        }
    }
    Ok(tensors)
}

#[cfg(test)]
mod tests;

//! PyTorch's masks, inverted.
//!
//! In a file True means "blocked"; from here on true means "may attend". Floats are added
//! to the scaled scores and mean the same on both sides.

use attention::{Mask, Matrix};
use tensors::Tensor;

use crate::Result;

const KINDS: &str = "BOOL (True = blocked) or floats (added to the scores)";

/// The lengths that a mask must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaskSizes {
    /// The number of sequences.
    pub batch: usize,
    /// The number of heads.
    pub n_heads: usize,
    /// The number of queries of each sequence.
    pub n_q: usize,
    /// The number of keys of each sequence.
    pub n_kv: usize,
    /// Whether the tokens have a dimension for the sequences, if only of length 1.
    pub is_batched: bool,
}

/// The masks in a `key_padding_mask`, one a sequence: which keys of it are padding.
///
/// ```no_run
/// use model_files::{MaskSizes, key_padding_masks};
/// use tensors::TensorFile;
///
/// let file = TensorFile::open("tensors.safetensors")?;
/// let sizes = MaskSizes { batch: 4, n_heads: 8, n_q: 10, n_kv: 10, is_batched: true };
/// let masks = key_padding_masks(&file.tensor("key_padding_mask")?, sizes)?;
/// assert_eq!(masks.len(), 4);
/// # Ok::<(), model_files::Error>(())
/// ```
///
/// # Shapes
/// `(batch, n_kv)`, or `(n_kv)` without a batch.
///
/// # Errors
/// [`Error::Tensors`](crate::Error::Tensors).
///
/// # Source
/// `torch.nn.MultiheadAttention` 2.15.
/// Differs: there True blocks, and here true lets a key be seen.
pub fn key_padding_masks(tensor: &Tensor<'_>, sizes: MaskSizes) -> Result<Vec<Mask>> {
    let MaskSizes { batch, n_q, n_kv, is_batched, .. } = sizes;
    let alone = !is_batched && *tensor.shape() == [n_kv];
    if !alone {
        tensor.expect_shape(&[batch, n_kv])?;
    }
    if tensor.is_bool() {
        let rows = open(tensor)?;
        return Ok(rows.chunks(n_kv).map(|row| Mask::Keys(row.to_vec())).collect());
    }
    let scores = tensor.numbers().map_err(of_kinds)?;
    let mask = |row: &[f64]| Mask::Additive(Matrix::from_fn(n_q, n_kv, |_, j| row[j]));
    Ok(scores.chunks(n_kv).map(mask).collect())
}

/// The masks in an `attn_mask`, one a sequence: which query may attend to which key.
///
/// # Shapes
/// `(n_q, n_kv)` for all, or `(batch · n_heads, n_q, n_kv)`, the heads of a sequence
/// together.
///
/// # Errors
/// As [`key_padding_masks`].
///
/// # Source
/// As [`key_padding_masks`].
pub fn attn_masks(tensor: &Tensor<'_>, sizes: MaskSizes) -> Result<Vec<Mask>> {
    let MaskSizes { batch, n_heads, n_q, n_kv, .. } = sizes;
    let for_all = *tensor.shape() == [n_q, n_kv];
    if !for_all && *tensor.shape() != [batch.saturating_mul(n_heads), n_q, n_kv] {
        let each = batch.saturating_mul(n_heads);
        let expected = format!(
            "({n_q}, {n_kv}), or ({each}, {n_q}, {n_kv}) for {batch} × {n_heads} heads"
        );
        return Err(tensor.shape_error(&expected).into());
    }
    let masks: Vec<Mask> = if tensor.is_bool() {
        let table = |t: &[bool]| Mask::Allowed(Matrix::from_row_slice(n_q, n_kv, t));
        open(tensor)?.chunks(n_q * n_kv).map(table).collect()
    } else {
        tensor.matrices().map_err(of_kinds)?.into_iter().map(Mask::Additive).collect()
    };
    if for_all {
        return Ok(vec![masks[0].clone(); batch]);
    }
    Ok(masks.chunks(n_heads).map(|heads| Mask::PerHead(heads.to_vec())).collect())
}

/// Where a file does not say "blocked".
fn open(tensor: &Tensor<'_>) -> Result<Vec<bool>> {
    Ok(tensor.flags()?.into_iter().map(|blocked| !blocked).collect())
}

/// The error for another kind of numbers, in the words of masks.
fn of_kinds(error: tensors::Error) -> tensors::Error {
    use tensors::Error;
    match error {
        Error::Dtype { file, tensor, found, .. } => {
            Error::Dtype { file, tensor, found, expected: KINDS }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use tensors::TensorFile;

    use super::*;
    use crate::testing::flag_file;

    const SIZES: MaskSizes =
        MaskSizes { batch: 2, n_heads: 2, n_q: 1, n_kv: 3, is_batched: true };

    /// Which keys query 0 may attend to: one row a sequence and head.
    fn open(masks: &[Mask]) -> Vec<Vec<usize>> {
        let heads = masks.iter().flat_map(|mask| [mask.of_head(0), mask.of_head(1)]);
        let keys = |mask: &Mask| {
            (0..3).filter(|&j| mask.added((0, j), (1, 3)).is_some()).collect()
        };
        heads.map(|mask| keys(&mask)).collect()
    }

    #[test]
    fn true_in_a_file_blocks() {
        let file = flag_file("key_padding_mask", "[2,3]", &[0, 0, 1, 0, 1, 1]);
        let masks = key_padding_masks(&file.tensor("key_padding_mask").unwrap(), SIZES);
        let masks = masks.unwrap();
        assert_eq!(open(&masks), [vec![0, 1], vec![0, 1], vec![0], vec![0]]);
        assert_eq!(masks[0], Mask::Keys(vec![true, true, false]));
    }

    #[test]
    fn the_heads_of_a_sequence_lie_together() {
        let flags = [0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0];
        let file = flag_file("attn_mask", "[4,1,3]", &flags);
        let masks = attn_masks(&file.tensor("attn_mask").unwrap(), SIZES).unwrap();
        assert_eq!(open(&masks), [vec![0], vec![1], vec![2], vec![0, 1, 2]]);
    }

    #[test]
    fn a_mask_of_another_shape_is_refused_with_both() {
        let key_padding = flag_file("key_padding_mask", "[2,4]", &[0; 8]);
        let tensor = key_padding.tensor("key_padding_mask").unwrap();
        insta::assert_snapshot!(key_padding_masks(&tensor, SIZES).unwrap_err(), @"some.file: key_padding_mask has shape (2, 4), expected (2, 3)");
        let attn = flag_file("attn_mask", "[2,1,3]", &[0; 6]);
        let tensor = attn.tensor("attn_mask").unwrap();
        insta::assert_snapshot!(attn_masks(&tensor, SIZES).unwrap_err(), @"some.file: attn_mask has shape (2, 1, 3), expected (1, 3), or (4, 1, 3) for 2 × 2 heads");
    }

    #[test]
    fn integers_are_no_mask() {
        let header = r#"{"m":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]}}"#;
        let length = (header.len() as u64).to_le_bytes();
        let bytes = [&length, header.as_bytes(), &[0; 6]].concat();
        let file = TensorFile::from_bytes("some.file", bytes).unwrap();
        let refused = key_padding_masks(&file.tensor("m").unwrap(), SIZES).unwrap_err();
        insta::assert_snapshot!(refused, @"some.file: m holds U8, expected BOOL (True = blocked) or floats (added to the scores)");
    }
}

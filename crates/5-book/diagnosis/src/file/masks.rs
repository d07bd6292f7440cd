//! Masks, inverted: from here on true means "may attend".

use attention::Matrix;
use model_files::Tensor;

use super::Files;
use super::notes::Notes;
use crate::{Intent, Record, Result};

/// Reads the masks that there are.
pub fn read(
    files: &Files<'_>,
    record: &mut Record,
    intent: &Intent,
    notes: &mut Notes,
) -> Result<()> {
    let is_open_true = files.said.is_open_true;
    let meaning = if is_open_true { "may attend" } else { "may not attend" };
    let batch = record.batch();
    let (n_q, n_kv) = record.lengths();
    if let Some(mask) = files.tensor("key_padding_mask") {
        if mask.shape() != [batch, n_kv] && mask.shape() != [n_kv] {
            return Err(mask.shape_error(&format!("({batch}, {n_kv})")).into());
        }
        let open = flags(&mask)?.into_iter().map(|it| it == is_open_true);
        let open: Vec<bool> = open.collect();
        record.masks.padding = Some(open.chunks(n_kv).map(<[bool]>::to_vec).collect());
        notes.push(format!(
            "key_padding_mask {}: true means {meaning}",
            mask.shape_text()
        ));
    }
    if let Some(mask) = files.tensor("attention_mask")
        && mask.shape() == [batch, n_kv]
    {
        let open = flags(&mask)?;
        record.masks.padding = Some(open.chunks(n_kv).map(<[bool]>::to_vec).collect());
        notes.push(format!("attention_mask {}: 1 is a token", mask.shape_text()));
    }
    let Some((name, mask)) = files.first(&["attn_mask", "mask"]) else { return Ok(()) };
    let h = intent.n_heads;
    let shapes = [
        vec![n_q, n_kv],
        vec![1, 1, n_q, n_kv],
        vec![batch, n_q, n_kv],
        vec![batch, 1, n_q, n_kv],
        vec![batch * h, n_q, n_kv],
        vec![batch, h, n_q, n_kv],
    ];
    if !shapes.iter().any(|shape| mask.shape() == shape) {
        return Err(mask.shape_error(&in_words(&shapes, [batch, n_kv])).into());
    }
    let is_float = mask.dtype().contains('F');
    if is_float {
        record.masks.added = Some(mask.matrices()?);
        notes.push(format!("{name} {}: floats, added to scores", mask.shape_text()));
    } else {
        let open: Vec<bool> =
            flags(&mask)?.into_iter().map(|it| it == is_open_true).collect();
        let pairs = open.chunks(n_q * n_kv);
        record.masks.pairs =
            Some(pairs.map(|m| Matrix::from_row_slice(n_q, n_kv, m)).collect());
        notes.push(format!("{name} {}: true means {meaning}", mask.shape_text()));
    }
    Ok(())
}

fn flags(mask: &Tensor<'_>) -> Result<Vec<bool>> {
    if mask.is_bool() {
        return Ok(mask.flags()?);
    }
    match mask.integers() {
        Ok(numbers) => Ok(numbers.into_iter().map(|x| x != 0).collect()),
        Err(_) => Ok(mask.numbers()?.into_iter().map(|x| x != 0.0).collect()),
    }
}

/// The shapes of a mask of queries and keys, each once, and what a mask of keys is called.
fn in_words(shapes: &[Vec<usize>], [batch, n_kv]: [usize; 2]) -> String {
    let mut tried: Vec<String> = Vec::new();
    for shape in shapes {
        let text = format!("{shape:?}").replace('[', "(").replace(']', ")");
        if !tried.contains(&text) {
            tried.push(text);
        }
    }
    format!(
        "one of {}. A mask of padding, one row of keys a sequence, is ({batch}, {n_kv}): call \
         it key_padding_mask if true means padding, and attention_mask if 1 means a token; \
         what is added to scores is expanded to the scores' shape",
        tried.join(", ")
    )
}

//! All that blocks a key or adds to a score, as one mask for each head.

use anyhow::{Result, ensure};
use attention::{Mask, Matrix};
use safetensors::Dtype;
use variants::{Positions, Window};

use crate::attributes::Attributes;
use crate::tensor::Tensor;

/// How many queries and keys there are, in how many sequences and heads.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub n_sequences: usize,
    pub n_heads: usize,
    pub n_q: usize,
    pub n_kv: usize,
}

/// The masks of one sequence's heads: what is near enough and not ahead, what is no padding,
/// and what the mask says.
pub fn of_sequence(
    sequence: usize,
    extent: Extent,
    positions: &Positions,
    attributes: &Attributes,
    n_real: Option<f64>,
    given: Option<&Tensor>,
) -> Result<Mask> {
    let Attributes { left_window: left, right_window: right, .. } = *attributes;
    let right = if attributes.is_causal { Some(0) } else { right };
    let window = Window { left, right, n_sinks: 0 };
    let mut masks = vec![window.mask(positions)];
    if let Some(n_real) = n_real {
        ensure!(n_real >= 0.0, "nonpad_kv_seqlen has {n_real} for sequence {sequence}");
        masks.push(Mask::FirstKeys(n_real as usize));
    }
    if let Some(given) = given {
        check(given, extent)?;
        let of_head = |head| of_head(given, [sequence, head], extent);
        masks.push(Mask::PerHead((0..extent.n_heads).map(of_head).collect()));
    }
    Ok(Mask::All(masks))
}

/// The mask of one head; what it says nothing of is blocked.
fn of_head(given: &Tensor, [b, h]: [usize; 2], extent: Extent) -> Mask {
    let Extent { n_q, n_kv, .. } = extent;
    let n_said = given.shape.last().map_or(0, |&n| if n == 1 { n_kv } else { n });
    let is_flag = given.dtype == Dtype::BOOL;
    let blocked = if is_flag { 0.0 } else { f64::NEG_INFINITY };
    let entries = Matrix::from_fn(n_q, n_kv, |i, j| {
        if j < n_said { given.broadcast(&[b, h, i, j]) } else { blocked }
    });
    match is_flag {
        true => Mask::Allowed(entries.map(|flag| flag != 0.0)),
        false => Mask::Additive(entries),
    }
}

fn check(given: &Tensor, extent: Extent) -> Result<()> {
    let Extent { n_sequences, n_heads, n_q, n_kv } = extent;
    let full = [n_sequences, n_heads, n_q, n_kv];
    let shape = &given.shape;
    let fits = !shape.is_empty()
        && shape.len() <= 4
        && shape
            .iter()
            .rev()
            .zip(full.iter().rev())
            .enumerate()
            .all(|(axis, (&n, &all))| n == 1 || n == all || (axis == 0 && n < all));
    ensure!(fits, "attn_mask has shape {shape:?}, which does not broadcast to {full:?}");
    Ok(())
}

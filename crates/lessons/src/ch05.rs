//! The figures of chapter 5.

use anyhow::Result;
use attention::{Batch, Mask};
use figures::{Figure, Heads, head_maps, memory_order};
use fused_heads::FusedAttention;

use super::{Args, Entry};

pub const FIGURES: [Entry; 2] = [("fused-memory", memory), ("fused-batch", padded_batch)];

fn memory(_: &Args) -> Result<Figure> {
    let (n_tokens, n_heads, d_k) = (4, 2, 3);
    let title = format!(
        "Column-major, head 0 is one run of {} numbers; row-major, {n_tokens} runs of {d_k}",
        n_tokens * d_k
    );
    Ok(memory_order(title, n_tokens, n_heads, d_k)?)
}

/// "The river banks overflowed." in a batch with the longer sentences.
fn padded_batch(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let fused = FusedAttention::new(&layer.parameters);
    let lengths: Vec<usize> = layer.sentences.iter().map(|s| s.tokens.len()).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let padded: Vec<_> = layer
        .sentences
        .iter()
        .map(|s| s.input.clone().resize_vertically(longest, 0.0))
        .collect();
    let masks: Vec<Mask> = lengths.iter().map(|&n| Mask::FirstKeys(n)).collect();
    let batch = Batch::stack(&padded)?;
    let attn = fused.forward_batch(&batch, &batch, &batch, &masks)?.attn;

    let (sentence, head) = (1, 9);
    let mut tokens = layer.sentences[sentence].tokens.clone();
    tokens.resize(longest, "<pad>".to_string());
    let map = [attn[sentence][head].clone()];
    let heads = Heads::of_tokens(&map, &tokens)?.numbered(&[head])?;
    Ok(head_maps("No token gives anything to the padding", &heads))
}

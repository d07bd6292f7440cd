//! One matrix, many heads.

use fused_heads::FusedAttention;
use lessons::one_matrix_many_heads as lesson;
use std::collections::HashSet;

use super::*;

pub fn packed_shape(n: &Facts) -> Result<Facts> {
    let [d_model, n_heads, d_k] = n.wholes(["d_model", "n_heads", "d_k"])?;
    let parameters =
        layer::<f32>(Dims::with_head_sizes(d_model, n_heads, d_k, d_k)?, false);
    let one = parameters.heads()[0].w_q.weight.shape();
    let all = FusedAttention::new(&parameters).parameters().w_q().weight.shape();
    Ok(facts![one, all])
}

pub fn view_without_transpose(n: &Facts) -> Result<Facts> {
    let [n_tokens, width, n_heads] = n.wholes(["n_tokens", "width", "n_heads"])?;
    let q: Matrix = tokens(n_tokens, width);
    let piece = &lesson::view_without_transpose(&q, n_heads)[0];
    let bits: HashSet<u64> = piece.iter().map(|number| number.to_bits()).collect();
    let is_seen =
        |part: &Matrix| part.iter().any(|number| bits.contains(&number.to_bits()));
    let seen = (0..n_tokens).filter(|&i| is_seen(&q.rows(i, 1).into_owned())).count();
    let heads = lesson::columns_of_heads(&q, n_heads);
    let heads = heads.iter().filter(|head| is_seen(head)).count();
    let counted =
        |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    Ok(facts![
        seen,
        piece = piece.len(),
        of_tokens = counted(seen, "token"),
        of_heads = counted(heads, "head"),
    ])
}

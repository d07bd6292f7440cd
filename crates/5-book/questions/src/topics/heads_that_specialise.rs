//! Heads that specialise.

use per_head::{PerHeadAttention, concat};

use super::*;

pub fn blend_forgets(n: &Facts) -> Result<Facts> {
    let place = |role: &str| {
        let roles = ["agent", "object", "place"];
        roles.iter().position(|&known| known == role).context("a role")
    };
    let [one, other] = n.words(["one", "other"])?;
    let (identity, role): (Matrix, Matrix) = (tokens(3, 16), tokens(3, 16).map(f64::cos));
    let mut exchanged = identity.clone();
    exchanged.swap_rows(place(one)?, place(other)?);
    let w_v: Matrix = tokens(16, 4).map(f64::sin);
    let out = |identity: &Matrix, shares: [f64; 3]| {
        let values = (identity + &role) * &w_v;
        weighted_values(&Matrix::from_row_slice(1, 3, &shares), values.as_view())
    };
    let moved = |shares| (out(&identity, shares) - out(&exchanged, shares)).amax();
    let (equal, told) = rounded(moved([1.0 / 3.0; 3]), ROUNDING, "below 1e-9");
    Ok(facts![equal, told, unequal = moved([0.5, 0.3, 0.2])])
}

/// A layer of random parameters with five tokens, and what its heads put out.
fn heads_of(d_model: usize, n_heads: usize) -> Result<(PerHeadAttention, Vec<Matrix>)> {
    let layer = PerHeadAttention::new(layer(Dims::new(d_model, n_heads)?, true));
    let x = tokens(5, d_model);
    let heads = layer.heads(&x, &x, &x, &Mask::None)?;
    Ok((layer, heads.into_iter().map(|head| head.out).collect()))
}

pub fn sum_of_removals(n: &Facts) -> Result<Facts> {
    let [n_heads] = n.wholes(["n_heads"])?;
    let (layer, heads) = heads_of(8 * n_heads, n_heads)?;
    let w_o = layer.parameters().w_o();
    let whole = w_o.forward(&concat(&heads)?)?;
    let mut left = whole.clone();
    for i in 0..n_heads {
        let mut without = heads.clone();
        without[i].fill(0.0);
        left -= &whole - w_o.forward(&concat(&without)?)?;
    }
    let bias = w_o.forward(&Matrix::zeros(whole.nrows(), w_o.d_in()))?;
    let off = [&bias, &(&whole * 0.0), &whole].map(|other| (&left - other).amax());
    let [from_bias, from_zeros, from_whole] =
        off.map(|off| rounded(off, ROUNDING, "none").1);
    let left = match off.iter().position(|&off| off < ROUNDING) {
        Some(0) => "b^O in every row",
        Some(1) => "zeros",
        Some(_) => "the same output as before",
        None => "something else",
    };
    Ok(facts![left, from_bias, from_zeros, from_whole])
}

pub fn mean_for_a_head(n: &Facts) -> Result<Facts> {
    let [d_model, n_heads] = n.wholes(["d_model", "n_heads"])?;
    let (layer, mut heads) = heads_of(d_model, n_heads)?;
    let first = heads[1].row(0).into_owned();
    heads[1].row_iter_mut().for_each(|mut row| row.copy_from(&first));
    let w_o = layer.parameters().w_o();
    let whole = w_o.forward(&concat(&heads)?)?;
    let changed = |new: &Matrix| -> Result<usize> {
        let mut heads = heads.clone();
        heads[1].copy_from(new);
        let out = w_o.forward(&concat(&heads)?)?;
        let moves = |at: &usize| (out.column(*at) - whole.column(*at)).amax() > ROUNDING;
        Ok((0..whole.ncols()).filter(moves).count())
    };
    let (n_tokens, d_v) = heads[1].shape();
    let mean = Matrix::from_fn(n_tokens, d_v, |_, c| heads[1].column(c).mean());
    Ok(facts![by_mean = changed(&mean)?, by_zeros = changed(&(&mean * 0.0))?])
}

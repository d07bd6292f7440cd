//! Which rank has which part of a layer, and what it has to compute under a causal mask.

use anyhow::Result;
use attention::Matrix;
use distributed::share;
use figures::{Chart, Figure, Mark, by_cell, matrix_maps, palette};

use super::turns::{in_a_row, in_two_chunks, pairs};
use crate::args::Args;

const N_RANKS: usize = 4;
/// Tokens and heads of the layer that is drawn.
const SIZES: (usize, usize) = (8, 8);

/// The work of a layer as tokens by heads: whose each part is.
pub(super) fn layer(_: &Args) -> Result<Figure> {
    let part = |n: usize, p: usize, at: usize| {
        (0..p).find(|&r| share(n, p, r).contains(&at)).unwrap_or(0)
    };
    let (n_tokens, n_heads) = SIZES;
    let cuts: [(&str, [usize; 2]); 3] =
        [("heads apart", [1, 4]), ("tokens apart", [4, 1]), ("both, a grid", [2, 2])];
    let names =
        |what: &str, n| (0..n).map(|at| format!("{what}{at}")).collect::<Vec<_>>();
    let map = |(nth, (name, [by_tokens, by_heads])): (usize, (&str, [usize; 2]))| {
        let rank = |token, head| {
            by_heads * part(n_tokens, by_tokens, token) + part(n_heads, by_heads, head)
        };
        let last = (N_RANKS - 1) as f64;
        let stops = (0..N_RANKS).map(|r| (r as f64 / last, palette::beside_wrong(r)));
        Mark::cells(by_cell(SIZES, |i, j| rank(i, j) as f64), 1)
            .on(nth)
            .named(name)
            .scaled(stops.collect(), [0.0, last])
            .lettered(by_cell(SIZES, |i, j| rank(i, j).to_string()))
            .text_colour("#fff")
            .tells("{row}, {column}: rank {text}")
    };
    let title = "Heads can be computed apart, since a layer is a sum over heads; tokens, since \
                 softmaxes over some keys merge; and both (the number is the rank)";
    let headed = cuts.map(|(name, _)| name.to_owned());
    Ok(Chart::grid(title, &headed, &names("token ", n_tokens), &names("", n_heads))
        .marks(cuts.into_iter().enumerate().map(map))
        .says("Three maps of tokens by heads, each cut for four ranks: by heads, by tokens, \
               and two by two.")
        .figure()?)
}

/// The pairs of query and key that each rank computes at each step of a ring.
pub(super) fn fair(_: &Args) -> Result<Figure> {
    let of = |tokens: Vec<Vec<usize>>| {
        let pairs = pairs(&tokens);
        Matrix::from_fn(N_RANKS, N_RANKS, |step, r| pairs[step][r] as f64)
    };
    let (row, chunks) = (of(in_a_row(64, N_RANKS)), of(in_two_chunks(64, N_RANKS)));
    let names = |what| [0, 1, 2, 3].map(|at| format!("{what} {at}"));
    let title = "Pairs of query and key that each rank computes: cut in order, more and more \
                 ranks wait; with two chunks each, all compute equally many";
    let named = [("cut in order", &row), ("two chunks per rank", &chunks)];
    Ok(matrix_maps(title, &names("step"), &names("rank"), &named)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let idle = |tokens: Vec<Vec<usize>>| -> Vec<usize> {
            let pairs = pairs(&tokens);
            pairs.iter().map(|step| step.iter().filter(|&&n| n == 0).count()).collect()
        };
        assert_eq!(idle(in_a_row(64, N_RANKS)), [0, 1, 2, 3]);
        let chunks = pairs(&in_two_chunks(64, N_RANKS));
        assert!(chunks.iter().all(|step| step.iter().all(|n| *n == step[0])));
    }
}

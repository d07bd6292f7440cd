//! “One matrix, many heads”: heads as columns of one matrix, and the view that goes wrong.

pub mod forgotten;
pub mod three_stages;
pub mod view;

use anyhow::Result;
use attention::{Dims, Linear, Matrix, PackedParameters, softmax_rows};
use figures::{Cells, Equation, Figure, equations, memory_order};

use crate::a_lens_per_head::two_lenses;
use crate::args::{Args, Entry};
use crate::one_head::{FEATURES, WORDS, words};

pub(crate) const FIGURES: &[Entry] = &[
    ("packed-lenses", packed_lenses),
    ("fused-memory", memory),
    ("swapped-axes", forgotten::swapped_axes),
    ("not-transposed", forgotten::not_transposed),
    ("exchanged-tokens", forgotten::exchanged),
];

/// `view(h, n, d)` of a row-major `[n, h · d]`, head 0 first: what lies there.
pub fn view_without_transpose(q: &Matrix, h: usize) -> Vec<Matrix> {
    let (n, d) = (q.nrows(), q.ncols() / h);
    let memory: Vec<f64> = q.transpose().as_slice().to_vec(); // row after row
    memory.chunks(n * d).map(|head| Matrix::from_row_slice(n, d, head)).collect()
}

/// A row-major `[n, d_model]` whose entries say where they lie in memory.
pub fn addresses(n: usize, d_model: usize) -> Matrix {
    Matrix::from_fn(n, d_model, |token, column| (token * d_model + column) as f64)
}

/// In which head and row the entry at an address of `[n, d_model]` belongs.
pub fn meant(address: usize, dims: Dims) -> [usize; 2] {
    [address % dims.d_model() / dims.d_k(), address / dims.d_model()]
}

/// Of heads whose entries say where they lie in memory: in which head and row each stands,
/// in the order of memory.
pub fn standing(heads: &[Matrix]) -> Vec<[usize; 2]> {
    let mut found = vec![[0; 2]; heads.iter().map(Matrix::len).sum()];
    for (i, head) in heads.iter().enumerate() {
        for (row, entries) in head.row_iter().enumerate() {
            entries.iter().for_each(|&at| found[at as usize] = [i, row]);
        }
    }
    found
}

/// The heads of `[n, h · d]`, each its block of columns.
pub fn columns_of_heads(q: &Matrix, h: usize) -> Vec<Matrix> {
    let d = q.ncols() / h;
    (0..h).map(|i| q.columns(i * d, d).into_owned()).collect()
}

/// The heads side by side, `[n, h · d]`.
pub fn side_by_side(heads: &[Matrix]) -> Matrix {
    let columns: Vec<_> = heads.iter().flat_map(|head| head.column_iter()).collect();
    Matrix::from_columns(&columns)
}

/// `view(n, h · d)` of a row-major `[h, n, d]`: merged without the transpose.
pub fn merged_without_transpose(heads: &[Matrix]) -> Matrix {
    let (n, d) = heads[0].shape();
    let memory: Vec<f64> =
        heads.iter().flat_map(|head| head.transpose().as_slice().to_vec()).collect();
    Matrix::from_row_slice(n, heads.len() * d, &memory)
}

/// The layer with one way to split its heads, and one to merge them.
///
/// # Errors
/// If the tokens have another width than the layer.
pub fn layer_with_split(
    packed: &PackedParameters,
    x: &Matrix,
    split: fn(&Matrix, usize) -> Vec<Matrix>,
    merge: fn(&[Matrix]) -> Matrix,
) -> Result<Matrix> {
    let dims = packed.dims();
    let heads_of =
        |w: &Linear| -> Result<Vec<Matrix>> { Ok(split(&w.forward(x)?, dims.n_heads())) };
    let (q, k, v) =
        (heads_of(packed.w_q())?, heads_of(packed.w_k())?, heads_of(packed.w_v())?);
    let sqrt_d_k = (dims.d_k() as f64).sqrt();
    let heads: Vec<Matrix> = (0..dims.n_heads())
        .map(|i| softmax_rows(&q[i] * k[i].transpose() / sqrt_d_k) * &v[i])
        .collect();
    Ok(packed.w_o().forward(&merge(&heads))?)
}

/// Both lenses of “A lens per head” as one matrix, and the queries that it makes.
fn packed_lenses(_: &Args) -> Result<Figure> {
    let (packed, x) = (two_lenses()?.pack(), words());
    let w = &packed.w_q().weight;
    let d_k = packed.dims().d_k();
    let heads = ["head 0", "head 0", "head 1", "head 1"];
    let of_heads = |name, it| Cells::new(name, it).columns(&heads).of_heads(d_k);
    let line = Equation::of(Cells::new("X", &x).rows(&WORDS).columns(&FEATURES).lit(2))
        .times(of_heads("W^Q", w).rows(&FEATURES))
        .equals(of_heads("Q", &(&x * w)).rows(&WORDS).lit(2));
    Ok(equations("One product makes the queries of both heads, side by side", &[line])?)
}

fn memory(_: &Args) -> Result<Figure> {
    let (n_tokens, n_heads, d_k) = (4, 2, 3);
    let title = format!(
        "Column-major, head 0 is one run of {} numbers; row-major, {n_tokens} runs of {d_k}",
        n_tokens * d_k
    );
    Ok(memory_order(title, n_tokens, n_heads, d_k)?)
}

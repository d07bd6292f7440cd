//! Which outputs of a layer a NaN reaches.

use anyhow::Result;
use attention::{
    Dims, LayerParameters, Mask, MultiHeadAttention, Rng, SeedableRng, random_matrix,
};
use figures::{Axis, Chart, Figure, Mark, Panel, by_cell, label_width, palette};
use per_head::PerHeadAttention;

use crate::args::Args;

/// How many tokens there are, and which is broken.
const N: usize = 5;
const BROKEN: usize = 2;
/// What is computed, in the order of rows.
const CASES: [&str; 4] =
    ["no mask", "causal", "token 2 blocked", "blocked, plain product"];

/// Whether each output is NaN, by case and query, if one entry of token 2 is.
///
/// # Errors
/// None; the layer is a part of the program.
pub fn are_nan() -> Result<[[bool; N]; 4]> {
    let rng = &mut Rng::seed_from_u64(7);
    let layer = LayerParameters::random(Dims::new(12, 3)?, true, rng);
    let mut x = random_matrix(N, 12, 1.0, rng);
    x[(BROKEN, 7)] = f64::NAN;
    let blocked = Mask::Keys((0..N).map(|key| key != BROKEN).collect());
    let stage = PerHeadAttention::new(layer);
    // A head's last step as a plain product, in which 0 · NaN is NaN.
    let head = stage.heads(&x, &x, &x, &blocked)?.swap_remove(0);
    let outputs = [
        stage.self_attend(&x, &Mask::None)?.out,
        stage.self_attend(&x, &Mask::Causal)?.out,
        stage.self_attend(&x, &blocked)?.out,
        head.attn * head.v,
    ];
    Ok(outputs.map(|out| std::array::from_fn(|i| out.row(i).iter().any(|x| x.is_nan()))))
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let are_nan = are_nan()?;
    let cases = CASES.map(str::to_owned);
    let queries: Vec<String> = (0..N).map(|query| query.to_string()).collect();
    let shape = (CASES.len(), N);
    let word = |i: usize, j: usize| if are_nan[i][j] { "NaN" } else { "finite" };
    let cells = Mark::cells(by_cell(shape, |i, j| u8::from(are_nan[i][j])), 2)
        .named("output")
        .scaled(vec![(0.0, "rgba(118,118,118,0.12)"), (1.0, palette::wrong())], [0, 1])
        .lettered(by_cell(shape, word))
        .tells("{row}, output of query {column}: {text}");
    let across = Axis::across(&queries, 12).titled("output of query").level();
    let panel = Panel::new("", across, Axis::down(&cases, 12), 4.0 * 30.0);
    let title = "Blocking the NaN saves every other output, but not in a plain product";
    Ok(Chart::new(title).left(label_width(&cases, 12)).panel(panel, [cells]).figure()?)
}

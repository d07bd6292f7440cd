//! A lens per head.

use anyhow::Result;
use attention::{Dims, LayerParameters, Mask, Matrix, ShapeTrace};
use per_head::{PerHeadAttention, concat};

use crate::facts::{Facts, facts};
use crate::parts::{layer, step, tokens};
use crate::question::Run;

pub const RUNS: &[(&str, Run)] = &[
    ("lens-shape", lens),
    ("scores-shape", scores),
    ("concat-shape", concatenation),
    ("before-mixing", before_mixing),
    ("after-mixing", after_mixing),
];

fn layer_of(n: &Facts) -> Result<LayerParameters> {
    let [d_model, n_heads] = n.wholes(["d_model", "n_heads"])?;
    Ok(layer(Dims::new(d_model, n_heads)?, true))
}

fn trace(n: &Facts) -> Result<ShapeTrace> {
    let [n_tokens, d_model] = n.wholes(["n_tokens", "d_model"])?;
    Ok(PerHeadAttention::new(layer_of(n)?).trace(&tokens(n_tokens, d_model))?)
}

fn lens(n: &Facts) -> Result<Facts> {
    let layer = layer_of(n)?;
    let (dims, shape) = (layer.dims(), layer.heads()[0].w_q.weight.shape());
    let (_, line) = step(&trace(n)?, "Q_i")?;
    Ok(facts![
        line,
        shape,
        all_heads = (dims.d_model(), dims.d_model()),
        slice = (dims.d_k(), dims.d_k()),
        turned = (shape.1, shape.0),
    ])
}

fn scores(n: &Facts) -> Result<Facts> {
    let trace = trace(n)?;
    let (step, line) = step(&trace, "scores_i")?;
    let (q, k_t) = (step.from[0], step.from[1]);
    Ok(facts![line, scores = step.to, q, k_t, over_tokens = (q.1, q.1)])
}

fn concatenation(n: &Facts) -> Result<Facts> {
    let trace = trace(n)?;
    let (step, line) = step(&trace, "concat")?;
    let one = step.from[0];
    let [n_heads] = n.wholes(["n_heads"])?;
    Ok(facts![line, concat = step.to, one, below = (one.0 * n_heads, one.1)])
}

/// Which columns change when each number of a head's output is raised by one: of the
/// concatenation, and of the output.
fn changed(n: &Facts) -> Result<[Vec<usize>; 2]> {
    let [d_model, head] = n.wholes(["d_model", "head"])?;
    let layer = PerHeadAttention::new(layer_of(n)?);
    let x = tokens(5, d_model);
    let mut heads = layer.heads(&x, &x, &x, &Mask::None)?;
    let before = concat(heads.iter().map(|head| &head.out))?;
    heads[head].out.add_scalar_mut(1.0);
    let after = concat(heads.iter().map(|head| &head.out))?;
    let w_o = layer.parameters().w_o();
    let pairs = [(w_o.forward(&before)?, w_o.forward(&after)?), (before, after)];
    let [mixed, side_by_side] = pairs.map(|(before, after): (Matrix, Matrix)| {
        let differs = |&at: &usize| before.column(at) != after.column(at);
        (0..before.ncols()).filter(differs).collect::<Vec<usize>>()
    });
    Ok([side_by_side, mixed])
}

fn in_words(columns: &[usize], of: usize) -> String {
    let (first, last) = (columns.first(), columns.last());
    let range = first
        .zip(last)
        .map_or(String::new(), |(first, last)| format!(": columns {first} to {last}"));
    format!("{} of {of} columns change{range}", columns.len())
}

fn before_mixing(n: &Facts) -> Result<Facts> {
    let ([d_model], [side_by_side, mixed]) = (n.wholes(["d_model"])?, changed(n)?);
    let concat = in_words(&side_by_side, d_model);
    Ok(facts![concat, changed = side_by_side.len(), mixed = mixed.len()])
}

fn after_mixing(n: &Facts) -> Result<Facts> {
    let ([d_model], [side_by_side, mixed]) = (n.wholes(["d_model"])?, changed(n)?);
    Ok(facts![
        concat = in_words(&side_by_side, d_model),
        output = in_words(&mixed, d_model),
        changed = mixed.len(),
        kept = d_model - mixed.len(),
        kept_before = d_model - side_by_side.len(),
    ])
}

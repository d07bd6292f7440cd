//! A lens per head.

use per_head::{PerHeadAttention, concat};

use super::*;

fn layer_of(n: &Facts) -> Result<LayerParameters> {
    let [d_model, n_heads] = n.wholes(["d_model", "n_heads"])?;
    Ok(layer(Dims::new(d_model, n_heads)?, true))
}

/// The step whose formula begins so, as the layer's trace prints it, and what it makes.
fn step(n: &Facts, formula: &str) -> Result<Facts> {
    let [n_tokens, d_model] = n.wholes(["n_tokens", "d_model"])?;
    let layer = PerHeadAttention::new(layer_of(n)?);
    let trace = layer.trace(&tokens(n_tokens, d_model))?;
    let step = trace.steps().find(|step| step.formula.starts_with(formula));
    let text = trace.to_string();
    let line = text.lines().map(str::trim).find(|line| line.starts_with(formula));
    let (step, line) = step.zip(line).with_context(|| format!("no step {formula}"))?;
    Ok(facts![line, shape = step.to])
}

pub fn lens_shape(n: &Facts) -> Result<Facts> {
    Ok(step(n, "Q_i")?.with("shape", layer_of(n)?.heads()[0].w_q.weight.shape()))
}

pub fn scores_shape(n: &Facts) -> Result<Facts> {
    step(n, "scores_i")
}

pub fn concat_shape(n: &Facts) -> Result<Facts> {
    step(n, "concat")
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
    let range = match columns {
        [first, .., last] => format!(": columns {first} to {last}"),
        _ => String::new(),
    };
    format!("{} of {of} columns change{range}", columns.len())
}

pub fn before_mixing(n: &Facts) -> Result<Facts> {
    let ([d_model], [side_by_side, mixed]) = (n.wholes(["d_model"])?, changed(n)?);
    let concat = in_words(&side_by_side, d_model);
    Ok(facts![concat, changed = side_by_side.len(), mixed = mixed.len()])
}

pub fn after_mixing(n: &Facts) -> Result<Facts> {
    let ([d_model], [side_by_side, mixed]) = (n.wholes(["d_model"])?, changed(n)?);
    Ok(facts![
        concat = in_words(&side_by_side, d_model),
        output = in_words(&mixed, d_model),
        changed = side_by_side.len(),
        mixed = mixed.len(),
    ])
}

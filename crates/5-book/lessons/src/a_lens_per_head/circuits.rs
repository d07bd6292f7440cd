//! The two products that a head really is, and the freedom that they leave.

use anyhow::{Context, Result, bail};
use attention::{HeadParameters, LayerParameters, Linear, Matrix, RowVector};
use figures::{Figure, matrix_maps};

use super::two_lenses;
use crate::args::Args;
use crate::one_head::FEATURES;

/// `W^Q (W^K)ᵀ`: how strongly each feature of a query looks for each feature of a key,
/// `[d_model, d_model]`.
// ANCHOR: qk
pub fn qk(head: &HeadParameters) -> Matrix {
    &head.w_q.weight * head.w_k.weight.transpose()
}
// ANCHOR_END: qk

/// `W_i^V W_i^O`: what each feature of an attended token writes into the output,
/// `[d_model, d_model]`.
// ANCHOR: ov
pub fn ov(layer: &LayerParameters, i: usize) -> Matrix {
    &layer.heads()[i].w_v.weight * layer.w_o_of_head(i)
}
// ANCHOR_END: ov

/// `W^Q M` and `W^K M⁻ᵀ`, biases likewise: other queries and keys, the same scores.
///
/// # Shapes
/// `m` is `[d_k, d_k]`.
///
/// # Errors
/// If `m` has no inverse.
pub fn rebased(head: &HeadParameters, m: &Matrix) -> Result<HeadParameters> {
    let inverse = m.clone().try_inverse().with_context(|| {
        format!("M has no inverse: its determinant is {}", m.determinant())
    })?;
    Ok(HeadParameters {
        w_q: times(&head.w_q, m)?,
        w_k: times(&head.w_k, &inverse.transpose())?,
        w_v: head.w_v.clone(),
    })
}

fn times(linear: &Linear, m: &Matrix) -> Result<Linear> {
    let bias = linear.bias.as_ref().map(|bias| bias * m);
    Ok(Linear::new(&linear.weight * m, bias)?)
}

/// `I + (s − 1) u uᵀ`: stretches the direction of `along` by `s` and leaves the rest.
pub fn stretched(along: &RowVector, s: f64) -> Matrix {
    let u = along.normalize();
    let n = u.len();
    Matrix::identity(n, n) + u.transpose() * &u * (s - 1.0)
}

/// `product=qk` or `product=ov`: one of the two products, of both lenses.
pub(super) fn figure(args: &Args) -> Result<Figure> {
    let layer = two_lenses()?;
    let maps = |of: &dyn Fn(usize) -> Matrix| [0, 1].map(of);
    let draw = |title, columns: &[&str; 4], [grammar, water]: &[Matrix; 2]| {
        let named = [("grammar lens", grammar), ("water lens", water)];
        Ok(matrix_maps(title, &FEATURES, columns, &named)?)
    };
    match args.get("product") {
        Some("qk") => draw(
            "What a token looks for, feature by feature",
            &FEATURES,
            &maps(&|i| qk(&layer.heads()[i])),
        ),
        Some("ov") => draw(
            "What a head writes when it attends to a token",
            &["out 0", "out 1", "out 2", "out 3"],
            &maps(&|i| ov(&layer, i)),
        ),
        other => bail!("circuits takes product=qk or product=ov, not {other:?}"),
    }
}

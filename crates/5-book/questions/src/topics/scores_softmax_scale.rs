//! Scores, softmax and √d_k.

use lessons::scores_softmax_scale::as_written;
use single_head::attend;

use super::*;

pub fn softmax_equal(n: &Facts) -> Result<Facts> {
    let scores = n.list("scores")?;
    let scores = Matrix::from_row_slice(1, scores.len(), &scores);
    let (exp, shares) = (scores.map(f64::exp), softmax_rows(scores.clone()));
    let shown = row("scores", &scores) + &row("exp", &exp) + &row("shares", &shares);
    Ok(facts![shown, share = shares[0], score = scores[0], exponential = exp[0]])
}

pub fn softmax_huge(n: &Facts) -> Result<Facts> {
    let numbers = n.list("scores")?;
    let of = |numbers: &[f64]| Matrix::from_row_slice(1, numbers.len(), numbers);
    let scores = of(&numbers);
    let (shares, formula) = (softmax_rows(scores.clone()), of(&as_written(&numbers)));
    let unblocked = softmax_rows(Matrix::from_element(1, numbers.len(), numbers[0]));
    let shown = row("scores", &scores)
        + &row("minus the largest", &scores.add_scalar(-scores.max()))
        + &row("shares", &shares)
        + &row("by the formula", &formula);
    Ok(facts![shown, share = shares[0], formula = formula[0], unblocked = unblocked[0]])
}

pub fn spread(n: &Facts) -> Result<Facts> {
    let widths = n.wholes(["narrow", "wide"])?;
    let rng = &mut Rng::seed_from_u64(6);
    let spreads = widths.map(|d_k| {
        let q: Matrix = random_matrix(256, d_k, 1.0, rng);
        let k: Matrix = random_matrix(64, d_k, 1.0, rng);
        let raw = q * k.transpose(); // [256, 64]
        let divided = &raw / (d_k as f64).sqrt();
        [raw.variance().sqrt(), divided.variance().sqrt()]
    });
    let [[narrow_raw, narrow_divided], [wide_raw, wide_divided]] = spreads;
    let root = ((widths[1] / widths[0]) as f64).sqrt();
    Ok(facts![narrow_raw, narrow_divided, wide_raw, wide_divided, root])
}

pub fn divisor(n: &Facts) -> Result<Facts> {
    let [d_model, n_heads] = n.wholes(["d_model", "n_heads"])?;
    let rng = &mut Rng::seed_from_u64(1);
    let head: HeadParameters =
        HeadParameters::random(Dims::new(d_model, n_heads)?, true, rng);
    let x = tokens(2, d_model);
    let pass = attend(&head, &x, &x, &x, &Mask::None)?;
    let (dot, score) = (pass.q.row(0).dot(&pass.k.row(0)), pass.scores[(0, 0)]);
    let (d_k, root_d_model) = (pass.q.ncols(), (d_model as f64).sqrt());
    Ok(facts![dot, score, d_k, divisor = dot / score, root_d_model])
}

/// A row of numbers under its name.
fn row(name: &str, numbers: &Matrix) -> String {
    let text = |x: f64| match x {
        f64::NEG_INFINITY => "−∞".to_owned(),
        x if x.fract() == 0.0 => x.to_string(),
        x => format!("{x:.3}"),
    };
    let numbers = numbers.iter().map(|&x| format!("  {:>5}", text(x)));
    format!("{name:<17}{}\n", numbers.collect::<String>())
}

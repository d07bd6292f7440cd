//! Learning.

use anyhow::Result;
use attention::{Linear, Matrix};
use gradients::{Adam, Optimiser, Sgd, cross_entropy};

use crate::facts::{Facts, facts};
use crate::question::Run;

pub const RUNS: &[(&str, Run)] = &[
    ("descent-step", descent_step),
    ("adam-step", adam_step),
    ("cross-entropy", loss_of),
    ("logit-gradient", logit_gradient),
];

/// Where a parameter stands after one step.
fn stepped(mut by: impl Optimiser, theta: f64, gradient: f64) -> Result<f64> {
    let linear = |x| Linear::new(Matrix::from_element(1, 1, x), None);
    let mut parameter = linear(theta)?;
    by.step(&mut [&mut parameter], &[&linear(gradient)?])?;
    Ok(parameter.weight[0])
}

fn descent_step(n: &Facts) -> Result<Facts> {
    let [theta, gradient, rate] = n.decimals(["theta", "gradient", "rate"])?;
    let after = |lr| stepped(Sgd { lr }, theta, gradient);
    let down = after(rate)?;
    let sum = format!("{theta} − {rate} · {gradient} = {down:.3}").replace("− -", "+ ");
    Ok(facts![sum, down, up = after(-rate)?, at_rate_1 = after(1.0)?])
}

fn adam_step(n: &Facts) -> Result<Facts> {
    const RATE: f64 = 0.01;
    let gradients = n.decimals(["small", "large"])?;
    let [adam_1, adam_2] =
        gradients.map(|gradient| stepped(Adam::new(RATE), 0.0, gradient));
    let [descent_1, descent_2] =
        gradients.map(|gradient| stepped(Sgd { lr: RATE }, 0.0, gradient));
    let (adam_1, adam_2) = (adam_1?.abs(), adam_2?.abs());
    let (descent_1, descent_2) = (descent_1?.abs(), descent_2?.abs());
    let (times, by_descent) = (adam_2 / adam_1, descent_2 / descent_1);
    let root = by_descent.sqrt();
    let rate = RATE;
    Ok(facts![rate, adam_1, adam_2, descent_1, descent_2, times, by_descent, root])
}

/// The logits whose shares these are.
fn logits(shares: &[f64]) -> Matrix {
    Matrix::from_row_slice(1, shares.len(), shares).map(f64::ln)
}

fn loss_of(n: &Facts) -> Result<Facts> {
    let [right, other] = n.decimals(["right", "other"])?;
    Ok(facts![
        loss = cross_entropy(&logits(&[right, other]), &[0])?.value,
        missing = 1.0 - right,
        bits = -right.log2(),
        to_base_10 = -right.log10(),
    ])
}

fn logit_gradient(n: &Facts) -> Result<Facts> {
    let (shares, [right]) = (n.list("shares")?, n.wholes(["right"])?);
    let gradient = cross_entropy(&logits(&shares), &[right])?.gradient;
    let row = |numbers: &[f64]| -> String {
        numbers.iter().map(|number| format!("{number:>8.3}")).collect()
    };
    let share = shares[right];
    Ok(facts![
        share,
        row = row(&shares),
        gradients = row(gradient.as_slice()),
        gradient = gradient[right],
        reversed = 1.0 - share,
        of_share = -1.0 / share,
    ])
}

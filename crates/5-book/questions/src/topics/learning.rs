//! Learning.

use gradients::{Adam, Optimiser, Sgd};

use super::*;

/// Where a parameter stands after one step.
fn stepped(mut by: impl Optimiser, theta: f64, gradient: f64) -> Result<f64> {
    let linear = |x| Linear::new(Matrix::from_element(1, 1, x), None);
    let mut parameter = linear(theta)?;
    by.step(&mut [&mut parameter], &[&linear(gradient)?])?;
    Ok(parameter.weight[0])
}

pub fn descent_step(n: &Facts) -> Result<Facts> {
    let [theta, gradient, rate] = n.decimals(["theta", "gradient", "rate"])?;
    let down = stepped(Sgd { lr: rate }, theta, gradient)?;
    let sum = format!("{theta} − {rate} · {gradient} = {down:.3}").replace("− -", "+ ");
    Ok(facts![sum, down])
}

pub fn adam_step(n: &Facts) -> Result<Facts> {
    const RATE: f64 = 0.01;
    let [small, large] = n.decimals(["small", "large"])?;
    let adam = |gradient| stepped(Adam::new(RATE), 0.0, gradient);
    let descent = |gradient| stepped(Sgd { lr: RATE }, 0.0, gradient);
    let (descent_1, descent_2) = (descent(small)?.abs(), descent(large)?.abs());
    Ok(facts![
        rate = RATE,
        descent_1,
        descent_2,
        adam_1 = adam(small)?.abs(),
        adam_2 = adam(large)?.abs(),
        root = (descent_2 / descent_1).sqrt(),
    ])
}

/// The logits whose shares these are.
fn logits(shares: &[f64]) -> Matrix {
    Matrix::from_row_slice(1, shares.len(), shares).map(f64::ln)
}

pub fn cross_entropy(n: &Facts) -> Result<Facts> {
    let [right, other] = n.decimals(["right", "other"])?;
    Ok(facts![
        loss = gradients::cross_entropy(&logits(&[right, other]), &[0])?.value,
        bits = -right.log2(),
        to_base_10 = -right.log10(),
    ])
}

pub fn logit_gradient(n: &Facts) -> Result<Facts> {
    let (shares, [right]) = (n.list("shares")?, n.wholes(["right"])?);
    let gradient = gradients::cross_entropy(&logits(&shares), &[right])?.gradient;
    let row = |numbers: &[f64]| -> String {
        numbers.iter().map(|number| format!("{number:>8.3}")).collect()
    };
    let share = shares[right];
    Ok(facts![
        share,
        row = row(&shares),
        gradients = row(gradient.as_slice()),
        gradient = gradient[right],
    ])
}

//! A model that writes.

use gradients::cross_entropy;

use super::*;

pub fn temperature(n: &Facts) -> Result<Facts> {
    let [times, temperature] = n.decimals(["times", "temperature"])?;
    let ratio = |temperature: f64| {
        let logits = [times.ln() / temperature, 0.0];
        let shares = softmax_rows(Matrix::from_row_slice(1, 2, &logits));
        shares[0] / shares[1]
    };
    Ok(facts![
        at_1 = ratio(1.0),
        at_temperature = ratio(temperature),
        multiplied = ratio(1.0 / temperature),
    ])
}

pub fn perplexity(n: &Facts) -> Result<Facts> {
    let chances = n.decimals(["first", "second"])?;
    let logits = chances.map(|chance| [chance.ln(), (1.0 - chance).ln()]);
    let loss =
        cross_entropy(&Matrix::from_row_slice(2, 2, &logits.concat()), &[0, 0])?.value;
    Ok(facts![
        loss,
        first_loss = -chances[0].ln(),
        second_loss = -chances[1].ln(),
        perplexity = loss.exp(),
        mean = chances.iter().sum::<f64>() / 2.0,
    ])
}

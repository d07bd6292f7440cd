//! Heads that add into one row of the output.

use anyhow::Result;
use attention::{Matrix, RowVector};
use figures::{Additions, Figure, heads_add};

use crate::args::Args;
use crate::trained::{at, passes};

/// The token whose output is taken apart, of "The river banks overflowed.".
pub const TOKEN: &str = "banks";
/// Which entries of its output are shown: the first ones, unselected.
pub const FEATURES: usize = 6;

/// One token's output as a sum: a row per head, and W^O's bias.
pub struct Adding {
    /// head_i W_i^O at the token, `[n_heads, d_model]`.
    pub heads: Matrix,
    /// b^O, `[d_model]`.
    pub bias: RowVector,
    /// What the layer gives at the token, `[d_model]`.
    pub out: RowVector,
}

impl Adding {
    /// Of the trained layer.
    ///
    /// # Errors
    /// None; the layer and the sentence are parts of the program.
    pub fn new() -> Result<Self> {
        let layer = crate::trained::layer()?;
        let sentence = layer.sentence("river_banks")?;
        let token = at(sentence, TOKEN)?;
        let passes = passes(&layer.parameters, &sentence.input)?;
        let w_o = layer.parameters.w_o();
        let rows = passes.iter().enumerate().map(|(i, pass)| {
            pass.out.row(token) * layer.parameters.w_o_of_head(i) // [1, d_model]
        });
        let heads = Matrix::from_rows(&rows.collect::<Vec<_>>());
        let outs: Vec<_> = passes.iter().map(|pass| &pass.out).collect();
        let out = w_o.forward(&per_head::concat(outs)?)?.row(token).into_owned();
        let bias = w_o.bias.clone().unwrap_or_else(|| RowVector::zeros(w_o.d_out()));
        Ok(Self { heads, bias, out })
    }
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let adding = Adding::new()?;
    let first = |row: &[f64]| row[..FEATURES].to_vec();
    let row = |i: usize| adding.heads.row(i).iter().copied().collect::<Vec<f64>>();
    let n_heads = adding.heads.nrows();
    let added = Additions {
        token: TOKEN.to_owned(),
        features: (0..FEATURES).collect(),
        heads: (0..n_heads).map(|i| first(&row(i))).collect(),
        bias: first(adding.bias.as_slice()),
    };
    let title =
        format!("{n_heads} heads and b^O add up to each entry of a token's output");
    Ok(heads_add(title, &added)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over heads is the layer's output.
    #[test]
    fn heads_add_up_to_the_output() {
        let adding = Adding::new().unwrap();
        let sum = adding.heads.row_sum() + &adding.bias;
        let difference = (&sum - &adding.out).amax();
        assert!(difference < 1e-12, "{difference:e}");
        let figure = figure(&Args::default()).unwrap();
        let sums = figure.tables()[0].rows.last().unwrap();
        for (nth, told) in sums[1..].iter().enumerate() {
            let told: f64 = told.replace('−', "-").parse().unwrap();
            assert!((told - adding.out[nth]).abs() < 1e-4, "feature {nth}");
        }
    }
}

//! What each token gets: in attention, and in what is written into the output.

use anyhow::Result;
use attention::{LayerParameters, Matrix};
use single_head::HeadPass;

use crate::trained::passes;

/// What each token gets over all heads and queries.
pub struct Got {
    /// The mean share.
    pub attention: Vec<f64>,
    /// The mean part of the length of what is written, |share · v_j W_i^O|.
    pub written: Vec<f64>,
}

impl Got {
    /// In this layer, on these tokens.
    ///
    /// # Errors
    /// If the tokens have another width than the layer.
    pub fn new(layer: &LayerParameters, x: &Matrix) -> Result<Self> {
        let n = x.nrows();
        let mut got = Self { attention: vec![0.0; n], written: vec![0.0; n] };
        let passes = passes(layer, x)?;
        for (i, pass) in passes.iter().enumerate() {
            let lengths = lengths(layer, i, pass);
            let weight = 1.0 / (passes.len() * n) as f64;
            for row in pass.attn.row_iter() {
                let written: Vec<f64> =
                    row.iter().zip(&lengths).map(|(a, l)| a * l).collect();
                let total: f64 = written.iter().sum();
                for j in 0..n {
                    got.attention[j] += weight * row[j];
                    got.written[j] += weight * written[j] / total;
                }
            }
        }
        Ok(got)
    }
}

/// How long each token's value is once W_i^O has written it into the output.
pub fn lengths(layer: &LayerParameters, head: usize, pass: &HeadPass) -> Vec<f64> {
    let written = &pass.v * layer.w_o_of_head(head); // [n_tokens, d_model]
    written.row_iter().map(|row| row.norm()).collect()
}

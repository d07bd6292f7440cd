//! Three ways to measure a link: the raw share, the share among words, and the part
//! that is written.

use anyhow::Result;
use attention::{LayerParameters, Matrix};
use model_files::Sentence;
use single_head::HeadPass;

use crate::trained::{is_word, passes};

/// What a layer does with the four sentences: for each its maps, head 0 first.
pub type Maps = Vec<Vec<Matrix>>;

/// The measures, in the order of [`measured`].
pub const MEASURES: [&str; 3] = ["raw", "among words", "written"];

/// The maps of a layer on all sentences, under each of [`MEASURES`].
///
/// # Errors
/// If the tokens have another width than the layer.
pub fn measured(layer: &LayerParameters, sentences: &[Sentence]) -> Result<[Maps; 3]> {
    let mut of_measures = [const { Vec::new() }; 3];
    for sentence in sentences {
        let words = words(&sentence.tokens);
        let mut of_sentence = [const { Vec::new() }; 3];
        for (head, pass) in passes(layer, &sentence.input)?.into_iter().enumerate() {
            let written = weighted(&pass.attn, &lengths(layer, head, &pass));
            let of_head = [weighted(&pass.attn, &words), written];
            let of_head = std::iter::once(pass.attn).chain(of_head);
            of_sentence.iter_mut().zip(of_head).for_each(|(maps, map)| maps.push(map));
        }
        of_measures.iter_mut().zip(of_sentence).for_each(|(all, maps)| all.push(maps));
    }
    Ok(of_measures)
}

/// Each share times the weight of its key, and then each row divided by its sum.
///
/// # Shapes
/// One weight per column.
pub fn weighted(map: &Matrix, weights: &[f64]) -> Matrix {
    let mut weighted = map.clone();
    for (mut column, &weight) in weighted.column_iter_mut().zip(weights) {
        column *= weight;
    }
    for mut row in weighted.row_iter_mut() {
        row /= row.sum();
    }
    weighted
}

/// 1 for a word or a piece of one; 0 for `[CLS]`, `[SEP]` and punctuation.
pub fn words(tokens: &[String]) -> Vec<f64> {
    tokens.iter().map(|token| f64::from(is_word(token))).collect()
}

/// ‖v_k W_i^O‖ for each token: how much it would write at a share of 1.
pub fn lengths(layer: &LayerParameters, head: usize, pass: &HeadPass) -> Vec<f64> {
    let written = &pass.v * layer.w_o_of_head(head); // [n_tokens, d_model]
    written.row_iter().map(|row| row.norm()).collect()
}

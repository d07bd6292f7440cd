//! What the model reads.

use std::ops::Range;

use ::texts::Long;
use anyhow::{Result, ensure};
use attention::Mask;
use models::decoders::study::{PROSE, repeated};
use rayon::prelude::*;

use crate::{Model, Study};

/// Seeds of the sequences on which heads are chosen.
pub const CHOOSING: Range<u64> = 0..5;
/// Seeds of those on which what was chosen is measured.
pub const MEASURING: Range<u64> = 5..10;

/// Random tokens, repeated.
pub fn random(seeds: Range<u64>, n_vocabulary: usize) -> Vec<Vec<usize>> {
    seeds.map(|seed| repeated(seed, n_vocabulary)).collect()
}

/// Prose in pieces of `n` tokens.
pub fn prose(study: &Study, n: usize, most: usize) -> Result<Vec<Vec<usize>>> {
    let ids = study.text.pieces(PROSE, usize::MAX, Long::Refuse)?.sequence.ids;
    let pieces: Vec<_> = ids.chunks_exact(n).take(most).map(<[usize]>::to_vec).collect();
    ensure!(
        pieces.len() == most,
        "{} tokens of prose make no {most} times {n}",
        ids.len()
    );
    Ok(pieces)
}

/// The losses of each text under a causal mask.
pub fn losses(model: &Model, texts: &[Vec<usize>]) -> Result<Vec<Vec<f64>>> {
    let losses = |ids: &Vec<usize>| model.losses(ids, &Mask::Causal);
    Ok(texts.par_iter().map(losses).collect::<models::Result<_>>()?)
}

/// The mean over all tokens of all texts but the first of each.
pub fn mean_loss(model: &Model, texts: &[Vec<usize>]) -> Result<f64> {
    let all: Vec<f64> = losses(model, texts)?.into_iter().flatten().collect();
    Ok(crate::mean(&all))
}

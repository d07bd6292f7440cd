//! The stages side by side, under one trait.

use attention::{LayerParameters, MultiHeadAttention, Real};
use fused_heads::FusedAttention;
use per_head::{NaiveAttention, PerHeadAttention, SumOfHeadsAttention};

/// Every stage with the same parameters, the definition first.
pub fn every_stage<T: Real>(
    parameters: &LayerParameters<T>,
) -> Vec<Box<dyn MultiHeadAttention<T>>> {
    vec![
        Box::new(NaiveAttention::new(parameters.clone())),
        Box::new(PerHeadAttention::new(parameters.clone())),
        Box::new(SumOfHeadsAttention::new(parameters.clone())),
        Box::new(FusedAttention::new(parameters)),
    ]
}

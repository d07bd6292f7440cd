//! Layers to compare the trained one with: of random entries, and of its own entries in
//! another order.

use anyhow::Result;
use attention::{
    HeadParameters, LayerParameters, Linear, Matrix, Rng, SeedableRng, random_matrix,
};
use model_files::TrainedLayer;

use super::measures::{Maps, measured};
use crate::trained;

/// How many layers of random entries each claim is compared with.
pub const RANDOM_LAYERS: u64 = 50;
/// How many layers have the trained entries in another order.
pub const SHUFFLED_LAYERS: u64 = 30;

/// How many of either a figure draws: the book is not to wait for eighty layers.
pub const DRAWN_LAYERS: u64 = 6;

/// The maps of the first layers of random entries, under each measure.
///
/// # Errors
/// None; the sentences are parts of the program.
pub fn random_layers(n: u64) -> Result<Vec<[Maps; 3]>> {
    let sentences = &trained::layer()?.sentences;
    (0..n).map(|seed| measured(&random_layer(seed)?, sentences)).collect()
}

/// A layer of random entries, of the trained layer's sizes.
///
/// # Errors
/// None; the layer is a part of the program.
pub fn random_layer(seed: u64) -> Result<LayerParameters> {
    let dims = trained::layer()?.parameters.dims();
    Ok(LayerParameters::random(dims, true, &mut Rng::seed_from_u64(seed)))
}

/// The maps of the first layers of shuffled entries, under each measure.
///
/// # Errors
/// None; the layer and the sentences are parts of the program.
pub fn shuffled_layers(n: u64) -> Result<Vec<[Maps; 3]>> {
    let TrainedLayer { parameters, sentences } = trained::layer()?;
    (0..n).map(|seed| measured(&shuffled_layer(parameters, seed)?, sentences)).collect()
}

/// The trained layer with the entries of each matrix and bias in another order.
fn shuffled_layer(layer: &LayerParameters, seed: u64) -> Result<LayerParameters> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut order = |n: usize| {
        let keys: Matrix = random_matrix(n, 1, 1.0, rng);
        let mut order: Vec<(f64, usize)> = keys.iter().copied().zip(0..).collect();
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        order.into_iter().map(|(_, place)| place)
    };
    let mut shuffled = |linear: &Linear| {
        let mut new = linear.clone();
        let from = order(linear.weight.len());
        let weight = linear.weight.as_slice();
        new.weight.iter_mut().zip(from).for_each(|(new, from)| *new = weight[from]);
        if let (Some(new), Some(bias)) = (&mut new.bias, &linear.bias) {
            new.iter_mut()
                .zip(order(bias.len()))
                .for_each(|(new, from)| *new = bias[from]);
        }
        new
    };
    let heads = layer.heads().iter().map(|head| HeadParameters {
        w_q: shuffled(&head.w_q),
        w_k: shuffled(&head.w_k),
        w_v: shuffled(&head.w_v),
    });
    let heads = heads.collect();
    Ok(LayerParameters::new(heads, shuffled(layer.w_o()))?)
}

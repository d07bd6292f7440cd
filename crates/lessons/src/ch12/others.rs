//! Layers beside the trained one: of random numbers, of its own numbers in another order,
//! and with its matrices the wrong way round.

use anyhow::Result;
use attention::{
    HeadParameters, LayerParameters, Linear, Matrix, Rng, SeedableRng, random_matrix,
};
use pretrained::TrainedLayer;

use super::claims::{Maps, maps_of_all};

/// How many layers of random numbers each claim is compared with.
pub const RANDOM_LAYERS: u64 = 50;
/// How many layers have the trained numbers in another order.
pub const SHUFFLED_LAYERS: u64 = 5;

/// The maps of [`RANDOM_LAYERS`] layers.
///
/// # Errors
/// None; the sentences are parts of the program.
pub fn random_maps() -> Result<Vec<Maps>> {
    let TrainedLayer { parameters, sentences } = pretrained::minilm()?;
    let layer = |seed| {
        LayerParameters::random(parameters.dims(), true, &mut Rng::seed_from_u64(seed))
    };
    (0..RANDOM_LAYERS).map(|seed| maps_of_all(&layer(seed), &sentences)).collect()
}

/// The maps of [`SHUFFLED_LAYERS`] layers.
///
/// # Errors
/// None; the layer and the sentences are parts of the program.
pub fn shuffled_maps() -> Result<Vec<Maps>> {
    let TrainedLayer { parameters, sentences } = pretrained::minilm()?;
    (0..SHUFFLED_LAYERS)
        .map(|seed| maps_of_all(&shuffled_layer(&parameters, seed)?, &sentences))
        .collect()
}

/// The trained layer with the numbers of each matrix and bias in another order.
fn shuffled_layer(layer: &LayerParameters, seed: u64) -> Result<LayerParameters> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut order = |n: usize| {
        let keys: Matrix = random_matrix(n, 1, 1.0, rng);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
        order
    };
    let mut shuffled = |linear: &Linear| {
        let mut new = linear.clone();
        for (to, from) in order(linear.weight.len()).into_iter().enumerate() {
            new.weight[to] = linear.weight[from];
        }
        if let (Some(new), Some(bias)) = (&mut new.bias, &linear.bias) {
            for (to, from) in order(bias.len()).into_iter().enumerate() {
                new[to] = bias[from];
            }
        }
        new
    };
    let heads = layer.heads().iter().map(|head| HeadParameters {
        w_q: shuffled(&head.w_q),
        w_k: shuffled(&head.w_k),
        w_v: shuffled(&head.w_v),
    });
    Ok(LayerParameters::new(heads.collect(), layer.w_o().clone())?)
}

/// W^Q, W^K and W^V taken as if the file stored them `[in, out]`.
///
/// # Errors
/// If the matrices are not square.
pub fn turned_wrongly(layer: &LayerParameters) -> Result<LayerParameters> {
    let fused = layer.pack();
    let d_k = layer.dims().d_k();
    let block = |wide: &Linear, i: usize| -> Result<Linear> {
        let weight = wide.weight.transpose().columns(i * d_k, d_k).into_owned();
        let bias = wide.bias.as_ref().map(|bias| bias.columns(i * d_k, d_k).into_owned());
        Ok(Linear::new(weight, bias)?)
    };
    let head = |i: usize| -> Result<HeadParameters> {
        Ok(HeadParameters {
            w_q: block(fused.w_q(), i)?,
            w_k: block(fused.w_k(), i)?,
            w_v: block(fused.w_v(), i)?,
        })
    };
    let heads = (0..layer.heads().len()).map(head).collect::<Result<_>>()?;
    Ok(LayerParameters::new(heads, layer.w_o().clone())?)
}

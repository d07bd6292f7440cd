//! “Counting”: parameters and multiply-adds of layers of every kind, counted.

pub mod ledger;
mod measured;

use anyhow::Result;
use attention::{Dims, LayerParameters, MultiplyAdds, ParameterCount, Rng, SeedableRng};
use figures::{Figure, NamedCost, costs, layer_areas};

use crate::args::{Args, Entry};

pub(crate) const FIGURES: &[Entry] = &[
    ("layer-areas", areas),
    ("costs-widths", costs_widths),
    ("costs-lengths", costs_lengths),
    ("widths-measured", measured::figure),
];

/// The parameters of a layer of these sizes.
pub fn count(dims: Dims, bias: bool) -> ParameterCount {
    let layer: LayerParameters =
        LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(1));
    layer.count()
}

/// The work on `n_tokens` of a layer with heads of this width.
///
/// # Errors
/// If a size is 0.
pub fn work(
    d_model: usize,
    n_heads: usize,
    width: usize,
    n_tokens: usize,
) -> Result<MultiplyAdds> {
    let dims = Dims::with_head_sizes(d_model, n_heads, width, width)?;
    Ok(MultiplyAdds::count(dims, n_tokens, n_tokens)?)
}

/// The matrices of the sensors' layer.
fn areas(_: &Args) -> Result<Figure> {
    let title = "8 heads cut four squares of side 256 in 8 strips each";
    Ok(layer_areas(title, Dims::new(256, 8)?, None, 0)?)
}

fn cost(name: String, n_heads: usize, width: usize, n: usize) -> Result<NamedCost> {
    Ok(NamedCost { name, work: work(512, n_heads, width, n)?, milliseconds: None })
}

fn costs_widths(_: &Args) -> Result<Figure> {
    let layers = [(1, 512), (8, 64), (8, 512)].map(|(n_heads, width)| {
        cost(format!("{n_heads} × {width}"), n_heads, width, 100)
    });
    let layers = layers.into_iter().collect::<Result<Vec<_>>>()?;
    let title = "8 heads of 64 take as many multiply-adds as 1 of 512, and 8 of 512 \
                 eight times as many";
    Ok(costs(title, &layers)?)
}

fn costs_lengths(_: &Args) -> Result<Figure> {
    let layers = [256, 512, 1024, 2048]
        .map(|n_tokens| cost(format!("{n_tokens} tokens"), 8, 64, n_tokens));
    let layers = layers.into_iter().collect::<Result<Vec<_>>>()?;
    let title =
        "Twice the tokens: twice the projections, four times the products of pairs";
    Ok(costs(title, &layers)?)
}

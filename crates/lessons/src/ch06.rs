//! The figures of chapter 6.

use anyhow::Result;
use attention::{Dims, LayerParameters, MultiplyAdds, ParameterCount, Rng, SeedableRng};
use figures::{Figure, NamedCost, costs, ledger};

use super::{Args, Entry};

pub const FIGURES: [Entry; 4] = [
    ("ledger-heads", ledger_heads),
    ("ledger-undivided", ledger_undivided),
    ("costs-widths", costs_widths),
    ("costs-lengths", costs_lengths),
];

fn count(n_heads: usize, width: usize) -> Result<ParameterCount> {
    let dims = Dims::with_head_sizes(256, n_heads, width, width)?;
    let layer: LayerParameters =
        LayerParameters::random(dims, true, &mut Rng::seed_from_u64(1));
    Ok(layer.count())
}

fn ledger_heads(_: &Args) -> Result<Figure> {
    let (eight, one) = (count(8, 32)?, count(1, 256)?);
    let ledgers = [("8 heads of 32", &eight), ("1 head of 256", &one)];
    Ok(ledger("Eight narrow heads have as many parameters as one wide head", &ledgers)?)
}

fn ledger_undivided(_: &Args) -> Result<Figure> {
    let (eight, undivided) = (count(8, 32)?, count(8, 256)?);
    let ledgers = [("8 heads of 32", &eight), ("8 heads of 256", &undivided)];
    let title = "Heads that are not narrowed have eight times as many weights";
    Ok(ledger(title, &ledgers)?)
}

fn cost(
    name: String,
    n_heads: usize,
    width: usize,
    n_tokens: usize,
) -> Result<NamedCost> {
    let dims = Dims::with_head_sizes(512, n_heads, width, width)?;
    let work = MultiplyAdds::count(dims, n_tokens, n_tokens)?;
    Ok(NamedCost { name, work, milliseconds: None })
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

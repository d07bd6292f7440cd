//! What a block costs, and from which length on pairs of tokens are most of it.

use anyhow::Result;
use attention::{Dims, LayerParameters, Rng, SeedableRng, thousands};
use block::{Block, FeedForward, LayerNorm, Ledger, Norms, Sublayer};
use figures::{Figure, NamedBar, NamedBars, named_bars, palette};
use fused_heads::FusedAttention;

use crate::Args;
use crate::numbers::percent;

/// The width of a token.
pub const D_MODEL: usize = 256;
/// The number of heads.
pub const N_HEADS: usize = 8;
/// The width between the two projections of the feed-forward layer.
pub const D_FF: usize = 1024;

/// The block of the chapter.
///
/// # Errors
/// None; the sizes fit.
pub fn block() -> Result<Block<FusedAttention>> {
    let rng = &mut Rng::seed_from_u64(1);
    let parameters = LayerParameters::random(Dims::new(D_MODEL, N_HEADS)?, true, rng);
    let norms = || Norms::after(LayerNorm::identity(D_MODEL));
    let attention = Sublayer::new(FusedAttention::new(&parameters), norms());
    let ffn = FeedForward::random(D_MODEL, D_FF, rng);
    Ok(Block::new(attention, Some(Sublayer::new(ffn, norms()))))
}

/// Its ledger for so many tokens.
///
/// # Errors
/// More work than a `u64` counts.
pub fn ledger(n_tokens: usize) -> Result<Ledger> {
    Ok(Ledger::of(&block()?, n_tokens)?)
}

/// The first length at which pairs of tokens are more work than all else: a pair takes
/// `2 d_model` multiply-adds, and a token `4 d_model² + 2 d_model d_ff` for the rest.
pub fn overtaken() -> usize {
    2 * D_MODEL + D_FF + 1
}

/// The tokens of the pass that is drawn.
pub const N_TOKENS: usize = 30;

/// Bars of one column of the ledger.
fn bars(what: &'static str, parts: &[(&'static str, u64)], nth: usize) -> NamedBars {
    let total = parts.iter().map(|(_, n)| n).sum();
    let bar = |&(name, n): &(&str, u64)| {
        let of = format!("{}, {}", thousands(n), percent(n as f64 / total as f64));
        NamedBar {
            // `pairs of tokens` of attention
            name: name.trim_start_matches("attention: ").to_owned(),
            sizes: percent(n as f64 / total as f64),
            n,
            texts: [of.clone(), of],
        }
    };
    NamedBars {
        heading: format!("{} {what}", thousands(total)),
        caption: what.to_owned(),
        columns: ["part", "of all", what],
        bars: parts.iter().map(bar).collect(),
        colours: palette::head(nth).into(),
        total,
        widths: [15, 10],
    }
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let ledger = ledger(N_TOKENS)?;
    let column = |of: fn(&block::Part) -> u64| -> Vec<_> {
        ledger.parts.iter().map(|part| (part.name, of(part))).collect()
    };
    let parameters = bars("parameters", &column(|part| part.parameters as u64), 0);
    let work = bars("multiply-adds", &column(|part| part.multiply_adds), 2);
    let title =
        "Attention is a third of a block; the pairs of 30 tokens cost almost nothing";
    let sentence = parameters.bars.iter().zip(&work.bars).map(|(parameters, work)| {
        format!(
            "{}: {} parameters, {} multiply-adds",
            parameters.name, parameters.texts[0], work.texts[0]
        )
    });
    let sentence = format!("Bars. {}.", sentence.collect::<Vec<_>>().join("; "));
    let panels = [parameters, work].map(|list| {
        let most = 1.45 * list.most();
        (list, most)
    });
    Ok(named_bars(title, &panels, 104.0, sentence)?)
}

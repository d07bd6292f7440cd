//! What a model that writes reads again: the keys and values of earlier tokens.

use anyhow::Result;
use figures::{Axis, Chart, Figure, Grouping, Mark, Panel, legend_room, palette};

use super::count::uses;
use crate::args::Args;

/// How many tokens are written.
pub const N_WRITTEN: usize = 6;

/// In how many steps each token's query, key and value are used, as bars.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let uses = uses(N_WRITTEN)?;
    let names = ["query", "key", "value"];
    let tokens: Vec<String> =
        (0..N_WRITTEN).map(|token| format!("token {token}")).collect();
    let bars = names.into_iter().enumerate().map(|(which, name)| {
        let counts = || uses.iter().map(|counts| counts[which]);
        Mark::bars(counts().map(|count| count as f64).collect::<Vec<_>>())
            .named(name)
            .coloured(palette::beside_wrong(which))
            .written(counts().map(|count| count.to_string()), "outside")
            .hover(counts().map(|count| format!("its {name}: in {count} steps")))
            .unclipped()
    });
    let panel = Panel::new(
        "in how many steps it moves the newest output",
        Axis::across(&tokens, 11),
        Axis::numbers(N_WRITTEN as f64 + 0.6),
        170.0,
    );
    let title = format!(
        "While {N_WRITTEN} tokens are written, a query is used once at most; keys and \
         values are used again"
    );
    Ok(Chart::new(title)
        .above(legend_room(names.into_iter(), 14.0))
        .grouped(Grouping::Beside)
        .bar_gap(0.2)
        .panel(panel, bars)
        .figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_true() {
        let uses = uses(N_WRITTEN).unwrap();
        assert!(uses.iter().all(|&[query, ..]| query <= 1), "{uses:?}");
        let again = uses.iter().filter(|[_, key, value]| *key.min(value) > 1).count();
        assert!(again > N_WRITTEN / 2, "{uses:?}");
    }
}

//! What the model loses without some heads.

use std::collections::BTreeMap;

use crate::Args;
use crate::numbers::lines_panel;
use anyhow::{Context, Result};
use attention::median;
use figures::{Figure, lines};
use models::decoders::study::{Ablation, Findings};

use super::findings;

/// With so many, means replaced them too, and prose was read.
pub const OF_PROSE: usize = 7;

/// The losses without some heads, seed by seed.
pub fn ablations<'a>(
    findings: &'a Findings,
    what: &str,
    n_heads: usize,
    how: &str,
) -> Vec<&'a Ablation> {
    let is_asked =
        |it: &&Ablation| it.what == what && it.heads == n_heads && it.how == how;
    findings.removed.iter().filter(is_asked).collect()
}

/// The loss on later copies by the number of heads that are gone, medians of seeds.
pub(super) fn copying(_: &Args) -> Result<Figure> {
    let findings = findings()?;
    let whole = ablations(findings, "whole", 0, "zero");
    let whole = whole.first().context("the whole model")?.later;
    let line = |(what, name): (&str, &str)| {
        let of = findings.removed.iter().filter(|it| it.what == what && it.how == "zero");
        let mut by_count: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        of.for_each(|it| by_count.entry(it.heads).or_default().push(it.later));
        let points = by_count.into_iter().map(|(n, all)| [n as f64, median(all)]);
        (name.to_owned(), std::iter::once([0.0, whole]).chain(points).collect())
    };
    let named = [
        ("copying", "most copying"),
        ("same layers", "others of the same layers"),
        ("random", "random"),
    ];
    let panel = lines_panel(
        "loss on the later copies, nats",
        "heads taken away",
        named.into_iter().map(line).collect(),
    );
    let title =
        "Without the heads that look where a copier must, the model hardly copies";
    Ok(lines(title, &[panel])?)
}

/// The loss on prose without some tenths of all heads.
pub(super) fn order(_: &Args) -> Result<Figure> {
    let findings = findings()?;
    let order = &findings.order;
    let line = |name: &str, way: &str| {
        let of = |nth: usize| {
            let ways = order.ways.iter().chain(&findings.shuffled);
            let ways = ways.filter(|it| it.order == way);
            median(ways.map(|it| it.losses[nth]))
        };
        let points = order.tenths.iter().enumerate();
        let points = points.map(|(nth, &tenths)| [10.0 * tenths as f64, of(nth)]);
        (name.to_owned(), std::iter::once([0.0, order.whole]).chain(points).collect())
    };
    let panel = lines_panel(
        "loss on prose, nats",
        "percent of all heads taken away",
        vec![
            line("least important first", "importance"),
            line("exchanged within layers, median of five", "within layers"),
            line("random, median of five", "random"),
        ],
    );
    let title = "Only a few heads can be ablated together, even of the least important";
    Ok(lines(title, &[panel])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let findings = findings().unwrap();
        // Worse than a guess, where others do little.
        let later = |what| {
            let of = ablations(findings, what, OF_PROSE, "zero");
            median(of.iter().map(|it| it.later))
        };
        assert!(later("copying") > findings.merged.guess);
        assert!(later("random") < 3.0 && later("same layers") < 3.0);
        // A fifth of all heads is noticed: a perplexity a tenth higher.
        let order = &findings.order;
        assert_eq!(order.tenths[1], 2);
        assert!((order.ways[0].losses[1] - order.whole).exp() > 1.1);
    }
}

//! One row of head 11, from its dot products to its attention weights.

use anyhow::Result;
use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Mark, Panel, Place, WIDE, all_rounded, label_width, palette,
};

use super::{FLEW, pass_of, undivided};
use crate::args::Args;
use crate::trained;

/// Bars of each step, key by key.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let tokens = &layer.sentence("pilot")?.tokens;
    let pass = pass_of(layer, "pilot", 11)?;
    let row = |of: &Matrix| of.row(FLEW).iter().copied().collect::<Vec<f64>>();
    let mut order = row(&pass.scores);
    order.sort_by(|a, b| b.total_cmp(a));
    let lead = order[0] - order[1];
    let title = format!(
        "“pilot” scores {lead:.2} more than the next key, and gets {:.1} times its \
         attention weight",
        lead.exp()
    );
    let steps = [
        ("q · k", row(&undivided(&pass)), 2),
        ("q · k / √32", row(&pass.scores), 2),
        ("exp(s − max)", row(&pass.scores.map(|score| (score - order[0]).exp())), 3),
        ("attention weight", row(&pass.attn), 3),
    ];
    let panels = |width: f64| {
        let (n_columns, size) = if width == WIDE { (4, 12) } else { (2, 11) };
        let panel = |(nth, (title, row, _)): (usize, &(&str, Vec<f64>, usize))| {
            let x = Axis::hidden([0.0, 1.55 * row.iter().copied().fold(0.0, f64::max)]);
            let y = Axis::down(tokens, size).labelled(nth.is_multiple_of(n_columns));
            Panel::new(*title, x, y, 22.0 * tokens.len() as f64)
        };
        let left = label_width(tokens, size);
        let left_once = true;
        let place = Place { width, n_columns, left, left_once, below: 8.0, above: 0.0 };
        (steps.iter().enumerate().map(panel).collect(), place)
    };
    let bars = steps.iter().enumerate().map(|(nth, (name, row, digits))| {
        let texts = row.iter().map(|entry| format!("{entry:.digits$}"));
        Mark::lying_bars(all_rounded(row))
            .on(nth)
            .named(name)
            .coloured(palette::head(0))
            .written(texts, "outside")
    });
    Ok(Chart::new(title).by_width(panels).bar_gap(0.3).marks(bars).figure()?)
}

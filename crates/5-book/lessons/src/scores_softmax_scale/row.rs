//! One row of head 11, from its dot products to its attention weights.

use anyhow::Result;
use attention::Matrix;
use figures::{Axis, Figure, palette};

use super::{FLEW, pass_of, undivided};
use crate::args::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
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
    let panel = |name: &str, row: Vec<f64>, written: fn(f64) -> String| {
        let x = Axis::numbers(1.3 * row.iter().copied().fold(0.0, f64::max));
        let bars = RowList::single("flew", row, Look::Bars(palette::head(0)));
        RowPanel::new(name, x, written, vec![bars])
    };
    let exps = pass.scores.map(|score| (score - order[0]).exp());
    let panels = [
        panel("q · k", row(&undivided(&pass)), |it| format!("{it:.2}")),
        panel("q · k / √32", row(&pass.scores), |it| format!("{it:.2}")),
        panel("exp(s − max)", row(&exps), |it| format!("{it:.3}")),
        panel("attention weight", row(&pass.attn), |it| format!("{it:.3}")),
    ];
    NamedRows::new(tokens, 22.0, 4).figure(&title, &panels)
}

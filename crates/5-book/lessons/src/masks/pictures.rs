//! The two alignments of a causal mask, and what is left of rows that are masked too late.

use anyhow::Result;
use attention::Mask;
use figures::{Axis, Chart, Figure, Mark, Panel, Table, by_cell, label_width, palette};

use super::before_and_after_softmax;
use crate::args::Args;
use crate::trained::layer;

/// How many queries there are, and how many keys.
const SIZES: [(usize, usize); 3] = [(1, 4), (2, 4), (4, 2)];
const MOST_KEYS: usize = 4;
/// Seen on light pages and on dark ones.
const BLOCKED: &str = "rgba(118,118,118,0.18)";

/// The masks of a few sizes under one another, by each alignment.
pub(super) fn alignments(_: &Args) -> Result<Figure> {
    // The rows of a size, and an empty one before the next.
    let rows: Vec<Option<(usize, (usize, usize))>> = SIZES
        .iter()
        .flat_map(|&size| (0..size.0).map(move |i| Some((i, size))).chain([None]))
        .collect();
    let rows = &rows[..rows.len() - 1];
    let name = |row: &Option<(usize, (usize, usize))>| match row {
        Some((i, (n_q, _))) => format!("query {i} of {n_q}"),
        None => String::new(),
    };
    let names: Vec<String> = rows.iter().map(name).collect();
    let keys: Vec<String> = (0..MOST_KEYS).map(|key| format!("key {key}")).collect();
    let masks = [("bottom-right", Mask::Causal), ("top-left", Mask::CausalTopLeft)];
    let shape = (rows.len(), MOST_KEYS);
    let may = |mask: &Mask, row: usize, j: usize| {
        let (i, size) = rows[row].filter(|(_, (_, n_kv))| j < *n_kv)?;
        Some(u8::from(mask.added((i, j), size).is_some()))
    };
    let marks = masks.iter().enumerate().map(|(nth, (name, mask))| {
        let told = by_cell(shape, |i, j| match may(mask, i, j) {
            Some(0) => format!("{} may not attend to {}", names[i], keys[j]),
            _ => format!("{} may attend to {}", names[i], keys[j]),
        });
        Mark::cells(by_cell(shape, |i, j| may(mask, i, j)), 1)
            .on(nth)
            .with_gaps()
            .named(name)
            .scaled(palette::from_nothing(BLOCKED), [0.0, 1.0])
            .hover(told)
    });
    let tables = masks.iter().map(|(name, mask)| {
        let cell = |i, j| match may(mask, i, j) {
            Some(1) => "may".to_owned(),
            Some(_) => "–".to_owned(),
            None => String::new(),
        };
        Table::grid(*name, "query \\ key", &names, &keys, cell)
    });
    let title = "The last query sees every key only if the diagonal ends bottom-right";
    let panels = masks.each_ref().map(|(name, _)| (*name).to_owned());
    Ok(Chart::grid(title, &panels, &names, &keys)
        .marks(marks)
        .tables(tables)
        .captioned()
        .says(
            "Causal masks of 1 and 2 queries over 4 keys, and of 4 queries over 2 keys, in \
             both alignments. Bottom-right, the last query may attend to all keys, and two \
             of 4 queries over 2 keys to none; top-left, the first query sees one key.",
        )
        .figure()?)
}

/// What each row sums to if what a causal mask blocks is set to 0 after softmax.
pub(super) fn after_softmax(_: &Args) -> Result<Figure> {
    let [_, after] = before_and_after_softmax()?;
    let trained = layer()?;
    let tokens = &trained.sentence("bank_loan")?.tokens;
    let sums: Vec<f64> = after.row_iter().map(|row| row.sum()).collect();
    let written: Vec<String> = sums.iter().map(|sum| format!("{sum:.2}")).collect();
    let least = sums.iter().copied().fold(1.0, f64::min);
    let n = tokens.len() as f64;
    let end = Axis::numbers(1.04).titled("the row's sum of attention weights");
    let panel = Panel::new("", end, Axis::down(tokens, 12), 24.0 * n);
    let bars = Mark::lying_bars(sums.iter().map(|&sum| figures::rounded(sum)))
        .named("sum of the row")
        .coloured(palette::wrong())
        .written(written, "auto");
    let one = Mark::rule([[1.0, -0.5], [1.0, n - 0.5]]);
    let title =
        format!("Masked after softmax, rows sum to as little as {least:.2}, not 1");
    Ok(Chart::new(title)
        .left(label_width(tokens, 12))
        .bar_gap(0.35)
        .panel(panel, [bars, one])
        .figure()?)
}

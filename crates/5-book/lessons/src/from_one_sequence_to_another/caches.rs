//! What is computed to write letter by letter, with and without the two caches.

use anyhow::Result;
use attention::{Dims, MultiplyAdds, thousands};
use figures::{Axis, Chart, Figure, Mark, Panel, label_width, palette};
use training::dates::{DateArchitecture, N_SOURCE, N_TARGET};

use crate::Args;

/// Rows that go through W^K, and the multiply-adds of an attention, to write all letters.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// Rows of keys that are made.
    pub rows: usize,
    /// Of the projections, the scores, the average and W^O.
    pub multiply_adds: u64,
}

/// One attention of a decoder's block while it writes; a step asks with so many queries,
/// projects so many keys and values, and attends to so many.
fn work(steps: impl Fn(usize) -> [usize; 3]) -> attention::Result<Work> {
    let built = DateArchitecture::default();
    let dims = Dims::new(built.d_model, built.n_heads)?;
    let mut work = Work { rows: 0, multiply_adds: 0 };
    for [n_q, n_projected, n_kv] in (1..=N_TARGET).map(steps) {
        work.rows += n_projected;
        for cost in MultiplyAdds::count(dims, n_q, n_kv)?.costs() {
            let is_projected = ["key W^K", "value W^V"].contains(&cost.name);
            // A product's cost is in proportion to its rows.
            let of = cost.multiply_adds;
            work.multiply_adds +=
                if is_projected { of / n_kv as u64 * n_projected as u64 } else { of };
        }
    }
    Ok(work)
}

/// Ways to write ten letters: the decoder's own attention, and its cross-attention. The last
/// of each has a cache.
///
/// # Errors
/// None of these sizes is refused.
pub fn ways() -> Result<[Vec<(&'static str, Work)>; 2]> {
    let first = |t: usize| if t == 1 { N_SOURCE } else { 0 };
    Ok([
        vec![
            ("all letters anew", work(|t| [t, t, t])?),
            ("cached", work(|t| [1, 1, t])?),
        ],
        vec![
            ("all letters anew", work(|t| [t, N_SOURCE, N_SOURCE])?),
            ("memory's keys anew", work(|_| [1, N_SOURCE, N_SOURCE])?),
            ("cached", work(|t| [1, first(t), N_SOURCE])?),
        ],
    ])
}

/// Bars of multiply-adds, a panel for each attention.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let ways = ways()?;
    let names: Vec<_> = ways[1].iter().map(|(name, _)| (*name).to_owned()).collect();
    let all = ways.iter().flatten().map(|(_, work)| work.multiply_adds);
    let most = all.max().unwrap_or(1) as f64;
    let mut chart =
        Chart::new("A cache saves most in cross-attention, whose keys never change")
            .columns(2)
            .left(label_width(&names, 12))
            .bar_gap(0.3);
    let titles = ["its own attention", "cross-attention"];
    for ((ways, title), hue) in ways.iter().zip(titles).zip([0, 4]) {
        let names: Vec<_> = ways.iter().map(|(name, _)| (*name).to_owned()).collect();
        let each = || ways.iter().map(|(_, work)| work);
        let x =
            Axis::numbers(most * 1.5).titled("multiply-adds for ten letters").in_short();
        let panel =
            Panel::new(title, x, Axis::down(&names, 12), 30.0 * ways.len() as f64);
        let bars = Mark::lying_bars(each().map(|work| work.multiply_adds))
            .named(title)
            .coloured(palette::head(hue))
            .written(each().map(|work| thousands(work.multiply_adds)), "outside")
            .hover(each().map(|work| format!("{} rows of keys are made", work.rows)))
            .unclipped();
        chart = chart.panel(panel, [bars]);
    }
    Ok(chart.figure()?)
}

//! A heat map a head, all on one scale.

use crate::chart::{self, Text};
use crate::grid::Grid;
use crate::heads::share;
use crate::layout::rounded;
use crate::marks::Mark;
use crate::spec::{ColourBar, Layout, Legend};
use crate::{Figure, Heads, Table, share_map, sketch};

/// A grid of heat maps, one a head: queries down, keys across, one scale from 0.
///
/// The title should state the finding, as "Head 11 finds the animal behind *it*" does.
pub fn head_maps(title: impl Into<String>, heads: &Heads) -> Figure {
    let most = scale_end(heads);
    let grid = Grid {
        names: (0..heads.count()).map(|nth| heads.name(nth)).collect(),
        rows: &heads.queries,
        columns: &heads.keys,
        above: COLOUR_BAR,
    };
    let text = Text {
        alternative: format!("Heat maps of {}. {}", heads.sizes(), heads.strongest()),
        sketch: sketched(heads, most),
        tables: (0..heads.count()).map(|nth| table(heads, nth)).collect(),
    };
    let traces = (0..heads.count()).map(|nth| trace(heads, nth, nth)).collect();
    let layouts = grid.layouts().map(|layout| scaled(layout, most));
    chart::figure(title, text, traces, layouts)
}

/// Room for the colour bar, in pixels.
pub(crate) const COLOUR_BAR: f64 = 56.0;

/// The largest entry, rounded up to a tenth: one end of the scale for all heads.
pub(crate) fn scale_end(heads: &Heads) -> f64 {
    let largest = heads.attn.iter().map(|map| map.max()).fold(0.0, f64::max);
    rounded(((largest - 1e-9) * 10.0).ceil() / 10.0).clamp(0.1, 1.0)
}

/// The `nth` map, on the axes of this panel.
pub(crate) fn trace(heads: &Heads, nth: usize, panel: usize) -> Mark {
    let name = heads.name(nth);
    Mark::cells(share_map::entries(&heads.attn[nth]), 1)
        .on(panel)
        .tells(format!("{name}<br>{{row}} → {{column}}: {{number}}"))
        .named(&name)
}

/// The layout with one scale for all heads, its bar above them.
pub(crate) fn scaled(mut layout: Layout, most: f64) -> Layout {
    let at = rounded(1.0 + COLOUR_BAR / layout.area_height());
    let title = "attention weight";
    layout.colour_bar = Some(ColourBar::of_shares(most, title, at));
    if let Legend::Above { is_shown, .. } = &mut layout.legend {
        *is_shown = false;
    }
    layout
}

pub(crate) fn sketched(heads: &Heads, most: f64) -> String {
    let named: Vec<_> =
        heads.attn.iter().enumerate().map(|(nth, map)| (heads.name(nth), map)).collect();
    let keys = if heads.keys == heads.queries {
        "keys, the same tokens".to_owned()
    } else {
        format!("the keys {}", heads.keys.join(" "))
    };
    format!(
        "{}\n\nDown: queries. Across: {keys}. Full block: {most:.1}.",
        sketch::maps(&named, &heads.queries, most),
    )
}

pub(crate) fn table(heads: &Heads, nth: usize) -> Table {
    let cell = |i: usize, j: usize| share(heads.attn[nth][(i, j)]);
    Table::grid(heads.name(nth), "query \\ key", &heads.queries, &heads.keys, cell)
}

#[cfg(test)]
mod tests {
    use attention::Matrix;

    use super::*;
    use crate::figure::Drawn;
    use crate::testing::{self, assert_figure};

    #[test]
    fn three_trained_heads_as_data_and_as_a_sketch() {
        assert_figure!(testing::figure());
    }

    #[test]
    fn every_head_has_axes_of_its_own_inside_the_plot() {
        for n_heads in 1..=16 {
            let attn = vec![Matrix::from_element(2, 5, 0.2); n_heads];
            let heads =
                Heads::new(&attn, &["a", "b"], &["v", "w", "x", "y", "z"]).unwrap();
            let Drawn::Chart(plot) = head_maps("", &heads).drawn else { panic!() };
            for layout in [plot.wide, plot.narrow] {
                for (nth, mark) in plot.marks.iter().enumerate() {
                    assert_eq!(mark.panel, Some(nth));
                    let place = layout.panels[nth].place.as_ref().unwrap();
                    for [from, to] in [place.across, place.up] {
                        assert!(0.0 <= from && from < to && to <= 1.0, "{from} to {to}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_scale_starts_at_0_and_ends_at_a_tenth() {
        for (largest, end) in [(0.0, 0.1), (0.3, 0.3), (0.301, 0.4), (1.0, 1.0)] {
            let attn = [Matrix::from_row_slice(1, 2, &[largest, 0.0])];
            let heads = Heads::new(&attn, &["a"], &["b", "c"]).unwrap();
            assert_eq!(scale_end(&heads), end);
            let drawn = head_maps("", &heads).to_json();
            assert_eq!(drawn["layout"]["coloraxis"]["cmin"], 0.0);
        }
    }
}

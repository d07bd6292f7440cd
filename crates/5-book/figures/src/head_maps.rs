//! A heat map a head, all on one scale.

use plotly::HeatMap;
use plotly::common::{ColorBar, Font};
use plotly::layout::ColorAxis;
use serde_json::{Value, json, to_value};

use crate::grid::Grid;
use crate::heads::share;
use crate::layout::{rounded, with};
use crate::panels::axis_name;
use crate::{Figure, Heads, Table, palette, sketch};

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
    Figure {
        title: title.into(),
        alternative: format!("Heat maps of {}. {}", heads.sizes(), heads.strongest()),
        sketch: sketched(heads, most),
        tables: (0..heads.count()).map(|nth| table(heads, nth)).collect(),
        traces: (0..heads.count()).map(|nth| trace(heads, nth, nth)).collect(),
        wide: scaled(grid.wide(), most),
        narrow: scaled(grid.narrow(), most),
        notebook: None,
    }
}

/// Room for the colour bar, in pixels.
pub(crate) const COLOUR_BAR: f64 = 56.0;

/// The largest entry, rounded up to a tenth: one end of the scale for all heads.
pub(crate) fn scale_end(heads: &Heads) -> f64 {
    let largest = heads.attn.iter().map(|map| map.max()).fold(0.0, f64::max);
    rounded(((largest - 1e-9) * 10.0).ceil() / 10.0).clamp(0.1, 1.0)
}

/// The `nth` map, on the axes of this panel.
pub(crate) fn trace(heads: &Heads, nth: usize, panel: usize) -> Value {
    let map = &heads.attn[nth];
    let rows: Vec<Vec<f64>> = map
        .row_iter()
        .map(|row| row.iter().map(|&entry| rounded(entry)).collect())
        .collect();
    let hover =
        format!("{}<br>%{{y}} → %{{x}}: %{{z:.3f}}<extra></extra>", heads.name(nth));
    let trace = HeatMap::new_z(rows)
        .name(heads.name(nth))
        .x_axis(axis_name("x", panel))
        .y_axis(axis_name("y", panel))
        .hover_template(hover);
    with(
        to_value(trace),
        [("coloraxis", json!("coloraxis")), ("xgap", json!(1)), ("ygap", json!(1))],
    )
}

/// The layout with one scale for all heads, its bar above them.
pub(crate) fn scaled(mut layout: Value, most: f64) -> Value {
    let pixels = |path| layout.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
    let plot = pixels("/height") - pixels("/margin/t") - pixels("/margin/b");
    layout["coloraxis"] = with(to_value(colour_axis(most, COLOUR_BAR / plot)), []);
    layout["showlegend"] = json!(false);
    layout
}

fn colour_axis(most: f64, above: f64) -> ColorAxis {
    use plotly::common::{Anchor, Orientation, Side, ThicknessMode, Title};
    let bar = ColorBar::new()
        .orientation(Orientation::Horizontal)
        .thickness(8)
        .len_mode(ThicknessMode::Pixels)
        .len(180)
        .outline_width(0)
        .x(0.0)
        .x_anchor(Anchor::Left)
        .x_pad(0.0)
        .y(rounded(1.0 + above))
        .y_anchor(Anchor::Top)
        .y_pad(0.0)
        .tick_vals(vec![0.0, rounded(most / 2.0), most])
        .tick_font(Font::new().size(10))
        .title(
            Title::with_text("share of a query's attention")
                .font(Font::new().size(11))
                .side(Side::Top),
        );
    ColorAxis::new().cmin(0.0).cmax(most).color_scale(palette::shares()).color_bar(bar)
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
    let rows = heads.queries.iter().zip(heads.attn[nth].row_iter());
    Table {
        caption: heads.name(nth),
        columns: [&["query \\ key".to_owned()], &heads.keys[..]].concat(),
        rows: rows
            .map(|(query, row)| {
                let shares = row.iter().map(|&entry| share(entry));
                std::iter::once(query.clone()).chain(shares).collect()
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use attention::Matrix;

    use super::*;
    use crate::panels::layout_key;
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
            let figure = head_maps("", &heads);
            for layout in [&figure.wide, &figure.narrow] {
                for (nth, trace) in figure.traces.iter().enumerate() {
                    assert_eq!(trace["xaxis"], axis_name("x", nth));
                    for letter in ["x", "y"] {
                        let domain = &layout[layout_key(letter, nth)]["domain"];
                        let [from, to] = [0, 1].map(|end| domain[end].as_f64().unwrap());
                        assert!(0.0 <= from && from < to && to <= 1.0, "{domain}");
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
            assert_eq!(head_maps("", &heads).wide["coloraxis"]["cmin"], 0.0);
        }
    }
}

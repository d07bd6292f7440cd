//! A heat map a head, all on one scale.

use serde_json::{Value, json};

use crate::chart::{self, Text};
use crate::grid::Grid;
use crate::heads::share;
use crate::layout::{rounded, with};
use crate::marks::Mark;
use crate::{Figure, Heads, Table, palette, share_map, sketch};

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
        .with(
            "hovertemplate",
            format!("{name}<br>%{{y}} → %{{x}}: %{{z:.3f}}<extra></extra>"),
        )
        .with("name", name)
        .with("coloraxis", "coloraxis")
}

/// The layout with one scale for all heads, its bar above them.
pub(crate) fn scaled(layout: Value, most: f64) -> Value {
    let pixels = |path| layout.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
    let plot = pixels("/height") - pixels("/margin/t") - pixels("/margin/b");
    let fields = [
        ("coloraxis", colour_axis(most, COLOUR_BAR / plot)),
        ("showlegend", json!(false)),
    ];
    with(layout, fields)
}

fn colour_axis(most: f64, above: f64) -> Value {
    json!({
        "cmin": 0.0, "cmax": most, "colorscale": palette::shares(),
        "colorbar": {
            "orientation": "h", "thickness": 8, "lenmode": "pixels", "len": 180,
            "outlinewidth": 0,
            "x": 0.0, "xanchor": "left", "xpad": 0.0,
            "y": rounded(1.0 + above), "yanchor": "top", "ypad": 0.0,
            "tickvals": [0.0, rounded(most / 2.0), most], "tickfont": { "size": 10 },
            "title": {
                "text": "share of a query's attention", "font": { "size": 11 },
                "side": "top",
            },
        },
    })
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
    use crate::axis::{axis_name, layout_key};
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

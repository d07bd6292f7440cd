//! A heat map a head, all on one scale.

use plotly::HeatMap;
use plotly::common::{ColorBar, Font};
use plotly::layout::{Annotation, ColorAxis, Margin};
use serde_json::{Value, json, to_value};

use crate::heads::share;
use crate::layout::{self, label_width, rounded, text, token_axis, with};
use crate::{Figure, Heads, Table, palette, sketch};

/// A grid of heat maps, one a head: queries down, keys across, one scale from 0.
///
/// The title should state the finding, as "Head 11 finds the animal behind *it*" does.
pub fn head_maps(title: impl Into<String>, heads: &Heads) -> Figure {
    let most = scale_end(heads);
    Figure {
        title: title.into(),
        alternative: format!("Heat maps of {}. {}", heads.sizes(), heads.strongest()),
        sketch: sketched(heads, most),
        tables: (0..heads.count()).map(|nth| table(heads, nth)).collect(),
        traces: (0..heads.count()).map(|nth| trace(heads, nth)).collect(),
        wide: grid(heads, most, &WIDE),
        narrow: grid(heads, most, &NARROW),
    }
}

/// What the grid must fit into, in pixels.
struct Place {
    width: f64,
    most_columns: usize,
    /// No cell is narrower, if fewer columns can help it.
    least_cell: f64,
    font_size: usize,
}

const WIDE: Place =
    Place { width: 750.0, most_columns: 4, least_cell: 12.5, font_size: 11 };
const NARROW: Place =
    Place { width: 350.0, most_columns: 2, least_cell: 8.0, font_size: 9 };

/// Between panels, and between cells and the next thing.
const GAP: f64 = 10.0;
const PANEL_TITLE: f64 = 20.0;
const WIDEST_CELL: f64 = 36.0;
const COLOUR_BAR: f64 = 56.0;

/// The largest entry, rounded up to a tenth: one end of the scale for all heads.
fn scale_end(heads: &Heads) -> f64 {
    let largest = heads.attn.iter().map(|map| map.max()).fold(0.0, f64::max);
    rounded(((largest - 1e-9) * 10.0).ceil() / 10.0).clamp(0.1, 1.0)
}

fn trace(heads: &Heads, nth: usize) -> Value {
    let map = &heads.attn[nth];
    let rows: Vec<Vec<f64>> = map
        .row_iter()
        .map(|row| row.iter().map(|&entry| rounded(entry)).collect())
        .collect();
    let hover =
        format!("{}<br>%{{y}} → %{{x}}: %{{z:.3f}}<extra></extra>", heads.name(nth));
    let trace = HeatMap::new_z(rows)
        .name(heads.name(nth))
        .x_axis(axis_name("x", nth))
        .y_axis(axis_name("y", nth))
        .hover_template(hover);
    with(
        to_value(trace),
        [("coloraxis", json!("coloraxis")), ("xgap", json!(1)), ("ygap", json!(1))],
    )
}

/// Panels in rows, each with its own axes, placed by fractions of the plot's area.
fn grid(heads: &Heads, most: f64, place: &Place) -> Value {
    let (n_q, n_kv) = (heads.queries.len() as f64, heads.keys.len() as f64);
    let left = label_width(&heads.queries, place.font_size);
    let below = label_width(&heads.keys, place.font_size);
    let width = place.width - left - GAP;

    let fitting = ((width + GAP) / (n_kv * place.least_cell + GAP)) as usize;
    let fitting = fitting.clamp(1, place.most_columns);
    let n_rows = heads.count().div_ceil(fitting);
    let n_columns = heads.count().div_ceil(n_rows); // no row nearly empty

    let panel = ((width + GAP) / n_columns as f64 - GAP).min(n_kv * WIDEST_CELL);
    let cell_height = (panel / n_kv).clamp(place.font_size as f64 + 1.0, 26.0);
    let panel_height = n_q * cell_height;
    let a_row = PANEL_TITLE + panel_height + below + GAP;
    let height = a_row * n_rows as f64 - below - GAP;

    let margin = Margin::new()
        .left(left as usize)
        .right(GAP as usize)
        .top(COLOUR_BAR as usize)
        .bottom((below + GAP) as usize);
    let layout = layout::base(height + COLOUR_BAR + below + GAP, margin)
        .color_axis(colour_axis(most, COLOUR_BAR / height));
    let mut layout = with(to_value(layout), []);

    let mut titles = Vec::new();
    for nth in 0..heads.count() {
        let x = (panel + GAP) * (nth % n_columns) as f64;
        let y = height - a_row * (nth / n_columns) as f64 - PANEL_TITLE;
        let (x_axis, y_axis) =
            axes(heads, place.font_size, nth.is_multiple_of(n_columns));
        layout[layout_key("x", nth)] = with(
            to_value(x_axis.domain(&span(x, x + panel, width))),
            [("anchor", json!(axis_name("y", nth)))],
        );
        layout[layout_key("y", nth)] = with(
            to_value(y_axis.domain(&span(y - panel_height, y, height))),
            [("anchor", json!(axis_name("x", nth)))],
        );
        titles.push(panel_title(heads.name(nth), x / width, y / height));
    }
    layout["annotations"] = Value::Array(titles);
    layout
}

fn axes(
    heads: &Heads,
    font_size: usize,
    first_column: bool,
) -> (plotly::layout::Axis, plotly::layout::Axis) {
    let (n_q, n_kv) = (heads.queries.len() as f64, heads.keys.len() as f64);
    let x = token_axis(&heads.keys, font_size)
        .tick_angle(-90.0)
        .range(vec![-0.5, n_kv - 0.5]);
    let y = token_axis(&heads.queries, font_size)
        .show_tick_labels(first_column)
        .range(vec![n_q - 0.5, -0.5]); // query 0 at the top
    (x, y)
}

/// From pixels to the fractions that plotly places axes by.
fn span(from: f64, to: f64, whole: f64) -> [f64; 2] {
    [rounded((from / whole).max(0.0)), rounded((to / whole).min(1.0))]
}

/// How a trace names its axis: `x`, `x2`, …
fn axis_name(letter: &str, nth: usize) -> String {
    if nth == 0 { letter.to_owned() } else { format!("{letter}{}", nth + 1) }
}

/// How the layout names it: `xaxis`, `xaxis2`, … The plotly crate's own layout has fields
/// for eight of each.
fn layout_key(letter: &str, nth: usize) -> String {
    axis_name(&format!("{letter}axis"), nth)
}

fn panel_title(name: String, x: f64, y: f64) -> Value {
    let title = Annotation::new()
        .text(text(&name))
        .show_arrow(false)
        .font(Font::new().size(12))
        .x_ref("paper")
        .y_ref("paper")
        .x(rounded(x))
        .y(rounded(y));
    with(to_value(title), [("xanchor", json!("left")), ("yanchor", json!("bottom"))])
}

/// One scale for all heads; its bar lies above them, `above` of the plot's height.
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

fn sketched(heads: &Heads, most: f64) -> String {
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

fn table(heads: &Heads, nth: usize) -> Table {
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
    use crate::testing::{self, readable};

    #[test]
    fn three_trained_heads_as_data_and_as_a_sketch() {
        let figure = testing::figure();
        insta::assert_snapshot!("data", readable(&figure.to_json()));
        insta::assert_snapshot!("narrow", readable(&figure.narrow));
        insta::assert_snapshot!("sketch", figure);
        insta::assert_snapshot!("alternative", figure.alternative());
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

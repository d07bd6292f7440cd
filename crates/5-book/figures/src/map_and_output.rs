//! What one small head does: its map, and the output beside it.

use plotly::HeatMap;
use plotly::common::{ColorScale, ColorScaleElement};
use serde_json::{Value, json, to_value};

use attention::{Error as SizeError, Matrix};

use crate::heads::{Heads, share};
use crate::layout::{label_width, rounded, token_axis, with};
use crate::matrix_maps::number;
use crate::panels::{self, NARROW, Panel, Place, WIDE, axis_name};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// More tokens or entries have no room for their numbers.
const MOST: usize = 6;

/// A head's map and its output on few tokens, every entry written into its cell. The
/// scale of the map goes from 0 to 1, whatever it holds.
///
/// # Shapes
/// `attn` is `[tokens.len(), tokens.len()]`, `out` is `[tokens.len(), entries.len()]`.
///
/// # Errors
/// As [`Heads::new`] for the map; [`Error::Sizes`] for an output of another shape or none;
/// [`Error::TooMany`] above 6 tokens or entries; [`Error::Number`] for an output that is
/// not finite.
pub fn map_and_output<S: AsRef<str>>(
    title: impl Into<String>,
    tokens: &[S],
    attn: &Matrix,
    entries: &[&str],
    out: &Matrix,
) -> Result<Figure> {
    let map = [attn.clone()];
    let tokens = Heads::of_tokens(&map, tokens)?.queries;
    let entries: Vec<String> = entries.iter().map(|&it| it.to_owned()).collect();
    SizeError::expect_positive("the number of entries", entries.len())?;
    SizeError::expect_shape("the output", (tokens.len(), entries.len()), out.shape())?;
    Error::expect_at_most("tokens", tokens.len(), MOST)?;
    Error::expect_at_most("entries", entries.len(), MOST)?;
    for &entry in out {
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        Error::expect_between("an entry of the output", entry, all)?;
    }
    let tables = tables(&tokens, attn, &entries, out);
    let cells =
        |width, cell, font_size| layout(&tokens, &entries, width, cell, font_size);
    Ok(Figure {
        title: title.into(),
        alternative: told(&tokens, attn, out),
        sketch: tables.iter().map(sketch::table).collect::<Vec<_>>().join("\n\n"),
        tables,
        traces: traces(attn, out).into(),
        wide: cells(WIDE, [68.0, 36.0], 12),
        narrow: cells(NARROW, [46.0, 32.0], 11),
        notebook: None,
    })
}

/// A cell of nothing. Not seen through, as plotly chooses white letters or dark ones for a
/// cell by its colour, and takes the page for white.
const NOTHING: &str = "#3d4552";

fn traces(attn: &Matrix, out: &Matrix) -> [Value; 2] {
    let rows = |matrix: &Matrix| -> Vec<Vec<f64>> {
        let row =
            matrix.row_iter().map(|row| row.iter().map(|&it| rounded(it)).collect());
        row.collect()
    };
    let map = HeatMap::new_z(rows(attn))
        .name("map")
        .zmax(1.0)
        .color_scale(palette::shares())
        .hover_template("%{y} → %{x}: %{z:.3f}<extra></extra>");
    let largest = out.amax();
    let stops = [NOTHING, palette::head(0)].into_iter().enumerate();
    let stops = stops.map(|(at, it)| ColorScaleElement(at as f64, it.to_owned()));
    let written = out.row_iter().map(|row| row.iter().map(|&it| number(it)).collect());
    let written: Vec<Vec<String>> = written.collect();
    let output = HeatMap::new_z(rows(&out.abs()))
        .name("output")
        .x_axis(axis_name("x", 1))
        .y_axis(axis_name("y", 1))
        .zmax(if largest == 0.0 { 1.0 } else { largest })
        .color_scale(ColorScale::Vector(stops.collect()))
        .hover_template("%{y}, entry %{x}: %{text}<extra></extra>");
    let traced = |trace: Box<HeatMap<f64, f64, Vec<f64>>>, template: &str| {
        let trace = trace.zmin(0.0).show_scale(false);
        let gaps = [("xgap", json!(1)), ("ygap", json!(1))];
        let mut trace = with(to_value(trace), gaps);
        trace["texttemplate"] = json!(template);
        trace
    };
    let mut output = traced(output, "%{text}");
    output["text"] = json!(written);
    [traced(map, "%{z:.3f}"), output]
}

fn layout(
    tokens: &[String],
    entries: &[String],
    width: f64,
    [cell_width, cell_height]: [f64; 2],
    font_size: usize,
) -> Value {
    let n = tokens.len() as f64;
    let panel = |nth: usize, title: &str, columns: &[String]| Panel {
        title: title.to_owned(),
        x: token_axis(columns, font_size)
            .tick_angle(-90.0)
            .range(vec![-0.5, columns.len() as f64 - 0.5]),
        y: token_axis(tokens, font_size)
            .show_tick_labels(nth == 0)
            .range(vec![n - 0.5, -0.5]), // row 0 at the top
        width: Some(columns.len() as f64 * cell_width),
        height: n * cell_height,
    };
    let left = label_width(tokens, font_size);
    let place =
        Place { width, n_columns: 2, left, left_once: true, below: left, above: 0.0 };
    let panels = vec![panel(0, "map", tokens), panel(1, "output", entries)];
    let mut layout = panels::layout(panels, &place);
    layout["showlegend"] = json!(false);
    layout
}

fn tables(
    tokens: &[String],
    attn: &Matrix,
    entries: &[String],
    out: &Matrix,
) -> Vec<Table> {
    let table = |caption: &str,
                 columns: &[String],
                 matrix: &Matrix,
                 cell: &dyn Fn(f64) -> String| {
        let rows = tokens.iter().zip(matrix.row_iter());
        Table {
            caption: caption.to_owned(),
            columns: [&["query \\ key".to_owned()], columns].concat(),
            rows: rows
                .map(|(token, row)| {
                    let cells = row.iter().map(|&entry| cell(entry));
                    std::iter::once(token.clone()).chain(cells).collect()
                })
                .collect(),
        }
    };
    let mut output = table("Output", entries, out, &number);
    output.columns[0] = "query \\ entry".to_owned();
    vec![table("Map", tokens, attn, &share), output]
}

fn told(tokens: &[String], attn: &Matrix, out: &Matrix) -> String {
    let row = |(nth, token): (usize, &String)| {
        let shares = tokens.iter().enumerate();
        let shares = shares.map(|(j, key)| format!("{key} {}", share(attn[(nth, j)])));
        let entries: Vec<String> =
            out.row(nth).iter().map(|&entry| number(entry)).collect();
        format!(
            "{token} gives {}, and its output is ({})",
            shares.collect::<Vec<_>>().join(", "),
            entries.join(", ")
        )
    };
    let rows: Vec<String> = tokens.iter().enumerate().map(row).collect();
    format!("A map and the output beside it, row by row. {}.", rows.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    const TOKENS: [&str; 2] = ["river", "banks"];

    fn attn() -> Matrix {
        Matrix::from_row_slice(2, 2, &[0.75, 0.25, 0.5, 0.5])
    }

    #[test]
    fn two_tokens() {
        let out = Matrix::from_row_slice(2, 3, &[1.75, 0.0, -2.5, 1.5, 0.5, 12.0]);
        let figure =
            map_and_output("Two", &TOKENS, &attn(), &["a", "b", "c"], &out).unwrap();
        assert_figure!(figure);
    }

    /// White letters, from the first cell of the scale to the last.
    #[test]
    fn the_output_reads_on_every_page() {
        for colour in [NOTHING, palette::head(0)] {
            let contrast = palette::tests::contrast(colour, "#ffffff");
            assert!(contrast >= 4.3, "{colour}: {contrast:.2}");
        }
    }

    #[test]
    fn an_output_of_nothing_has_a_scale() {
        let figure =
            map_and_output("", &TOKENS, &attn(), &["a"], &Matrix::zeros(2, 1)).unwrap();
        assert_eq!(figure.traces[1]["zmax"], 1.0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |attn: &Matrix, out: &Matrix| {
            map_and_output("", &TOKENS, attn, &["a"], out).unwrap_err()
        };
        let out = Matrix::zeros(2, 1);
        insta::assert_snapshot!(refused(&attn(), &Matrix::zeros(2, 2)), @"the output has shape (2, 2), expected (2, 1)");
        insta::assert_snapshot!(refused(&(attn() * 3.0), &out), @"head 0 holds 2.25 at query 0, key 0: an attention map holds shares from 0 to 1");
        insta::assert_snapshot!(refused(&attn(), &out.add_scalar(f64::NAN)), @"an entry of the output is NaN, expected a number");
    }
}

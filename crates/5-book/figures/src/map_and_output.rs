//! What one small head does: its map, and the output beside it.

use attention::Matrix;
use serde_json::{Value, json};

use crate::axis::Axis;
use crate::chart::{self, Text};
use crate::heads::{Heads, owned, share};
use crate::layout::label_width;
use crate::matrix_maps::number;
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::share_map::entries;
use crate::trace::{Trace, by_cell};
use crate::{Error, Figure, Result, Table, palette};

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
    let names = owned(entries);
    attention::Error::expect_positive("the number of entries", names.len())?;
    attention::Error::expect_shape(
        "the output",
        (tokens.len(), names.len()),
        out.shape(),
    )?;
    Error::expect_at_most("tokens", tokens.len(), MOST)?;
    Error::expect_at_most("entries", names.len(), MOST)?;
    for &entry in out {
        Error::expect_finite("an entry of the output", entry)?;
    }
    let of_map = |i, j| share(attn[(i, j)]);
    let of_output = |i, j| number(out[(i, j)]);
    let tables = vec![
        Table::grid("Map", "query \\ key", &tokens, &tokens, of_map),
        Table::grid("Output", "query \\ entry", &tokens, &names, of_output),
    ];
    let text = Text::of_tables(told(&tokens, attn, out), tables);
    let layouts = [(WIDE, [68.0, 36.0], 12), (NARROW, [46.0, 32.0], 11)]
        .map(|(width, cell, font_size)| layout(&tokens, &names, width, cell, font_size));
    Ok(chart::figure(title, text, traces(attn, out).into(), layouts))
}

/// A cell of nothing. Not seen through, as plotly chooses white letters or dark ones for a
/// cell by its colour, and takes the page for white.
const NOTHING: &str = "#3d4552";

fn traces(attn: &Matrix, out: &Matrix) -> [Trace; 2] {
    let largest = out.amax();
    let most = if largest == 0.0 { 1.0 } else { largest };
    let map = Trace::cells(entries(attn), 1)
        .named("map")
        .scaled(palette::shares(), [0.0, 1.0])
        .with("hovertemplate", "%{y} → %{x}: %{z:.3f}<extra></extra>")
        .with("texttemplate", "%{z:.3f}");
    let output = Trace::cells(entries(&out.abs()), 1)
        .on(1)
        .named("output")
        .scaled(palette::from_nothing(NOTHING), [0.0, most])
        .with("hovertemplate", "%{y}, entry %{x}: %{text}<extra></extra>")
        .with("text", by_cell(out.shape(), |i, j| number(out[(i, j)])))
        .with("texttemplate", "%{text}");
    [map, output]
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
        x: Axis::across(columns, font_size).upright(),
        y: Axis::down(tokens, font_size).labelled(nth == 0),
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

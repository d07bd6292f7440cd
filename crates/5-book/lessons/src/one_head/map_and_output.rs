//! What one small head does: its map, and the output beside it.

use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Mark, Panel, Place, Result, Table, WIDE, by_cell, entry,
    label_width, palette, share, share_map,
};

/// A head's map and its output on few tokens, every entry written into its cell. The scale
/// of the map goes from 0 to 1, whatever it holds.
///
/// # Shapes
/// `attn` is `[tokens.len(), tokens.len()]`, `out` is `[tokens.len(), columns.len()]`.
pub(super) fn figure(
    title: String,
    tokens: &[String],
    attn: &Matrix,
    columns: &[String],
    out: &Matrix,
) -> Result<Figure> {
    let of_map = |i, j| share(attn[(i, j)]);
    let of_output = |i, j| entry(out[(i, j)]);
    Chart::new(title)
        .by_width(|width| panels(tokens, columns, width))
        .marks(marks(attn, out))
        .tables([
            Table::grid("Map", "query \\ key", tokens, tokens, of_map),
            Table::grid("Output", "query \\ entry", tokens, columns, of_output),
        ])
        .says(sentence(tokens, attn, out))
        .figure()
}

fn marks(attn: &Matrix, out: &Matrix) -> [Mark; 2] {
    let largest = out.amax();
    let most = if largest == 0.0 { 1.0 } else { largest };
    let map = Mark::cells(share_map::entries(attn), 1)
        .named("map")
        .scaled(palette::shares(), [0.0, 1.0])
        .tells("{row} → {column}: {number}")
        .numbered();
    let output = Mark::cells(share_map::entries(&out.abs()), 1)
        .on(1)
        .named("output")
        .scaled(palette::from_nothing(palette::NOTHING), [0.0, most])
        .tells("{row}, entry {column}: {text}")
        .lettered(by_cell(out.shape(), |i, j| entry(out[(i, j)])));
    [map, output]
}

fn panels(tokens: &[String], columns: &[String], width: f64) -> (Vec<Panel>, Place) {
    let ([cell_width, cell_height], font_size) =
        if width == WIDE { ([68.0, 36.0], 12) } else { ([46.0, 32.0], 11) };
    let panel = |title: &str, columns: &[String]| {
        let x = Axis::across(columns, font_size).upright();
        let y = Axis::down(tokens, font_size).labelled(title == "map");
        let panel = Panel::new(title, x, y, tokens.len() as f64 * cell_height);
        Panel { width: Some(columns.len() as f64 * cell_width), ..panel }
    };
    let left = label_width(tokens, font_size);
    let place =
        Place { width, n_columns: 2, left, left_once: true, below: left, above: 0.0 };
    (vec![panel("map", tokens), panel("output", columns)], place)
}

fn sentence(tokens: &[String], attn: &Matrix, out: &Matrix) -> String {
    let row = |(nth, token): (usize, &String)| {
        let shares = tokens.iter().enumerate();
        let shares = shares.map(|(j, key)| format!("{key} {}", share(attn[(nth, j)])));
        let shares: Vec<String> = shares.collect();
        let entries: Vec<String> = out.row(nth).iter().map(|&it| entry(it)).collect();
        let [shares, entries] = [shares, entries].map(|it| it.join(", "));
        format!("{token} gives {shares}, and its output is ({entries})")
    };
    let rows: Vec<String> = tokens.iter().enumerate().map(row).collect();
    format!("A map and the output beside it, row by row. {}.", rows.join("; "))
}

//! One mask a sequence, repeated for each head: in the order in which the layer reads the
//! list, and in another.

use anyhow::Result;
use figures::{Axis, Chart, Figure, Mark, Panel, by_cell, label_width, palette};

use crate::args::Args;

/// Of the batch that is drawn.
pub const N_SEQUENCES: usize = 3;
/// Of its layer.
pub const N_HEADS: usize = 2;

/// Whose mask stands at each place of the list, if each is repeated by itself, `0 0 1 1 2 2`,
/// and if all of them are, `0 1 2 0 1 2`.
pub fn orders() -> [Vec<usize>; 2] {
    let places = 0..N_SEQUENCES * N_HEADS;
    [
        places.clone().map(|at| at / N_HEADS).collect(),
        places.map(|at| at % N_SEQUENCES).collect(),
    ]
}

/// A row of squares for what is read, and one for each order; a sequence is a colour.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let [each, all] = orders();
    let n = each.len();
    let read: Vec<usize> = (0..n).map(|at| at / N_HEADS).collect(); // s · n_heads + head
    let rows = [("sequence", &read), ("repeat_interleave", &each), ("repeat", &all)];
    let names = rows.map(|(name, _)| name.to_owned());
    let columns: Vec<String> = (0..n).map(|at| at.to_string()).collect();
    let is_right = |i: usize, j: usize| rows[i].1[j] == read[j];
    let letter = |i: usize, j: usize| {
        format!("{}{}", rows[i].1[j], if is_right(i, j) { "" } else { " !" })
    };
    let description = |i: usize, j: usize| match (i, is_right(i, j)) {
        (0, _) => format!(
            "entry {} is read by sequence {}, head {}",
            columns[j],
            read[j],
            j % N_HEADS
        ),
        (_, true) => format!("{}, entry {}: its own mask", names[i], columns[j]),
        _ => {
            format!(
                "{}, entry {}: the mask of sequence {}",
                names[i], columns[j], rows[i].1[j]
            )
        }
    };
    let shape = (rows.len(), n);
    let hues = [0.0, 0.5, 1.0].into_iter().zip([0, 4, 5].map(palette::head)).collect();
    let squares = Mark::cells(by_cell(shape, |i, j| rows[i].1[j]), 3)
        .named("whose mask")
        .scaled(hues, [0, N_SEQUENCES - 1])
        .lettered(by_cell(shape, letter))
        .text_size(14)
        .hover(by_cell(shape, description))
        .tells("{told}");
    let wrong = (0..n).filter(|&j| !is_right(2, j)).count();
    let title =
        format!("By repeat, {wrong} of {n} heads get the mask of another sequence");
    let across = Axis::across(&columns, 11).titled("entry of the list");
    let panel = Panel::new("", across.level(), Axis::down(&names, 12), 3.0 * 40.0);
    Ok(Chart::new(title)
        .left(label_width(&names, 12))
        .panel(panel, [squares])
        .figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_and_the_page_are_true() {
        assert_eq!(orders(), [[0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2]]);
        let figure = figure(&Args::default()).unwrap();
        assert!(figure.title().starts_with("By repeat, 4 of 6"), "{}", figure.title());
    }
}

//! How much every trained head reads of each slice of a token.

use anyhow::Result;
use attention::{HeadParameters, Matrix};
use figures::{Chart, Figure, Mark, palette, share_map};

use crate::args::Args;
use crate::trained;

/// The part of a matrix's sum of squares in each slice of its rows, as wide as a head.
pub fn slices(weight: &Matrix) -> Vec<f64> {
    let (d_model, width) = weight.shape();
    let part = |nth| weight.rows(nth * width, width).norm_squared();
    (0..d_model / width).map(|nth| part(nth) / weight.norm_squared()).collect()
}

/// Maps of the three projections, beside one of heads that read a slice each.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let heads = trained::layer()?.parameters.heads();
    let n = heads.len();
    let of = |nth: usize| {
        let read = |head: &HeadParameters| slices(&head.projections()[nth].1.weight);
        let parts: Vec<f64> = heads.iter().flat_map(read).collect();
        Matrix::from_row_slice(n, n, &parts)
    };
    let maps = [Matrix::identity(n, n), of(0), of(1), of(2)];
    let names = ["a split input", "W^Q", "W^K", "W^V"].map(str::to_owned);
    let [rows, columns] = ["head", "slice"]
        .map(|what| (0..n).map(|nth| format!("{what} {nth}")).collect::<Vec<_>>());
    let cells = maps.iter().enumerate().map(|(nth, map)| {
        Mark::cells(share_map::entries(map), 1)
            .on(nth)
            .named(&names[nth])
            .scaled(palette::from_nothing(palette::NOTHING), [0.0, 0.25])
            .tells("{row} has {number} of its squares in {column}")
    });
    let title = "Every trained head has about equal weights for all slices of the token";
    Ok(Chart::grid(title, &names, &rows, &columns).marks(cells).figure()?)
}

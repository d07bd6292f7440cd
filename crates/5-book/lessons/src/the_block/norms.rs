//! Two tokens that differ only in scale, through both norms.

use anyhow::Result;
use attention::Matrix;
use block::{LayerNorm, RmsNorm};
use figures::{
    Axis, Chart, Figure, Mark, Panel, legend_room, log_axis, palette, rounded,
};

use crate::Args;

const NAMES: [&str; 2] = ["quiet", "loud"];
const WIDTH: usize = 4;

/// The two tokens, behind a layer norm and behind RMSNorm: `[2, 4]` each.
///
/// # Errors
/// None; the sizes fit.
fn normed() -> Result<[Matrix; 3]> {
    let quiet = [1.0, 3.0, 5.0, 7.0];
    let x = Matrix::from_fn(2, WIDTH, |i, j| quiet[j] * [1.0, 100.0][i]);
    let layer = LayerNorm::identity(WIDTH).forward(&x)?;
    let rms = RmsNorm::identity(WIDTH).forward(&x)?;
    Ok([x, layer, rms])
}

/// The loud token as open marks around those of the quiet one.
fn marks(nth: usize, tokens: &Matrix) -> [Mark; 2] {
    [1, 0].map(|row| {
        let (symbol, size) = [("circle", 6), ("circle-open", 13)][row];
        let entries = tokens.row(row).iter().copied().map(rounded).collect::<Vec<_>>();
        let told = entries.iter().map(|entry| format!("{}: {entry}", NAMES[row]));
        let told: Vec<String> = told.collect();
        Mark::lines_and_marks(0..WIDTH, entries)
            .on(nth)
            .named(NAMES[row])
            .of_group(NAMES[row], nth == 0)
            .marked(symbol, size)
            .line(palette::beside_wrong(row), 1.5)
            .hover(told)
            .unclipped()
    })
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let tokens = normed()?;
    let names: Vec<String> = (0..WIDTH).map(|entry| entry.to_string()).collect();
    let panel = |title: &str, y: Axis| {
        Panel::new(title, Axis::across(&names, 11).titled("entry"), y, 150.0)
    };
    let scale = || Axis::between([-1.7, 1.9]);
    let title = "Two tokens that differ only in scale come out of either norm the same";
    let chart = Chart::new(title)
        .columns(3)
        .above(legend_room(NAMES.into_iter(), 14.0))
        .panels([
            panel("the tokens", Axis::decades([1.0, 1e3], log_axis::power_of_ten)),
            panel("layer norm", scale()),
            panel("RMSNorm", scale()),
        ])
        .marks(tokens.iter().enumerate().flat_map(|(nth, it)| marks(nth, it)));
    Ok(chart.figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_norms_remove_the_scale() {
        let [x, layer, rms] = normed().unwrap();
        assert_eq!(x.row(1), x.row(0) * 100.0);
        for y in [layer, rms] {
            assert!((y.row(0) - y.row(1)).amax() < 1e-5);
        }
    }
}

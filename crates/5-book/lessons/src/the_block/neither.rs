//! What two heads bring to the token that asks, and which layers answer from it.

use anyhow::Result;
use figures::{Axis, Chart, Figure, Mark, Panel, by_cell, legend_room, palette};

use super::agree::{
    KINDS, N_SENTENCES, N_STARTS, WIDTHS, asking, kept_answered, numbers,
};
use crate::Args;
use crate::numbers::written;

/// The sentences, in the order of their numbers.
const SENTENCES: [&str; N_SENTENCES] =
    ["the pilot flies", "the pilot fly", "the pilots flies", "the pilots fly"];
/// Of both panels, in pixels.
const HEIGHT: f64 = 210.0;
/// Its sum is 1 along a line that puts three sentences on the right side.
const LINE: [[f64; 2]; 2] = [[-0.7, 1.7], [1.7, -0.7]];

/// The sentences whose answer this is, where the heads put them.
fn points(answer: &str, nth: usize) -> Result<Mark> {
    let x = asking()?;
    let agree = |s: &usize| (numbers()[*s][0] == numbers()[*s][1]) == (answer == "yes");
    let of: Vec<usize> = (0..N_SENTENCES).filter(agree).collect();
    let entry = |s: &usize, column: usize| (x[(*s, column)] * 1e3).round() / 1e3;
    let told = of.iter().map(|s| {
        let [noun, verb] = [4, 5].map(|column| written(entry(s, column), 3));
        format!("{}, {answer}<br>head 0: {noun}, head 1: {verb}", SENTENCES[*s])
    });
    let told: Vec<String> = told.collect();
    Ok(Mark::points(of.iter().map(|s| entry(s, 4)), of.iter().map(|s| entry(s, 5)))
        .named(answer)
        .marked(["circle", "diamond"][nth], 12)
        .coloured(palette::beside_wrong(nth))
        .written(of.iter().map(|s| SENTENCES[*s]), "top center")
        .tells("{told}")
        .hover(told))
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let starts = kept_answered()?;
    let all = |kind: usize, width: usize| {
        starts[kind][width].iter().filter(|&&right| right == N_SENTENCES).count()
    };
    let shape = (KINDS.len(), WIDTHS.len());
    let cells = Mark::cells(by_cell(shape, all), 1)
        .scaled(palette::from_nothing("rgba(118,118,118,0.12)"), [0, N_STARTS as usize])
        .lettered(by_cell(shape, |kind, width| all(kind, width).to_string()))
        .named("starts")
        .tells("{row}, {column}: {text}");
    let numbers = |title: &str| Axis::between([-1.9, 1.9]).titled(title);
    let kinds = KINDS.map(|(name, _)| name.to_owned());
    let widths = WIDTHS.map(|width| width.to_string());
    let title = "No line separates yes from no; one gated unit does";
    let chart = Chart::new(title)
        .columns(2)
        .left(92.0)
        .above(legend_room(["yes", "no"].into_iter(), 14.0))
        .panel(
            Panel::new(
                "head 1: the verb; dotted: right on three",
                numbers("head 0: the noun"),
                numbers(""),
                HEIGHT,
            ),
            [Mark::rule(LINE), points("yes", 0)?, points("no", 1)?],
        )
        .panel(
            Panel::new(
                format!("of {N_STARTS} starts, right on all four"),
                Axis::across(&widths, 12).titled("d_ff"),
                Axis::down(&kinds, 12),
                HEIGHT,
            ),
            [cells.in_legend(false)],
        );
    Ok(chart.figure()?)
}

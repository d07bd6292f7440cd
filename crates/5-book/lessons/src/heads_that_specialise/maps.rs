//! What heads attend to after training, and what is lost without each.

use anyhow::Result;
use attention::Matrix;
use figures::{Chart, Figure, Heads, Mark, by_cell, head_maps, palette, rounded};
use training::lookups::Lookups;
use training::one_layer::Task;

use super::lookups;
use crate::args::Args;
use crate::numbers::written;
use crate::seeds::rows;

fn head_names(n_heads: usize) -> Vec<String> {
    (0..n_heads).map(|head| format!("head {head}")).collect()
}

pub(super) fn of_seeds(_: &Args) -> Result<Figure> {
    let map = |run: serde_json::Value| -> Result<Matrix> {
        Ok(Matrix::from_row_slice(3, 3, &rows(&run["focus"])?.concat()))
    };
    let maps = lookups(3)?.into_iter().map(map).collect::<Result<Vec<_>>>()?;
    let seeds: Vec<String> = (0..maps.len()).map(|seed| format!("seed {seed}")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let heads = Heads::new(&maps, &head_names(3), Lookups::default().targets())?;
    let title = "After training, each head has a word of its own; chance decides which";
    Ok(head_maps(title, &heads.called(&seeds)?))
}

/// Of four heads of seed 0, the mean attention weight on each word, and the points that
/// each word loses without the head.
pub(super) fn four_heads(_: &Args) -> Result<Figure> {
    let run = &lookups(4)?[0];
    let roles: Vec<String> =
        Lookups::default().targets().iter().map(|&role| role.to_owned()).collect();
    let focus = rows(&run["focus"])?;
    let lost = rows(&run["removed"]["mean"]["heads"])?;
    let names = ["attention weight", "points lost"].map(str::to_owned);
    let shape = (focus.len(), roles.len());
    let numbers = |of: &[Vec<f64>], scale: f64, decimals: i32| {
        by_cell(shape, |i, j| written(scale * of[i][j], decimals))
    };
    let mark = |nth: usize, of: &[Vec<f64>], scale: f64, decimals: i32| {
        Mark::cells(by_cell(shape, |i, j| rounded(scale * of[i][j])), 1)
            .on(nth)
            .named(&names[nth])
            .lettered(numbers(of, scale, decimals))
            .tells("{row}, {column}: {text}")
    };
    let lost_colours = vec![(0.0, palette::NOTHING), (1.0, palette::head(2))];
    let marks = [
        mark(0, &focus, 1.0, 2).scaled(palette::shares(), [0, 1]),
        mark(1, &lost, 100.0, 1).scaled(lost_colours, [0, 100]),
    ];
    let title = "Of four heads, two attend to the object; without either, only some of it is lost";
    Ok(Chart::grid(title, &names, &head_names(4), &roles).marks(marks).figure()?)
}

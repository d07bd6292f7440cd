//! In how many heads each letter is aligned, with two sets of years.

use anyhow::Result;
use attention::Matrix;
use figures::{
    Axis, Chart, FAINT, Figure, Mark, Panel, label_width, legend_room, palette,
};
use serde_json::Value;
use training::dates::{CENTURIES, PartShares, Truth};

use super::{LETTERS, PARTS, even, runs, shares};
use crate::Args;

const YEARS: [&str; 2] = ["1950 to 2049", "1800 to 2199"];

/// In how many heads of all runs each letter is aligned.
fn aligned(runs: &[Value]) -> Result<Vec<usize>> {
    let truth = Truth::planted();
    let mut counts = vec![0; LETTERS.len()];
    for run in runs {
        let even = even(run)?;
        let even = Matrix::from_fn(LETTERS.len(), PARTS.len(), |_, part| even[part]);
        for of_head in shares(run)? {
            let shares = PartShares { of_head: vec![of_head], even: even.clone() };
            for (letter, count) in counts.iter_mut().enumerate() {
                *count += usize::from(shares.is_aligned(0, letter, &truth));
            }
        }
    }
    Ok(counts)
}

/// The runs with years whose second digit does not follow from the first.
///
/// # Errors
/// If the file holds no runs.
pub fn of_four_centuries() -> Result<Vec<Value>> {
    Ok(serde_json::from_str(CENTURIES)?)
}

/// The counts of each letter in the years of the book, and in four centuries.
///
/// # Errors
/// As [`runs()`].
pub fn both() -> Result<[Vec<usize>; 2]> {
    Ok([aligned(&runs()?)?, aligned(&of_four_centuries()?)?])
}

/// A row a letter, a mark for each set of years.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let counts = both()?;
    let letters = LETTERS.map(str::to_owned);
    let title = format!(
        "Y2 is aligned in {} of 40 heads where it follows from Y1, and in {} where it does not",
        counts[0][1], counts[1][1]
    );
    let lines = (0..letters.len()).map(|at| {
        let line = Mark::lines([counts[0][at], counts[1][at]], [at; 2]);
        line.line(FAINT, 3.0).in_legend(false).silent()
    });
    let marks = counts.iter().enumerate().map(|(nth, counts)| {
        let told = LETTERS.iter().zip(counts);
        let told = told.map(|(letter, n)| format!("{letter}, {}: {n} of 40", YEARS[nth]));
        Mark::points(counts.clone(), 0..counts.len())
            .named(YEARS[nth])
            .marked(["circle", "diamond"][nth], 11)
            .coloured(palette::beside_wrong(nth))
            .hover(told.collect::<Vec<_>>())
    });
    let (x, y) = (Axis::between([-1.0, 41.0]), Axis::down(&letters, 12));
    let panel = Panel::new("heads of 40 that have the letter aligned", x, y, 230.0);
    let table = figures::Table::grid(
        "Heads of 40",
        "letter",
        &letters,
        &YEARS.map(str::to_owned),
        |at, years| counts[years][at].to_string(),
    );
    let sentence = letters
        .iter()
        .enumerate()
        .map(|(at, letter)| format!("{letter} {} and {}", counts[0][at], counts[1][at]));
    Ok(Chart::new(title)
        .left(label_width(&letters, 12))
        .above(legend_room(YEARS.into_iter(), 14.0))
        .panel(panel, lines.chain(marks))
        .says(format!(
            "Heads of 40 with each letter aligned, in {} and in {}: {}.",
            YEARS[0],
            YEARS[1],
            sentence.collect::<Vec<_>>().join(", ")
        ))
        .tables([table])
        .figure()?)
}

//! “From one sequence to another”: dates in six forms become one, by a trained encoder and
//! decoder.

pub mod aligned;
pub mod caches;
mod forms;
mod masks;
pub mod model;
pub mod typed;

use anyhow::{Result, ensure};
use attention::Matrix;
use figures::{Figure, Heads, head_maps, palette};
use serde_json::Value;
use training::dates::DATES;
use training::dates::N_TARGET;

use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::seeds::{numbers, rows};
use crate::{Args, Entry};

pub(crate) const FIGURES: &[Entry] = &[
    ("three-masks", masks::figure),
    ("date-forms", forms::figure),
    ("date-parts", parts),
    ("date-letters", aligned::figure),
    ("dates-removed", removed),
    ("two-caches", caches::figure),
];

/// The seed of the trained model that is shown.
pub const SEED: usize = 1;

/// What a date is made of.
pub const PARTS: [&str; 3] = ["year", "month", "day"];

/// The letters that are written, by what they are.
pub const LETTERS: [&str; N_TARGET] =
    ["Y1", "Y2", "Y3", "Y4", "dash 1", "M1", "M2", "dash 2", "D1", "D2"];

/// The runs, by seed.
///
/// # Errors
/// If the file has other runs than it should.
pub fn runs() -> Result<Vec<Value>> {
    let runs: Vec<Value> = serde_json::from_str(DATES)?;
    ensure!(runs.len() == 10, "{} runs of dates", runs.len());
    Ok(runs)
}

/// The numbers of a list in every run, one after the other.
///
/// # Errors
/// If a run has no such list.
pub fn all(key: &str) -> Result<Vec<f64>> {
    let lists =
        runs()?.iter().map(|run| numbers(&run[key])).collect::<Result<Vec<_>>>()?;
    Ok(lists.concat())
}

/// The shares that a head gives to year, month and day at each letter, `[N_TARGET, 3]`, for
/// every head of a run.
///
/// # Errors
/// If the run has none.
pub fn shares(run: &Value) -> Result<Vec<Matrix>> {
    let of_head = |head: &Value| -> Result<Matrix> {
        Ok(Matrix::from_row_slice(N_TARGET, PARTS.len(), &rows(head)?.concat()))
    };
    let heads = run["shares"].as_array().map_or(&[][..], Vec::as_slice);
    heads.iter().map(of_head).collect()
}

/// What even attention would give to year, month and day.
///
/// # Errors
/// If the run does not say.
pub fn even(run: &Value) -> Result<Vec<f64>> {
    numbers(&run["even"])
}

/// The shares of the model that is shown, beside even ones.
fn parts(_: &Args) -> Result<Figure> {
    let run = &runs()?[SEED];
    let mut maps = shares(run)?;
    let heads: Vec<String> = (0..maps.len()).map(|head| format!("head {head}")).collect();
    let even = even(run)?;
    maps.push(Matrix::from_fn(N_TARGET, PARTS.len(), |_, part| even[part]));
    let mut names: Vec<&str> = heads.iter().map(String::as_str).collect();
    names.push("even attention");
    let heads = Heads::new(&maps, &LETTERS, &PARTS)?.called(&names)?;
    let title =
        "Seed 1: at the end of each part, all four heads look at it; before, they differ";
    Ok(head_maps(title, &heads))
}

/// The dates that are whole without a head, and without as many random directions.
fn removed(_: &Args) -> Result<Figure> {
    let rows = [
        ("without one head", "without"),
        ("random directions", "random"),
        ("random, as strong", "random_scaled"),
        ("one head alone", "alone"),
    ];
    let names = rows.map(|(name, _)| name.to_owned());
    let dates = rows.into_iter().map(|(_, key)| all(key)).collect::<Result<Vec<_>>>()?;
    let list = RowList::new("seeds", dates, Look::Runs(palette::head(0)));
    let panel = RowPanel::percent("unseen dates that are whole", 0.0, vec![list]);
    let title = "Ablating a head mostly costs more than ablating random directions, but none works alone";
    NamedRows::new(&names, 30.0, 1).figure(title, &[panel])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the last digit of each part, every head gives most to that part.
    #[test]
    fn the_title_is_true() {
        let all = shares(&runs().unwrap()[SEED]).unwrap();
        for map in &all {
            for (letter, part) in [(3, 0), (6, 1), (9, 2)] {
                assert_eq!(map.row(letter).transpose().argmax().0, part, "{map}");
            }
        }
        // At no letter but a few do all of them agree: each has letters of its own.
        let misses = |map: &Matrix| {
            let truth = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2];
            (0..N_TARGET).filter(|&letter| map[(letter, truth[letter])] < 0.6).count()
        };
        assert!(all.iter().all(|map| misses(map) > 0), "{all:?}");
    }
}

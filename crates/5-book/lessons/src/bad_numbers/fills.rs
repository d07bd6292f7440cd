//! What becomes of a row under each fill, with keys left and without one.

use anyhow::Result;
use attention::{Mask, Matrix, Rng, SeedableRng, random_matrix, softmax_rows};
use figures::Figure;

use super::head::plain_softmax;
use super::{number_maps, softmax_with_fill, softmax_with_fill_added};
use crate::args::Args;
use crate::masks::{SCORES, row};

/// How many tokens the masked rows are drawn for.
const N: usize = 4;
/// How many of them are padding, in front.
const N_PADDING: usize = 2;

/// The weights of one row by each fill: while keys are allowed, and while none is.
pub(super) fn fills(_: &Args) -> Result<Figure> {
    let names = ["−∞, with a rule", "−∞, the formula", "−1e9", "−1e9 added"];
    let weights = |n_allowed| {
        let blocked = Mask::FirstKeys(n_allowed).apply(row(SCORES));
        let rows = [
            softmax_rows(blocked.clone()),
            plain_softmax(blocked),
            softmax_with_fill(n_allowed),
            softmax_with_fill_added::<f64>(n_allowed),
        ];
        Matrix::from_fn(rows.len(), SCORES.len(), |i, j| rows[i][j])
    };
    let [some, none] = [2, 0].map(weights);
    let keys: Vec<String> = (0..SCORES.len()).map(|key| format!("key {key}")).collect();
    let title =
        "With two keys allowed all fills agree; with none, each gives another row";
    let maps = [("keys 0 and 1 allowed", &some), ("no key allowed", &none)];
    Ok(number_maps::figure(title.to_owned(), &names.map(String::from), &keys, &maps)?)
}

/// Scores under a causal mask with padding in front, and what both softmaxes make of them.
pub(super) fn masked_row(_: &Args) -> Result<Figure> {
    let rng = &mut Rng::seed_from_u64(8);
    let real = (0..N).map(|key| key >= N_PADDING).collect();
    let mask = Mask::All(vec![Mask::Causal, Mask::Keys(real)]);
    let scores = random_matrix(N, N, 1.0, rng).map(|x: f64| (x * 10.0).round() / 10.0);
    let scores = mask.apply(scores);
    let (formula, rule) = (plain_softmax(scores.clone()), softmax_rows(scores.clone()));
    let names = |what| (0..N).map(|at| format!("{what} {at}")).collect::<Vec<_>>();
    let title = "Queries 0 and 1 see only padding: NaN by the formula, zeros by a rule";
    let maps = [
        ("scores", &scores),
        ("attention by the formula", &formula),
        ("attention by a rule", &rule),
    ];
    Ok(number_maps::figure(title.to_owned(), &names("query"), &names("key"), &maps)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let text = masked_row(&Args::default()).unwrap().alternative().to_owned();
        assert!(text.contains("by the formula: NaN in 8 of 16 cells"), "{text}");
        assert!(text.ends_with("by a rule: all finite."), "{text}");
        let tables = fills(&Args::default()).unwrap().tables().to_vec();
        let rows = |table: &figures::Table| {
            let mut rows: Vec<_> =
                table.rows.iter().map(|row| row[1..].to_vec()).collect();
            rows.dedup();
            rows.len()
        };
        assert_eq!(tables.iter().map(rows).collect::<Vec<_>>(), [1, 4]);
    }
}

//! The 72 heads of the whole model, as the tests of the chapter measured them: `lessons` has
//! only its last layer.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use attention::Matrix;
use figures::{Axis, Chart, Figure, Mark, NEUTRAL, Table, palette, rounded, share_map};
use serde::{Deserialize, Serialize};

use crate::Args;
use crate::kept::kept;
use crate::named_rows::NamedRows;
use crate::numbers::share;

/// Heads in each layer.
pub const N_HEADS: usize = 12;
/// The six kinds of keys, in the order of [`Findings::kinds`].
pub const KINDS: [&str; 6] =
    ["[CLS]", "[SEP]", "the token itself", "the one before", "the one after", "others"];
/// The first noun and the two ends of each pair, in the order of [`Findings::pairs`].
pub const PAIRS: [&str; 7] = [
    "animal: tired | wide",
    "trophy: big | small",
    "ball: steel | paper",
    "council: feared | wanted",
    "man: weak | heavy",
    "truck: fast | slow",
    "fish: hungry | tasty",
];
/// A head moves a pair from here on. Fixed before looking.
pub const MOVES: f64 = 0.1;
/// And by at least so many times what the word before moves.
pub const TIMES_CONTROL: f64 = 2.0;

/// What was measured, layer by layer, to three decimals.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// What each head gives to each of [`KINDS`] on average.
    pub kinds: Vec<[f64; 6]>,
    /// How many heads prefer each kind.
    pub prefer: [usize; 6],
    /// By how much each head moves the pronoun of each of [`PAIRS`], and the word before it.
    pub pairs: Vec<Vec<[f64; 2]>>,
}

/// What was measured on all-MiniLM-L6-v2.
///
/// # Errors
/// None; the file is a part of the program.
pub fn findings() -> Result<&'static Findings> {
    static FINDINGS: OnceLock<Findings> = OnceLock::new();
    let read = || Ok(serde_json::from_str(include_str!("../../data/minilm.json"))?);
    kept(&FINDINGS, read)
}

/// Whether a head moves a pair in this direction, 1 or −1.
pub fn moves([pronoun, control]: [f64; 2], sign: f64) -> bool {
    sign * pronoun >= MOVES && pronoun.abs() >= TIMES_CONTROL * control.abs()
}

fn name(nth: usize) -> String {
    format!("{}.{}", nth / N_HEADS, nth % N_HEADS)
}

/// What each head gives to each kind of keys.
pub(super) fn six_kinds(_: &Args) -> Result<Figure> {
    let Findings { kinds, prefer, .. } = findings()?;
    let n_layers = kinds.len() / N_HEADS;
    let layers: Vec<String> = (0..n_layers).map(|l| format!("layer {l}")).collect();
    let heads: Vec<String> = (0..N_HEADS).map(|head| head.to_string()).collect();
    let map = |kind: usize| {
        Matrix::from_fn(n_layers, N_HEADS, |l, head| kinds[l * N_HEADS + head][kind])
    };
    let maps: Vec<Matrix> = (0..KINDS.len()).map(map).collect();
    let marks = maps.iter().enumerate().map(|(nth, map)| {
        Mark::cells(share_map::entries(map), 1)
            .scaled(palette::shares(), [0, 1])
            .tells(format!("{{row}}, head {{column}} → {}: {{number}}", KINDS[nth]))
            .on(nth)
            .named(KINDS[nth])
    });
    let table = |(nth, map): (usize, &Matrix)| {
        Table::grid(KINDS[nth], "", &layers, &heads, |l, head| share(map[(l, head)]))
    };
    let title = format!(
        "{} of {} heads prefer [CLS], {} the token before, {} the one after",
        prefer[0],
        kinds.len(),
        prefer[3],
        prefer[4]
    );
    let names = KINDS.map(str::to_owned);
    Ok(Chart::grid(title, &names, &layers, &heads)
        .marks(marks)
        .tables(maps.iter().enumerate().map(table))
        .says("Maps of each head's mean attention weight, one a kind of keys.")
        .figure()?)
}

/// By how much each head moves the pronoun of each pair.
pub(super) fn seven_pairs(_: &Args) -> Result<Figure> {
    let pairs = &findings()?.pairs;
    let points = |is_moved: bool| {
        let all = pairs.iter().enumerate().flat_map(|(head, of)| {
            of.iter().enumerate().map(move |(row, &moved)| (head, row, moved))
        });
        all.filter(move |it| moves(it.2, 1.0) == is_moved).collect::<Vec<_>>()
    };
    let dots = |points: &[(usize, usize, [f64; 2])], is_all_told: bool| {
        let [x, y]: [Vec<f64>; 2] = [
            points.iter().map(|it| rounded(it.2[0])).collect(),
            points.iter().map(|it| it.1 as f64).collect(),
        ];
        let told = points.iter().map(|(head, row, [pronoun, control])| {
            let head = format!("head {}", name(*head));
            let pair = PAIRS[*row];
            match is_all_told {
                false => head, // of hundreds, by its row
                true => format!(
                    "{head}, {pair}<br>{pronoun:.2}, the word before {control:.2}"
                ),
            }
        });
        Mark::points(x, y).hover(told.collect::<Vec<_>>()).unclipped()
    };
    let moved = points(true);
    let still = dots(&points(false), false).named("does not move the pair");
    let still = still.marked("circle", 6).coloured(NEUTRAL).mark_opacity(0.5);
    let best = moved.iter().map(|it| moved.iter().filter(|of| of.0 == it.0).count());
    let best = best.max().context("a head that moves a pair")?;
    let named =
        moved.iter().map(|it| if it.2[0] > 0.2 { name(it.0) } else { String::new() });
    let named: Vec<String> = named.collect();
    let columns = ["head", "pair", "the pronoun", "the word before"];
    let row = |(head, row, [pronoun, control]): &(usize, usize, [f64; 2])| {
        [
            name(*head),
            PAIRS[*row].to_owned(),
            format!("{pronoun:.2}"),
            format!("{control:.2}"),
        ]
    };
    let table = Table::new("The heads that move a pair", columns, moved.iter().map(row));
    let moved = dots(&moved, true).named("moves it").marked("circle", 9);
    let moved =
        moved.coloured(palette::head(0)).written(named, "top center").text_size(11);
    let title = format!("No head changes more than {best} of the seven pairs");
    let x = Axis::between([-0.2, 0.5]).titled("dotted: a head moves a pair");
    let what = "Δ, a dot for each of 72 heads";
    Ok(NamedRows::new(&PAIRS.map(str::to_owned), 24.0, 1)
        .chart(&title, &[(what, x)], [28.0; 2])
        .marks([Mark::rule([[MOVES, -0.5], [MOVES, 6.5]]), still, moved])
        .tables([table])
        .says("Dots of 72 heads in seven rows; the table has those that move a pair.")
        .figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let Findings { kinds, prefer, pairs } = findings().unwrap();
        assert_eq!([kinds.len(), pairs.len()], [72; 2]);
        assert!(prefer[0] > 60 && prefer[1] + prefer[2] + prefer[5] == 0);
        assert!(pairs.iter().all(|of| of.len() == PAIRS.len()));
        assert_eq!(name(37), "3.1");
    }

    #[test]
    fn a_head_moves_a_pair_if_its_pronoun_moves_enough_and_the_word_before_does_not() {
        assert!(
            moves([0.3, 0.1], 1.0) && !moves([0.3, 0.2], 1.0) && !moves([0.05, 0.0], 1.0)
        );
        assert!(moves([-0.3, 0.1], -1.0) && !moves([-0.3, 0.1], 1.0));
    }
}

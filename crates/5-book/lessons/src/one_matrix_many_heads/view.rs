//! Heads split from a projection by views, with the transpose and without: live.

use anyhow::Result;
use attention::{Dims, Matrix};
use figures::split_heads;

use super::{columns_of_heads, view_without_transpose};
use crate::live::{Control, Kind, Live, LiveView, Question, Settings};

/// Draws what stands in each head.
pub const LIVE: Live = Live {
    name: "view",
    questions: &[
        Question {
            ask: "Leave the transpose off. For which sizes is nothing wrong all the same?",
            is_answered: |settings, view| {
                let [in_head, in_row] = view.last()?;
                Ok(!settings.is_on("transpose")? && in_head + in_row == 0.0)
            },
            answer: &[("n", "1")],
            found: "For one token, or one head: an axis of length 1 can change places with \
                    its neighbour.",
        },
        Question {
            ask: "Leave the transpose off, and take two tokens or more. When does each \
                  “head” come from a single token?",
            is_answered: |settings, view| {
                let (n, h) = (settings.count("n")?, settings.count("h")?);
                let d_model = settings.count("d_model")?;
                let places = view.slice(0..n * d_model)?;
                let token = |&place: &f64| place as usize / d_model;
                let is_one =
                    |head: &[f64]| head.iter().all(|it| token(it) == token(&head[0]));
                let are_one = places.chunks(n * d_model / h).all(is_one);
                Ok(!settings.is_on("transpose")? && n > 1 && are_one)
            },
            answer: &[("n", "3")],
            found: "With as many tokens as heads, “head” i is token i, whole: attention \
                    would run inside a token, and every shape fits.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

fn controls() -> Vec<Control> {
    let count = |most, first| Kind::Count { range: [1, most], first };
    vec![
        Control::new("n", "Tokens n", count(6, 4)),
        Control::new("d_model", "d_model", count(24, 12)),
        Control::new("h", "Heads h", count(6, 3)),
        Control::new("transpose", "With the transpose", Kind::Switch { first: false }),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let (n, h) = (settings.count("n")?, settings.count("h")?);
    let dims = Dims::new(settings.count("d_model")?, h)?;
    let (width, d) = (dims.d_model(), dims.d_k());
    let is_transposed = settings.is_on("transpose")?;

    // Every entry says where it lies in row-major memory.
    let q = Matrix::from_fn(n, width, |token, column| (token * width + column) as f64);
    let viewed = view_without_transpose(&q, h);
    let misplaced = Misplaced::of(&viewed, dims);
    let all = n * width;
    let title = if is_transposed {
        format!("view({n}, {h}, {d}), then transpose(0, 1): every entry is in its head")
    } else {
        let wrong = misplaced.in_head;
        format!(
            "view({h}, {n}, {d}) alone: {wrong} of {all} entries are in the wrong head"
        )
    };
    let words = match (is_transposed, n, h) {
        (false, 1, _) => {
            "One token is one head after the other: the view alone is right.".to_owned()
        }
        (false, _, 1) => "One head is the whole row: the view alone is right.".to_owned(),
        (false, ..) => format!(
            "{} of {all} entries stand in the wrong head, and {} more in the row of \
             another token. The view alone is right only for one token or one head.",
            misplaced.in_head, misplaced.in_row
        ),
        (true, ..) => format!(
            "Every entry stands in its head, in the row of its token. Without the \
             transpose {} of {all} would stand in the wrong head.",
            misplaced.in_head
        ),
    };
    let heads = if is_transposed { columns_of_heads(&q, h) } else { viewed };
    let numbers = heads.iter().flat_map(|head| head.transpose().as_slice().to_vec());
    let numbers = numbers.chain([misplaced.in_head as f64, misplaced.in_row as f64]);
    Ok(LiveView {
        figure: split_heads(title, [n, h, d], is_transposed)?,
        words,
        numbers: numbers.collect(),
    })
}

/// How many entries stand where they should not.
struct Misplaced {
    /// In a head that is not theirs.
    in_head: usize,
    /// In their head, in the row of another token.
    in_row: usize,
}

impl Misplaced {
    /// Of heads whose entries are places in the memory of `[n_tokens, d_model]`.
    fn of(heads: &[Matrix], dims: Dims) -> Self {
        let mut misplaced = Self { in_head: 0, in_row: 0 };
        for (i, head) in heads.iter().enumerate() {
            for (row, entries) in head.row_iter().enumerate() {
                for &place in entries.iter() {
                    let (token, column) = (
                        place as usize / dims.d_model(),
                        place as usize % dims.d_model(),
                    );
                    if column / dims.d_k() != i {
                        misplaced.in_head += 1;
                    } else if token != row {
                        misplaced.in_row += 1;
                    }
                }
            }
        }
        misplaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: usize, d_model: usize, h: usize, transpose: &str) -> Result<LiveView> {
        let [n, d_model, h] = [n, d_model, h].map(|size| size.to_string());
        let pairs = [("n", &*n), ("d_model", &*d_model), ("h", &*h)];
        LIVE.at(pairs.into_iter().chain([("transpose", transpose)]))
    }

    /// `Dims` refuses what does not divide; all else is drawn, and the figure's table
    /// puts every piece where the chapter's own views do.
    #[test]
    fn every_size_is_drawn_or_refused() {
        for (n, d_model, h) in (1..=6)
            .flat_map(|n| (1..=24).flat_map(move |d| (1..=6).map(move |h| (n, d, h))))
        {
            for transpose in ["on", "off"] {
                let shown = at(n, d_model, h, transpose);
                let Ok(d) = Dims::new(d_model, h).map(|dims| dims.d_k()) else {
                    assert!(shown.is_err(), "{d_model} among {h}");
                    continue;
                };
                let LiveView { figure, numbers, .. } = shown.unwrap();
                let cells = figure.tables()[0].rows.iter().flat_map(|row| &row[1..]);
                assert_eq!(cells.clone().count() * d + 2, numbers.len());
                for (cell, places) in cells.zip(numbers.chunks(d)) {
                    let place = places[0] as usize;
                    let (token, head) = (place / d_model, place % d_model / d);
                    assert_eq!(*cell, format!("token {token}, head {head}"));
                }
                let is_right = transpose == "on" || n == 1 || h == 1;
                let title = figure.title();
                let says_so = title.contains(": every") || title.contains(": 0 of");
                assert_eq!(says_so, is_right, "{title}");
            }
        }
    }

    /// By hand: in memory 0 1 2 3 are token 0, and 0 1, 4 5 belong to head 0.
    #[test]
    fn two_tokens_and_two_heads_by_hand() {
        let numbers = |transpose| at(2, 4, 2, transpose).unwrap().numbers;
        assert_eq!(numbers("off")[..8], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(numbers("on")[..8], [0.0, 1.0, 4.0, 5.0, 2.0, 3.0, 6.0, 7.0]);
    }

    #[test]
    fn words_say_how_many_are_wrong() {
        let words = |shown: Result<LiveView>| shown.unwrap().words;
        insta::assert_snapshot!(words(LIVE.at([])), @"24 of 48 entries stand in the wrong head, and 16 more in the row of another token. The view alone is right only for one token or one head.");
        insta::assert_snapshot!(words(at(2, 4, 2, "on")), @"Every entry stands in its head, in the row of its token. Without the transpose 4 of 8 would stand in the wrong head.");
        insta::assert_snapshot!(at(2, 10, 4, "on").unwrap_err(), @"d_model 10 cannot be divided among 4 heads: 10 = 4 × 2 + 2");
    }
}

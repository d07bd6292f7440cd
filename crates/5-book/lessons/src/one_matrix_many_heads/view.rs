//! Heads split from a projection by views, with the transpose and without: live.

use anyhow::Result;
use attention::{Dims, Matrix};
use figures::split_heads;

use super::{columns_of_heads, view_without_transpose};
use crate::live::{LiveFigure, LiveView, Question, live};

/// Draws what stands in each head.
pub(crate) const LIVE: LiveFigure<Set, Facts> = LiveFigure::new("view", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Leave the transpose off. For which sizes is nothing wrong all the same?",
        is_answered: |set, it| !set.transpose && it.in_head + it.in_row == 0,
        answer: |set| set.n = 1,
        found: "For one token, or one head: an axis of length 1 can change places with \
                its neighbour.",
    },
    Question {
        ask: "Leave the transpose off, and take two tokens or more. When does each \
              “head” come from a single token?",
        is_answered: |set, it| {
            let token = |&place: &usize| place / set.d_model;
            let is_one =
                |head: &Vec<usize>| head.iter().all(|it| token(it) == token(&head[0]));
            !set.transpose && set.n > 1 && it.places.iter().all(is_one)
        },
        answer: |set| set.n = 3,
        found: "With as many tokens as heads, “head” i is token i, whole: attention \
                would run inside a token, and every shape fits.",
    },
];

live! {
    struct Set {
        n: usize = "Tokens n", count([1, 6], 4);
        d_model: usize = "d_model", count([1, 24], 12);
        h: usize = "Heads h", count([1, 6], 3);
        transpose: bool = "With the transpose", switch(false);
    }

    struct Facts {
        /// Where each entry of each head lies in row-major memory, row by row.
        places: Vec<Vec<usize>>,
        /// How many entries are in a wrong head, and in a wrong row of the right one.
        in_head: usize, in_row: usize,
    }
}

fn draw(
    &Set { n, d_model, h, transpose: is_transposed }: &Set,
) -> Result<LiveView<Facts>> {
    let dims = Dims::new(d_model, h)?;
    let (width, d) = (dims.d_model(), dims.d_k());

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
    let places = |head: &Matrix| head.transpose().iter().map(|&it| it as usize).collect();
    let places = heads.iter().map(places).collect();
    let figure = split_heads(title, [n, h, d], is_transposed)?;
    let Misplaced { in_head, in_row } = misplaced;
    Ok(LiveView { figure, words, facts: Facts { places, in_head, in_row } })
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

    fn at([n, d_model, h]: [usize; 3], transpose: bool) -> Result<LiveView<Facts>> {
        draw(&Set { n, d_model, h, transpose })
    }

    /// `Dims` refuses what does not divide; all else is drawn, and the figure's table
    /// puts every piece where the chapter's own views do.
    #[test]
    fn every_size_is_drawn_or_refused() {
        for (n, d_model, h) in (1..=6)
            .flat_map(|n| (1..=24).flat_map(move |d| (1..=6).map(move |h| (n, d, h))))
        {
            for transpose in [true, false] {
                let shown = at([n, d_model, h], transpose);
                let Ok(d) = Dims::new(d_model, h).map(|dims| dims.d_k()) else {
                    assert!(shown.is_err(), "{d_model} among {h}");
                    continue;
                };
                let LiveView { figure, facts, .. } = shown.unwrap();
                let cells = figure.tables()[0].rows.iter().flat_map(|row| &row[1..]);
                let places = facts.places.concat();
                assert_eq!(cells.clone().count() * d, places.len());
                for (cell, places) in cells.zip(places.chunks(d)) {
                    let place = places[0];
                    let (token, head) = (place / d_model, place % d_model / d);
                    assert_eq!(*cell, format!("token {token}, head {head}"));
                }
                let is_right = transpose || n == 1 || h == 1;
                let title = figure.title();
                let says_so = title.contains(": every") || title.contains(": 0 of");
                assert_eq!(says_so, is_right, "{title}");
            }
        }
    }

    /// By hand: in memory 0 1 2 3 are token 0, and 0 1, 4 5 belong to head 0.
    #[test]
    fn two_tokens_and_two_heads_by_hand() {
        let places = |transpose| at([2, 4, 2], transpose).unwrap().facts.places;
        assert_eq!(places(false), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(places(true), [[0, 1, 4, 5], [2, 3, 6, 7]]);
    }

    #[test]
    fn words_say_how_many_are_wrong() {
        let words = |shown: Result<LiveView<Facts>>| shown.unwrap().words;
        insta::assert_snapshot!(words(LIVE.at([])), @"24 of 48 entries stand in the wrong head, and 16 more in the row of another token. The view alone is right only for one token or one head.");
        insta::assert_snapshot!(words(at([2, 4, 2], true)), @"Every entry stands in its head, in the row of its token. Without the transpose 4 of 8 would stand in the wrong head.");
        insta::assert_snapshot!(at([2, 10, 4], true).unwrap_err(), @"d_model 10 cannot be divided among 4 heads: 10 = 4 × 2 + 2");
    }
}

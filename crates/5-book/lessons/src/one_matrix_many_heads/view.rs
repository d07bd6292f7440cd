//! A projection on its line of memory, on the way to heads, and the view that goes wrong: live.

use anyhow::Result;
use attention::{Dims, Matrix};
use figures::{TapeStop, tape};

use super::{addresses, columns_of_heads, meant, standing, view_without_transpose};
use crate::live::{LiveFigure, LiveView, Question, live};

/// Draws the line of memory, and the array that is read from it.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("view", draw, QUESTIONS).still(|set| set.stop = WRONG);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Play it. At which stop does an entry move in memory?",
        is_answered: |set, _| set.stop == CONTIGUOUS,
        answer: |set| set.stop = CONTIGUOUS,
        found: "Only contiguous copies. A view and a transpose change shape and strides: \
                the line stays, and is read in another order.",
    },
    Question {
        ask: "Go to the wrong view, the last stop. For which sizes is nothing wrong all the same?",
        is_answered: |set, it| set.stop == WRONG && it.in_head + it.in_row == 0,
        answer: |set| (set.stop, set.n) = (WRONG, 1),
        found: "For one token, or one head: an axis of length 1 can change places with \
                its neighbour.",
    },
    Question {
        ask: "At the wrong view, with two tokens or more. When does each “head” \
              come from a single token?",
        is_answered: |set, it| {
            let token = |&place: &usize| place / set.d_model;
            let is_one =
                |head: &Vec<usize>| head.iter().all(|it| token(it) == token(&head[0]));
            set.stop == WRONG && set.n > 1 && it.places.iter().all(is_one)
        },
        answer: |set| (set.stop, set.n) = (WRONG, 3),
        found: "With as many tokens as heads, “head” i is token i, whole: attention \
                would run inside a token, and every shape fits.",
    },
];

/// Two of the stops.
const CONTIGUOUS: usize = 3;
const WRONG: usize = TapeStop::ALL.len() - 1;

const MOST_TOKENS: usize = 6;
const MOST_HEADS: usize = 5;

live! {
    struct Set {
        stop: usize = "Stop", slider([0, WRONG], 1, 0).played();
        n: usize = "Tokens n", count([1, MOST_TOKENS], 4);
        h: usize = "Heads h", count([1, MOST_HEADS], 3);
        d_model: usize = "d_model", count([1, 16], 12);
    }

    struct Facts {
        /// Where each entry of each head lay first, row by row; none before there are heads.
        places: Vec<Vec<usize>>,
        /// The same in the order of memory.
        memory: Vec<usize>,
        /// How many entries are in a wrong head, and in a wrong row of the right one.
        in_head: usize, in_row: usize,
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let &Set { stop, n, h, d_model } = set;
    let dims = Dims::new(d_model, h)?;
    let (at, d) = (TapeStop::ALL[stop], dims.d_k());

    // Every entry says where it lies in row-major memory.
    let q = addresses(n, d_model);
    let heads = match at {
        TapeStop::Memory | TapeStop::View => Vec::new(),
        TapeStop::Transpose | TapeStop::Contiguous => columns_of_heads(&q, h),
        TapeStop::Wrong => view_without_transpose(&q, h),
    };
    let Misplaced { in_head, in_row } = Misplaced::of(&heads, dims);
    let places = heads.iter().map(by_row).collect::<Vec<_>>();
    let memory = match at {
        TapeStop::Contiguous => places.concat(),
        _ => by_row(&q),
    };
    let title = match at {
        TapeStop::Memory => format!("{n} tokens of {d_model} entries, row after row"),
        TapeStop::View => format!("view({n}, {h}, {d}): the same line, cut into pieces"),
        TapeStop::Transpose => {
            "transpose(0, 1): no entry moves, the reading order does".to_owned()
        }
        TapeStop::Contiguous => {
            "contiguous(): the line is written anew, head after head".to_owned()
        }
        TapeStop::Wrong => format!(
            "view({h}, {n}, {d}) at once: {in_head} of {} entries are in the wrong head",
            n * d_model
        ),
    };
    let figure = tape(title, [n, h, d], at, others(set))?;
    let words = words(set, at, [in_head, in_row]);
    Ok(LiveView { figure, words, facts: Facts { places, memory, in_head, in_row } })
}

/// The next smaller and the next larger number of tokens, and of heads that share the width.
fn others(&Set { n, h, d_model, .. }: &Set) -> [[Option<usize>; 2]; 2] {
    let heads = |h: &usize| d_model.is_multiple_of(*h);
    let fewer = (1..h).rev().find(heads);
    let more = (h + 1..=MOST_HEADS).find(heads);
    let tokens = [n - 1, n + 1].map(|n| (1..=MOST_TOKENS).contains(&n).then_some(n));
    [tokens, [fewer, more]]
}

/// The entries in the order of a row-major memory.
fn by_row(matrix: &Matrix) -> Vec<usize> {
    matrix.transpose().iter().map(|&it| it as usize).collect()
}

fn words(set: &Set, stop: TapeStop, [in_head, in_row]: [usize; 2]) -> String {
    let &Set { n, h, d_model, .. } = set;
    match (stop, n, h) {
        (TapeStop::Memory, ..) => {
            "A row holds its heads one after another; a colour is a head.".to_owned()
        }
        (TapeStop::View, ..) => format!(
            "Each row of {d_model} is read as {h} × {}: the axes are token, head, column.",
            d_model / h
        ),
        (TapeStop::Transpose, ..) => format!(
            "Two sizes and two strides change places, and each head is read across the \
             line, {n} × {} entries.",
            d_model / h
        ),
        (TapeStop::Contiguous, ..) => format!(
            "All {} entries are copied into the order in which they are read; each is \
             still called by the address where it lay. A view can join axes again.",
            n * d_model
        ),
        (TapeStop::Wrong, 1, _) => {
            "One token is one head after the other: the view alone is right.".to_owned()
        }
        (TapeStop::Wrong, _, 1) => {
            "One head is the whole row: the view alone is right.".to_owned()
        }
        (TapeStop::Wrong, ..) => format!(
            "Orange: {in_head} of {} entries stand in the wrong head, and {in_row} more in \
             the row of another token. The shape is the right one.",
            n * d_model
        ),
    }
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
        for (place, [head, row]) in standing(heads).into_iter().enumerate() {
            let [own_head, own_row] = meant(place, dims);
            misplaced.in_head += usize::from(head != own_head);
            misplaced.in_row += usize::from(head == own_head && row != own_row);
        }
        misplaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at([n, d_model, h]: [usize; 3], stop: usize) -> Result<LiveView<Facts>> {
        draw(&Set { stop, n, h, d_model })
    }

    /// `Dims` refuses what does not divide; all else is drawn, and the figure's table
    /// puts every piece where the chapter's own views do.
    #[test]
    fn every_size_is_drawn_or_refused() {
        for (n, d_model, h) in (1..=6)
            .flat_map(|n| (1..=16).flat_map(move |d| (1..=5).map(move |h| (n, d, h))))
        {
            for stop in 0..=WRONG {
                let shown = at([n, d_model, h], stop);
                let Ok(d) = Dims::new(d_model, h).map(|dims| dims.d_k()) else {
                    assert!(shown.is_err(), "{d_model} among {h}");
                    continue;
                };
                let LiveView { figure, facts, .. } = shown.unwrap();
                let cells = figure.tables()[0].rows.iter().flat_map(|row| &row[1..]);
                let places = match stop {
                    0 | 1 => facts.memory.clone(),
                    _ => facts.places.concat(),
                };
                assert_eq!(cells.clone().count() * d, places.len());
                for (cell, places) in cells.zip(places.chunks(d)) {
                    let place = places[0];
                    let (token, head) = (place / d_model, place % d_model / d);
                    assert_eq!(*cell, format!("token {token}, head {head}"));
                }
                let is_wrong = stop == WRONG && n > 1 && h > 1;
                let title = figure.title();
                let is_said = title.contains("wrong") && !title.contains(": 0 of");
                assert_eq!(is_said, is_wrong, "{title}");
            }
        }
    }

    /// By hand: in memory 0 1 2 3 are token 0, and 0 1, 4 5 belong to head 0. The copy lies
    /// as it is read, and nothing else moves.
    #[test]
    fn two_tokens_and_two_heads_by_hand() {
        let facts = |stop| at([2, 4, 2], stop).unwrap().facts;
        assert_eq!(facts(WRONG).places, [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(facts(2).places, [[0, 1, 4, 5], [2, 3, 6, 7]]);
        assert_eq!(facts(CONTIGUOUS).places, facts(2).places);
        assert_eq!(facts(CONTIGUOUS).memory, [0, 1, 4, 5, 2, 3, 6, 7]);
        for stop in [0, 1, 2, WRONG] {
            assert_eq!(facts(stop).memory, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    /// What PyTorch says of (4, 12) and three heads.
    #[test]
    fn shapes_and_strides_are_those_of_pytorch() {
        let view = LIVE.at([]).unwrap();
        let steps = figures::sketch::table(&view.figure.tables()[1]);
        insta::assert_snapshot!(steps, @r"
        in PyTorch                  shape     strides  written
        q = x @ w_q               (4, 12)     (12, 1)       48
        q = q.view(4, 3, 4)     (4, 3, 4)  (12, 4, 1)        0
        q = q.transpose(0, 1)   (3, 4, 4)  (4, 12, 1)        0
        q = q.contiguous()      (3, 4, 4)  (16, 4, 1)       48
        wrong: q.view(3, 4, 4)  (3, 4, 4)  (16, 4, 1)        0
        ");
    }

    #[test]
    fn words_say_how_many_are_wrong() {
        let words = |shown: Result<LiveView<Facts>>| shown.unwrap().words;
        insta::assert_snapshot!(words(LIVE.at([("stop", "4")])), @"Orange: 24 of 48 entries stand in the wrong head, and 16 more in the row of another token. The shape is the right one.");
        insta::assert_snapshot!(words(at([2, 4, 2], CONTIGUOUS)), @"All 8 entries are copied into the order in which they are read; each is still called by the address where it lay. A view can join axes again.");
        insta::assert_snapshot!(at([2, 10, 4], 2).unwrap_err(), @"d_model 10 cannot be divided among 4 heads: 10 = 4 × 2 + 2");
    }
}

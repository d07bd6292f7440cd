//! A mask painted by hand on the sentence of the bank: live.

use anyhow::Result;
use attention::{Mask, Matrix};
use figures::{MaskedHead, masked_head};
use single_head::attend;

use crate::live::{LiveFigure, LiveView, Question, Weights, live};
use crate::numbers::share;
use crate::trained::{self, N_HEADS};

/// Draws a trained head under the mask that its reader paints.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("paint-a-mask", draw, QUESTIONS).drawn_from(Weights::Layer);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "In head 7, “bank” attends most to “loan” and [CLS]. Block these two for it \
              and allow the rest: which token gets most then?",
        is_answered: |set, _| {
            let is_as_asked = (0..TOKENS.len())
                .all(|key| (set.mask[(QUERY, key)] == 0.0) == [CLS, LOAN].contains(&key));
            is_as_asked && set.head == HEAD
        },
        answer: |set| {
            let row = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0];
            set.mask.row_mut(QUERY).copy_from_slice(&row);
        },
        found: "“bank” itself, with most of the row: a mask takes keys away and no \
                attention, for softmax hands out 1 again.",
    },
    Question {
        ask: "Make the head's output for a query all zeros.",
        is_answered: |_, it| it.n_empty > 0,
        answer: |set| set.mask[(0, 0)] = 0.0,
        found: "A query with no key left gets a row of zeros here. A plain softmax over \
                −∞ alone would be 0 / 0.",
    },
    Question {
        ask: "Block at least half of the pairs, 32, which together had less than 10 % of \
              the map's weight.",
        is_answered: |set, it| {
            let n_blocked = set.mask.iter().filter(|&&cell| cell == 0.0).count();
            n_blocked >= set.mask.len() / 2 && it.blocked < 0.1
        },
        answer: |set| {
            let row = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0];
            set.mask = Matrix::from_fn(8, 8, |_, key| row[key]);
            set.mask[(0, 3)] = 0.0;
            set.mask[(1, 4)] = 1.0;
        },
        found: "Four columns have nearly everything: this head looks at the same few \
                tokens, whatever the query.",
    },
];

/// The sentence's tokens.
const TOKENS: [&str; 8] =
    ["[CLS]", "the", "bank", "approved", "the", "loan", ".", "[SEP]"];
/// The query that the words follow.
const QUERY: usize = 2;
/// The two keys that it attends to most in that head.
const CLS: usize = 0;
const LOAN: usize = 5;
/// The head that is shown first.
const HEAD: usize = 7;

/// What stands there first.
fn causal() -> Matrix {
    let n = TOKENS.len();
    Matrix::from_fn(n, n, |i, j| f64::from(Mask::Causal.added((i, j), (n, n)).is_some()))
}

live! {
    struct Set {
        mask: Matrix = "May attend (queries down, keys across)", paint(TOKENS, TOKENS, causal());
        head: usize = "Head", count([0, N_HEADS - 1], HEAD);
    }

    struct Facts {
        /// Of each pair, under the mask.
        shares: Vec<f64>,
        /// What part of the map's weight the blocked pairs had without it.
        blocked: f64,
        /// How many queries may attend to nothing.
        n_empty: usize,
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (allowed, number) = (set.mask.map(|cell| cell == 1.0), set.head);
    let trained = trained::layer()?;
    let x = &trained.sentence("bank_loan")?.input;
    let head = &trained.parameters.heads()[number];
    let free = attend(head, x, x, x, &Mask::None)?;
    let masked = attend(head, x, x, x, &Mask::Allowed(allowed.clone()))?;

    let title =
        format!("Head {number} of the trained layer, without a mask and with one");
    let maps = [free.attn, masked.attn];
    let allowed_pairs = &allowed;
    let it = MaskedHead {
        number,
        allowed: allowed_pairs,
        maps: &maps,
        query: QUERY,
        painted: "mask",
    };
    let figure = masked_head(title, &TOKENS, it)?;

    let n_blocked = allowed.iter().filter(|&&allowed| !allowed).count();
    let blocked = maps[0].zip_map(&allowed, |a, allowed| if allowed { 0.0 } else { a });
    let of_all = blocked.sum() / maps[0].sum();
    let n_empty = masked.out.row_iter().filter(|out| out.amax() == 0.0).count();
    let words = format!(
        "In head {number}, “{}” attends most to {} without a mask. {} Blocked pairs: \
         {n_blocked} of {}, which had {:.0} % of the map's weight without the mask. {}",
        TOKENS[QUERY],
        strongest(&maps[0]),
        seen(&allowed, &maps[1]),
        allowed.len(),
        100.0 * of_all,
        nothing(n_empty),
    );
    let facts = Facts { shares: maps[1].as_slice().to_vec(), blocked: of_all, n_empty };
    Ok(LiveView { figure, words, facts })
}

/// Of the query that the words follow: `“loan” (.565)`.
fn strongest(map: &Matrix) -> String {
    let row = map.row(QUERY);
    let (key, largest) = row.transpose().argmax();
    format!("“{}” ({})", TOKENS[key], share(largest))
}

/// What that query may see under the mask, and what it attends to then.
fn seen(allowed: &Matrix<bool>, map: &Matrix) -> String {
    match allowed.row(QUERY).iter().filter(|&&allowed| allowed).count() {
        0 => "Under this one it may see no key.".to_owned(),
        n => format!(
            "Under this one it may see {n} of {} keys and attends most to {}.",
            TOKENS.len(),
            strongest(map)
        ),
    }
}

/// Of queries whose output is zeros.
fn nothing(n_empty: usize) -> String {
    match n_empty {
        0 => "Every query may attend to something.".to_owned(),
        1 => "1 query may attend to nothing: its row is zeros, and so is the head's output \
              for it."
            .to_owned(),
        n => format!(
            "{n} queries may attend to nothing: their rows are zeros, and so is the head's \
             output for them."
        ),
    }
}

#[cfg(test)]
mod tests {
    use single_head::attend_in_loops;

    use super::*;
    use crate::gallery::tests::are_finite;

    const N: usize = TOKENS.len();

    /// What head `head` shows where query i may attend to key j if `may` says so.
    fn painted(head: usize, may: impl Fn(usize, usize) -> bool) -> LiveView<Facts> {
        let mask = Matrix::from_fn(N, N, |i, j| f64::from(may(i, j)));
        draw(&Set { mask, head }).unwrap()
    }

    #[test]
    fn the_controls_name_the_layers_own_tokens() {
        let trained = trained::layer().unwrap();
        assert_eq!(trained.sentence("bank_loan").unwrap().tokens, TOKENS);
    }

    #[test]
    fn at_first_the_mask_is_causal_and_the_words_follow_the_bank() {
        let shown = LIVE.at([]).unwrap();
        insta::assert_snapshot!(shown.words, @"In head 7, “bank” attends most to “loan” (.565) without a mask. Under this one it may see 3 of 8 keys and attends most to “[CLS]” (.549). Blocked pairs: 28 of 64, which had 33 % of the map's weight without the mask. Every query may attend to something.");
    }

    /// What is painted is what the definition, which is written in loops, gets as a mask.
    #[test]
    fn a_painted_mask_gives_what_the_loops_give() {
        let trained = trained::layer().unwrap();
        let x = &trained.sentence("bank_loan").unwrap().input;
        let may = |i: usize, j: usize| i != 3 && !(i + 2 * j).is_multiple_of(3);
        for number in [0, 11] {
            let shown = painted(number, may);
            let head = &trained.parameters.heads()[number];
            let allowed = Mask::Allowed(Matrix::from_fn(N, N, may));
            let expected = attend_in_loops(head, x, x, x, &allowed).unwrap();
            for (found, expected) in shown.facts.shares.iter().zip(expected.attn.iter()) {
                assert!((found - expected).abs() < 1e-12, "{found} and not {expected}");
            }
            assert_eq!(shown.facts.n_empty, 1);
            assert!(
                shown.words.ends_with("the head's output for it."),
                "{}",
                shown.words
            );
        }
    }

    #[test]
    fn everything_blocked_and_nothing_blocked() {
        let words = |may: bool| {
            let shown = painted(HEAD, |_, _| may);
            assert!(are_finite(&shown.facts));
            shown.words
        };
        insta::assert_snapshot!(words(false), @"In head 7, “bank” attends most to “loan” (.565) without a mask. Under this one it may see no key. Blocked pairs: 64 of 64, which had 100 % of the map's weight without the mask. 8 queries may attend to nothing: their rows are zeros, and so is the head's output for them.");
        insta::assert_snapshot!(words(true), @"In head 7, “bank” attends most to “loan” (.565) without a mask. Under this one it may see 8 of 8 keys and attends most to “loan” (.565). Blocked pairs: 0 of 64, which had 0 % of the map's weight without the mask. Every query may attend to something.");
    }
}

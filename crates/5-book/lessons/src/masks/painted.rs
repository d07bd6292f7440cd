//! A mask painted by hand on the sentence of the bank: live.

use anyhow::Result;
use attention::{Mask, Matrix};
use figures::{MaskedHead, masked_head};
use single_head::attend;

use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Weights};
use crate::numbers::share;
use crate::trained::{self, N_HEADS};

/// Draws a trained head under the mask that its reader paints.
pub const LIVE: Live = Live {
    name: "paint-a-mask",
    questions: &[
        Question {
            ask: "In head 7, “bank” attends most to “loan” and [CLS]. Block these two for it \
                  and allow the rest: which token gets most then?",
            is_answered: |settings, _| {
                let mask = settings.matrix("mask")?;
                let strongest = [CLS, LOAN];
                let is_as_asked = (0..TOKENS.len())
                    .all(|key| (mask[(QUERY, key)] == 0.0) == strongest.contains(&key));
                Ok(is_as_asked && settings.count("head")? == HEAD)
            },
            answer: &[(
                "mask",
                "1,0,0,0,0,0,0,0;1,1,0,0,0,0,0,0;0,1,1,1,1,0,1,1;1,1,1,1,0,0,0,0;\
                 1,1,1,1,1,0,0,0;1,1,1,1,1,1,0,0;1,1,1,1,1,1,1,0;1,1,1,1,1,1,1,1",
            )],
            found: "“bank” itself, with most of the row: a mask takes keys away and no \
                    attention, for softmax hands out 1 again.",
        },
        Question {
            ask: "Make the head's output for a query all zeros.",
            is_answered: |_, view| Ok(view.last::<1>()?[0] > 0.0),
            answer: &[(
                "mask",
                "0,0,0,0,0,0,0,0;1,1,0,0,0,0,0,0;1,1,1,0,0,0,0,0;1,1,1,1,0,0,0,0;\
                 1,1,1,1,1,0,0,0;1,1,1,1,1,1,0,0;1,1,1,1,1,1,1,0;1,1,1,1,1,1,1,1",
            )],
            found: "A query with no key left gets a row of zeros here. A plain softmax over \
                    −∞ alone would be 0 / 0.",
        },
        Question {
            ask: "Block at least half of the pairs, 32, which together had less than 10 % of \
                  the map's weight.",
            is_answered: |settings, view| {
                let mask = settings.matrix("mask")?;
                let n_blocked = mask.iter().filter(|&&cell| cell == 0.0).count();
                let [of_all, _] = view.last()?;
                Ok(n_blocked >= mask.len() / 2 && of_all < 0.1)
            },
            answer: &[(
                "mask",
                "1,0,1,0,0,1,0,0;1,0,1,1,1,1,0,0;1,0,1,1,0,1,0,0;1,0,1,1,0,1,0,0;\
                 1,0,1,1,0,1,0,0;1,0,1,1,0,1,0,0;1,0,1,1,0,1,0,0;1,0,1,1,0,1,0,0",
            )],
            found: "Four columns have nearly everything: this head looks at the same few \
                   tokens, whatever the query.",
        },
    ],
    weights: Some(Weights::Layer),
    controls,
    draw,
    training: None,
};

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

fn controls() -> Vec<Control> {
    let n = TOKENS.len();
    let tokens = || TOKENS.map(str::to_owned).to_vec();
    let causal = |i, j| f64::from(Mask::Causal.added((i, j), (n, n)).is_some());
    let mask = Kind::Paint {
        rows: tokens(),
        columns: tokens(),
        first: Matrix::from_fn(n, n, causal),
    };
    let head = Kind::Count { range: [0, N_HEADS - 1], first: HEAD };
    vec![
        Control::new("mask", "May attend (queries down, keys across)", mask),
        Control::new("head", "Head", head),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let allowed = settings.matrix("mask")?.map(|cell| cell == 1.0);
    let number = settings.count("head")?;
    let trained = trained::layer()?;
    let x = &trained.sentence("bank_loan")?.input;
    let head = &trained.parameters.heads()[number];
    let free = attend(head, x, x, x, &Mask::None)?;
    let masked = attend(head, x, x, x, &Mask::Allowed(allowed.clone()))?;

    let title =
        format!("Head {number} of the trained layer, without a mask and with one");
    let maps = [free.attn, masked.attn];
    let it = MaskedHead { number, allowed: &allowed, maps: &maps };
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
    let all = maps.iter().flat_map(|map| map.iter()).chain(masked.out.iter());
    let numbers = all.copied().chain([of_all, n_empty as f64]).collect();
    Ok(LiveView { figure, words, numbers })
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

    const N: usize = TOKENS.len();

    /// The settings that let query i attend to key j where `may` says so.
    fn painted(may: impl Fn(usize, usize) -> bool) -> String {
        let row = |i| {
            (0..N).map(|j| u8::from(may(i, j)).to_string()).collect::<Vec<_>>().join(",")
        };
        (0..N).map(row).collect::<Vec<_>>().join(";")
    }

    #[test]
    fn the_controls_name_the_layers_own_tokens_and_heads() {
        let trained = trained::layer().unwrap();
        assert_eq!(trained.sentence("bank_loan").unwrap().tokens, TOKENS);
        assert_eq!(trained.parameters.heads().len(), N_HEADS);
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
            let shown = LIVE
                .at([("mask", &*painted(may)), ("head", &*number.to_string())])
                .unwrap();
            let head = &trained.parameters.heads()[number];
            let allowed = Mask::Allowed(Matrix::from_fn(N, N, may));
            let expected = attend_in_loops(head, x, x, x, &allowed).unwrap();
            let with = &shown.numbers[N * N..2 * N * N];
            for (found, expected) in with.iter().zip(expected.attn.iter()) {
                assert!((found - expected).abs() < 1e-12, "{found} and not {expected}");
            }
            assert_eq!(shown.numbers.last(), Some(&1.0));
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
            let shown = LIVE.at([("mask", &*painted(|_, _| may))]).unwrap();
            assert!(shown.numbers.iter().all(|it| it.is_finite()));
            shown.words
        };
        insta::assert_snapshot!(words(false), @"In head 7, “bank” attends most to “loan” (.565) without a mask. Under this one it may see no key. Blocked pairs: 64 of 64, which had 100 % of the map's weight without the mask. 8 queries may attend to nothing: their rows are zeros, and so is the head's output for them.");
        insta::assert_snapshot!(words(true), @"In head 7, “bank” attends most to “loan” (.565) without a mask. Under this one it may see 8 of 8 keys and attends most to “loan” (.565). Blocked pairs: 0 of 64, which had 0 % of the map's weight without the mask. Every query may attend to something.");
    }
}

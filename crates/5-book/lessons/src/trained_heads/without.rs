//! A head without one of its tokens, masked and dropped: live.

use anyhow::{Result, ensure};
use attention::{Mask, Matrix};
use figures::{Heads, head_maps};
use single_head::attend;

use super::sinks::{Without, without};
use crate::live::{LiveFigure, LiveView, Question, Weights, live};
use crate::numbers::share;
use crate::trained::{self, LAST, N_HEADS, SENTENCES};

/// Draws the map of a head as it is, without a token's column, and with that token masked.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("without-a-token", draw, QUESTIONS).drawn_from(Weights::Layer);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Find a token without which the output changes by more than 30 %, and by \
              nearly the same dropped or masked: within 2 points.",
        is_answered: |_, it| {
            it.dropped.min(it.masked) > 0.3 && (it.dropped - it.masked).abs() < 0.02
        },
        answer: |set| (set.sentence, set.token) = ("animal_tired", 2),
        found: "A word that says something: what it wrote is missing either way. Only \
                [CLS] has so much attention to hand on that masking does far more.",
    },
    Question {
        ask: "In which head, and in which sentence, does [CLS] have less than 0.15?",
        is_answered: |set, it| set.token == 0 && it.had < 0.15,
        answer: |set| (set.sentence, set.head) = ("animal_tired", 9),
        found: "In head 9, in the longest sentence. Elsewhere [CLS] has more, and in \
                some heads more than half.",
    },
    Question {
        ask: "Mask [CLS] in a head that then gives more than 0.6 to one word.",
        is_answered: |set, it| set.token == 0 && it.most > 0.6,
        answer: |set| set.head = 7,
        found: "A masked share goes to the other keys in proportion: the strongest gains \
                most.",
    },
];

live! {
    struct Set {
        sentence: &'static str = "Sentence", named(SENTENCES);
        head: usize = "Head", count([0, N_HEADS - 1], 11);
        token: usize = "Token", count([0, LAST], 0);
    }

    struct Facts {
        /// How far the output changes without the token, as a part of its length.
        dropped: f64, masked: f64,
        /// The mean share that the token had.
        had: f64,
        /// The largest mean share with the token masked.
        most: f64,
        /// The head as it is, with the token dropped, and with it masked: column by column.
        maps: [Vec<f64>; 3],
    }
}

fn draw(&Set { sentence, head, token: key }: &Set) -> Result<LiveView<Facts>> {
    let layer = trained::layer()?;
    let sentence = layer.sentence(sentence)?;
    let (x, tokens) = (&sentence.input, &sentence.tokens);
    ensure!(key < tokens.len(), {
        let known = tokens.iter().enumerate();
        let known: Vec<_> = known.map(|(at, token)| format!("{at} {token}")).collect();
        let n = tokens.len();
        format!("token {key} is not among the {n} of this sentence: {}", known.join(", "))
    });

    let pass = attend(&layer.parameters.heads()[head], x, x, x, &Mask::None)?;
    let others = Mask::Keys((0..tokens.len()).map(|token| token != key).collect());
    let masked = without(&pass, &others)?.attn;
    let mut dropped = pass.attn.clone();
    dropped.column_mut(key).fill(0.0);
    let changes = Without::new(&layer.parameters, x, key)?.changes();

    let maps = [pass.attn, dropped, masked];
    let token = &tokens[key];
    let title = format!(
        "Head {head} without “{token}”: dropped, its share is lost; masked, it goes to \
         the others"
    );
    let heads = Heads::of_tokens(&maps, tokens)?;
    let figure = head_maps(title, &heads.called(&["as it is", "dropped", "masked"])?);

    let means = maps.each_ref().map(means);
    let [had, _, gets] = &means;
    let most = (0..tokens.len()).fold(0, |a, b| if gets[b] > gets[a] { b } else { a });
    let [dropping, masking] = changes.map(|change| format!("{:.0} %", 100.0 * change));
    let words = format!(
        "Dropping “{token}” in all heads changes the layer's output by {dropping} of its \
         length, masking it by {masking}. In head {head} it had {} of the attention; \
         masked, “{}” (token {most}) gets most, {} in place of {}.",
        share(had[key]),
        tokens[most],
        share(gets[most]),
        share(had[most]),
    );
    let [dropped, masked] = changes;
    let maps = maps.map(|map| map.as_slice().to_vec());
    let facts = Facts { dropped, masked, had: had[key], most: gets[most], maps };
    Ok(LiveView { figure, words, facts })
}

/// The mean share of each key over all queries.
fn means(map: &Matrix) -> Vec<f64> {
    map.column_iter().map(|column| column.mean()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::tests::are_finite;

    fn at(sentence: &'static str, head: usize, token: usize) -> Result<LiveView<Facts>> {
        draw(&Set { sentence, head, token })
    }

    /// The reference's shares, without one of them: each other by 1 minus it.
    #[test]
    fn masking_divides_by_what_is_left() {
        let layer = trained::layer().unwrap();
        for (name, _) in SENTENCES {
            let sentence = layer.sentence(name).unwrap();
            let n = sentence.tokens.len();
            for (head, key) in [(0, 0), (11, 0), (11, 2), (4, n - 1)] {
                let shown = at(name, head, key).unwrap();
                assert!(are_finite(&shown.facts));
                let maps = shown.facts.maps.map(|it| Matrix::from_vec(n, n, it));
                let [_, dropped, masked] = maps;
                let attn = &sentence.attn[head];
                for (query, other) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let share = if other == key { 0.0 } else { attn[(query, other)] };
                    let left = share / (1.0 - attn[(query, key)]);
                    let at = (query, other);
                    assert!((dropped[at] - share).abs() < 1e-4, "{name}, {at:?}");
                    assert!((masked[at] - left).abs() < 1e-4, "{name}, {at:?}");
                }
            }
        }
    }

    /// The chapter's table has 11 % and 75 %.
    #[test]
    fn what_is_said_of_the_sink_and_of_a_word() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Dropping “[CLS]” in all heads changes the layer's output by 11 % of its length, masking it by 75 %. In head 11 it had .472 of the attention; masked, “bank” (token 2) gets most, .467 in place of .252.");
        insta::assert_snapshot!(at("animal_tired", 11, 2).unwrap().words, @"Dropping “animal” in all heads changes the layer's output by 65 % of its length, masking it by 66 %. In head 11 it had .418 of the attention; masked, “[CLS]” (token 0) gets most, .522 in place of .317.");
    }

    #[test]
    fn a_token_beyond_the_sentence_is_named_with_those_there_are() {
        insta::assert_snapshot!(at("river_banks", 0, 15).unwrap_err(), @"token 15 is not among the 9 of this sentence: 0 [CLS], 1 the, 2 river, 3 banks, 4 over, 5 ##flow, 6 ##ed, 7 ., 8 [SEP]");
    }
}

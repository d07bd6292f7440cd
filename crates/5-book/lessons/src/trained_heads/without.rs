//! A head without one of its tokens, masked and dropped: live.

use anyhow::{Result, ensure};
use attention::{Mask, Matrix};
use figures::{Heads, head_maps};
use single_head::attend;

use super::sinks::{Without, without};
use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Weights};
use crate::numbers::share;
use crate::trained::{self, N_HEADS};

/// Draws the map of a head as it is, without a token's column, and with that token masked.
pub const LIVE: Live = Live {
    name: "without-a-token",
    questions: &[
        Question {
            ask: "Find a token without which the output changes by more than 30 %, and by \
                  nearly the same dropped or masked: within 2 points.",
            is_answered: |_, view| {
                let [dropped, masked] = [view.number(0)?, view.number(1)?];
                Ok(dropped.min(masked) > 0.3 && (dropped - masked).abs() < 0.02)
            },
            answer: &[("sentence", "animal_tired"), ("token", "2")],
            found: "A word that says something: what it wrote is missing either way. Only \
                    [CLS] has so much attention to hand on that masking does far more.",
        },
        Question {
            ask: "In which head, and in which sentence, does [CLS] have less than 0.15?",
            is_answered: |settings, view| {
                let token = settings.count("token")?;
                Ok(token == 0 && view.number(SHARES)? < 0.15)
            },
            answer: &[("sentence", "animal_tired"), ("head", "9")],
            found: "In head 9, in the longest sentence. Elsewhere [CLS] has more, and in \
                    some heads more than half.",
        },
        Question {
            ask: "Mask [CLS] in a head that then gives more than 0.6 to one word.",
            is_answered: |settings, view| {
                let [most] = view.last()?;
                Ok(settings.count("token")? == 0 && most > 0.6)
            },
            answer: &[("head", "7")],
            found: "A masked share goes to the other keys in proportion: the strongest \
                   gains most.",
        },
    ],
    weights: Some(Weights::Layer),
    controls,
    draw,
    training: None,
};

/// Where the numbers hold the mean share of each key, after the two changes.
const SHARES: usize = 2;

/// The sentences, by the layer's names for them.
const SENTENCES: [(&str, &str); 4] = [
    ("bank_loan", "The bank approved the loan."),
    ("pilot", "The pilot flew the plane to Paris."),
    ("river_banks", "The river banks overflowed."),
    ("animal_tired", "The animal didn't cross the street because it was too tired."),
];
/// The last token of the longest.
const LAST: usize = 15;

fn controls() -> Vec<Control> {
    vec![
        Control::new("sentence", "Sentence", Kind::choice(SENTENCES)),
        Control::new("head", "Head", Kind::Count { range: [0, N_HEADS - 1], first: 11 }),
        Control::new("token", "Token", Kind::Count { range: [0, LAST], first: 0 }),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let layer = trained::layer()?;
    let sentence = layer.sentence(settings.choice("sentence")?)?;
    let (head, key) = (settings.count("head")?, settings.count("token")?);
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
    let maps = maps.iter().flat_map(|map| map.iter().copied());
    let numbers = changes.into_iter().chain(means.iter().flatten().copied());
    let numbers = numbers.chain(maps).chain([gets[most]]).collect();
    Ok(LiveView { figure, words, numbers })
}

/// The mean share of each key over all queries.
fn means(map: &Matrix) -> Vec<f64> {
    map.column_iter().map(|column| column.mean()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sentence: &str, head: usize, key: usize) -> Result<LiveView> {
        let [head, key] = [head, key].map(|it| it.to_string());
        LIVE.at([("sentence", sentence), ("head", &head), ("token", &key)])
    }

    #[test]
    fn the_controls_say_what_the_layer_does() {
        let layer = trained::layer().unwrap();
        assert_eq!(layer.sentences.len(), SENTENCES.len());
        for (name, text) in SENTENCES {
            assert_eq!(layer.sentence(name).unwrap().text, text);
        }
        let lengths = layer.sentences.iter().map(|it| it.tokens.len());
        assert_eq!(lengths.max(), Some(LAST + 1));
        assert_eq!(layer.parameters.heads().len(), 12);
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
                assert!(shown.numbers.iter().all(|it| it.is_finite()));
                let maps = &shown.numbers[2 + 3 * n..];
                let [_, dropped, masked] = [0, 1, 2].map(|nth| {
                    Matrix::from_column_slice(n, n, &maps[nth * n * n..][..n * n])
                });
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

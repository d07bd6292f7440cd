//! A head without one of its tokens, masked and dropped: live.

use anyhow::{Result, ensure};
use attention::{Mask, Matrix};
use figures::{
    Axis, Chart, Figure, Mark, NARROW, NEUTRAL, Panel, Place, Table, by_cell, escaped,
    palette, rounded, share_map,
};
use single_head::attend;

use super::sinks::{Without, without};
use crate::live::{LiveFigure, LiveView, Question, Settings, Weights, live};
use crate::numbers::share;
use crate::outlines::outlines;
use crate::trained::{self, LAST, N_HEADS, SENTENCES};

/// Draws the map of a head as it is, where a reader clicks a key, the same with that key
/// masked, and what each key gets before and after.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("without-a-token", draw, QUESTIONS).drawn_from(Weights::Layer);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Click a column: mask a word in place of [CLS]. Where does its attention go?",
        is_answered: |set, _| {
            set.token != 0 && *set == Set { token: set.token, ..Set::first() }
        },
        answer: |set| set.token = 2,
        found: "Softmax hands it to all other keys, in proportion to what they had: here \
                most of it to [CLS].",
    },
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
    let means = maps.each_ref().map(means);
    let [had, _, gets] = &means;
    let most = (0..tokens.len()).fold(0, |a, b| if gets[b] > gets[a] { b } else { a });
    let title = format!(
        "Head {head}: masked, “{token}” leaves its attention to the others, and “{}” gets \
         most",
        tokens[most]
    );
    let heads = layer.parameters.heads();
    let in_heads = heads.iter().map(|of| -> Result<f64> {
        Ok(attend(of, x, x, x, &Mask::None)?.attn.column(key).mean())
    });
    let in_heads = in_heads.collect::<Result<Vec<f64>>>()?;
    let figure = drawn(title, tokens, [head, key], &maps, &in_heads)?;
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

/// Two maps, and what each key gets in both; below, what the key gets in each head.
fn drawn(
    title: String,
    tokens: &[String],
    [head, key]: [usize; 2],
    maps: &[Matrix; 3],
    in_heads: &[f64],
) -> Result<Figure> {
    let n = tokens.len();
    let [before, _, after] = maps;
    let cells = |map: &Matrix| {
        let told = by_cell(map.shape(), |i, j| {
            let [of, to] = [i, j].map(|at| escaped(&tokens[at]));
            format!("{of} → {to}: {}", share(map[(i, j)]))
        });
        share_map::cells(map, told, 1)
    };
    let [had, gets] = [before, after].map(means);
    let places: Vec<usize> = (0..n).collect();
    let points = |of: &[f64], name: &str| {
        let told = tokens
            .iter()
            .zip(of)
            .map(|(token, &of)| format!("{}<br>{}", escaped(token), share(of)));
        let points = Mark::points(of.iter().map(|&x| rounded(x)), places.clone());
        points
            .named(name)
            .hover(told.collect::<Vec<_>>())
            .picks("token={nth}")
            .on(2)
            .unclipped()
    };
    let moved = (0..n).map(|at| {
        let line = Mark::lines([had[at], gets[at]].map(rounded), [at; 2]);
        line.line(NEUTRAL, 2.0).in_legend(false).silent().on(2)
    });
    let columns = ["before", "masked"].map(str::to_owned);
    let cell = |at: usize, nth: usize| share([&had, &gets][nth][at]);
    Ok(Chart::new(title)
        .by_width(|width| panels(width, tokens, key))
        .marks([
            cells(before).named("before").in_legend(false).picks("token={column}"),
            cells(after).named("masked").in_legend(false).on(1),
        ])
        .marks([outlines((0..n).map(|row| [row, key]), 1.5), crossed(n, key)])
        .marks(moved)
        .marks([
            points(&had, "before").marked("circle-open", 8).coloured(NEUTRAL),
            points(&gets, "masked").marked("circle", 9).coloured(palette::head(0)),
            by_head(in_heads, head),
        ])
        .tables([Table::grid("Each key's mean weight", "", tokens, &columns, cell)])
        .says(format!(
            "Two maps of a head, before and after “{}” is masked, and points of what each \
             key gets on average: the table has them.",
            tokens[key]
        ))
        .figure()?)
}

/// The masked key's cells, each crossed out.
fn crossed(n: usize, key: usize) -> Mark {
    let each = |ends: [f64; 2], at: usize| ends.map(|end| Some(at as f64 + end));
    let x = (0..n).flat_map(|_| each([-0.4, 0.4], key).into_iter().chain([None]));
    let y = (0..n).flat_map(|row| each([0.4, -0.4], row).into_iter().chain([None]));
    let lines = Mark::lines(x, y).with_gaps().line(NEUTRAL, 1.5);
    lines.in_legend(false).silent().on(1)
}

/// What the key gets in each head, of which a press chooses one.
fn by_head(in_heads: &[f64], head: usize) -> Mark {
    let colour = |at| if at == head { palette::head(0) } else { NEUTRAL };
    let numbers = in_heads.iter().enumerate();
    let numbers =
        numbers.map(|(at, &x)| if at == head { share(x) } else { String::new() });
    Mark::bars(in_heads.iter().map(|&x| rounded(x)))
        .coloured_each((0..N_HEADS).map(colour))
        .written(numbers, "outside")
        .sets((0..N_HEADS).map(|at| format!("head={at}")))
        .in_legend(false)
        .silent()
        .on(3)
}

fn panels(width: f64, tokens: &[String], key: usize) -> (Vec<Panel>, Place) {
    let is_narrow = width <= NARROW;
    let height = if is_narrow { 190.0 } else { 215.0 };
    let down = |is_labelled: bool| Axis::down(tokens, 12).labelled(is_labelled);
    let across = || Axis::across(tokens, 12).upright();
    let weights = Axis::numbers(1.0).numbered_at([0.0, 0.5, 1.0]);
    let heads: Vec<String> = (0..N_HEADS).map(|head| head.to_string()).collect();
    let of_key = format!("mean weight of “{}” in each head: click one", tokens[key]);
    let shares = Axis::numbers(1.0).numbered_at([0.0, 0.5, 1.0]);
    let by_head = Panel::new(of_key, Axis::across(&heads, 12), shares, 70.0);
    let left = 76.0;
    let panels = vec![
        Panel::new("before: click a key", across(), down(true), height),
        Panel::new("masked", across(), down(is_narrow), height),
        Panel::new("mean weight", weights, down(is_narrow), height),
        Panel { width: Some(width - left - 10.0), ..by_head },
    ];
    let n_columns = if is_narrow { 1 } else { 3 };
    let (below, left_once) = (66.0, true);
    (panels, Place { width, n_columns, left, left_once, below, above: 28.0 })
}

/// The mean attention weight of each key over all queries.
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

//! A link between two tokens in twelve heads, with its controls: live.

use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use attention::Matrix;
use model_files::Sentence;

use super::claims::{Link, all_pairs, best_head};
use super::measures::{MEASURES, Maps, measured, words};
use super::others::random_layer;
use super::verdicts::Verdict;
use crate::live::{LiveFigure, LiveView, Question, Settings, Weights, live};
use crate::numbers::{ends, reaching, share};
use crate::trained::{self, LAST, N_HEADS, SENTENCES, is_word};

/// Draws the strongest of twelve links between any two tokens, and beside it one of them,
/// which a reader clicks: in each head, with what the other queries give its key there.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("hunt", draw, QUESTIONS).drawn_from(Weights::Layer);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Click a cell, a query's row and a key's column, that looks like a link. Does \
              it pass the controls?",
        is_answered: |set, it| {
            let first = Set::first();
            [set.query, set.key] != [first.query, first.key] && it.share > 0.3
        },
        answer: |set| set.key = 7,
        found: "A dark cell alone says little: in a dark column every query attends to the \
                key. P, R and T ask whether a link is more than that.",
    },
    Question {
        ask: "Find a link of half of its row or more that control T explains away.",
        is_answered: |_, it| it.share >= 0.5 && !it.passes[2],
        answer: |set| (set.query, set.key) = (1, 0),
        found: "A large attention weight says little where every query gives the key as \
                much.",
    },
    Question {
        ask: "Find a link between two different words that passes all three controls.",
        is_answered: |_, it| it.are_words && it.passes == [true; 3],
        answer: |set| set.key = 2,
        found: "What passes is rare among pairs, in random layers, and in its own \
                column. What it is for, no control says.",
    },
    Question {
        ask: "On raw weights, bank → loan passes all three. Which measure takes that away?",
        is_answered: |set, it| {
            let is_link = (set.sentence, set.query, set.key) == ("bank_loan", 2, 5);
            is_link && set.measure != 0 && it.passes != [true; 3]
        },
        answer: |set| {
            (set.sentence, set.query, set.key) = ("bank_loan", 2, 5);
            set.measure = 1;
        },
        found: "Among words the others give “loan” nearly as much: of raw weights, they gave \
                [CLS] more.",
    },
];

/// How many random layers R has here: with twenty, at most one may reach the share.
const RANDOM_LAYERS: u64 = 20;

/// The sentences, that of the pilot first.
fn from_pilot() -> [(&'static str, &'static str); 4] {
    let [bank, pilot, banks, animal] = SENTENCES;
    [pilot, bank, banks, animal]
}

live! {
    struct Set {
        sentence: &'static str = "Sentence", named(from_pilot());
        query: usize = "Query", count([0, LAST], 3);
        key: usize = "Key", count([0, LAST], 5);
        measure: usize = "Measure", choice([
            ("raw", MEASURES[0], 0), ("words", MEASURES[1], 1), ("written", MEASURES[2], 2),
        ]);
    }

    struct Facts {
        /// The best head's share, and what the others give the key there.
        share: f64, others: f64,
        /// The part of all pairs, and of random layers, with as much.
        pairs: f64, random: f64,
        /// Whether the link passes P, R and T.
        passes: [bool; 3],
        /// Whether it is between two different words.
        are_words: bool,
        /// The share in each head, and the others' there.
        heads: Vec<[f64; 2]>,
    }
}

/// A link that a reader has chosen.
struct ChosenLink<'a> {
    sentence: &'a Sentence,
    /// Among the layer's sentences, and among [`MEASURES`].
    nth: usize,
    measure: usize,
    query: usize,
    key: usize,
}

impl<'a> ChosenLink<'a> {
    fn new(&Set { sentence, query, key, measure }: &Set) -> Result<Self> {
        let sentences: &'a [Sentence] = &trained::layer()?.sentences;
        let nth = sentences.iter().position(|it| it.name == sentence);
        let nth = nth.with_context(|| format!("the layer has no sentence {sentence}"))?;
        let chosen = Self { sentence: &sentences[nth], nth, measure, query, key };
        let tokens = &chosen.sentence.tokens;
        for at in [chosen.query, chosen.key] {
            ensure!(at < tokens.len(), {
                let known = tokens.iter().enumerate();
                let known: Vec<_> =
                    known.map(|(at, token)| format!("{at} {token}")).collect();
                let n = tokens.len();
                format!("token {at} is not among the {n}: {}", known.join(", "))
            });
        }
        Ok(chosen)
    }

    /// The link in one head.
    fn in_head(&self, head: usize) -> Result<Link> {
        let maps = &trained_maps()?[self.measure][self.nth];
        Ok(Link::new(&maps[head..=head], &[self.query], self.key))
    }

    /// The best head's link with the chapter's controls.
    fn verdict(&self) -> Result<Verdict> {
        let (nth, query, measure) = (self.nth, [self.query], self.measure);
        let trained = trained_maps()?;
        let link = Link::new(&trained[measure][nth], &query, self.key);
        let sentences = &trained::layer()?.sentences;
        let pairs = all_pairs(&trained[measure], sentences);
        let random = random_maps(self.sentence, nth)?;
        let random = random.iter();
        let random: Vec<f64> = random
            .map(|layer| best_head(&layer[measure][0], &query, self.key).1)
            .collect();
        let [_, random_median, _] = ends(random.iter().copied());
        Ok(Verdict {
            pairs: reaching(&pairs, link.share),
            random: reaching(&random, link.share),
            random_median,
            link,
        })
    }

    fn are_words(&self) -> bool {
        let tokens = &self.sentence.tokens;
        let are_words = [self.query, self.key].iter().all(|&at| is_word(&tokens[at]));
        are_words && self.query != self.key
    }

    /// What is measured in each head.
    fn what(&self) -> &'static str {
        match self.measure {
            1 => "attention weight among words, by head",
            2 => "part of what is written, by head",
            _ => "attention weight, by head",
        }
    }

    /// The largest of twelve for every query and key.
    fn largest(&self) -> Result<Matrix> {
        let maps = &trained_maps()?[self.measure][self.nth];
        let n = self.sentence.tokens.len();
        Ok(maps.iter().fold(Matrix::zeros(n, n), |most, map| most.sup(map)))
    }

    /// What each key gets in an even row.
    fn even(&self) -> f64 {
        let tokens = &self.sentence.tokens;
        match self.measure {
            1 => words(tokens)[self.key] / words(tokens).iter().sum::<f64>(),
            _ => 1.0 / tokens.len() as f64,
        }
    }
}

/// The trained layer's maps of all sentences under each measure: computed once.
fn trained_maps() -> Result<&'static [Maps; 3]> {
    static MAPS: OnceLock<[Maps; 3]> = OnceLock::new();
    if MAPS.get().is_none() {
        let layer = trained::layer()?;
        let maps = measured(&layer.parameters, &layer.sentences)?;
        MAPS.get_or_init(|| maps);
    }
    MAPS.get().context("the maps were computed")
}

/// The maps of random layers of the `nth` sentence: computed once, when it is chosen.
fn random_maps(sentence: &Sentence, nth: usize) -> Result<&'static [[Maps; 3]]> {
    static MAPS: [OnceLock<Vec<[Maps; 3]>>; SENTENCES.len()] =
        [const { OnceLock::new() }; SENTENCES.len()];
    let kept = MAPS.get(nth).context("there are four sentences")?;
    if kept.get().is_none() {
        let layers = (0..RANDOM_LAYERS).map(random_layer);
        let one = std::slice::from_ref(sentence);
        let maps = layers.map(|layer| measured(&layer?, one));
        let maps = maps.collect::<Result<Vec<_>>>()?;
        kept.get_or_init(|| maps);
    }
    Ok(kept.get().context("the maps were computed")?)
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let chosen = ChosenLink::new(set)?;
    let verdict = chosen.verdict()?;
    let links = (0..N_HEADS).map(|head| chosen.in_head(head));
    let links = links.collect::<Result<Vec<Link>>>()?;
    let tokens = &chosen.sentence.tokens;
    let [query, key] = [chosen.query, chosen.key].map(|at| tokens[at].as_str());
    let Link { head, share: given, others } = verdict.link;
    let title = match given {
        0.0 => format!("“{query}” gives “{key}” nothing, as do the others"),
        _ => format!(
            "“{query}” gives “{key}” most in head {head}, {}; the others give it {} there",
            share(given),
            share(others)
        ),
    };
    let figure = chosen.figure(title, &links, &verdict)?;
    let n_out = links.iter().filter(|link| link.stands_out()).count();
    let words = verdict_words(&chosen, &verdict, n_out);
    let facts = Facts {
        share: given,
        others,
        pairs: verdict.pairs,
        random: verdict.random,
        passes: verdict.controls(),
        are_words: chosen.are_words(),
        heads: links.iter().map(|link| [link.share, link.others]).collect(),
    };
    Ok(LiveView { figure, words, facts })
}

fn verdict_words(chosen: &ChosenLink, verdict: &Verdict, n_out: usize) -> String {
    let tokens = &chosen.sentence.tokens;
    let Link { head, share: given, .. } = verdict.link;
    let n_random = (verdict.random * RANDOM_LAYERS as f64).round();
    let names = ["P", "R", "T"].into_iter().zip(verdict.controls());
    let names: Vec<&str> =
        names.filter(|(_, passes)| *passes).map(|(name, _)| name).collect();
    let passes = match names.as_slice() {
        [] => "passes no control".to_owned(),
        [name] => format!("passes {name} alone"),
        [one, other] => format!("passes {one} and {other}"),
        _ => "passes all three controls".to_owned(),
    };
    let [of, to] =
        [chosen.query, chosen.key].map(|at| format!("“{}” (token {at})", tokens[at]));
    if given == 0.0 {
        return format!(
            "{of} gives {to} nothing {}, and nor does any other token.",
            MEASURES[chosen.measure]
        );
    }
    format!(
        "{of} → {to} {passes}: {} {} in head {head}. P: {:.0} % of all pairs of words have \
         as much (at most 5). R: {n_random} of {RANDOM_LAYERS} random layers (at most 1). T: \
         {} (at least 2). Heads in which it has twice the others' odds: {n_out} of {N_HEADS}.",
        share(given),
        MEASURES[chosen.measure],
        100.0 * verdict.pairs,
        times(verdict.link.odds()),
    )
}

/// Of an odds ratio.
fn times(odds: f64) -> String {
    if odds.is_finite() {
        format!("{odds:.1} times the odds of the other tokens")
    } else {
        "the other tokens have no odds to compare".to_owned()
    }
}

mod drawn;
#[cfg(test)]
mod tests;

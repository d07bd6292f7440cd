//! The links that the sources claim, what the best head gives each, and what it gives
//! where nothing is claimed.

use anyhow::{Context, Result};
use attention::{LayerParameters, Matrix};
use pretrained::{Sentence, TrainedLayer};

use crate::numbers::{mean, median, reaching};
use crate::trained::{at, is_word, maps};

/// A link that a source claims.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// The number of the source.
    pub source: &'static str,
    /// The name of the sentence.
    pub sentence: &'static str,
    /// The pieces of the word that looks.
    pub queries: &'static [&'static str],
    /// The word that it looks at.
    pub key: &'static str,
}

const fn claim(
    source: &'static str,
    sentence: &'static str,
    queries: &'static [&'static str],
    key: &'static str,
) -> Claim {
    Claim { source, sentence, queries, key }
}

/// All claims, in the order of the sources.
pub const CLAIMS: [Claim; 9] = [
    claim("000", "pilot", &["flew"], "pilot"),
    claim("000", "pilot", &["flew"], "plane"),
    claim("000", "pilot", &["flew"], "paris"),
    claim("000", "river_banks", &["over", "##flow", "##ed"], "banks"),
    claim("000", "river_banks", &["banks"], "river"),
    claim("001", "bank_loan", &["bank"], "loan"),
    claim("002", "animal_tired", &["it"], "animal"),
    claim("002", "animal_tired", &["tired"], "cross"),
    claim("002", "animal_tired", &["the"], "animal"),
];

/// What a layer does with the four sentences: for each its maps, head 0 first.
pub type Maps = Vec<Vec<Matrix>>;

/// The maps of a layer on all sentences.
///
/// # Errors
/// If the tokens have another width than the layer.
pub fn maps_of_all(layer: &LayerParameters, sentences: &[Sentence]) -> Result<Maps> {
    sentences.iter().map(|sentence| maps(layer, &sentence.input)).collect()
}

/// The head that gives `key` the most from these queries (pieces of one word count by
/// their mean), and what it gives.
///
/// # Panics
/// If there are no maps.
// ANCHOR: best_head
pub fn best_head(maps: &[Matrix], queries: &[usize], key: usize) -> (usize, f64) {
    let given = |map: &Matrix| mean(queries.iter().map(|&query| map[(query, key)]));
    let of_heads = maps.iter().map(given).enumerate();
    of_heads.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap()
}
// ANCHOR_END: best_head

/// The best head's share for every ordered pair of two different word pieces.
// ANCHOR: all_pairs
pub fn all_pairs(of_sentences: &Maps, sentences: &[Sentence]) -> Vec<f64> {
    let mut best = Vec::new();
    for (maps, Sentence { tokens, .. }) in of_sentences.iter().zip(sentences) {
        let is_word = |&at: &usize| is_word(&tokens[at]);
        let words: Vec<usize> = (0..tokens.len()).filter(is_word).collect();
        for &query in &words {
            for &key in words.iter().filter(|&&key| key != query) {
                best.push(best_head(maps, &[query], key).1);
            }
        }
    }
    best
}
// ANCHOR_END: all_pairs

/// A claimed link as the best head has it.
#[derive(Debug, Clone)]
pub struct Link {
    /// `overflowed → banks`.
    pub name: String,
    /// The head that gives it the most.
    pub head: usize,
    /// What it gives.
    pub share: f64,
    /// The mean share that the other tokens give the key, in the same head.
    pub others: f64,
    /// The same without what the key gives itself, as chapter 4 has it.
    pub others_but_key: f64,
    rows: Vec<usize>,
    column: usize,
}

impl Claim {
    /// The claim in the maps of its sentence.
    ///
    /// # Errors
    /// If the sentence is another and lacks a word.
    pub fn link(&self, sentence: &Sentence, maps: &[Matrix]) -> Result<Link> {
        let rows = self.queries.iter().map(|query| at(sentence, query));
        let rows = rows.collect::<Result<Vec<usize>>>()?;
        let column = at(sentence, self.key)?;
        let (head, share) = best_head(maps, &rows, column);
        let others = (0..sentence.tokens.len()).filter(|row| !rows.contains(row));
        let given = |row: usize| maps[head][(row, column)];
        Ok(Link {
            name: format!("{} → {}", self.queries.join(" ").replace(" ##", ""), self.key),
            head,
            share,
            others: mean(others.clone().map(given)),
            others_but_key: mean(others.filter(|&row| row != column).map(given)),
            rows,
            column,
        })
    }
}

/// The claimed links in the trained layer, each with its claim.
///
/// # Errors
/// None; the layer and the sentences are parts of the program.
pub fn links() -> Result<Vec<(Claim, Link)>> {
    let layer = pretrained::minilm()?;
    let one = |claim: Claim| -> Result<(Claim, Link)> {
        let sentence = layer.sentence(claim.sentence)?;
        let maps = maps(&layer.parameters, &sentence.input)?;
        Ok((claim, claim.link(sentence, &maps)?))
    };
    CLAIMS.into_iter().map(one).collect()
}

/// A claim, measured, with its three controls.
pub struct Measured {
    /// The number of the source.
    pub source: &'static str,
    /// The link in the trained layer; what the other tokens give is the third control.
    pub link: Link,
    /// The part of all word pairs whose best head gives as much.
    pub pairs: f64,
    /// The part of random layers whose best head gives as much on this very link.
    pub random: f64,
    /// The median over random layers of what the best head gives on this link.
    pub random_median: f64,
}

impl Measured {
    /// Every claim, compared with the maps of random layers.
    ///
    /// # Errors
    /// None; the layer and the sentences are parts of the program.
    pub fn all(random: &[Maps]) -> Result<Vec<Self>> {
        let TrainedLayer { parameters, sentences } = pretrained::minilm()?;
        let pairs = all_pairs(&maps_of_all(&parameters, &sentences)?, &sentences);
        let one = |(claim, link): (Claim, Link)| -> Result<Self> {
            let nth = sentences.iter().position(|s| s.name == claim.sentence);
            let nth = nth.context("the claim's sentence")?;
            let best = |maps: &Maps| best_head(&maps[nth], &link.rows, link.column).1;
            let in_random: Vec<f64> = random.iter().map(best).collect();
            Ok(Self {
                source: claim.source,
                pairs: reaching(&pairs, link.share),
                random: reaching(&in_random, link.share),
                random_median: median(in_random),
                link,
            })
        };
        links()?.into_iter().map(one).collect()
    }

    /// How many of three it is: rare among word pairs, rare among random layers, and twice
    /// what others give.
    pub fn passed(&self) -> usize {
        let twice = self.link.share >= 2.0 * self.link.others;
        let passed = [self.pairs <= 0.05, self.random <= 0.05, twice];
        passed.into_iter().filter(|&it| it).count()
    }
}

//! The links that the sources claim, and the links between all pairs of words.

use ablation::odds::odds_ratio;
use anyhow::Result;
use attention::Matrix;
use model_files::Sentence;

use super::measures::Maps;
use crate::numbers::mean;
use crate::trained::{at, is_word};

/// A link that a source claims.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// The number of the source.
    pub source: &'static str,
    /// The name of the sentence.
    pub sentence: &'static str,
    /// The pieces of the word that attends.
    pub queries: &'static [&'static str],
    /// The word that it attends to.
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

impl Claim {
    /// `overflowed → banks`.
    pub fn name(&self) -> String {
        format!("{} → {}", self.queries.join(" ").replace(" ##", ""), self.key)
    }

    /// The rows of the query's pieces and the column of the key.
    ///
    /// # Errors
    /// If the sentence is another and lacks a word.
    pub fn place(&self, sentence: &Sentence) -> Result<(Vec<usize>, usize)> {
        let rows = self.queries.iter().map(|query| at(sentence, query));
        Ok((rows.collect::<Result<_>>()?, at(sentence, self.key)?))
    }
}

/// The head that gives `key` the most from these queries (pieces of one word count by
/// their mean), and what it gives.
///
/// # Panics
/// If there are no maps.
pub fn best_head(maps: &[Matrix], queries: &[usize], key: usize) -> (usize, f64) {
    let given = |map: &Matrix| mean(queries.iter().map(|&query| map[(query, key)]));
    let of_heads = maps.iter().map(given).enumerate();
    of_heads.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap()
}

/// How many times the others' odds those of a link must be. At first we asked for twice the
/// others' *share*: where they give more than half, no link can have that.
pub const TIMES_OTHERS: f64 = 2.0;

/// What a link gets from its best head, and what the other tokens give the same key.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The head that gives it the most.
    pub head: usize,
    /// What it gives.
    pub share: f64,
    /// The mean of all rows but the query's and the key's own, in the same head: what a token
    /// gives itself says nothing of how others see it.
    pub others: f64,
}

impl Link {
    /// The link from these rows, pieces of one word, to this column.
    ///
    /// # Panics
    /// If there are no maps.
    pub fn new(maps: &[Matrix], queries: &[usize], key: usize) -> Self {
        let (head, share) = best_head(maps, queries, key);
        let others =
            (0..maps[head].nrows()).filter(|row| !queries.contains(row) && *row != key);
        let others = mean(others.map(|row| maps[head][(row, key)]));
        Self { head, share, others }
    }

    /// How many times the odds of what the others give are those of what the query gives.
    pub fn odds(&self) -> f64 {
        odds_ratio(self.share, self.others)
    }

    /// Whether those odds are at least [`TIMES_OTHERS`].
    pub fn stands_out(&self) -> bool {
        self.odds() >= TIMES_OTHERS
    }
}

/// The link of every ordered pair of two different word pieces.
pub fn links(of_sentences: &Maps, sentences: &[Sentence]) -> Vec<Link> {
    let mut links = Vec::new();
    for (maps, Sentence { tokens, .. }) in of_sentences.iter().zip(sentences) {
        let is_word = |&at: &usize| is_word(&tokens[at]);
        let words: Vec<usize> = (0..tokens.len()).filter(is_word).collect();
        for &query in &words {
            let keys = words.iter().filter(|&&key| key != query);
            links.extend(keys.map(|&key| Link::new(maps, &[query], key)));
        }
    }
    links
}

/// The best head's share for every ordered pair of two different word pieces.
pub fn all_pairs(of_sentences: &Maps, sentences: &[Sentence]) -> Vec<f64> {
    links(of_sentences, sentences).iter().map(|link| link.share).collect()
}

//! What a model is compared with: letters that are counted, and nothing learned.

use std::collections::HashMap;

use crate::scalars::{N_LETTERS, ids};

/// So much is added to every count, so that what was never seen has a chance too. Fixed before
/// any model was trained.
pub const ADDED: f64 = 0.1;

/// Each letter of some names with those before it, of which there are fewer at the beginning.
fn each(
    names: &[Vec<usize>],
    n_before: usize,
) -> impl Iterator<Item = (&[usize], usize)> {
    names.iter().flat_map(move |name| {
        (1..name.len()).map(move |i| (&name[i.saturating_sub(n_before)..i], name[i]))
    })
}

/// How often each letter came after some others.
fn counts(names: &[Vec<usize>], n_before: usize) -> HashMap<&[usize], [f64; N_LETTERS]> {
    let mut after = HashMap::new();
    for (before, id) in each(names, n_before) {
        after.entry(before).or_insert([0.0; N_LETTERS])[id] += 1.0;
    }
    after
}

/// Names to learn from, and every tenth to be tested with.
#[derive(Debug, Clone)]
pub struct Split {
    /// What a model learns from, as numbers.
    pub learned: Vec<Vec<usize>>,
    /// What it never sees.
    pub test: Vec<Vec<usize>>,
}

impl Split {
    /// Every tenth name is one to be tested with.
    pub fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut split = Self { learned: Vec::new(), test: Vec::new() };
        for (nth, name) in names.enumerate() {
            let part = if nth % 10 == 9 { &mut split.test } else { &mut split.learned };
            part.push(ids(name));
        }
        split
    }

    /// The loss of counts after `n_before` letters (0: of single letters, 1: of pairs): the mean,
    /// over letters and ends of the test, of -ln of the chance that they give to what came.
    pub fn counted_loss(&self, n_before: usize) -> f64 {
        let after = counts(&self.learned, n_before);
        self.loss(n_before, |before, id| {
            let none = [0.0; N_LETTERS];
            let counts = after.get(before).unwrap_or(&none);
            let all = counts.iter().sum::<f64>() + ADDED * N_LETTERS as f64;
            (counts[id] + ADDED) / all
        })
    }

    /// The same, blended with counts after fewer letters: the more different letters have
    /// followed, the more these count (Witten and Bell 1991).
    pub fn blended_loss(&self, n_before: usize) -> f64 {
        let all: Vec<_> = (0..=n_before).map(|n| counts(&self.learned, n)).collect();
        self.loss(n_before, |before, id| {
            all.iter().enumerate().fold(1.0 / N_LETTERS as f64, |fewer, (n, after)| {
                let before = &before[before.len().saturating_sub(n)..];
                after.get(before).map_or(fewer, |counts| {
                    let kinds =
                        counts.iter().filter(|&&count| count > 0.0).count() as f64;
                    (counts[id] + kinds * fewer) / (counts.iter().sum::<f64>() + kinds)
                })
            })
        })
    }

    fn loss(&self, n_before: usize, chance: impl Fn(&[usize], usize) -> f64) -> f64 {
        let losses =
            each(&self.test, n_before).map(|(before, id)| -chance(before, id).ln());
        let losses: Vec<f64> = losses.collect();
        losses.iter().sum::<f64>() / losses.len() as f64
    }

    /// Of names that a model has written: how many it has learned from, how many were kept from
    /// it, and how many are new.
    pub fn count(&self, written: &[String]) -> [usize; 3] {
        let written: Vec<_> = written.iter().map(|name| ids(name)).collect();
        let count = |part: &[Vec<usize>]| {
            written.iter().filter(|name| part.contains(name)).count()
        };
        // No name is in both parts.
        let [learned, test] = [count(&self.learned), count(&self.test)];
        [learned, test, written.len() - learned - test]
    }
}

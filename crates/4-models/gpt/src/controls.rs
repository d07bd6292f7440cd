//! What a model is compared with: letters that are counted, and nothing learned.

use std::collections::HashMap;

use crate::scalars::{N_LETTERS, ids};

/// So much is added to every count, so that what was never seen has a chance too. Fixed before
/// any model was trained.
pub const ADDED: f64 = 0.1;

/// How often each letter came after so many others, and fewer at the beginning of a name.
#[derive(Debug, Clone)]
pub struct Counts {
    n_before: usize,
    after: HashMap<Vec<usize>, Vec<f64>>,
}

impl Counts {
    /// Counts letters after so many others: 0 for how often letters are, 1 for pairs.
    pub fn of(names: &[Vec<usize>], n_before: usize) -> Self {
        let mut after = HashMap::new();
        for (before, id) in each(names, n_before) {
            after.entry(before).or_insert_with(|| vec![0.0; N_LETTERS])[id] += 1.0;
        }
        Self { n_before, after }
    }

    /// The mean, over letters and ends, of -ln of the chance that the counts give to what came.
    pub fn loss(&self, names: &[Vec<usize>]) -> f64 {
        mean_loss(names, self.n_before, |before, id| {
            let [count, all] = self
                .after
                .get(before)
                .map_or([0.0; 2], |counts| [counts[id], counts.iter().sum()]);
            (count + ADDED) / (all + ADDED * N_LETTERS as f64)
        })
    }
}

/// The loss of counts after `n_before` letters, blended with those after fewer: the more
/// different letters have followed, the more the fewer count (Witten and Bell 1991).
pub fn blended_loss(split: &Split, n_before: usize) -> f64 {
    let all: Vec<_> = (0..=n_before).map(|n| Counts::of(&split.learned, n)).collect();
    mean_loss(&split.test, n_before, |before, id| {
        all.iter().fold(1.0 / N_LETTERS as f64, |shorter, Counts { n_before, after }| {
            let before = &before[before.len().saturating_sub(*n_before)..];
            after.get(before).map_or(shorter, |counts| {
                let kinds = counts.iter().filter(|&&count| count > 0.0).count() as f64;
                (counts[id] + kinds * shorter) / (counts.iter().sum::<f64>() + kinds)
            })
        })
    })
}

fn mean_loss(
    names: &[Vec<usize>],
    n_before: usize,
    chance: impl Fn(&[usize], usize) -> f64,
) -> f64 {
    let losses = each(names, n_before).map(|(before, id)| -chance(&before, id).ln());
    let losses: Vec<f64> = losses.collect();
    losses.iter().sum::<f64>() / losses.len() as f64
}

/// Each letter of some names with those before it, of which there are fewer at the beginning.
fn each(
    names: &[Vec<usize>],
    n_before: usize,
) -> impl Iterator<Item = (Vec<usize>, usize)> + '_ {
    names.iter().flat_map(move |name| {
        let one = move |i: usize| (name[i.saturating_sub(n_before)..i].to_vec(), name[i]);
        (1..name.len()).map(one)
    })
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

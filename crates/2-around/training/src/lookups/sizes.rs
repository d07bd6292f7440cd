//! How one head tells three roles apart: by the sizes of its shares.

use std::collections::BTreeMap;

use attention::{Matrix, Result};

use super::Lookups;
use super::exchange::{
    PAIRS, agreement, classes_of, each, exchanged_shares, named, places,
};
use crate::one_layer::{Examples, Model, mean, spread};

/// What the sizes of a single head's shares carry.
///
/// One head has one row of shares for three words. In the code that adds identity and role,
/// their average with equal shares says **who** is there and not in which role: a third of
/// the answers right. The way out that training finds is a signature: the head gives each
/// identity a share of its own size, in any role. The role vectors are averaged with the
/// same shares, so what comes out also says how large the agent's share was, and the
/// readout names the identity that is there and whose size fits, as
/// `−(w − c)² = 2 w c − c² − w²` is linear in what comes out but for a term that all
/// identities share. It works as far as sizes can be told apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// The mean share that the verb gives to agent, object and place, in that order.
    pub mean: Vec<f64>,
    /// How far the shares stray from it: their standard deviation.
    pub std_dev: Vec<f64>,
    /// How much of the variance of the logarithm of these shares the word's identity
    /// explains. By chance it would be 63 of all shares counted.
    pub by_identity: f64,
    /// How much of it the word's role explains.
    pub by_role: f64,
    /// The share of right answers as it is, over all three targets.
    pub as_is: f64,
    /// The same where the three shares of each sentence are replaced by their mean: all
    /// that the sizes say is gone.
    pub equal: f64,
    /// Where the shares of two of the three words are exchanged, the share of the
    /// answers for those two that name the other one's word: the share decides,
    /// not the word.
    pub exchanged: f64,
    /// Of the wrong answers, the share that names one of the other two words: the head
    /// knows who is there, and not in which role.
    pub other_role: f64,
}

impl Sizes {
    /// Measures a model with one head, or what all heads of a layer do together.
    ///
    /// # Errors
    /// [`attention::Error`] if the examples do not fit the model.
    ///
    /// # Shapes
    /// The examples are those of [`Lookups`](crate::lookups::Lookups): three planted keys each.
    pub fn of(model: &Model, examples: &Examples) -> Result<Self> {
        let said = model.say(examples)?;
        let right = classes_of(&examples.answers);
        let named = |rows: &[Matrix]| named(model, examples, rows);
        let places = places(examples);
        let rows = &said.rows;
        let of_role = |places: &Vec<usize>| {
            let shares = places.iter().enumerate().map(|(s, &t)| rows[0][(s, t)]);
            spread(&shares.collect::<Vec<_>>())
        };
        let (mean, std_dev) = places.iter().map(of_role).unzip();

        let logs = log_shares(&rows[0], &places, right);
        let by_identity = told_by(logs.iter().map(|&(log, who, _)| (log, who)));
        let by_role = told_by(logs.iter().map(|&(log, _, role)| (log, role)));

        let as_is = named(rows)?;
        let equal = named(&each(rows, |row, s| {
            let three: f64 = places.iter().map(|place| row[place[s]]).sum();
            places.iter().for_each(|place| row[place[s]] = three / places.len() as f64);
        }))?;
        let mut exchanged = 0.0;
        for (a, b) in PAIRS {
            let named = named(&exchanged_shares(rows, &places[a], &places[b]))?;
            let follow =
                agreement(&named[a], &right[b]) + agreement(&named[b], &right[a]);
            exchanged += follow / 2.0 / PAIRS.len() as f64;
        }
        Ok(Self {
            mean,
            std_dev,
            by_identity,
            by_role,
            as_is: mean_agreement(&as_is, right),
            equal: mean_agreement(&equal, right),
            exchanged,
            other_role: other_role(&as_is, right),
        })
    }
}

/// The mean of the logarithm of a single head's share, identity by identity and role by
/// role, `[n_identities, 3]`; NaN for an identity that never has the role.
///
/// # Errors
/// [`attention::Error`] if the examples do not fit the model.
pub fn log_share_by_identity(model: &Model, examples: &Examples) -> Result<Matrix> {
    let (places, right) = (places(examples), classes_of(&examples.answers));
    let mut sums = Matrix::zeros(Lookups::N_IDENTITIES, places.len());
    let mut counts = sums.clone();
    for (log, who, role) in log_shares(&model.say(examples)?.rows[0], &places, right) {
        sums[(who, role)] += log;
        counts[(who, role)] += 1.0;
    }
    Ok(sums.component_div(&counts))
}

/// Of each word that is asked for: the logarithm of its share, who it is, its role.
fn log_shares(
    rows: &Matrix,
    places: &[Vec<usize>],
    right: &[Vec<usize>],
) -> Vec<(f64, usize, usize)> {
    let log = |r: usize, s: usize| rows[(s, places[r][s])].max(1e-30).ln();
    let of_role = |r: usize| (0..places[r].len()).map(move |s| (r, s));
    let words = (0..places.len()).flat_map(of_role);
    words.map(|(r, s)| (log(r, s), right[r][s], r)).collect()
}

/// The share of the variance of numbers that lies between groups, and not within them.
fn told_by(numbers: impl Iterator<Item = (f64, usize)> + Clone) -> f64 {
    let all: Vec<f64> = numbers.clone().map(|(x, _)| x).collect();
    let mean_of_all = mean(&all);
    let square = |x: f64| (x - mean_of_all) * (x - mean_of_all);
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    numbers.clone().for_each(|(x, group)| groups.entry(group).or_default().push(x));
    let between: f64 = numbers.map(|(_, group)| square(mean(&groups[&group]))).sum();
    between / all.into_iter().map(square).sum::<f64>()
}

fn mean_agreement(named: &[Vec<usize>], right: &[Vec<usize>]) -> f64 {
    let each = named.iter().zip(right).map(|(named, right)| agreement(named, right));
    each.sum::<f64>() / right.len() as f64
}

fn other_role(named: &[Vec<usize>], right: &[Vec<usize>]) -> f64 {
    let (mut wrong, mut of_them) = (0, 0);
    for (r, named) in named.iter().enumerate() {
        for (s, &who) in named.iter().enumerate().filter(|&(s, who)| *who != right[r][s])
        {
            wrong += 1;
            of_them += usize::from(right.iter().any(|right| right[s] == who));
        }
    }
    f64::from(of_them as u32) / f64::from((wrong as u32).max(1))
}

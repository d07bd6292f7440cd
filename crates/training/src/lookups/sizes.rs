//! How one head tells three roles apart: by the sizes of its weights.

use std::collections::BTreeMap;

use attention::Matrix;

use crate::task::named_classes;
use crate::{Answers, Examples, Model, Result};

/// What the sizes of a single head's weights carry.
///
/// One head has one row of weights for three words. Their average loses the order, and
/// who and role are added and not bound, so with equal weights it would say **who** is
/// there and not in which role: a third of the answers right. The way out that training
/// finds is a signature: the head gives each identity a weight of its own size, in
/// whatever role. The role vectors are averaged with the same weights, so what comes out
/// also says how large the agent's weight was, and the readout names the identity that is
/// there and whose size fits, as `−(w − c)² = 2 w c − c² − w²` is linear in what comes
/// out but for a term that all identities share. It works as far as sizes can be told
/// apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// The mean weight that the verb gives to agent, object and place, in that order.
    pub mean: Vec<f64>,
    /// How far the weights stray from it: their standard deviation.
    pub std_dev: Vec<f64>,
    /// How much of the variance of the logarithm of these weights is told by who the word
    /// is. By chance it would be 63 of all weights counted.
    pub by_identity: f64,
    /// How much of it is told by the word's role.
    pub by_role: f64,
    /// The share of right answers as it is, over all three targets.
    pub as_is: f64,
    /// The same where the three weights of each sentence are replaced by their mean: all
    /// that the sizes say is gone.
    pub equal: f64,
    /// Where the weights of two of the three words are exchanged, the share of the
    /// answers for those two that name the other one's word: who has the weight gets the
    /// role.
    pub exchanged: f64,
    /// Of the wrong answers, the share that names one of the other two words: the head
    /// knows who is there, and not in which role.
    pub other_role: f64,
}

impl Sizes {
    /// Measures a model with one head, or what all heads of a layer do together.
    ///
    /// # Errors
    /// As [`Model::say_attending`].
    ///
    /// # Shapes
    /// The examples are those of [`Lookups`](crate::Lookups): three planted keys each.
    pub fn of(model: &Model, examples: &Examples) -> Result<Self> {
        let said = model.say(examples)?;
        let right = classes_of(&examples.answers);
        let named = |rows: &[Matrix]| -> Result<Vec<Vec<usize>>> {
            let answers = model.say_attending(examples, rows)?;
            Ok(named_classes(&answers, answers.ncols() / right.len()))
        };
        let places = places(examples);
        let rows = &said.rows;
        let (mean, std_dev) =
            (0..places.len()).map(|r| spread(&rows[0], &places[r])).unzip();

        let weight = |r: usize, s: usize| (rows[0][(s, places[r][s])]).max(1e-30).ln();
        let weights: Vec<(f64, usize, usize)> = (0..places.len())
            .flat_map(|r| (0..places[r].len()).map(move |s| (r, s)))
            .map(|(r, s)| (weight(r, s), right[r][s], r))
            .collect();
        let by_identity = told_by(weights.iter().map(|&(w, who, _)| (w, who)));
        let by_role = told_by(weights.iter().map(|&(w, _, role)| (w, role)));

        let as_is = named(rows)?;
        let equal = named(&each(rows, |row, s| {
            let three: f64 = places.iter().map(|place| row[place[s]]).sum();
            places.iter().for_each(|place| row[place[s]] = three / places.len() as f64);
        }))?;
        let mut exchanged = 0.0;
        let pairs = [(0, 1), (0, 2), (1, 2)];
        for (a, b) in pairs {
            let swap = |row: &mut [f64], s: usize| row.swap(places[a][s], places[b][s]);
            let named = named(&each(rows, swap))?;
            let follow =
                agreement(&named[a], &right[b]) + agreement(&named[b], &right[a]);
            exchanged += follow / 2.0 / pairs.len() as f64;
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

fn classes_of(answers: &Answers) -> &[Vec<usize>] {
    match answers {
        Answers::Classes { of_targets, .. } => of_targets,
        Answers::Numbers(_) => &[],
    }
}

/// `places[r][s]` is where the word of role r stands in sentence s.
fn places(examples: &Examples) -> Vec<Vec<usize>> {
    let of_target = |planted: &Matrix| {
        planted.row_iter().map(|row| row.transpose().argmax().0).collect()
    };
    examples.planted.iter().map(of_target).collect()
}

/// The rows of all heads, each sentence's changed in place.
fn each(rows: &[Matrix], change: impl Fn(&mut [f64], usize)) -> Vec<Matrix> {
    let changed = |rows: &Matrix| {
        let mut by_sentence = rows.transpose(); // a sentence a column, and so in one piece
        for (s, mut column) in by_sentence.column_iter_mut().enumerate() {
            change(column.as_mut_slice(), s);
        }
        by_sentence.transpose()
    };
    rows.iter().map(changed).collect()
}

/// The share of the variance of numbers that lies between groups, and not within them.
fn told_by(numbers: impl Iterator<Item = (f64, usize)> + Clone) -> f64 {
    let mean_of = |numbers: &mut dyn Iterator<Item = f64>| {
        let (sum, n) = numbers.fold((0.0, 0.0), |(sum, n), x| (sum + x, n + 1.0));
        sum / n
    };
    let mean = mean_of(&mut numbers.clone().map(|(x, _)| x));
    let group_means: BTreeMap<usize, f64> = numbers
        .clone()
        .map(|(_, group)| {
            let own = &mut numbers.clone().filter(|(_, of)| *of == group).map(|(x, _)| x);
            (group, mean_of(own))
        })
        .collect();
    let square = |x: f64| (x - mean) * (x - mean);
    let between: f64 =
        numbers.clone().map(|(_, group)| square(group_means[&group])).sum();
    between / numbers.map(|(x, _)| square(x)).sum::<f64>()
}

/// Mean and standard deviation of the weights at these places.
fn spread(rows: &Matrix, places: &[usize]) -> (f64, f64) {
    let n = places.len() as f64;
    let weights = || places.iter().enumerate().map(|(s, &t)| rows[(s, t)]);
    let mean = weights().sum::<f64>() / n;
    let variance = weights().map(|w| (w - mean) * (w - mean)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

fn agreement(a: &[usize], b: &[usize]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
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

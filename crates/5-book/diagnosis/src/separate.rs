//! An input that tells apart what a record cannot.

use attention::{Linear, Matrix, Rng, SeedableRng, random_matrix};

use crate::compare::{difference, spread};
use crate::recipe::Recipe;
use crate::{Intent, Masks, Mistake, Mistakes, Record, Run, State};

/// A record without tensors, of which the given explanations make different outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Separation {
    /// Parameters, inputs and masks.
    pub record: Record,
    /// What it has that the first record had not.
    pub changes: Vec<&'static str>,
    /// How far apart the two nearest outputs are, over their spread.
    pub distance: f64,
}

/// Two outputs are told apart by this share of their spread.
const SHOWS: f64 = 1e-2;

/// What is another in the record, each on top of those before it.
const CHANGES: [&str; 4] = [
    "other numbers in the input, of 2 sequences of 7 tokens",
    "keys and values from other tokens than queries",
    "padding of different lengths, and a mask of queries and keys",
    "other parameters: random ones, with biases that are not 0",
];

/// An input on which every two of these explanations, the layer that was meant among them,
/// differ: the one that changes least of the record. Nothing where none does: some mistakes
/// are one computation.
pub fn separate(
    record: &Record,
    intent: &Intent,
    explanations: &[Mistakes],
) -> Option<Separation> {
    let right = std::iter::once(Recipe::RIGHT);
    let wrong = explanations.iter().map(|mistakes| Recipe::with(mistakes));
    let recipes: Vec<Recipe> = right.chain(wrong).collect();
    let mut all = (0..CHANGES.len()).map(|change| {
        let record = changed(record, change);
        let distance = nearest_two(&record, intent, &recipes);
        Separation { record, changes: vec![CHANGES[change]], distance }
    });
    all.find(|it| it.distance > SHOWS)
}

/// An input on which most of these mistakes give another output than the layer that was
/// meant, and which do: some do on no input, as a bias of k that is left out. Nothing where
/// none does.
pub fn showing(
    record: &Record,
    intent: &Intent,
    mistakes: &[&'static Mistake],
) -> Option<(Separation, Mistakes)> {
    let of = |change: usize| {
        let record = changed(record, change);
        let apart = |it: &&'static Mistake| {
            let recipes = [Recipe::RIGHT, it.applied(Recipe::RIGHT)];
            let distance = nearest_two(&record, intent, &recipes);
            (SHOWS..f64::INFINITY).contains(&distance).then_some((*it, distance))
        };
        let (shown, far): (Vec<_>, Vec<f64>) = mistakes.iter().filter_map(apart).unzip();
        let distance = far.into_iter().fold(f64::INFINITY, f64::min);
        (Separation { record, changes: vec![CHANGES[change]], distance }, shown)
    };
    // Of those that show as many, the one that changes least.
    let all = (0..CHANGES.len()).rev().map(of);
    all.max_by_key(|(_, shown)| shown.len()).filter(|(_, shown)| !shown.is_empty())
}

/// How far apart the two nearest outputs are, over their spread.
fn nearest_two(record: &Record, intent: &Intent, recipes: &[Recipe]) -> f64 {
    let run = Run::new(record, intent);
    let output = |recipe| run.step(State::Output, recipe);
    let outputs: Vec<_> = recipes.iter().filter_map(output).collect();
    let mut nearest = f64::INFINITY;
    for (i, a) in outputs.iter().enumerate() {
        for b in &outputs[i + 1..] {
            let apart = difference(a, b).map_or(f64::INFINITY, |it| it.rms);
            nearest = nearest.min(apart / spread(a).max(f64::MIN_POSITIVE));
        }
    }
    nearest
}

/// The record with this change and those before it.
fn changed(record: &Record, change: usize) -> Record {
    let rng = &mut Rng::seed_from_u64(38);
    let [is_cross, is_masked, has_parameters] = [1, 2, 3].map(|it| change >= it);
    let mut changed = record.clone();
    changed.tensors.clear();
    if has_parameters {
        let weights = &mut changed.weights;
        for linear in weights.projections.iter_mut().chain(&mut weights.output) {
            let (d_in, d_out) = linear.weight.shape();
            *linear = Linear::random(d_in, d_out, linear.bias.is_some(), rng);
            linear.bias.iter_mut().flatten().for_each(|b| *b *= 5.0);
        }
        changed.weights.packed = None;
    }
    let is_self = record.inputs[0] == record.inputs[1] && !is_cross;
    let is_one = record.inputs[1] == record.inputs[2];
    let n = 7;
    let mut inputs = |role: usize| -> Vec<Matrix> {
        let width = record.inputs[role][0].ncols();
        (0..2).map(|_| random_matrix(n, width, 1.0, rng)).collect()
    };
    let query = inputs(0);
    let key = if is_self { query.clone() } else { inputs(1) };
    let value = if is_one { key.clone() } else { inputs(2) };
    changed.inputs = [query, key, value];
    changed.masks = Masks::default();
    if is_masked {
        let open = |length: usize| (0..n).map(|t| t < length).collect();
        changed.masks.padding = Some(vec![open(n), open(n - 3)]);
        let window = |i: usize, j: usize| j <= i + 2 && j + 4 > i;
        changed.masks.pairs = Some(vec![Matrix::from_fn(n, n, window)]);
    }
    changed
}

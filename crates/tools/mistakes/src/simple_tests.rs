//! Which simple tests see a mistake: tests that people write of a layer, each run on it.

use attention::Matrix;
use diagnosis::{Intent, Mistake, Record, State, computed};

use crate::example::{Example, Has};

/// A test, and what it says of a layer with a mistake: whether it fails, where it can be asked.
pub struct SimpleTest {
    pub name: &'static str,
    pub fails: fn(&Example, &Mistake) -> Option<bool>,
}

/// From the simplest on.
pub const TESTS: [SimpleTest; 6] = [
    SimpleTest { name: "the output has the right shape", fails: shape },
    SimpleTest { name: "every row of attention weights sums to 1", fails: row_sums },
    SimpleTest { name: "no query attends to a later key (causal)", fails: later_keys },
    SimpleTest {
        name: "keys and values in another order give the same output",
        fails: key_order,
    },
    SimpleTest { name: "a sequence gives alone what it gives in a batch", fails: alone },
    SimpleTest { name: "the output equals a right layer’s", fails: values },
];

fn shape(example: &Example, mistake: &Mistake) -> Option<bool> {
    let shapes = |mistakes: &[&Mistake]| {
        let output = computed(&example.record, &example.intent, State::Output, mistakes)?;
        Some(output.iter().map(Matrix::shape).collect::<Vec<_>>())
    };
    Some(shapes(&[mistake])? != shapes(&[])?)
}

fn row_sums(example: &Example, mistake: &Mistake) -> Option<bool> {
    let maps = computed(&example.record, &example.intent, State::Attn, &[mistake])?;
    let is_off = |sum: f64| (sum - 1.0).abs() > 1e-6 || sum.is_nan();
    Some(maps.iter().any(|map| map.row_iter().any(|row| is_off(row.sum()))))
}

fn later_keys(example: &Example, mistake: &Mistake) -> Option<bool> {
    let (record, intent) = with(example, mistake, |has| Has { causal: true, ..has })?;
    let maps = computed(&record, &intent, State::Attn, &[mistake])?;
    let is_later = |map: &Matrix| {
        (0..map.nrows()).any(|i| (i + 1..map.ncols()).any(|j| map[(i, j)].abs() > 1e-9))
    };
    Some(maps.iter().any(is_later))
}

fn key_order(example: &Example, mistake: &Mistake) -> Option<bool> {
    let no_order =
        |has| Has { causal: false, pairs: false, added: false, padding: false, ..has };
    let (record, intent) = with(example, mistake, no_order)?;
    let has_places = intent.rotary.is_some() || intent.slopes.is_some();
    if has_places || intent.window.is_some() {
        return None;
    }
    let mut other = record.clone();
    for sequence in other.inputs[1..].iter_mut().flatten() {
        let n = sequence.nrows();
        sequence.swap_rows(0, n - 1);
    }
    differ(&record, &other, &intent, mistake, |output| output.to_vec())
}

fn alone(example: &Example, mistake: &Mistake) -> Option<bool> {
    let (record, intent) = with(example, mistake, |has| Has { several: true, ..has })?;
    let mut other = record.clone();
    other.inputs.iter_mut().for_each(|sequences| sequences.truncate(1));
    if let Some(padding) = &mut other.masks.padding {
        padding.truncate(1);
    }
    let is_possible = mistake.is_possible(&other, &intent);
    if !is_possible {
        // It takes a batch: alone the layer is right.
        let right = computed(&other, &intent, State::Output, &[])?;
        let wrong = computed(&record, &intent, State::Output, &[mistake])?;
        return Some(apart(&right[..1], &wrong[..1]));
    }
    differ(&record, &other, &intent, mistake, |output| output[..1].to_vec())
}

fn values(example: &Example, mistake: &Mistake) -> Option<bool> {
    let right = computed(&example.record, &example.intent, State::Output, &[])?;
    let wrong = computed(&example.record, &example.intent, State::Output, &[mistake])?;
    Some(apart(&right, &wrong))
}

/// The example's layer with something more or less, if the mistake is possible there.
fn with(
    example: &Example,
    mistake: &Mistake,
    change: fn(Has) -> Has,
) -> Option<(Record, Intent)> {
    let (record, intent) = change(example.has).layer(1);
    mistake.is_possible(&record, &intent).then_some((record, intent))
}

fn differ(
    a: &Record,
    b: &Record,
    intent: &Intent,
    mistake: &Mistake,
    part: fn(&[Matrix]) -> Vec<Matrix>,
) -> Option<bool> {
    let [a, b] = [a, b].map(|record| computed(record, intent, State::Output, &[mistake]));
    Some(apart(&part(&a?), &part(&b?)))
}

fn apart(a: &[Matrix], b: &[Matrix]) -> bool {
    let off = |(a, b): (&Matrix, &Matrix)| {
        a.shape() != b.shape() || (a - b).iter().any(|x| x.abs() > 1e-6 || x.is_nan())
    };
    a.len() != b.len() || a.iter().zip(b).any(off)
}

//! A GPT from nothing, in one file: numbers that remember how they were computed, a model
//! made of them, and its training.
//!
//! ```text
//! names ─▶ Letters ─▶ logits ─▶ loss ─▶ gradients ─▶ Adam ─▶ the next step
//!                        └────▶ chances ─▶ a letter, and again ─▶ a new name
//! ```
//!
//! The model is GPT-2 in miniature: one block of four heads, 16 numbers per letter, learned
//! positions, LayerNorm before each sub-layer, GELU, biases, and one table for reading and
//! writing letters. The other files add only speed, with the same losses.

use std::cell::RefCell;
use std::iter::Sum;
use std::ops::{Add, Mul};

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

pub(crate) const D_MODEL: usize = 16; // numbers per letter
pub(crate) const N_HEADS: usize = 4;
pub(crate) const D_K: usize = D_MODEL / N_HEADS; // of a head's query, key and value
pub(crate) const D_FF: usize = 4 * D_MODEL; // numbers within the feed-forward layer
pub(crate) const N_POSITIONS: usize = 16; // names to learn from have at most 15 letters
pub(crate) const N_LETTERS: usize = 27; // 1 to 26, and 0 before and after a name
pub(crate) const BATCH: usize = 8; // names per step

// ---- numbers that remember

/// For each number, in the order of computation: the places of the two numbers that it was
/// computed from, and its slope with respect to each. Where there is none, (0, 0.0).
#[derive(Default)]
pub struct Tape(RefCell<Vec<[(usize, f64); 2]>>);

/// A number, and its place on the tape.
#[derive(Clone, Copy)]
pub struct Scalar<'t> {
    value: f64,
    place: usize,
    tape: &'t Tape,
}

impl Tape {
    fn record(&self, value: f64, from: [(usize, f64); 2]) -> Scalar<'_> {
        let mut tape = self.0.borrow_mut();
        tape.push(from);
        Scalar { value, place: tape.len() - 1, tape: self }
    }
}

impl<'t> Scalar<'t> {
    /// How fast this number changes with each number before it, by the chain rule, from last
    /// to first. A number that was used twice gets the sum of both contributions.
    fn gradients(self) -> Vec<f64> {
        let tape = self.tape.0.borrow();
        let mut gradients = vec![0.0; tape.len()];
        gradients[self.place] = 1.0;
        for (place, from) in tape.iter().enumerate().rev() {
            for (operand, slope) in from {
                gradients[*operand] += gradients[place] * slope;
            }
        }
        gradients
    }

    /// Records the value of a function of this number alone, and its slope there.
    fn unary(self, value: f64, slope: f64) -> Self {
        self.tape.record(value, [(self.place, slope), (0, 0.0)])
    }

    fn times(self, factor: f64) -> Self {
        self.unary(self.value * factor, factor)
    }

    fn plus(self, term: f64) -> Self {
        self.unary(self.value + term, 1.0)
    }

    fn power(self, n: f64) -> Self {
        self.unary(self.value.powf(n), n * self.value.powf(n - 1.0))
    }
}

impl Add for Scalar<'_> {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        self.tape.record(self.value + b.value, [(self.place, 1.0), (b.place, 1.0)])
    }
}

impl Mul for Scalar<'_> {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        let from = [(self.place, b.value), (b.place, self.value)];
        self.tape.record(self.value * b.value, from)
    }
}

impl Sum for Scalar<'_> {
    fn sum<I: Iterator<Item = Self>>(mut terms: I) -> Self {
        let first = terms.next().expect("there is something to add");
        terms.fold(first, Add::add)
    }
}

fn add<'t>(a: &[Scalar<'t>], b: &[Scalar<'t>]) -> Vec<Scalar<'t>> {
    a.iter().zip(b).map(|(&a, &b)| a + b).collect()
}

fn dot<'t>(a: &[Scalar<'t>], b: &[Scalar<'t>]) -> Scalar<'t> {
    a.iter().zip(b).map(|(&a, &b)| a * b).sum()
}

// ---- the model

/// The next n parameters. Each part takes its own and leaves the rest.
fn take<'a, 't>(left: &mut &'a [Scalar<'t>], n: usize) -> &'a [Scalar<'t>] {
    left.split_off(..n).expect("parameters for each part")
}

/// `x · W + b`. W has a row for each number in x, and a column for each in the result.
fn linear<'t>(
    x: &[Scalar<'t>],
    d_out: usize,
    left: &mut &[Scalar<'t>],
) -> Vec<Scalar<'t>> {
    let (w, b) = (take(left, x.len() * d_out), take(left, d_out));
    let products =
        |j: usize| x.iter().zip(w.chunks(d_out)).map(move |(&x, row)| x * row[j]);
    (0..d_out).map(|j| products(j).sum::<Scalar<'t>>() + b[j]).collect()
}

/// LayerNorm: mean 0 and variance 1, then a gain and a bias for each number.
fn norm<'t>(x: &[Scalar<'t>], left: &mut &[Scalar<'t>]) -> Vec<Scalar<'t>> {
    let (gain, bias) = (take(left, x.len()), take(left, x.len()));
    let per_number = 1.0 / x.len() as f64;
    let mean = x.iter().copied().sum::<Scalar<'t>>().times(per_number);
    let centred: Vec<_> = x.iter().map(|&x| x + mean.times(-1.0)).collect();
    let variance = dot(&centred, &centred).times(per_number);
    let scale = variance.plus(1e-5).power(-0.5);
    (0..x.len()).map(|j| centred[j] * scale * gain[j] + bias[j]).collect()
}

/// Probabilities that add up to 1. Subtracting the largest score from each changes none of
/// them and keeps every exponential from overflowing.
fn softmax<'t>(scores: &[Scalar<'t>]) -> Vec<Scalar<'t>> {
    let largest =
        scores.iter().map(|score| score.value).fold(f64::NEG_INFINITY, f64::max);
    let exp = |score: &Scalar<'t>| {
        let power = (score.value - largest).exp();
        score.unary(power, power)
    };
    let powers: Vec<_> = scores.iter().map(exp).collect();
    let scale = powers.iter().copied().sum::<Scalar<'t>>().power(-1.0);
    powers.into_iter().map(|power| power * scale).collect()
}

/// GELU as in GPT-2: x times a smooth step from 0 to 1.
fn gelu(x: Scalar<'_>) -> Scalar<'_> {
    let inner =
        (x + (x * x * x).times(0.044715)).times((2.0 / std::f64::consts::PI).sqrt());
    let tanh = inner.value.tanh();
    (x * inner.unary(tanh, 1.0 - tanh * tanh).plus(1.0)).times(0.5)
}

/// Head i: a weighted mean of the values so far. A value weighs more if its key fits the query.
fn head<'t>(
    i: usize,
    q: &[Scalar<'t>],
    keys: &[Vec<Scalar<'t>>],
    values: &[Vec<Scalar<'t>>],
) -> Vec<Scalar<'t>> {
    let own = i * D_K..(i + 1) * D_K;
    let per_width = 1.0 / (D_K as f64).sqrt();
    let scores =
        keys.iter().map(|k| dot(&q[own.clone()], &k[own.clone()]).times(per_width));
    let attn = softmax(&scores.collect::<Vec<_>>());
    own.map(|j| attn.iter().zip(values).map(|(&attn, v)| attn * v[j]).sum()).collect()
}
// ANCHOR: logits
/// For each letter, a logit for every letter that may follow it. No mask is needed: a letter
/// attends to itself and to those before it, since later ones have not been read yet.
fn logits<'t>(parameters: &[Scalar<'t>], ids: &[usize]) -> Vec<Vec<Scalar<'t>>> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let one_letter = |(position, &id): (usize, &usize)| {
        let left = &mut &parameters[..]; // the same for each letter
        let letters = take(left, N_LETTERS * D_MODEL);
        let positions = take(left, N_POSITIONS * D_MODEL);
        let letter = &letters[id * D_MODEL..][..D_MODEL];
        let x = add(letter, &positions[position * D_MODEL..][..D_MODEL]);

        let normed = norm(&x, left);
        let [q, k, v] = [(); 3].map(|()| linear(&normed, D_MODEL, left));
        keys.push(k);
        values.push(v);
        let heads: Vec<_> =
            (0..N_HEADS).flat_map(|i| head(i, &q, &keys, &values)).collect();
        let x = add(&x, &linear(&heads, D_MODEL, left));

        let hidden = linear(&norm(&x, left), D_FF, left).into_iter().map(gelu);
        let x = add(&x, &linear(&hidden.collect::<Vec<_>>(), D_MODEL, left));

        let x = norm(&x, left);
        letters.chunks(D_MODEL).map(|letter| dot(&x, letter)).collect()
    };
    ids.iter().enumerate().map(one_letter).collect()
}

// ---- training, and new names (ANCHOR_END: logits)

/// Parameters before any training, in the order in which `logits` takes them. Each part has
/// random ones, so that no two learn the same, gains of 1, and biases of 0.
pub fn parameters(rng: &mut impl Rng) -> Vec<f64> {
    const D: usize = D_MODEL;
    let (embeddings, norm) = ([(N_LETTERS + N_POSITIONS) * D, 0, 0], [0, D, D]);
    let linear = |d_in, d_out| [d_in * d_out, 0, d_out];
    let attention =
        [embeddings, norm, linear(D, D), linear(D, D), linear(D, D), linear(D, D)];
    let feed_forward = [norm, linear(D, D_FF), linear(D_FF, D), norm];
    let mut parameters = Vec::new();
    for [n_random, n_gains, n_biases] in attention.into_iter().chain(feed_forward) {
        parameters.extend((0..n_random).map(|_| rng.random_range(-0.14..0.14)));
        parameters.extend([vec![1.0; n_gains], vec![0.0; n_biases]].concat());
    }
    parameters
}

/// A name as numbers, between two ends; anything but the letters a to z is left out.
pub fn ids(name: &str) -> Vec<usize> {
    let letters = name.bytes().filter(u8::is_ascii_lowercase);
    let ids = letters.map(|letter| usize::from(letter - b'a') + 1);
    [0].into_iter().chain(ids).chain([0]).collect()
}

/// The loss of some names, and the gradient of each parameter. The loss is the mean, over all
/// letters and ends, of -ln of the probability that the model gave to what came.
pub fn gradients(parameters: &[f64], names: &[Vec<usize>]) -> (f64, Vec<f64>) {
    let tape = Tape::default();
    let scalars = record(&tape, parameters);
    let mut losses = Vec::new();
    for name in names {
        let logits = logits(&scalars, &name[..name.len() - 1]);
        let chances =
            logits.iter().zip(&name[1..]).map(|(logits, &id)| softmax(logits)[id]);
        losses.extend(chances.map(|it| it.unary(-it.value.ln(), -1.0 / it.value)));
    }
    let per_letter = 1.0 / losses.len() as f64;
    let loss = losses.into_iter().sum::<Scalar<'_>>().times(per_letter);
    (loss.value, loss.gradients()[..parameters.len()].to_vec())
}

/// Starts a tape with the parameters.
fn record<'t>(tape: &'t Tape, parameters: &[f64]) -> Vec<Scalar<'t>> {
    parameters.iter().map(|&value| tape.record(value, [(0, 0.0); 2])).collect()
}

/// Takes steps of Adam, each on names drawn at random; returns the loss before each.
pub fn train(
    parameters: &mut [f64],
    names: &[Vec<usize>],
    n_steps: i32,
    rng: &mut impl Rng,
) -> Vec<f64> {
    let mut moments = vec![[0.0; 2]; parameters.len()]; // means of gradients, and squares
    let step = |t| {
        let drawn = (0..BATCH).filter_map(|_| names.choose(rng).cloned());
        let (loss, d) = gradients(parameters, &drawn.collect::<Vec<_>>());
        for ((parameter, d), [m, v]) in parameters.iter_mut().zip(d).zip(&mut moments) {
            *m = 0.9 * *m + 0.1 * d;
            *v = 0.999 * *v + 0.001 * d * d;
            let (m, v) = (*m / (1.0 - 0.9_f64.powi(t)), *v / (1.0 - 0.999_f64.powi(t)));
            *parameter -= 0.01 * m / (v.sqrt() + 1e-8);
        }
        loss
    };
    (1..=n_steps).map(step).collect()
}

/// A new name, each letter drawn with the probability that the model gives it. A temperature
/// below 1 makes likely letters likelier.
pub fn write(parameters: &[f64], temperature: f64, rng: &mut impl Rng) -> String {
    let mut ids = vec![0];
    while ids.len() <= N_POSITIONS {
        let tape = Tape::default();
        let logits = logits(&record(&tape, parameters), &ids);
        let last = logits[ids.len() - 1].iter().map(|it| it.times(1.0 / temperature));
        let mut left: f64 = rng.random_range(0.0..1.0);
        let next = softmax(&last.collect::<Vec<_>>()).iter().position(|chance| {
            left -= chance.value;
            left < 0.0
        });
        match next {
            None | Some(0) => break, // the end, or a chance that rounding left over
            Some(id) => ids.push(id),
        }
    }
    ids[1..].iter().map(|&id| char::from(b'a' + id as u8 - 1)).collect()
}

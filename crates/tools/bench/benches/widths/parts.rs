//! Where the time of a softmax goes: its exponentials, and its passes over the map.
//!
//! The readable softmax goes over a map three times: for the maxima, for the exponentials
//! and their sums, and for the division. [`passes`] is a copy of those loops that takes any
//! function for the exponential. With the exponential it gives the same bits as
//! [`softmax_rows`] and must take as long; with a multiplication in its place it shows what
//! the passes take alone. [`passes_over_slices`] is the same once more with columns as plain
//! slices, which the compiler can make into vector instructions; nalgebra's iterators, which
//! also walk over views, go entry by entry.

use std::hint::black_box;
use std::mem::replace;
use std::time::Instant;

use anyhow::{Result, ensure};
use attention::{Matrix, softmax_rows};

use super::milliseconds;

/// Milliseconds of each part on one map: a list of all maps of all rounds.
#[derive(Default)]
pub struct Parts {
    softmax: Vec<f64>,
    copied: Vec<f64>,
    exponentials: Vec<f64>,
    passes: Vec<f64>,
    over_slices: Vec<f64>,
    passes_over_slices: Vec<f64>,
}

/// Above the numbers of [`Parts::an_entry`].
pub const HEADINGS: [&str; 6] =
    ["softmax", "its copy", "exponentials", "passes", "over slices", "its passes"];

impl Parts {
    /// Fails unless both copies give what the softmax gives.
    pub fn check(scores: &Matrix<f32>) -> Result<()> {
        let expected = softmax_rows(scores.clone());
        let [mut copied, mut sliced] = [scores.clone(), scores.clone()];
        passes(&mut copied, f32::exp);
        passes_over_slices(&mut sliced, f32::exp);
        ensure!(copied == expected && sliced == expected, "not the softmax's passes");
        Ok(())
    }

    /// Every part once, in turn.
    pub fn run(&mut self, maps: &[Matrix<f32>]) {
        let cheap = |x: f32| 0.5 * x + 1.0;
        let mut column = vec![0f32; maps[0].nrows()];
        for map in maps {
            self.softmax.push(timed(map, |map| {
                *map = softmax_rows(replace(map, Matrix::zeros(0, 0)))
            }));
            self.copied.push(timed(map, |map| passes(map, f32::exp)));
            self.passes.push(timed(map, |map| passes(map, cheap)));
            self.over_slices.push(timed(map, |map| passes_over_slices(map, f32::exp)));
            let without = |map: &mut _| passes_over_slices(map, cheap);
            self.passes_over_slices.push(timed(map, without));
            self.exponentials.push(timed(map, |map| exponentials(map, &mut column)));
        }
    }

    /// The best of each part, in nanoseconds an entry of a map.
    pub fn an_entry(&self, n_entries: usize) -> [f64; 6] {
        let Self {
            softmax,
            copied,
            exponentials,
            passes,
            over_slices,
            passes_over_slices,
        } = self;
        [softmax, copied, exponentials, passes, over_slices, passes_over_slices]
            .map(|ms| best(ms) * 1e6 / n_entries as f64)
    }
}

/// The least of them: what else runs on the machine only adds.
fn best(ms: &[f64]) -> f64 {
    ms.iter().copied().fold(f64::INFINITY, f64::min)
}

fn timed(map: &Matrix<f32>, run: impl FnOnce(&mut Matrix<f32>)) -> f64 {
    let mut map = map.clone();
    let start = Instant::now();
    run(&mut map);
    black_box(&map);
    milliseconds(start)
}

/// The passes of [`softmax_rows`], with any function for its exponential.
#[inline(always)]
fn passes(scores: &mut Matrix<f32>, function: impl Fn(f32) -> f32) {
    let n_q = scores.nrows();
    let mut maxima = vec![f32::NEG_INFINITY; n_q];
    for column in scores.column_iter() {
        for (maximum, &score) in maxima.iter_mut().zip(&column) {
            *maximum = if score > *maximum { score } else { *maximum };
        }
    }
    let mut sums = vec![0.0; n_q];
    for mut column in scores.column_iter_mut() {
        for ((score, &maximum), sum) in column.iter_mut().zip(&maxima).zip(&mut sums) {
            *score = function(*score - maximum);
            *sum += *score;
        }
    }
    for mut column in scores.column_iter_mut() {
        for (share, &sum) in column.iter_mut().zip(&sums) {
            *share /= sum;
        }
    }
}

/// The same over the columns as slices.
#[inline(always)]
fn passes_over_slices(scores: &mut Matrix<f32>, function: impl Fn(f32) -> f32) {
    let n_q = scores.nrows();
    let mut maxima = vec![f32::NEG_INFINITY; n_q];
    for column in scores.as_slice().chunks_exact(n_q) {
        for (maximum, &score) in maxima.iter_mut().zip(column) {
            *maximum = if score > *maximum { score } else { *maximum };
        }
    }
    let mut sums = vec![0.0; n_q];
    for column in scores.as_mut_slice().chunks_exact_mut(n_q) {
        for ((score, &maximum), sum) in column.iter_mut().zip(&maxima).zip(&mut sums) {
            *score = function(*score - maximum);
            *sum += *score;
        }
    }
    for column in scores.as_mut_slice().chunks_exact_mut(n_q) {
        for (share, &sum) in column.iter_mut().zip(&sums) {
            *share /= sum;
        }
    }
}

/// The exponential of every entry, each column over the one before, which stays in the cache.
fn exponentials(scores: &Matrix<f32>, to: &mut [f32]) {
    for column in scores.as_slice().chunks_exact(to.len()) {
        for (to, x) in to.iter_mut().zip(column) {
            *to = x.exp();
        }
        black_box(&to);
    }
}

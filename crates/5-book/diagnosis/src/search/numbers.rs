//! A number of the layer that is another than was meant, fitted; and whether a difference
//! that rounding may have made is in the direction of one.

use attention::Matrix;

use super::{CLEARLY, Search, Segment, Trial};
use crate::compare::difference;
use crate::level::{Level, RoundingError};
use crate::number::Number;
use crate::recipe::Recipe;
use crate::run::Tensor;
use crate::{Run, State};

/// The first look at a range has steps of this power of e.
const STEP: f64 = 0.2;

/// Where a number is looked at for its slope: what it is times e to this power.
const NEAR: f64 = 1e-5;

/// Rounding alone moves a number by less than this, over what it does here.
const STRAYS: f64 = 8.0;

/// A number that nothing else moves by as much is not rounded away from what was meant.
const CERTAINLY: f64 = 16.0;

/// By chance a number brings a tensor as much nearer as one of so many powers of 2.
const FEWEST_BITS: f64 = 20.0;

/// How far a tensor is from what was meant along one number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stray {
    pub number: Number,
    /// Over what rounding does.
    times: f64,
}

impl<'a> Search<'a> {
    /// Each number of the layer, fitted to a tensor that depends on it; the nearest first.
    pub(super) fn numbers(&self, segment: &Segment) -> Vec<Trial> {
        let Some(right) = &segment.right else { return Vec::new() };
        let all = Number::all(self.intent, self.full.right_scale()).into_iter();
        let mut fits: Vec<Trial> =
            all.filter_map(|number| self.fit(number, segment.state, right)).collect();
        fits.sort_by(|a, b| a.difference.rms.total_cmp(&b.difference.rms));
        fits
    }

    fn fit(&self, number: Number, state: State, right: &Trial) -> Option<Trial> {
        let part = self.part_for(&Recipe::RIGHT);
        let given = part.given(state, &Recipe::RIGHT)?;
        let of = |power: f64| self.with(part, number.times(power), state, right);
        let slope = slope(&of(NEAR)?, &of(0.0)?)?;
        if squares(&slope) == 0.0 {
            return None;
        }
        let far = |power: f64| {
            let apart = of(power).and_then(|it| difference(&given, &it));
            apart.map_or(f64::INFINITY, |it| it.rms)
        };
        let mut power = nearest(&far, number.kind.range());
        let mut best = far(power);
        for _ in 0..8 {
            let (here, near) = (of(power)?, of(power + NEAR)?);
            let slope = self::slope(&near, &here)?;
            let next = power + along(&slope, &given, &here);
            let rms = far(next);
            // What is not a number is no step.
            if rms.partial_cmp(&best) != Some(std::cmp::Ordering::Less) {
                break;
            }
            (power, best) = (next, rms);
        }
        let slope = self::slope(&of(power + NEAR)?, &of(power)?)?;
        let uncertainty = 3.0 * best / squares(&slope).sqrt();
        let number = Number { uncertainty, ..number.times(power) };
        let computed = self.with(&self.full, number, state, right)?;
        let difference = difference(&self.record.tensors[&state], &computed)?;
        Some(Trial { number: Some(number), difference, ..right.clone() })
    }

    fn with(
        &self,
        run: &Run<'_>,
        number: Number,
        state: State,
        right: &Trial,
    ) -> Option<Tensor> {
        let intent = number.applied(self.intent);
        let run = run.varied(&intent, number.kind.after());
        run.step_with(state, &Recipe::RIGHT, right.empty_row)
    }

    /// The number along which a tensor is further from what was meant than rounding moves it.
    pub(super) fn stray(
        &self,
        level: &Level,
        segment: &Segment,
        error: &RoundingError,
    ) -> Option<Stray> {
        let right = segment.right.as_ref()?;
        let state = segment.state;
        let part = self.part_for(&Recipe::RIGHT);
        let given = part.given(state, &Recipe::RIGHT)?;
        let (exact, samples) = self.samples(level, state, right)?;
        let finest = level.finest();
        let all = Number::all(self.intent, self.full.right_scale()).into_iter();
        let strays = all.filter_map(|number| {
            let near = self.with(part, number.times(NEAR), state, right)?;
            let slope = slope(&near, &exact)?;
            let length = squares(&slope).sqrt();
            if length == 0.0 {
                return None;
            }
            let moved = along(&slope, &given, &exact);
            let rounded = samples.iter().map(|it| along(&slope, it, &exact).abs());
            let noise = rounded.fold(0.0, f64::max) * finest
                + (error.rms + error.digits) / length
                + level.computing.step() / 4.0;
            let times = moved.abs() / noise;
            Some(Stray { number: number.times(moved), times })
        });
        let most = strays.max_by(|a, b| a.times.total_cmp(&b.times))?;
        (most.times > STRAYS).then_some(most)
    }

    /// A fit that this level explains, and that is what the numbers are.
    pub(super) fn number_of(
        &self,
        level: &Level,
        segment: &Segment,
        stray: Option<Stray>,
        fits: &[Trial],
    ) -> Option<Trial> {
        let right = segment.right.as_ref()?.difference.rms;
        let is_it = |fit: &&Trial| {
            let error = self.error(level, segment.state, fit);
            let nearer = right / fit.difference.rms.max(f64::MIN_POSITIVE);
            let entries = fit.difference.finite as f64;
            // One number brings few entries nearer by chance.
            let is_clear =
                nearer > CLEARLY && (entries - 1.0) * nearer.log2() > FEWEST_BITS;
            let is_certain = stray.is_some_and(|it| it.times > CERTAINLY)
                && 2.0 * fit.difference.rms <= level.tolerance(&error);
            let is_near = self.is_near(fit, segment);
            is_near
                && (is_clear || is_certain)
                && level.explains(&fit.difference, &error, 1.0)
        };
        fits.iter().find(is_it).cloned()
    }
}

/// The power at which a function is least: the best of a grid, and then between its neighbours.
fn nearest(far: &impl Fn(f64) -> f64, range: f64) -> f64 {
    let n = (range / STEP) as i32;
    let grid = (-n..=n).map(|i| f64::from(i) * STEP);
    let mut best = (f64::INFINITY, 0.0);
    for power in grid {
        let rms = far(power);
        if rms < best.0 {
            best = (rms, power);
        }
    }
    let golden = (5_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (best.1 - STEP, best.1 + STEP);
    for _ in 0..10 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if far(a) < far(b) { high = b } else { low = a }
    }
    (low + high) / 2.0
}

fn slope(near: &[Matrix], here: &[Matrix]) -> Option<Vec<Matrix>> {
    difference(near, here)?;
    let of = |(near, here): (&Matrix, &Matrix)| {
        near.zip_map(here, |a, b| finite((a - b) / NEAR))
    };
    Some(near.iter().zip(here).map(of).collect())
}

fn squares(m: &[Matrix]) -> f64 {
    m.iter().map(Matrix::norm_squared).sum()
}

/// How far a tensor is from another in a direction.
fn along(direction: &[Matrix], a: &[Matrix], b: &[Matrix]) -> f64 {
    let of = |((direction, a), b): ((&Matrix, &Matrix), &Matrix)| {
        direction.dot(&a.zip_map(b, |a, b| finite(a - b)))
    };
    let product: f64 = direction.iter().zip(a).zip(b).map(of).sum();
    product / squares(direction)
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

//! A number of the layer that is another than was meant, fitted.

use std::collections::HashSet;

use attention::Matrix;

use super::{CLEARLY, Look, Outcome, Search, Trial, least_rms, nearer};
use crate::compare::difference;
use crate::level::Level;
use crate::number::{Kind, Number};
use crate::recipe::Recipe;
use crate::run::Tensor;
use crate::{Run, State};

/// The first look at a range has steps of this power of e.
const STEP: f64 = 0.2;

/// Where a number is looked at for its slope: what it is times e to this power.
pub(super) const NEAR: f64 = 1e-5;

/// By chance a number brings a tensor as much nearer as one of so many powers of 2; one with a
/// mistake, of this and a half.
const FEWEST_BITS: f64 = 20.0;

/// More entries than so many need not be counted.
const MOST_ENTRIES: usize = 1_000;

/// An eps that is not another by this power of e is not told.
const HARDLY: f64 = 0.2;

/// Nor is another number that differs by less than this power, in its last digits of float64.
const LAST_BITS: f64 = 1e-11;

/// Rounding in a precision between two that are tried is so many times that of the finer.
const NEARLY: f64 = 1.5;

/// A number that brings a tensor so many times nearer is not what rounding did.
const FAR_NEARER: f64 = 8.0;

/// So many widths of a window are tried, and more around the nearest where there are more.
const MOST_WIDTHS: usize = 64;

/// So many mistakes, the nearest, are tried together with each number.
const MOST_WITH_NUMBER: usize = 12;

/// How a tensor moves with a number.
pub struct Slope {
    /// By so much for a power of e.
    pub of: Vec<Matrix>,
    /// By how many powers of e the record's tensor is moved along it.
    pub moved: f64,
}

impl Search<'_> {
    /// The numbers of this layer, as they were meant; those of its heads last.
    pub fn all_numbers(&self) -> Vec<Number> {
        let (intent, scale) = (self.intent, self.full.right_scale());
        let same = |kind, meant| Number::new(kind, meant, meant);
        // Where none was meant, there is one that does nothing.
        let or = |kind, meant: Option<f64>, start| {
            meant.map_or(Number::new(kind, f64::INFINITY, start), |meant| {
                same(kind, meant)
            })
        };
        let opposite = Number::new(Kind::Scale, scale, -scale);
        let mut all = vec![same(Kind::Scale, scale), opposite];
        all.extend(intent.rotary.map(|(_, base)| same(Kind::Base, base)));
        let scores = self.part_for(&Recipe::RIGHT).step(State::Scores, &Recipe::RIGHT);
        let largest = scores.iter().flat_map(|it| it.iter()).map(Matrix::amax);
        all.push(or(Kind::Cap, intent.cap, largest.fold(0.0, f64::max)));
        all.extend(intent.slopes.as_ref().map(|_| same(Kind::Slopes, 1.0)));
        let norms = self.record.weights.norms.as_ref();
        let eps = norms.filter(|[q, k]| q.eps == k.eps).map(|[q, _]| q.eps);
        let start = |eps: f64| if eps > 0.0 { eps } else { 1e-6 };
        all.extend(eps.map(|eps| Number::new(Kind::Eps, eps, start(eps))));
        let window = intent.window.map(|it| it as f64);
        all.push(or(Kind::Window, window, self.widest() as f64));
        if intent.n_heads > 1 {
            let of_head = |i| Number { head: Some(i), ..same(Kind::Scale, scale) };
            all.extend((0..intent.n_heads).map(of_head));
        }
        all.retain(|it| it.start.is_finite() && it.start != 0.0);
        all
    }

    /// A window that leaves all keys.
    pub fn widest(&self) -> usize {
        let (n_q, n_kv) = self.record.lengths();
        let behind = self.intent.first_query((n_q, n_kv)) + n_q as isize;
        n_kv.max(behind.max(0) as usize)
    }
}

impl Look<'_, '_> {
    /// Each number of the layer, fitted to a tensor that depends on it; the nearest first. Of
    /// all heads, the one whose scale brings the tensor nearest.
    pub fn numbers(&self) -> &[Trial] {
        self.numbers
            .get_or_init(|| self.right.as_ref().map_or(vec![], |it| self.fits(it)))
    }

    fn fits(&self, right: &Trial) -> Vec<Trial> {
        let (heads, mut numbers): (Vec<_>, Vec<_>) =
            self.search.all_numbers().into_iter().partition(|it| it.head.is_some());
        let gains = heads.into_iter().filter_map(|number| {
            let slope = self.slope(number, 0.0, right)?;
            Some((number, slope.moved.powi(2) * squares(&slope.of)))
        });
        let best = gains.max_by(|a, b| a.1.total_cmp(&b.1));
        numbers.extend(best.map(|(number, _)| number));
        let fit = |number| self.fit(number, self.grid(number, STEP, right)?, right);
        let mut fits: Vec<Trial> = numbers.into_iter().filter_map(fit).collect();
        fits.sort_by(nearer);
        fits
    }

    /// A mistake and a number together that this level explains, where what is simpler is not
    /// nearly as near; of several mistakes those with which the number is the same.
    pub fn mixed(&self, level: &Level, singles: &[Trial]) -> Vec<Trial> {
        let fits = self.numbers();
        let rms = |it: &Trial| it.difference.rms;
        let simplest = least_rms(singles.iter().chain(fits).chain(&self.right));
        let fit = |single: &Trial, number: Number| {
            let power = self.grid(number, 3.0 * STEP, single)?;
            let next = self.next(number, power, single)?;
            let is_worth_it = self.distance(number, next, single) * CLEARLY < simplest;
            is_worth_it.then(|| self.fit(number, power, single)).flatten()
        };
        // With the number that is nearest alone, the mistake is nearer than others are.
        let nearest = |number: &Number| {
            let of_number = |it: &Number| {
                it.kind == number.kind && it.start == number.start && it.head.is_none()
            };
            let alone = fits.iter().filter_map(|it| it.number).find(of_number);
            let power = alone.map_or(0.0, |it| it.power_of(it.found));
            let far = |it: &&Trial| self.distance(*number, power, it).min(rms(it));
            let mut nearest: Vec<&Trial> = singles.iter().collect();
            nearest.sort_by_cached_key(|it| far(it).to_bits());
            nearest.truncate(MOST_WITH_NUMBER);
            nearest
        };
        let mut mixed = Vec::new();
        for number in self.search.all_numbers().iter().filter(|it| it.head.is_none()) {
            let nearest = nearest(number).into_iter();
            mixed.extend(nearest.filter_map(|it| fit(it, *number)));
        }
        mixed.retain(|it| {
            self.is_no_chance(it, simplest, 1.5 * FEWEST_BITS)
                && level.explains(&it.difference, &self.search.error(level, it), 1.0)
        });
        mixed.sort_by(nearer);
        if let Some(best) = mixed.first().cloned() {
            let number = best.number.expect("a number");
            mixed.retain(|it| {
                let is_same = it.number.is_some_and(|it| it.is_same(&number));
                is_same && rms(it) <= 2.0 * rms(&best)
            });
        }
        mixed
    }

    /// The best power of e of those that stand so far apart, where the number matters.
    fn grid(&self, number: Number, step: f64, base: &Trial) -> Option<f64> {
        if number.is_whole() {
            return self.counted(number, base);
        }
        let slope = self.slope(number, 0.0, base)?;
        let n = (number.kind.range() / step) as i32;
        let powers = (-n..=n).map(|i| f64::from(i) * step);
        let far = powers.map(|power| (self.distance(number, power, base), power));
        let far = far.min_by(|a, b| a.0.total_cmp(&b.0));
        far.filter(|_| squares(&slope.of) > 0.0).map(|(_, power)| power)
    }

    /// The same of a number that is counted: of all, or of some and those around the nearest.
    fn counted(&self, number: Number, base: &Trial) -> Option<f64> {
        let widest = self.search.widest();
        let mut stride = widest.div_ceil(MOST_WIDTHS);
        let mut tried: Vec<usize> = (1..widest).step_by(stride).collect();
        loop {
            let others = tried.into_iter().filter(|&n| n as f64 != number.meant);
            let power = |n: usize| number.power_of(n as f64);
            // Numbers from 0 on have the order of their bits.
            let far = |&n: &usize| self.distance(number, power(n), base).to_bits();
            let best = others.min_by_key(far)?;
            if stride == 1 {
                return Some(power(best));
            }
            stride = stride.div_ceil(2);
            let (low, high) = (best.saturating_sub(stride), best + stride);
            tried = vec![low.max(1), best, high.min(widest - 1)];
        }
    }

    /// The power of e to which its slope leads.
    fn next(&self, number: Number, power: f64, base: &Trial) -> Option<f64> {
        if number.is_whole() {
            return Some(power);
        }
        Some(power + self.slope(number, power, base)?.moved)
    }

    /// A number fitted to a tensor where the recipe is a trial's, from near this power of e.
    fn fit(&self, number: Number, power: f64, base: &Trial) -> Option<Trial> {
        let far = |power: f64| self.distance(number, power, base);
        let mut power = match number.is_whole() {
            true => power,
            false => least(&far, power - STEP, power + STEP),
        };
        let mut best = far(power);
        for _ in 0..8 {
            let next = self.next(number, power, base)?;
            let rms = far(next);
            // What is not a number is no step.
            if rms.partial_cmp(&best) != Some(std::cmp::Ordering::Less) {
                break;
            }
            (power, best) = (next, rms);
        }
        let slope = self.slope(number, power, base)?.of;
        let uncertainty = match number.is_whole() {
            true => 0.0,
            false => 8.0 * best / squares(&slope).sqrt(),
        };
        let number = Number { uncertainty, ..number.times(power) };
        let computed = self.with(&self.search.full, number, base)?;
        let difference = difference(self.given(), &computed)?;
        Some(Trial { number: Some(number), difference, ..base.clone() })
    }

    /// A trial's tensor with another number.
    pub fn with(&self, run: &Run<'_>, number: Number, base: &Trial) -> Option<Tensor> {
        let intent = number.applied(self.search.intent);
        let run = run.varied(&intent, number.kind.after());
        let run = Run { number: Some(number), ..run };
        run.forward(&base.recipe, base.empty_row).step(self.state)
    }

    /// How far the record's tensor is from that, in part.
    fn distance(&self, number: Number, power: f64, base: &Trial) -> f64 {
        let part = self.search.part_for(&base.recipe);
        let apart = || {
            let computed = self.with(part, number.times(power), base)?;
            difference(&part.given(self.state, &base.recipe)?, &computed)
        };
        apart().map_or(f64::INFINITY, |it| it.rms)
    }

    /// How this tensor of a trial moves with a number, from this power of e of it on.
    pub fn slope(&self, number: Number, power: f64, base: &Trial) -> Option<Slope> {
        let part = self.search.part_for(&base.recipe);
        let of = |power| self.with(part, number.times(power), base);
        let (near, here) = (of(power + NEAR)?, of(power)?);
        let given = part.given(self.state, &base.recipe)?;
        difference(&near, &given)?;
        let of = apart_signed(&near, &here, NEAR);
        let moved = along(&of, &given, &here);
        Some(Slope { of, moved })
    }

    /// A fit that this level explains, with so much slack, and that is what the numbers are: for
    /// sure, if nothing else moves a tensor so.
    pub fn number_of(&self, level: &Level, is_sure: bool, slack: f64) -> Option<Outcome> {
        let right = self.right.as_ref()?.difference.rms;
        let is_it = |fit: &&Trial| {
            let error = self.search.error(level, fit);
            let is_clear = self.is_no_chance(fit, right, FEWEST_BITS);
            let is_well_within = 2.0 * fit.difference.rms <= level.tolerance(&error);
            self.is_near(fit)
                && (is_clear || is_sure && is_well_within)
                && level.explains(&fit.difference, &error, slack)
        };
        let fit = self.numbers().iter().find(is_it)?.clone();
        Some(Outcome::explained(*level, vec![fit]))
    }

    /// A number that brings a tensor far nearer, where a finer way of computing than the one
    /// that explains what was meant leaves hardly more: the coarser one would hide it.
    pub fn hidden(&self, finer: &[Level]) -> Option<Outcome> {
        let number = |level| self.number_of(level, false, NEARLY);
        let number = finer.iter().find_map(number)?;
        (FAR_NEARER * number.least_rms() < least_rms(&self.right)).then_some(number)
    }

    /// Whether a fit is clearly nearer than what is so far away: one number brings few entries
    /// nearer by chance. What rounding makes of a row that is nearly nothing is as what an eps
    /// does that is hardly another.
    fn is_no_chance(&self, fit: &Trial, other: f64, bits: f64) -> bool {
        let Some(number) = fit.number else { return false };
        let hardly = if number.kind == Kind::Eps { HARDLY } else { LAST_BITS };
        if number.is_near() && number.power_of(number.found).abs() < hardly {
            return false;
        }
        let nearer = other / fit.difference.rms.max(f64::MIN_POSITIVE);
        // Of what is counted, there are so many tries.
        let n_tries = if number.is_whole() { self.search.widest() as f64 } else { 1.0 };
        let bits = bits + n_tries.log2();
        nearer > CLEARLY && (self.entries(fit) - 1.0) * nearer.log2() > bits
    }

    /// How many entries of a tensor say something of their own: not those that are as others,
    /// nor the last of a row of weights that sum to 1.
    pub fn entries(&self, fit: &Trial) -> f64 {
        let given = self.given();
        let numbers = given.iter().flat_map(|m| m.iter()).filter(|x| x.is_finite());
        let mut others = HashSet::new();
        let is_new = numbers.filter(|x| others.insert(x.to_bits()));
        let n = is_new.take(MOST_ENTRIES).count().min(fit.difference.finite) as f64;
        match self.state {
            State::Attn => n * (1.0 - 1.0 / given[0].ncols() as f64),
            _ => n,
        }
    }
}

/// Where a function is least between two powers, about.
fn least(far: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let golden = (5_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..10 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if far(a) < far(b) { high = b } else { low = a }
    }
    (low + high) / 2.0
}

/// The difference of two tensors of one shape, over a unit.
pub(super) fn apart_signed(a: &[Matrix], b: &[Matrix], unit: f64) -> Vec<Matrix> {
    let of = |(a, b): (&Matrix, &Matrix)| a.zip_map(b, |a, b| finite((a - b) / unit));
    a.iter().zip(b).map(of).collect()
}

pub(super) fn squares(m: &[Matrix]) -> f64 {
    m.iter().map(Matrix::norm_squared).sum()
}

/// How far a tensor is from another in a direction.
pub(super) fn along(direction: &[Matrix], a: &[Matrix], b: &[Matrix]) -> f64 {
    let apart = apart_signed(a, b, 1.0);
    let products = direction.iter().zip(&apart).map(|(m, apart)| m.dot(apart));
    products.sum::<f64>() / squares(direction)
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

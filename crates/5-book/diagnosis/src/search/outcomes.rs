//! What a tensor is: in the ways of computing that its numbers show, and on conditions; and
//! whether a difference that rounding may have made is in the direction of a number, or has a
//! structure.

use attention::Matrix;

use super::numbers::{NEAR, along, apart_signed, squares};
use super::trials::Samples;
use super::{Condition, LOOSELY, Look, Outcome, Trial, is_nearer, least_rms, nearer};
use crate::compare::difference;
use crate::level::Level;
use crate::number::{Kind, Number};
use crate::recipe::Recipe;
use crate::report::Verdict;
use crate::run::{Side, Tensor};
use crate::{Mistake, Run, State, Step};

/// A bound that was not meant is looked at where scores hardly reach it: their largest times e
/// to this power.
const FAR: f64 = 2.5;

/// Rounding alone moves a number by less than this, over what it does here.
const STRAYS: f64 = 8.0;

/// Of many directions, rounding moves a tensor so many times further along one.
const OF_MANY: f64 = 1.5;

/// A number that nothing else moves by as much is not rounded away from what was meant.
const SURELY: f64 = 16.0;

/// How far a tensor is from what was meant along one number.
#[derive(Debug, Clone, Copy)]
struct Stray {
    number: Number,
    /// Over what rounding does.
    times: f64,
    /// Whether nothing but the number moves a tensor so.
    is_sure: bool,
}

impl Look<'_, '_> {
    /// What a tensor is.
    pub fn outcome(&self) -> Outcome {
        let (record, asked) = (self.search.record, self.search.intent.computed);
        let levels = Level::of_tensor(record, self.state, asked);
        let (shown, on_condition): (Vec<Level>, Vec<Level>) =
            levels.into_iter().partition(|level| level.is_shown);
        if let Some(outcome) = self.shown(&shown) {
            return outcome;
        }
        // Whatever loses all numbers gives zeros, and no mistake explains them.
        if self.is_zero {
            return Outcome::UNKNOWN;
        }
        let number = shown.iter().find_map(|level| self.number_of(level, false, 1.0));
        if let Some(outcome) = number.or_else(|| self.two(&shown)) {
            return outcome;
        }
        for level in &on_condition {
            if self.is_right(level).is_some() {
                return self.on(Condition::Coarser, level);
            }
            // Slack for what the numbers do not show would name whatever is near.
            if let Some(outcome) = self.one(&level.even()) {
                return outcome;
            }
        }
        let Some(level) = shown.last() else { return Outcome::UNKNOWN };
        // What rounding explains is said of what the numbers show.
        self.is_right(level);
        match self.is_loose(level) {
            true => self.on(Condition::Loose, level),
            false => Outcome::UNKNOWN,
        }
    }

    /// What a tensor is in the ways of computing that it shows, without pairs.
    fn shown(&self, levels: &[Level]) -> Option<Outcome> {
        let mut stray = None;
        for (i, level) in levels.iter().enumerate() {
            if let Some(samples) = self.is_right(level) {
                if let Some(it) = self.stray(&samples) {
                    stray = Some((level, it));
                } else if let Some(what) = self.structure(&samples) {
                    return Some(self.on(Condition::Structure(what), level));
                } else {
                    let number = self.hidden(&levels[..i]);
                    let right = Outcome {
                        verdict: Verdict::Right,
                        level: Some(*level),
                        ..Outcome::UNKNOWN
                    };
                    return Some(number.unwrap_or(right));
                }
            }
            if stray.is_some() || self.is_zero {
                continue;
            }
            if let Some(outcome) = self.one(level) {
                return Some(self.or_finer(outcome, &levels[..i]));
            }
            // What a coarser way would hide, a number of this one explains.
            let is_last = i + 1 == levels.len();
            if !is_last && let Some(number) = self.number_of(level, false, 1.0) {
                return Some(number);
            }
        }
        let (level, stray) = stray?;
        Some(self.strayed(level, stray))
    }

    /// The right layer as a level computes it, if rounding then explains the tensor.
    fn is_right(&self, level: &Level) -> Option<Samples> {
        let right = self.right.as_ref()?;
        let samples = self.search.samples(level, right)?;
        let error = self.search.error_of(level, right, &samples);
        self.rounding.set(Some((*level, error)));
        level.explains(&right.difference, &error, 1.0).then_some(samples)
    }

    /// What a tensor with one mistake is, if it was computed so.
    fn one(&self, level: &Level) -> Option<Outcome> {
        let singles: Vec<Trial> =
            self.singles().iter().map(|it| it.trial.clone()).collect();
        let trials = self.fitting(level, &singles);
        if trials.is_empty() {
            return None;
        }
        let number =
            level.is_coarse().then(|| self.number_of(level, false, 1.0)).flatten();
        let is_nearer = |it: &Outcome| 2.0 * it.least_rms() < least_rms(&trials);
        let number = number.filter(is_nearer);
        Some(number.unwrap_or(Outcome::explained(*level, trials)))
    }

    /// What a tensor with two mistakes is, or with one and another number.
    fn two(&self, levels: &[Level]) -> Option<Outcome> {
        // Those that mix sequences last: each reads the whole batch.
        let pairs = [false, true]
            .into_iter()
            .find_map(|mixes| self.explained(levels, &self.pairs(mixes, &[])));
        let is_fine = |it: &Outcome| it.level.is_some_and(|level| !level.is_coarse());
        if pairs.as_ref().is_some_and(is_fine) {
            return pairs;
        }
        let of_pairs = pairs.as_ref().map_or(f64::INFINITY, Outcome::least_rms);
        let visible = self.singles().iter().filter(|it| it.is_visible);
        let mut visible: Vec<Trial> = visible.map(|it| it.trial.clone()).collect();
        visible.sort_by(nearer);
        let mixed = levels.iter().find_map(|&level| {
            let trials = self.mixed(&level, &visible);
            let is_nearer = !trials.is_empty() && 2.0 * least_rms(&trials) < of_pairs;
            is_nearer.then(|| Outcome::explained(level, trials))
        });
        mixed.or(pairs)
    }

    /// What a tensor is that is as near to what was meant as rounding leaves it, and moved
    /// along a number as rounding does not.
    fn strayed(&self, level: &Level, stray: Stray) -> Outcome {
        // A mistake that is as near may be it.
        if let Some(number) = self.number_of(level, stray.is_sure, 1.0) {
            let nearest = least_rms(self.singles().iter().map(|it| &it.trial));
            if 1.5 * number.least_rms() < nearest {
                return number;
            }
            if let Some(outcome) = self.one(level) {
                return outcome;
            }
        }
        // Of what is counted, a stray is one of some.
        let fits = self.numbers().iter().filter_map(|it| it.number);
        let same = fits.filter(Number::is_whole).find(|it| it.kind == stray.number.kind);
        self.on(Condition::Direction(same.unwrap_or(stray.number)), level)
    }

    /// A tensor that is right on a condition, and what is nearest if that is not so.
    fn on(&self, condition: Condition, level: &Level) -> Outcome {
        self.singles();
        let all = self.numbers().first().cloned().into_iter();
        let nearest = all.chain(self.nearest.borrow().clone()).min_by(nearer);
        let nearest = nearest.filter(|it| is_nearer(it, self.right.as_ref()));
        let (verdict, condition) = (Verdict::Condition, Some((condition, nearest)));
        Outcome { verdict, level: Some(*level), condition, ..Outcome::UNKNOWN }
    }

    /// Whether a tensor is beyond the tolerance of a coarse precision, and not far.
    fn is_loose(&self, level: &Level) -> bool {
        self.right.as_ref().zip(self.rounding.get()).is_some_and(|(right, (_, error))| {
            level.is_coarse() && level.explains(&right.difference, &error, LOOSELY)
        })
    }

    /// What a coarse precision leaves open, a second mistake may explain better.
    fn or_finer(&self, outcome: Outcome, finer: &[Level]) -> Outcome {
        let found: Vec<_> = outcome.without_number().map(|it| it.mistakes[0]).collect();
        if finer.is_empty() || found.is_empty() {
            return outcome;
        }
        self.explained(finer, &self.pairs(false, &found)).unwrap_or(outcome)
    }

    /// The trials that the finest of these levels explains.
    fn explained(&self, levels: &[Level], trials: &[Trial]) -> Option<Outcome> {
        levels.iter().find_map(|&level| {
            let trials = self.fitting(&level, trials);
            (!trials.is_empty()).then(|| Outcome::explained(level, trials))
        })
    }

    /// The number along which a tensor is further from what was meant than rounding moves it.
    fn stray(&self, samples: &Samples) -> Option<Stray> {
        let (level, error) = self.rounding.get()?;
        let (counted, numbers): (Vec<_>, Vec<_>) =
            self.search.all_numbers().into_iter().partition(Number::is_whole);
        let farthest = 2.0 * level.tolerance(&error);
        let near = |it| self.counted_near(it, farthest, &samples.exact);
        let numbers = numbers.into_iter().chain(counted.iter().flat_map(near));
        let strays = numbers.filter_map(|it| self.stray_along(it, samples));
        let most = strays.max_by(|a, b| a.times.total_cmp(&b.times))?;
        (most.times > STRAYS).then_some(most)
    }

    /// The right tensor with another number, in part.
    fn right_with(&self, number: Number) -> Option<Tensor> {
        let part = self.search.part_for(&Recipe::RIGHT);
        self.with(part, number, self.right.as_ref()?)
    }

    /// Numbers that are counted and move a tensor by no more than this, from what was meant on:
    /// twice as far each. What lies between two moves it along both.
    fn counted_near(&self, number: &Number, far: f64, exact: &[Matrix]) -> Vec<Number> {
        let (start, widest) = (number.start as isize, self.search.widest() as isize);
        let is_near = |it: &Number| {
            let near = self.right_with(*it);
            let apart = near.and_then(|near| difference(&near, exact));
            apart.is_some_and(|apart| apart.rms <= far)
        };
        let on = |sign: isize| {
            let all = (0..usize::BITS - 1).map(move |i| start + sign * (1 << i));
            let all = all.take_while(move |n| (1..widest).contains(n));
            all.map(|n| Number { found: n as f64, ..*number }).take_while(is_near)
        };
        on(1).chain(on(-1)).collect()
    }

    /// How far a tensor is from what was meant along this number.
    fn stray_along(&self, number: Number, samples: &Samples) -> Option<Stray> {
        let is_near = number.is_near();
        // From no bound to one, there is no slope, but a far one moves it a little.
        let (power, unit, share) = match number.meant.is_finite() {
            _ if number.is_whole() => (number.power_of(number.found), 1.0, 0.0),
            _ if is_near => (NEAR, NEAR, 1.0),
            // It moves the largest score by one of so many shares.
            false => (FAR, 1.0, 3.0 * (2.0 * FAR).exp()),
            true => return None,
        };
        let near = self.right_with(number.times(power))?;
        let direction = apart_signed(&near, &samples.exact, unit);
        let share = match number.kind {
            // What rounding does as a scale does, an eps does with far more of it.
            Kind::Eps => {
                let mut numbers = self.search.all_numbers().into_iter();
                let scale = numbers.find(|it| it.kind == Kind::Scale)?;
                let of_scale = self.slope(scale, 0.0, self.right.as_ref()?)?.of;
                squares(&of_scale).sqrt() / squares(&direction).sqrt()
            }
            _ => share,
        };
        let (moved, noise) = self.moved_along(&direction, samples)?;
        let noise = noise + self.rounding.get()?.0.computing.step() / 4.0 * share;
        // Of many, rounding moves one further.
        let is_of_many = number.head.is_some() || number.is_whole();
        let times = moved.abs() / noise / if is_of_many { OF_MANY } else { 1.0 };
        let number = match is_near {
            // It is not moved a part of the way, or the other.
            _ if number.is_whole() && moved < 0.25 => return None,
            _ if number.is_whole() => number,
            true => number.times(moved),
            // What it moves goes with one over its square.
            false if moved > 0.0 => number.times(FAR - moved.ln() / 2.0),
            false => return None,
        };
        Some(Stray { number, times, is_sure: times > SURELY })
    }

    /// What has a structure, and moves a tensor further than rounding does: the scores on one
    /// side of the diagonal, or a mistake of masks of which there is a little.
    fn structure(&self, samples: &Samples) -> Option<String> {
        let (state, empty) = (self.state, self.right.as_ref()?.empty_row);
        let part = self.search.part_for(&Recipe::RIGHT);
        let times = |other: Option<Tensor>, unit: f64| {
            let other = other?;
            difference(&other, &samples.exact)?;
            let direction = apart_signed(&other, &samples.exact, unit);
            let (moved, noise) = self.moved_along(&direction, samples)?;
            Some(moved.abs() / noise / OF_MANY)
        };
        let sides = [true, false].into_iter().flat_map(|is_ahead| {
            let side = |factor, added| Side { is_ahead, factor, added };
            [side(1.0 + NEAR, 0.0), side(1.0, NEAR)]
        });
        let of_side = |side: Side| {
            let run = part.varied(part.intent, State::HeadValue);
            let run = Run { side: Some(side), ..run };
            let other = run.forward(&Recipe::RIGHT, empty).step(state);
            let keys = if side.is_ahead { "behind" } else { "before" };
            Some((times(other, NEAR)?, format!("scores of keys {keys} the query alone")))
        };
        let of_masks = self.search.possible().filter(|it| it.step == Step::Mask);
        let of_mistake = |it: &'static Mistake| {
            let other = part.forward(&it.applied(Recipe::RIGHT), empty).step(state);
            Some((times(other, 1.0)?, it.entry().name.clone()))
        };
        let all = sides.filter_map(of_side).chain(of_masks.filter_map(of_mistake));
        let most = all.max_by(|a, b| a.0.total_cmp(&b.0));
        most.filter(|it| it.0 > STRAYS).map(|it| it.1)
    }

    /// How far a tensor is moved in a direction, and how far rounding moves it there; nothing
    /// where there is no direction.
    fn moved_along(&self, direction: &[Matrix], samples: &Samples) -> Option<(f64, f64)> {
        let Samples { exact, rounded } = samples;
        let part = self.search.part_for(&Recipe::RIGHT);
        let given = part.given(self.state, &Recipe::RIGHT)?;
        let ((level, error), length) = (self.rounding.get()?, squares(direction).sqrt());
        if length == 0.0 {
            return None;
        }
        let rounded = rounded.iter().map(|it| along(direction, it, exact).abs());
        let noise = rounded.fold(0.0, f64::max) * level.finest()
            + (error.rms + error.digits) / length;
        Some((along(direction, &given, exact), noise))
    }
}

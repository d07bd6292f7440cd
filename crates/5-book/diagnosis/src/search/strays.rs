//! Whether a difference that rounding may have made is in the direction of a number, or has
//! a structure.

use attention::Matrix;

use super::Look;
use super::numbers::{NEAR, along, apart_signed, squares};
use super::trials::Samples;
use crate::compare::difference;
use crate::number::{Kind, Number};
use crate::recipe::Recipe;
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
pub(crate) struct Stray {
    pub number: Number,
    /// Over what rounding does.
    times: f64,
    /// Whether nothing but the number moves a tensor so.
    pub is_sure: bool,
}

impl Look<'_, '_> {
    /// The number along which a tensor is further from what was meant than rounding moves it.
    pub fn stray(&self, samples: &Samples) -> Option<Stray> {
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
    pub fn structure(&self, samples: &Samples) -> Option<String> {
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

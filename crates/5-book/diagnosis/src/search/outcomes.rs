//! What a tensor is: in the ways of computing that its numbers show, and on conditions.

use super::strays::Stray;
use super::trials::Samples;
use super::{Condition, LOOSELY, Look, Outcome, Trial, is_nearer, least_rms, nearer};
use crate::level::Level;
use crate::number::Number;
use crate::report::Verdict;

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
}

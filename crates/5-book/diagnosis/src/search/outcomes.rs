//! What a tensor is: in the ways of computing that its numbers show, and on conditions.

use super::strays::Stray;
use super::trials::Samples;
use super::{Condition, LOOSELY, Outcome, Search, Segment, Single, Trial, least_rms};
use crate::level::Level;
use crate::number::Number;

/// What was tried on a tensor in every way of computing: each once.
#[derive(Default)]
struct Tried {
    singles: Option<Vec<Single>>,
    numbers: Option<Vec<Trial>>,
}

impl Tried {
    fn singles(&mut self, search: &Search<'_>, segment: &mut Segment) -> &[Single] {
        self.singles.get_or_insert_with(|| search.singles(segment))
    }

    fn numbers(&mut self, search: &Search<'_>, segment: &Segment) -> &[Trial] {
        self.numbers.get_or_insert_with(|| search.numbers(segment))
    }
}

impl Search<'_> {
    /// What a tensor is.
    pub(super) fn outcome(&self, segment: &mut Segment) -> Outcome {
        let state = segment.state;
        let levels = Level::of_tensor(self.record, state, self.intent.computed);
        let (shown, on_condition): (Vec<Level>, Vec<Level>) =
            levels.into_iter().partition(|level| level.is_shown);
        let mut tried = Tried::default();
        if let Some(outcome) = self.shown(&shown, segment, &mut tried) {
            return outcome;
        }
        // Whatever loses all numbers gives zeros, and no mistake explains them.
        if segment.is_zero {
            return Outcome::Unknown;
        }
        let fits = tried.numbers(self, segment);
        for level in &shown {
            if let Some(trial) = self.number_of(level, segment, false, fits) {
                return Outcome::Number { level: *level, trials: vec![trial] };
            }
        }
        if let Some(outcome) = self.two(&shown, segment, &mut tried) {
            return outcome;
        }
        for level in &on_condition {
            if self.is_right(level, segment).is_some() {
                return self.on(Condition::Coarser, level, segment, &mut tried);
            }
            // Slack for what the numbers do not show would name whatever is near.
            if let Some(outcome) = self.one(&level.even(), segment, &mut tried) {
                return outcome;
            }
        }
        let Some(level) = shown.last() else { return Outcome::Unknown };
        // What rounding explains is said of what the numbers show.
        self.is_right(level, segment);
        match self.is_loose(level, segment) {
            true => self.on(Condition::Loose, level, segment, &mut tried),
            false => Outcome::Unknown,
        }
    }

    /// What a tensor is in the ways of computing that it shows, without pairs.
    fn shown(
        &self,
        levels: &[Level],
        segment: &mut Segment,
        tried: &mut Tried,
    ) -> Option<Outcome> {
        let mut stray = None;
        for (i, level) in levels.iter().enumerate() {
            if let Some(samples) = self.is_right(level, segment) {
                if let Some(it) = self.stray(level, segment, &samples) {
                    stray = Some((level, it));
                } else if let Some(what) = self.structure(level, segment, &samples) {
                    let condition = Condition::Structure(what);
                    return Some(self.on(condition, level, segment, tried));
                } else {
                    return Some(Outcome::Right { level: *level });
                }
            }
            if stray.is_some() || segment.is_zero {
                continue;
            }
            if let Some(outcome) = self.one(level, segment, tried) {
                return Some(self.or_finer(outcome, &levels[..i], segment, tried));
            }
            // What a coarser way would hide, a number of this one explains.
            let is_last = i + 1 == levels.len();
            let fits = if is_last { &[] } else { tried.numbers(self, segment) };
            if let Some(trial) = self.number_of(level, segment, false, fits) {
                return Some(Outcome::Number { level: *level, trials: vec![trial] });
            }
        }
        let (level, stray) = stray?;
        Some(self.strayed(level, segment, stray, tried))
    }

    /// The right layer as a level computes it, if rounding then explains the tensor.
    fn is_right(&self, level: &Level, segment: &mut Segment) -> Option<Samples> {
        let right = segment.right.as_ref()?;
        let samples = self.samples(level, segment.state, right)?;
        let error = self.error_of(level, segment.state, right, &samples);
        (segment.error, segment.level) = (Some(error), Some(*level));
        level.explains(&right.difference, &error, 1.0).then_some(samples)
    }

    /// What a tensor with one mistake is, if it was computed so.
    fn one(
        &self,
        level: &Level,
        segment: &mut Segment,
        tried: &mut Tried,
    ) -> Option<Outcome> {
        let near = tried.singles(self, segment).iter().map(|it| it.trial.clone());
        let trials = self.fitting(level, segment, near.collect());
        let level = *level;
        if trials.is_empty() {
            return None;
        }
        let number = level.is_coarse().then(|| tried.numbers(self, segment));
        let number = number.and_then(|it| self.number_of(&level, segment, false, it));
        Some(match number {
            Some(trial) if 2.0 * trial.difference.rms < least_rms(&trials) => {
                Outcome::Number { level, trials: vec![trial] }
            }
            _ => Outcome::Explained { level, trials },
        })
    }

    /// What a tensor with two mistakes is, or with one and another number.
    fn two(
        &self,
        levels: &[Level],
        segment: &mut Segment,
        tried: &mut Tried,
    ) -> Option<Outcome> {
        tried.singles(self, segment);
        let singles = tried.singles.as_deref().unwrap_or_default();
        // Those that mix sequences last: each reads the whole batch.
        let pairs = [false, true].into_iter().find_map(|mixes| {
            let pairs = self.pairs(segment, singles, mixes, &[]);
            self.explained(levels, segment, &pairs)
        });
        let of_pairs = match &pairs {
            Some(Outcome::Explained { level, .. }) if !level.is_coarse() => return pairs,
            Some(Outcome::Explained { trials, .. }) => least_rms(trials),
            _ => f64::INFINITY,
        };
        let visible =
            singles.iter().filter(|it| it.is_visible).map(|it| it.trial.clone());
        let mut visible: Vec<Trial> = visible.collect();
        visible.sort_by(|a, b| a.difference.rms.total_cmp(&b.difference.rms));
        let fits = tried.numbers.as_deref().unwrap_or_default();
        let mixed = levels.iter().find_map(|&level| {
            let trials = self.mixed(&level, segment, &visible, fits);
            let is_nearer = !trials.is_empty() && 2.0 * least_rms(&trials) < of_pairs;
            is_nearer.then_some(Outcome::Number { level, trials })
        });
        mixed.or(pairs)
    }

    /// What a tensor is that is as near to what was meant as rounding leaves it, and moved
    /// along a number as rounding does not.
    fn strayed(
        &self,
        level: &Level,
        segment: &mut Segment,
        stray: Stray,
        tried: &mut Tried,
    ) -> Outcome {
        let fits = tried.numbers(self, segment);
        let number = self.number_of(level, segment, stray.is_certain(), fits);
        let nearest = least_rms(tried.singles(self, segment).iter().map(|it| &it.trial));
        // A mistake that is as near may be it.
        if let Some(trial) = number {
            if 1.5 * trial.difference.rms < nearest {
                return Outcome::Number { level: *level, trials: vec![trial] };
            }
            if let Some(outcome) = self.one(level, segment, tried) {
                return outcome;
            }
        }
        // Of what is counted, a stray is one of some.
        let fits = tried.numbers(self, segment).iter().filter_map(|it| it.number);
        let same = fits.filter(Number::is_whole).find(|it| it.kind == stray.number.kind);
        let condition = Condition::Direction(same.unwrap_or(stray.number));
        self.on(condition, level, segment, tried)
    }

    /// A tensor that is right on a condition, and what is nearest if that is not so.
    fn on(
        &self,
        condition: Condition,
        level: &Level,
        segment: &mut Segment,
        tried: &mut Tried,
    ) -> Outcome {
        tried.singles(self, segment);
        let fit = tried.numbers(self, segment).first().cloned();
        let all = [fit, segment.nearest.clone()].into_iter().flatten();
        let nearest = all.min_by(|a, b| a.difference.rms.total_cmp(&b.difference.rms));
        let nearest = nearest.filter(|it| segment.is_nearer(it));
        Outcome::Condition { level: *level, condition, nearest: nearest.map(Box::new) }
    }

    /// Whether a tensor is beyond the tolerance of a coarse precision, and not far.
    fn is_loose(&self, level: &Level, segment: &Segment) -> bool {
        let Some((right, error)) = segment.right.as_ref().zip(segment.error) else {
            return false;
        };
        level.is_coarse() && level.explains(&right.difference, &error, LOOSELY)
    }

    /// What a coarse precision leaves open, a second mistake may explain better.
    fn or_finer(
        &self,
        outcome: Outcome,
        finer: &[Level],
        segment: &mut Segment,
        tried: &mut Tried,
    ) -> Outcome {
        let Outcome::Explained { trials, .. } = &outcome else { return outcome };
        if finer.is_empty() {
            return outcome;
        }
        let found: Vec<_> = trials.iter().map(|it| it.mistakes[0]).collect();
        let singles = tried.singles(self, segment);
        let pairs = self.pairs(segment, singles, false, &found);
        self.explained(finer, segment, &pairs).unwrap_or(outcome)
    }

    /// The trials that the finest of these levels explains.
    fn explained(
        &self,
        levels: &[Level],
        segment: &Segment,
        trials: &[Trial],
    ) -> Option<Outcome> {
        levels.iter().find_map(|&level| {
            let trials = self.fitting(&level, segment, trials.to_vec());
            (!trials.is_empty()).then_some(Outcome::Explained { level, trials })
        })
    }
}

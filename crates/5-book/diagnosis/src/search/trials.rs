//! One recipe on a part of a record or on the whole, and what rounding does to it.

use attention::Matrix;

use super::{MOST_WHOLE, Search, Trial, nearer};
use crate::compare::{Difference, difference, spread};
use crate::level::{Level, RoundingError};
use crate::precision::Rounding;
use crate::recipe::{Axes, Masking, Recipe};
use crate::run::Tensor;
use crate::{EmptyRow, Mistakes, Precision, Run, State};

/// A layer is jittered once with each: the error of a tensor of few numbers may be small by
/// chance.
pub(super) const SEEDS: [u64; 3] = [1, 2, 3];

/// How many keys, or columns of a head, kernels take at once; 0 is for what has few of them.
const TILES: [usize; 8] = [128, 64, 32, 16, 8, 4, 2, 0];

/// What a trial gives in f64, and in the ways of a level.
pub struct Samples {
    pub exact: Tensor,
    pub rounded: Vec<Vec<Matrix>>,
}

impl<'a> Search<'a> {
    /// How far two recipes are apart in a tensor; nothing where their shapes differ.
    pub fn apart(
        &self,
        run: &Run<'_>,
        state: State,
        recipe: &Recipe,
        base: &Recipe,
    ) -> Option<Difference> {
        if recipe.before(state) == base.before(state) {
            return Some(Difference::default());
        }
        if recipe.axes == Axes::Exchanged && self.wide.is_some() {
            return None;
        }
        // The one is compared with many others.
        run.keeps.set(true);
        let base = run.step(state, base)?;
        run.keeps.set(false);
        let own = run.step(state, recipe)?;
        let apart = difference(&own, &base)?;
        let is_same = apart.rms <= 1e-12 * (1.0 + spread(&base));
        Some(if is_same { Difference::default() } else { apart })
    }

    /// A recipe on a run, if its shapes fit; of several contents for rows without a key, and of
    /// several widths of a tile, those that are nearest.
    pub fn trial(
        &self,
        run: &Run<'_>,
        state: State,
        mistakes: Mistakes,
    ) -> Option<Trial> {
        let recipe = Recipe::with(&mistakes);
        let given = run.given(state, &recipe)?;
        let own = self.intent.empty_row;
        let is_masked = state >= State::Attn && run.has_empty_rows(&recipe);
        let mut empty_rows = vec![own];
        if is_masked {
            empty_rows.extend([EmptyRow::NaN, EmptyRow::Even, EmptyRow::Zeros]);
        }
        // Rows that are blocked by mistake and are as if they were not show nothing of it.
        if is_masked && recipe.padding != Masking::Transposed {
            empty_rows.push(EmptyRow::Unmasked);
        }
        let tiles = if recipe.is_tiled() { &TILES[..] } else { &[0] };
        let each =
            tiles.iter().flat_map(|&tile| empty_rows.iter().map(move |&it| (tile, it)));
        let trial = |(tile, empty_row)| {
            let recipe = Recipe { tile, ..recipe };
            let computed = run.forward(&recipe, empty_row).step(state)?;
            let difference = difference(&given, &computed)?;
            let mistakes = mistakes.clone();
            Some(Trial { state, mistakes, recipe, number: None, difference, empty_row })
        };
        each.filter_map(trial).min_by(nearer)
    }

    /// What rounding of this level does to a trial.
    pub fn error(&self, level: &Level, trial: &Trial) -> RoundingError {
        let samples = self.samples(level, trial);
        samples.map(|it| self.error_of(level, trial, &it)).unwrap_or_default()
    }

    /// The same of what is computed already.
    pub fn error_of(&self, level: &Level, trial: &Trial, of: &Samples) -> RoundingError {
        let Samples { exact, rounded } = of;
        let errors: Vec<Difference> =
            rounded.iter().filter_map(|it| difference(exact, it)).collect();
        let most = |of: fn(&Difference) -> f64| {
            errors.iter().map(of).filter(|x| x.is_finite()).fold(0.0, f64::max)
        };
        let finest = level.finest();
        // Numbers that are all exact are still rounded where code adds in another order.
        let size = spread(exact) * level.computing.step() / 16.0;
        RoundingError {
            rms: (most(|it| it.rms) * finest).max(size),
            row: (most(|it| it.row) * finest).max(size),
            digits: self.digits[&trial.state] + 2.0 * self.lowered_error(trial, exact),
        }
    }

    /// How coarse scores are that are 10,000 lower.
    fn lowered_error(&self, trial: &Trial, exact: &Tensor) -> f64 {
        if trial.empty_row != EmptyRow::Unmasked {
            return 0.0;
        }
        let run = Run::new(self.record, self.intent).like(self.part_for(&trial.recipe));
        let down = Run { rounding: Rounding::Down, ..run };
        let down = down.forward(&trial.recipe, trial.empty_row).step(trial.state);
        down.and_then(|it| difference(exact, &it)).map_or(0.0, |it| it.rms)
    }

    /// What a trial gives in f64, and what it gives where it is computed in this level's
    /// precision, in its ways; in that of float32 for float64.
    pub fn samples(&self, level: &Level, trial: &Trial) -> Option<Samples> {
        let Trial { state, recipe, empty_row, number, .. } = trial;
        let intent = number.map(|number| number.applied(self.intent));
        let intent = intent.as_ref().unwrap_or(self.intent);
        let of = |record, precision, rounding| {
            let run = Run::new(record, intent).like(self.part_for(recipe));
            let run = Run { number: *number, precision, rounding, ..run };
            run.forward(recipe, *empty_row).step(*state)
        };
        let exact = of(self.record, Precision::F64, Rounding::Nearest)?;
        let stored = self.record.precision;
        let rounded = |record, precision, rounding| {
            let mut computed = of(record, precision, rounding)?.to_vec();
            computed.iter_mut().for_each(|m| stored.round_all(m, Rounding::Nearest));
            Some(computed)
        };
        let computing = match level.computing {
            Precision::F64 => Precision::F32,
            other => other,
        };
        let mut samples = vec![rounded(self.record, computing, Rounding::Nearest)];
        if level.computing == Precision::TF32 {
            samples.push(rounded(self.record, computing, Rounding::Down));
        }
        if level.is_jittered {
            let all = || SEEDS.map(|seed| self.record.jittered(seed));
            for jittered in self.jittered.get_or_init(all) {
                samples.push(rounded(jittered, computing, Rounding::Nearest));
            }
        }
        Some(Samples { exact, rounded: samples.into_iter().flatten().collect() })
    }

    /// The part on which a recipe is tried first: all, where that does not take long.
    pub fn part_for(&self, recipe: &Recipe) -> &Run<'a> {
        let part = if recipe.mixes_sequences() { &self.wide } else { &self.probe };
        part.as_ref().unwrap_or(&self.full)
    }

    /// The sequence and the rows that differ most, where looking at all takes long.
    pub fn choose_parts(&mut self, state: State) {
        let x = &self.record.inputs[0];
        if x.len() * x[0].len() <= MOST_WHOLE {
            return;
        }
        let right = self.full.step(state, &Recipe::RIGHT);
        let given = &self.record.tensors[&state];
        let (n, rows) = (self.record.batch(), x[0].nrows());
        let each = (given.len() / n).max(1);
        let apart = |s: usize| {
            let of = s * each..(s + 1) * each;
            let right = right.as_ref()?.get(of.clone())?;
            Some(difference(given.get(of)?, right)?.rms)
        };
        let far: Vec<f64> = (0..n).map(|s| apart(s).unwrap_or(0.0)).collect();
        let worst = (0..n).max_by(|&a, &b| far[a].total_cmp(&far[b]));
        let mut chosen = vec![1 % rows, rows / 3, rows / 2, rows - 1];
        chosen.dedup();
        let whole = || Run::new(self.record, self.intent);
        let of = |sequences, rows| Some(Run { sequences, rows: Some(rows), ..whole() });
        self.probe = of(vec![worst.unwrap_or(0)], chosen.clone());
        // There are many sequences, and each takes long.
        chosen.retain(|&row| row != 1 % rows && row != rows / 2 || rows < 4);
        self.wide = of((0..n).collect(), chosen);
    }
}

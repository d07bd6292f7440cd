//! Recipes tried on one tensor of a record: the right one, each mistake, and every two.

mod numbers;
mod outcomes;
mod trials;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use attention::Matrix;

use crate::compare::{Difference, spread};
use crate::digits::Digits;
use crate::level::{Level, RoundingError};
use crate::number::Number;
use crate::recipe::Recipe;
use crate::report::{OnProgress, Verdict};
use crate::{EmptyRow, Intent, Mistake, Mistakes, Progress, Record, Run, State, bank};

/// A record with so many numbers in its input is first looked at in part.
const MOST_WHOLE: usize = 3_000;

/// A recipe that is further from the numbers than this share of their spread is not theirs,
/// however coarse the precision.
const FARTHEST: f64 = 0.3;

/// Of a mistake that is named, the right recipe is so many times as far away.
const CLEARLY: f64 = 3.0;

/// A mistake is one of so many, as a power of 2.
const BITS_OF_MISTAKE: f64 = 7.0;

/// A mistake is nearer than what was meant, if it is within this share of the distance.
const NEARER: f64 = 0.5;

/// What is in a coarse precision beyond its tolerance, and is still no mistake.
const LOOSELY: f64 = 4.0;

/// A recipe with its mistakes, and how far a tensor of it is from the record's.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub state: State,
    pub mistakes: Mistakes,
    pub recipe: Recipe,
    /// A number of the layer that is another than was meant.
    pub number: Option<Number>,
    pub difference: Difference,
    pub empty_row: EmptyRow,
}

/// On what it depends whether a tensor is right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    /// It was computed in a coarser way than its numbers show.
    Coarser,
    /// Rounding moved it in the direction of one number, as rounding rarely does.
    Direction(Number),
    /// The same of what has a structure.
    Structure(String),
    /// Sums were kept in the precision, too.
    Loose,
}

/// What one tensor of the record is.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub verdict: Verdict,
    /// How it was computed, where something explains it.
    pub level: Option<Level>,
    /// Each explains it: mistakes, or another number, and perhaps a mistake.
    pub trials: Vec<Trial>,
    /// On what it depends whether it is right, and what is nearest if it is not.
    pub condition: Option<(Condition, Option<Trial>)>,
}

impl Outcome {
    const UNKNOWN: Self =
        Self { verdict: Verdict::Unknown, level: None, trials: vec![], condition: None };

    /// It is as each of these says.
    fn explained(level: Level, trials: Vec<Trial>) -> Self {
        Self { verdict: Verdict::Mistake, level: Some(level), trials, ..Self::UNKNOWN }
    }

    /// The mistakes that explain it, if no number is another.
    pub fn without_number(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|it| it.number.is_none())
    }

    fn least_rms(&self) -> f64 {
        least_rms(&self.trials)
    }
}

/// A tensor of the record, and what was found of it.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub state: State,
    pub spread: f64,
    /// Whether it is zeros alone.
    pub is_zero: bool,
    /// The right recipe, if its shape fits.
    pub right: Option<Trial>,
    /// What rounding makes of the right recipe, in this precision.
    pub rounding: Option<(Level, RoundingError)>,
    pub outcome: Outcome,
    /// The nearest of all that were tried.
    nearest: Option<Trial>,
}

impl Segment {
    /// A mistake that is clearly nearer than what was meant, or what was meant: of noise some
    /// mistake is always a little nearer.
    pub fn nearest(&self) -> Option<&Trial> {
        let right = self.right.as_ref();
        self.nearest.as_ref().filter(|it| is_nearer(it, right)).or(right)
    }
}

/// Whether a trial is clearly nearer than what was meant.
fn is_nearer(trial: &Trial, right: Option<&Trial>) -> bool {
    trial.difference.rms < NEARER * least_rms(right)
}

struct Single {
    trial: Trial,
    is_visible: bool,
}

/// The runs on one record.
pub(crate) struct Search<'a> {
    record: &'a Record,
    intent: &'a Intent,
    full: Run<'a>,
    /// One sequence and a few rows, for recipes in which sequences stay apart.
    probe: Option<Run<'a>>,
    /// All sequences and a few rows.
    wide: Option<Run<'a>>,
    jittered: OnceCell<[Record; trials::SEEDS.len()]>,
    /// How far each tensor of the record is at most from what its code gave, by its digits.
    digits: HashMap<State, f64>,
    progress: RefCell<OnProgress<'a>>,
}

impl<'a> Search<'a> {
    pub fn new(record: &'a Record, intent: &'a Intent, progress: OnProgress<'a>) -> Self {
        let of_digits = |given: &Vec<Matrix>| {
            Digits::of(given, record.precision).map_or(0.0, |digits| digits.error(given))
        };
        let digits = record.tensors.iter();
        Self {
            record,
            intent,
            full: Run::new(record, intent),
            probe: None,
            wide: None,
            jittered: OnceCell::new(),
            digits: digits.map(|(state, given)| (*state, of_digits(given))).collect(),
            progress: RefCell::new(progress),
        }
    }

    /// What this tensor of the record is.
    pub fn segment(&mut self, state: State) -> Segment {
        self.choose_parts(state);
        let given = &self.record.tensors[&state];
        let right = self.trial(&self.full, state, Vec::new());
        let look = Look {
            search: self,
            state,
            spread: spread(given),
            is_zero: given.iter().flatten().all(|&x| x == 0.0),
            nearest: RefCell::new(right.clone()),
            right,
            rounding: Cell::default(),
            singles: OnceCell::new(),
            numbers: OnceCell::new(),
        };
        let outcome = look.outcome();
        let Look { spread, is_zero, right, rounding, nearest, .. } = look;
        let (rounding, nearest) = (rounding.get(), nearest.into_inner());
        Segment { state, spread, is_zero, right, rounding, outcome, nearest }
    }

    /// The mistakes that this layer may have.
    fn possible(&self) -> impl Iterator<Item = &'static Mistake> {
        bank().filter(|it| it.is_possible(self.record, self.intent))
    }

    /// Possible mistakes that change no tensor of the record by more than rounding does, beside
    /// these that explain it.
    pub fn invisible(&self, segments: &[Segment], explanations: &[Mistakes]) -> Mistakes {
        let base = explanations.first().map_or(Recipe::RIGHT, |it| Recipe::with(it));
        let is_other =
            |it: &&'static Mistake| !explanations.iter().flatten().any(|m| m == it);
        let is_hidden = |run: &Run<'_>, segment: &Segment, recipe: &Recipe| {
            let apart = self.apart(run, segment.state, recipe, &base);
            apart.is_some_and(|apart| match segment.rounding {
                Some((level, error)) => level.explains(&apart, &error, 1.0),
                None => apart == Difference::default(),
            })
        };
        let changes_nothing = |mistake: &&'static Mistake| {
            let recipe = mistake.applied(base);
            let wider = if base.mixes_sequences() { &base } else { &recipe };
            // A part of what is wrong already is no other mistake; and what does not show in
            // a part of the record may in the whole.
            let whole = self.probe.is_some().then_some(&self.full);
            let mut runs = [Some(self.part_for(wider)), whole].into_iter().flatten();
            recipe != base
                && runs.all(|run| segments.iter().all(|it| is_hidden(run, it, &recipe)))
        };
        self.possible().filter(is_other).filter(changes_nothing).collect()
    }

    /// Whether this level explains what a layer with these mistakes differs by from the record.
    pub fn is_explained(&self, level: &Level, state: State, mistakes: &Mistakes) -> bool {
        let trial = self.trial(&self.full, state, mistakes.clone());
        trial.is_some_and(|it| {
            level.explains(&it.difference, &self.error(level, &it), 1.0)
        })
    }
}

/// One tensor of the record, while it is looked at.
struct Look<'s, 'a> {
    search: &'s Search<'a>,
    state: State,
    spread: f64,
    is_zero: bool,
    right: Option<Trial>,
    /// What rounding makes of it, in the precision that was tried last.
    rounding: Cell<Option<(Level, RoundingError)>>,
    nearest: RefCell<Option<Trial>>,
    singles: OnceCell<Vec<Single>>,
    numbers: OnceCell<Vec<Trial>>,
}

impl Look<'_, '_> {
    /// The record's own tensor.
    fn given(&self) -> &[Matrix] {
        &self.search.record.tensors[&self.state]
    }

    /// Every mistake on its own.
    fn singles(&self) -> &[Single] {
        self.singles.get_or_init(|| {
            self.search.possible().filter_map(|it| self.single(it)).collect()
        })
    }

    fn single(&self, mistake: &'static Mistake) -> Option<Single> {
        let (search, state, right) = (self.search, self.state, Recipe::RIGHT);
        let recipe = mistake.applied(right);
        if recipe.before(state) == right.before(state) {
            return None;
        }
        let run = search.part_for(&recipe);
        run.keeps.set(true);
        let trial = search.trial(run, state, vec![mistake])?;
        let apart = search.apart(run, state, &recipe, &right);
        let is_visible = apart.is_none_or(|apart| apart.rms > 0.0);
        Some(Single { trial: self.confirmed(trial), is_visible })
    }

    /// Every two mistakes that show and are not of one choice, and mix sequences or do not;
    /// one of them is in a list, if there is one.
    fn pairs(&self, mixes: bool, list: &[&'static Mistake]) -> Vec<Trial> {
        let (search, state) = (self.search, self.state);
        let is_tried = |it: &&Single| it.is_visible && !it.trial.mistakes[0].is_alone;
        let singles = self.singles();
        let visible: Vec<&Trial> =
            singles.iter().filter(is_tried).map(|it| &it.trial).collect();
        let known = singles.iter().map(|it| it.trial.recipe).chain([Recipe::RIGHT]);
        let mut seen: HashSet<Recipe> = known.map(|it| it.before(state)).collect();
        let total = visible.len() * visible.len().saturating_sub(1) / 2;
        let (mut pairs, mut tried) = (Vec::new(), 0);
        for (i, first) in visible.iter().enumerate() {
            for second in &visible[i + 1..] {
                tried += 1;
                let (a, b) = (first.mistakes[0], second.mistakes[0]);
                let is_listed = list.is_empty() || list.contains(&a) || list.contains(&b);
                let recipe = b.applied(first.recipe);
                let is_one_choice = a.applied(second.recipe) != recipe;
                let is_it =
                    is_listed && !is_one_choice && recipe.mixes_sequences() == mixes;
                if !is_it || !seen.insert(recipe.before(state)) {
                    continue;
                }
                let run = search.part_for(&recipe);
                run.keeps.set(false);
                let trial = search.trial(run, state, vec![a, b]);
                let trial = trial.map(|trial| self.confirmed(trial));
                pairs.extend(trial.filter(|trial| self.is_near(trial)));
            }
            (search.progress.borrow_mut())(Progress { state, tried, total });
        }
        pairs
    }

    /// A trial on a part is one on the whole, if it is near; the nearest is kept.
    fn confirmed(&self, trial: Trial) -> Trial {
        let Search { probe, full, .. } = self.search;
        let whole = if probe.is_some() && self.is_near(&trial) {
            full.keeps.set(false);
            self.search.trial(full, self.state, trial.mistakes.clone()).unwrap_or(trial)
        } else {
            trial
        };
        let mut nearest = self.nearest.borrow_mut();
        if whole.difference.rms < least_rms(nearest.as_ref()) {
            *nearest = Some(whole.clone());
        }
        whole
    }

    /// Whether a trial may be what the numbers are, in some precision.
    fn is_near(&self, trial: &Trial) -> bool {
        trial.difference.rms
            <= (FARTHEST * self.spread).max(self.search.digits[&self.state])
    }

    /// Those that rounding of this level explains.
    fn fitting(&self, level: &Level, trials: &[Trial]) -> Vec<Trial> {
        let right = least_rms(&self.right);
        let error_if_fitting = |trial: &Trial| {
            let rms = trial.difference.rms;
            let is_clear = self.is_near(trial) && rms * CLEARLY <= right;
            // Of so many mistakes, one brings few entries nearer by chance.
            let nearer = (right / rms.max(f64::MIN_POSITIVE)).log2();
            let bits = BITS_OF_MISTAKE * trial.mistakes.len() as f64;
            let entries = trial.difference.finite;
            if !is_clear || entries == 0 || self.entries(trial) * nearer < bits {
                return None;
            }
            let error = self.search.error(level, trial);
            let is_it = level.explains(&trial.difference, &error, 1.0);
            is_it.then(|| (trial.clone(), error.total()))
        };
        let mut fitting: Vec<(Trial, f64)> =
            trials.iter().filter_map(error_if_fitting).collect();
        let nearest = least_rms(fitting.iter().map(|it| &it.0));
        fitting.retain(|it| it.0.difference.rms <= (2.0 * nearest).max(it.1));
        fitting.into_iter().map(|(trial, _)| trial).collect()
    }
}

/// The order of trials: the nearest first.
fn nearer(a: &Trial, b: &Trial) -> std::cmp::Ordering {
    a.difference.rms.total_cmp(&b.difference.rms)
}

/// How far the nearest of these is.
fn least_rms<'t>(trials: impl IntoIterator<Item = &'t Trial>) -> f64 {
    trials.into_iter().map(|it| it.difference.rms).fold(f64::INFINITY, f64::min)
}

//! What a record says of its layer.

use attention::Matrix;
use serde::Serialize;

use crate::explain::explanations;
use crate::number::{Kind, Number};
use crate::places::Places;
use crate::recipe::{Recipe, Softmax};
use crate::report::{
    Conditional, Distance, Nearest, OnProgress, Progress, StepReport, TensorReport,
    Verdict,
};
use crate::search::{Condition, Outcome, Search, Segment, Trial};
use crate::step::{State, Step};
use crate::{
    EmptyRow, Error, Intent, Mistake, Mistakes, Precision, Record, Result, Run, readings,
};

/// What a record says of its layer.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// What it comes to.
    pub verdict: Verdict,
    /// Sets of mistakes, each of which explains what could be explained. Several sets are
    /// several readings of the same numbers, which [`separate`](crate::separate) may tell
    /// apart; in each, mistakes stand in the order of the steps.
    pub explanations: Vec<Mistakes>,
    /// A number of the layer that is another than was meant, fitted.
    pub number: Option<Number>,
    /// The same in words: `scaled by 0.277, 1/√13; meant was 0.354, 1/√8`.
    pub number_words: Option<String>,
    /// Where it is right on a condition: on which.
    pub condition: Option<Conditional>,
    /// In which precision it was computed, by its numbers.
    pub precision: &'static str,
    /// Each tensor of the record, in the order of the steps.
    pub tensors: Vec<TensorReport>,
    /// The first of them that is not what was meant.
    pub first_difference: Option<State>,
    /// Every step of a layer, and what is in it.
    pub steps: Vec<StepReport>,
    /// Where something is unknown: the mistakes that are clearly nearer than what was meant,
    /// or what was meant.
    pub nearest: Option<Nearest>,
    /// Where something is unknown: where it differs most from the nearest.
    pub places: Option<Places>,
    /// Mistakes that are possible, and change nothing in these numbers that rounding does not,
    /// beside those of the first explanation.
    #[serde(skip)]
    pub invisible: Mistakes,
    /// What queries without a key were given, if there are any.
    pub empty_row: Option<EmptyRow>,
    /// What else is to be known of it: how tensors were read, what is NaN and why.
    pub remarks: Vec<String>,
}

/// What is wrong with a layer, if anything is.
///
/// # Errors
/// [`Error`](crate::Error) where shapes do not fit the intent, or there is no output.
pub fn diagnose(record: &Record, intent: &Intent) -> Result<Diagnosis> {
    diagnose_with(record, intent, &mut |_| ())
}

/// The same, and it says how far it is.
///
/// # Errors
/// As [`diagnose`].
pub fn diagnose_with(
    record: &Record,
    intent: &Intent,
    progress: &mut dyn FnMut(Progress),
) -> Result<Diagnosis> {
    record.check(intent)?;
    let mut best = one_reading(record, intent, progress);
    for reading in readings::of(&Run::new(record, intent), &best.tensors) {
        if best.verdict == Verdict::Right {
            break;
        }
        let mut other = one_reading(&reading.record, intent, progress);
        // What kernels do wrong, they do to every sequence.
        let is_of_some = reading.record.batch() < record.batch();
        let is_alone = other.explanations.iter().flatten().any(|it| it.is_alone);
        // What is read as multiplied, and then needs another scale, is not read so.
        let is_undone =
            reading.is_scaled && other.number.is_some_and(|it| it.kind == Kind::Scale);
        let is_none = is_undone || is_of_some && is_alone;
        if other.rank() < best.rank() && !is_none {
            other.remarks.push(reading.remark);
            best = other;
        }
    }
    if best.verdict == Verdict::Unknown {
        check_shapes(record, intent, &best)?;
    }
    best.remarks.extend(crate::places::not_a_number(&Run::new(record, intent)));
    best.remarks.extend(best.places.as_ref().and_then(|it| it.remark(record)));
    let is_batch_axis = |set: &Vec<&Mistake>| set.iter().any(|it| it.id == "batch-axis");
    if best.explanations.iter().any(is_batch_axis) {
        best.remarks.push(
            "if the tensors are (n, batch, d) and not (batch, n, d), nothing is wrong with \
             the axes: read them so."
                .to_string(),
        );
    }
    Ok(best)
}

/// A tensor of a shape that neither the layer nor any mistake has cannot be compared.
fn check_shapes(record: &Record, intent: &Intent, diagnosis: &Diagnosis) -> Result<()> {
    let is_unknown = |it: &&TensorReport| it.verdict == Verdict::Unknown;
    let Some(tensor) = diagnosis.tensors.iter().find(is_unknown) else { return Ok(()) };
    let state = tensor.tensor;
    let shape = |all: &[Matrix]| [all.len(), all[0].nrows(), all[0].ncols()];
    let found = shape(&record.tensors[&state]);
    match computed(record, intent, state, &[]) {
        Some(right) if diagnosis.nearest.is_none() => {
            Err(Error::Shape { state, found, expected: shape(&right) })
        }
        _ => Ok(()),
    }
}

impl Diagnosis {
    /// Right is before one mistake, and that before two; unknown is last.
    fn rank(&self) -> (Verdict, usize) {
        let size = self.explanations.first().map_or(0, Vec::len);
        (self.verdict, size + usize::from(self.number.is_some()))
    }
}

fn one_reading(record: &Record, intent: &Intent, progress: OnProgress<'_>) -> Diagnosis {
    let mut search = Search::new(record, intent, progress);
    let states = record.tensors.keys();
    let segments: Vec<Segment> = states.map(|state| search.segment(*state)).collect();
    let explanations = explanations(&search, &segments);
    let is_unknown = |it: &&Segment| {
        // What explains it may change what is right.
        let is_explained = it.outcome.without_number().next().is_some();
        it.outcome.verdict == Verdict::Unknown || is_explained && explanations.is_empty()
    };
    let unknown = segments.iter().find(is_unknown);
    let number = |it: &Segment| it.outcome.trials.first()?.number;
    let number = segments.iter().find_map(number);
    let condition = segments.iter().find_map(conditional);
    let verdict = match unknown {
        Some(_) => Verdict::Unknown,
        None if !explanations.is_empty() || number.is_some() => Verdict::Mistake,
        None if condition.is_some() => Verdict::Condition,
        None => Verdict::Right,
    };
    let invisible = search.invisible(&segments, &explanations);
    let run = Run::new(record, intent);
    let tensors: Vec<TensorReport> = segments.iter().map(report).collect();
    let is_other = |it: &&TensorReport| it.verdict > Verdict::Condition;
    Diagnosis {
        verdict,
        number,
        number_words: number.map(|number| number.words()),
        condition: condition.filter(|_| verdict == Verdict::Condition),
        precision: tensors.last().map_or("", |it| it.precision),
        first_difference: tensors.iter().find(is_other).map(|it| it.tensor),
        tensors,
        steps: steps(&explanations),
        nearest: unknown.and_then(nearest),
        places: unknown.and_then(|segment| Places::of(&run, segment)),
        invisible,
        empty_row: empty_row(&run, &segments),
        remarks: remarks(&run, &segments),
        explanations,
    }
}

/// What is to be so for a tensor to be right.
fn conditional(segment: &Segment) -> Option<Conditional> {
    let (condition, nearest) = segment.outcome.condition.as_ref()?;
    let computing = segment.outcome.level?.computing;
    let name = computing.name();
    let towards = |what: &str| {
        format!(
            "rounding in {name} moved it in one direction, as rounding rarely does: that of \
             {what}"
        )
    };
    let only_if = match condition {
        Condition::Coarser => match computing {
            Precision::TF32 => "your code multiplies in TF32".to_string(),
            Precision::BrainProducts => "your code multiplies in bfloat16".to_string(),
            _ => format!("your code computes in {name}"),
        },
        Condition::Loose => format!(
            "your code keeps sums in {name}: it is up to four times as far from what was meant \
             as rounding in this precision gives here, which could also hide a mistake"
        ),
        Condition::Direction(number) => towards(&number.words()),
        Condition::Structure(what) => towards(what),
    };
    let otherwise = nearest.as_ref().map(|trial| match trial.number {
        Some(number) => number.words(),
        None => Mistake::names(&trial.mistakes),
    });
    Some(Conditional { tensor: segment.state, only_if, otherwise })
}

fn report(segment: &Segment) -> TensorReport {
    let Outcome { verdict, level, .. } = segment.outcome;
    TensorReport {
        tensor: segment.state,
        verdict,
        distance: segment.right.as_ref().map(|right| distance(segment, right)),
        precision: level.map_or("unknown", |level| level.computing.name()),
        is_zero: segment.is_zero,
    }
}

fn distance(segment: &Segment, trial: &Trial) -> Distance {
    Distance {
        rms: trial.difference.rms,
        largest: trial.difference.largest,
        n_not_finite: trial.difference.n_not_finite,
        tolerance: segment.rounding.map_or(0.0, |(_, error)| error.total()),
        precision: segment.rounding.map_or("", |(level, _)| level.computing.name()),
        spread: segment.spread,
    }
}

fn steps(explanations: &[Mistakes]) -> Vec<StepReport> {
    let of = |&step: &Step| {
        let mut mistakes = Vec::new();
        for mistake in explanations.iter().flatten().filter(|it| it.step == step) {
            if !mistakes.contains(&mistake.id) {
                mistakes.push(mistake.id);
            }
        }
        StepReport { step, name: step.name(), mistakes }
    };
    Step::ALL.iter().map(of).collect()
}

fn nearest(segment: &Segment) -> Option<Nearest> {
    let trial = segment.nearest()?;
    Some(Nearest { mistakes: trial.mistakes.clone(), distance: distance(segment, trial) })
}

/// What the code gave to queries that may attend to no key.
fn empty_row(run: &Run<'_>, segments: &[Segment]) -> Option<EmptyRow> {
    let segment = segments.iter().find(|it| it.state >= State::Attn)?;
    let is_known = segment.outcome.verdict != Verdict::Unknown;
    let trial = segment.outcome.trials.first().or(segment.right.as_ref());
    let trial = trial.filter(|_| is_known)?;
    run.has_empty_rows(&trial.recipe).then_some(trial.empty_row)
}

fn remarks(run: &Run<'_>, segments: &[Segment]) -> Vec<String> {
    let mut remarks: Vec<String> = segments.iter().filter_map(remark_of).collect();
    for trial in segments.iter().flat_map(|segment| segment.outcome.without_number()) {
        let (name, tile) = (&trial.mistakes[0].entry().name, trial.recipe.tile);
        if tile > 0 {
            remarks.push(format!("{name}: it is so with tiles of {tile}."));
        }
        if trial.recipe.softmax == Softmax::Dropped
            && let Some(p) = run.dropped()
        {
            remarks.push(format!("{name}: p is {p:.3}."));
        }
    }
    remarks
}

fn remark_of(segment: &Segment) -> Option<String> {
    let name = segment.state.name();
    match segment.outcome.verdict {
        Verdict::Right | Verdict::Condition if is_coarse(segment) => Some(format!(
            "{name} is right as far as its digits and those before it tell: their \
             rounding is much of what there is, and a mistake may be within it."
        )),
        Verdict::Unknown if segment.is_zero => Some(format!(
            "{name} is zeros alone, and should not be. A mask that blocks every key, a tensor \
             that was never filled and much else give that, so no mistake is named; the \
             tensors before it say where the zeros begin."
        )),
        _ => None,
    }
}

/// Whether rounding hides what many mistakes change.
fn is_coarse(segment: &Segment) -> bool {
    let both = segment.outcome.level.zip(segment.rounding);
    let tolerance = both.map_or(0.0, |(level, (_, error))| level.tolerance(&error));
    tolerance > 0.1 * segment.spread
}

/// A tensor of the layer with these mistakes, made from the record's own tensors before it:
/// a matrix a sequence, or one a head. Nothing where shapes do not fit.
pub fn computed(
    record: &Record,
    intent: &Intent,
    state: State,
    mistakes: &[&Mistake],
) -> Option<Vec<Matrix>> {
    let tensor = Run::new(record, intent).step(state, &Recipe::with(mistakes))?;
    Some(tensor.to_vec())
}

//! Other readings of a tensor's name: code that is right may record scores before they are
//! divided, or queries after they were.

use attention::Matrix;

use crate::compare::{difference, is_one_shape};
use crate::recipe::Recipe;
use crate::report::{TensorReport, Verdict};
use crate::step::State;
use crate::{NormKind, Record, Run};

/// A record with a tensor read in another way, and what to say of it.
pub(crate) struct Reading {
    pub record: Record,
    pub remark: String,
    /// Whether it is a tensor times a number.
    pub is_scaled: bool,
}

/// The readings that are worth a try, since a tensor's first reading is not right.
pub(crate) fn of(run: &Run<'_>, first: &[TensorReport]) -> Vec<Reading> {
    let record = run.record;
    let is_wrong =
        |state| first.iter().any(|it| it.tensor == state && it.verdict != Verdict::Right);
    let mut readings = Vec::new();
    let scale = run.right_scale();
    if is_wrong(State::Scores) {
        readings.extend(scaled(record, State::Scores, scale, "before they are divided"));
        readings.extend(after_mask(run));
    }
    if is_wrong(State::Query) {
        let by = |factor, when| scaled(record, State::Query, factor, when);
        readings.extend(by(1.0 / scale, "after they were divided"));
        let by_root = "after they were divided by the root of it";
        readings.extend(by(1.0 / scale.sqrt(), by_root));
    }
    readings.extend(other_norms(record));
    readings.extend(of_some_sequences(run, first));
    readings
}

/// The sequences that differ, where nothing explains the record and others are right.
fn of_some_sequences(run: &Run<'_>, first: &[TensorReport]) -> Option<Reading> {
    const ROUNDING: f64 = 8.0;
    const DIFFERS: f64 = 32.0;
    let (record, batch) = (run.record, run.record.batch());
    // How far each sequence is from what was meant, over what rounding does.
    let mut far = vec![0.0_f64; batch];
    for report in first {
        let right = run.step(report.tensor, &Recipe::RIGHT)?;
        let given = &record.tensors[&report.tensor];
        let each = given.len() / batch;
        let rounding = report.distance?.tolerance;
        for (s, far) in far.iter_mut().enumerate() {
            let of = s * each..(s + 1) * each;
            *far = far.max(difference(&given[of.clone()], &right[of])?.rms / rounding);
        }
    }
    let wrong: Vec<usize> = (0..batch).filter(|&s| far[s] > DIFFERS).collect();
    let is_clear = far.iter().all(|&far| far <= ROUNDING || far > DIFFERS);
    let is_unknown = first.iter().any(|it| it.verdict == Verdict::Unknown);
    if wrong.is_empty() || wrong.len() == batch || !is_clear || !is_unknown {
        return None;
    }
    let list: Vec<String> = wrong.iter().map(usize::to_string).collect();
    let all = list.join(", ");
    let remark = match list.len() {
        1 => format!("sequence {all} alone differs, and this is said of it."),
        _ => format!("sequences {all} alone differ, and this is said of them."),
    };
    Some(Reading { record: record.of_sequences(&wrong), remark, is_scaled: false })
}

/// Norms that nothing says the kind of, as the other kind.
fn other_norms(record: &Record) -> Option<Reading> {
    let mut record = record.clone();
    let norms = record.weights.norms.as_mut()?;
    if norms.iter().any(|norm| norm.kind != NormKind::Unsaid) {
        return None;
    }
    norms.iter_mut().for_each(|norm| norm.kind = NormKind::Layer);
    let remark = "norms of queries and keys are read as layer norms without a bias: nothing \
                  says which they are.";
    Some(Reading { record, remark: remark.to_string(), is_scaled: false })
}

fn scaled(record: &Record, state: State, factor: f64, when: &str) -> Option<Reading> {
    if factor == 1.0 {
        return None;
    }
    let mut record = record.clone();
    record.tensors.get_mut(&state)?.iter_mut().for_each(|m| *m *= factor);
    let remark = format!("{} is read as {when}.", state.name());
    Some(Reading { record, remark, is_scaled: true })
}

/// Scores that are recorded with the mask on them: blocked ones tell nothing of the step.
fn after_mask(run: &Run<'_>) -> Option<Reading> {
    const BLOCKED: f64 = -1e4;
    let (record, mut read) = (run.record, run.record.clone());
    read.tensors.remove(&State::Scores);
    let right = Run::new(&read, run.intent).step(State::Scores, &Recipe::RIGHT)?;
    let scores = record.tensors.get(&State::Scores)?;
    let is_blocked = |m: &Matrix| m.iter().any(|&score| score <= BLOCKED);
    if !scores.iter().any(is_blocked) || !is_one_shape(scores, &right) {
        return None;
    }
    let open = |(given, right): (&Matrix, &Matrix)| {
        given.zip_map(right, |a, b| if a <= BLOCKED { b } else { a })
    };
    read.tensors
        .insert(State::Scores, scores.iter().zip(right.iter()).map(open).collect());
    let remark = "scores is read as after the mask: blocked ones are left out.";
    Some(Reading { record: read, remark: remark.to_string(), is_scaled: false })
}

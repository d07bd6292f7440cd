//! What cannot be in a sheet.

use std::fs;
use std::path::Path;

use attention::Matrix;
use catalogue::Exercise;
use exercises::{
    CaseNumbers, Numbers, Outcome, Parts, Record, Verdict, Wrong, record, same_answer,
    same_shapes, thinned, verdict,
};

use crate::{Role, Tried};

/// Everything that is wrong with an exercise, with file and line.
pub fn faults(exercise: &Exercise, tried: &[Tried], kept: &Numbers) -> Vec<String> {
    let mut faults = Vec::new();
    for answer in tried {
        let outcomes = answer.record.numbers(&kept.cases);
        let fault = match answer.role {
            Role::Right => is_other_than_the_solution(answer, &tried[0], kept)
                .map(|how| format!("a right answer that is not the solution’s: {how}"))
                .or_else(|| is_refused(exercise, answer, kept)),
            Role::Mistake(mistake, nth) => {
                let fault = is_no_mistake(answer, &outcomes, kept);
                fault
                    .or_else(|| is_as_another(exercise, mistake, answer, &outcomes, kept))
                    .or_else(|| is_called_otherwise(exercise, mistake, nth, answer, kept))
            }
            // What is said of an unknown answer may be another thing on other inputs.
            Role::Other(_) if kept.seed != 0 => None,
            Role::Other(expected) => {
                let said =
                    crate::verdicts::headline(exercise, &verdict(answer.main, kept));
                (said != expected).then(|| format!("it is said that it {said}"))
            }
        };
        let file = exercise.file();
        let variant = exercise.variant.as_ref().map(|id| format!("in variant {id}, "));
        let variant = variant.unwrap_or_default();
        let seed = match kept.seed {
            0 => String::new(),
            seed => format!(" (on inputs of seed {seed})"),
        };
        let line = answer.line;
        faults.extend(fault.map(|it| format!("{file}:{line}: {variant}{it}{seed}")));
    }
    faults
}

/// Inputs of another seed, on which right answers must agree too.
const ANOTHER: u64 = 1000;

fn is_other_than_the_solution(
    answer: &Tried,
    solution: &Tried,
    kept: &Numbers,
) -> Option<String> {
    let right = kept.cases.iter().map(|case| (case.sizes.as_str(), &case.right));
    let fault = first_difference(&answer.record, right).map(|how| format!("with {how}"));
    fault.or_else(|| {
        let [own, solution] = [answer, solution].map(|it| record(it.main, ANOTHER));
        let (own, solution) = (own?, solution?);
        let cases = solution.cases.iter().zip(&solution.outcomes);
        let right = cases.filter_map(|((sizes, ..), outcome)| match outcome {
            Outcome::Value(parts) => Some((sizes.as_str(), parts)),
            Outcome::Panicked(_) => None,
        });
        let right: Vec<_> = right.collect();
        if right.len() < own.cases.len() {
            return Some(format!("the solution panics on inputs of seed {ANOTHER}"));
        }
        let how = first_difference(&own, right.into_iter())?;
        Some(format!("on inputs of seed {ANOTHER}, with {how}"))
    })
}

/// A right answer that the check does not pass.
fn is_refused(exercise: &Exercise, answer: &Tried, kept: &Numbers) -> Option<String> {
    let verdict = verdict(answer.main, kept);
    (verdict != Verdict::Passed).then(|| {
        format!("of a right answer: {}", crate::verdicts::headline(exercise, &verdict))
    })
}

/// The first case on which an answer is not right.
fn first_difference<'a>(
    record: &Record,
    right: impl Iterator<Item = (&'a str, &'a Vec<Matrix>)>,
) -> Option<String> {
    right.zip(&record.outcomes).find_map(|((sizes, right), outcome)| match outcome {
        Outcome::Value(parts) => {
            (!same_answer(parts, right, record.tolerance)).then(|| sizes.to_owned())
        }
        Outcome::Panicked(panic) => Some(format!("{sizes} it panics: {}", panic.message)),
    })
}

/// A mistake that is right, or has wrong numbers of the right shape nowhere: a panic or a wrong
/// shape everywhere would need no sheet to be found.
fn is_no_mistake(
    answer: &Tried,
    outcomes: &[Option<Parts>],
    kept: &Numbers,
) -> Option<String> {
    if outcomes.iter().all(Option::is_none) {
        return Some("it gives the right numbers on every input".into());
    }
    let shows = outcomes.iter().zip(&kept.cases).any(|(outcome, case)| match outcome {
        Some(Some(parts)) => {
            answer.record.is_list || same_shapes(parts, &thinned(&case.right))
        }
        _ => false,
    });
    (!shows).then(|| {
        let panic = answer.record.outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Panicked(panic) => {
                Some(format!(" ({} {})", panic.at, panic.message))
            }
            Outcome::Value(_) => None,
        });
        let panic = panic.unwrap_or_default();
        format!("it has the right shape on no input where it differs{panic}")
    })
}

/// A mistake that does what one of another id does.
fn is_as_another(
    exercise: &Exercise,
    mistake: usize,
    answer: &Tried,
    outcomes: &[Option<Parts>],
    kept: &Numbers,
) -> Option<String> {
    let mistakes = &exercise.sheet.mistakes;
    let id = &mistakes[mistake].id;
    let others = kept.wrong.iter().filter(|other| other.id != *id);
    let twin = others
        .into_iter()
        .find(|other| same(other, outcomes, &kept.cases, &answer.record))?;
    let (name, line) = (&mistakes[twin.mistake].name, mistakes[twin.mistake].line);
    Some(format!("it gives the numbers of “{name}”, in line {line}"))
}

/// A mistake that the check calls by another name.
fn is_called_otherwise(
    exercise: &Exercise,
    mistake: usize,
    nth: usize,
    answer: &Tried,
    kept: &Numbers,
) -> Option<String> {
    let mistakes = &exercise.sheet.mistakes;
    match verdict(answer.main, kept) {
        Verdict::Mistake { mistake: said, .. }
            if mistakes[said].id == mistakes[mistake].id =>
        {
            None
        }
        said => {
            let said = crate::verdicts::headline(exercise, &said);
            Some(format!("answer {nth} of “{}”: {said}", mistakes[mistake].name))
        }
    }
}

/// Whether a mistake gives these numbers.
pub fn same(
    known: &Wrong,
    outcomes: &[Option<Parts>],
    cases: &[CaseNumbers],
    record: &Record,
) -> bool {
    let whole = |outcome: &Option<Parts>, case: &CaseNumbers| match outcome {
        Some(parts) => parts.clone(),
        None => Some(thinned(&case.right)),
    };
    let pairs = known.outcomes.iter().zip(outcomes).zip(cases);
    pairs.into_iter().all(|((a, b), case)| match (whole(a, case), whole(b, case)) {
        (None, None) => true,
        (Some(a), Some(b)) => same_answer(&a, &b, record.tolerance),
        _ => false,
    })
}

/// How what is kept differs from what was computed: by more than another machine rounds.
pub fn differs(path: &Path, computed: &Numbers) -> Option<String> {
    const ROUNDING: f64 = 1e-9;
    let shown = path.display();
    let kept = match fs::read(path).map(|file| Numbers::read(&file)) {
        Ok(Some(kept)) => kept,
        Ok(None) => return Some(format!("{shown}: damaged")),
        Err(error) => return Some(format!("{shown}: {error}")),
    };
    let near = |a: &Parts, b: &Parts| match (a, b) {
        (Some(a), Some(b)) => same_answer(a, b, ROUNDING),
        (a, b) => a.is_none() && b.is_none(),
    };
    let same_cases = kept.cases.len() == computed.cases.len()
        && kept.cases.iter().zip(&computed.cases).all(|(a, b)| {
            (&a.sizes, a.square) == (&b.sizes, b.square)
                && same_answer(&a.right, &b.right, ROUNDING)
        });
    let same_wrong = kept.wrong.len() == computed.wrong.len()
        && kept.wrong.iter().zip(&computed.wrong).all(|(a, b)| {
            (a.mistake, a.answer, &a.id) == (b.mistake, b.answer, &b.id)
                && a.outcomes.iter().zip(&b.outcomes).all(|(a, b)| match (a, b) {
                    (Some(a), Some(b)) => near(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                })
        });
    let is_same = kept.made_from == computed.made_from && same_cases && same_wrong;
    (!is_same).then(|| {
        let name = &computed.name;
        format!("{shown} has other numbers: `cargo learn mistakes {name}` keeps these")
    })
}

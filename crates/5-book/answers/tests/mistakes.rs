//! Every right answer and every mistake of the bank as numbers: in f64, f32, bf16 and with four
//! digits, as they are printed.

use answers::{Outputs, printed};
use attention::Matrix;
use catalogue::Elsewhere;
use exercises::{AnyExercise, Numbers, Outcome, Verdict};

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    F64,
    F32,
    Bf16,
    FourDigits,
}

impl Form {
    const ALL: [Self; 4] = [Self::F64, Self::F32, Self::Bf16, Self::FourDigits];

    fn number(self, x: f64) -> String {
        let x = match self {
            Self::F64 | Self::FourDigits => x,
            Self::F32 => f64::from(x as f32),
            Self::Bf16 => bf16(x),
        };
        match self {
            _ if x.is_nan() => "nan".into(),
            _ if x.is_infinite() => {
                if x > 0.0 {
                    "inf".into()
                } else {
                    "-inf".into()
                }
            }
            Self::FourDigits if x != 0.0 && !(1e-3..1e4).contains(&x.abs()) => {
                format!("{x:.4e}")
            }
            Self::FourDigits if x.fract() == 0.0 => format!("{x}."),
            Self::FourDigits => format!("{x:.4}"),
            _ => format!("{x:?}"),
        }
    }

    fn matrix(self, matrix: &Matrix) -> String {
        let rows = matrix.row_iter().map(|row| {
            let row: Vec<_> = row.iter().map(|&x| self.number(x)).collect();
            format!("[{}]", row.join(", "))
        });
        let rows = rows.collect::<Vec<_>>().join(",\n        ");
        let dtype = if self == Self::Bf16 { ", dtype=torch.bfloat16" } else { "" };
        format!("tensor([{rows}]{dtype})")
    }
}

/// The nearest number with 8 bits.
fn bf16(x: f64) -> f64 {
    if !x.is_finite() {
        return x;
    }
    let bits = (x as f32).to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000;
    f64::from(f32::from_bits(rounded))
}

/// What a mistake gives on every case, as it would be printed; nothing where it panics on one,
/// or is kept in part.
fn text(form: Form, cases: &[Vec<Matrix>]) -> String {
    let case = |parts: &Vec<Matrix>| {
        let parts: Vec<_> = parts.iter().map(|part| form.matrix(part)).collect();
        match &parts[..] {
            [only] => only.clone(),
            _ => format!("({})", parts.join(", ")),
        }
    };
    let cases: Vec<_> = cases.iter().map(case).collect();
    format!("[{}]", cases.join(",\n "))
}

/// What each mistake gives, and its place in the sheet.
fn wrong(kept: &Numbers) -> impl Iterator<Item = (usize, &str, Vec<Vec<Matrix>>)> {
    kept.wrong.iter().filter_map(|wrong| {
        let given =
            wrong.outcomes(&kept.cases).into_iter().map(|outcome| match outcome {
                Outcome::Value(parts) => Some(parts),
                Outcome::Panicked(_) => None,
            });
        let given: Option<Vec<_>> = given.collect();
        let is_whole = |parts: &Vec<Matrix>| parts.iter().all(|part| !part.is_empty());
        let given = given.filter(|all| all.iter().all(is_whole))?;
        Some((wrong.mistake, wrong.id.as_str(), given))
    })
}

#[derive(Default)]
struct Count {
    right: usize,
    named: usize,
    grouped: usize,
    faults: Vec<String>,
}

impl Count {
    fn add(&mut self, what: &str, form: Form, found: &Verdict, mistake: Option<usize>) {
        let is_coarse = matches!(form, Form::Bf16 | Form::FourDigits);
        match (found, mistake) {
            (Verdict::Passed, None) => self.right += 1,
            (Verdict::Mistake { mistake: found, .. }, Some(mistake))
                if *found == mistake =>
            {
                self.named += 1;
            }
            (Verdict::Coarse { may_be_right: true, .. }, None) if is_coarse => {
                self.grouped += 1
            }
            (Verdict::Coarse { mistakes, .. }, Some(mistake))
                if is_coarse && mistakes.contains(&mistake) =>
            {
                self.grouped += 1;
            }
            _ => self.faults.push(format!("{what} in {form:?}: {found:?}")),
        }
    }
}

fn checked(exercise: &dyn AnyExercise, kept: &Numbers, given: &str) -> Verdict {
    let read =
        printed(given).unwrap_or_else(|error| panic!("{}: {error}", exercise.name()));
    let found = Outputs::of_value(exercise, kept, read.value, read.precision);
    let found = found.unwrap_or_else(|error| panic!("{}: {error}", exercise.name()));
    found.verdict(exercise, kept)
}

#[test]
fn every_mistake_is_named_by_its_numbers_alone() {
    let mut counts: [Count; 4] = Default::default();
    let mut n_exercises = 0;
    for exercise in catalogue::all().unwrap() {
        let Elsewhere::Function(_) = exercise.sheet.elsewhere else { continue };
        n_exercises += 1;
        let any = exercises::any(&exercise.name).expect("a function of numbers");
        let kept = Numbers::of(exercise).unwrap();
        let right: Vec<_> = kept.cases.iter().map(|case| case.right.clone()).collect();
        for (form, count) in Form::ALL.into_iter().zip(&mut counts) {
            let found = checked(any, &kept, &text(form, &right));
            count.add(&format!("{}: right", exercise.name), form, &found, None);
            for (mistake, id, given) in wrong(&kept) {
                let found = checked(any, &kept, &text(form, &given));
                count.add(
                    &format!("{}: {id}", exercise.name),
                    form,
                    &found,
                    Some(mistake),
                );
            }
        }
    }
    println!("{n_exercises} exercises");
    for (form, count) in Form::ALL.into_iter().zip(&counts) {
        let Count { right, named, grouped, faults } = count;
        println!(
            "{form:?}: {right} right, {named} named, {grouped} as one of several, {} otherwise",
            faults.len()
        );
        for fault in faults.iter().take(12) {
            println!("  {fault:.300}");
        }
    }
    assert!(n_exercises >= 35);
    assert!(counts.iter().all(|count| count.faults.is_empty()));
}

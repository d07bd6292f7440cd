//! A check from an answer to its words.

use std::fs;
use std::process::ExitCode;

use crate::{
    Difference, Matrix, Numbers, Outcome, Precision, Verdict, any, message, record,
    scale, softmax_rows, verdict,
};

fn by_root_of_d_model() -> ExitCode {
    scale::check(|q, k, d_model| {
        softmax_rows(q * k.transpose() / (d_model as f64).sqrt())
    })
}

fn right_in_f32() -> ExitCode {
    scale::check(|q, k, _| {
        let [q, k] = [q, k].map(|x| x.map(|x| x as f32));
        let scores = &q * k.transpose() / (q.ncols() as f32).sqrt();
        softmax_rows(scores.map(f64::from))
    })
}

fn unknown() -> ExitCode {
    scale::check(|q, k, _| {
        let scores = q * k.transpose();
        softmax_rows(scores.map(|score| score.cbrt()))
    })
}

/// Shown in the book.
#[test]
fn a_named_mistake() {
    let exercise = catalogue::find("scale").unwrap();
    let kept = Numbers::of(&exercise).unwrap();
    let verdict = verdict(by_root_of_d_model, &kept);
    insta::assert_snapshot!("a_named_mistake", message(&exercise, &verdict));
}

#[test]
fn what_is_right_passes_and_what_is_not_known_is_said_to_be() {
    let exercise = catalogue::find("scale").unwrap();
    let kept = Numbers::of(&exercise).unwrap();
    assert_eq!(verdict(right_in_f32, &kept), Verdict::Passed);
    let Verdict::Unknown { n_known, .. } = verdict(unknown, &kept) else {
        panic!("known")
    };
    assert_eq!(
        n_known,
        kept.wrong
            .iter()
            .map(|it| &it.id)
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    );
}

#[test]
fn numbers_of_another_sheet_are_refused() {
    let mut exercise = catalogue::find("scale").unwrap();
    exercise.sheet.mistakes[0].does.push_str(" Other words.");
    assert!(Numbers::of(&exercise).is_ok(), "words are not numbers");
    exercise.sheet.mistakes.swap(0, 1);
    let refused = Numbers::of(&exercise).unwrap_err();
    assert!(refused.contains("`cargo learn mistakes scale`"), "{refused}");
}

#[test]
fn inputs_are_drawn_by_the_seed_that_is_kept() {
    let mut kept = Numbers::of(&catalogue::find("scale").unwrap()).unwrap();
    kept.seed = 17;
    kept.wrong.clear();
    assert_ne!(verdict(right_in_f32, &kept), Verdict::Passed, "numbers of seed 0");
    let right = record(right_in_f32, 17).expect("a check").outcomes;
    for (case, outcome) in kept.cases.iter_mut().zip(&right) {
        let Outcome::Value(parts) = outcome else { panic!("no numbers") };
        case.right.clone_from(parts);
    }
    assert_eq!(verdict(right_in_f32, &kept), Verdict::Passed);
    let scale = any("scale").unwrap();
    assert_eq!(scale.verdict_on(&kept, right, Precision::FULL), Verdict::Passed);
    assert_ne!(scale.inputs(17), scale.inputs(0));
}

#[test]
fn a_file_of_seed_0_is_written_as_it_is_kept() {
    for exercise in crate::ALL {
        let file = fs::read(Numbers::path(exercise.name())).unwrap();
        assert!(Numbers::read(&file).unwrap().write() == file, "{}", exercise.name());
    }
}

#[test]
fn the_answer_to_another_version_is_named_in_an_exercise_without_answers() {
    let exercise = catalogue::find("scale").unwrap().varied("by-d-k").unwrap();
    let exercise = exercise.handed_out(17).unwrap();
    let [found, expected, sizes] = ["1", "2", "5 queries"].map(str::to_owned);
    let difference = Difference::Parts { found, expected };
    let verdict = Verdict::Mistake { mistake: 0, answer: 0, sizes, difference };
    let said = message(&exercise, &verdict);
    let first =
        "✗ 04 · Scale: your answer is the answer to the book’s version of this exercise.";
    assert!(said.starts_with(first), "{said}");
    let does =
        "It divides by √d_k; in your version of the exercise, the answer divides by d_k";
    assert!(said.contains(does) && !said.contains("list of mistakes"), "{said}");
}

#[test]
fn an_input_is_named_arrays() {
    let record = record(right_in_f32, 0).expect("a check");
    let arrays = &record.cases[0].2;
    let named = arrays.iter().map(|array| (array.name.as_str(), array.shape.as_slice()));
    let expected: [(&str, &[usize]); 3] =
        [("q", &[5, 8]), ("k", &[5, 8]), ("d_model", &[])];
    assert_eq!(named.collect::<Vec<_>>(), expected);
    let q: Matrix = Matrix::from_row_slice(5, 8, &arrays[0].values);
    assert!(q.iter().any(|entry| *entry != q[(0, 0)]), "random numbers");
}

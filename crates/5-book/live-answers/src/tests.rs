use catalogue::Elsewhere;

use super::*;

/// What a page fetches of an exercise.
fn fetched(name: &str) -> (catalogue::Exercise, Vec<u8>, Vec<u8>) {
    let exercise = catalogue::find(name).unwrap();
    let numbers = std::fs::read(Numbers::path(name)).unwrap();
    let words = serde_json::to_vec(&ExerciseWords::from(&exercise)).unwrap();
    (exercise, numbers, words)
}

/// Numbers as Python prints them.
fn printed(cases: &[Vec<Matrix>]) -> Vec<u8> {
    let case = |parts: &Vec<Matrix>| match &parts[..] {
        [only] => rows(only),
        _ => parts.iter().map(rows).collect(),
    };
    cases.iter().map(case).collect::<Value>().to_string().into_bytes()
}

fn right(numbers: &[u8]) -> Vec<Vec<Matrix>> {
    let kept = Numbers::read(numbers).unwrap();
    kept.cases.into_iter().map(|case| case.right).collect()
}

#[test]
fn every_exercise_for_other_languages_but_one_is_checked_here() {
    for exercise in catalogue::all().unwrap() {
        let name = &exercise.name;
        let is_here = matches!(exercise.sheet.elsewhere, Elsewhere::Function(_))
            && name != "whole_layer";
        assert_eq!(exercises::any(name).is_some_and(|_| is_here), is_here, "{name}");
        if !is_here {
            continue;
        }
        for form in ["torch", "numpy", "jax", "lists", "lines", "safetensors"] {
            assert!(!given(name, form, "f").unwrap().is_empty(), "{name}: {form}");
        }
        let (_, numbers, words) = fetched(name);
        let answer = printed(&right(&numbers));
        let found = verdict(name, &numbers, &words, answer, "").unwrap();
        assert_eq!(found["report"]["verdict"], "passed", "{name}: {found}");
        assert_eq!(found["maps"], Value::Null);
    }
}

#[test]
fn the_matrix_that_differs_first_is_given_beside_the_right_one() {
    let (exercise, numbers, words) = fetched("columns_as_heads");
    let kept = Numbers::read(&numbers).unwrap();
    let mut answer = right(&numbers);
    let last = answer.last_mut().unwrap();
    let part = last.len() - 1;
    last[part][(1, 0)] += 1.0;
    let should = rows(kept.cases.last().unwrap().right.last().unwrap());
    let is = rows(last.last().unwrap());
    let found =
        verdict("columns_as_heads", &numbers, &words, printed(&answer), "").unwrap();
    assert_eq!(found["maps"], json!({ "is": is, "should": should }));
    let report = &found["report"];
    assert_eq!(report["verdict"], "unknown");
    assert_eq!(report["first_difference"]["kind"], "entry");
    assert_eq!(report["title"], exercise.sheet.title);
}

#[test]
fn a_mistake_is_named_and_a_count_has_no_map() {
    let (exercise, numbers, words) = fetched("count_multiply_adds");
    let kept = Numbers::read(&numbers).unwrap();
    let wrong = &kept.wrong[0];
    let cases = wrong.outcomes.iter().zip(right(&numbers));
    let cases = cases.map(|(outcome, right)| match outcome {
        Some(parts) => parts.clone().unwrap(),
        None => right,
    });
    let answer = printed(&cases.collect::<Vec<_>>());
    let found = verdict("count_multiply_adds", &numbers, &words, answer, "").unwrap();
    assert_eq!(found["report"]["mistakes"][0]["id"], wrong.id);
    let name = &exercise.sheet.mistakes[wrong.mistake].name;
    assert_eq!(found["report"]["summary"], format!("it {name}"));
    assert_eq!(found["maps"], Value::Null);
}

#[test]
fn what_cannot_be_read_is_refused_in_a_sentence() {
    let (_, numbers, words) = fetched("scores");
    let refused = |numbers: &[u8], given: &str, file: &str| {
        let given = given.as_bytes().to_vec();
        verdict("scores", numbers, &words, given, file).unwrap_err().to_string()
    };
    assert!(refused(&numbers, "hello", "").contains("line 1: \"hello\""));
    let dots = refused(&numbers, "[[1., ..., 2.]]", "");
    assert!(dots.contains("were not printed"), "{dots}");
    assert!(refused(&numbers, "[[[1.0]]]", "").contains("cases"));
    let npy = refused(&numbers, "\u{0}", "a.npy");
    assert!(npy.contains("a.npy"), "{npy}");
    assert!(refused(b"", "[1]", "").contains("reload"));
    assert!(given("none", "numpy", "f").is_err());
    assert!(given("scores", "julia", "f").is_err());
}

use exercises::{MistakeWords, SectionWords};

use super::*;

/// What a page fetches of an exercise: its numbers, and words that name each mistake by its id.
fn fetched(name: &str) -> (Vec<u8>, Vec<u8>) {
    let numbers = std::fs::read(Numbers::path(name)).unwrap();
    let kept = Numbers::read(&numbers).unwrap();
    let read = || SectionWords {
        chapter: 1,
        section: "A section".into(),
        page: "a.html".into(),
    };
    let n = kept.wrong.iter().map(|wrong| wrong.mistake + 1).max().unwrap_or(0);
    let id = |at| kept.wrong.iter().find(|it| it.mistake == at).map(|it| it.id.clone());
    let mistake = |at| MistakeWords {
        id: id(at).unwrap_or_default(),
        name: format!("makes mistake {at}"),
        does: "It does".into(),
        looks_right: "It looks right".into(),
        read: read(),
    };
    let words = ExerciseWords {
        exercise: name.into(),
        number: 1,
        title: "A title".into(),
        passed: "It holds.".into(),
        begin: "the beginning".into(),
        read: read(),
        mistakes: (0..n).map(mistake).collect(),
        n_hints: 3,
    };
    (numbers, serde_json::to_vec(&words).unwrap())
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
fn every_exercise_hands_out_its_inputs_and_takes_its_right_answer() {
    for exercise in exercises::ALL {
        let name = exercise.name();
        let (numbers, words) = fetched(name);
        let seeded = Numbers { seed: 17, ..Numbers::read(&numbers).unwrap() }.write();
        for form in ["torch", "numpy", "jax", "lists", "lines", "safetensors"] {
            let of = |numbers: &[u8]| given(name, numbers, form, "f").unwrap();
            assert!(!of(&numbers).is_empty(), "{name}: {form}");
            // Some have the same inputs under every seed, such as counts.
            let is_drawn = exercise.inputs(17) != exercise.inputs(0);
            assert_eq!(of(&seeded) != of(&numbers), is_drawn, "{name}: {form}");
        }
        let answer = printed(&right(&numbers));
        let found = verdict(name, &numbers, &words, answer, "").unwrap();
        assert_eq!(found["report"]["verdict"], "passed", "{name}: {found}");
        assert_eq!(found["maps"], Value::Null);
    }
}

#[test]
fn the_matrix_that_differs_first_is_given_beside_the_right_one() {
    let (numbers, words) = fetched("columns_as_heads");
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
}

#[test]
fn a_mistake_is_named_and_a_count_has_no_map() {
    let (numbers, words) = fetched("count_multiply_adds");
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
    let summary = format!("it makes mistake {}", wrong.mistake);
    assert_eq!(found["report"]["summary"], summary);
    assert_eq!(found["maps"], Value::Null);
}

#[test]
fn what_cannot_be_read_is_refused_in_a_sentence() {
    let (numbers, words) = fetched("scores");
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
    assert!(given("none", &numbers, "numpy", "f").is_err());
    assert!(given("scores", &numbers, "julia", "f").is_err());
}

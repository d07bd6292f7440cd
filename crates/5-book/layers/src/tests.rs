//! The solution catches everything, and simple properties catch a part of it.

use std::fmt::Write;

use exercises::inputs::random as inputs;

use super::*;

mod properties;
#[path = "../../exercises/set/write_a_test.rs"]
#[allow(dead_code)]
mod solution;

use properties::PROPERTIES;

fn diagnose(test: LayerTest) -> Verdict {
    Verdict::of(&panics(test))
}

/// The wrong layers that a test believes.
fn believed(test: LayerTest) -> Vec<usize> {
    let panics = panics(test);
    (0..WRONG.len()).filter(|at| panics[RIGHT.len() + at].is_none()).collect()
}

#[test]
fn the_solution_catches_everything() {
    assert_eq!(diagnose(solution::test), Verdict::Passed);
}

#[test]
fn a_comparison_with_the_loops_passes_and_no_property_is_enough() {
    assert_eq!(diagnose(properties::agrees_with_the_loops), Verdict::Passed);
    for property in PROPERTIES {
        assert_ne!(diagnose(property.test), Verdict::Passed, "{}", property.name);
    }
}

#[test]
fn the_sheet_knows_one_way_to_show_each_wrong_layer() {
    let sheets = Sheets::read().unwrap();
    for wrong in 0..WRONG.len() {
        let id = &sheets.mistake(wrong).id;
        let by =
            sheets.own.sheet.shown_by.iter().filter(|kind| kind.mistakes.contains(id));
        assert_eq!(by.count(), 1, "{id}");
    }
    let all = &sheets.whole_layer.sheet.mistakes;
    for id in sheets.own.sheet.shown_by.iter().flat_map(|kind| &kind.mistakes) {
        assert!(all.iter().any(|mistake| mistake.id == *id), "whole_layer has no {id}");
    }
}

#[test]
fn a_test_that_asks_nothing_or_the_impossible_is_told_so() {
    assert_eq!(diagnose(|_| {}), Verdict::BelievesAll);
    let Verdict::RejectsEveryRight { believed, .. } = diagnose(|_| panic!()) else {
        panic!("it believes a right layer")
    };
    assert!(believed.is_empty(), "{believed:?}");
    assert_eq!(diagnose(|_| todo!()), Verdict::NotWritten);
}

#[test]
fn a_test_of_shapes_has_a_low_score() {
    let shapes = PROPERTIES.iter().find(|property| property.name.starts_with("shapes"));
    let test = shapes.expect("one is of shapes").test;
    let caught = WRONG.len() - believed(test).len();
    assert!(caught <= 2, "{caught}");
}

#[test]
fn twelve_digits_reject_single_precision_and_nothing_else() {
    let twelve = PROPERTIES.iter().find(|property| property.name.contains("twelve"));
    let verdict = diagnose(twelve.expect("one is of digits").test);
    let Verdict::RejectsRight { right, rejected, .. } = verdict else {
        panic!("{verdict:?}")
    };
    assert_eq!((right, rejected), (RIGHT.len() - 1, 1));
}

#[test]
fn a_layer_that_is_given_what_does_not_fit_says_so() {
    let verdict = diagnose(|layer| {
        let x = random_tokens(4, 5, 1);
        layer(&random_layer(inputs::dims(6, 2, 3, 3), 2), &x, &x, &x, &Mask::None);
    });
    let Verdict::RejectsEveryRight { panic, .. } = verdict else { panic!("{verdict:?}") };
    insta::assert_snapshot!(panic.message, @"what it was given does not fit: query has shape (4, 5), expected (4, 6)");
}

/// Who tests against numbers of their own and makes a mistake in them is told which.
#[test]
fn a_mistake_in_the_test_itself_is_named() {
    let verdict = diagnose(|layer| {
        let (w, x) = (random_layer(inputs::dims(6, 2, 3, 3), 1), random_tokens(4, 6, 2));
        let map = &layer(&w, &x, &x, &x, &Mask::None).attn[0];
        let [q, k] =
            [&w.heads()[0].w_q, &w.heads()[0].w_k].map(|w| w.forward(&x).unwrap());
        let unscaled = attention::softmax_rows(q * k.transpose());
        assert!(attention::max_abs_diff(map, &unscaled).unwrap() < 1e-4, "the map");
    });
    let said = message::message(&Sheets::read().unwrap(), &verdict);
    assert!(
        said.contains("It accepts\n    a layer that does not divide the scores"),
        "{said}"
    );
}

/// Every mistake, and which of the simple properties catch it. Shown in the book.
#[test]
fn what_simple_properties_catch() {
    let believes_right =
        |test: LayerTest| RIGHT.iter().all(|right| run(test, "", &right.layer).is_none());
    let properties: Vec<_> =
        PROPERTIES.iter().filter(|property| believes_right(property.test)).collect();
    let slipped: Vec<_> = properties.iter().map(|p| believed(p.test)).collect();
    let (n_wrong, sheets) = (WRONG.len(), Sheets::read().unwrap());
    let mut text = String::new();
    for ((property, slipped), letter) in properties.iter().zip(&slipped).zip('A'..) {
        let caught = n_wrong - slipped.len();
        let _ = writeln!(text, "{letter}  {caught:>2} of {n_wrong}  {}", property.name);
    }
    let by_all = (0..n_wrong).filter(|i| slipped.iter().all(|s| s.contains(i))).count();
    let _ =
        writeln!(text, "   {:>2} of {n_wrong}  all of them together", n_wrong - by_all);
    let by_solution = n_wrong - believed(solution::test).len();
    let _ = writeln!(text, "   {by_solution:>2} of {n_wrong}  the solution\n");
    for i in 0..n_wrong {
        let mistake = sheets.mistake(i);
        let catches = slipped
            .iter()
            .zip('A'..)
            .map(|(slipped, letter)| if slipped.contains(&i) { '·' } else { letter });
        let catches: String = catches.collect();
        let _ = writeln!(text, "{catches}  {}", mistake.name);
    }
    insta::assert_snapshot!(text);
}

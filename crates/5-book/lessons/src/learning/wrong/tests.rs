use super::*;
use crate::learning::train;

fn at(way: &str, start: u64) -> LiveView {
    LIVE.at([("way", way), ("seed", &*start.to_string())]).unwrap()
}

/// The layer that is called right is that of the chapter's own training.
#[test]
fn right_is_what_the_chapter_trains() {
    let mut layer = fresh_layer(START).unwrap();
    let task = Task::new(1).unwrap();
    let expected = train(&mut layer, &task, &mut Sgd { lr: RATE }).unwrap();
    let shown = LIVE.at([]).unwrap();
    for (found, expected) in shown.numbers[5..].iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-12, "{found} and not {expected}");
    }
    let alternative = shown.figure.alternative();
    assert!(
        alternative.starts_with("A chart of the loss over 400 steps"),
        "{alternative}"
    );
    let last = task.loss(&layer).unwrap();
    assert!((shown.numbers[LOSSES[0]] - last).abs() < 1e-12);
}

/// The first column of the chapter's table.
#[test]
fn the_losses_are_those_of_the_chapters_table() {
    let ends = KEYS.map(|(key, _)| format!("{:.4}", at(key, START).numbers[LOSSES[1]]));
    let table = ["0.0984", "0.1762", "0.0002", "0.0011", "0.2580", "0.0002", "0.0002"];
    assert_eq!(ends, table);
}

#[test]
fn every_way_is_told_and_the_check_finds_it() {
    let ways = KEYS.map(|(_, way)| way);
    assert_eq!(Way::ALL[1..].iter().map(|(way, _)| *way).collect::<Vec<_>>(), ways);
    let words = KEYS.map(|(key, _)| at(key, START).words).join("\n");
    insta::assert_snapshot!("words", words);
    let (task, layer) = (Task::new(1).unwrap(), fresh_layer(START).unwrap());
    let right = Mismatch::new(&layer, &task, Way::Right).unwrap();
    assert_eq!(right.words(), "central differences find nothing");
}

/// A view in the midst of a training answers nothing that only its end can.
#[test]
fn it_is_trained_step_by_step_and_ends_where_it_is_drawn() {
    let settings = LIVE.settings([("seed", "4"), ("way", "wo-not-transposed")]).unwrap();
    let mut training = LIVE.begin(&settings).unwrap();
    let first = training.shown(&settings).unwrap();
    assert_eq!(first.numbers[STEPS], 0.0);
    assert!(
        LIVE.questions.iter().all(|it| !(it.is_answered)(&settings, &first).unwrap())
    );
    training.advance(10).unwrap();
    assert_eq!(training.progress(), [10, N_STEPS]);
    training.advance(N_STEPS).unwrap();
    let (last, drawn) = (training.shown(&settings).unwrap(), draw(&settings).unwrap());
    assert_eq!(last.to_json(), drawn.to_json());
}

#[test]
fn questions_know_when_they_are_answered() {
    for question in LIVE.questions {
        let is_answered = |pairs: &[(&'static str, &'static str)]| {
            let settings = LIVE.settings(pairs.iter().copied()).unwrap();
            (question.is_answered)(&settings, &draw(&settings).unwrap()).unwrap()
        };
        assert!(!is_answered(&[]), "{}", question.ask);
        assert!(is_answered(question.answer), "{}", question.ask);
    }
    // What spoils no parameter learns the task, and is no answer.
    let settings = LIVE.settings([("way", "x-once")]).unwrap();
    let view = draw(&settings).unwrap();
    assert!(has_learned(&view).unwrap()[1]);
    assert!(!(LIVE.questions[0].is_answered)(&settings, &view).unwrap());
}

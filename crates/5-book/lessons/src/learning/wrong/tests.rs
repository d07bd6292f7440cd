use super::*;
use crate::learning::train;
use crate::live::Live;
use serde_json::json;

fn at(way: Way, start: u64) -> LiveView<Facts> {
    draw(&Set { way, seed: start as usize }).unwrap()
}

/// The layer that is called right is that of the chapter's own training.
#[test]
fn right_is_what_the_chapter_trains() {
    let mut layer = fresh_layer(START).unwrap();
    let task = Task::new(1).unwrap();
    let expected = train(&mut layer, &task, &mut Sgd { lr: RATE }).unwrap();
    let shown = LIVE.at([]).unwrap();
    for (found, expected) in shown.facts.losses[0].iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-12, "{found} and not {expected}");
    }
    let alternative = shown.figure.alternative();
    assert!(
        alternative.starts_with("A chart of the loss over 400 steps"),
        "{alternative}"
    );
    let last = task.loss(&layer).unwrap();
    assert!((shown.facts.right - last).abs() < 1e-12);
}

/// The first column of the chapter's table.
#[test]
fn the_losses_are_those_of_the_chapters_table() {
    let ends = KEYS.map(|(_, way)| format!("{:.4}", at(way, START).facts.wrong));
    let table = ["0.0984", "0.1762", "0.0002", "0.0011", "0.2580", "0.0002", "0.0002"];
    assert_eq!(ends, table);
}

#[test]
fn every_way_is_told_and_the_check_finds_it() {
    let ways = KEYS.map(|(_, way)| way);
    assert_eq!(Way::ALL[1..].iter().map(|(way, _)| *way).collect::<Vec<_>>(), ways);
    let words = ways.map(|way| at(way, START).words).join("\n");
    insta::assert_snapshot!("words", words);
    let (task, layer) = (Task::new(1).unwrap(), fresh_layer(START).unwrap());
    let right = Mismatch::new(
        &layer,
        &task,
        (Way::Right, &by_differences(&layer, &task).unwrap()),
    )
    .unwrap();
    assert_eq!(right.words(), "central differences find nothing");
}

/// A view in the midst of a training answers nothing that only its end can.
#[test]
fn it_is_trained_step_by_step_and_ends_where_it_is_drawn() {
    let settings = [("seed", "4"), ("way", "wo-not-transposed")];
    let mut training = LIVE.begin(&settings).unwrap();
    let first = training.shown(&settings).unwrap();
    assert_eq!((&first.facts["n_taken"], first.answered), (&json!(0), vec![false; 3]));
    training.advance(10).unwrap();
    assert_eq!(training.progress(), [10, N_STEPS]);
    training.advance(N_STEPS).unwrap();
    let [last, drawn] = [training.shown(&settings), Live::draw(&LIVE, &settings)];
    assert_eq!(last.unwrap(), drawn.unwrap());
}

/// What spoils no parameter learns the task, and is no answer.
#[test]
fn what_spoils_no_parameter_is_no_answer() {
    let shown = Live::draw(&LIVE, &[("way", "x-once")]).unwrap();
    assert!(shown.facts["wrong"].as_f64().unwrap() < ENOUGH && !shown.answered[0]);
}

//! What a question says was found is true beyond its one answer: which settings answer it,
//! and which do not.

use crate::a_lens_per_head::disturbed;
use crate::gallery::find;
use crate::live::Kind;
use crate::sensors::heads;
use crate::the_backward_pass::nudge;

/// Where a control must stand to answer the `nth` question; the others stand first, but for
/// these.
fn answers(name: &str, nth: usize, key: &str, others: &[(&str, &str)]) -> Vec<String> {
    let live = find(name).unwrap();
    let control = live.controls().into_iter().find(|it| it.key == key).unwrap();
    let all: Vec<String> = match control.kind {
        Kind::Choice { options } => options.into_iter().map(|(value, _)| value).collect(),
        Kind::Count { least, most } => {
            (least..=most).map(|count| count.to_string()).collect()
        }
        Kind::Number { least, most, step } => {
            let n_steps = ((most - least) / step).round() as i32;
            let at = |nth| least + f64::from(nth) * step;
            (0..=n_steps).map(|nth| ((at(nth) * 1e3).round() / 1e3).to_string()).collect()
        }
        other => panic!("{key} is no control to walk along: {other:?}"),
    };
    let is_answer = |value: &String| {
        let pairs = [others, &[(key, value.as_str())]].concat();
        live.draw(&pairs).unwrap().answered[nth]
    };
    all.into_iter().filter(is_answer).collect()
}

#[test]
fn heads_that_are_taken_away() {
    let without = [("factor", "0")];
    assert_eq!(answers("lens-disturbed", 0, "head", &without), ["5"]);
    assert_eq!(answers("lens-disturbed", 1, "factor", &[]), ["2"]);
    let moved = |head| {
        let shown = disturbed::LIVE.at([("head", head), ("factor", "0")]);
        shown.unwrap().facts.without
    };
    assert!(moved("4") < moved("5") / 5.0);
}

#[test]
fn sizes_of_views_and_layers() {
    assert_eq!(answers("view", 1, "n", &[("stop", "4")]), ["1"]);
    assert_eq!(answers("view", 2, "n", &[("stop", "4")]), ["3"]);
    assert_eq!(answers("ledger", 2, "h", &[("d_model", "256")]), ["64"]);
}

/// No weight with a steeper gradient brings the loss below 0.001.
#[test]
fn the_steepest_weight_is_not_the_best() {
    let gradient = |pairs: [(&'static str, &'static str); 3]| {
        nudge::LIVE.at(pairs).unwrap().facts.gradient.abs()
    };
    let at = |matrix, row, column| [("matrix", matrix), ("row", row), ("column", column)];
    let best = gradient(at("keys", "money", "1"));
    let mut n_steeper = 0;
    for matrix in ["queries", "keys", "values"] {
        for row in ["water", "money", "plural noun", "verb"] {
            for column in ["1", "2"] {
                let weight = at(matrix, row, column);
                if gradient(weight) > best + 1e-9 {
                    n_steeper += 1;
                    assert!(
                        answers("nudge", 2, "nudge", &weight).is_empty(),
                        "{weight:?}"
                    );
                }
            }
        }
    }
    assert!(n_steeper > 0);
}

#[test]
fn one_head_of_one_sentence_gives_cls_least() {
    for sentence in ["bank_loan", "pilot", "river_banks", "animal_tired"] {
        let expected: &[&str] = if sentence == "animal_tired" { &["9"] } else { &[] };
        let found = answers("without-a-token", 2, "head", &[("sentence", sentence)]);
        assert_eq!(found, expected, "{sentence}");
    }
}

#[test]
fn without_a_residual_no_norm_keeps_tokens_apart() {
    let without = [("residual", "off")];
    assert_eq!(answers("deep-stack", 0, "norm", &without), ["before", "after", "none"]);
    assert_eq!(answers("deep-stack", 1, "norm", &[]), ["none"]);
}

#[test]
fn places_of_keys_and_layers_of_windows() {
    assert_eq!(answers("rotary", 2, "key", &[]), ["12"]);
    let far = [("query", "24")];
    assert_eq!(answers("rotary", 3, "stretch", &far), ["interpolated"]);
    assert_eq!(answers("window", 0, "layers", &[]), ["5"]);
    assert_eq!(answers("window", 1, "sinks", &[]), ["2", "3", "4"]);
}

#[test]
fn texts_temperatures_and_patterns_of_the_model_that_writes() {
    assert_eq!(answers("next-token", 0, "temperature", &[]), ["0.5", "0.55"]);
    assert_eq!(answers("next-token", 1, "prompt", &[("temperature", "0.1")]), ["2"]);
    assert_eq!(answers("next-token", 2, "prompt", &[("temperature", "1.5")]), ["1"]);
    assert_eq!(answers("decoder-heads", 1, "pattern", &[]), ["first"]);
    assert_eq!(answers("decoder-heads", 2, "pattern", &[]), ["copying_prose"]);
    assert_eq!(answers("decoder-heads", 3, "bound", &[]), ["0.05"]);
}

#[test]
fn what_hides_wear_and_which_heads_see_it() {
    assert_eq!(answers("engine", 1, "noise", &[]), ["0"]);
    assert!(answers("engine", 1, "load", &[]).is_empty());
    assert!(answers("engine", 1, "spikes", &[]).is_empty());
    assert_eq!(answers("engine-heads", 1, "head", &[]), ["2"]);
    for head in ["1", "3", "5", "7"] {
        let shown = heads::LIVE.at([("head", head)]).unwrap();
        let shares = &shown.facts.shares;
        assert!(shares[1..].iter().all(|share| *share < shares[0]), "{head}");
    }
}

#[test]
fn where_more_machines_pay() {
    assert_eq!(answers("many-machines", 1, "tokens", &[]), ["524288", "1048576"]);
    assert_eq!(answers("many-machines", 2, "link", &[]), ["100", "10", "1"]);
    assert_eq!(answers("many-machines", 3, "machines", &[]), ["laptops"]);
}

//! From 14 sensors to one number, shape by shape and number by number.

use attention::thousands;
use lessons::numbers::share;
use lessons::sensors::model::{opened, window};
use lessons::sensors::reach::moved;

use crate::quote::{assert_quote, values};

#[test]
fn the_trace_of_source_003_from_the_sensors_on() {
    let opened = opened().unwrap();
    let window = window(&opened.trained.scale, 0, 40).unwrap();
    assert_quote!("sensors_trace", opened.model.trace(&window.readings).unwrap());
}

#[test]
fn what_each_part_costs() {
    let architecture = opened().unwrap().trained.architecture;
    let ledger = architecture.ledger(14);
    let attention = ledger.parts.iter().find(|(part, _)| *part == "attention").unwrap().1;
    assert_eq!(attention, 263_168);
    assert_quote!("sensors_ledger", ledger);
    let part = 100.0 * attention as f64 / ledger.total() as f64;
    assert_quote!(
        "sensors_counts",
        values(&[
            ("parameters", thousands(ledger.total() as u64)),
            ("attention", thousands(attention as u64)),
            ("attention_part", format!("{part:.0} %")),
        ])
    );
}

/// How soon a direction forgets a reading, over some engines.
#[test]
fn how_far_a_reading_is_heard() {
    let engines = 0..20;
    let mean = |half: usize, away: usize| {
        let of = |engine: usize| {
            let moved = moved(engine, 40, 15).unwrap();
            let t = if half == 0 { 15 + away } else { 15 - away };
            moved[(t, half)] / moved[(15, half)]
        };
        share(engines.clone().map(of).sum::<f64>() / engines.len() as f64)
    };
    assert_quote!(
        "sensors_reach",
        values(&[
            ("forward_1", mean(0, 1)),
            ("forward_5", mean(0, 5)),
            ("forward_10", mean(0, 10)),
            ("backward_1", mean(1, 1)),
            ("backward_5", mean(1, 5)),
            ("backward_10", mean(1, 10)),
        ])
    );
}

//! From 14 sensors to one number, shape by shape and number by number.

use attention::thousands;
use lessons::sensors::model::{opened, window};

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
    let part = 100.0 * attention as f64 / ledger.total() as f64;
    assert_quote!(
        "sensors_counts",
        values(&[
            ("attention", thousands(attention as u64)),
            ("attention_part", format!("{part:.0} %")),
        ])
    );
}

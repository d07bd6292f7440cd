//! Engines, windows, and who may see what.

use attention::thousands;
use lessons::sensors::leak::leak;
use lessons::sensors::life::prepared;
use sensors::{CAP, N_SENSORS, N_STEPS, Windows};

use crate::quote::{assert_quote, values};

#[test]
fn engines_and_windows() {
    let prepared = prepared().unwrap();
    let windows = [&prepared.train, &prepared.test];
    let train = thousands(prepared.train.at.len() as u64);
    let engines = windows.map(Windows::n_engines);
    assert_quote!(
        "sensors_sizes",
        values(&[
            ("sensors_all", N_SENSORS.to_string()),
            ("sensors", prepared.scale.sensors.len().to_string()),
            ("steps", N_STEPS.to_string()),
            ("cap", CAP.to_string()),
            ("engines_train", engines[0].to_string()),
            ("engines_test", engines[1].to_string()),
            ("windows_train", train),
        ])
    );
}

/// What a memoriser scores on whole engines that it has not seen, and on single windows.
#[test]
fn what_leaks() {
    let leak = leak().unwrap();
    assert_quote!(
        "sensors_leak",
        values(&[
            ("by_engine", format!("{:.1}", leak.by_engine)),
            ("by_window", format!("{:.1}", leak.by_window)),
        ])
    );
}

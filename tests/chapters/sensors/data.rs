//! Engines, windows, and who may see what.

use attention::thousands;
use lessons::numbers::{ends, mean};
use lessons::sensors::leak::leak;
use lessons::sensors::life::{life, plain, prepared};
use lessons::sensors::{lived, model};
use sensors::{
    CAP, Fleet, N_COLUMNS, N_SENSORS, N_STEPS, Scale, Windows, rmse, write_engines,
};

use crate::quote::{assert_quote, values};

#[test]
fn a_file_of_readings() {
    let engine = lived(&Fleet::default(), 0).engine;
    let text = write_engines(&[engine]);
    // The unit, the cycle, three settings, the first sensors.
    let short = |line: &str| {
        line.split_whitespace().take(10).collect::<Vec<_>>().join(" ") + " …"
    };
    let lines: Vec<String> = text.lines().take(3).map(short).collect();
    assert_quote!("sensors_file", lines.join("\n"));
}

#[test]
fn engines_and_windows() {
    let (readings, _) = Fleet::default().readings(0);
    let lengths = readings.train.iter().map(|engine| engine.n_cycles() as f64);
    let [shortest, _, longest] = ends(lengths);
    let prepared = prepared().unwrap();
    let windows = [&prepared.train, &prepared.validation, &prepared.test];
    let [train, validation, test] = windows.map(|it| thousands(it.at.len() as u64));
    let engines = windows.map(Windows::n_engines);
    assert_quote!(
        "sensors_sizes",
        values(&[
            ("sensors_all", N_SENSORS.to_string()),
            ("sensors", prepared.scale.sensors.len().to_string()),
            ("columns", N_COLUMNS.to_string()),
            ("steps", N_STEPS.to_string()),
            ("cap", CAP.to_string()),
            ("engines", readings.train.len().to_string()),
            ("engines_train", engines[0].to_string()),
            ("engines_validation", engines[1].to_string()),
            ("engines_test", engines[2].to_string()),
            ("windows_train", train),
            ("windows_validation", validation),
            ("windows_test", test),
            ("shortest", shortest.to_string()),
            ("longest", longest.to_string()),
        ])
    );
}

/// Windows that begin in one engine and end in the next, if nobody takes care.
#[test]
fn what_leaks() {
    let leak = leak().unwrap();
    let readings = Fleet::default().readings(0).0;
    let prepared = prepared().unwrap();
    let crossing = (readings.train.len() - 1) * (N_STEPS - 1);
    let all = prepared.train.at.len() + prepared.validation.at.len();
    // The scale of training and test engines together: the latter have not failed yet.
    let both = Scale::of(&[readings.train, readings.test].concat()).unwrap();
    let moved = both.mean.iter().zip(&prepared.scale.mean).zip(&prepared.scale.spread);
    let moved = moved.map(|((both, mean), spread)| ((both - mean) / spread).abs());
    assert_quote!(
        "sensors_leak",
        values(&[
            ("by_engine", format!("{:.1}", leak.by_engine)),
            ("by_window", format!("{:.1}", leak.by_window)),
            ("crossing", thousands(crossing as u64)),
            (
                "crossing_part",
                format!("{:.0} %", 100.0 * crossing as f64 / (crossing + all) as f64)
            ),
            ("scale_moved", format!("{:.2}", mean(moved))),
        ])
    );
}

/// The model and a regression on engines that nobody has seen.
#[test]
fn some_lives() {
    let prepared = prepared().unwrap();
    let mut table = crate::quote::Table::new([
        ("engine", 6),
        ("cycles", 8),
        ("decline begins at", 19),
        ("model, RMSE", 13),
        ("linear, RMSE", 14),
    ]);
    let plain = plain(&prepared).unwrap();
    for engine in 0..5 {
        let life = life(&plain, &prepared.scale, engine).unwrap();
        let targets: Vec<f64> = life.at.iter().map(sensors::At::target).collect();
        let truth = lived(&Fleet::default(), engine).truth;
        let off = |said: &[f64]| format!("{:.1}", rmse(said, &targets));
        table.row([
            engine.to_string(),
            truth.end.to_string(),
            truth.transition.to_string(),
            off(&life.model),
            off(&life.plain),
        ]);
    }
    assert_quote!("sensors_lives", table.text());
    assert_eq!(model::N_HEADS, 8);
}

use std::fs;

use attention::{Rng, SeedableRng};

use super::*;
use crate::sizes::{CAP, N_COLUMNS, N_SENSORS, N_SETTINGS, N_STEPS};
use crate::{Error, Features, Plain, nasa_score, rmse};

/// Engines whose every reading is 100 times their unit plus the cycle.
fn engines(cycles: &[usize]) -> Vec<Engine> {
    let reading = |unit: usize, cycle: usize| Reading {
        settings: [0.0; N_SETTINGS],
        sensors: [(1000 * unit + cycle) as f64; N_SENSORS],
    };
    let engine = |(i, &n): (usize, &usize)| Engine {
        unit: i + 1,
        readings: (1..=n).map(|cycle| reading(i + 1, cycle)).collect(),
    };
    cycles.iter().enumerate().map(engine).collect()
}

fn refused(text: &str) -> String {
    parse_engines("train.txt", text).unwrap_err().to_string()
}

#[test]
fn what_is_written_is_read() {
    let (readings, _) = Fleet::default().readings(3);
    let text = write_engines(&readings.train);
    assert_eq!(parse_engines("train", &text).unwrap(), readings.train);
    let first: Vec<&str> = text.lines().next().unwrap().split(' ').collect();
    assert_eq!((first.len(), first[0], first[1]), (N_COLUMNS, "1", "1"));

    let folder = tempfile::tempdir().unwrap();
    readings.save(folder.path(), "FD001").unwrap();
    assert_eq!(Readings::open(folder.path(), "FD001").unwrap(), readings);
}

#[test]
fn a_bad_line_is_refused_with_its_number() {
    let text = write_engines(&engines(&[3, 2]));
    let changed = |line: usize, from: &str, to: &str| {
        let lines = text.lines().enumerate();
        let lines = lines.map(|(i, text)| {
            let text =
                if i + 1 == line { text.replacen(from, to, 1) } else { text.into() };
            text + "\n"
        });
        refused(&lines.collect::<String>())
    };
    insta::assert_snapshot!(changed(2, " 1002", ""), @"train.txt, line 2: 25 columns, expected 26: the unit, the cycle, 3 settings and 21 sensors");
    insta::assert_snapshot!(changed(2, " 1002", " 1002 7"), @"train.txt, line 2: 27 columns, expected 26: the unit, the cycle, 3 settings and 21 sensors");
    insta::assert_snapshot!(changed(4, " 2001", " NaN"), @"train.txt, line 4, column 6: NaN is no reading");
    insta::assert_snapshot!(changed(4, " 2001", " inf"), @"train.txt, line 4, column 6: inf is no reading");
    insta::assert_snapshot!(changed(4, " 2001", " 20,01"), @r#"train.txt, line 4, column 6: "20,01", expected a number"#);
    insta::assert_snapshot!(changed(3, "1 3", "1 4"), @"train.txt, line 3: cycle 4 of engine 1, expected 3");
    insta::assert_snapshot!(changed(3, "1 3", "1 2"), @"train.txt, line 3: cycle 2 of engine 1, expected 3");
    insta::assert_snapshot!(changed(4, "2 1", "2 2"), @"train.txt, line 4: cycle 2 of engine 2, expected 1");
    insta::assert_snapshot!(changed(5, "2 2", "1 1"), @"train.txt, line 5: engine 1 again, after another one");
    insta::assert_snapshot!(changed(1, "1 1", "1.5 1"), @r#"train.txt, line 1, column 1: "1.5", expected a whole number"#);
    insta::assert_snapshot!(refused(" \n\n"), @"train.txt: it holds no reading");
}

#[test]
fn a_folder_without_its_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || {
        let error = Readings::open(folder.path(), "FD001").unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "FOLDER")
    };
    insta::assert_snapshot!(refused(), @"cannot read FOLDER/train_FD001.txt");
    let readings =
        Readings { train: engines(&[40]), test: engines(&[40, 40]), lives: vec![3] };
    readings.save(folder.path(), "FD001").unwrap();
    insta::assert_snapshot!(refused(), @"FOLDER/RUL_FD001.txt: 1 remaining lives for 2 engines");
    fs::write(folder.path().join("RUL_FD001.txt"), "3\n4 5\n").unwrap();
    insta::assert_snapshot!(refused(), @r#"FOLDER/RUL_FD001.txt, line 2, column 1: "4 5", expected a whole number"#);
    let nowhere = Readings::open("no/such/folder", "FD001").unwrap_err();
    insta::assert_snapshot!(nowhere, @"there is no folder no/such/folder");
}

/// One scale for all of them, which changes nothing.
fn plain() -> Scale {
    Scale::new(vec![2], vec![0.0], vec![1.0]).unwrap()
}

#[test]
fn a_window_is_of_one_engine_and_ends_at_its_cycle() {
    let windows = Windows::of(&engines(&[31, 29, 40]), &[7, 0, 200], &plain()).unwrap();
    assert_eq!((windows.at.len(), windows.n_engines(), windows.n_short), (2 + 11, 2, 1));
    for at in &windows.at {
        let unit = [1, 3][at.engine];
        let readings = windows.readings(at).unwrap();
        assert_eq!(readings.shape(), (N_STEPS, 1));
        for (t, &x) in readings.iter().enumerate() {
            assert_eq!(x, (1000 * unit + at.end - 29 + t) as f64);
        }
        assert_eq!(windows.last_reading(at).unwrap(), [(1000 * unit + at.end) as f64]);
    }
    let lives: Vec<f64> = windows.last().iter().map(|at| at.remaining).collect();
    assert_eq!(lives, [7.0, 200.0]);
    assert_eq!((windows.at[0].remaining, windows.at[0].target()), (8.0, 8.0));
    assert_eq!(windows.last()[1].target(), CAP);
    for (engine, end) in [(0, 29), (0, 32), (2, 30)] {
        let at = At { engine, end, remaining: 0.0 };
        assert!(matches!(windows.readings(&at), Err(Error::NoWindow { .. })));
    }
}

#[test]
fn engines_that_are_too_short_for_a_window() {
    let of = |cycles: &[usize], lives: &[usize]| {
        Windows::of(&engines(cycles), lives, &plain())
    };
    insta::assert_snapshot!(of(&[29, 12], &[0, 0]).unwrap_err(), @"none of 2 engines has a window of 30 readings: the longest has 29");
    insta::assert_snapshot!(of(&[40, 40], &[0]).unwrap_err(), @"the list of remaining lives has 1 entries, expected 2");
    insta::assert_snapshot!(split(&engines(&[40]), &mut Rng::seed_from_u64(1)).unwrap_err(), @"1 engines cannot be split: it takes at least 2");
}

#[test]
fn the_scale_knows_nothing_of_other_engines() {
    let (mut readings, _) = Fleet::default().readings(0);
    let scale = Prepared::of(&readings, 5).unwrap().scale;
    let (_, validation) = split(&readings.train, &mut Rng::seed_from_u64(5)).unwrap();
    let others: Vec<usize> = validation.iter().map(|engine| engine.unit).collect();
    let seen = readings.train.iter_mut().filter(|engine| others.contains(&engine.unit));
    for reading in seen.chain(&mut readings.test).flat_map(|e| &mut e.readings) {
        reading.sensors.iter_mut().for_each(|x| *x *= 2.0);
    }
    assert_eq!(Prepared::of(&readings, 5).unwrap().scale, scale);
}

#[test]
fn a_split_is_of_whole_engines() {
    let engines = engines(&[31; 23]);
    let (train, validation) = split(&engines, &mut Rng::seed_from_u64(1)).unwrap();
    assert_eq!((train.len(), validation.len()), (19, 4));
    let mut units: Vec<usize> =
        train.iter().chain(&validation).map(|engine| engine.unit).collect();
    units.sort_unstable();
    assert_eq!(units, (1..=23).collect::<Vec<_>>());
}

#[test]
fn fourteen_sensors_say_something() {
    let (readings, _) = Fleet::default().readings(0);
    let scale = Scale::of(&readings.train).unwrap();
    assert_eq!(scale.sensors, [2, 3, 4, 7, 8, 9, 11, 12, 13, 14, 15, 17, 20, 21]);
    let mut grouped: Vec<usize> =
        GROUPS.iter().flat_map(|(_, all)| *all).copied().collect();
    grouped.sort_unstable();
    assert_eq!(grouped, scale.sensors);
    let same = vec![readings.train[0].readings[0].clone(); 40];
    let dead = [Engine { unit: 1, readings: same }];
    insta::assert_snapshot!(Scale::of(&dead).unwrap_err(), @"no sensor of 1 engines says anything: all are constant");
    let new = |sensors, n| Scale::new(sensors, vec![0.0; n], vec![1.0; n]).unwrap_err();
    let flat = Scale::new(vec![2], vec![0.0], vec![0.0]).unwrap_err();
    insta::assert_snapshot!(flat, @"the spread of sensor 2 is 0, and must be a number above 0");
    insta::assert_snapshot!(new(vec![2, 22], 2), @"there is no sensor 22: they count from 1 to 21");
    insta::assert_snapshot!(new(vec![2, 3], 1), @"the list of means has 1 entries, expected 2");
}

#[test]
fn what_is_planted_shows() {
    let fleet = Fleet::default();
    let lived = fleet.engines(40, &mut Rng::seed_from_u64(2));
    let scale =
        Scale::of(&lived.iter().map(|l| l.engine.clone()).collect::<Vec<_>>()).unwrap();
    let (mut before, mut after, mut n_spikes) = (0.0, 0.0, 0);
    for SimulatedEngine { engine, truth } in &lived {
        assert_eq!((truth.end, truth.remaining(truth.end)), (engine.n_cycles(), 0));
        let (steady, decline) = (truth.transition - 1, truth.end - truth.transition + 1);
        assert!((30..=110).contains(&steady) && (100..=220).contains(&decline));
        let x = scale.apply(engine);
        // Sensor 3 rises with wear: nothing before the transition, much before the end.
        let mean = |from: usize| x.column(1).rows(from, 20).mean();
        before += mean(steady - 20) - mean(0);
        after += mean(truth.end - 20) - mean(steady - 20);
        for &(cycle, group) in &truth.spikes {
            let t = cycle - 1;
            let of_group = GROUPS[group].1.iter().map(|sensor| {
                let j = scale.sensors.iter().position(|s| s == sensor).unwrap();
                let level = x.column(j).iter().sum::<f64>() / x.nrows() as f64;
                (x[(t, j)] - level).abs()
            });
            n_spikes += usize::from(of_group.fold(0.0, f64::max) > 2.0);
        }
    }
    let all: usize = lived.iter().map(|lived| lived.truth.spikes.len()).sum();
    assert!(before.abs() / 40.0 < 0.2, "{before}");
    assert!(after / 40.0 > 1.5, "{after}");
    assert!(n_spikes as f64 > 0.8 * all as f64, "{n_spikes} of {all}");
}

#[test]
fn a_seed_gives_the_same_engines_on_every_platform() {
    let (readings, [_, of_test]) = Fleet::default().readings(0);
    let text = write_engines(&readings.train[..1]);
    insta::assert_snapshot!(text.lines().next().unwrap(), @"1 1 0.0003 0.0006 100 518.67 642.6361 1593.9724 1404.4124 14.62 21.61 553.3931 2388.1993 9084.3842 1.3 47.4936 522.1603 2388.1296 8157.8342 8.4235 0.03 393.2319 2388 100 38.8682 23.2056");
    insta::assert_snapshot!(format!("{:?}", of_test[0]), @"Truth { transition: 38, end: 161, spikes: [(41, 1)] }");
    for ((engine, &life), truth) in
        readings.test.iter().zip(&readings.lives).zip(&of_test)
    {
        assert!(engine.n_cycles() > N_STEPS);
        assert_eq!(engine.n_cycles() + life, truth.end);
    }
}

#[test]
fn the_last_reading_says_something_and_not_all() {
    let (readings, _) = Fleet::default().readings(0);
    let prepared = Prepared::of(&readings, 0).unwrap();
    let test = &prepared.test;
    let targets: Vec<f64> = test.at.iter().map(At::target).collect();
    let found = [Features::Last, Features::Mean].map(|seen| {
        let plain = Plain::fit(&prepared.train, seen).unwrap();
        let of = |at: &At| plain.predict(test, at).unwrap();
        rmse(&test.at.iter().map(of).collect::<Vec<_>>(), &targets)
    });
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    let nothing = rmse(&vec![mean; targets.len()], &targets);
    insta::assert_snapshot!(format!("{found:.2?} of {nothing:.2}"), @"[20.49, 13.87] of 25.81");
    assert_eq!(
        (rmse(&[3.0, 0.0], &[0.0, 4.0]), nasa_score(&[5.0], &[5.0])),
        (12.5f64.sqrt(), 0.0)
    );
}

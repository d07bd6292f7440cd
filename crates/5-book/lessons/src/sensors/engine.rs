//! What a sensor shows of an engine's life, and what it hides: live.

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::{mean, written};
use anyhow::Result;
use figures::{Lines, lines};
use sensors::{CAP, Engine, Fleet, SimulatedEngine};

use super::lived;

/// Draws one sensor over the life of an engine, with and without what hides its wear.
pub const LIVE: Live = Live {
    name: "engine",
    questions: &[
        Question {
            ask: "Leave sensor and engine. Set one of noise, hard flights and spikes to \
                 0, so that a reading is off by less than 6.",
            is_answered: |settings, view| {
                let mut is_one = false;
                for key in HIDING {
                    let is_gone = settings.number(key)? == 0.0;
                    is_one |= is_gone && settings.has_moved_only(&controls(), &[key])?;
                }
                let [_, off] = view.last()?;
                Ok(is_one && off < 6.0)
            },
            answer: &[("noise", "0")],
            found: "Noise hides most, for it is in every reading. Spikes are larger, but \
                   rare.",
        },
        Question {
            ask: "Take all three away: does the sensor now read wear alone?",
            is_answered: |settings, _| {
                Ok(HIDING
                    .into_iter()
                    .all(|key| settings.number(key).is_ok_and(|it| it == 0.0)))
            },
            answer: &[("noise", "0"), ("load", "0"), ("spikes", "0")],
            found: "No: a slow drift is left, and the sensor's own offset. An average \
                   over readings removes noise, but not these.",
        },
        Question {
            ask: "Find an engine that wears only from a cycle after 100 on.",
            is_answered: |_, view| {
                let [transition, _] = view.last()?;
                Ok(transition > 100.0)
            },
            answer: &[("engine", "1")],
            found: "Engines begin to wear at different ages, so age alone does not tell how \
                    much life remains.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// A sensor of each group, and one that says nothing.
const SENSORS: [(&str, &str); 5] = [
    ("4", "4, temperature"),
    ("11", "11, pressure"),
    ("9", "9, speed"),
    ("12", "12, flow (falls)"),
    ("1", "1, says nothing"),
];

/// The controls of what hides the wear.
const HIDING: [&str; 3] = ["noise", "load", "spikes"];

fn controls() -> Vec<Control> {
    let fleet = Fleet::default();
    let number = |most: f64, step: f64, first: f64| Kind::Number {
        range: [0.0, most],
        step,
        first,
    };
    vec![
        Control::new("sensor", "Sensor", Kind::choice(SENSORS)),
        Control::new("engine", "Engine", Kind::Count { range: [0, 99], first: 0 }),
        Control::new("noise", "Noise", number(1.5, 0.1, fleet.noise)),
        Control::new("load", "Hard flights", number(1.0, 0.1, fleet.load)),
        Control::new("spikes", "Share of spikes", number(0.2, 0.01, fleet.spikes)),
    ]
}

/// One sensor's readings, cycle by cycle.
fn readings(engine: &Engine, sensor: usize) -> Vec<f64> {
    engine.readings.iter().map(|reading| reading.sensors[sensor - 1]).collect()
}

/// The same engines without anything that hides their wear.
fn without_noise(fleet: &Fleet) -> Fleet {
    Fleet { noise: 0.0, load: 0.0, drift: 0.0, offset: 0.0, spikes: 0.0, ..fleet.clone() }
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let sensor: usize = settings.choice("sensor")?.parse()?;
    let number = settings.count("engine")?;
    let fleet = Fleet {
        noise: settings.number("noise")?,
        load: settings.number("load")?,
        spikes: settings.number("spikes")?,
        ..Fleet::default()
    };
    let SimulatedEngine { engine, truth } = lived(&fleet, number);
    // The same life: how long it lasts is drawn before what hides it.
    let wear = readings(&lived(&without_noise(&fleet), number).engine, sensor);
    let new = wear[0];
    let from_new = |list: Vec<f64>| list.into_iter().map(|x| x - new).collect::<Vec<_>>();
    let (wear, shown) = (from_new(wear), from_new(readings(&engine, sensor)));
    let points =
        |list: &[f64]| (1..).zip(list).map(|(cycle, &x)| [f64::from(cycle), x]).collect();
    let target = (1..=truth.end).map(|cycle| (truth.remaining(cycle) as f64).min(CAP));
    let panels = [
        Lines {
            title: format!("sensor {sensor}, from its level when new"),
            x: "cycle".to_owned(),
            is_log: false,
            lines: vec![
                ("read".to_owned(), points(&shown)),
                ("wear alone".to_owned(), points(&wear)),
            ],
        },
        Lines {
            title: "what a model is to say".to_owned(),
            x: "cycle".to_owned(),
            is_log: false,
            lines: vec![(
                "remaining life, at most 125".to_owned(),
                points(&target.collect::<Vec<_>>()),
            )],
        },
    ];
    let moved = wear[truth.end - 1] - wear[0];
    let off = shown.iter().zip(&wear).map(|(x, wear)| (x - wear) * (x - wear));
    let off = mean(off).sqrt();
    let words = format!(
        "Engine {number} runs {} cycles and wears from cycle {} on. Wear moves the sensor by {} \
         in its life; a single reading is off by {} (root mean square).",
        truth.end,
        truth.transition,
        written(moved, 2),
        written(off, 2),
    );
    let title = format!(
        "Sensor {sensor} of engine {number}, from its first flight to its failure"
    );
    let numbers = shown.into_iter().chain([truth.transition as f64, off]).collect();
    Ok(LiveView { figure: lines(title, &panels)?, words, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_sensor_and_of_one_that_says_nothing() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Engine 0 runs 256 cycles and wears from cycle 69 on. Wear moves the sensor by 27 in its life; a single reading is off by 7.58 (root mean square).");
        let silent = [("sensor", "1")];
        insta::assert_snapshot!(LIVE.at(silent).unwrap().words, @"Engine 0 runs 256 cycles and wears from cycle 69 on. Wear moves the sensor by 0 in its life; a single reading is off by 0 (root mean square).");
    }

    #[test]
    fn the_life_stays_the_same_whatever_hides_it() {
        let first = LIVE.at([]).unwrap().numbers.len();
        for (key, text) in [("noise", "0"), ("load", "1"), ("spikes", "0.2")] {
            assert_eq!(LIVE.at([(key, text)]).unwrap().numbers.len(), first, "{key}");
        }
    }
}

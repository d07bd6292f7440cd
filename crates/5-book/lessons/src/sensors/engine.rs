//! What a sensor shows of an engine's life, and what it hides: live.

use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::{ends, mean, written};
use anyhow::Result;
use figures::{Axis, Chart, FAINT, Figure, Mark, Panel, palette, rounded};
use sensors::{Engine, Fleet, SimulatedEngine};

use super::lived;

/// Draws one sensor over the life of an engine, where a reader drags a line to where wear
/// seems to begin; and what wear alone would read.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("engine", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Drag the line to where you see that wear begins. Then show wear alone: how \
              far off were you?",
        is_answered: |set, _| set.truth && set.cycle != Set::first().cycle,
        answer: |set| (set.cycle, set.truth) = (120, true),
        found: "Most readers are late: at first wear moves a sensor by less than noise \
                does. Sensor 1 never shows it.",
    },
    Question {
        ask: "Leave sensor and engine. Set one of noise, hard flights and spikes to 0, \
              so that a reading is off by less than 6.",
        is_answered: |set, it| {
            let without = [
                Set { noise: 0.0, ..Set::first() },
                Set { load: 0.0, ..Set::first() },
                Set { spikes: 0.0, ..Set::first() },
            ];
            let hides = Set { cycle: CYCLE, truth: false, ..set.clone() };
            without.contains(&hides) && it.off < 6.0
        },
        answer: |set| set.noise = 0.0,
        found: "Noise hides most, for it is in every reading. Spikes are larger, but \
                rare.",
    },
    Question {
        ask: "Take all three away, and show wear alone: is it what the sensor reads?",
        is_answered: |set, _| set.truth && [set.noise, set.load, set.spikes] == [0.0; 3],
        answer: |set| {
            set.truth = true;
            (set.noise, set.load, set.spikes) = (0.0, 0.0, 0.0);
        },
        found: "No: a slow drift is left, and the sensor's own offset. An average over \
                readings removes noise, but not these.",
    },
    Question {
        ask: "Show wear alone, and find an engine that wears only from a cycle after 100 on.",
        is_answered: |set, it| set.truth && it.transition > 100,
        answer: |set| (set.truth, set.engine) = (true, 1),
        found: "Engines begin to wear at different ages, so age alone does not tell how \
                much life remains.",
    },
];

/// A sensor of each group, and one that says nothing.
const SENSORS: [(&str, &str, usize); 5] = [
    ("4", "4, temperature", 4),
    ("11", "11, pressure", 11),
    ("9", "9, speed", 9),
    ("12", "12, flow (falls)", 12),
    ("1", "1, says nothing", 1),
];

/// Where the line is at first.
const CYCLE: usize = 20;

live! {
    struct Set {
        cycle: usize = "Wear begins at cycle", slider([0, 400], 1, CYCLE);
        truth: bool = "Show wear alone", switch(false);
        sensor: usize = "Sensor", choice(SENSORS);
        engine: usize = "Engine", count([0, 99], 0);
        noise: f64 = "Noise", number([0.0, 1.5], 0.1, Fleet::default().noise);
        load: f64 = "Hard flights", number([0.0, 1.0], 0.1, Fleet::default().load);
        spikes: f64 = "Share of spikes", number([0.0, 0.2], 0.01, Fleet::default().spikes);
    }

    struct Facts {
        /// From its level when new, cycle by cycle.
        readings: Vec<f64>,
        /// From which cycle on it wears.
        transition: usize,
        /// By how much a reading is off.
        off: f64,
    }
}

/// One sensor's readings, cycle by cycle.
fn readings(engine: &Engine, sensor: usize) -> Vec<f64> {
    engine.readings.iter().map(|reading| reading.sensors[sensor - 1]).collect()
}

/// The same engines without anything that hides their wear.
fn without_noise(fleet: &Fleet) -> Fleet {
    Fleet { noise: 0.0, load: 0.0, drift: 0.0, offset: 0.0, spikes: 0.0, ..fleet.clone() }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let &Set { sensor, engine: number, noise, load, spikes, .. } = set;
    let fleet = Fleet { noise, load, spikes, ..Fleet::default() };
    let SimulatedEngine { engine, truth } = lived(&fleet, number);
    // The same life: how long it lasts is drawn before what hides it.
    let wear = readings(&lived(&without_noise(&fleet), number).engine, sensor);
    let new = wear[0];
    let from_new = |list: Vec<f64>| list.into_iter().map(|x| x - new).collect::<Vec<_>>();
    let (wear, shown) = (from_new(wear), from_new(readings(&engine, sensor)));
    let moved = wear[truth.end - 1] - wear[0];
    let off = shown.iter().zip(&wear).map(|(x, wear)| (x - wear) * (x - wear));
    let off = mean(off).sqrt();
    let begins = match set.truth {
        true => format!(
            " and wears from cycle {} on; you said {}",
            truth.transition, set.cycle
        ),
        false => String::new(),
    };
    let words = format!(
        "Engine {number} runs {} cycles{begins}. Wear moves the sensor by {} in its life; a \
         single reading is off by {} (root mean square).",
        truth.end,
        written(moved, 2),
        written(off, 2),
    );
    let title = format!(
        "Sensor {sensor} of engine {number}, from its first flight to its failure"
    );
    let figure = figure(title, set, &shown, &wear, truth.transition)?;
    let facts = Facts { readings: shown, transition: truth.transition, off };
    Ok(LiveView { figure, words, facts })
}

/// What is read as dots, the line that is dragged, and if it is asked for, what wear alone
/// does as an area, and a rule where it begins.
fn figure(
    title: String,
    set: &Set,
    read: &[f64],
    wear: &[f64],
    begins: usize,
) -> Result<Figure> {
    let [least, _, most] = ends(read.iter().chain(wear).copied());
    let (low, high) = (least.min(-20.0) - 2.0, most.max(40.0) + 8.0);
    let end = read.len() as f64 + 1.0;
    let line = (set.cycle as f64).min(end);
    let blue = palette::head(0);
    let dots = |range: std::ops::Range<usize>, opacity: f64| {
        let heights = read[range.clone()].iter().map(|&y| rounded(y));
        Mark::points(range, heights)
            .marked("circle", 5)
            .coloured(blue)
            .mark_opacity(opacity)
    };
    let cut = set.cycle.min(read.len());
    let rule = Mark::lines([line; 2], [low, high]).line(palette::head(1), 2.0).silent();
    let off = begins as i64 - set.cycle as i64;
    let says = match (set.truth, off.signum()) {
        (false, _) => format!("wear begins? {}", set.cycle),
        (true, 0) => "just there".to_owned(),
        (true, 1) => format!("{}: {off} cycles early", set.cycle),
        (true, _) => format!("{}: {} cycles late", set.cycle, -off),
    };
    let knob = Mark::points([line], [high - 3.0])
        .marked("circle", 18)
        .coloured(palette::head(1))
        .written([says], if line < 0.6 * end { "middle right" } else { "middle left" })
        .text_size(13)
        .dragged_along_x("cycle");
    let mut marks = vec![dots(0..cut, 0.45), dots(cut..read.len(), 0.9), rule];
    if set.truth {
        let area = Mark::bars(wear.iter().map(|&y| rounded(y))).coloured(FAINT).silent();
        let at = begins as f64 - 1.0;
        let begins = Mark::texts([at], [low + 4.0], [format!("wear begins: {begins} ")]);
        let begins = begins.text_size(13).placed("middle left").silent();
        marks.splice(0..0, [area, Mark::rule([[at, low], [at, high]])]);
        marks.push(begins);
    }
    let [press, turn] = match set.truth {
        true => ["hide wear alone", "truth=off"],
        false => ["show wear alone", "truth=on"],
    };
    let press = Mark::texts([end], [low + 4.0], [press]).hover(["click"]).sets([turn]);
    marks.push(press.placed("middle left").text_size(14).text_colour("var(--links)"));
    marks.push(knob.silent());
    let heading = match set.truth {
        true => "sensor, from its level when new; grey: wear alone",
        false => "sensor, from its level when new",
    };
    let cycles = Axis::between([0.0, end]).titled("cycle (drag)");
    let panel = Panel::new(heading, cycles, Axis::between([low, high]), 300.0);
    Ok(Chart::new(title).bar_gap(0.0).panel(panel, marks).figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_sensor_and_of_one_that_says_nothing() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Engine 0 runs 256 cycles. Wear moves the sensor by 27 in its life; a single reading is off by 7.58 (root mean square).");
        let silent = [("sensor", "1"), ("truth", "on")];
        insta::assert_snapshot!(LIVE.at(silent).unwrap().words, @"Engine 0 runs 256 cycles and wears from cycle 69 on; you said 20. Wear moves the sensor by 0 in its life; a single reading is off by 0 (root mean square).");
    }

    #[test]
    fn the_life_stays_the_same_whatever_hides_it() {
        let first = LIVE.at([]).unwrap().facts.readings.len();
        for (key, text) in [("noise", "0"), ("load", "1"), ("spikes", "0.2")] {
            assert_eq!(
                LIVE.at([(key, text)]).unwrap().facts.readings.len(),
                first,
                "{key}"
            );
        }
    }
}

//! Who learns of a reading in an LSTM that reads both ways: live.

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::{along, share};
use anyhow::Result;
use attention::Matrix;
use figures::{Lines, lines};
use sensors::{GROUPS, N_STEPS};

use super::model::{Window, opened, window};

/// Draws how far each token's two halves move when one reading does.
pub const LIVE: Live = Live {
    name: "engine-reach",
    questions: &[
        Question {
            ask: "Which reading changes the forward half of one token alone?",
            is_answered: |_, view| {
                let forward = view.slice(0..N_STEPS)?;
                Ok(forward.iter().filter(|&&moved| moved > 0.0).count() == 1)
            },
            answer: &[("reading", "29")],
            found: "The last: no token comes after it. Backward, all thirty tokens learn \
                   of it.",
        },
        Question {
            ask: "Change a reading before the last. For which engine and moment does the last \
                  token's forward half still move by half as much as the reading's own?",
            is_answered: |settings, view| {
                let reading = settings.number("reading")?.round() as usize;
                let (own, last) = (view.number(reading)?, view.number(N_STEPS - 1)?);
                Ok(reading < N_STEPS - 1 && last >= 0.5 * own)
            },
            answer: &[("reading", "28"), ("remaining", "120")],
            found: "One reading later about half is left at best: a token knows its \
                   neighbours, and attention has to bring the rest.",
        },
    ],
    weights: Some(crate::live::Weights::Engines),
    controls,
    draw,
    training: None,
};

/// How far the reading is moved, in standard deviations of the training.
const HEIGHT: f64 = 3.0;

fn controls() -> Vec<Control> {
    let at = Kind::Number { range: [0.0, 29.0], step: 1.0, first: 12.0 };
    let remaining = Kind::Number { range: [0.0, 120.0], step: 5.0, first: 40.0 };
    vec![
        Control::new("reading", "Changed reading", at),
        Control::new("engine", "Engine", Kind::Count { range: [0, 99], first: 0 }),
        Control::new("remaining", "Cycles that remain", remaining),
    ]
}

/// How far the two halves of each token move when one reading does: the length of the change
/// next to the length of the half, `[30, 2]`, forward first.
///
/// # Errors
/// A reading that is not there.
pub fn moved(engine: usize, remaining: usize, reading: usize) -> Result<Matrix> {
    let opened = opened()?;
    let scale = &opened.trained.scale;
    let before = window(scale, engine, remaining)?;
    let mut after = Window { readings: before.readings.clone(), ..before };
    for (group, _) in GROUPS {
        after.spike(scale, group, reading, HEIGHT)?;
    }
    let [before, after] =
        [before.readings, after.readings].map(|readings| opened.model.tokens(&readings));
    let (before, after) = (before?, after?); // [30, 256]
    let hidden = before.ncols() / 2;
    Ok(Matrix::from_fn(before.nrows(), 2, |t, half| {
        let of =
            |output: &Matrix| output.view((t, half * hidden), (1, hidden)).into_owned();
        (of(&after) - of(&before)).norm() / of(&before).norm()
    }))
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let reading = settings.number("reading")?.round() as usize;
    let engine = settings.count("engine")?;
    let moved = moved(engine, settings.number("remaining")?.round() as usize, reading)?;
    let line = |name: &str, half: usize| (name.to_owned(), along(moved.column(half)));
    let panel = Lines {
        title: "change of the half, as a part of its length".to_owned(),
        x: "token".to_owned(),
        is_log: false,
        lines: vec![line("forward", 0), line("backward", 1)],
    };
    let n_moved = |half: usize| moved.column(half).iter().filter(|&&x| x > 0.0).count();
    let words = format!(
        "Reading {reading} is moved by 3 standard deviations. The forward half changes in {} of 30 \
         tokens, by {} in its own and {} in the last; the backward half in {}, by {} in its own and {} in the first.",
        n_moved(0),
        share(moved[(reading, 0)]),
        share(moved[(moved.nrows() - 1, 0)]),
        n_moved(1),
        share(moved[(reading, 1)]),
        share(moved[(0, 1)]),
    );
    let title = "Forward, later tokens learn of a reading; backward, earlier ones";
    let numbers = moved.iter().copied().collect();
    Ok(LiveView { figure: lines(title, &[panel])?, words, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_in_the_middle_and_at_the_end() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Reading 12 is moved by 3 standard deviations. The forward half changes in 18 of 30 tokens, by .679 in its own and .000 in the last; the backward half in 13, by .854 in its own and .011 in the first.");
        insta::assert_snapshot!(LIVE.at([("reading", "29")]).unwrap().words, @"Reading 29 is moved by 3 standard deviations. The forward half changes in 1 of 30 tokens, by .499 in its own and .499 in the last; the backward half in 30, by 1.861 in its own and .000 in the first.");
    }

    #[test]
    fn no_half_knows_what_its_direction_has_not_read() {
        for reading in [0, 12, 29] {
            let moved = moved(7, 30, reading).unwrap();
            for t in 0..30 {
                assert_eq!(moved[(t, 0)] > 0.0, t >= reading, "forward, {reading}, {t}");
                assert_eq!(moved[(t, 1)] > 0.0, t <= reading, "backward, {reading}, {t}");
            }
        }
    }
}

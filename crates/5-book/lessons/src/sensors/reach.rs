//! Who learns of a reading in an LSTM that reads both ways: live.

use crate::live::{LiveFigure, LiveView, Question, Weights, live};
use crate::numbers::{apart, share};
use anyhow::Result;
use attention::Matrix;
use figures::{Axis, Chart, Figure, Grouping, Mark, Panel, palette, rounded};
use sensors::{GROUPS, N_STEPS};

use super::model::{Window, opened, window};

/// Draws how far each token's two halves move when one reading does.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("engine-reach", draw, QUESTIONS).drawn_from(Weights::Engines);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Drag the reading. Which one changes the forward half of one token alone?",
        is_answered: |_, it| it.forward.iter().filter(|&&moved| moved > 0.0).count() == 1,
        answer: |set| set.reading = 29,
        found: "The last: no token comes after it. Backward, all thirty tokens learn of \
                it.",
    },
    Question {
        ask: "Change a reading before the last. For which engine and moment does the \
              last token's forward half still move by half as much as the reading's own?",
        is_answered: |set, it| {
            let (own, last) = (it.forward[set.reading], it.forward[N_STEPS - 1]);
            set.reading < N_STEPS - 1 && last >= 0.5 * own
        },
        answer: |set| (set.reading, set.remaining) = (28, 120),
        found: "One reading later about half is left at best: a token knows its \
                neighbours, and attention has to bring the rest.",
    },
];

/// How far the reading is moved, in standard deviations of the training.
const HEIGHT: f64 = 3.0;

live! {
    struct Set {
        reading: usize = "Changed reading", slider([0, 29], 1, 12);
        engine: usize = "Engine", count([0, 99], 0);
        remaining: usize = "Cycles that remain", slider([0, 120], 5, 40);
    }

    /// How far each token's forward half moves.
    struct Facts { forward: Vec<f64> }
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
        apart(&of(&after), &of(&before))
    }))
}

fn draw(&Set { reading, engine, remaining }: &Set) -> Result<LiveView<Facts>> {
    let moved = moved(engine, remaining, reading)?;
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
    let facts = Facts { forward: moved.column(0).as_slice().to_vec() };
    Ok(LiveView { figure: figure(reading, &moved)?, words, facts })
}

/// The ends of what is drawn, downwards and upwards.
const ENDS: [f64; 2] = [-3.0, 2.2];

/// The forward halves upwards and the backward ones downwards, and the reading, which is
/// dragged.
fn figure(reading: usize, moved: &Matrix) -> Result<Figure> {
    let halves = [("forward", 0, 1.0), ("backward", 1, -1.0)];
    let bars = halves.map(|(name, half, sign)| {
        let column = moved.column(half);
        let told = column.iter().enumerate();
        let told = told.map(|(t, &x)| format!("{name} half of token {t}: {}", share(x)));
        Mark::bars(column.iter().map(|&x| rounded(sign * x)))
            .named(name)
            .coloured(palette::beside_wrong(half))
            .hover(told)
    });
    let x = reading as f64;
    let rule = Mark::lines([x; 2], ENDS).line("currentColor", 1.5).silent();
    let knob = Mark::points([reading], [2.0])
        .marked("circle", 18)
        .coloured("currentColor")
        .dragged_along_x("reading");
    // Beside the line, on the side that has room.
    let is_left = reading < 18;
    let names = [
        (2.0, format!("reading {reading} changes"), is_left, "currentColor"),
        (1.6, "forward half ↑ →".to_owned(), is_left, palette::beside_wrong(0)),
        (-1.2, "← backward half ↓".to_owned(), reading < 15, palette::beside_wrong(1)),
    ];
    let names = names.map(|(y, name, is_right, colour)| {
        let (x, place) = if is_right { (x + 1.0, "right") } else { (x - 1.0, "left") };
        let name =
            Mark::texts([x], [y], [name]).text_size(14).text_colour(colour).silent();
        name.placed(&format!("middle {place}"))
    });
    let marks = bars.into_iter().chain([rule, knob.silent()]);
    let places = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0];
    let panel = Panel::new(
        "change of each token's halves, as a part of their length",
        Axis::between([-0.5, 29.5])
            .numbered_at([0.0, 10.0, 20.0, 29.0])
            .titled("token (drag)"),
        Axis::between(ENDS).at(places, ["3", "2", "1", "0", "1", "2"]),
        280.0,
    );
    Ok(Chart::new("Forward, a reading reaches later tokens; backward, earlier ones")
        .grouped(Grouping::Signed)
        .panel(panel, marks.chain(names))
        .figure()?)
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

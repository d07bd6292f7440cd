//! Where the heads of the trained model look in a window, reading by reading: live.

use crate::live::{LiveFigure, LiveView, Question, Weights, live};
use crate::numbers::{entropy, share, written};
use anyhow::{Context, Result};
use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Mark, Panel, Table, by_cell, label_width, palette, rounded,
};
use sensors::{GROUPS, N_STEPS, capped};

use super::model::{N_HEADS, Window, opened, window};

/// Draws the attention weights of all heads in a window above its readings, which may be given
/// a spike.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("engine-heads", draw, QUESTIONS).drawn_from(Weights::Engines);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Head 1 looks at the oldest readings. How many cycles must remain for it to \
              look at all readings nearly alike?",
        is_answered: |set, it| set.head == 1 && it.entropy > 0.9,
        answer: |set| set.remaining = 100,
        found: "Many: a healthy engine has no reading that says more than others. As wear \
                moves the readings, head 1 turns to the oldest.",
    },
    Question {
        ask: "Click the head that gives most to a reading near the other end, 20 or later, \
              and more than .2, when 5 cycles remain.",
        is_answered: |set, it| {
            let most = it.shares.iter().copied().fold(0.0, f64::max);
            set.remaining == 5 && it.shares[20..].contains(&most) && most > 0.2
        },
        answer: |set| set.head = 2,
        found: "Head 2, while heads 1, 3, 5 and 7 look at the first reading: together \
                they see both ends of the window.",
    },
    Question {
        ask: "Drag a reading to a spike that moves the answer by 3 cycles or more, at a reading to \
              which this head gives less than an even share.",
        is_answered: |set, it| {
            let is_little = it.shares[set.at] < 1.0 / N_STEPS as f64;
            is_little && (it.says - it.without).abs() >= 3.0
        },
        answer: |set| (set.remaining, set.spike, set.at) = (60, 8.0, 15),
        found: "Attention is not its only way to the answer: the LSTM below spreads a \
                reading over the tokens around it, and seven more heads look on.",
    },
];

live! {
    struct Set {
        head: usize = "Head", count([0, N_HEADS - 1], 1);
        engine: usize = "Engine", count([0, 99], 0);
        remaining: usize = "Cycles that remain", slider([0, 120], 1, 5).played();
        spike: f64 = "Spike added", number([-8.0, 8.0], 0.5, 0.0);
        at: usize = "At reading", slider([0, 29], 1, 15);
        group: &'static str = "In sensors of", named(GROUPS.map(|(name, _)| (name, name)));
    }

    struct Facts {
        /// Of the last reading.
        shares: Vec<f64>,
        /// Of its shares, as a part of that of even ones.
        entropy: f64,
        /// What the model says with the spike, and without it.
        says: f64, without: f64,
    }
}

/// What the model does with a window.
struct Looks {
    /// The remaining life that the model gives.
    says: f64,
    /// The attention weights of the last reading, `[n_heads, n_readings]`.
    weights: Matrix,
}

fn looks(window: &Window) -> Result<Looks> {
    let steps = opened()?.model.pass(&window.readings)?;
    let maps = &steps.attended.context("the model attends")?.attn;
    let last: Vec<_> = maps.iter().map(|map| map.row(N_STEPS - 1)).collect();
    Ok(Looks { says: capped(steps.remaining), weights: Matrix::from_rows(&last) })
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let scale = &opened()?.trained.scale;
    let &Set { head, engine, remaining, spike: height, at, group: named } = set;
    let mut window = window(scale, engine, remaining)?;
    let without = looks(&window)?;
    window.spike(scale, named, at, height)?;
    let with = if height == 0.0 { None } else { Some(looks(&window)?) };
    let Looks { says, weights } = with.as_ref().unwrap_or(&without);

    let group = super::group(named)?;
    let readings = scale.channel(&window.readings, |sensor| group.contains(&sensor));
    let readings: Vec<f64> = readings.to_vec();
    let row: Vec<f64> = weights.row(head).iter().copied().collect();
    let most = row.iter().copied().fold(0.0, f64::max);
    let place = row.iter().position(|&x| x == most).unwrap_or_default();
    let left = window.remaining;
    let title = format!(
        "Engine {engine}, cycles left: {left}. Head {head} gives most, {}, to reading {place}",
        share(most)
    );
    let predicts = match with {
        Some(_) => format!(
            "model: {} cycles left (without the spike {})",
            written(*says, 0),
            written(without.says, 0)
        ),
        None => format!("model: {} cycles left", written(*says, 0)),
    };
    let figure = figure(title, set, weights, &readings, predicts)?;

    let part = evenness(weights, head);
    let mut words = format!(
        "The model predicts {} cycles. Head {head} gives reading {at} {}, and its weights have {} \
         of the entropy of even ones.",
        written(*says, 0),
        share(row[at]),
        share(part),
    );
    if with.is_some() {
        words += &format!(
            " Without the spike the model predicts {}, and reading {at} gets {}.",
            written(without.says, 0),
            share(without.weights[(head, at)]),
        );
    }
    let facts = Facts { shares: row, entropy: part, says: *says, without: without.says };
    Ok(LiveView { figure, words, facts })
}

/// The entropy of a head's weights, as a part of that of even ones.
fn evenness(weights: &Matrix, head: usize) -> f64 {
    entropy(weights.row(head).iter().copied()) / (N_STEPS as f64).log2()
}

/// A darker cell is no larger than this.
const FULL: f64 = 0.5;
const FONT_SIZE: usize = 12;
/// A spike of 8, upwards and downwards.
const ENDS: [f64; 2] = [-8.5, 8.5];

/// The weights, head by head, and below them the readings of a group of sensors.
fn figure(
    title: String,
    set: &Set,
    weights: &Matrix,
    readings: &[f64],
    predicts: String,
) -> Result<Figure> {
    let name = |head| {
        let mark = if head == set.head { "▸ " } else { "" };
        format!("{mark}head {head}, {}", share(evenness(weights, head)))
    };
    let heads: Vec<String> = (0..N_HEADS).map(name).collect();
    let at: Vec<usize> = (0..N_STEPS).step_by(5).chain([N_STEPS - 1]).collect();
    let across = || {
        let names = at.iter().map(usize::to_string);
        Axis::bare([-0.5, N_STEPS as f64 - 0.5]).at(at.clone(), names)
    };
    // From the chosen reading without its spike, which is then as high as it is dragged to.
    let from = readings[set.at] - set.spike;
    let chosen = |ends: [f64; 2]| Mark::rule(ends.map(|y| [set.at as f64, y]));
    let weights_of = Panel::new(
        "head, its entropy (even: 1), and its weights, up to .5: click a cell",
        across(),
        Axis::down(&heads, FONT_SIZE),
        19.0 * N_HEADS as f64,
    );
    let places = [-5.0, 0.0, 5.0].map(|y| rounded(y - from));
    let y = Axis::between(ENDS).at(places, ["−5", "0", "5"]);
    let named = format!("{}, raised by wear: drag a reading up or down", set.group);
    let marks = marks(set, readings, from);
    let predicts = Mark::texts([N_STEPS as f64 - 0.5], [-7.0], [predicts]).silent();
    let predicts = predicts.text_size(18).placed("middle left");
    Ok(Chart::new(title)
        .left(label_width(&heads, FONT_SIZE))
        .below(24.0)
        .panel(weights_of, [cells(weights), chosen([-0.5, N_HEADS as f64 - 0.5])])
        .panel(Panel::new(named, across(), y, 170.0), [chosen(ENDS), predicts].into_iter().chain(marks))
        .tables([table(set, weights, readings)])
        .says(format!(
            "A map of the attention weights of {N_HEADS} heads over {N_STEPS} readings, and \
             below it the readings of {}.",
            set.group
        ))
        .figure()?)
}

/// A click chooses a head and a reading.
fn cells(weights: &Matrix) -> Mark {
    let told =
        |i: usize, j: usize| format!("head {i}, reading {j}: {}", share(weights[(i, j)]));
    let entry = |i, j| rounded(weights[(i, j)].min(FULL));
    Mark::cells(by_cell(weights.shape(), entry), 1)
        .scaled(palette::shares(), [0.0, FULL])
        .hover(by_cell(weights.shape(), told))
        .tells("{told}")
        .picks("head={row}&at={column}")
}

/// The readings, and the one that is chosen, which is dragged: orange with a spike.
fn marks(set: &Set, readings: &[f64], from: f64) -> [Mark; 2] {
    let blue = palette::head(0);
    let told = readings.iter().enumerate();
    let told = told.map(|(at, &y)| format!("reading {at}: {}", written(y, 2)));
    let line =
        Mark::lines_and_marks(0..N_STEPS, readings.iter().map(|&y| rounded(y - from)))
            .line(blue, 1.5)
            .coloured(blue)
            .sized(7)
            .hover(told)
            .picks("at={nth}");
    let colour = if set.spike == 0.0 { blue } else { palette::wrong() };
    let chosen = Mark::points([set.at], [rounded(set.spike)]).coloured(colour).sized(14);
    [line, chosen.silent().dragged_along_y(["spike"])]
}

fn table(set: &Set, weights: &Matrix, readings: &[f64]) -> Table {
    let heads = (0..N_HEADS).map(|head| format!("head {head}"));
    let columns: Vec<String> = heads.chain([set.group.to_owned()]).collect();
    let rows: Vec<String> = (0..N_STEPS).map(|at| at.to_string()).collect();
    let cell = |at: usize, column: usize| match column {
        N_HEADS => written(readings[at], 2),
        head => share(weights[(head, at)]),
    };
    Table::grid("Attention weights, and readings", "", &rows, &columns, cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_without_and_with_a_spike() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"The model predicts 8 cycles. Head 1 gives reading 15 .001, and its weights have .325 of the entropy of even ones.");
        let spike = [("spike", "8"), ("group", "pressure")];
        insta::assert_snapshot!(LIVE.at(spike).unwrap().words, @"The model predicts 9 cycles. Head 1 gives reading 15 .001, and its weights have .329 of the entropy of even ones. Without the spike the model predicts 8, and reading 15 gets .001.");
    }

    #[test]
    fn a_window_longer_ago_than_the_engine_has_run_is_its_first() {
        let scale = &opened().unwrap().trained.scale;
        assert_eq!(window(scale, 3, 10_000).unwrap().first, 1);
    }
}

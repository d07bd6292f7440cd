//! The paper's table of positions, and which of them are alike: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{along, mean, written};
use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng, random_matrix};
use block::sinusoidal;
use figures::{Axis, Chart, Figure, Mark, Panel, legend_room, palette, rounded};

/// Draws the table as waves, and one position next to all others.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("positions", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Find a table in which the positions one step before and one step after are \
              not equally alike.",
        is_answered: |set, it| {
            let (at, alike) = (set.position, &it.alike);
            let is_between = (1..N_POSITIONS - 1).contains(&at);
            is_between && (alike[at - 1] - alike[at + 1]).abs() > 0.01
        },
        answer: |set| set.table = "random",
        found: "A random one has to learn which positions are neighbours. In the \
                sinusoidal table similarity depends on the steps alone.",
    },
    Question {
        ask: "In a sinusoidal table, find a position 50 steps away or more that is more \
              alike than the one 8 steps away.",
        is_answered: |set, it| {
            let (mut far, mut near) = (f64::NEG_INFINITY, f64::INFINITY);
            for (other, &alike) in it.alike.iter().enumerate() {
                match other.abs_diff(set.position) {
                    8 => near = near.min(alike),
                    50.. => far = far.max(alike),
                    _ => {}
                }
            }
            set.table == "sinusoidal" && far > near
        },
        answer: |set| (set.width, set.position) = (16, 0),
        found: "In a narrow table the few hands nearly line up again: it takes many \
                frequencies to tell near from far.",
    },
];

/// How many positions are drawn.
pub const N_POSITIONS: usize = 64;
/// How many of the table's waves are drawn.
const N_WAVES: usize = 4;

live! {
    struct Set {
        position: usize = "Position", slider([0, N_POSITIONS - 1], 1, 20);
        table: &'static str = "Table", named([
            ("sinusoidal", "sinusoidal"), ("random", "random, to be learned"),
        ]);
        width: usize = "Width d_model", power_of_two([4, 8], 6);
    }

    /// How alike every position is to the one that is set.
    struct Facts { alike: Vec<f64> }
}

/// The table's dot products of one position with every other, as a part of that with
/// itself.
pub fn similarities(table: &Matrix, position: usize) -> Vec<f64> {
    let own = table.row(position);
    table.row_iter().map(|row| row.dot(&own) / own.norm_squared()).collect()
}

/// A line through all positions, smooth where there is something between them, and a dot at
/// each.
fn swing(
    nth: usize,
    name: &str,
    dots: &[[f64; 2]],
    between: impl Fn(f64) -> f64,
) -> [Mark; 2] {
    const STEPS: usize = 8; // from a position to the next
    let (from, n) = (dots[0][0], STEPS * (dots.len() - 1));
    let smooth = (0..=n).map(|at| from + at as f64 / STEPS as f64);
    let smooth: Vec<[f64; 2]> = smooth.map(|x| [x, between(x)]).collect();
    let told = dots.iter().map(|[x, y]| format!("{name}<br>{x}: {}", written(*y, 3)));
    let curve = Mark::curve(&smooth).line(palette::beside_wrong(nth), 1.5).opacity(0.7);
    let dots = Mark::points(
        dots.iter().map(|dot| dot[0]),
        dots.iter().map(|dot| rounded(dot[1])),
    );
    let dots = dots.named(name).sized(4).coloured(palette::beside_wrong(nth)).hover(told);
    [curve.in_legend(false).silent(), dots.in_legend(nth < N_WAVES)]
}

/// Between two positions of a random table nothing is known: a straight line.
fn straight(dots: &[[f64; 2]], x: f64) -> f64 {
    let at = ((x - dots[0][0]).floor() as usize).min(dots.len() - 2);
    let [[from, low], [_, high]] = [dots[at], dots[at + 1]];
    low + (x - from) * (high - low)
}

/// Some of the table's columns, from the fastest wave to a slow one.
fn wave_column(nth: usize, d_model: usize) -> usize {
    2 * (nth * d_model / 2 / N_WAVES)
}

/// The angle of a pair of columns at position 1.
fn rate(column: usize, d_model: usize) -> f64 {
    10_000_f64.powf(-(column as f64) / d_model as f64)
}

fn waves(table: &Matrix, is_smooth: bool) -> impl Iterator<Item = Mark> {
    (0..N_WAVES).flat_map(move |nth| {
        let column = wave_column(nth, table.ncols());
        let dots = along(table.column(column));
        swing(nth, &format!("entry {column}"), &dots, |x| match is_smooth {
            true => (x * rate(column, table.ncols())).sin(),
            false => straight(&dots, x),
        })
    })
}

fn figure(
    title: &str,
    table: &Matrix,
    is_smooth: bool,
    position: usize,
) -> Result<Figure> {
    let (alike, d_model) = (similarities(table, position), table.ncols());
    let dots = along(&alike).into_iter().map(|[x, y]| [x - position as f64, y]);
    let dots: Vec<[f64; 2]> = dots.collect();
    let similarity = swing(N_WAVES, "similarity", &dots, |x| match is_smooth {
        true => mean((0..d_model / 2).map(|pair| (x * rate(2 * pair, d_model)).cos())),
        false => straight(&dots, x),
    });
    let panel = |title: &str, x: [f64; 2], x_title: &str, y: [f64; 2]| {
        Panel::new(title, Axis::between(x).titled(x_title), Axis::between(y), 230.0)
    };
    let (most, last) = (table.amax().max(1.0) * 1.05, N_POSITIONS as f64 - 1.0);
    let least = alike.iter().copied().fold(0.0, f64::min) - 0.05;
    let entries =
        panel("some entries, a dot per position", [0.0, last], "position", [-most, most]);
    let with = format!("similarity with position {position}");
    let steps = [dots[0][0], dots[0][0] + last];
    let names: Vec<String> =
        (0..N_WAVES).map(|nth| format!("entry {}", wave_column(nth, d_model))).collect();
    let chart = Chart::new(title)
        .columns(2)
        .left(44.0)
        .above(legend_room(names.iter().map(String::as_str), 14.0))
        .panel(entries, waves(table, is_smooth))
        .panel(panel(&with, steps, "steps away", [least, 1.05]), similarity);
    Ok(chart.captioned().figure()?)
}

fn draw(&Set { position, table: kind, width: d_model }: &Set) -> Result<LiveView<Facts>> {
    let is_smooth = kind == "sinusoidal";
    let table: Matrix = match is_smooth {
        true => sinusoidal(N_POSITIONS, d_model),
        false => random_matrix(N_POSITIONS, d_model, 1.0, &mut Rng::seed_from_u64(1)),
    };
    let alike = similarities(&table, position);
    let title = match kind {
        "sinusoidal" => {
            "How alike two positions are depends on the steps between them alone"
        }
        _ => "In a table that has learned nothing, no two positions are alike",
    };
    let at = |steps: usize| {
        let there = [position.checked_sub(steps), Some(position + steps)];
        let there = there.into_iter().filter_map(|place| alike.get(place?));
        there.map(|&it| written(it, 2)).collect::<Vec<_>>().join(" and ")
    };
    let words = format!(
        "Position {position}, {kind} table of width {d_model}: its similarity with \
         the positions 1 step away is {}, with those 8 steps away {}.",
        at(1),
        at(8)
    );
    let figure = figure(title, &table, is_smooth, position)?;
    Ok(LiveView { figure, words, facts: Facts { alike } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_depends_on_the_steps_alone() {
        for d_model in [16, 64, 256] {
            let table = sinusoidal(N_POSITIONS, d_model);
            let from_20 = similarities(&table, 20);
            for position in 0..N_POSITIONS {
                for (other, found) in similarities(&table, position).iter().enumerate() {
                    let steps = other.abs_diff(position);
                    let there = if steps <= 20 { 20 - steps } else { 20 + steps };
                    if let Some(expected) = from_20.get(there) {
                        assert!((found - expected).abs() < 1e-12, "{position} {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_said_of_both_tables() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Position 20, sinusoidal table of width 64: its similarity with the positions 1 step away is 0.97 and 0.97, with those 8 steps away 0.7 and 0.7.");
        let first = [("table", "random"), ("position", "0")];
        insta::assert_snapshot!(LIVE.at(first).unwrap().words, @"Position 0, random table of width 64: its similarity with the positions 1 step away is 0.15, with those 8 steps away −0.11.");
    }
}

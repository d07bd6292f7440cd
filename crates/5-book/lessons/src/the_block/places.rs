//! The paper's table of positions, and which of them are alike: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{along, lines_panel, written};
use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng, random_matrix};
use block::sinusoidal;
use figures::lines;

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

/// Some of the table's columns, from the fastest wave to a slow one.
fn waves(table: &Matrix) -> Vec<(String, Vec<[f64; 2]>)> {
    let d_model = table.ncols();
    let wave = |nth: usize| {
        let column = 2 * (nth * d_model / 2 / N_WAVES);
        let points = table.column(column);
        (format!("entry {column}"), along(points))
    };
    (0..N_WAVES).map(wave).collect()
}

fn draw(&Set { position, table: kind, width: d_model }: &Set) -> Result<LiveView<Facts>> {
    let table: Matrix = match kind {
        "sinusoidal" => sinusoidal(N_POSITIONS, d_model),
        _ => random_matrix(N_POSITIONS, d_model, 1.0, &mut Rng::seed_from_u64(1)),
    };
    let alike = similarities(&table, position);
    let away = |other: usize| other as f64 - position as f64;
    let points = alike.iter().enumerate().map(|(other, &it)| [away(other), it]);
    let panels = [
        lines_panel("some entries of the table", "position", waves(&table)),
        lines_panel(
            format!("similarity with position {position}"),
            "steps away",
            vec![("similarity".to_owned(), points.collect())],
        ),
    ];
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
    Ok(LiveView { figure: lines(title, &panels)?, words, facts: Facts { alike } })
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

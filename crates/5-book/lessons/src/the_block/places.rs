//! The paper's table of positions, and which of them are alike: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::written;
use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng, random_matrix};
use block::sinusoidal;
use figures::{
    Axis, Chart, Figure, Mark, Panel, Place, WIDE, all_rounded, by_cell, ends, palette,
    rounded, share_map,
};

/// Draws both tables as maps, and under each how alike a position is to all others.
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
/// How many entries of a position are drawn.
const N_ENTRIES: usize = 16;
/// What an address calls the tables, and what a reader does.
const TABLES: [(&str, &str); 2] =
    [("sinusoidal", "sinusoidal"), ("random", "random, to be learned")];

live! {
    struct Set {
        position: usize = "Position", slider([0, N_POSITIONS - 1], 1, 20);
        table: &'static str = "Table", named(TABLES);
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

/// A table as it is before a training.
fn table(kind: &str, d_model: usize) -> Matrix {
    match kind {
        "sinusoidal" => sinusoidal(N_POSITIONS, d_model),
        _ => random_matrix(N_POSITIONS, d_model, 1.0, &mut Rng::seed_from_u64(1)),
    }
}

/// What a finger drags along the positions.
fn handle(position: usize, y: f64) -> Mark {
    let mark = Mark::points([position], [rounded(y)]).marked("circle", 16);
    let mark = mark.coloured(palette::head(HUE)).outlined("var(--bg)", 3.0);
    mark.dragged_along_x("position").in_legend(false).silent().unclipped()
}

/// Of the position, among the heads' colours.
const HUE: usize = 3;

/// A table's entries, position by position, the position that is set in a frame; a press
/// chooses the table.
fn map(table: &Matrix, kind: &str, position: usize) -> [Mark; 2] {
    let apart = table.ncols() / N_ENTRIES;
    let entry = |i: usize, j: usize| (table[(j, i * apart)] * 1e2).round() / 1e2;
    let most = table.amax().max(1.0);
    let cells = Mark::cells(by_cell((N_ENTRIES, N_POSITIONS), entry), 0)
        .scaled(palette::signs(), [-most, most])
        .tells(format!("position {{column}}: {{number}}<br>{kind} table"))
        .picks(format!("table={kind}"));
    let frame = share_map::frame([position; 2], [0, N_ENTRIES - 1]);
    [cells, frame.line(palette::head(HUE), 2.5)]
}

/// The similarity of a position with all; larger the dots 1 and 8 steps away, and a rule
/// through the latter.
fn likeness(alike: &[f64], position: usize, least: f64) -> Vec<Mark> {
    let told = alike.iter().enumerate();
    let told = told.map(|(other, it)| format!("position {other}: {}", written(*it, 2)));
    let line = Mark::lines_and_marks(0..alike.len(), all_rounded(alike)).sized(4);
    let line = line.line(palette::head(0), 2.0).hover(told);
    let near =
        (0..alike.len()).filter(|other| [1, 8].contains(&other.abs_diff(position)));
    let near: Vec<usize> = near.collect();
    let dots = Mark::points(near.clone(), near.iter().map(|&at| rounded(alike[at])));
    let dots = dots.sized(9).coloured(palette::wrong()).silent();
    // On the side that has more room, right of the later dots or left of the earlier ones.
    let is_early = position < N_POSITIONS / 2;
    let side = if is_early { "right" } else { "left" };
    let named = [(1, "1 step", "middle"), (8, "8 steps", "top")];
    let named = named.map(|(steps, name, up)| {
        let at = if is_early { position + steps } else { position - steps };
        let dot = Mark::points([at], [rounded(alike[at])]).sized(9);
        let dot = dot.coloured(palette::wrong()).silent().unclipped();
        dot.written([name], &format!("{up} {side}"))
    });
    let eighth = near.iter().find(|other| other.abs_diff(position) == 8);
    let rule = eighth.map(|&at| Mark::rule([[0.0, alike[at]], [63.0, alike[at]]]));
    let at = position as f64;
    let up = Mark::rule([[at, least], [at, 1.0]]).line(palette::head(HUE), 2.0);
    let rest = [up, line, dots, handle(position, least)];
    rule.into_iter().chain(rest).chain(named).map(|mark| mark.in_legend(false)).collect()
}

fn figure(title: &str, chosen: &str, width: usize, position: usize) -> Result<Figure> {
    let tables = TABLES.map(|(kind, _)| table(kind, width));
    // Of any position, so that nothing moves while one is dragged.
    let all = tables
        .iter()
        .map(|table| table * table.transpose() / table.row(0).norm_squared());
    let [least, ..] = ends(all.flat_map(|it| it.as_slice().to_vec()));
    let least = least - 0.05;
    let positions = [-0.5, N_POSITIONS as f64 - 0.5];
    let panels = |panel_width: f64| {
        let maps = TABLES.map(|(kind, _)| {
            let sign = if kind == chosen { " (chosen)" } else { ": press to choose" };
            let entries = Axis::bare([N_ENTRIES as f64 - 0.5, -0.5]);
            Panel::new(format!("{kind}{sign}"), Axis::bare(positions), entries, 130.0)
        });
        let likenesses = TABLES.map(|_| {
            let x = Axis::between(positions).titled("position").in_short();
            let y = Axis::between([least, 1.1]);
            Panel::new(format!("similarity with position {position}"), x, y, 150.0)
        });
        let place = Place {
            width: panel_width,
            n_columns: 2,
            below: 40.0,
            above: if panel_width == WIDE { 6.0 } else { 4.0 },
            ..Place::default()
        };
        (maps.into_iter().chain(likenesses).collect(), place)
    };
    let kinds = || TABLES.iter().zip(&tables).enumerate();
    let maps = kinds().flat_map(|(nth, ((kind, _), table))| {
        map(table, kind, position).map(|mark| mark.in_legend(false).on(nth))
    });
    let lines = kinds().flat_map(|(nth, (_, table))| {
        let alike = likeness(&similarities(table, position), position, least);
        alike.into_iter().map(move |mark| mark.on(2 + nth))
    });
    let marks: Vec<Mark> = maps.chain(lines).collect();
    Ok(Chart::new(title).by_width(panels).marks(marks).captioned().figure()?)
}

fn draw(&Set { position, table: kind, width: d_model }: &Set) -> Result<LiveView<Facts>> {
    let alike = similarities(&table(kind, d_model), position);
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
    let figure = figure(title, kind, d_model, position)?;
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

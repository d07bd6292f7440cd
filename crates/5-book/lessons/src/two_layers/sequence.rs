//! Pictures of the sequences: what two layers do on one, and what a model reads.

use anyhow::Result;
use attention::{Rng, SeedableRng};
use figures::{Axis, Chart, Figure, Mark, Panel, Table, by_cell, palette};
use training::repeats::Repeats;

use crate::Args;

/// The chapter's sequence; what comes next is not among them.
const READ: [&str; 7] = ["m", "f", "q", "a", "m", "f", "q"];
/// The token that stands after the first q.
const COPIED: usize = 3;
const LAST: usize = READ.len() - 1;
/// The colours of the two layers.
const LAYERS: [usize; 2] = [0, 2];
const N_SEQUENCES: usize = 3;
/// With it, the periods of the sequences are far apart.
const SEED: u64 = 1;

/// An arrow from one token to another, over the tokens, as high as is said.
fn arrow(layer: usize, [from, to]: [f64; 2], high: f64) -> [Mark; 2] {
    let turns = (0..=40).map(|nth| std::f64::consts::PI * f64::from(nth) / 40.0);
    let arc = turns.map(|turn| {
        let x = (from + to) / 2.0 - (to - from) / 2.0 * turn.cos();
        [x, 0.8 + high * turn.sin()]
    });
    let colour = palette::head(LAYERS[layer]);
    let line = Mark::curve(&arc.collect::<Vec<_>>()).line(colour, 2.5);
    let end = Mark::texts([to], [0.72], ["▼"]).text_colour(colour).text_size(13);
    [line.in_legend(false).silent(), end.silent()]
}

/// What is written beside the arrows and below the tokens.
fn words() -> [Mark; 5] {
    let (copied, last) = (COPIED as f64, LAST as f64);
    [
        (0, copied - 0.1, 2.55, "first layer:", "middle left"),
        (0, copied - 0.1, 2.05, "previous-token head", "middle left"),
        (1, (copied + last) / 2.0, 3.0, "second layer: induction head", "middle center"),
        (0, copied, -0.9, "note: q before me", "middle center"),
        (1, last, -0.9, "seeks: q before me", "middle center"),
    ]
    .map(|(layer, x, y, word, place): (usize, f64, f64, &str, &str)| {
        let words = Mark::texts([x], [y], [word]).placed(place).text_size(12);
        words.text_colour(palette::head(LAYERS[layer])).silent()
    })
}

/// The previous-token head leaves a note, and the induction head finds it.
pub(super) fn induction(_: &Args) -> Result<Figure> {
    let tokens = Mark::cells([vec![0.0; READ.len()]], 2)
        .scaled(palette::shares(), [0, 1])
        .lettered([READ.to_vec()])
        .text_size(16)
        .silent();
    let (copied, last, next) = (COPIED as f64, LAST as f64, READ.len() as f64);
    let answer = Mark::texts([next], [0.0], ["→ a"]).text_size(16).silent();
    let answer = answer.text_colour(palette::head(LAYERS[1]));
    let marks = [tokens, answer]
        .into_iter()
        .chain(arrow(0, [copied - 1.0, copied - 0.15], 0.7))
        .chain(arrow(1, [copied + 0.15, last], 1.9))
        .chain(words());
    let x = Axis::hidden([-0.5, next + 0.5]);
    let panel = Panel::new("", x, Axis::hidden([-1.2, 3.3]), 190.0);
    let rows = [
        [
            "first",
            "previous-token head",
            "a",
            "q, the token before",
            "a note: q before me",
        ],
        [
            "second",
            "induction head",
            "the last q",
            "a, by its note",
            "a, which comes next",
        ],
    ];
    let columns = ["layer", "head", "at", "attends to", "writes"];
    let rows = rows.map(|row| row.map(str::to_owned));
    let chart = Chart::new(
        "The first layer leaves a note at a; the second finds it and copies a",
    )
    .left(10.0)
    .below(0.0)
    .panel(panel, marks)
    .tables([Table::new("Two layers read m f q a m f q", columns, rows)])
    .says(
        "The tokens m f q a m f q. One arrow leads from the first q to a: the \
             previous-token head of the first layer notes at a that q stands before it. \
             Another leads from a to the last q: the induction head of the second layer \
             seeks that note, and copies a, which comes next.",
    );
    Ok(chart.figure()?)
}

/// `a` to `z`, and then `A` to `F`.
fn letter(id: usize) -> String {
    let letters = (b'a'..=b'z').chain(b'A'..=b'Z').map(char::from);
    letters.into_iter().nth(id).unwrap_or('?').to_string()
}

/// Three sequences of the task: what comes next is known from the second period on.
pub(super) fn task(_: &Args) -> Result<Figure> {
    let drawn = Repeats::default().draw(N_SEQUENCES, &mut Rng::seed_from_u64(SEED))?;
    let known: Vec<usize> = drawn.known().collect();
    let shape = (N_SEQUENCES, drawn.n_tokens);
    let row = |s: usize, t: usize| s * drawn.n_tokens + t;
    let is_known = |s: usize, t: usize| f64::from(u8::from(known.contains(&row(s, t))));
    let letters = by_cell(shape, |s, t| letter(drawn.ids[row(s, t)]));
    let names: Vec<String> =
        drawn.periods.iter().map(|period| format!("period {period}")).collect();
    let cells = Mark::cells(by_cell(shape, is_known), 1)
        .scaled(palette::from_nothing("rgba(118,118,118,0.12)"), [0.0, 2.5])
        .lettered(letters.clone())
        .silent();
    let x = Axis::hidden([-0.5, drawn.n_tokens as f64 - 0.5]);
    let panel = Panel::new("", x, Axis::down(&names, 12), 28.0 * N_SEQUENCES as f64);
    let rows = names.iter().zip(&letters).zip(&drawn.periods);
    let rows = rows.map(|((name, letters), period)| {
        let (first, again) = letters.split_at(*period);
        [name.clone(), first.join(" "), again.join(" ")]
    });
    let columns = ["", "all different", "the next token can be known"];
    let chart =
        Chart::new("From the second period on (blue), what comes next can be known")
            .left(66.0)
            .below(0.0)
            .panel(panel, [cells])
            .tables([Table::new("Three sequences of the task", columns, rows)])
            .says(
                "Three sequences. The tokens of the first period are all different; from \
                   the second period on they repeat, and what comes next can be known.",
            );
    Ok(chart.figure()?)
}

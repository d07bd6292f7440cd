//! All heads of a model over many texts: a panel per habit, a row per layer, a column per head.

use attention::Matrix;

use super::pen::Pen;
use super::{GAP, POINTS, SMALL, TITLE, drawn, hundredths, scale};
use crate::habits::{Habit, Texts};

/// Panels beside one another.
const N_COLUMNS: usize = 2;

/// The picture, `mm` millimetres wide: each panel is as dark as its largest mean, and names
/// what an even head would have.
pub fn atlas(texts: &Texts, mm: f64) -> String {
    let width = mm * POINTS;
    let n_layers = texts.heads.len();
    let n_heads = texts.heads.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let left = 2.4 * SMALL;
    let step = width / N_COLUMNS as f64;
    let wide = step - left - GAP;
    // Of many layers a panel is a square.
    let cell = [wide / n_heads as f64, wide / n_layers.max(n_heads) as f64];
    let tall = 3.0 * SMALL + cell[1] * n_layers as f64 + 2.0 * SMALL + 2.0 * GAP;
    let mut pen = Pen::new();
    let name = format!("All heads on {} texts", texts.n_texts);
    pen.text([0.0, TITLE], TITLE, "start", &name);
    for (nth, habit) in Habit::SHARES.into_iter().enumerate() {
        let x = step * (nth % N_COLUMNS) as f64;
        let y = TITLE + GAP + tall * (nth / N_COLUMNS) as f64;
        panel(&mut pen, texts, habit, [x + left, y], cell);
    }
    let n_rows = Habit::SHARES.len().div_ceil(N_COLUMNS);
    let bottom = TITLE + GAP + tall * n_rows as f64;
    let below = "a row per layer, a column per head, both from 0; means over the texts";
    pen.text([0.0, bottom + SMALL], SMALL, "start", below);
    pen.svg([width, bottom + 2.0 * SMALL], mm, &name)
}

fn panel(
    pen: &mut Pen,
    texts: &Texts,
    habit: Habit,
    [x, y]: [f64; 2],
    [wide, high]: [f64; 2],
) {
    let chance = texts.chance[habit as usize];
    let title = match chance.n {
        0 => format!("{}: no text has one", habit.name()),
        _ => format!("{}; an even head {}", habit.name(), hundredths(chance.mean)),
    };
    pen.text([x, y + SMALL], SMALL, "start", &title);
    let n_heads = texts.heads.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let means = Matrix::from_fn(texts.heads.len(), n_heads, |layer, head| {
        let habits = texts.heads[layer].get(head);
        habits.map_or(0.0, |habits| habits[habit as usize].mean as f32)
    });
    let at = [x, y + 2.6 * SMALL];
    // Of many layers or heads every so many-th is named.
    let every = |cell: f64| (SMALL * 1.2 / cell).ceil().max(1.0) as usize;
    for head in (0..n_heads).step_by(every(wide)) {
        let at = [at[0] + wide * (head as f64 + 0.5), at[1] - 1.5];
        pen.text(at, SMALL, "middle", &head.to_string());
    }
    for layer in (0..means.nrows()).step_by(every(high)) {
        let at = [at[0] - 2.0, at[1] + high * (layer as f64 + 0.5) + 0.35 * SMALL];
        pen.text(at, SMALL, "end", &layer.to_string());
    }
    let most = drawn(pen, &means, at, [wide, high]);
    let size = [wide * n_heads as f64, high * means.nrows() as f64];
    pen.frame(at, size);
    scale(pen, [at[0], at[1] + size[1] + GAP], &hundredths(most));
}

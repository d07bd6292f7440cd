//! The drawing of [`equations`](super::equations()).

use super::super::canvas::{Anchor, Canvas, Ink, Key, Look, Product, Rect};
use super::placed::{LETTERS, Placed, SIGN, is_upright, placed};
use super::{Cells, CellsLook, Equation, ROUNDING, Step, number};

/// Room at the edges, and for the sum that is written below.
const EDGE: f64 = 2.0;
const SUM: f64 = 20.0;

/// A product's factors, by their numbers among a line's matrices, and what it is divided by.
struct Factors {
    left: usize,
    right: usize,
    /// How many rows the right one has.
    inner: usize,
    over: Option<String>,
}

pub(super) fn drawn(lines: &[Equation], width: f64) -> Canvas {
    let mut placed_lines = Vec::new();
    let mut top = EDGE;
    for line in lines {
        let (placed, bottom) = placed(line, width - 2.0 * EDGE, top);
        placed_lines.push(placed);
        top = bottom;
    }
    let mut canvas = Canvas::new(width, top + SUM);
    for (nth, (line, placed)) in lines.iter().zip(&placed_lines).enumerate() {
        draw_line(&mut canvas, nth, line, placed);
    }
    if let Some(sum) = lines.iter().find_map(first_sum) {
        canvas.marked(&[("sum", String::new())], |canvas| {
            let look = Look { room: width - 2.0 * EDGE, size: LETTERS, ..Look::note() };
            let at = [width / 2.0, top + SUM / 2.0 - 4.0];
            canvas.text(&sum, at, Anchor::Middle, look);
        });
    }
    canvas
}

fn draw_line(canvas: &mut Canvas, nth: usize, line: &Equation, placed: &[Placed]) {
    let mut products = products(line).into_iter();
    let mut at = 0;
    for Placed { sign, sign_at, cells } in placed {
        if !sign.is_empty() {
            let look = Look { size: SIGN, ..Look::note() };
            canvas.text(sign, *sign_at, Anchor::Middle, look);
        }
        if let Some((cells, rect)) = cells {
            draw_names(canvas, cells, rect);
            let product = products.next().flatten();
            draw_cells(canvas, [nth, at], cells, rect, product.as_ref());
            at += 1;
        }
    }
}

/// For each matrix of a line, whether it is the product of two others.
fn products(line: &Equation) -> Vec<Option<Factors>> {
    let all: Vec<&Cells> = line.all_cells().collect();
    let mut factors = vec![0];
    let (mut over, mut is_plain) = (None, true);
    let mut found = vec![None];
    for step in &line.steps {
        let nth = found.len();
        match step {
            Step::Times(_) => factors.push(nth),
            Step::Plus(_) => is_plain = false,
            Step::Over(name, _) => over = Some(name.clone()),
            Step::Equals(_) | Step::Becomes(..) => {}
        }
        let product = match (step, &factors[..]) {
            (Step::Equals(_), &[left, right]) if is_plain => {
                let inner = all[right].entries.nrows();
                Some(Factors { left, right, inner, over: over.take() })
            }
            _ => None,
        };
        if let Step::Equals(_) | Step::Becomes(..) = step {
            (factors, over, is_plain) = (vec![nth], None, true);
        }
        if step.cells().is_some() {
            found.push(product);
        }
    }
    found
}

/// `scores: 2·0 + 1·1 = 1`, of the first entry in the lit row of a line's first product,
/// as a page writes it for each of them.
fn first_sum(line: &Equation) -> Option<String> {
    let all: Vec<&Cells> = line.all_cells().collect();
    let products = products(line).into_iter().zip(&all);
    let (factors, out) = products.filter_map(|(it, out)| Some((it?, out))).next()?;
    let row = out.lit.unwrap_or(0);
    let [left, right] = [factors.left, factors.right].map(|nth| &all[nth].entries);
    let term = |k| {
        let [a, b] = [left[(row, k)], right[(k, 0)]].map(entry);
        if b.starts_with('−') { format!("{a}·({b})") } else { format!("{a}·{b}") }
    };
    let terms: Vec<String> = (0..left.ncols()).map(term).collect();
    let terms = terms.join(" + ");
    let sum = match factors.over {
        Some(over) => format!("({terms}) / {over}"),
        None => terms,
    };
    // Numbers are written to two decimals.
    let is = if sum.contains(['.', '√']) { '≈' } else { '=' };
    Some(format!("{}: {sum} {is} {}", out.name, entry(out.entries[(row, 0)])))
}

/// What the page knows of a row of a matrix.
fn key(line: usize, matrix: usize, row: usize) -> String {
    format!("{line}.{matrix}.{row}")
}

fn draw_cells(
    canvas: &mut Canvas,
    [line, nth]: [usize; 2],
    cells: &Cells,
    rect: &Rect,
    product: Option<&Factors>,
) {
    let (n_rows, n_columns) = cells.entries.shape();
    canvas.cell(rect, Ink::Plain);
    if !matches!(cells.look, CellsLook::Plain | CellsLook::Attn) {
        for column in 0..n_columns {
            canvas.cell(&rect.column(column, n_columns), cells.ink(column));
        }
    }
    for i in 0..n_rows {
        let mut row = Key::new(key(line, nth, i));
        if let Some(Factors { left, right, inner, over }) = product {
            row = row.sums(Product {
                name: cells.name.clone(),
                left: vec![key(line, *left, i)],
                right: (0..*inner).map(|k| key(line, *right, k)).collect(),
                over: over.clone(),
            });
        }
        canvas.keyed(&row, |canvas| draw_row(canvas, cells, i, &rect.row(i, n_rows)));
    }
    if let Some(row) = cells.lit {
        canvas.framed(&rect.row(row, n_rows), Ink::Lit);
    }
}

fn draw_row(canvas: &mut Canvas, cells: &Cells, i: usize, row: &Rect) {
    let n_columns = cells.entries.ncols();
    canvas.cell(row, Ink::Nothing);
    for j in 0..n_columns {
        let cell = row.column(j, n_columns);
        let value = cells.entries[(i, j)];
        match cells.picks.get(i * n_columns + j) {
            Some(pick) => canvas.marked(&[("pick", pick.clone())], |canvas| {
                canvas.cell(&cell, Ink::Nothing);
                draw_entry(canvas, cells, &cell, value);
            }),
            None => draw_entry(canvas, cells, &cell, value),
        }
        let before = cells.before.as_ref().and_then(|it| it.get((i, j)));
        if before.is_some_and(|it| (it - value).abs() > ROUNDING) {
            let [x, y] = [cell.x + 2.0, cell.y + 2.0];
            let inner = Rect { x, y, w: cell.w - 4.0, h: cell.h - 4.0 };
            canvas.framed(&inner, Ink::Wrong);
        }
    }
}

fn draw_entry(canvas: &mut Canvas, cells: &Cells, cell: &Rect, value: f64) {
    if cells.look == CellsLook::Attn {
        return canvas.share(cell, value, &entry(value));
    }
    let ink = if value == 0.0 { Ink::Muted } else { Ink::Plain };
    let look = Look { room: cell.w - 4.0, ink, size: LETTERS, ..Look::note() };
    canvas.text(&entry(value), cell.middle(), Anchor::Middle, look);
}

fn draw_names(canvas: &mut Canvas, cells: &Cells, rect: &Rect) {
    let (n_rows, n_columns) = cells.entries.shape();
    for (i, name) in cells.rows.iter().enumerate() {
        let y = rect.row(i, n_rows).middle()[1];
        let ink = if cells.lit == Some(i) { Ink::Lit } else { Ink::Plain };
        let look = Look { ink, size: LETTERS, ..Look::note() };
        canvas.text(name, [rect.x - 5.0, y], Anchor::End, look);
    }
    let is_upright = is_upright(cells, rect.w / n_columns as f64);
    for (j, name) in cells.columns.iter().enumerate() {
        let x = rect.column(j, n_columns).middle()[0];
        match is_upright {
            true => canvas.upright(name, [x, rect.y - 4.0], LETTERS),
            false => {
                let look = Look { size: LETTERS, ..Look::note() };
                canvas.text(name, [x, rect.y - 9.0], Anchor::Middle, look);
            }
        }
    }
    // Matrices side by side have their names below themselves.
    let names: Vec<&str> = match cells.look {
        CellsLook::Parts(_) => cells.name.split(' ').collect(),
        _ => vec![&*cells.name],
    };
    for (nth, name) in names.iter().enumerate() {
        let x = rect.column(nth, names.len()).middle()[0];
        canvas.text(name, [x, rect.bottom() + 12.0], Anchor::Middle, Look::name());
    }
    let x = rect.middle()[0];
    let shape = format!("[{n_rows}, {n_columns}]");
    let look = Look { ink: Ink::Muted, size: LETTERS, ..Look::note() };
    canvas.text(&shape, [x, rect.bottom() + 29.0], Anchor::Middle, look);
}

/// As the tables have it, with the minus sign of a formula.
fn entry(value: f64) -> String {
    match value {
        f64::NEG_INFINITY => "−∞".to_owned(),
        value => number(value).replace('-', "−"),
    }
}

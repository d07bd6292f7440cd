//! The drawing of [`equations`](super::equations()).

use super::super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::placed::{Placed, SIGN, is_upright, placed};
use super::{Cells, CellsLook, Equation, Step, number};

/// Room at the edges, and for the sum that is written below.
const EDGE: f64 = 2.0;
const SUM: f64 = 20.0;

/// Two factors by their places among the matrices, and what their product is divided by.
struct Product {
    factors: [usize; 2],
    over: Option<String>,
}

pub(super) fn drawn(lines: &[Equation], width: f64) -> Canvas {
    let mut placed_lines = Vec::new();
    let mut top = EDGE;
    for line in lines {
        let (placed, bottom) = placed(line, width - 2.0 * EDGE, top);
        placed_lines.push((line, placed));
        top = bottom;
    }
    let mut canvas = Canvas::new(width, top + SUM);
    let mut nth = 0;
    let mut sum = None;
    for (line, placed) in &placed_lines {
        let cells: Vec<&Cells> = line.all_cells().collect();
        for (at, (it, product)) in placed.iter().zip(products(line, nth)).enumerate() {
            if let (None, Some(product)) = (&sum, &product) {
                let first = nth - product.factors[0];
                let at = line_index(line, at);
                sum = Some(written_sum(&cells[at - first..=at], product));
            }
            draw(&mut canvas, it, nth, product.as_ref());
            nth += usize::from(it.cells.is_some());
        }
    }
    if let Some(sum) = sum {
        canvas.marked(&[("sum", sum.clone())], |canvas| {
            let look = Look { room: width - 2.0 * EDGE, ..Look::note() };
            let at = [width / 2.0, top + SUM / 2.0 - 4.0];
            canvas.text(&sum, at, Anchor::Middle, look);
        });
    }
    canvas
}

/// Which of a line's matrices its unit `at` holds.
fn line_index(line: &Equation, at: usize) -> usize {
    line.steps[..at].iter().filter(|step| step.cells().is_some()).count()
}

/// For each unit of a line, whether its matrix is a product of the two before it; the
/// first matrix of the line is number `first` of the figure.
fn products(line: &Equation, first: usize) -> Vec<Option<Product>> {
    let mut nth = first;
    let mut factors = vec![first];
    let mut over = None;
    let mut is_plain = true;
    let mut found = vec![None];
    for step in &line.steps {
        nth += usize::from(step.cells().is_some());
        let product = match (step, factors[..].try_into()) {
            (Step::Equals(_), Ok(factors)) if is_plain => {
                Some(Product { factors, over: over.take() })
            }
            _ => None,
        };
        match step {
            Step::Times(_) => factors.push(nth),
            Step::Over(name, _) => over = Some(name.clone()),
            Step::Plus(_) => is_plain = false,
            Step::Equals(_) | Step::Becomes(..) => {
                (factors, over, is_plain) = (vec![nth], None, true);
            }
        }
        found.push(product);
    }
    found
}

/// `scores: 2·0 + 1·1 = 1`, as a page writes it for the entry under the pointer.
fn written_sum(cells: &[&Cells], product: &Product) -> String {
    let [a, b] = [cells[0], cells[1]];
    let out = cells[cells.len() - 1];
    let row = out.lit.unwrap_or(0);
    let terms: Vec<String> = (0..a.entries.ncols())
        .map(|k| {
            let [a, b] = [a.entries[(row, k)], b.entries[(k, 0)]].map(entry);
            let b = if b.starts_with('−') { format!("({b})") } else { b };
            format!("{a}·{b}")
        })
        .collect();
    let terms = terms.join(" + ");
    let sum = match &product.over {
        Some(over) => format!("({terms}) / {over}"),
        None => terms,
    };
    format!("{}: {sum} = {}", out.name, entry(out.entries[(row, 0)]))
}

fn draw(canvas: &mut Canvas, placed: &Placed, nth: usize, product: Option<&Product>) {
    let look = Look { size: SIGN, ..Look::note() };
    if !placed.sign.is_empty() {
        canvas.text(&placed.sign, placed.sign_at, Anchor::Middle, look);
    }
    let Some((cells, rect)) = &placed.cells else { return };
    draw_names(canvas, cells, rect);
    let (n_rows, n_columns) = cells.entries.shape();
    let mut marks =
        vec![("cells", nth.to_string()), ("shape", format!("{n_rows} {n_columns}"))];
    if let Some(Product { factors: [a, b], over }) = product {
        marks.push(("product", format!("{a} {b}")));
        marks.push(("name", cells.name.clone()));
        marks.extend(cells.lit.iter().map(|row| ("lit", row.to_string())));
        marks.extend(over.iter().map(|over| ("over", over.clone())));
    }
    canvas.marked(&marks, |canvas| draw_cells(canvas, cells, rect));
}

/// The frame first, then an entry after the other, row by row: a page reads them so.
fn draw_cells(canvas: &mut Canvas, cells: &Cells, rect: &Rect) {
    let (n_rows, n_columns) = cells.entries.shape();
    canvas.cell(rect, Ink::Plain);
    if matches!(cells.look, CellsLook::Head(_) | CellsLook::Heads(_)) {
        for column in 0..n_columns {
            canvas.cell(&rect.column(column, n_columns), cells.ink(column));
        }
    }
    for (i, j) in (0..n_rows).flat_map(|i| (0..n_columns).map(move |j| (i, j))) {
        let cell = rect.row(i, n_rows).column(j, n_columns);
        let value = cells.entries[(i, j)];
        match cells.look {
            CellsLook::Attn => canvas.share(&cell, value, &entry(value)),
            _ => {
                let ink = if value == 0.0 { Ink::Muted } else { Ink::Plain };
                let look = Look { room: cell.w - 4.0, ink, ..Look::note() };
                canvas.text(&entry(value), cell.middle(), Anchor::Middle, look);
            }
        }
    }
    if let Some(row) = cells.lit {
        canvas.framed(&rect.row(row, n_rows), Ink::Lit);
    }
}

fn draw_names(canvas: &mut Canvas, cells: &Cells, rect: &Rect) {
    let (n_rows, n_columns) = cells.entries.shape();
    for (i, name) in cells.rows.iter().enumerate() {
        let y = rect.row(i, n_rows).middle()[1];
        let ink = if cells.lit == Some(i) { Ink::Lit } else { Ink::Plain };
        let look = Look { ink, ..Look::note() };
        canvas.text(name, [rect.x - 5.0, y], Anchor::End, look);
    }
    let is_upright = is_upright(cells, rect.w / n_columns as f64);
    for (j, name) in cells.columns.iter().enumerate() {
        let x = rect.column(j, n_columns).middle()[0];
        match is_upright {
            true => canvas.upright(name, [x, rect.y - 4.0]),
            false => canvas.text(name, [x, rect.y - 8.0], Anchor::Middle, Look::note()),
        }
    }
    let x = rect.middle()[0];
    canvas.text(&cells.name, [x, rect.bottom() + 11.0], Anchor::Middle, Look::name());
    let shape = format!("[{n_rows}, {n_columns}]");
    let look = Look { ink: Ink::Muted, ..Look::note() };
    canvas.text(&shape, [x, rect.bottom() + 26.0], Anchor::Middle, look);
}

/// As the tables have it, with the minus sign of a formula.
fn entry(value: f64) -> String {
    match value {
        f64::NEG_INFINITY => "−∞".to_owned(),
        value => number(value).replace('-', "−"),
    }
}

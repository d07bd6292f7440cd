//! The matrices of a layer as areas on one scale, each cut by the heads.

use attention::{Dims, thousands};

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::{BESIDE, NARROW, WIDE, figure};
use crate::chart::Text;
use crate::{Figure, Result, Table, sketch};

/// The matrices of a layer whose heads share the width, as areas: an entry is as large
/// everywhere, and each head is a strip of each area. One head is lit, and a click on a
/// strip sets `head`.
///
/// With a number of tokens, what one token is multiplied by there besides: all keys and
/// values, and its attention weights, a row per head, which are drawn several times as high.
/// An edge of the keys sets `n` then, the first head's edge sets `h`, and the lower edge of
/// W^O `d_model`.
///
/// # Errors
/// [`Error::NoSuchPart`](crate::Error::NoSuchPart) for a head that the layer has not.
pub fn layer_areas(
    title: impl Into<String>,
    dims: Dims,
    n_tokens: Option<usize>,
    head: usize,
) -> Result<Figure> {
    attention::Error::expect_index("head", head, dims.n_heads())?;
    let areas = areas(dims, n_tokens);
    let row = |area: &Area| {
        let [rows, columns] = area.shape;
        let [own_rows, own_columns] = area.of_head(dims.n_heads());
        [
            area.name.to_owned(),
            format!("{rows} × {columns}"),
            format!("{own_rows} × {own_columns}"),
            thousands(rows * columns),
        ]
    };
    let columns = ["", "all heads", "one head", "entries"];
    let table = Table::new("Areas on one scale", columns, areas.iter().map(row));
    let each = areas.iter().map(|area| format!("{}, {}", area.name, area.sizes()));
    let text = Text {
        alternative: format!(
            "Matrices drawn to one scale and cut in {} strips, one per head: {}.",
            dims.n_heads(),
            each.collect::<Vec<_>>().join("; ")
        ),
        sketch: sketch::table(&table),
        tables: vec![table],
    };
    let drawn =
        [true, false].map(|is_wide| drawn(&areas, dims, (n_tokens, head), is_wide));
    Ok(figure(title, text, drawn))
}

/// A matrix, as it is drawn.
struct Area {
    key: &'static str,
    name: &'static str,
    shape: [usize; 2],
    /// Whether a head has columns of it, and not rows.
    in_columns: bool,
}

impl Area {
    fn sizes(&self) -> String {
        format!("{} × {}", self.shape[0], self.shape[1])
    }

    fn of_head(&self, n_heads: usize) -> [usize; 2] {
        let [rows, columns] = self.shape;
        if self.in_columns {
            [rows, columns / n_heads]
        } else {
            [rows / n_heads, columns]
        }
    }

    /// With its name and a note over it, at a corner with so much room; a unit is as long as
    /// an entry, and rows are so many times as high.
    fn draw(
        &self,
        canvas: &mut Canvas,
        [x, top, room]: [f64; 3],
        note: &str,
        [unit, raised]: [f64; 2],
        (dims, head): (Dims, usize),
    ) -> Rect {
        let look = Look { room, ..Look::name() };
        canvas.text(self.name, [x, top + 13.0], Anchor::Start, look);
        let look = Look { size: 12.0, room, ..Look::note() };
        canvas.text(note, [x, top + 30.0], Anchor::Start, look);
        let [rows, columns] = self.shape.map(|n| n as f64 * unit);
        let whole = Rect { x, y: top + NAMES, w: columns, h: rows * raised };
        self.strips(canvas, &whole, dims.n_heads(), head);
        whole
    }

    /// A strip per head, each found by a pointer.
    fn strips(&self, canvas: &mut Canvas, whole: &Rect, n_heads: usize, lit: usize) {
        for head in 0..n_heads {
            let strip = match self.in_columns {
                true => whole.column(head, n_heads),
                false => whole.row(head, n_heads),
            };
            let apart = |side: f64| if side < 2.0 { 0.0 } else { (side * 0.25).min(1.5) };
            let strip = match self.in_columns {
                true => Rect { w: strip.w - apart(strip.w), ..strip },
                false => Rect { h: strip.h - apart(strip.h), ..strip },
            };
            let key = Key::new(format!("{}.{head}", self.key))
                .from(format!("{}.{}", self.key, head / 2))
                .picks(format!("head={head}"));
            canvas.keyed(&key, |canvas| match head == lit {
                true => canvas.bar(&strip, Ink::Head(0)),
                false => canvas.filled(&strip.corners(), Ink::Head(0)),
            });
        }
    }
}

/// The four matrices of the layer, and with tokens what there is of these.
fn areas(dims: Dims, n_tokens: Option<usize>) -> Vec<Area> {
    let (d, width) = (dims.d_model(), dims.concat_width());
    let area = |key, name, shape, in_columns| Area { key, name, shape, in_columns };
    let mut areas = vec![
        area("q", "W^Q", [d, width], true),
        area("k", "W^K", [d, width], true),
        area("v", "W^V", [d, width], true),
        area("o", "W^O", [width, d], false),
    ];
    if let Some(n) = n_tokens {
        areas.push(area("keys", "keys of all tokens", [width, n], false));
        areas.push(area("values", "values of all tokens", [width, n], false));
        let weights = "attention weights of one token";
        areas.push(area("weights", weights, [dims.n_heads(), n], false));
    }
    areas
}

/// Over an area, for its name and its sizes; and between areas.
const NAMES: f64 = 42.0;
const GAP: f64 = 16.0;
/// Where a reader sets the number of tokens: how long an entry is, beside controls and on a
/// phone, and the largest matrices that have room.
const UNITS: [f64; 2] = [0.24, 0.14];
const MOST: [f64; 2] = [512.0, 64.0];
/// More tokens have no room.
const MOST_TOKENS: f64 = 1200.0;
/// How many times as high as its entries a row of attention weights is drawn.
const RAISED: f64 = 4.0;
/// A sum of entries, as a line of text and a bar.
const SUM: f64 = 44.0;

fn drawn(
    areas: &[Area],
    dims: Dims,
    (n_tokens, head): (Option<usize>, usize),
    is_wide: bool,
) -> Canvas {
    match n_tokens {
        Some(_) => with_tokens(areas, dims, head, is_wide),
        None => {
            let page = if is_wide { WIDE } else { NARROW };
            let slot = page / 4.0;
            let unit = (slot - GAP) / dims.d_model() as f64;
            let mut canvas = Canvas::new(page, NAMES + slot);
            for (nth, area) in areas.iter().enumerate() {
                let [rows, columns] = area.of_head(dims.n_heads());
                let note = format!("{} × ({rows} × {columns})", dims.n_heads());
                let corner = [nth as f64 * slot, 0.0, slot - 4.0];
                area.draw(&mut canvas, corner, &note, [unit, 1.0], (dims, head));
            }
            canvas
        }
    }
}

/// Four squares, keys beside values, and the weights below the keys, beside sums or over
/// them.
fn with_tokens(areas: &[Area], dims: Dims, head: usize, is_wide: bool) -> Canvas {
    let page = if is_wide { BESIDE } else { NARROW };
    let unit = UNITS[usize::from(!is_wide)];
    let below = NAMES + MOST[0] * unit + GAP;
    let weights = NAMES + MOST[1] * unit * RAISED + GAP;
    let sums =
        if is_wide { [page / 2.0, 2.0 * below] } else { [0.0, 2.0 * below + weights] };
    let height = sums[1] + 3.0 * SUM + if is_wide { 14.0 } else { 0.0 };
    let mut canvas = Canvas::new(page, height);
    let mut rects = Vec::new();
    for (nth, area) in areas.iter().enumerate() {
        let slot = page / if nth < 4 { 4.0 } else { 2.0 };
        let corner = match nth {
            0..4 => [nth as f64 * slot, 0.0, slot - 4.0],
            4 | 5 => [(nth - 4) as f64 * slot, below, slot - 4.0],
            _ => [0.0, 2.0 * below, if is_wide { slot - 4.0 } else { page }],
        };
        let raised = if nth == 6 { RAISED } else { 1.0 };
        let note = match nth {
            6 => format!("{}, each row {RAISED} times as high", area.sizes()),
            _ => area.sizes(),
        };
        // As far as it can grow.
        if nth > 3 {
            let rows = if nth == 6 { MOST[1] * RAISED } else { MOST[0] };
            let [y, h] = [corner[1] + NAMES, rows * unit];
            let most = Rect { x: corner[0], y, w: MOST_TOKENS * unit, h };
            canvas.cell(&most, Ink::Faint);
        }
        rects.push(area.draw(&mut canvas, corner, &note, [unit, raised], (dims, head)));
    }
    let [first, mixing, keys] = [0, 3, 4].map(|nth| &rects[nth]);
    let d_k = first.column(0, dims.n_heads()).right();
    let of_heads = format!("h {} {unit} {}", first.x, dims.concat_width());
    grip(&mut canvas, of_heads, "heads", [d_k.max(10.0), first.bottom() + 2.0], false);
    let of_width = format!("d_model {} {unit}", mixing.y);
    let under = [mixing.middle()[0], mixing.bottom()];
    grip(&mut canvas, of_width, "d_model", under, true);
    let of_tokens = format!("n {} {unit}", keys.x);
    grip(&mut canvas, of_tokens, "tokens", [keys.right(), keys.middle()[1]], false);
    draw_sums(&mut canvas, areas, sums, is_wide);
    canvas
}

/// What is multiplied with matrices, and with keys and values, as bars on one scale; and the
/// number of attention weights.
fn draw_sums(canvas: &mut Canvas, areas: &[Area], [x, top]: [f64; 2], is_wide: bool) {
    let entries = |areas: &[Area]| -> usize {
        areas.iter().map(|it| it.shape[0] * it.shape[1]).sum()
    };
    let room = canvas.width() - x;
    let most = 1.25 * 4.0 * MOST[0] * MOST[0];
    let n = [entries(&areas[..4]), entries(&areas[4..6]), entries(&areas[6..])];
    let names = ["in the four matrices", "in keys and values", "attention weights"];
    for (nth, (name, n)) in names.into_iter().zip(n).enumerate() {
        let y = top + nth as f64 * SUM + if is_wide { 14.0 } else { 0.0 };
        let text = format!("{name}: {}", thousands(n));
        canvas.text(&text, [x, y + 6.0], Anchor::Start, Look { room, ..Look::text() });
        let w = (room * n as f64 / most).max(1.0);
        let bar = Rect { x, y: y + 18.0, w, h: 12.0 };
        let key = Key::new(format!("sum.{nth}"));
        canvas.keyed(&key, |canvas| canvas.bar(&bar, Ink::Head(0)));
    }
}

/// An edge that is dragged to the left and right, or up and down: the setting, where its 0
/// is, and how long a 1 is; of what is cut in so many pieces as the setting says, how long it
/// is too. Its name stands beside it.
fn grip(canvas: &mut Canvas, drag: String, name: &str, [x, y]: [f64; 2], is_lying: bool) {
    let mut marks = vec![("drag", drag)];
    marks.extend(is_lying.then(|| ("axis", "y".to_owned())));
    canvas.marked(&marks, |canvas| {
        let [w, h] = if is_lying { [44.0, 26.0] } else { [26.0, 44.0] };
        let reach = Rect { x: x - w / 2.0, y: y - h / 2.0, w, h };
        canvas.cell(&reach, Ink::Nothing);
        canvas.knob([x, y], is_lying);
    });
    canvas.text(name, [x + 13.0, y + 9.0], Anchor::Start, Look::text());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn the_matrices_of_two_heads_and_their_tokens() {
        let dims = Dims::new(4, 2).unwrap();
        assert_diagram!(layer_areas("Cut in two", dims, None, 1).unwrap());
        let figure = layer_areas("Cut in two", dims, Some(3), 1).unwrap();
        let [wide, _] = figure.drawings().unwrap();
        for part in [
            "data-drag=\"h 0 0.24 4\"",
            "data-drag=\"n 0 0.24\"",
            "data-drag=\"d_model 42 0.24\"",
        ] {
            assert!(wide.contains(part), "{part}: {wide}");
        }
        assert_eq!(figure.tables()[0].rows[6][1..3], ["2 × 3", "1 × 3"]);
    }

    #[test]
    fn a_head_that_there_is_not_is_refused() {
        let refused = layer_areas("", Dims::new(4, 2).unwrap(), None, 2).unwrap_err();
        insta::assert_snapshot!(refused, @"there are 2 heads, 0 to 1: head 2 does not exist");
    }
}

//! Where the parts of the Line stand, on a wide page and on a phone.
//!
//! A product stands where the row of its left factor meets the column of its right one: so
//! the scores lie right of Q and below Kᵀ, and the mixed values right of the shares and
//! below V.

use super::{HEAD_WIDTH, HEADS, LINE_WORDS, Rect, WIDTH};

/// The height of a row.
pub(super) const ROW: f64 = 20.0;

/// Where the matrices of a head stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    pub(super) q: Rect,
    /// Transposed.
    pub(super) k: Rect,
    pub(super) grid: Rect,
    pub(super) v: Rect,
    pub(super) out: Rect,
    /// Its name begins here.
    pub(super) name: [f64; 2],
}

/// Where everything stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    pub(super) size: [f64; 2],
    pub(super) x: Rect,
    pub(super) lanes: [Lane; HEADS],
    pub(super) concat: Rect,
    pub(super) w_o: Rect,
    pub(super) out: Rect,
    pub(super) sum: Rect,
    /// The lines of sums begin here.
    pub(super) sums: [f64; 2],
    /// Where the way goes on to, and how much room there is for its name.
    pub(super) onward: [f64; 3],
    /// The button of the mask.
    pub(super) mask: Rect,
}

const ROWS: f64 = LINE_WORDS as f64 * ROW;
const NARROW: f64 = 350.0;

/// Four entries of this width in a row, a word a row.
fn rows([x, y]: [f64; 2], entry: f64) -> Rect {
    Rect { x, y, w: WIDTH as f64 * entry, h: ROWS }
}

/// Above a matrix, by a gap.
fn above(rect: &Rect, n_rows: usize, gap: f64) -> Rect {
    let h = n_rows as f64 * ROW;
    Rect { y: rect.y - gap - h, h, ..*rect }
}

/// A head with this corner, of entries and scores of these widths.
fn lane([x, y]: [f64; 2], [entry, score]: [f64; 2], gap: f64) -> Lane {
    let w = HEAD_WIDTH as f64 * entry;
    let q = Rect { x, y: y + ROWS + gap, w, h: ROWS };
    let grid = Rect { x: q.right() + gap, w: LINE_WORDS as f64 * score, ..q };
    let out = Rect { x: grid.right() + gap, ..q };
    let [k, v] = [above(&grid, HEAD_WIDTH, gap), above(&out, LINE_WORDS, gap)];
    Lane { q, k, grid, v, out, name: [x, y + 8.0] }
}

impl Places {
    pub(super) fn of(is_wide: bool) -> Self {
        if is_wide { Self::wide() } else { Self::narrow() }
    }

    /// From left to right, the heads above one another, and the sum below the output.
    fn wide() -> Self {
        const ENTRY: f64 = 23.0;
        let y = 124.0;
        let lanes = [14.0, 180.0].map(|y| lane([182.0, y], [ENTRY, 31.0], 8.0));
        let concat = rows([398.0, y], ENTRY);
        let out = rows([498.0, y], ENTRY);
        Self {
            size: [super::super::BESIDE, 388.0],
            x: rows([74.0, y], 22.0),
            lanes,
            concat,
            w_o: above(&out, WIDTH, 8.0),
            out,
            sum: rows([498.0, y + ROWS + 58.0], ENTRY),
            sums: [2.0, 338.0],
            onward: [544.0, y + 2.0 * ROWS + 72.0, 88.0],
            mask: Rect { x: 2.0, y: 22.0, w: 128.0, h: 26.0 },
        }
    }

    /// From top to bottom, the heads side by side.
    fn narrow() -> Self {
        const ENTRY: f64 = 18.0;
        const WIDER: f64 = 24.0;
        let lanes = [2.0, 190.0].map(|x| lane([x, 92.0], [ENTRY, 26.0], 4.0));
        let concat = rows([2.0, 324.0], WIDER);
        let out = rows([106.0, 324.0], WIDER);
        Self {
            size: [NARROW, 498.0],
            x: rows([66.0, 16.0], 20.0),
            lanes,
            concat,
            w_o: above(&out, WIDTH, 6.0),
            out,
            sum: rows([238.0, 324.0], WIDER),
            sums: [2.0, 446.0],
            onward: [286.0, 324.0 + ROWS + 16.0, 100.0],
            mask: Rect { x: 196.0, y: 22.0, w: 128.0, h: 26.0 },
        }
    }
}

//! The drawing of [`tape`](super::tape()): the lines of PyTorch, the line of memory, and the
//! array that is read from it.

use super::super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::super::{BESIDE, NARROW};
use super::{Piece, STEPS, Tape, TapeStop};

/// A row of the steps, and where its columns begin: where there is room and on a phone.
const STEP: f64 = 23.0;
const COLUMNS: [[f64; 5]; 2] =
    [[6.0, 226.0, 340.0, 470.0, 592.0], [6.0, 156.0, 222.0, 292.0, 350.0]];
/// A piece of the line: as narrow as its addresses allow.
const LEAST: f64 = 42.0;
/// An entry of the array, and how high one is everywhere.
const ENTRY: [f64; 2] = [22.0, 40.0];
const HIGH: f64 = 25.0;
/// A lane of brackets over the line, and the two rows of numbers under it.
const LANE: f64 = 15.0;
const UNDER: f64 = 34.0;
/// For names to the left.
const NAMES: f64 = 56.0;
/// For a part's heading, and between two blocks or parts.
const HEADING: f64 = 26.0;
const APART: f64 = 10.0;

/// How the line of memory is broken into lines of the page, and where it begins.
struct Line {
    a_line: usize,
    /// How wide a piece is.
    piece: f64,
    n_lanes: usize,
    top: f64,
}

/// How many blocks of an array stand side by side.
struct Blocks {
    a_line: usize,
    n_lines: usize,
    rows: usize,
    /// How wide a block is, with the room after it.
    pitch: f64,
}

impl Tape {
    /// As high at one stop as at another: nothing below it moves.
    pub(super) fn drawn(self, is_wide: bool, others: [[Option<usize>; 2]; 2]) -> Canvas {
        let page = if is_wide { BESIDE } else { NARROW };
        let line = self.line(page, STEP * 6.0 + HEADING + APART);
        let array = line.top + line.height(self) + HEADING;
        let height = TapeStop::ALL.map(|stop| self.at(stop).blocks(page).height());
        let height = height.into_iter().fold(0.0, f64::max);
        let mut canvas = Canvas::new(page, array + height);
        self.draw_steps(&mut canvas, COLUMNS[usize::from(!is_wide)], page);
        let heading = |canvas: &mut Canvas, text: &str, y: f64| {
            let look = Look { room: page - 4.0, ..Look::name() };
            canvas.text(text, [2.0, y], Anchor::Start, look);
        };
        heading(&mut canvas, "one line of memory", line.top - 14.0);
        self.draw_sizes(&mut canvas, others, [page, line.top - 14.0]);
        self.draw_line(&mut canvas, &line);
        heading(&mut canvas, "the array that is read from it", array - 14.0);
        self.draw_blocks(&mut canvas, array, page);
        canvas
    }

    fn draw_steps(self, canvas: &mut Canvas, columns: [f64; 5], page: f64) {
        for (text, x) in STEPS.into_iter().zip(columns) {
            let look = Look { ink: Ink::Muted, ..Look::text() };
            canvas.text(text, [x, STEP / 2.0], Anchor::Start, look);
        }
        let rooms = columns.windows(2).map(|pair| pair[1] - pair[0] - 6.0);
        for (nth, stop) in TapeStop::ALL.into_iter().enumerate() {
            let row = Rect { x: 1.0, y: STEP * (nth + 1) as f64, w: page - 2.0, h: STEP };
            let is_lit = stop == self.stop;
            let ink = if is_lit { Ink::Plain } else { Ink::Muted };
            let look = Look { is_bold: is_lit, ink, ..Look::text() };
            let key = Key::new(format!("step.{nth}")).picks(format!("stop={nth}"));
            let texts = self.at(stop).step();
            canvas.keyed(&key, |canvas| {
                match (is_lit, stop) {
                    (false, _) => canvas.filled(&row.corners(), Ink::Nothing),
                    (true, TapeStop::Wrong) => canvas.cell(&row, Ink::Wrong),
                    (true, _) => canvas.cell(&row, Ink::Lit),
                }
                for ((text, x), room) in texts.iter().zip(columns).zip(rooms.clone()) {
                    let at = [x, row.middle()[1]];
                    canvas.text(text, at, Anchor::Start, Look { room, ..look });
                }
            });
        }
    }

    /// How many tokens and heads there are, each with a button to the next smaller and one
    /// to the next larger number.
    fn draw_sizes(
        self,
        canvas: &mut Canvas,
        others: [[Option<usize>; 2]; 2],
        [right, y]: [f64; 2],
    ) {
        let sizes = [("n", "tokens", self.n_tokens), ("h", "heads", self.n_heads)];
        for (nth, ((key, name, size), others)) in
            sizes.into_iter().zip(others).enumerate()
        {
            let end = right - 1.0 - (1 - nth) as f64 * 112.0;
            let texts = ["−", "+"].into_iter().zip(others).zip([end - 42.0, end - 20.0]);
            for ((sign, other), x) in texts {
                let Some(other) = other else { continue };
                let rect = Rect { x, y: y - 10.0, w: 20.0, h: 20.0 };
                let pick =
                    Key::new(format!("{key}.{sign}")).picks(format!("{key}={other}"));
                canvas.keyed(&pick, |canvas| {
                    canvas.rect(&rect, Ink::Lit);
                    canvas.text(sign, rect.middle(), Anchor::Middle, Look::name());
                });
            }
            let text = format!(
                "{size} {}",
                if size == 1 { name.trim_end_matches('s') } else { name }
            );
            canvas.text(&text, [end - 47.0, y], Anchor::End, Look::text());
        }
    }

    /// Lines of whole tokens where a token has room, and all about as long.
    fn line(self, page: f64, top: f64) -> Line {
        let Self { n_tokens, n_heads, .. } = self;
        let room = page - NAMES - 4.0;
        let fit = ((room / LEAST) as usize).max(1);
        let a_line = match fit / n_heads {
            0 => fit,
            tokens => n_tokens.div_ceil(n_tokens.div_ceil(tokens)) * n_heads,
        };
        let piece = (room / a_line as f64).min(2.0 * LEAST);
        Line { a_line, piece, n_lanes: n_heads.max(2), top }
    }

    fn draw_line(self, canvas: &mut Canvas, line: &Line) {
        let mut order = vec![0; self.n_tokens * self.n_heads];
        for (nth, place) in self.places().concat().into_iter().enumerate() {
            order[place] = nth;
        }
        for (at, piece) in self.memory().into_iter().enumerate() {
            let rect = line.piece(at);
            if at.is_multiple_of(line.a_line) {
                for (nth, name) in ["address", "read as"].into_iter().enumerate() {
                    let under = [NAMES - 4.0, rect.bottom() + 9.0 + 15.0 * nth as f64];
                    let look = Look { size: 12.0, ink: Ink::Muted, ..Look::note() };
                    canvas.text(name, under, Anchor::End, look);
                }
            }
            let name = format!("{}.{}", piece.token, piece.head);
            canvas.keyed(&Key::new(format!("tape.{name}")), |canvas| {
                canvas.cell(&rect, Ink::Hue(piece.head));
                for nth in 1..self.d_k {
                    let x = rect.column(nth, self.d_k).x;
                    let from = [x, rect.bottom() - 5.0];
                    canvas.line(from, [x, rect.bottom()], Ink::Hue(piece.head));
                }
                let look = Look { room: rect.w - 4.0, ..Look::text() };
                canvas.text(&self.range(piece), rect.middle(), Anchor::Middle, look);
            });
            let address = (at * self.d_k).to_string();
            let under = [rect.x + 1.0, rect.bottom() + 9.0];
            let look = Look { size: 12.0, ink: Ink::Muted, ..Look::note() };
            canvas.text(&address, under, Anchor::Start, look);
            let order = format!("{}.", order[at] + 1);
            let under = [under[0], under[1] + 15.0];
            canvas.text(
                &order,
                under,
                Anchor::Start,
                Look { size: 12.0, ..Look::note() },
            );
        }
        let places = self.places();
        let rows = if self.stop == TapeStop::Memory { self.n_heads } else { usize::MAX };
        let blocks: Vec<&[usize]> =
            places.iter().flat_map(|block| block.chunks(rows)).collect();
        for (nth, block) in blocks.into_iter().enumerate() {
            self.draw_bracket(canvas, line, nth, block);
        }
    }

    /// Over the pieces of a block; a comb where they do not lie side by side.
    fn draw_bracket(self, canvas: &mut Canvas, line: &Line, nth: usize, block: &[usize]) {
        let is_comb = self.stop == TapeStop::Transpose;
        let ink = match self.stop {
            TapeStop::Memory | TapeStop::View => Ink::Plain,
            TapeStop::Wrong if self.n_right() < self.n_tokens * self.n_heads => {
                Ink::Wrong
            }
            _ => Ink::Hue(nth),
        };
        let lane = if is_comb { line.n_lanes - nth } else { 1 };
        for part in block.chunk_by(|a, b| a / line.a_line == b / line.a_line) {
            let [first, last] = [part[0], part[part.len() - 1]].map(|at| line.piece(at));
            let y = first.y - lane as f64 * LANE + 5.0;
            let [from, to] = [first.x + 1.5, last.right() - 1.5];
            canvas.line([from, y], [to, y], ink);
            let teeth: Vec<f64> = match is_comb {
                true => part.iter().map(|&at| line.piece(at).middle()[0]).collect(),
                false => vec![from, to],
            };
            for x in teeth {
                canvas.line([x, y], [x, first.y - 1.0], ink);
            }
            let name = match self.stop {
                TapeStop::Memory => self.row_name(nth),
                _ => self.heading(nth),
            };
            let look = Look { size: 12.0, room: to - from, ..Look::note() };
            match is_comb {
                true => {
                    let look = Look { room: NAMES, ..look };
                    canvas.text(&name, [NAMES - 4.0, y], Anchor::End, look);
                }
                false => {
                    canvas.text(&name, [(from + to) / 2.0, y - 8.0], Anchor::Middle, look)
                }
            }
        }
    }

    fn draw_piece(self, canvas: &mut Canvas, piece: Piece, rect: &Rect, ink: Ink) {
        for (nth, address) in self.addresses(piece).enumerate() {
            let cell = rect.column(nth, self.d_k);
            canvas.cell(&cell, ink);
            let is_bold = ink == Ink::Wrong;
            let look = Look { room: cell.w - 2.0, is_bold, ..Look::text() };
            canvas.text(&address.to_string(), cell.middle(), Anchor::Middle, look);
        }
    }

    /// `4–7`, where its entries lay first.
    fn range(self, piece: Piece) -> String {
        let all: Vec<usize> = self.addresses(piece).collect();
        match all[..] {
            [first, .., last] => format!("{first}–{last}"),
            _ => all[0].to_string(),
        }
    }

    fn blocks(self, page: f64) -> Blocks {
        let places = self.places();
        let (n_blocks, a_row) = (places.len(), self.a_row());
        let room = page - NAMES - 4.0;
        let columns = (a_row * self.d_k) as f64;
        // All blocks side by side, if their entries can be read then.
        let side_by_side = (room + APART) / n_blocks as f64 - APART;
        let cell = (side_by_side / columns).max(ENTRY[0]);
        let cell = cell.min(ENTRY[1]).min(room / columns);
        let pitch = columns * cell + APART;
        let a_line = (((room + APART + 0.1) / pitch) as usize).clamp(1, n_blocks);
        let n_lines = n_blocks.div_ceil(a_line);
        Blocks { a_line, n_lines, rows: places[0].len() / a_row, pitch }
    }

    /// The pieces as they are read; each comes from its place in the line, which stays.
    fn draw_blocks(self, canvas: &mut Canvas, top: f64, page: f64) {
        let blocks = self.blocks(page);
        for (nth, pieces) in self.read().iter().enumerate() {
            let y = top + (nth / blocks.a_line) as f64 * blocks.line_height();
            let x = NAMES + 2.0 + (nth % blocks.a_line) as f64 * blocks.pitch;
            let width = blocks.pitch - APART;
            let look = Look { room: blocks.pitch, ..Look::text() };
            let middle = [x + width / 2.0, y + 8.0];
            canvas.text(&self.heading(nth), middle, Anchor::Middle, look);
            for (row, pieces) in pieces.chunks(self.a_row()).enumerate() {
                let y = y + HEADING - 5.0 + row as f64 * HIGH;
                if nth.is_multiple_of(blocks.a_line) {
                    let at = [NAMES - 4.0, y + HIGH / 2.0];
                    let look = Look { room: NAMES - 4.0, ..Look::text() };
                    canvas.text(&self.row_name(row), at, Anchor::End, look);
                }
                let whole = Rect { x, y, w: width, h: HIGH };
                for (column, piece) in pieces.iter().enumerate() {
                    let rect = whole.column(column, pieces.len());
                    let ink = match self.is_right(*piece, nth, row) {
                        true => Ink::Hue(piece.head),
                        false => Ink::Wrong,
                    };
                    let name = format!("{}.{}", piece.token, piece.head);
                    let key = Key::new(format!("read.{name}"));
                    canvas.keyed(&key.from(format!("tape.{name}")), |canvas| {
                        self.draw_piece(canvas, *piece, &rect, ink);
                    });
                }
            }
        }
    }
}

impl Line {
    /// One line of the page, with its brackets and the numbers under it.
    fn pitch(&self) -> f64 {
        self.n_lanes as f64 * LANE + HIGH + UNDER
    }

    fn height(&self, tape: Tape) -> f64 {
        let n_pieces = tape.n_tokens * tape.n_heads;
        n_pieces.div_ceil(self.a_line) as f64 * self.pitch() + APART
    }

    /// Where the piece lies that is `at` so many pieces from the beginning.
    fn piece(&self, at: usize) -> Rect {
        let w = self.piece;
        let y = self.top
            + (at / self.a_line) as f64 * self.pitch()
            + self.n_lanes as f64 * LANE;
        Rect { x: NAMES + 2.0 + (at % self.a_line) as f64 * w, y, w, h: HIGH }
    }
}

impl Blocks {
    fn line_height(&self) -> f64 {
        HEADING + self.rows as f64 * HIGH + APART / 2.0
    }

    fn height(&self) -> f64 {
        self.n_lines as f64 * self.line_height()
    }
}

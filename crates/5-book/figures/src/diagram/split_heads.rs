//! Which piece of which token stands in each head, as views of memory split them.

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::figure;
use super::strided::Strided;
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// More have cells too small for what they say.
const MOST: [(&str, usize); 3] = [("tokens", 8), ("heads", 8), ("columns", 24)];

/// A row-major projection of `n_tokens` tokens and heads of `d_k` columns, and its heads:
/// as `view(n_tokens, n_heads, d_k)` and a transpose split them, or as
/// `view(n_heads, n_tokens, d_k)` does without it. A cell says which token and head it
/// belongs to, and has the colour of that head; the line over a block has the colour of
/// the head that the block is meant to be.
///
/// # Errors
/// [`Error::Sizes`] if a size is 0; [`Error::TooMany`] above 8 tokens, 8 heads or 24
/// columns.
pub fn split_heads(
    title: impl Into<String>,
    [n_tokens, n_heads, d_k]: [usize; 3],
    is_transposed: bool,
) -> Result<Figure> {
    for (name, size) in [("n_tokens", n_tokens), ("n_heads", n_heads), ("d_k", d_k)] {
        attention::Error::expect_positive(name, size)?;
    }
    let sizes = [n_tokens, n_heads, n_heads.saturating_mul(d_k)];
    for ((what, most), size) in MOST.into_iter().zip(sizes) {
        Error::expect_at_most(what, size, most)?;
    }
    let split = Split { n_tokens, n_heads, d_k, is_transposed };
    let text = Text {
        alternative: split.description(),
        sketch: split.sketch(),
        tables: vec![split.table()],
    };
    Ok(figure(title, text, [true, false].map(|is_wide| split.drawn(is_wide))))
}

struct Split {
    n_tokens: usize,
    n_heads: usize,
    d_k: usize,
    is_transposed: bool,
}

/// What one token has for one head: `d_k` neighbours in memory. No view that ends in
/// `d_k` cuts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    token: usize,
    head: usize,
}

impl Split {
    fn width(&self) -> usize {
        self.n_heads * self.d_k
    }

    /// The rows of each head, as the array in memory has them.
    fn heads(&self) -> Vec<Vec<Piece>> {
        let Self { n_tokens, n_heads, d_k, is_transposed } = *self;
        let heads = match is_transposed {
            true => Strided::row_major(&[n_tokens, n_heads, d_k]).transpose(0, 1),
            false => Strided::row_major(&[n_heads, n_tokens, d_k]),
        };
        let piece = |head: usize, row: usize| {
            let address = heads.address(&[head, row, 0]);
            Piece { token: address / self.width(), head: address % self.width() / d_k }
        };
        let rows = |head| (0..n_tokens).map(|row| piece(head, row)).collect();
        (0..n_heads).map(rows).collect()
    }

    /// The calls that split, in PyTorch's words.
    fn calls(&self) -> String {
        let Self { n_tokens, n_heads, d_k, is_transposed } = self;
        match is_transposed {
            true => format!("view({n_tokens}, {n_heads}, {d_k}), then transpose(0, 1)"),
            false => format!("view({n_heads}, {n_tokens}, {d_k}), no transpose"),
        }
    }

    /// `head 0`, or `“head” 0`, which is a mixture.
    fn heading(&self, head: usize) -> String {
        if self.is_transposed {
            format!("head {head}")
        } else {
            format!("“head” {head}")
        }
    }

    fn row_name(&self, row: usize) -> String {
        format!("{} {row}", if self.is_transposed { "token" } else { "row" })
    }

    fn description(&self) -> String {
        let Self { n_tokens, n_heads, d_k, .. } = self;
        let heads = self.heads().into_iter().enumerate().map(|(head, rows)| {
            let rows: Vec<String> = rows.into_iter().map(Piece::description).collect();
            format!("{}: {}", self.heading(head), rows.join("; "))
        });
        format!(
            "A projection of {n_tokens} tokens and {n_heads} heads of {d_k} columns, \
             row-major, and what stands in each head after {}, row by row. {}.",
            self.calls(),
            heads.collect::<Vec<_>>().join(". "),
        )
    }

    fn table(&self) -> Table {
        let rows = self.heads().into_iter().enumerate().map(|(head, rows)| {
            let cells = rows.into_iter().map(Piece::description);
            std::iter::once(self.heading(head)).chain(cells).collect()
        });
        let names = (0..self.n_tokens).map(|row| self.row_name(row));
        Table {
            caption: format!("Whose entries stand where after {}", self.calls()),
            columns: std::iter::once(String::new()).chain(names).collect(),
            rows: rows.collect(),
        }
    }

    fn sketch(&self) -> String {
        let cells = |piece: &Piece| format!(" {}", piece.label()).repeat(self.d_k);
        let heads = self.heads();
        let memory = (0..self.n_tokens).map(|token| {
            let pieces =
                (0..self.n_heads).map(|head| cells(&Piece { token, head }) + " │");
            format!("  token {token} │{}", pieces.collect::<String>())
        });
        let heads = heads.iter().enumerate().map(|(head, rows)| {
            let rows = rows.iter().enumerate();
            let rows = rows.map(|(at, piece)| {
                format!("  {:<7} │{} │", self.row_name(at), cells(piece))
            });
            let rows = rows.collect::<Vec<_>>().join("\n");
            format!("  {}\n{rows}", self.heading(head))
        });
        format!(
            "{IN_MEMORY}\n{}\n\n{}\n{}",
            memory.collect::<Vec<_>>().join("\n"),
            self.calls(),
            heads.collect::<Vec<_>>().join("\n"),
        )
    }
}

impl Piece {
    /// `2·0`
    fn label(self) -> String {
        format!("{}·{}", self.token, self.head)
    }

    fn description(self) -> String {
        format!("token {}, head {}", self.token, self.head)
    }
}

const IN_MEMORY: &str = "in memory, row-major: token·head";

/// A cell's height, and the most that it is wide.
const CELL: [f64; 2] = [24.0, 32.0];
/// A narrower cell has room for the token alone.
const LEAST: f64 = 16.0;
/// For the names of rows.
const NAMES: f64 = 48.0;
/// For the name of a part, and for the line over a block.
const NAME: f64 = 22.0;
const HEADING: f64 = 22.0;
/// Between two blocks, and between the parts.
const APART: f64 = 10.0;

/// Rows that are meant to be one head.
struct Block<'a> {
    /// Which part of the drawing it is in.
    of: &'a str,
    /// What a head is called there.
    meant: &'a str,
    /// Its corner.
    at: [f64; 2],
    /// How wide an entry is.
    cell: f64,
}

impl Split {
    /// What memory holds; under it the heads, as many in a line as have room.
    fn drawn(&self, is_wide: bool) -> Canvas {
        let page = if is_wide { super::WIDE } else { super::NARROW };
        let gaps = (self.n_heads - 1) as f64 * APART;
        let room = page - NAMES - 4.0;
        let cell = |columns: usize, room: f64| (room / columns as f64).min(CELL[1]);
        let in_memory = cell(self.width(), room - gaps);
        let in_heads = if is_wide { in_memory } else { cell(self.d_k, room) };
        let block = self.d_k as f64 * in_heads + APART;
        let a_line = (((room + APART + 0.1) / block) as usize).clamp(1, self.n_heads);

        let rows = self.n_tokens as f64 * CELL[0];
        let lines = self.n_heads.div_ceil(a_line) as f64;
        let top = NAME + HEADING + rows + 2.0 * APART;
        let height = top + NAME + lines * (HEADING + rows + APART);
        let mut canvas = Canvas::new(page, height);

        canvas.text(IN_MEMORY, [2.0, 9.0], Anchor::Start, Look::name());
        for head in 0..self.n_heads {
            let pieces: Vec<Piece> =
                (0..self.n_tokens).map(|token| Piece { token, head }).collect();
            let x = 2.0 + NAMES + head as f64 * (self.d_k as f64 * in_memory + APART);
            let place =
                Block { of: "memory", meant: "head", at: [x, NAME], cell: in_memory };
            self.block(&mut canvas, head, &pieces, &place);
        }
        self.names(&mut canvas, NAME, |token| format!("token {token}"));

        let look = Look { room: page - 4.0, ..Look::name() };
        canvas.text(&self.calls(), [2.0, top + 9.0], Anchor::Start, look);
        let meant = if self.is_transposed { "head" } else { "“head”" };
        for (head, pieces) in self.heads().iter().enumerate() {
            let y = top + NAME + (head / a_line) as f64 * (HEADING + rows + APART);
            let x = 2.0 + NAMES + (head % a_line) as f64 * block;
            let place = Block { of: "heads", meant, at: [x, y], cell: in_heads };
            self.block(&mut canvas, head, pieces, &place);
            if head.is_multiple_of(a_line) {
                self.names(&mut canvas, y, |row| self.row_name(row));
            }
        }
        canvas
    }

    /// The rows that are meant to be one head. A piece is one thing wherever it stands: it
    /// comes from its place in memory, which stays.
    fn block(&self, canvas: &mut Canvas, head: usize, pieces: &[Piece], place: &Block) {
        let Block { of, meant, at: [x, y], cell } = *place;
        let width = self.d_k as f64 * cell;
        let look = Look { room: width + APART, ..Look::note() };
        let middle = [x + width / 2.0, y + 8.0];
        canvas.text(&format!("{meant} {head}"), middle, Anchor::Middle, look);
        let line = Rect { x, y: y + HEADING - 5.0, w: width, h: 2.0 };
        canvas.cell(&line, Ink::Head(head));
        for (row, piece) in pieces.iter().enumerate() {
            let y = y + HEADING + row as f64 * CELL[0];
            let rect = Rect { x, y, w: width, h: CELL[0] };
            let name = format!("{}.{}", piece.token, piece.head);
            let key = Key::new(format!("{of}.{name}")).from(format!("memory.{name}"));
            canvas.keyed(&key, |canvas| self.piece(canvas, *piece, &rect, head));
        }
    }

    /// The entries of a piece, in a row of this head.
    fn piece(&self, canvas: &mut Canvas, piece: Piece, row: &Rect, head: usize) {
        for column in 0..self.d_k {
            let rect = row.column(column, self.d_k);
            canvas.cell(&rect, Ink::Head(piece.head));
            let label =
                if rect.w < LEAST { piece.token.to_string() } else { piece.label() };
            let is_bold = piece.head != head;
            let look = Look { room: rect.w - 2.0, is_bold, ..Look::note() };
            canvas.text(&label, rect.middle(), Anchor::Middle, look);
        }
    }

    fn names(&self, canvas: &mut Canvas, y: f64, name: impl Fn(usize) -> String) {
        for row in 0..self.n_tokens {
            let at = [NAMES - 4.0, y + HEADING + (row as f64 + 0.5) * CELL[0]];
            let look = Look { room: NAMES - 5.0, ..Look::note() };
            canvas.text(&name(row), at, Anchor::End, look);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn three_tokens_and_two_heads_without_the_transpose() {
        let title = "Without the transpose heads are mixed";
        assert_diagram!(split_heads(title, [3, 2, 2], false).unwrap());
    }

    /// With it, and wherever there is one token or one head, heads are whole.
    #[test]
    fn heads_are_whole_with_the_transpose_and_for_one_token_or_head() {
        for (n_tokens, n_heads) in (1..=6).flat_map(|n| (1..=6).map(move |h| (n, h))) {
            for is_transposed in [true, false] {
                let split = Split { n_tokens, n_heads, d_k: 3, is_transposed };
                let heads = split.heads();
                let is_whole = heads.iter().enumerate().all(|(head, rows)| {
                    let mut rows = rows.iter().enumerate();
                    rows.all(|(token, piece)| *piece == Piece { token, head })
                });
                let expected = is_transposed || n_tokens == 1 || n_heads == 1;
                assert_eq!(is_whole, expected, "{n_tokens} tokens, {n_heads} heads");
            }
        }
    }

    #[test]
    fn sizes_that_cannot_be_drawn_are_refused() {
        insta::assert_snapshot!(split_heads("", [4, 0, 2], true).unwrap_err(), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(split_heads("", [4, 2, 13], true).unwrap_err(), @"26 columns are too many for one figure: draw at most 24");
    }
}

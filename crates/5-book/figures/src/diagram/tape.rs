//! One line of memory, and what `view`, `transpose` and `contiguous` make of it: the tape.

use super::figure;
use super::strided::Strided;
use crate::chart::Text;
use crate::{Error, Figure, Result, Table, sketch};

mod drawn;

/// More have cells too small for their addresses.
const MOST: [(&str, usize); 3] = [("tokens", 8), ("heads", 8), ("columns", 16)];

/// How far a projection is on its way to heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapeStop {
    /// It lies in memory, row by row.
    Memory,
    /// It is read as (tokens, heads, columns).
    View,
    /// Tokens and heads have changed places: each head is read token by token.
    Transpose,
    /// It was copied into the order in which it is read.
    Contiguous,
    /// Not on the way: it is read as (heads, tokens, columns) at once.
    Wrong,
}

impl TapeStop {
    /// All of them, in order.
    pub const ALL: [Self; 5] =
        [Self::Memory, Self::View, Self::Transpose, Self::Contiguous, Self::Wrong];

    /// What its array's outer axis counts, if it has three, and what its rows are.
    fn axes(self) -> [&'static str; 2] {
        match self {
            Self::Memory => ["", "token"],
            Self::View => ["token", "head"],
            Self::Transpose | Self::Contiguous => ["head", "token"],
            Self::Wrong => ["“head”", "row"],
        }
    }
}

/// A row-major projection of `n_tokens` tokens and heads of `d_k` columns on its line of
/// memory, and the array that is read from it at a stop. An entry is called by the address
/// where it lay first, and has the colour of its head; orange is what stands in another
/// head's block, or in another token's row.
///
/// # Errors
/// [`Error::Sizes`] if a size is 0; [`Error::TooMany`] above 8 tokens, 8 heads or 16
/// columns.
pub fn tape(
    title: impl Into<String>,
    [n_tokens, n_heads, d_k]: [usize; 3],
    stop: TapeStop,
    others: [[Option<usize>; 2]; 2],
) -> Result<Figure> {
    for (name, size) in [("n_tokens", n_tokens), ("n_heads", n_heads), ("d_k", d_k)] {
        attention::Error::expect_positive(name, size)?;
    }
    let sizes = [n_tokens, n_heads, n_heads.saturating_mul(d_k)];
    for ((what, most), size) in MOST.into_iter().zip(sizes) {
        Error::expect_at_most(what, size, most)?;
    }
    let tape = Tape { n_tokens, n_heads, d_k, stop };
    let steps = tape.steps();
    let text = Text {
        alternative: tape.description(),
        sketch: format!("{}\n\n{}", sketch::table(&steps), tape.sketch()),
        tables: vec![tape.table(), steps],
    };
    Ok(figure(title, text, [true, false].map(|is_wide| tape.drawn(is_wide, others))))
}

#[derive(Debug, Clone, Copy)]
struct Tape {
    n_tokens: usize,
    n_heads: usize,
    d_k: usize,
    stop: TapeStop,
}

/// What one token has for one head: `d_k` neighbours in memory, which no stop parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    token: usize,
    head: usize,
}

impl Tape {
    fn at(self, stop: TapeStop) -> Self {
        Self { stop, ..self }
    }

    /// The shape and strides of the array.
    fn array(self) -> Strided {
        let Self { n_tokens: n, n_heads: h, d_k: d, stop } = self;
        match stop {
            TapeStop::Memory => Strided::row_major(&[n, h * d]),
            TapeStop::View => Strided::row_major(&[n, h, d]),
            TapeStop::Transpose => Strided::row_major(&[n, h, d]).transpose(0, 1),
            TapeStop::Contiguous | TapeStop::Wrong => Strided::row_major(&[h, n, d]),
        }
    }

    /// The pieces in the order in which they lie in memory.
    fn memory(self) -> Vec<Piece> {
        let Self { n_tokens, n_heads, stop, .. } = self;
        match stop {
            // A copy lies as the view before it was read.
            TapeStop::Contiguous => self.at(TapeStop::Transpose).read().concat(),
            _ => (0..n_tokens * n_heads)
                .map(|at| Piece { token: at / n_heads, head: at % n_heads })
                .collect(),
        }
    }

    /// Where the pieces of each block lie, counted in pieces, row by row.
    fn places(self) -> Vec<Vec<usize>> {
        let array = self.array();
        let place = |index: &[usize]| array.address(index) / self.d_k;
        match array.shape[..] {
            [blocks, rows, _] => (0..blocks)
                .map(|block| (0..rows).map(|row| place(&[block, row, 0])).collect())
                .collect(),
            _ => vec![(0..self.n_tokens * self.n_heads).collect()],
        }
    }

    /// The pieces of each block, row by row.
    fn read(self) -> Vec<Vec<Piece>> {
        let memory = self.memory();
        let block = |places: Vec<usize>| places.into_iter().map(|at| memory[at]);
        self.places().into_iter().map(|places| block(places).collect()).collect()
    }

    /// How many pieces stand in a row.
    fn a_row(self) -> usize {
        if self.stop == TapeStop::Memory { self.n_heads } else { 1 }
    }

    /// Whether the piece of this block and row belongs there.
    fn is_right(self, piece: Piece, block: usize, row: usize) -> bool {
        self.stop != TapeStop::Wrong || piece == Piece { token: row, head: block }
    }

    /// The address where a piece's entries lay first.
    fn addresses(self, piece: Piece) -> impl Iterator<Item = usize> {
        let first = (piece.token * self.n_heads + piece.head) * self.d_k;
        first..first + self.d_k
    }

    /// The line of PyTorch that leads here.
    fn call(self) -> String {
        let Self { n_tokens: n, n_heads: h, d_k: d, stop } = self;
        match stop {
            TapeStop::Memory => "q = x @ w_q".to_owned(),
            TapeStop::View => format!("q = q.view({n}, {h}, {d})"),
            TapeStop::Transpose => "q = q.transpose(0, 1)".to_owned(),
            TapeStop::Contiguous => "q = q.contiguous()".to_owned(),
            TapeStop::Wrong => format!("wrong: q.view({h}, {n}, {d})"),
        }
    }

    /// Its row among the [`steps`](Self::steps).
    fn step(self) -> [String; 4] {
        let all = self.n_tokens * self.n_heads * self.d_k;
        let array = self.array();
        let written = match self.stop {
            TapeStop::Memory | TapeStop::Contiguous => all,
            _ => 0,
        };
        [self.call(), list(&array.shape), list(&array.strides), written.to_string()]
    }

    fn steps(self) -> Table {
        let rows = TapeStop::ALL.map(|stop| self.at(stop).step());
        Table::new("What each line of PyTorch does", STEPS, rows)
    }

    /// `head 0`, `“head” 0`, or nothing where there is one block.
    fn heading(self, block: usize) -> String {
        match self.stop.axes()[0] {
            "" => String::new(),
            outer => format!("{outer} {block}"),
        }
    }

    fn row_name(self, row: usize) -> String {
        format!("{} {row}", self.stop.axes()[1])
    }

    fn description(self) -> String {
        let Self { n_tokens, n_heads, d_k, .. } = self;
        let [call, shape, strides, written] = self.step();
        format!(
            "A line of memory that holds a row-major projection of {n_tokens} tokens and \
             {n_heads} heads of {d_k} columns, and the array that is read from it. The line \
             of PyTorch is {call}: shape {shape}, strides {strides}, {written} entries \
             written. {} of {} pieces stand where they belong.",
            self.n_right(),
            n_tokens * n_heads,
        )
    }

    /// How many pieces are in the head and the row that they belong to.
    fn n_right(self) -> usize {
        let read = self.read();
        let blocks = read.iter().enumerate().flat_map(|(block, pieces)| {
            let rows = pieces.iter().enumerate();
            rows.filter(move |&(row, piece)| self.is_right(*piece, block, row))
        });
        blocks.count()
    }

    fn table(self) -> Table {
        let rows = self.read().into_iter().enumerate().map(|(block, pieces)| {
            let cells = pieces.into_iter().map(Piece::description);
            std::iter::once(self.heading(block)).chain(cells).collect::<Vec<_>>()
        });
        let rows: Vec<_> = rows.collect();
        let name = |nth: usize| match self.a_row() {
            1 => self.row_name(nth),
            a_row => format!("{}, piece {}", self.row_name(nth / a_row), nth % a_row),
        };
        Table {
            caption: format!("Whose entries stand where after {}", self.call()),
            columns: std::iter::once(String::new())
                .chain((0..rows[0].len() - 1).map(name))
                .collect(),
            rows,
        }
    }

    fn sketch(self) -> String {
        let cells = |piece: &Piece| {
            let cells: String =
                self.addresses(*piece).map(|at| format!(" {at:>2}")).collect();
            cells + " │"
        };
        let line: String = self.memory().iter().map(cells).collect();
        let blocks = self.read().into_iter().enumerate().map(|(block, pieces)| {
            let rows = pieces.chunks(self.a_row()).enumerate().map(|(row, pieces)| {
                let cells: String = pieces.iter().map(cells).collect();
                format!("  {:<7} │{cells}", self.row_name(row))
            });
            format!("  {}\n{}", self.heading(block), rows.collect::<Vec<_>>().join("\n"))
        });
        format!("memory │{line}\n\n{}", blocks.collect::<Vec<_>>().join("\n"))
    }
}

impl Piece {
    fn description(self) -> String {
        format!("token {}, head {}", self.token, self.head)
    }
}

/// What stands over the steps.
const STEPS: [&str; 4] = ["in PyTorch", "shape", "strides", "written"];

fn list(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("({})", sizes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    const TAPE: Tape =
        Tape { n_tokens: 3, n_heads: 2, d_k: 2, stop: TapeStop::Contiguous };

    fn entries(tape: Tape, pieces: &[Piece]) -> Vec<usize> {
        pieces.iter().flat_map(|piece| tape.addresses(*piece)).collect()
    }

    #[test]
    fn three_tokens_and_two_heads_without_the_transpose() {
        let title = "Without the transpose heads are mixed";
        assert_diagram!(
            tape(title, [3, 2, 2], TapeStop::Wrong, [[Some(2), None]; 2]).unwrap()
        );
    }

    /// By hand: only the copy has another order in memory, and it reads as the transpose.
    #[test]
    fn only_the_copy_moves_what_lies_in_memory() {
        for stop in TapeStop::ALL {
            let tape = TAPE.at(stop);
            let memory = entries(tape, &tape.memory());
            match stop {
                TapeStop::Contiguous => {
                    assert_eq!(memory, [0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11]);
                }
                _ => assert_eq!(memory, (0..12).collect::<Vec<_>>()),
            }
        }
        assert_eq!(TAPE.read(), TAPE.at(TapeStop::Transpose).read());
        assert_eq!(TAPE.array().strides, [6, 2, 1]);
        assert_eq!(TAPE.at(TapeStop::Transpose).array().strides, [2, 4, 1]);
    }

    /// With the transpose, and wherever there is one token or one head, heads are whole.
    #[test]
    fn heads_are_whole_with_the_transpose_and_for_one_token_or_head() {
        for (n_tokens, n_heads) in (1..=6).flat_map(|n| (1..=6).map(move |h| (n, h))) {
            for stop in [TapeStop::Transpose, TapeStop::Contiguous, TapeStop::Wrong] {
                let tape = Tape { n_tokens, n_heads, d_k: 2, stop };
                let is_whole = tape.read().iter().enumerate().all(|(head, rows)| {
                    let mut rows = rows.iter().enumerate();
                    rows.all(|(token, piece)| *piece == Piece { token, head })
                });
                let expected = stop != TapeStop::Wrong || n_tokens == 1 || n_heads == 1;
                assert_eq!(is_whole, expected, "{n_tokens} tokens, {n_heads} heads");
                assert_eq!(tape.n_right() == n_tokens * n_heads, expected);
            }
        }
    }

    #[test]
    fn sizes_that_cannot_be_drawn_are_refused() {
        let refused =
            |sizes| tape("", sizes, TapeStop::View, [[None; 2]; 2]).unwrap_err();
        insta::assert_snapshot!(refused([4, 0, 2]), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused([4, 2, 13]), @"26 columns are too many for one figure: draw at most 16");
    }
}

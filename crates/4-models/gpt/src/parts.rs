//! The parameters of a model as one list, and where each part of it lies.
//!
//! All rungs take the same list and give gradients in the same order: the tables of letters
//! and positions, sixteen parts of each block, and the last norm.

use crate::Architecture;
use crate::scalars::N_LETTERS;

/// The places of W^Q, W^K, W^V, W^O, W_1 and W_2 among the parts of a block; each bias comes
/// behind its weight.
pub(crate) const WEIGHTS: [usize; 6] = [2, 4, 6, 8, 12, 14];

/// A part of the list: its name, and the rows and columns that it has there, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The block that it belongs to, if it belongs to one.
    pub block: Option<usize>,
    /// `w_q`.
    pub name: &'static str,
    /// Rows and columns: a bias is one row.
    pub shape: (usize, usize),
}

impl Part {
    /// How many numbers it has.
    pub fn n_entries(self) -> usize {
        self.shape.0 * self.shape.1
    }
}

impl Architecture {
    /// Every part, in order.
    pub fn parts(self) -> Vec<Part> {
        let (d, d_ff) = (self.d_model, 4 * self.d_model);
        let norm = |gain, bias| [(gain, (1, d)), (bias, (1, d))];
        let linear = |w, b, d_in, d_out| [(w, (d_in, d_out)), (b, (1, d_out))];
        let of_block = [
            norm("norm_1.gain", "norm_1.bias"),
            linear("w_q", "b_q", d, d),
            linear("w_k", "b_k", d, d),
            linear("w_v", "b_v", d, d),
            linear("w_o", "b_o", d, d),
            norm("norm_2.gain", "norm_2.bias"),
            linear("w_1", "b_1", d, d_ff),
            linear("w_2", "b_2", d_ff, d),
        ];
        let part = |block| move |(name, shape)| Part { block, name, shape };
        let tables = [("letters", (N_LETTERS, d)), ("positions", (self.n_positions, d))];
        let mut parts: Vec<Part> = tables.into_iter().map(part(None)).collect();
        for block in 0..self.n_blocks {
            parts.extend(of_block.into_iter().flatten().map(part(Some(block))));
        }
        parts
            .extend(norm("last_norm.gain", "last_norm.bias").into_iter().map(part(None)));
        parts
    }

    /// The place among the parts of a block's first; behind all blocks, that of the last norm.
    pub(crate) fn first_of(self, block: usize) -> usize {
        2 + 16 * block
    }

    /// How many parameters there are.
    pub fn n_parameters(self) -> usize {
        self.parts().into_iter().map(Part::n_entries).sum()
    }

    /// A list of that length, cut into its parts.
    pub(crate) fn cut<T>(self, mut list: &[T]) -> Vec<&[T]> {
        let one = |part: Part| list.split_off(..part.n_entries());
        self.parts().into_iter().filter_map(one).collect()
    }

    /// The same, to be written into.
    pub(crate) fn cut_mut<T>(self, mut list: &mut [T]) -> Vec<&mut [T]> {
        let one = |part: Part| list.split_off_mut(..part.n_entries());
        self.parts().into_iter().filter_map(one).collect()
    }
}

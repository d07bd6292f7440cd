//! Weights in few bits, as files keep them, multiplied without ever being numbers in memory.
//!
//! A file keeps 32 weights (or 16) as small whole numbers u under one scale and one offset:
//! each is `scale · u + offset`. A token of one row reads every weight once, so what counts is
//! the bytes that come from memory; what they become is computed in registers.
//!
//! ```text
//! Σ w x  =  Σ_blocks  scale (Σ u x)  +  offset (Σ x)
//! ```
//!
//! The one decision: **what becomes small numbers is the token.** Of each block only Σ u x grows
//! with its length, and with entries of x rounded under a scale of their own it is a sum of whole
//! numbers. A few tokens are rounded to 16 bits (`few.rs`): a weight costs half a multiplication
//! of a lane, and what is lost is hardly more than an f32 loses. Many are rounded to 8 where the
//! processor multiplies bytes (`in_bytes.rs`): the fields of a word lie so that the lower halves
//! of its bytes are four inputs in a row, and the upper ones the next four.

mod few;
mod in_bytes;
mod numbers;
mod pack;

use attention::{Error, Result};
use tiles::bytes::LANES;
use tiles::merge::Weight;

pub(crate) use few::{InPairs, few_tokens};
pub(crate) use in_bytes::in_bytes;
pub use pack::QuantisedRow;

/// How many bits a weight has in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// 0 to 15, eight in a word.
    Four,
    /// 0 to 255, four in a word.
    Eight,
}

impl Bits {
    /// The fields of a word.
    pub(crate) const fn per_word(self) -> usize {
        match self {
            Self::Four => 8,
            Self::Eight => 4,
        }
    }
}

/// A weight `[d_in, d_out]` in blocks of few bits.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantised {
    d_in: usize,
    d_out: usize,
    bits: Bits,
    /// How many inputs have one scale.
    block: usize,
    /// `[panel][d_in / fields][8]`
    words: Vec<u32>,
    scales: Scales,
    /// `[panel][8]`
    bias: Vec<f32>,
}

/// Scale and offset of every block of every output, `[panel][d_in / block][8]`.
#[derive(Debug, Clone, PartialEq)]
enum Scales {
    /// Both as float16 in one word, the offset above: where the file has them so.
    Half(Vec<u32>),
    /// Both as f32, scale first.
    Single(Vec<[f32; 2]>),
}

impl Quantised {
    /// The width of a token that goes in.
    pub fn d_in(&self) -> usize {
        self.d_in
    }

    /// The width of what comes out.
    pub fn d_out(&self) -> usize {
        self.d_out
    }

    /// How many inputs have one scale.
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    /// The bytes that a product reads.
    pub fn bytes(&self) -> usize {
        let scales = match &self.scales {
            Scales::Half(words) => size_of_val(&words[..]),
            Scales::Single(pairs) => size_of_val(&pairs[..]),
        };
        size_of_val(&self.words[..]) + scales
    }

    /// The same with a bias.
    ///
    /// # Errors
    /// [`Error::Length`] for a bias of another width.
    pub fn with_bias(mut self, bias: &[f32]) -> Result<Self> {
        Error::expect_length("the bias", self.d_out, bias.len())?;
        self.bias[..bias.len()].copy_from_slice(bias);
        Ok(self)
    }

    /// The weights that output `j` is made with, as numbers.
    ///
    /// # Errors
    /// [`Error::Length`] where `row` has another length, [`Error::Shape`] where there is no
    /// such output.
    pub fn row(&self, j: usize, row: &mut [f32]) -> Result<()> {
        Error::expect_length("row", self.d_in, row.len())?;
        if j >= self.d_out {
            let (expected, found) = ((self.d_out, self.d_in), (j + 1, self.d_in));
            return Err(Error::Shape { what: format!("row {j}"), expected, found });
        }
        let (panel, lane) = (j / LANES, j % LANES);
        let mut room = Vec::new();
        let rows = self.rows(panel, 0..self.d_in, &mut room).chunks_exact(LANES);
        row.iter_mut().zip(rows).for_each(|(to, lanes)| *to = lanes[lane]);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

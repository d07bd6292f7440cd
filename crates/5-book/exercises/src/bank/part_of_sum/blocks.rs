//! Mistakes with the block of W^O that each head meets.

use attention::Matrix;

use super::{AS_SUM, HEADS, Named};
use crate::{Mistake, Section};

const SQUARE: Section =
    Section::new("one-matrix-many-heads", "The mistake that a square hides");

pub(super) const FROM_ROW_0: Named = Mistake {
    name: "counts the rows of W^O from its own first head",
    does: "Every rank reads W^O from row 0 on. A rank that has only its own rows \
        counts them like that; here W^O has the rows of all heads",
    looks_right: "Rank 0 is right, and with one rank all is",
    read: HEADS,
    answer: |input| {
        input.with_bias_once(|rank| {
            let heads = input.share(rank);
            let start = heads.start;
            input.written(heads, |i| (i - start) * input.d_v())
        })
    },
};

pub(super) const FIRST_BLOCK: Named = Mistake {
    name: "gives every head the first block of W^O",
    does: "It multiplies each head by W_0^O, the rows of head 0, which is the same as \
        adding up the bare heads of a rank and mixing the sum",
    looks_right: "Every head is as wide as that block is high",
    read: AS_SUM,
    answer: |input| input.with_bias_once(|rank| input.written(input.share(rank), |_| 0)),
};

pub(super) const OVERLAPPING: Named = Mistake {
    name: "lets the blocks of W^O overlap",
    does: "It starts the block of head i at row i and not at row i · d_v",
    looks_right: "Head 0 is right, and each block is d_v rows high",
    read: AS_SUM,
    answer: |input| input.with_bias_once(|rank| input.written(input.share(rank), |i| i)),
};

pub(super) const BLOCK_OF_ITS_FIRST_HEAD: Named = Mistake {
    name: "gives all heads of a rank the block of its first head",
    does: "It multiplies each head of the rank by the rows of its first one, which is \
        the same as adding up its bare heads and mixing the sum once",
    looks_right: "With one head per rank it is right",
    read: HEADS,
    answer: |input| {
        input.with_bias_once(|rank| {
            let heads = input.share(rank);
            let start = heads.start;
            input.written(heads, |_| start * input.d_v())
        })
    },
};

pub(super) const COLUMNS: Named = Mistake {
    name: "takes columns of W^O for rows",
    does: "The block of head i is the columns from i · d_v on, transposed",
    looks_right: "The blocks of W^Q are columns, and with a square W^O it runs",
    read: SQUARE,
    answer: |input| {
        let (n_tokens, d_v) = input.heads[0].shape();
        input.with_bias_once(|rank| {
            let mut out = Matrix::zeros(n_tokens, input.w_o.d_out());
            for i in input.share(rank) {
                let block = input.w_o.weight.columns(i * d_v, d_v);
                out += &input.heads[i] * block.transpose();
            }
            out
        })
    },
};

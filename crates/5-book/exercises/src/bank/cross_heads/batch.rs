//! Mistakes of whose source is read, and how much of it.

use attention::{Mask, Matrix, MultiHeadAttention};
use fused_heads::FusedAttention;

use super::{CHAPTER, Input};
use crate::{Mistake, Section};

const BATCH: Section = Section::new("one-matrix-many-heads", "Batches");
const LENGTHS: Section = Section::new("masks", "Batches");
const PADDING: Section = Section::new("masks", "Padding");
const POLARITY: Section = Section::new("masks", "What people get wrong");
const THREE: Section = Section::new(CHAPTER, "Three maps, three masks");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

type Named = Mistake<Input, Matrix>;

pub(super) const READS_PADDING: Named = Mistake {
    name: "reads the padding",
    does: "It has no mask, and each query gives the padding of its source a share",
    looks_right: "The encoder masked it; but that keeps padding from being read there, and \
        its rows are in the memory all the same",
    read: WRONG,
    answer: |input| input.masked(|_| Mask::None),
};

pub(super) const FIRST_LENGTH: Named = Mistake {
    name: "takes the first source's length for all",
    does: "It masks every sequence with n_valid[0]",
    looks_right: "Sequence 0 is right, and so is every source of the same length",
    read: LENGTHS,
    answer: |input| input.masked(|_| Mask::FirstKeys(input.n_valid[0])),
};

pub(super) const LAST_LENGTH: Named = Mistake {
    name: "takes the last source's length for all",
    does: "It masks every sequence with the length that came last",
    looks_right: "A mask that is made before the loop over the batch is the last one made",
    read: LENGTHS,
    answer: |input| {
        let last = input.n_valid[input.n_sequences() - 1];
        input.masked(|_| Mask::FirstKeys(last))
    },
};

pub(super) const LENGTH_OF_HEAD: Named = Mistake {
    name: "takes the length of the source for the head's number",
    does: "Head i masks with n_valid[i] in all sequences",
    looks_right: "Both are counted from 0, and with as many heads as sequences every entry is \
        used",
    read: LENGTHS,
    answer: |input| {
        let n_heads = input.layer.dims().n_heads();
        let lengths: Vec<usize> = (0..n_heads).map(|i| input.n_valid[i]).collect();
        input.each(|s| {
            let (y, memory) = (input.target(s), input.source(s));
            let masks = lengths.iter().map(|&n| Mask::FirstKeys(n)).collect();
            let layer = FusedAttention::new(&input.layer);
            let attended = layer.forward(&y, &memory, &memory, &Mask::PerHead(masks));
            attended.expect("sizes fit").out
        })
    },
};

pub(super) const FIRST_MEMORY: Named = Mistake {
    name: "reads the first sequence's memory for all",
    does: "Keys and values begin at row 0 whatever the sequence: all targets ask the same \
        source",
    looks_right: "One source at a time, as in writing, is right; in a batch all write of the \
        first",
    read: WRONG,
    answer: |input| of_first(input, |s| input.n_valid[s]),
};

pub(super) const FIRST_MEMORY_AND_LENGTH: Named = Mistake {
    name: "reads the first sequence's memory for all",
    does: "Keys, values and their number are sequence 0's, whatever the sequence: all targets \
        ask the same source",
    looks_right: "One source at a time, as in writing, is right; in a batch all write of the \
        first",
    read: WRONG,
    answer: |input| of_first(input, |_| input.n_valid[0]),
};

pub(super) const ALL_SOURCES: Named = Mistake {
    name: "lets each target read all sources",
    does: "It scores the queries against the real positions of the whole batch, and a row \
        sums to 1 over all of them",
    looks_right: "One product for the batch is right for a projection, and padding is blocked",
    read: BATCH,
    answer: |input| {
        let n_source = input.n_source();
        let is_real = |row: usize| row % n_source < input.n_valid[row / n_source];
        let real = (0..input.memory.nrows()).map(is_real).collect();
        input.attended([&input.y, &input.memory, &input.memory], &Mask::Keys(real))
    },
};

pub(super) const ONE_SOURCE: Named = Mistake {
    name: "takes the batch for one long source",
    does: "It scores all queries against all rows of the memory, other sequences and padding \
        among them",
    looks_right: "It is the formula, and the output has a row for each token",
    read: BATCH,
    answer: |input| input.attended([&input.y, &input.memory, &input.memory], &Mask::None),
};

pub(super) const MEMORY_INTERLEAVED: Named = Mistake {
    name: "takes the sources as interleaved",
    does: "It looks for position j of source s in row j · n_sequences + s of the memory",
    looks_right: "Libraries that put the position first lay a batch out so, and every row is \
        read once",
    read: BATCH,
    answer: |input| input.changed(|input| input.memory = apart(input, &input.memory)),
};

pub(super) const TARGET_INTERLEAVED: Named = Mistake {
    name: "takes the targets as interleaved",
    does: "It looks for token i of target s in row i · n_sequences + s of y, and writes its \
        output there",
    looks_right: "It reads and writes in the same order, so nothing is lost; but most tokens \
        ask the source of another sequence",
    read: BATCH,
    answer: |input| {
        let out = input.changed(|input| input.y = apart(input, &input.y));
        interleaved(input, &out)
    },
};

pub(super) const BOTH_INTERLEAVED: Named = Mistake {
    name: "takes targets and sources as interleaved",
    does: "It looks for token i of sequence s in row i · n_sequences + s, of y and of the \
        memory, and writes its output there",
    looks_right: "It is a batch with the position first, consistently",
    read: BATCH,
    answer: |input| {
        let out = input.changed(|input| {
            let (y, memory) = (apart(input, &input.y), apart(input, &input.memory));
            (input.y, input.memory) = (y, memory);
        });
        interleaved(input, &out)
    },
};

pub(super) const OUTPUT_INTERLEAVED: Named = Mistake {
    name: "writes the outputs interleaved",
    does: "It puts token i of sequence s into row i · n_sequences + s",
    looks_right: "All outputs are right, and none is lost",
    read: BATCH,
    answer: |input| interleaved(input, &input.right()),
};

pub(super) const OVER_THE_FIRST: Named = Mistake {
    name: "writes every sequence over the first",
    does: "It puts each output into the rows from 0 on, so those of the last sequence are left \
        there, and in all other rows b^O alone",
    looks_right: "Every sequence is read as it should be, and the result has the right shape",
    read: BATCH,
    answer: |input| {
        let (right, n_target) = (input.right(), input.n_target());
        let b_o = input.layer.w_o().bias.as_ref().expect("a bias");
        let last = right.rows(right.nrows() - n_target, n_target);
        Matrix::from_fn(right.nrows(), right.ncols(), |row, c| {
            if row < n_target { last[(row, c)] } else { b_o[c] }
        })
    },
};

const fn overlapping(answer: fn(&Input) -> Matrix) -> Named {
    Mistake {
        name: "begins sequence s at row s",
        does: "It cuts rows of y or of the memory from row s on, and not from row s times their \
            number, so sequences overlap",
        looks_right: "Sequence 0 is right, and each gets its number of rows",
        read: BATCH,
        answer,
    }
}

/// Of the memory.
pub(super) const SOURCES_OVERLAP: Named = overlapping(|input| with_sources(input, |s| s));

/// Of the target.
pub(super) const TARGETS_OVERLAP: Named = overlapping(|input| {
    input.each(|s| {
        let memory = input.source(s);
        let y = input.y.rows(s, input.n_target()).into_owned();
        input.attended([&y, &memory, &memory], &Mask::FirstKeys(input.n_valid[s]))
    })
});

pub(super) const WITHOUT_GAPS: Named = Mistake {
    name: "takes the sources to lie without their padding",
    does: "It looks for source s behind the real positions of those before it, at n_valid[0] + \
        n_valid[1] + …; but every source is filled up to n_source rows",
    looks_right: "The lengths are used, each once, and where the sources before have no \
        padding it is right",
    read: LENGTHS,
    answer: |input| with_sources(input, |s| input.n_valid[..s].iter().sum()),
};

pub(super) const CAUSAL: Named = Mistake {
    name: "makes the cross-attention causal",
    does: "Query i reads source positions up to i, and padding is blocked as well. The source \
        is there as a whole before anything is written",
    looks_right: "It is the decoder, and its other attention is causal",
    read: THREE,
    answer: |input| input.allowed(|s, i, j| j <= i && j < input.n_valid[s]),
};

pub(super) const CAUSAL_FROM_THE_END: Named = Mistake {
    name: "makes the cross-attention causal",
    does: "It puts Mask::Causal on the map as well, which lets the last token alone read the \
        last position. The source is there as a whole before anything is written",
    looks_right: "It is the decoder, its other attention is causal, and a single new token \
        reads all",
    read: THREE,
    answer: |input| {
        input.masked(|s| Mask::All(vec![Mask::Causal, Mask::FirstKeys(input.n_valid[s])]))
    },
};

const fn causal_alone(answer: fn(&Input) -> Matrix) -> Named {
    Mistake {
        name: "makes the cross-attention causal in place of masking the padding",
        does: "It blocks what comes later in the source, which is there as a whole before \
            anything is written, and lets the padding be read",
        looks_right: "It is the decoder, and its other attention needs that mask and no other",
        read: THREE,
        answer,
    }
}

/// First aligned with first.
pub(super) const CAUSAL_ALONE: Named =
    causal_alone(|input| input.masked(|_| Mask::CausalTopLeft));

/// Last aligned with last.
pub(super) const CAUSAL_ALONE_FROM_THE_END: Named =
    causal_alone(|input| input.masked(|_| Mask::Causal));

pub(super) const ROWS_BLOCKED: Named = Mistake {
    name: "puts the source's padding on the target's rows",
    does: "It blocks queries from n_valid[s] on, whose outputs are b^O alone, and all others \
        read the padding",
    looks_right: "In the encoder's map, rows and columns are of the same sequence",
    read: THREE,
    answer: |input| input.allowed(|s, i, _| i < input.n_valid[s]),
};

pub(super) const INVERTED: Named = Mistake {
    name: "inverts the mask",
    does: "It reads the padding alone; a source without any is not read at all",
    looks_right: "A key_padding_mask of PyTorch is true where there is padding",
    read: POLARITY,
    answer: |input| input.allowed(|s, _, j| j >= input.n_valid[s]),
};

pub(super) const ONE_TOO_MANY: Named = Mistake {
    name: "takes one position of padding for a real one",
    does: "It lets position n_valid[s] be read; counted from 0, the last real one is \
        n_valid[s] − 1",
    looks_right: "A source without padding is right",
    read: PADDING,
    answer: |input| input.allowed(|s, _, j| j <= input.n_valid[s]),
};

fn of_first(input: &Input, length: impl Fn(usize) -> usize) -> Matrix {
    input.each(|s| {
        let (y, memory) = (input.target(s), input.source(0));
        input.attended([&y, &memory, &memory], &Mask::FirstKeys(length(s)))
    })
}

/// Right, but for the row at which each source begins.
fn with_sources(input: &Input, first: impl Fn(usize) -> usize) -> Matrix {
    input.each(|s| {
        let y = input.target(s);
        let memory = input.memory.rows(first(s), input.n_source()).into_owned();
        input.attended([&y, &memory, &memory], &Mask::FirstKeys(input.n_valid[s]))
    })
}

/// The tokens of an interleaved batch, sequence by sequence.
fn apart(input: &Input, tokens: &Matrix) -> Matrix {
    let n_sequences = input.n_sequences();
    let n = tokens.nrows() / n_sequences;
    let rows = (0..tokens.nrows()).map(|row| row % n * n_sequences + row / n);
    tokens.select_rows(&rows.collect::<Vec<_>>())
}

/// The tokens of a batch that lies sequence by sequence, interleaved.
fn interleaved(input: &Input, tokens: &Matrix) -> Matrix {
    let n_sequences = input.n_sequences();
    let n = tokens.nrows() / n_sequences;
    let rows = (0..tokens.nrows()).map(|row| row % n_sequences * n + row / n_sequences);
    tokens.select_rows(&rows.collect::<Vec<_>>())
}

//! What people write instead.

use attention::{Mask, Matrix, softmax_rows};

use super::{BATCHES, EXERCISE, Input, attend};
use crate::{Mistake, Section};

const TWO_ROWS: Section = Section::new("masks", "A sentence with two rows too many");
const LENGTHS: Section = Section::new("masks", "Batches");
const WRONG: Section = Section::new("masks", "What people get wrong");
const BEFORE: Section = Section::new("masks", "The mask comes before softmax");
const NAN: Section = Section::new("bad-numbers", "How far a NaN gets");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");

/// All of them.
pub const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "lets all sequences attend to each other",
        does: "It scores every query against the real keys of the whole batch, so each \
            sequence averages over all of them",
        looks_right: "A projection may treat the batch as one long list of tokens, and \
            padding is blocked; but attention has to stay within a sequence",
        read: BATCHES,
        answer: all_together,
    },
    Mistake {
        name: "takes the batch for one long sequence",
        does: "It scores every query against every row of keys, those of other \
            sequences and the padding among them",
        looks_right: "It is the formula of one head, and the result has a row for each \
            query",
        read: BATCHES,
        answer: |Input { q, k, v, .. }| attend(q, k, v, &Mask::None),
    },
    Mistake {
        name: "takes the sequences as interleaved",
        does: "It looks for token t of sequence s in row t · n_sequences + s",
        looks_right: "Each sequence gets its number of rows, and none is used twice",
        read: BATCHES,
        answer: |input| {
            let row = |s, token, _| token * input.n_sequences + s;
            input.each(row, |s| Mask::FirstKeys(input.n_valid[s]))
        },
    },
    Mistake {
        name: "takes the sequences to lie without their padding",
        does: "It looks for the keys of sequence s behind the real keys of those \
            before it, at n_valid[0] + n_valid[1] + …, and every sequence is filled \
            up to n_kv rows",
        looks_right: "The lengths are used, each once, and where the sequences \
            before have no padding it is right",
        read: LENGTHS,
        answer: without_gaps,
    },
    Mistake {
        name: "reads the keys and values of the first sequence for all of them",
        does: "It cuts the queries of sequence s out of the batch, and keys and values \
            always from row 0 on",
        looks_right: "Sequence 0 is right, and every shape is",
        read: BATCHES,
        answer: |input| with_sources(input, |_| 0, |_| 0),
    },
    Mistake {
        name: "reads the values of the first sequence for all of them",
        does: "Queries and keys are those of sequence s, so every map is right, and the \
            values always begin at row 0",
        looks_right: "Sequence 0 is right, and every row is an average of values",
        read: BATCHES,
        answer: |input| with_sources(input, |s| s, |_| 0),
    },
    Mistake {
        name: "writes every sequence over the first",
        does: "It puts each output into the rows from 0 on, so those of the last sequence \
            are left there, and all other rows are 0",
        looks_right: "Every sequence is computed as it should be, and the result has the \
            right shape",
        read: BATCHES,
        answer: over_the_first,
    },
    Mistake {
        name: "lets the first key of the padding in",
        does: "It blocks the keys behind key n_valid[s]; but the keys are counted from 0, \
            so that one is padding already",
        looks_right: "n_valid[s] keys are real, and a sequence without padding is right",
        read: TWO_ROWS,
        answer: |input| input.masked(|s, _, j| j <= input.n_valid[s]),
    },
    Mistake {
        name: "leaves out the last real key",
        does: "It opens the keys below n_valid[s] − 1; but the keys are counted from 0, so \
            that is where the last real one stands",
        looks_right: "No query reads padding, and rows sum to 1",
        read: TWO_ROWS,
        answer: |input| input.masked(|s, _, j| j + 1 < input.n_valid[s]),
    },
    Mistake {
        name: "does not divide the scores by √d_k",
        does: "Softmax gets the bare dot products, and rows come out too sharp",
        looks_right: "Every output is an average of the real values of its own \
            sequence",
        read: SCALE,
        answer: |input| input.scaled((input.q.ncols() as f64).sqrt()),
    },
    Mistake {
        name: "divides the scores by d_k and not by its root",
        does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
        looks_right: "A sum of d_k products divided by d_k is their mean",
        read: SCALE,
        answer: |input| input.scaled(1.0 / (input.q.ncols() as f64).sqrt()),
    },
    Mistake {
        name: "masks after the softmax",
        does: "It sets the shares of the padding to 0 when they have already taken \
            their part, so a row sums to less than 1; and padding that is NaN \
            takes the row",
        looks_right: "The padding has a share of 0, and a sequence without padding \
            is right",
        read: BEFORE,
        answer: masked_after_softmax,
    },
    Mistake {
        name: "lets the values of the padding in",
        does: "It multiplies the whole map by the values. Where a value of the \
            padding is NaN or ∞, its share of 0 times that is NaN, in every row",
        looks_right: "Without NaN it is the same: a share of 0 adds nothing",
        read: NAN,
        answer: |input| plain_product(input),
    },
    Mistake {
        name: "ignores the padding",
        does: "Every query reads all rows of its sequence, those that only fill it up \
            among them",
        looks_right: "Rows sum to 1, and a sequence without padding is right",
        read: TWO_ROWS,
        answer: |input| input.masked(|_, _, _| true),
    },
    Mistake {
        name: "blocks the padding of the first sequence in all of them",
        does: "It makes one mask from n_valid[0] and uses it for every sequence",
        looks_right: "Sequence 0 is right, and one mask for all has the right shape",
        read: LENGTHS,
        answer: |input| input.masked(|_, _, j| j < input.n_valid[0]),
    },
    Mistake {
        name: "repeats the lengths in the wrong order",
        does: "It deals the lengths out row by row of the batch, 0 1 0 1, where all \
            queries of one sequence need the same one, 0 0 1 1",
        looks_right: "The list of lengths is as long as the batch has rows",
        read: WRONG,
        answer: |input| {
            let length = |row: usize| input.n_valid[row % input.n_sequences];
            input.masked(|s, i, j| j < length(s * input.n_q() + i))
        },
    },
    Mistake {
        name: "takes the first keys for the padding",
        does: "It leaves the last n_valid[s] keys of each sequence, as if it were filled up \
            in front",
        looks_right: "As many keys are blocked as should be, and some models do fill up in \
            front",
        read: TWO_ROWS,
        answer: |input| input.masked(|s, _, j| j + input.n_valid[s] >= input.n_kv()),
    },
    Mistake {
        name: "gives the last queries of a short sequence zeros",
        does: "From n_valid[s] on, it takes queries for padding and computes nothing for \
            them. n_valid counts keys, and all queries were asked for",
        looks_right: "Nobody reads what comes out for padding",
        read: TWO_ROWS,
        answer: |input| {
            input.masked(|s, i, j| i < input.n_valid[s] && j < input.n_valid[s])
        },
    },
    Mistake {
        name: "writes the sequences interleaved",
        does: "It computes every sequence rightly, and puts token t of sequence s into row \
            t · n_sequences + s",
        looks_right: "Every row is there once",
        read: BATCHES,
        answer: |input| {
            let (right, n_q) = ((EXERCISE.reference)(input), input.n_q());
            Matrix::from_fn(right.nrows(), right.ncols(), |row, c| {
                let (token, s) = (row / input.n_sequences, row % input.n_sequences);
                right[(s * n_q + token, c)]
            })
        },
    },
    Mistake {
        name: "has a causal mask as well",
        does: "A query sees no key after its own place. Nobody asked for that: an encoder \
            reads the whole sequence",
        looks_right: "It is the mask that most models have, and the last query is right",
        read: WRONG,
        answer: |input| {
            let after = input.n_kv() as isize - input.n_q() as isize;
            input.masked(|s, i, j| {
                j < input.n_valid[s] && j as isize <= i as isize + after
            })
        },
    },
    Mistake {
        name: "has a causal mask as well",
        does: "Query i sees the keys up to key i alone. Nobody asked for that: an encoder \
            reads the whole sequence",
        looks_right: "It is the mask that most models have",
        read: WRONG,
        answer: |input| input.masked(|s, i, j| j < input.n_valid[s] && j <= i),
    },
    Mistake {
        name: "blocks the queries of the padding and not its keys",
        does: "From n_valid[s] on, the queries of sequence s get zeros, and all others \
            still read the padding",
        looks_right: "The rows of the padding are empty, as if nobody used them",
        read: WRONG,
        answer: |input| input.masked(|s, i, _| i < input.n_valid[s]),
    },
    Mistake {
        name: "reads the keys of the first sequence for all of them",
        does: "Queries and values are those of sequence s, and keys always begin at row 0",
        looks_right: "Sequence 0 is right, and every row is an average of values",
        read: BATCHES,
        answer: |input| with_sources(input, |_| 0, |s| s),
    },
    Mistake {
        name: "begins sequence s at row s of q",
        does: "It cuts queries from row s on and not from row s · n_q, so sequences overlap",
        looks_right: "Sequence 0 is right, and each gets its number of rows",
        read: BATCHES,
        answer: |input| input.with_queries(|s| s),
    },
    Mistake {
        name: "compares keys with keys",
        does: "It takes the queries from k too, and q is never used",
        looks_right: "With as many queries as keys every shape is right",
        read: BATCHES,
        answer: |input| input.of([&input.k, &input.k, &input.v]),
    },
    Mistake {
        name: "averages the keys",
        does: "It weighs the rows of k, which are there to be found by",
        looks_right: "A key and its value stand in the same row, and where d_k = d_v the shape is right",
        read: BATCHES,
        answer: |input| input.of([&input.q, &input.k, &input.k]),
    },
    Mistake {
        name: "compares queries with values",
        does: "Its scores are those of q and v: what a token hands over decides whether it is found",
        looks_right: "Keys and values stand in the same rows, and where d_k = d_v it fits",
        read: BATCHES,
        answer: |input| input.of([&input.q, &input.v, &input.v]),
    },
    Mistake {
        name: "begins sequence s at row s of k or v",
        does: "It cuts keys or values from row s on and not from row s · n_kv, so sequences overlap",
        looks_right: "Sequence 0 is right, and each gets its number of rows",
        read: BATCHES,
        answer: |input| {
            let k = input.overlapping(&input.k);
            input.of([&input.q, &k, &input.v])
        },
    },
    Mistake {
        name: "begins sequence s at row s of k or v",
        does: "It cuts keys or values from row s on and not from row s · n_kv, so sequences overlap",
        looks_right: "Sequence 0 is right, and each gets its number of rows",
        read: BATCHES,
        answer: |input| {
            let v = input.overlapping(&input.v);
            input.of([&input.q, &input.k, &v])
        },
    },
];

/// Each sequence by itself, and the map of each from its scores and its length.
fn by_maps(input: &Input, map: fn(Matrix, usize) -> Matrix) -> Matrix {
    let (n_q, n_kv) = (input.n_q(), input.n_kv());
    let mut out = Matrix::zeros(input.q.nrows(), input.v.ncols());
    for (s, &n_valid) in input.n_valid.iter().enumerate() {
        let (k, v) = (input.k.rows(s * n_kv, n_kv), input.v.rows(s * n_kv, n_kv));
        let scores = input.q.rows(s * n_q, n_q) * k.transpose();
        let attn = map(scores / (input.q.ncols() as f64).sqrt(), n_valid);
        out.rows_mut(s * n_q, n_q).copy_from(&(attn * v));
    }
    out
}

fn plain_product(input: &Input) -> Matrix {
    by_maps(input, |scores, n_valid| softmax_rows(Mask::FirstKeys(n_valid).apply(scores)))
}

fn masked_after_softmax(input: &Input) -> Matrix {
    by_maps(input, |scores, n_valid| {
        let mut attn = softmax_rows(scores);
        attn.columns_range_mut(n_valid..).fill(0.0);
        attn
    })
}

fn without_gaps(input: &Input) -> Matrix {
    let n_q = input.n_q();
    let (mut out, mut begin) = (Matrix::zeros(input.q.nrows(), input.v.ncols()), 0);
    for (s, &n_valid) in input.n_valid.iter().enumerate() {
        let [k, v] = [&input.k, &input.v].map(|m| m.rows(begin, n_valid).into_owned());
        let q = input.q.rows(s * n_q, n_q).into_owned();
        out.rows_mut(s * n_q, n_q).copy_from(&attend(&q, &k, &v, &Mask::None));
        begin += n_valid;
    }
    out
}

fn all_together(Input { q, k, v, n_sequences, n_valid }: &Input) -> Matrix {
    let n_kv = k.nrows() / n_sequences;
    let is_real = |row: usize| row % n_kv < n_valid[row / n_kv];
    let real: Vec<bool> = (0..k.nrows()).map(is_real).collect();
    attend(q, k, v, &Mask::Keys(real))
}

/// Each sequence with the keys and the values of these, and its own length.
fn with_sources(
    input: &Input,
    of_keys: fn(usize) -> usize,
    of_values: fn(usize) -> usize,
) -> Matrix {
    let (n_q, n_kv) = (input.n_q(), input.n_kv());
    let mut out = Matrix::zeros(input.q.nrows(), input.v.ncols());
    for (s, &n_valid) in input.n_valid.iter().enumerate() {
        let q = input.q.rows(s * n_q, n_q).into_owned();
        let k = input.k.rows(of_keys(s) * n_kv, n_kv).into_owned();
        let v = input.v.rows(of_values(s) * n_kv, n_kv).into_owned();
        let out_s = attend(&q, &k, &v, &Mask::FirstKeys(n_valid));
        out.rows_mut(s * n_q, n_q).copy_from(&out_s);
    }
    out
}

fn over_the_first(input: &Input) -> Matrix {
    let right = (EXERCISE.reference)(input);
    let n_q = input.n_q();
    let last = right.rows(right.nrows() - n_q, n_q);
    Matrix::from_fn(right.nrows(), right.ncols(), |row, c| {
        if row < n_q { last[(row, c)] } else { 0.0 }
    })
}

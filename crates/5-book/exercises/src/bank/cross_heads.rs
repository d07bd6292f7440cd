//! The cross-attention of a decoder: several heads, and sources of different lengths.

use std::process::ExitCode;

use attention::{Batch, HeadParameters, LayerParameters, Mask, Matrix, softmax_rows};
use fused_heads::FusedAttention;

use super::{heads, inputs};
use crate::{Case, Exercise, Place, Section};

mod batch;
mod inside;
mod roles;
#[cfg(test)]
mod tests;

/// A layer, the targets of a batch, what the encoder made of the sources, and how long each
/// of these is.
pub struct Input {
    layer: LayerParameters,
    y: Matrix,
    memory: Matrix,
    n_valid: Vec<usize>,
}

impl Input {
    fn n_sequences(&self) -> usize {
        self.n_valid.len()
    }

    fn n_target(&self) -> usize {
        self.y.nrows() / self.n_sequences()
    }

    fn n_source(&self) -> usize {
        self.memory.nrows() / self.n_sequences()
    }

    /// The whole batch through the fused layer.
    fn right(&self) -> Matrix {
        let batch = |tokens: &Matrix| Batch::new(self.n_sequences(), tokens.clone());
        let [y, memory] = [&self.y, &self.memory].map(|x| batch(x).expect("whole rows"));
        let masks: Vec<Mask> = self.n_valid.iter().map(|&n| Mask::FirstKeys(n)).collect();
        let layer = FusedAttention::new(&self.layer);
        let attended = layer.forward_batch(&y, &memory, &memory, &masks);
        attended.expect("sizes fit").out.tokens().clone()
    }

    fn target(&self, s: usize) -> Matrix {
        self.y.rows(s * self.n_target(), self.n_target()).into_owned()
    }

    fn source(&self, s: usize) -> Matrix {
        self.memory.rows(s * self.n_source(), self.n_source()).into_owned()
    }

    /// What `of(s)` gives of each sequence, one after the other.
    fn each(&self, of: impl Fn(usize) -> Matrix) -> Matrix {
        let parts: Vec<Matrix> = (0..self.n_sequences()).map(of).collect();
        let rows: Vec<_> = parts.iter().flat_map(|part| part.row_iter()).collect();
        Matrix::from_rows(&rows)
    }

    /// All heads on any query, key and value, mixed; like a reader's code, it panics where they
    /// do not fit.
    fn attended(&self, qkv: [&Matrix; 3], mask: &Mask) -> Matrix {
        self.mixed(qkv, |head| head.out(|scores| softmax_rows(mask.apply(scores))))
    }

    /// What `of` makes of each head's queries, keys and values, mixed.
    fn mixed(&self, [q, k, v]: [&Matrix; 3], of: impl Fn(&Head) -> Matrix) -> Matrix {
        let head = |w: &HeadParameters| Head {
            q: heads::project(&w.w_q, q),
            k: heads::project(&w.w_k, k),
            v: heads::project(&w.w_v, v),
        };
        let outs: Vec<_> = self.layer.heads().iter().map(|w| of(&head(w))).collect();
        heads::project(self.layer.w_o(), &heads::concat(&outs))
    }

    /// Right, but for the mask of each sequence.
    fn masked(&self, mask: impl Fn(usize) -> Mask) -> Matrix {
        self.each(|s| {
            let (y, memory) = (self.target(s), self.source(s));
            self.attended([&y, &memory, &memory], &mask(s))
        })
    }

    /// Right, but for which query of sequence s may attend to which key.
    fn allowed(&self, may: impl Fn(usize, usize, usize) -> bool) -> Matrix {
        let (n_target, n_source) = (self.n_target(), self.n_source());
        self.masked(|s| {
            Mask::Allowed(Matrix::from_fn(n_target, n_source, |i, j| may(s, i, j)))
        })
    }

    /// Right, but for what a head makes of its queries, keys and values, and of the length.
    fn by_heads(&self, of: impl Fn(&Head, usize) -> Matrix) -> Matrix {
        self.each(|s| {
            let (y, memory) = (self.target(s), self.source(s));
            self.mixed([&y, &memory, &memory], |head| of(head, self.n_valid[s]))
        })
    }

    /// The right answer for other parameters or tokens.
    fn changed(&self, change: impl Fn(&mut Input)) -> Matrix {
        let (layer, n_valid) = (self.layer.clone(), self.n_valid.clone());
        let (y, memory) = (self.y.clone(), self.memory.clone());
        let mut input = Input { layer, y, memory, n_valid };
        change(&mut input);
        input.right()
    }
}

/// What a head attends with.
struct Head {
    q: Matrix,
    k: Matrix,
    v: Matrix,
}

impl Head {
    /// The values by what `map` makes of the scaled scores.
    fn out(&self, map: impl Fn(Matrix) -> Matrix) -> Matrix {
        let d_k = self.q.ncols() as f64;
        map(&self.q * self.k.transpose() / d_k.sqrt()) * &self.v
    }
}

/// What the reader writes: from the targets `y`, `[n_sequences · n_target, d_model]`, and the
/// encoder's `memory`, `[n_sequences · n_source, d_model]`, what each target token reads,
/// `[n_sequences · n_target, d_model]`.
pub type CrossHeads =
    fn(layer: &LayerParameters, y: &Matrix, memory: &Matrix, n_valid: &[usize]) -> Matrix;

/// Checks an answer.
pub fn check(answer: CrossHeads) -> ExitCode {
    EXERCISE.check(move |Input { layer, y, memory, n_valid }| {
        answer(layer, y, memory, n_valid)
    })
}

const CHAPTER: &str = "from-one-sequence-to-another";
const ASKS: Section = Section::new(CHAPTER, "Who asks, who answers");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "cross_heads",
    title: "Who asks, who answers",
    read: ASKS,
    begin: "one head and one sequence: which rows of y ask, which rows of the memory answer, \
        and which shape has the map between them?",
    print: "which rows of y and of the memory meet, and the shares of one head",
    passed: "Each token of a target asks its own source, all of it and none of the padding: \
        the batch gives what each sequence gives alone.",
    cases,
    reference: Input::right,
    mistakes: &[
        roles::MEMORY_ASKS,
        roles::TARGET_ALONE,
        roles::TARGET_ALONE_AT_ONCE,
        roles::MEMORY_ALONE,
        roles::MEMORY_ALONE_AT_ONCE,
        roles::KEYS_OF_TARGET,
        roles::KEYS_OF_TARGET_AT_ONCE,
        roles::VALUES_OF_TARGET,
        roles::VALUES_OF_TARGET_AT_ONCE,
        roles::TARGET_AMONG_KEYS,
        roles::LAST_POSITION,
        roles::EXCHANGED_WEIGHTS,
        roles::ADDS_TARGET,
        batch::READS_PADDING,
        batch::FIRST_LENGTH,
        batch::LAST_LENGTH,
        batch::LENGTH_OF_HEAD,
        batch::FIRST_MEMORY,
        batch::FIRST_MEMORY_AND_LENGTH,
        batch::ALL_SOURCES,
        batch::ONE_SOURCE,
        batch::MEMORY_INTERLEAVED,
        batch::TARGET_INTERLEAVED,
        batch::BOTH_INTERLEAVED,
        batch::OUTPUT_INTERLEAVED,
        batch::OVER_THE_FIRST,
        batch::SOURCES_OVERLAP,
        batch::TARGETS_OVERLAP,
        batch::WITHOUT_GAPS,
        batch::CAUSAL,
        batch::CAUSAL_FROM_THE_END,
        batch::CAUSAL_ALONE,
        batch::CAUSAL_ALONE_FROM_THE_END,
        batch::ROWS_BLOCKED,
        batch::INVERTED,
        batch::ONE_TOO_MANY,
        inside::MASKED_AFTER_SOFTMAX,
        inside::BLOCKED_TO_0,
        inside::SOFTMAX_DOWN,
        inside::NOT_SCALED,
        inside::SCALED_BY_D_K,
        inside::SCALED_BY_D_MODEL,
        inside::QUERIES_AND_VALUES,
        inside::AVERAGES_KEYS,
        inside::ONE_HEAD_FOR_ALL,
        inside::ONE_MAP_FOR_ALL,
        inside::OVER_THE_FIRST_HEAD,
        inside::NO_W_O,
        inside::NO_BIASES,
    ],
    place: |input, Place { row, column, .. }| {
        let (sequence, token) = (row / input.n_target(), row % input.n_target());
        format!("sequence {sequence}, target token {token}, feature {column}")
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_valid: &[usize],
                [n_target, n_source]: [usize; 2],
                [d_model, n_heads, d_k, d_v]: [usize; 4],
                seed| {
        let n_sequences = n_valid.len();
        Case {
            sizes: format!(
                "{n_sequences} sequences, n_target {n_target}, n_source {n_source}, \
                 n_valid {n_valid:?}, d_model {d_model}, {n_heads} heads, d_k {d_k}, \
                 d_v {d_v}"
            ),
            square: n_target == n_source && d_k == d_v,
            input: Input {
                layer: inputs::layer(inputs::dims(d_model, n_heads, d_k, d_v), seed),
                y: inputs::matrix(n_sequences * n_target, d_model, seed + 1),
                memory: inputs::matrix(n_sequences * n_source, d_model, seed + 2),
                n_valid: n_valid.to_vec(),
            },
        }
    };
    vec![
        case(&[3, 2], [3, 3], [4, 2, 2, 2], 1),
        case(&[2, 4, 1], [2, 4], [6, 2, 3, 2], 4),
        case(&[1, 3], [5, 3], [4, 3, 2, 3], 7),
        case(&[3, 5], [1, 5], [6, 2, 4, 3], 10), // a step of writing
    ]
}

//! Of the chapter on one sequence and another.

use std::process::ExitCode;

use attention::{LayerParameters, Matrix};

use super::random;
use crate::{Answer, Case, Exercise, Place, arrays};

/// The three masks of an encoder–decoder, from two lengths and a padding.
pub mod decoder_masks {
    use super::*;

    /// A source with its padding, and a target.
    pub struct Input {
        n_source: usize,
        source_length: usize,
        n_target: usize,
    }

    arrays!(Input: n_source, source_length, n_target);

    /// The masks of an encoder–decoder: true where a query may attend to a key.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ThreeMasks {
        /// Of the encoder, `[n_source, n_source]`.
        pub encoder: Matrix<bool>,
        /// Of the decoder's own attention, `[n_target, n_target]`.
        pub own: Matrix<bool>,
        /// Of the cross-attention, `[n_target, n_source]`.
        pub cross: Matrix<bool>,
    }

    /// True and false, of which neither is nearly right.
    impl Answer for ThreeMasks {
        const TOLERANCE: f64 = 0.0;

        fn parts(&self) -> Vec<Matrix> {
            let numbers = |mask: &Matrix<bool>| mask.map(|may| f64::from(u8::from(may)));
            [&self.encoder, &self.own, &self.cross].map(numbers).to_vec()
        }

        fn label(part: usize, _: usize) -> String {
            NAMES[part].into()
        }
    }

    const NAMES: [&str; 3] = [
        "the encoder's mask",
        "the decoder's own mask",
        "the mask of the cross-attention",
    ];

    pub(crate) static EXERCISE: Exercise<Input, ThreeMasks> =
        Exercise::new("decoder_masks", cases, |_, Place { part, row, column }| {
            let name = NAMES[part];
            format!("{name}, query {row}, key {column} (1 is true, 0 is false)")
        });

    /// Checks what gives the three masks, from the source's positions, how many of them are
    /// real, and the target's positions.
    pub fn check(
        answer: fn(n_source: usize, source_length: usize, n_target: usize) -> ThreeMasks,
    ) -> ExitCode {
        EXERCISE.check(move |&Input { n_source, source_length, n_target }| {
            answer(n_source, source_length, n_target)
        })
    }

    /// The first has as many positions on both sides, so that each mask has the shape of each.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |n_source: usize, source_length: usize, n_target: usize| Case {
            sizes: format!(
                "{n_source} positions in the source, the first {source_length} of them \
                 real, {n_target} in the target"
            ),
            square: n_source == n_target,
            input: Input { n_source, source_length, n_target },
        };
        vec![case(4, 3, 4), case(5, 3, 2), case(3, 2, 6), case(6, 1, 3), case(3, 3, 5)]
    }
}

/// The cross-attention of a decoder: several heads, and sources of different lengths.
pub mod cross_heads {
    use super::*;

    /// A layer, the targets of a batch, what the encoder made of the sources, and how long
    /// each of these is.
    pub struct Input {
        layer: LayerParameters,
        y: Matrix,
        memory: Matrix,
        n_valid: Vec<usize>,
    }

    arrays!(Input: layer, y, memory, n_valid);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("cross_heads", cases, |input, Place { row, column, .. }| {
            let n_target = input.y.nrows() / input.n_valid.len();
            let (sequence, token) = (row / n_target, row % n_target);
            format!("sequence {sequence}, target token {token}, feature {column}")
        });

    /// Checks what gives of the targets `y`, `[n_sequences · n_target, d_model]`, and the
    /// encoder's `memory`, `[n_sequences · n_source, d_model]`, what each target token reads,
    /// `[n_sequences · n_target, d_model]`.
    pub fn check(
        answer: fn(
            layer: &LayerParameters,
            y: &Matrix,
            memory: &Matrix,
            n_valid: &[usize],
        ) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |Input { layer, y, memory, n_valid }| {
            answer(layer, y, memory, n_valid)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_valid: &[usize],
                    [n_target, n_source]: [usize; 2],
                    [d_model, n_heads, d_k, d_v]: [usize; 4],
                    own: u64| {
            let n_sequences = n_valid.len();
            let seed = seed + own;
            Case {
                sizes: format!(
                    "{n_sequences} sequences, n_target {n_target}, n_source {n_source}, \
                     n_valid {n_valid:?}, d_model {d_model}, {n_heads} heads, d_k {d_k}, \
                     d_v {d_v}"
                ),
                square: n_target == n_source && d_k == d_v,
                input: Input {
                    layer: random::layer(random::dims(d_model, n_heads, d_k, d_v), seed),
                    y: random::matrix(n_sequences * n_target, d_model, seed + 1),
                    memory: random::matrix(n_sequences * n_source, d_model, seed + 2),
                    n_valid: n_valid.to_vec(),
                },
            }
        };
        vec![
            case(&[3, 2], [3, 3], [4, 2, 2, 2], 1),
            case(&[2, 4, 1], [2, 4], [6, 2, 3, 2], 4),
            case(&[1, 3], [5, 3], [4, 3, 2, 3], 7),
            case(&[3, 5], [1, 5], [6, 2, 4, 3], 10), // a step of writing
            case(&[3, 2], [2, 4], [4, 2, 3, 2], 13), // no source is as long as n_source
        ]
    }
}

/// A decoder that writes token by token, with a cache for each of its two attentions.
pub mod cross_cache {
    use std::cell::Cell;

    use attention::{Error, HeadParameters, Linear, softmax_rows};

    use super::*;

    /// A projection that counts the rows that go through it.
    pub struct Projection {
        linear: Linear,
        n_rows: Cell<usize>,
    }

    impl Projection {
        /// `x · W + b`, `[n, d_in]` to `[n, d_out]`.
        ///
        /// # Panics
        /// If x is not d_in wide.
        pub fn forward(&self, x: &Matrix) -> Matrix {
            self.n_rows.set(self.n_rows.get() + x.nrows());
            self.linear.forward(x).unwrap_or_else(|error| panic!("{error}"))
        }
    }

    /// The projections of an attention of one head, with values as wide as a token.
    pub struct Attention {
        /// `[d_model, d_k]`.
        pub w_q: Projection,
        /// `[d_model, d_k]`.
        pub w_k: Projection,
        /// `[d_model, d_model]`.
        pub w_v: Projection,
    }

    impl Attention {
        fn new(w: &HeadParameters) -> Self {
            let [w_q, w_k, w_v] = [&w.w_q, &w.w_k, &w.w_v].map(|linear| Projection {
                linear: linear.clone(),
                n_rows: Cell::new(0),
            });
            Self { w_q, w_k, w_v }
        }

        fn cache(&self) -> Cache {
            Cache::new([&self.w_k, &self.w_v].map(|w| w.linear.d_out()))
        }
    }

    /// A decoder's block without norms and without a feed-forward layer.
    pub struct Decoder {
        /// The target's tokens look at those before them, and at themselves.
        pub own: Attention,
        /// They look at the source.
        pub cross: Attention,
    }

    /// Keys and values that are kept, a row a token.
    pub struct Cache {
        keys: Matrix,
        values: Matrix,
    }

    impl Cache {
        /// An empty cache for keys and values of these widths.
        pub fn new([key_width, value_width]: [usize; 2]) -> Self {
            Self {
                keys: Matrix::zeros(0, key_width),
                values: Matrix::zeros(0, value_width),
            }
        }

        /// Takes the keys and values of new tokens, `[n_new, d_k]` and `[n_new, d_v]`.
        ///
        /// # Errors
        /// [`Error::Shape`]; the cache is then as it was.
        pub fn append(&mut self, k: &Matrix, v: &Matrix) -> Result<(), Error> {
            let expected = (k.nrows(), self.keys.ncols());
            Error::expect_shape("the keys for the cache", expected, k.shape())?;
            let expected = (k.nrows(), self.values.ncols());
            Error::expect_shape("the values for the cache", expected, v.shape())?;
            for (kept, new) in [(&mut self.keys, k), (&mut self.values, v)] {
                let n_kept = kept.nrows();
                *kept = kept.clone().resize_vertically(n_kept + new.nrows(), 0.0);
                kept.rows_mut(n_kept, new.nrows()).copy_from(new);
            }
            Ok(())
        }

        /// The keys, as scores need them.
        pub fn keys(&self) -> &Matrix {
            &self.keys
        }

        /// The values.
        pub fn values(&self) -> &Matrix {
            &self.values
        }

        /// How many rows it has been given in all.
        pub fn n_seen(&self) -> usize {
            self.keys.nrows()
        }
    }

    /// What is kept between two steps. Both are empty at first.
    pub struct Caches {
        /// Keys and values of the target.
        pub own: Cache,
        /// Keys and values of the source.
        pub cross: Cache,
    }

    /// `softmax(q kᵀ / √d_k) v`.
    ///
    /// # Shapes
    /// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, `v` is `[n_kv, d_v]`, the result
    /// `[n_q, d_v]`.
    pub fn attend(q: &Matrix, k: &Matrix, v: &Matrix) -> Matrix {
        softmax_rows(q * k.transpose() / (q.ncols() as f64).sqrt()) * v
    }

    /// Two attentions, a source through the encoder, and the target's tokens as they come in.
    pub struct Input {
        own: HeadParameters,
        cross: HeadParameters,
        memory: Matrix,
        tokens: Matrix,
    }

    arrays!(Input: own, cross, memory, tokens);

    /// What came of all steps: the output of each; how many rows went through W^K and W^V of
    /// the own attention and of the cross-attention; and how many each cache holds in the end.
    pub struct Steps(Vec<Matrix>);

    impl Answer for Steps {
        const N_BEHIND: usize = 2;

        fn parts(&self) -> Vec<Matrix> {
            self.0.clone()
        }

        fn label(part: usize, _: usize) -> String {
            format!("the output of step {part} (counted from 0)")
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Steps> =
        Exercise::new("cross_cache", cases, |input, Place { part, column, .. }| {
            let n_steps = input.tokens.nrows();
            let Some(count) = part.checked_sub(n_steps) else {
                return format!("step {part}, feature {column}");
            };
            if count > 0 {
                let of = ["the target", "the source"][column];
                return format!("rows kept of {of} after {n_steps} steps");
            }
            let (w, of) = (["W^K", "W^V"][column % 2], ["own ", "cross-"][column / 2]);
            format!("rows through {w} of the {of}attention in {n_steps} steps")
        });

    /// Checks what gives of the encoder's `memory`, `[n_source, d_model]`, the target's
    /// `tokens` so far, `[n_so_far, d_model]`, and what was kept of the steps before, the new
    /// token's output, `[1, d_model]`.
    pub fn check(
        answer: fn(
            w: &Decoder,
            memory: &Matrix,
            tokens: &Matrix,
            caches: &mut Caches,
        ) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| {
            let (own, cross) = (Attention::new(&input.own), Attention::new(&input.cross));
            let mut caches = Caches { own: own.cache(), cross: cross.cache() };
            let w = Decoder { own, cross };
            let step = |n| {
                let so_far = input.tokens.rows(0, n).into_owned();
                answer(&w, &input.memory, &so_far, &mut caches)
            };
            let outs: Vec<_> = (1..=input.tokens.nrows()).map(step).collect();
            let projections = [&w.own.w_k, &w.own.w_v, &w.cross.w_k, &w.cross.w_v];
            let n_projected = projections.map(|w| w.n_rows.get() as f64);
            let n_kept = [&caches.own, &caches.cross].map(|it| it.keys.nrows() as f64);
            let counts = [row(&n_projected), row(&n_kept)];
            Steps(outs.into_iter().chain(counts).collect())
        })
    }

    fn row(counts: &[f64]) -> Matrix {
        Matrix::from_row_slice(1, counts.len(), counts)
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_target: usize, n_source: usize, [d_model, d_k]: [usize; 2], own| {
            let head = |seed| {
                let dims = random::dims(d_model, 1, d_k, d_model);
                random::layer(dims, seed).heads()[0].clone()
            };
            let steps = if n_target == 1 { "step" } else { "steps" };
            let seed = seed + own;
            Case {
                sizes: format!(
                    "{n_target} {steps}, {n_source} source positions, d_model {d_model}, \
                     d_k {d_k}"
                ),
                square: n_target == n_source && d_k == d_model,
                input: Input {
                    own: head(seed),
                    cross: head(seed + 1),
                    memory: random::matrix(n_source, d_model, seed + 2),
                    tokens: random::matrix(n_target, d_model, seed + 3),
                },
            }
        };
        vec![
            case(3, 3, [4, 4], 1),
            case(4, 2, [5, 3], 5),
            case(2, 6, [3, 5], 9),
            case(1, 4, [4, 2], 13),
        ]
    }
}

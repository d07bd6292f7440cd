//! Of the chapter on variants.

use std::process::ExitCode;

use attention::Matrix;

use super::{place, random};
use crate::{Answer, Array, Arrays, Case, Exercise, Place, arrays};

/// So many of something: `1 head`, `2 heads`.
fn some(n: usize, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

/// Queries or keys, rotated by their positions.
pub mod rotary {
    use super::*;

    /// Heads side by side, and where each row stands.
    pub struct Input {
        x: Matrix,
        n_heads: usize,
        positions: Vec<f64>,
        base: f64,
    }

    arrays!(Input: x, n_heads, positions, base);

    /// What the reader writes.
    pub type Rotate =
        fn(x: &Matrix, n_heads: usize, positions: &[f64], base: f64) -> Matrix;

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("rotary", cases, place::token_feature);

    /// Checks what rotates each pair of entries of `x`, `[n_tokens, n_heads · d]`, by its row's
    /// position.
    pub fn check(answer: Rotate) -> ExitCode {
        EXERCISE.check(move |Input { x, n_heads, positions, base }| {
            answer(x, *n_heads, positions, *base)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |positions: &[f64], n_heads: usize, d: usize, base: f64, own: u64| {
            let heads = some(n_heads, "head", "heads");
            Case {
                sizes: format!("{heads} of {d}, positions {positions:?}, base {base}"),
                square: false,
                input: Input {
                    x: random::matrix(positions.len(), n_heads * d, seed + own),
                    n_heads,
                    positions: positions.to_vec(),
                    base,
                },
            }
        };
        vec![
            case(&[0.0, 1.0, 2.0], 1, 4, 100.0, 1),
            case(&[0.0, 6.0, 7.0, 8.0], 2, 6, 10_000.0, 2),
            case(&[40.0], 3, 4, 10_000.0, 3),
            case(&[0.5, 1.0, 1.5], 1, 4, 100.0, 4),
            // No exponent makes 10,000 of this base in all pairs.
            case(&[2.0, 5.0], 2, 6, 500.0, 5),
        ]
    }
}

/// Query heads that share keys and values, under a soft cap and a causal mask.
pub mod shared_keys {
    use super::*;

    /// Queries, keys and values, and how many heads of each there are.
    pub struct Input {
        q: Matrix,
        k: Matrix,
        v: Matrix,
        n_heads: usize,
        n_kv_heads: usize,
        cap: f64,
    }

    arrays!(Input: q, k, v, n_heads, n_kv_heads, cap);

    /// What the reader writes.
    pub type AttendShared =
        fn(qkv: [&Matrix; 3], n_heads: usize, n_kv_heads: usize, cap: f64) -> Matrix;

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("shared_keys", cases, place::token_feature);

    /// Checks what gives the outputs of all query heads, `[n_q, n_heads · d_v]`.
    pub fn check(answer: AttendShared) -> ExitCode {
        EXERCISE.check(move |Input { q, k, v, n_heads, n_kv_heads, cap }| {
            answer([q, k, v], *n_heads, *n_kv_heads, *cap)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |[n_q, n_kv]: [usize; 2],
                    [n_heads, n_kv_heads]: [usize; 2],
                    [d_k, d_v]: [usize; 2],
                    cap: f64,
                    own: u64| {
            let queries = some(n_q, "query", "queries");
            Case {
                sizes: format!(
                    "{n_heads} heads on {n_kv_heads}, {queries}, {n_kv} keys, d_k {d_k}, \
                     d_v {d_v}, cap {cap}"
                ),
                square: n_q == n_kv && d_k == d_v,
                input: Input {
                    q: random::matrix(n_q, n_heads * d_k, seed + own) * 1.5,
                    k: random::matrix(n_kv, n_kv_heads * d_k, seed + own + 1) * 1.5,
                    v: random::matrix(n_kv, n_kv_heads * d_v, seed + own + 2),
                    n_heads,
                    n_kv_heads,
                    cap,
                },
            }
        };
        vec![
            case([4, 4], [4, 2], [3, 3], 2.0, 1),
            case([3, 5], [6, 2], [4, 2], 1.5, 4),
            case([1, 6], [6, 3], [2, 3], 3.0, 7),
        ]
    }
}

/// What a new token attends to when its cache forgets.
pub mod window_cache {
    use super::*;

    /// A query, the keys of the whole text, and what the cache keeps of them.
    pub struct Input {
        q: Matrix,
        keys: Matrix,
        window: usize,
        n_sinks: usize,
        slope: f64,
    }

    arrays!(Input: q, keys, window, n_sinks, slope);

    /// What the reader writes.
    pub type WindowWeights = fn(
        q: &Matrix,
        keys: &Matrix,
        window: usize,
        n_sinks: usize,
        slope: f64,
    ) -> Matrix;

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("window_cache", cases, place::map);

    /// Checks what gives the new token's attention weights of all tokens of the text, `[1, n]`.
    pub fn check(answer: WindowWeights) -> ExitCode {
        EXERCISE.check(move |Input { q, keys, window, n_sinks, slope }| {
            answer(q, keys, *window, *n_sinks, *slope)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n: usize, window: usize, n_sinks: usize, slope: f64, own: u64| {
            let sinks = some(n_sinks, "sink", "sinks");
            Case {
                sizes: format!("{n} tokens, window {window}, {sinks}, slope {slope}"),
                square: false,
                input: Input {
                    q: random::matrix(1, 4, seed + own),
                    keys: random::matrix(n, 4, seed + own + 1),
                    window,
                    n_sinks,
                    slope,
                },
            }
        };
        vec![
            case(6, 3, 0, 0.25, 1),
            case(9, 4, 2, 0.25, 3),
            case(5, 8, 1, 0.5, 5),
            case(2, 1, 4, 0.5, 7),
        ]
    }
}

/// Latent keys and values, read through a query that takes the projection in.
pub mod latent_keys {
    use super::*;

    /// Queries, and what keys and values are made from.
    pub struct Input {
        q: Matrix,
        latents: Matrix,
        w_uk: Matrix,
        w_uv: Matrix,
        n_heads: usize,
    }

    arrays!(Input: q, latents, w_uk, w_uv, n_heads);

    /// What is asked for.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Absorbed {
        /// The queries of all heads, each with its projection of keys taken in.
        pub queries: Matrix,
        /// The outputs of all heads.
        pub out: Matrix,
    }

    impl Answer for Absorbed {
        fn parts(&self) -> Vec<Matrix> {
            vec![self.queries.clone(), self.out.clone()]
        }

        fn label(part: usize, _: usize) -> String {
            ["the absorbed queries", "the outputs"][part].into()
        }
    }

    /// What the reader writes.
    pub type AttendLatent = fn(
        q: &Matrix,
        latents: &Matrix,
        w_uk: &Matrix,
        w_uv: &Matrix,
        n_heads: usize,
    ) -> Absorbed;

    pub(crate) static EXERCISE: Exercise<Input, Absorbed> =
        Exercise::new("latent_keys", cases, called);

    /// Checks what gives the absorbed queries and the outputs, from queries, latent rows and
    /// two projections.
    pub fn check(answer: AttendLatent) -> ExitCode {
        EXERCISE.check(move |Input { q, latents, w_uk, w_uv, n_heads }| {
            answer(q, latents, w_uk, w_uv, *n_heads)
        })
    }

    fn called(input: &Input, Place { part, row, column }: Place) -> String {
        let d_v = input.w_uv.ncols() / input.n_heads;
        let width = [input.latents.ncols(), d_v][part];
        let what = ["absorbed query", "the absorbed queries are right; output"][part];
        format!("{what} {row}, head {}, entry {}", column / width, column % width)
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |[n_q, n_kv, n_heads]: [usize; 3],
                    [d_k, d_v, r]: [usize; 3],
                    own: u64| {
            let queries = some(n_q, "query", "queries");
            Case {
                sizes: format!(
                    "{queries}, {n_kv} tokens, {n_heads} heads, d_k {d_k}, d_v {d_v}, r {r}"
                ),
                square: d_k == d_v && d_v == r,
                input: Input {
                    q: random::matrix(n_q, n_heads * d_k, seed + own),
                    latents: random::matrix(n_kv, r, seed + own + 1),
                    w_uk: random::matrix(r, n_heads * d_k, seed + own + 2),
                    w_uv: random::matrix(r, n_heads * d_v, seed + own + 3),
                    n_heads,
                },
            }
        };
        vec![
            case([2, 3, 2], [2, 2, 2], 1),
            case([3, 5, 2], [3, 3, 4], 10),
            case([1, 4, 3], [4, 2, 6], 20),
        ]
    }
}

/// Rotary frequencies for texts longer than those of the training.
pub mod stretched_rotary {
    use super::*;

    /// A rule by which frequencies are made smaller.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Stretch {
        /// All by the same factor (Chen et al. 2023).
        Interpolated,
        /// By a larger base.
        NtkAware,
        /// The slow pairs, and not the fast ones (Peng et al. 2023).
        Yarn {
            /// The positions of the training.
            n_trained: f64,
            /// A pair with so many turns in the training, or fewer, is divided by the factor.
            slow: f64,
            /// A pair with so many, or more, stays.
            fast: f64,
        },
    }

    /// The number of the rule, from 0; of YaRN also what belongs to it.
    impl Arrays for Stretch {
        fn arrays(&self, name: &str) -> Vec<Array> {
            match *self {
                Self::Interpolated => 0.0.arrays(name),
                Self::NtkAware => 1.0.arrays(name),
                Self::Yarn { n_trained, slow, fast } => [
                    2.0.arrays(name),
                    n_trained.arrays("n_trained"),
                    slow.arrays("slow"),
                    fast.arrays("fast"),
                ]
                .concat(),
            }
        }
    }

    /// A head's width, its base, a factor and a rule.
    pub struct Input {
        d: usize,
        base: f64,
        factor: f64,
        stretch: Stretch,
    }

    arrays!(Input: d, base, factor, stretch);

    /// What the reader writes.
    pub type Frequencies =
        fn(d: usize, base: f64, factor: f64, stretch: Stretch) -> Vec<f64>;

    pub(crate) static EXERCISE: Exercise<Input, Vec<f64>> =
        Exercise::new("stretched_rotary", cases, |_, Place { column, .. }| {
            format!("the frequency of pair {column}")
        });

    /// Checks what gives the frequencies of d/2 pairs.
    pub fn check(answer: Frequencies) -> ExitCode {
        EXERCISE.check(move |Input { d, base, factor, stretch }| {
            answer(*d, *base, *factor, *stretch)
        })
    }

    // Nothing in it is random.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |d: usize, base: f64, factor: f64, stretch: Stretch| Case {
            sizes: format!("d {d}, base {base}, factor {factor}, {stretch:?}"),
            square: false,
            input: Input { d, base, factor, stretch },
        };
        let yarn = |n_trained, slow, fast| Stretch::Yarn { n_trained, slow, fast };
        vec![
            case(8, 100.0, 4.0, Stretch::Interpolated),
            case(6, 50.0, 2.0, Stretch::Interpolated),
            case(8, 100.0, 4.0, Stretch::NtkAware),
            case(6, 50.0, 2.0, Stretch::NtkAware),
            case(8, 100.0, 4.0, yarn(64.0, 1.0, 8.0)),
            case(12, 1000.0, 8.0, yarn(128.0, 1.0, 16.0)),
        ]
    }
}

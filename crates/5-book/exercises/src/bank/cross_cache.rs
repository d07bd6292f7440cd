//! A decoder that writes token by token, with a cache for each of its two attentions.

use std::cell::Cell;
use std::process::ExitCode;

use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix, softmax_rows};
use block::{DecoderBlock, DecoderMasks, Norm, Sublayer};
use fused_heads::FusedAttention;

use super::inputs;
use crate::compare::same_answer;
use crate::{Answer, Case, Exercise, Place, Section};

pub use variants::Cache;

mod cross;
mod own;
#[cfg(test)]
mod tests;

/// A projection that counts the rows that go through it.
pub struct Projection {
    linear: Linear,
    n_rows: Cell<usize>,
}

impl Projection {
    fn new(linear: &Linear) -> Self {
        Self { linear: linear.clone(), n_rows: Cell::new(0) }
    }

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
        let [w_q, w_k, w_v] = [&w.w_q, &w.w_k, &w.w_v].map(Projection::new);
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
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, `v` is `[n_kv, d_v]`, the result `[n_q, d_v]`.
pub fn attend(q: &Matrix, k: &Matrix, v: &Matrix) -> Matrix {
    softmax_rows(q * k.transpose() / (q.ncols() as f64).sqrt()) * v
}

/// A source through the encoder, and the target's tokens as they come in.
pub struct Input {
    own: HeadParameters,
    cross: HeadParameters,
    memory: Matrix,
    tokens: Matrix,
}

/// What came of all steps.
pub struct Steps {
    /// The output of each step.
    outs: Vec<Matrix>,
    /// How many rows went through W^K and W^V of the own attention, and of the
    /// cross-attention.
    n_projected: [usize; 4],
    /// How many rows each of the caches holds in the end.
    n_kept: [usize; 2],
}

impl Answer for Steps {
    fn parts(&self) -> Vec<Matrix> {
        let row = |counts: &[usize]| {
            Matrix::from_fn(1, counts.len(), |_, column| counts[column] as f64)
        };
        let counts = [row(&self.n_projected), row(&self.n_kept)];
        self.outs.iter().cloned().chain(counts).collect()
    }

    fn part_name(&self, part: usize) -> String {
        format!("the output of step {part} (counted from 0)")
    }
}

impl Input {
    /// Step by step from empty caches. Of outputs that are wrong, how many rows were projected
    /// for them and kept says nothing, so it is counted only where they are right.
    fn steps(
        &self,
        step: impl Fn(&Decoder, &Matrix, &Matrix, &mut Caches) -> Matrix,
    ) -> Steps {
        let (own, cross) = (Attention::new(&self.own), Attention::new(&self.cross));
        let mut caches = Caches { own: own.cache(), cross: cross.cache() };
        let decoder = Decoder { own, cross };
        let so_far = |n: usize| self.tokens.rows(0, n).into_owned();
        let outs: Vec<Matrix> = (1..=self.tokens.nrows())
            .map(|n| step(&decoder, &self.memory, &so_far(n), &mut caches))
            .collect();
        let right = self.right();
        if !same_answer(&outs, &right.outs) {
            return Steps { outs, ..right };
        }
        let Decoder { own, cross } = &decoder;
        let projections = [&own.w_k, &own.w_v, &cross.w_k, &cross.w_v];
        Steps {
            outs,
            n_projected: projections.map(|w| w.n_rows.get()),
            n_kept: [&caches.own, &caches.cross].map(|cache| cache.keys().nrows()),
        }
    }

    /// All tokens at once through the block, under a causal mask and without a cache.
    fn right(&self) -> Steps {
        let (n_target, d_model) = self.tokens.shape();
        let n_source = self.memory.nrows();
        let attention = |head: &HeadParameters| {
            let same = Matrix::identity(d_model, d_model);
            let w_o = Linear { weight: same, bias: None };
            let layer = LayerParameters::new(vec![head.clone()], w_o);
            Sublayer::new(FusedAttention::new(&layer.expect("a head")), Norm::None)
        };
        let block = DecoderBlock {
            attention: attention(&self.own),
            cross_attention: attention(&self.cross),
            feed_forward: None,
        };
        let masks = DecoderMasks { own: &Mask::Causal, memory: &Mask::None };
        let decoded = block.forward(&self.tokens, &self.memory, masks);
        let out = decoded.expect("sizes fit").out;
        Steps {
            outs: (0..n_target).map(|row| out.rows(row, 1).into_owned()).collect(),
            n_projected: [n_target, n_target, n_source, n_source],
            n_kept: [n_target, n_source],
        }
    }
}

/// What the reader writes: from the encoder's `memory`, `[n_source, d_model]`, the target's
/// `tokens` so far, `[n_target, d_model]`, and what was kept of the steps before, the new
/// token's output, `[1, d_model]`.
pub type Step =
    fn(w: &Decoder, memory: &Matrix, tokens: &Matrix, caches: &mut Caches) -> Matrix;

/// Checks an answer.
pub fn check(answer: Step) -> ExitCode {
    EXERCISE.check(move |input| input.steps(answer))
}

const CHAPTER: &str = "from-one-sequence-to-another";
const ASKS: Section = Section::new(CHAPTER, "Who asks, who answers");
const CACHES: Section = Section::new(CHAPTER, "Written letter by letter: two caches");
const KV: Section = Section::new("variants", "The KV cache");
const RESIDUAL: Section =
    Section::new("the-block", "The residual, and pre-norm or post-norm");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Steps> = Exercise {
    name: "cross_cache",
    title: "Computed once, and at each step",
    read: CACHES,
    begin: "two steps by hand: which keys and values does the second one need that the first \
        had already, and which are new?",
    print: "the shape of what each cache holds, at each step",
    passed: "The source is projected once, and each token of the target once: what a step \
        computes does not grow with what is written, only what it reads.",
    cases,
    reference: Input::right,
    mistakes: &[
        own::CACHED_ONCE,
        own::ALONE,
        own::BEFORE_ITSELF,
        own::ALL_AGAIN,
        own::ALL_APPENDED,
        own::FIRST_TOKEN,
        own::EXCHANGED,
        own::KEYS_AS_VALUES,
        own::VALUES_AS_KEYS,
        own::MEMORY_FIRST,
        own::READS_SOURCE,
        own::LEFT_OUT,
        own::NO_RESIDUAL,
        cross::EACH_STEP,
        cross::APPENDED,
        cross::OF_WHAT_ASKS,
        cross::OF_TOKENS,
        cross::OF_FIRST_QUERY,
        cross::OF_FIRST_TOKEN,
        cross::TARGET_AMONG_KEYS,
        cross::A_POSITION_A_STEP,
        cross::FIRST_STEP_ALONE,
        cross::READS_OWN,
        cross::ONE_CACHE,
        cross::WRONG_CACHE,
        cross::OWN_WEIGHTS,
        cross::OWN_QUERY,
        cross::TOKEN_ASKS,
        cross::EXCHANGED,
        cross::KEYS_AS_VALUES,
        cross::VALUES_AS_KEYS,
        cross::LEFT_OUT,
        cross::NO_RESIDUAL,
        cross::RESIDUAL_OF_TOKEN,
        cross::BEFORE_OWN,
    ],
    place: |input, Place { part, column, .. }| {
        const PROJECTIONS: [&str; 4] = [
            "W^K of the own attention",
            "W^V of the own attention",
            "W^K of the cross-attention",
            "W^V of the cross-attention",
        ];
        const CACHES: [&str; 2] = ["the target", "the source"];
        let n_steps = input.tokens.nrows();
        match part.checked_sub(n_steps) {
            None => format!("step {part}, feature {column}"),
            Some(0) => format!(
                "outputs are right; rows through {} in {n_steps} steps",
                PROJECTIONS[column]
            ),
            Some(_) => format!(
                "outputs are right; rows kept of {} after {n_steps} steps",
                CACHES[column]
            ),
        }
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_target: usize, n_source: usize, [d_model, d_k]: [usize; 2], seed| {
        let head = |seed| {
            let dims = inputs::dims(d_model, 1, d_k, d_model);
            inputs::layer(dims, seed).heads()[0].clone()
        };
        Case {
            sizes: format!(
                "{n_target} steps, {n_source} source positions, d_model {d_model}, d_k {d_k}"
            ),
            square: n_target == n_source && d_k == d_model,
            input: Input {
                own: head(seed),
                cross: head(seed + 1),
                memory: inputs::matrix(n_source, d_model, seed + 2),
                tokens: inputs::matrix(n_target, d_model, seed + 3),
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

/// The newest token, `[1, d_model]`.
fn newest(tokens: &Matrix) -> Matrix {
    tokens.rows(tokens.nrows() - 1, 1).into_owned()
}

/// Projects these rows and keeps their keys and values.
fn keep(cache: &mut Cache, w: &Attention, x: &Matrix) {
    append(cache, &w.w_k.forward(x), &w.w_v.forward(x));
}

fn append(cache: &mut Cache, k: &Matrix, v: &Matrix) {
    cache.append(k, v).unwrap_or_else(|error| panic!("{error}"));
}

/// What the query of x reads from a cache.
fn read(w: &Attention, x: &Matrix, cache: &Cache) -> Matrix {
    attend(&w.w_q.forward(x), cache.keys(), cache.values())
}

/// The first half of a step: the token, and what it reads of the target.
fn own_half(w: &Decoder, tokens: &Matrix, caches: &mut Caches) -> Matrix {
    let y = newest(tokens);
    keep(&mut caches.own, &w.own, &y);
    &y + read(&w.own, &y, &caches.own)
}

/// The second half: what came of the first, and what that reads of the source.
fn cross_half(w: &Decoder, memory: &Matrix, h: &Matrix, caches: &mut Caches) -> Matrix {
    if caches.cross.n_seen() == 0 {
        keep(&mut caches.cross, &w.cross, memory);
    }
    h + read(&w.cross, h, &caches.cross)
}

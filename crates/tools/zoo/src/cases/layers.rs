//! The layers: each has what some mistakes need, in sizes that all differ where they can.

use attention::{Linear, Matrix, Rng, RowVector, SeedableRng, random_matrix};
use diagnosis::recipe::Packing;
use diagnosis::{
    Corner, HeadNorm, Intent, NormKind, Pairing, Positions, Record, Weights,
};

use super::Case;

/// Where keys and values come from.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Own,
    /// The queries are the last of the keys.
    Cache,
    Other,
    /// Keys and values each from tokens of their own.
    Two,
}

#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    /// Queries, and keys.
    n: [usize; 2],
    d_in: [usize; 3],
    d_k: usize,
    d_v: usize,
    source: Source,
}

const SELF: Sizes =
    Sizes { batch: 2, n: [5; 2], d_in: [12; 3], d_k: 4, d_v: 4, source: Source::Own };
const CACHE: Sizes = Sizes { n: [3, 6], source: Source::Cache, ..SELF };
const OTHER: Sizes = Sizes { source: Source::Other, batch: 3, ..SELF };
const TWO: Sizes = Sizes { source: Source::Two, ..SELF };
const NARROW: Sizes = Sizes { n: [4, 6], d_in: [10, 7, 9], d_v: 3, ..TWO };
const ROTATED: Sizes = Sizes { d_in: [16; 3], d_k: 8, d_v: 8, ..CACHE };

/// What the weights, the inputs and the masks have besides.
type Change<'a> = &'a dyn Fn(&mut Record, &mut Rng);

/// All of them, the simplest first.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let mut add = |name, sizes: Sizes, intent: Intent, change: Change<'_>| {
        let rng = &mut Rng::seed_from_u64(all.len() as u64 + 1);
        let weights = weights(sizes, &intent, rng);
        let mut record = Record::new(weights, inputs(sizes, rng));
        change(&mut record, rng);
        all.push(Case { name, record, intent });
    };
    let three = || Intent::heads(3);
    let causal = || Intent { causal: Some(Corner::BottomRight), ..three() };
    let rotary = |pairing| Some((pairing, 10_000.0));
    let nothing = |_: &mut Record, _: &mut Rng| ();
    add("plain", SELF, three(), &nothing);
    add("causal", SELF, causal(), &nothing);
    add("cross", TWO, three(), &nothing);
    add("widths", NARROW, three(), &nothing);
    add("mask", SELF, three(), &|it, _| it.masks.pairs = Some(vec![open(0)]));
    add("padding", SELF, causal(), &|it, _| it.masks.padding = Some(padding()));
    let of_sequences =
        |it: &mut Record| it.masks.pairs = Some((0..3).map(open).collect());
    add("mask-of-sequences", OTHER, three(), &|it, _| of_sequences(it));
    let of_heads = |it: &mut Record| it.masks.pairs = Some((0..6).map(open).collect());
    add("mask-of-heads", SELF, three(), &|it, _| of_heads(it));
    add("added", SELF, three(), &|it, rng| {
        it.masks.added = Some(vec![random_matrix(5, 5, 1.0, rng)]);
    });
    add("loud", SELF, Intent { scale: Some(4_000.0), ..causal() }, &nothing);
    add("cache", CACHE, causal(), &nothing);
    let by_heads = Intent { packing: Packing::HeadByHead, ..three() };
    add("packed-by-heads", SELF, by_heads, &nothing);
    let shared = Intent { n_kv_heads: 2, ..Intent::heads(4) };
    let halves = Intent { rotary: rotary(Pairing::Halves), ..shared.clone() };
    add("shared-keys", SELF, shared, &nothing);
    let halves = Intent { causal: Some(Corner::BottomRight), ..halves };
    add("rotary-halves", ROTATED, halves, &nothing);
    let pairs = Intent { rotary: rotary(Pairing::Pairs), ..three() };
    let listed = Intent { positions: Some(left_padded()), ..pairs.clone() };
    add("rotary-pairs", SELF, listed, &|it, rng| norms(it, false, rng));
    add("whole-norms", SELF, pairs, &|it, rng| norms(it, true, rng));
    let cap = Intent { cap: Some(1.5), scale: Some(0.9), ..causal() };
    add("cap", SELF, cap, &|it, _| it.weights.sinks = Some(vec![1.0, -1.0, 0.5]));
    let slopes = Some(Intent::paper_slopes(3));
    let window = Intent { slopes, window: Some(2), offset: Some(1), ..causal() };
    add("window", SELF, window, &nothing);
    add("top-left", CACHE, Intent { causal: Some(Corner::TopLeft), ..three() }, &nothing);
    all
}

/// W and b, packed where all inputs are of one width, as PyTorch has them.
fn weights(sizes: Sizes, intent: &Intent, rng: &mut Rng) -> Weights {
    let Sizes { d_in, d_k, d_v, .. } = sizes;
    let Intent { n_heads: h, n_kv_heads: h_kv, packing, .. } = *intent;
    let mut linear = |d_in: usize, d_out: usize| {
        let mut linear = Linear::<f64>::random(d_in, d_out, true, rng);
        linear.weight *= 1.5;
        linear.bias = Some(row(d_out, rng));
        linear
    };
    let widths = [h * d_k, h_kv * d_k, h_kv * d_v];
    let output = Some(linear(h * d_v, d_in[0]));
    if d_in != [d_in[0]; 3] {
        return Weights::new(
            [0, 1, 2].map(|role| linear(d_in[role], widths[role])),
            output,
        );
    }
    let packed = linear(d_in[0], widths.iter().sum());
    Weights::of_packed(packed, packing, widths, d_k, output).expect("widths that fit")
}

fn inputs(sizes: Sizes, rng: &mut Rng) -> [Vec<Matrix>; 3] {
    let Sizes { batch, n: [n_q, n_kv], d_in, source, .. } = sizes;
    let mut tokens = |n: usize, width: usize| -> Vec<Matrix> {
        (0..batch).map(|_| random_matrix(n, width, 1.0, rng)).collect()
    };
    let key = tokens(n_kv, d_in[1]);
    let query = match source {
        Source::Own => key.clone(),
        Source::Cache => {
            key.iter().map(|m| m.rows(n_kv - n_q, n_q).into_owned()).collect()
        }
        Source::Other | Source::Two => tokens(n_q, d_in[0]),
    };
    let value = if source == Source::Two { tokens(n_kv, d_in[2]) } else { key.clone() };
    [query, key, value]
}

fn row(n: usize, rng: &mut Rng) -> RowVector<f64> {
    random_matrix::<f64>(1, n, 0.5, rng).row(0).into_owned()
}

/// Norms of queries and keys, over each head, or over all together.
fn norms(record: &mut Record, is_whole: bool, rng: &mut Rng) {
    let norm = |bias: Option<RowVector<f64>>, gain: RowVector<f64>| HeadNorm {
        gain: gain.add_scalar(1.0),
        kind: if bias.is_some() { NormKind::Layer } else { NormKind::RootMeanSquare },
        bias,
        is_whole,
        eps: 1e-6,
    };
    let n = if is_whole { 12 } else { 4 };
    let both = [0, 1].map(|_| norm(is_whole.then(|| row(n, rng)), row(n, rng)));
    record.weights.norms = Some(both);
}

/// Sequences of three and of four tokens, and of five.
fn padding() -> Vec<Vec<bool>> {
    [3, 4].map(|length| (0..5).map(|t| t < length).collect()).to_vec()
}

/// A mask of five queries and keys, each another; some leave a query no key.
fn open(seed: usize) -> Matrix<bool> {
    Matrix::from_fn(5, 5, |i, j| {
        let is_empty = seed % 2 == 1 && i == 3;
        !is_empty && (i == j || !(2 * i + 3 * j + seed).is_multiple_of(4 - seed % 2))
    })
}

/// Positions where one token, or two, are padding.
fn left_padded() -> Positions {
    let list =
        |padding: usize| (0..5usize).map(move |t| t.saturating_sub(padding) as f64);
    let lists: Vec<Vec<f64>> = [1, 2].map(|padding| list(padding).collect()).to_vec();
    Positions { queries: lists.clone(), keys: lists }
}

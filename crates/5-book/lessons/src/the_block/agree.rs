//! Both or neither: what no readout of two heads can tell, and a feed-forward layer can.

use anyhow::Result;
use attention::{
    HeadParameters, LayerParameters, Linear, Mask, Matrix, Rng, SeedableRng,
};
use block::{Activation, Block, FeedForward, Norms, Sublayer};
use fused_heads::FusedAttention;
use gradients::{Adam, Optimiser, cross_entropy};

/// What the entries of a token are: three that say what it is, its number (1 for the
/// singular, −1 for the plural), what the two heads write, and the answer.
pub const FEATURES: [&str; 8] =
    ["noun", "verb", "asks", "number", "noun's number", "verb's number", "no", "yes"];
/// The tokens of a sentence.
pub const TOKENS: [&str; 3] = ["noun", "verb", "agree?"];
/// How many sentences there are: each combination of two numbers.
pub const N_SENTENCES: usize = 4;
/// How many steps a training takes.
pub const N_STEPS: usize = 300;
const RATE: f64 = 0.03;
/// How many starts each layer gets.
pub const N_STARTS: u64 = 10;
/// The widths that are tried.
pub const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];
/// How sharply the heads look.
const SHARPNESS: f64 = 4.0;
/// Where the token stands that asks.
const ASKS: usize = 2;
/// The first of the two entries that answer.
const NO: usize = 6;

/// "The pilot flies", "The pilot fly", "The pilots flies", "The pilots fly":
/// `[4 · 3, 8]`.
pub fn sentences() -> Matrix {
    let mut x = Matrix::zeros(N_SENTENCES * TOKENS.len(), FEATURES.len());
    for (s, [noun, verb]) in numbers().into_iter().enumerate() {
        for token in 0..TOKENS.len() {
            x[(s * TOKENS.len() + token, token)] = 1.0;
        }
        x[(s * TOKENS.len(), 3)] = noun;
        x[(s * TOKENS.len() + 1, 3)] = verb;
    }
    x
}

/// The number of the noun and of the verb, sentence by sentence.
pub fn numbers() -> [[f64; 2]; N_SENTENCES] {
    [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
}

/// Whether they agree: 1 for yes.
fn classes() -> Vec<usize> {
    numbers().iter().map(|[noun, verb]| usize::from(noun == verb)).collect()
}

/// Two heads, set by hand: the token that asks looks for the noun in head 0 and for the
/// verb in head 1, and each hands over its number. W^O writes the two side by side.
///
/// # Errors
/// None; the sizes fit.
pub fn heads() -> Result<FusedAttention> {
    let n = FEATURES.len();
    let one = |feature: usize, size: f64| {
        let mut weight = Matrix::zeros(n, 1);
        weight[feature] = size;
        Linear::new(weight, None)
    };
    let looks_for = |token: usize| -> Result<HeadParameters> {
        Ok(HeadParameters {
            w_q: one(ASKS, SHARPNESS)?,
            w_k: one(token, 1.0)?,
            w_v: one(3, 1.0)?,
        })
    };
    let mut w_o = Matrix::zeros(2, n);
    w_o[(0, 4)] = 1.0;
    w_o[(1, 5)] = 1.0;
    let layer = LayerParameters::new(
        vec![looks_for(0)?, looks_for(1)?],
        Linear::new(w_o, None)?,
    )?;
    Ok(FusedAttention::new(&layer))
}

/// What attention leaves of the token that asks, sentence by sentence: `[4, 8]`.
///
/// # Errors
/// None; the sizes fit.
pub fn asking() -> Result<Matrix> {
    let attention = Sublayer::new(heads()?, Norms::none());
    let block = Block::new(attention, None);
    let mut rows = Matrix::zeros(N_SENTENCES, FEATURES.len());
    for s in 0..N_SENTENCES {
        let sentence = sentences().rows(s * TOKENS.len(), TOKENS.len()).into_owned();
        rows.set_row(s, &block.forward(&sentence, &Mask::None)?.out.row(ASKS));
    }
    Ok(rows)
}

/// A layer of two projections that has learned nothing yet.
pub fn plain(activation: Activation, d_ff: usize, seed: u64) -> FeedForward {
    let rng = &mut Rng::seed_from_u64(seed);
    FeedForward { activation, ..FeedForward::random(FEATURES.len(), d_ff, rng) }
}

/// The same with a gate, of three.
pub fn gated(activation: Activation, d_ff: usize, seed: u64) -> FeedForward {
    let rng = &mut Rng::seed_from_u64(seed);
    FeedForward { activation, ..FeedForward::random_gated(FEATURES.len(), d_ff, rng) }
}

/// A layer of a width, with a seed.
pub type Fresh = fn(usize, u64) -> FeedForward;

/// The layers that are tried.
pub const KINDS: [(&str, Fresh); 5] = [
    ("no activation", |d_ff, seed| plain(Activation::None, d_ff, seed)),
    ("ReLU", |d_ff, seed| plain(Activation::Relu, d_ff, seed)),
    ("GELU", |d_ff, seed| plain(Activation::Gelu, d_ff, seed)),
    ("gated, none", |d_ff, seed| gated(Activation::None, d_ff, seed)),
    ("gated, SiLU", |d_ff, seed| gated(Activation::Silu, d_ff, seed)),
];

/// How many sentences each start answers rightly, by kind and width.
///
/// # Errors
/// None; the sizes fit.
pub fn answered() -> Result<Vec<Vec<Vec<usize>>>> {
    let starts = |fresh: Fresh, d_ff| {
        (0..N_STARTS).map(|seed| train(&mut fresh(d_ff, seed))).collect()
    };
    KINDS
        .iter()
        .map(|(_, fresh)| WIDTHS.map(|d_ff| starts(*fresh, d_ff)).into_iter().collect())
        .collect()
}

/// What [`answered`] came to: computed, it takes some seconds. A test compares.
///
/// # Errors
/// If the file is another.
pub fn kept_answered() -> Result<Vec<Vec<Vec<usize>>>> {
    Ok(serde_json::from_str(include_str!("../../data/answered.json"))?)
}

/// Trains a layer behind the heads, and returns how many of the four sentences it answers
/// rightly.
///
/// # Errors
/// A layer of another width.
pub fn train(layer: &mut FeedForward) -> Result<usize> {
    let x = asking()?; // [4, 8]
    let mut adam = Adam::new(RATE);
    for _ in 0..N_STEPS {
        let (y, hidden) = layer.pass(&x)?;
        let loss = cross_entropy(&logits(&(&x + y)), &classes())?;
        let mut d_y = Matrix::zeros(N_SENTENCES, FEATURES.len());
        d_y.columns_mut(NO, 2).copy_from(&loss.gradient);
        let d = layer.backward(&x, &hidden, &d_y)?;
        adam.step_entries(layer, &d.d_layer)?;
    }
    right(layer)
}

/// The last two entries of each token: no, yes.
fn logits(tokens: &Matrix) -> Matrix {
    tokens.columns(NO, 2).into_owned()
}

/// How many of the four sentences are answered rightly.
///
/// # Errors
/// A layer of another width.
pub fn right(layer: &FeedForward) -> Result<usize> {
    let x = asking()?;
    let logits = logits(&(&x + layer.forward(&x)?));
    let said = logits.row_iter().map(|row| usize::from(row[1] > row[0]));
    Ok(said.zip(classes()).filter(|(said, class)| said == class).count())
}

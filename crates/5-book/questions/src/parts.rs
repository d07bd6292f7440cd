//! What several questions are made of.

use anyhow::{Context, Result};
use attention::{
    Dims, LayerParameters, Mask, Matrix, Real, Rng, SeedableRng, random_matrix,
};
use lessons::trained;
use model_files::Sentence;

/// Sums in another order differ by less than this.
pub const ROUNDING: f64 = 1e-9;

/// A layer of random numbers: no question depends on which they are.
pub fn layer<T: Real>(dims: Dims, bias: bool) -> LayerParameters<T> {
    LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(1))
}

/// Random tokens, `[n_tokens, width]`.
pub fn tokens<T: Real>(n_tokens: usize, width: usize) -> Matrix<T> {
    random_matrix(n_tokens, width, 1.0, &mut Rng::seed_from_u64(2))
}

/// The sentence of the trained layer that is written so.
pub fn sentence(text: &str) -> Result<&'static Sentence> {
    let found = trained::layer()?.sentences.iter().find(|it| it.text == text);
    found.with_context(|| format!("the trained layer has no sentence “{text}”"))
}

/// That sentence, with the map of each head of the trained layer.
pub fn with_maps(text: &str) -> Result<(&'static Sentence, Vec<Matrix>)> {
    let sentence = sentence(text)?;
    Ok((sentence, trained::maps(&trained::layer()?.parameters, &sentence.input)?))
}

/// A number, and 0 with words for it where it is only rounding.
pub fn rounded(x: f64, rounding: f64, words: &str) -> (f64, String) {
    if x < rounding { (0.0, words.to_owned()) } else { (x, format!("{x:.3}")) }
}

/// A bar a token, under what they are.
pub fn bars(what: &str, tokens: &[String], shares: &[f64]) -> String {
    let label = tokens.iter().map(|token| token.chars().count()).max().unwrap_or(0);
    let most = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let bar = |(token, share): (&String, &f64)| {
        let bar = "█".repeat((share / most * 30.0).round() as usize);
        let share = format!("{share:.3}");
        let line = format!("{token:>label$}  {}  {bar}", share.trim_start_matches('0'));
        line.trim_end().to_owned()
    };
    let bars = tokens.iter().zip(shares).map(bar);
    std::iter::once(what.to_owned()).chain(bars).collect::<Vec<_>>().join("\n")
}

/// What a mask leaves open, `x` where a query may attend to a key; a row a query, behind
/// what it is called.
pub fn picture(mask: &Mask, (n_q, n_kv): (usize, usize), name: &str) -> String {
    let cell = |i, j| {
        if mask.added((i, j), (n_q, n_kv)).is_some() { " x" } else { " ." }
    };
    let row = |i: usize| (0..n_kv).map(|j| cell(i, j)).collect::<String>();
    (0..n_q).map(|i| format!("{name} {i} {}\n", row(i))).collect()
}

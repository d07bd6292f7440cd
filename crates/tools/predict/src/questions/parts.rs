//! What several questions are made of.

use anyhow::{Context, Result};
use attention::{
    Attended, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, Real, Rng,
    SeedableRng, ShapeStep, ShapeTrace, random_matrix,
};
use fused_heads::FusedAttention;
use model_files::{Sentence, TrainedLayer};

/// A layer of random numbers. What is asked of it is the same for any numbers.
pub fn layer<T: Real>(dims: Dims, bias: bool) -> LayerParameters<T> {
    LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(1))
}

/// Random tokens, `[n_tokens, width]`.
pub fn tokens<T: Real>(n_tokens: usize, width: usize) -> Matrix<T> {
    random_matrix(n_tokens, width, 1.0, &mut Rng::seed_from_u64(2))
}

/// A sentence through the trained layer.
pub fn attended(layer: &TrainedLayer, sentence: &Sentence) -> Result<Attended> {
    let fused = FusedAttention::new(&layer.parameters);
    Ok(fused.self_attend(&sentence.input, &Mask::None)?)
}

/// The first place of a word in a sentence.
pub fn at(sentence: &Sentence, word: &str) -> Result<usize> {
    let place = sentence.tokens.iter().position(|token| token == word);
    place.with_context(|| format!("“{}” has no {word}", sentence.text))
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

/// The place of the largest.
pub fn largest(numbers: &[f64]) -> Result<usize> {
    let places = 0..numbers.len();
    let largest = places.max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    largest.context("there is a largest of some numbers")
}

/// The step of a trace whose formula begins so, and its line as the trace prints it.
pub fn step<'a>(trace: &'a ShapeTrace, formula: &str) -> Result<(&'a ShapeStep, String)> {
    let step = trace.steps().find(|step| step.formula.starts_with(formula));
    let text = trace.to_string();
    let line = text.lines().find(|line| line.trim_start().starts_with(formula));
    let found = step.zip(line.map(|line| line.trim().to_owned()));
    found.with_context(|| format!("the trace has no step {formula}"))
}

/// A sentence of the trained layer, by its name: a question shows it before anything is
/// loaded.
pub fn sentence(name: &str) -> &'static str {
    match name {
        "pilot" => "The pilot flew the plane to Paris.",
        "river_banks" => "The river banks overflowed.",
        "bank_loan" => "The bank approved the loan.",
        "animal_tired" => "The animal didn't cross the street because it was too tired.",
        other => unreachable!("a question names a sentence {other}"),
    }
}

/// `a, b and c`.
pub fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sentences_are_those_of_the_layer() {
        for known in model_files::minilm().unwrap().sentences {
            assert_eq!(super::sentence(known.name), known.text);
        }
    }
}

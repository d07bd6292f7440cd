//! “Trained heads”: what the sources claim of trained heads, under three measures with controls,
//! and where attention goes.

pub mod at_once;
pub mod claims;
pub mod hunt;
mod links;
pub mod measures;
pub mod others;
mod reached;
pub mod sinks;
pub mod verdicts;
pub mod whole;
pub mod without;

use anyhow::Result;
use figures::{Figure, Heads, WeightRow, average, head_maps, head_view};

use crate::args::{Args, Entry};
use crate::numbers::share;
use crate::trained::{self, at, maps};
use measures::{MEASURES, Maps};
use reached::Measure;

pub(crate) const FIGURES: &[Entry] = &[
    ("heads-at-once", at_once::figure),
    ("trained-view", trained_view),
    ("three-measures", three_measures),
    ("one-key", one_key),
    ("trained-maps", trained_maps),
    ("nine-links", links::figure),
    ("six-kinds", whole::six_kinds),
    ("seven-pairs", whole::seven_pairs),
    ("dropped-or-masked", sinks::figure),
];

/// The sentence about the animal, head 11 first.
fn trained_view(_: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let sentence = layer.sentence("animal_tired")?;
    let attn = maps(&layer.parameters, &sentence.input)?;
    let heads = Heads::of_tokens(&attn, &sentence.tokens)?.showing(11)?;
    Ok(head_view(
        "In head 11, “animal” gets the largest weight of all words from every token",
        &heads,
    ))
}

/// The best of twelve heads for every pair of words, under each measure: trained, random,
/// shuffled.
fn three_measures(_: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let sentences = &layer.sentences;
    let layers = [
        ("trained", vec![measures::measured(&layer.parameters, sentences)?]),
        ("random", others::random_layers(others::DRAWN_LAYERS)?),
        ("trained entries, shuffled", others::shuffled_layers(others::DRAWN_LAYERS)?),
    ];
    let panel = |measure: usize| {
        let shares = |layers: &[[Maps; 3]]| {
            let of = |layer: &[Maps; 3]| claims::all_pairs(&layer[measure], sentences);
            layers.iter().flat_map(of).collect()
        };
        let list = |(name, layers): &(&str, Vec<_>)| ((*name).to_owned(), shares(layers));
        let lists = layers.iter().map(list).collect();
        Measure { name: MEASURES[measure].to_owned(), lists }
    };
    let title = "By all measures, many trained links take a third of a row or more";
    Ok(reached::figure(title, &[0, 1, 2].map(panel))?)
}

/// What every token gives “animal”, in head 11 and in head 3.
fn one_key(_: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let sentence = layer.sentence("animal_tired")?;
    let (attn, animal) =
        (maps(&layer.parameters, &sentence.input)?, at(sentence, "animal")?);
    let row = |head: usize| WeightRow {
        name: format!("head {head} → animal"),
        shares: attn[head].column(animal).iter().copied().collect(),
    };
    let it = at(sentence, "it")?;
    let title = format!(
        "Head 11: “it” gives “animal” {}, and the first “the” gives it {}",
        share(attn[11][(it, animal)]),
        share(attn[11][(at(sentence, "the")?, animal)])
    );
    Ok(average(title, &sentence.tokens, &[row(11), row(3)])?)
}

/// `sentence=…`, all twelve maps.
fn trained_maps(args: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let sentence = layer.sentence(args.get("sentence").unwrap_or("bank_loan"))?;
    let attn = maps(&layer.parameters, &sentence.input)?;
    let title = "Twelve heads read one sentence: most share a strong first column, [CLS]";
    Ok(head_maps(title, &Heads::of_tokens(&attn, &sentence.tokens)?))
}

//! `cargo learn tour`: a sentence through the trained layer, in the terminal.

use std::fmt::Write;

use anyhow::{Context, Result};
use attention::{Attended, LayerParameters, Mask, MultiHeadAttention};
use figures::{Heads, Link, mean_of_others};
use fused_heads::FusedAttention;
use model_files::{Sentence, TrainedLayer};
use per_head::{NaiveAttention, PerHeadAttention, SumOfHeadsAttention};

use workshop::output::print;

/// Which sentence goes through the layer.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One of pilot, river_banks, bank_loan, animal_tired
    #[arg(long, default_value = "pilot")]
    sentence: String,
}

/// Prints the tour.
///
/// # Errors
/// An unknown sentence, with the known ones.
pub fn run(args: &Args) -> Result<()> {
    let layer = model_files::minilm()?;
    let sentence = layer.sentence(&args.sentence)?;
    Ok(print(tour(&layer, sentence)?)?)
}

/// Every stage with the same parameters, the definition first.
fn every_stage(parameters: &LayerParameters) -> [Box<dyn MultiHeadAttention<f64>>; 4] {
    [
        Box::new(NaiveAttention::new(parameters.clone())),
        Box::new(PerHeadAttention::new(parameters.clone())),
        Box::new(SumOfHeadsAttention::new(parameters.clone())),
        Box::new(FusedAttention::new(parameters)),
    ]
}

fn tour(layer: &TrainedLayer, sentence: &Sentence) -> Result<String> {
    let dims = layer.parameters.dims();
    let d_k = dims.d_k() as f64;
    let results = every_stage(&layer.parameters)
        .iter()
        .map(|stage| Ok((stage.name(), stage.self_attend(&sentence.input, &Mask::None)?)))
        .collect::<Result<Vec<_>>>()?;
    let (_, naive) = results.first().context("there is a first stage")?;
    let per_head = PerHeadAttention::new(layer.parameters.clone());
    let fused = FusedAttention::new(&layer.parameters);

    Ok([
        format!(
            "{}\n{} word pieces: {}\n\
             The last attention layer of all-MiniLM-L6-v2: d_model {}, {} heads, \
             d_k {}, √d_k ≈ {:.2}\n",
            sentence.text,
            sentence.tokens.len(),
            sentence.tokens.join(" "),
            dims.d_model(),
            dims.n_heads(),
            dims.d_k(),
            d_k.sqrt(),
        ),
        section(
            "The same layer, computed in several ways",
            &agreement(&results, sentence)?,
        ),
        section("The strongest link of each head", &links(naive, &sentence.tokens)?),
        section(
            "The shapes of one pass, as the formula counts: head_1 is head 0 above",
            &per_head.trace(&sentence.input)?.to_string(),
        ),
        section("The parameters", &fused.parameters().count().to_string()),
    ]
    .join("\n"))
}

fn section(title: &str, text: &str) -> String {
    format!("{title}\n{}\n{text}", "─".repeat(title.chars().count()))
}

/// How far every stage is from the definition, and the definition from the reference.
fn agreement(results: &[(&str, Attended)], sentence: &Sentence) -> Result<String> {
    let reference =
        Attended { out: sentence.output.clone(), attn: sentence.attn.clone() };
    let (first, definition) = &results[0];
    let mut text = format!("{:<14} the definition: token by token, in loops\n", first);
    for (name, result) in &results[1..] {
        let difference = definition.max_abs_diff(result)?;
        writeln!(text, "{name:<14} largest difference from it {difference:.1e}")?;
    }
    let difference = definition.max_abs_diff(&reference)?;
    writeln!(
        text,
        "{:<14} largest difference from it {difference:.1e} (float32)",
        "PyTorch"
    )?;
    Ok(text)
}

/// Each head's largest share between two different words, and its control: how much the
/// other tokens attend to the same key in that head, on average.
fn links(attended: &Attended, tokens: &[String]) -> Result<String> {
    let heads = Heads::of_tokens(&attended.attn, tokens)?;
    let is_word =
        |token: &str| token.starts_with(|c: char| c.is_alphanumeric() || c == '#');
    let mut text = format!("{:<29}share  others\n", "");
    for head in 0..attended.attn.len() {
        let strongest = heads.links(head).into_iter().find(|link| {
            link.query != link.key
                && is_word(&tokens[link.query])
                && is_word(&tokens[link.key])
        });
        match strongest {
            Some(Link { query, key, share }) => {
                let others = mean_of_others(&attended.attn[head], query, key);
                let (query, key) = (&tokens[query], &tokens[key]);
                writeln!(
                    text,
                    "head {head:>2}  {query:>8} → {key:<8} {share:.3}   {others:.3}"
                )?;
            }
            None => writeln!(text, "head {head:>2}  no two words")?,
        }
    }
    writeln!(
        text,
        "others: the mean share that all other tokens but the key give it in that head. Where \
         it is\nnearly as large, the link says more about the key than about the query.\n\
         Links from and to [CLS], [SEP] and punctuation are left out."
    )?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::MultiHeadAttention;

    #[test]
    fn every_sentence_has_its_links() {
        let layer = model_files::minilm().unwrap();
        let fused = FusedAttention::new(&layer.parameters);
        let all = layer.sentences.iter().map(|sentence| {
            let attended = fused.self_attend(&sentence.input, &Mask::None).unwrap();
            format!("{}\n{}", sentence.text, links(&attended, &sentence.tokens).unwrap())
        });
        insta::assert_snapshot!("links", all.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_tour_shows_all_it_promises() {
        let layer = model_files::minilm().unwrap();
        let tour = tour(&layer, layer.sentence("pilot").unwrap()).unwrap();
        for part in ["naive", "sum of heads", "PyTorch", "head 11", "concat", "total"] {
            assert!(tour.contains(part), "{part} is missing from\n{tour}");
        }
    }
}

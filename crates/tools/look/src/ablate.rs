//! `cargo learn ablate`: what changes in a text without some heads, beside random ones.

mod decoder;
mod encoder;
mod going_on;

use ::texts::{Long, Text};
use ablation::odds::BesideDraws;
use anyhow::{Result, bail};
use clap::ValueEnum;
use models::decoders::study::{Draws, HeadOfLayer};
use models::{Head, ModelFiles};
use serde_json::Value;
use workshop::output::print;

use crate::args::{ModelArgs, PageArgs, TextArgs, check_outputs, head};
use crate::prose::Prose;
use crate::shown::write_page;
use crate::source::inputs;
use crate::study::{DrawArgs, HEADINGS, TextInDecoder, beside, draws_line, name, names};

pub use going_on::going_on;

/// Switch heads off, and say what changes, beside random heads of the same layers
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    ablation: Ablation,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// What stands in place of heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Replace {
    /// Zeros
    Zero,
    /// What each head puts out on average on prose of the book
    Mean,
    /// What each head puts out, token by token, on as many tokens of that prose
    Resample,
}

/// Which heads are switched off, and what they are compared with.
#[derive(Debug, Clone, clap::Args)]
pub struct Ablation {
    /// Which heads: their layers and numbers, both from 0, as in 5.3,18.6
    #[arg(long, value_name = "L.H,...", value_delimiter = ',', value_parser = head, required = true)]
    pub heads: Vec<Head>,
    /// What stands in their place
    #[arg(long, value_name = "WHAT", default_value = "zero")]
    pub replace: Replace,
    #[command(flatten)]
    pub draws: DrawArgs,
}

impl Ablation {
    /// The texts of the book's prose whose outputs stand in the stead of heads in a text of
    /// `n_tokens`, and what stands there, in words.
    fn stand_ins(
        &self,
        text: &Text,
        n_positions: usize,
        n_tokens: usize,
    ) -> Result<(Vec<Vec<usize>>, String)> {
        Ok(match self.replace {
            Replace::Zero => (Vec::new(), "zeros".to_owned()),
            Replace::Mean => {
                let texts = Prose::new(text)?.for_means(n_positions);
                let n: usize = texts.iter().map(Vec::len).sum();
                (texts, format!("their means over {n} tokens of the book's prose"))
            }
            Replace::Resample => {
                let (start, ids) = Prose::new(text)?.like(n_tokens, self.draws.seed)?;
                let words = format!(
                    "what they put out, token by token, on {n_tokens} tokens of the book's \
                     prose from token {start} on"
                );
                (vec![ids], words)
            }
        })
    }

    /// What a report begins with.
    fn heading(&self, heads: &[HeadOfLayer], instead: &str, draws: &Draws) -> String {
        format!(
            "\nWithout {} (in their stead: {instead}).\n{}\n\n{}",
            names(heads),
            draws_line(draws, self.draws.n),
            columns("")
        )
    }
}

/// What stands above rows.
fn columns(what: &str) -> String {
    format!("{what:<34}{HEADINGS}\n")
}

/// A number beside its draws, and what it is.
fn row(what: &str, number: &BesideDraws) -> String {
    format!("{what:<34}{}\n", beside(number))
}

/// How far the maps of later layers moved, if there are any.
fn later_maps(moved: &BesideDraws) -> String {
    match moved.observed.is_finite() {
        true => row("maps of later layers: share moved", moved),
        false => String::new(),
    }
}

/// A row for each of the later heads that moved farthest, which are sorted first.
fn later_rows(heads: &mut [(HeadOfLayer, BesideDraws)]) -> String {
    heads.sort_by(|a, b| b.1.observed.total_cmp(&a.1.observed));
    heads.iter().take(MOST).map(|(head, moved)| row(&name(*head), moved)).collect()
}

/// So many tokens that may come next, and so many later heads, are shown.
const MOST: usize = 8;

/// Prints what changes, and writes a page of it.
pub fn run(args: &Args) -> Result<()> {
    let folder = args.model.folder()?;
    let Some(sentence) = args.text.read()? else { return Ok(()) };
    let inputs = inputs(&[&folder], args.text.file.as_deref());
    let html = args.page.html.as_deref();
    let outputs = html.into_iter().map(|path| (path, "--html"));
    check_outputs(outputs, args.page.existing(), &inputs)?;
    let (model, long) = (ModelFiles::open(&folder)?, args.model.long());
    if let (Some(_), ModelFiles::Decoder(files)) = (html, &model) {
        bail!(
            "--html: a page shows what changes in the embedding of a text, and {} has none; \
             `cargo learn look --html` shows its heads",
            files.config.family.name
        );
    }
    let (report, changes) = changes(model, &sentence, long, &args.ablation)?;
    print(report)?;
    write_page(&args.page, (&folder, &sentence, long), |beside| beside.ablated = changes)
}

/// What changes, in words; of an encoder as a page shows it too.
fn changes(
    model: ModelFiles,
    sentence: &str,
    long: Long,
    ablation: &Ablation,
) -> Result<(String, Option<Value>)> {
    match model {
        ModelFiles::Decoder(files) => {
            let text = TextInDecoder::of(&files, sentence, long)?;
            Ok((text.tokens_line() + &decoder::report(&text, ablation)?, None))
        }
        ModelFiles::Encoder(files) => {
            let (report, changes) = encoder::report(&files, ablation, sentence, long)?;
            Ok((report, Some(changes)))
        }
        ModelFiles::Translator(files) => bail!(
            "{} is of the family {}: heads of a model that reads one text and writes another \
             are not switched off here",
            files.path.display(),
            files.config.family.name
        ),
    }
}

#[cfg(test)]
mod tests;

//! `cargo learn ablate`: what changes in a text without some heads, beside random ones.

mod decoder;
mod encoder;
mod going_on;

use ::texts::Long;
use anyhow::{Result, bail};
use clap::ValueEnum;
use models::{Head, ModelFiles};
use serde_json::Value;
use workshop::output::print;

use crate::args::{ModelArgs, PageArgs, TextArgs, check_outputs, head};
use crate::shown::write_page;
use crate::source::Inputs;
use crate::study::{DrawArgs, TextInDecoder};

pub use going_on::going_on;

/// Switch heads off, and say what changes, beside random heads of the same layers
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    text: TextArgs,

    /// Which heads: their layers and numbers, both from 0, as in 5.3,18.6
    #[arg(long, value_name = "L.H,...", value_delimiter = ',', value_parser = head, required = true)]
    heads: Vec<Head>,

    /// What stands in their place
    #[arg(long, value_name = "WHAT", default_value = "zero")]
    replace: Replace,

    #[command(flatten)]
    draws: DrawArgs,

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
#[derive(Debug, Clone)]
pub struct Ablation {
    /// Which.
    pub heads: Vec<Head>,
    /// What stands in their place.
    pub replace: Replace,
    /// The control.
    pub draws: DrawArgs,
}

/// Prints what changes, and writes a page of it.
///
/// # Errors
/// A model, a text or heads that do not fit: with their numbers.
pub fn run(args: &Args) -> Result<()> {
    let folder = args.model.folder()?;
    let Some(sentence) = args.text.read()? else { return Ok(()) };
    let inputs = Inputs::of(&[&folder], args.text.file.as_deref());
    let html = args.page.html.as_deref();
    let outputs = html.into_iter().map(|path| (path, "--html"));
    check_outputs(outputs, args.page.existing(), &inputs.0)?;
    let (model, long) = (ModelFiles::open(&folder)?, args.model.long());
    if let (Some(_), ModelFiles::Decoder(files)) = (html, &model) {
        bail!(
            "--html: a page shows what changes in the embedding of a text, and {} has none; \
             `cargo learn look --html` shows its heads",
            files.config.family.name
        );
    }
    let Args { heads, replace, draws, .. } = args;
    let ablation = Ablation { heads: heads.clone(), replace: *replace, draws: *draws };
    let (report, changes) = changes(model, &sentence, long, &ablation)?;
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

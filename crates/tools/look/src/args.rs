//! Arguments that several commands share.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf, absolute};

use ::texts::Long;
use anyhow::{Context, Result, anyhow, ensure};
use maps::table::Part;
use models::Head;
use tensors::{Existing, check_output};

use crate::save::OutputFile;
use crate::{fetch, source};

/// Which model reads.
#[derive(Debug, Clone, clap::Args)]
pub struct ModelArgs {
    /// Another model: `smollm2`, a folder as `save_pretrained` writes it, with its
    /// tokenizer.json, or a GGUF file
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Fetch the model if it is not there, and do not ask
    #[arg(long)]
    pub download: bool,
    /// Cut a text that is longer than the model's positions
    #[arg(long)]
    truncate: bool,
}

impl ModelArgs {
    /// Where it is, fetched if need be.
    pub fn folder(&self) -> Result<PathBuf> {
        match &self.model {
            Some(folder) => fetch::named(folder, self.download),
            None => fetch::minilm(self.download),
        }
    }

    pub fn long(&self) -> Long {
        long(self.truncate)
    }
}

/// What becomes of a long text.
pub fn long(truncate: bool) -> Long {
    if truncate { Long::Cut } else { Long::Refuse }
}

/// What is read.
#[derive(Debug, Clone, clap::Args)]
pub struct TextArgs {
    /// What to read, in quotes
    #[arg(required_unless_present_any = ["download", "file"])]
    text: Option<String>,
    /// What to read, in a text file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
}

impl TextArgs {
    /// The text; `None` where a model is to be fetched and nothing else.
    pub fn read(&self) -> Result<Option<String>> {
        let Some(path) = &self.file else { return Ok(self.text.clone()) };
        source::text_file(path).map(Some)
    }
}

/// A page that is written.
#[derive(Debug, Clone, clap::Args)]
pub struct PageArgs {
    /// Write one page with every head, which needs nothing but itself
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write over what exists
    #[arg(long)]
    force: bool,
}

impl PageArgs {
    pub fn existing(&self) -> Existing {
        existing(self.force)
    }
}

/// What becomes of a file that is there.
pub fn existing(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Keep }
}

/// Maps that are written to take away.
#[derive(Debug, Clone, clap::Args)]
pub struct SaveArgs {
    /// Write the head, the layer, or all heads to take away; the ending says how: .svg or
    /// .png, as a paper prints it; .csv, a line per attention weight with its control; .json; or
    /// .safetensors, all maps as `cargo learn maps` reads them. May be given several times
    #[arg(long, value_name = "OUT", value_parser = OutputFile::parse)]
    pub save: Vec<OutputFile>,
    /// How wide a picture is, in millimetres
    #[arg(long, default_value_t = 80.0, requires = "save", value_parser = millimetres)]
    pub mm: f64,
}

/// A head of a model that has one stack of layers, as in 5.7.
pub fn head(name: &str) -> Result<Head, models::Error> {
    let named: Head = name.parse()?;
    match named.part {
        None => Ok(named),
        Some(_) => Err(models::Error::HeadName { name: name.to_owned() }),
    }
}

/// A head, as in 5.7, or a layer, as in 5.
pub fn part(text: &str) -> Result<Part> {
    if let Ok(layer) = text.parse() {
        return Ok(Part::Layer(layer));
    }
    let (layer, head) = self::head(text)?.place();
    Ok(Part::Head([layer, head]))
}

/// Of another range a picture is too small to be read, or fits no page.
pub fn millimetres(text: &str) -> Result<f64> {
    let mm: f64 = text.parse().context("a picture is 20 to 1000 mm wide")?;
    ensure!((20.0..=1000.0).contains(&mm), "a picture is 20 to 1000 mm wide");
    Ok(mm)
}

/// Whether all that is to be written has a place, before anything is computed: files, each
/// with the flag that names it, beside those that are read.
pub fn check_outputs<'a>(
    outputs: impl IntoIterator<Item = (&'a Path, &'static str)>,
    existing: Existing,
    inputs: &[PathBuf],
) -> Result<()> {
    let mut places = BTreeSet::new();
    for (path, flag) in outputs {
        ensure!(
            places.insert(absolute(path)?),
            "{}: two files are to be written there",
            path.display()
        );
        let outcome = check_output(path, existing, inputs.iter().map(PathBuf::as_path));
        // The flag of this command is another.
        outcome.map_err(|error| anyhow!(error.to_string().replace("--output", flag)))?;
    }
    Ok(())
}

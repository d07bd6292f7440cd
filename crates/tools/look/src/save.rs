//! Heads to take away: a file whose ending says of what kind it is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use maps::habits::Texts;
use maps::table::{self, Part};
use maps::{file, picture};
use tensors::Existing;
use workshop::whole;

use crate::view::View;

/// What a file can be, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Svg,
    Png,
    Csv,
    Json,
    #[value(name = "safetensors")]
    Maps,
}

/// A file that is to be written.
#[derive(Debug, Clone)]
pub struct OutputFile {
    path: PathBuf,
    kind: Kind,
}

impl OutputFile {
    /// As it is given to a command.
    pub fn parse(path: &str) -> Result<Self> {
        let path = PathBuf::from(path);
        let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let kind = Kind::from_str(ending, true).ok().context(
            "the ending says what is written: .svg, .png, .csv, .json or .safetensors",
        )?;
        Ok(Self { path, kind })
    }

    /// Writes what heads do over many texts: all numbers, or an atlas of all heads.
    pub fn write_texts(&self, texts: &Texts, mm: f64, existing: Existing) -> Result<()> {
        let bytes = match self.kind {
            Kind::Svg => picture::atlas(texts, mm).into_bytes(),
            Kind::Png => crate::png::of(&picture::atlas(texts, mm))?,
            Kind::Csv => texts.csv().into_bytes(),
            Kind::Json | Kind::Maps => return self.check_of_texts(),
        };
        write_bytes(&self.path, &bytes, existing)
    }

    /// Whether there is such a file of many texts.
    pub fn check_of_texts(&self) -> Result<()> {
        ensure!(
            !matches!(self.kind, Kind::Json | Kind::Maps),
            "{}: of many texts there are numbers, .csv, and an atlas, .svg or .png",
            self.path.display()
        );
        Ok(())
    }

    /// Where it is written to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes this part of a view; pictures are `mm` millimetres wide. A file of maps has all
    /// heads always: one layer of it would be read as the first.
    pub fn write(
        &self,
        view: &View,
        part: Part,
        mm: f64,
        existing: Existing,
    ) -> Result<()> {
        let text = &view.text;
        ensure!(
            self.kind != Kind::Maps || text.maps.iter().all(|heads| !heads.is_empty()),
            "{}: a file of maps has all layers: `--layer` is for the other kinds of files",
            self.path.display()
        );
        let bytes = match self.kind {
            Kind::Svg => picture::svg(text, part, mm).into_bytes(),
            Kind::Png => crate::png::of(&picture::svg(text, part, mm))?,
            Kind::Csv => table::csv(text, part).into_bytes(),
            Kind::Json => format!("{}\n", table::json(text, part)).into_bytes(),
            Kind::Maps => file::to_bytes(text)?,
        };
        write_bytes(&self.path, &bytes, existing)
    }
}

/// Writes a file; one that is to be kept and came meanwhile stays as it is.
pub fn write_bytes(path: &Path, bytes: &[u8], existing: Existing) -> Result<()> {
    let written = match existing {
        Existing::Keep => whole::write_new(path, bytes),
        Existing::Replace => whole::write(path, bytes),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

//! Maps that were read or computed, and where they go: the terminal, a page, files.

use std::iter;
use std::path::{Path, PathBuf};

use ::texts::Long;
use anyhow::{Result, bail};
use maps::table::Part;
use workshop::output::print;

use crate::args::{PageArgs, SaveArgs, check_outputs};
use crate::page::{self, Section, Texts};
use crate::report;
use crate::save::{OutputFile, write_bytes};
use crate::source;
use crate::view::{BesideMaps, View};

/// How maps are shown.
#[derive(Debug, Clone, clap::Args)]
pub struct ShowArgs {
    /// One head in full: its layer and its number, both from 0, as in 5.7; or one layer, as
    /// in 5, for `--save` and `--queries`
    #[arg(long, value_name = "L.H", value_parser = crate::args::part)]
    pub head: Option<Part>,
    #[command(flatten)]
    pub save: SaveArgs,
    #[command(flatten)]
    pub page: PageArgs,
}

impl ShowArgs {
    /// Whether all that is to be written has a place beside the files that are read.
    pub fn check(&self, inputs: &[PathBuf]) -> Result<()> {
        let html = self.page.html.iter().map(|path| (path.as_path(), "--html"));
        let saved = self.save.save.iter().map(|file| (file.path(), "--save"));
        check_outputs(html.chain(saved), self.page.existing(), inputs)
    }

    /// Whether a layer is of use: it chooses what is saved.
    pub fn expect_layer_used(&self) -> Result<()> {
        if let (Some(Part::Layer(layer)), true) = (self.head, self.save.save.is_empty()) {
            bail!(
                "--head {layer} is a layer, which is for `--save` and `--queries`; one of its \
                 heads, as in {layer}.0, is shown in full"
            );
        }
        Ok(())
    }

    /// The layer that is meant, with a head or without.
    pub fn layer(&self) -> Option<usize> {
        match self.head? {
            Part::Head([layer, _]) | Part::Layer(layer) => Some(layer),
            Part::All => None,
        }
    }
}

/// What is looked at.
#[derive(Default)]
pub struct MapReport {
    /// All maps, or those of each kind that a model has.
    pub kinds: Vec<Section>,
    /// Which of them a head and what is saved are of.
    pub chosen: usize,
    /// What is said before them.
    pub notes: String,
    /// What is said behind them.
    pub compared: String,
}

impl MapReport {
    pub fn one(texts: Texts) -> Self {
        Self { kinds: vec![Section::all_heads(texts)], ..Self::default() }
    }

    /// Writes what is to be written, and prints what every head does.
    pub fn show(self, args: &ShowArgs) -> Result<()> {
        let Self { kinds, chosen, notes, compared } = self;
        let texts = &kinds[chosen].texts;
        let view = texts.chosen();
        let part = checked(args.head, view)?;
        if let Some(path) = &args.page.html {
            write_bytes(path, page::of(&kinds)?.as_bytes(), args.page.existing())?;
        }
        for file in &args.save.save {
            file.write(view, part, args.save.mm, args.page.existing())?;
        }
        print(notes)?;
        for (nth, Section { title, texts }) in kinds.iter().enumerate() {
            if kinds.len() > 1 {
                print(format!("\n{}\n\n", title.to_uppercase()))?;
            }
            let in_full = match part {
                Part::Head([layer, head]) if nth == chosen => Some((layer, head)),
                _ => None,
            };
            print(report::of(texts.chosen(), in_full))?;
        }
        print(compared)?;
        let of = if texts.beside.is_some() { ", of the first text" } else { "" };
        let saved = args.save.save.iter().map(OutputFile::path);
        Ok(print(report::written(args.page.html.as_deref(), saved, of))?)
    }
}

/// Writes the page of a sentence, if one is wanted, with what stands beside its maps.
pub fn write_page(
    args: &PageArgs,
    (folder, sentence, long): (&Path, &str, Long),
    add: impl FnOnce(&mut BesideMaps),
) -> Result<()> {
    let Some(path) = &args.html else { return Ok(()) };
    let mut view = source::of_sentence(folder, sentence, long)?;
    add(&mut view.beside);
    let page = page::of(&[Section::all_heads(Texts::one(view, None))])?;
    write_bytes(path, page.as_bytes(), args.existing())?;
    Ok(print(report::written(Some(path), iter::empty(), ""))?)
}

/// Which heads are meant, if there are such.
fn checked(part: Option<Part>, view: &View) -> Result<Part> {
    match part {
        Some(Part::Head([layer, head])) => view.check((layer, head))?,
        Some(Part::Layer(layer)) => view.check((layer, 0))?,
        Some(Part::All) | None => (),
    }
    Ok(part.unwrap_or(Part::All))
}

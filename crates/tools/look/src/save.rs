//! Heads to take away: a file whose ending says of what kind it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use maps::habits::Texts;
use maps::table::{self, Part};
use maps::{file, picture};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
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
            Kind::Png => png(&picture::atlas(texts, mm))?,
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
            Kind::Png => png(&picture::svg(text, part, mm))?,
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

/// Dots in an inch, as journals ask for drawings with letters.
const DOTS: f32 = 600.0;
/// In which a drawing's size in millimetres is read.
const UNITS: f32 = 96.0;

/// So many dots are drawn, and no more: they take a gigabyte.
const MOST_DOTS: u64 = 1 << 28;

/// A PNG of 600 dots an inch.
fn png(svg: &str) -> Result<Vec<u8>> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let families = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans"];
    let has = |family: &str| {
        let is_it = |(name, _): &(String, _)| name == family;
        fonts.faces().any(|face| face.families.iter().any(is_it))
    };
    let other = || fonts.faces().next().map(|face| face.families[0].0.clone());
    let family =
        families.into_iter().find(|it| has(it)).map(str::to_owned).or_else(other);
    let family = family.context(
        "a PNG needs a font, and this machine has none: install DejaVu Sans, say, or write a \
         .svg",
    )?;
    fonts.set_sans_serif_family(family);
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options)?;
    let scale = DOTS / UNITS;
    let size = tree.size().to_int_size().scale_by(scale);
    let size = size.context("the picture has no size")?;
    expect_room([size.width(), size.height()])?;
    let pixels = Pixmap::new(size.width(), size.height());
    let mut pixels = pixels.context("there is no memory for a picture of this size")?;
    let transform = Transform::from_scale(
        size.width() as f32 / tree.size().width(),
        size.height() as f32 / tree.size().height(),
    );
    resvg::render(&tree, transform, &mut pixels.as_mut());
    Ok(pixels.encode_png()?)
}

fn expect_room([width, height]: [u32; 2]) -> Result<()> {
    let dots = u64::from(width) * u64::from(height);
    ensure!(
        dots <= MOST_DOTS,
        "a PNG of it would have {width} × {height} dots and take {:.1} GB, and {:.1} at most \
         are taken: `--mm` makes it narrower, `--layer` or `--head` takes a part, and an .svg \
         has any size",
        4e-9 * dots as f64,
        4e-9 * MOST_DOTS as f64
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_too_many_dots_is_refused_with_their_number() {
        assert!(expect_room([1890, 1890]).is_ok());
        let refused = expect_room([1890, 800_000]).unwrap_err();
        insta::assert_snapshot!(refused, @"a PNG of it would have 1890 × 800000 dots and take 6.0 GB, and 1.1 at most are taken: `--mm` makes it narrower, `--layer` or `--head` takes a part, and an .svg has any size");
        assert!(expect_room([u32::MAX; 2]).is_err());
        let svg =
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="80mm" height="40000mm"/>"#;
        // A machine without a font says that first.
        let refused = png(svg).unwrap_err().to_string();
        assert!(refused.contains("dots") || refused.contains("font"), "{refused}");
    }
}

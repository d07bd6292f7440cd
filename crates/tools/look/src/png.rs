//! A picture in dots, from its SVG.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

/// Dots in an inch, as journals ask for drawings with letters.
const DOTS: f32 = 600.0;
/// In which a drawing's size in millimetres is read.
const UNITS: f32 = 96.0;

/// A PNG of 600 dots an inch.
///
/// # Errors
/// If this machine has no font, or no memory for so many dots.
pub fn of(svg: &str) -> Result<Vec<u8>> {
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
    let pixels = Pixmap::new(size.width(), size.height());
    let mut pixels = pixels.context("there is no memory for a picture of this size")?;
    let transform = Transform::from_scale(
        size.width() as f32 / tree.size().width(),
        size.height() as f32 / tree.size().height(),
    );
    resvg::render(&tree, transform, &mut pixels.as_mut());
    let png = pixels.encode_png()?;
    ensure!(!png.is_empty(), "nothing was drawn");
    Ok(png)
}

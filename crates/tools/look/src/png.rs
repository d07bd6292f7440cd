//! A picture in dots, from its SVG.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

/// Dots in an inch, as journals ask for drawings with letters.
const DOTS: f32 = 600.0;
/// In which a drawing's size in millimetres is read.
const UNITS: f32 = 96.0;

/// So many dots are drawn, and no more: they take a gigabyte.
const MOST_DOTS: u64 = 1 << 28;

/// A PNG of 600 dots an inch.
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
    expect_room([size.width(), size.height()])?;
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
        let refused = of(svg).unwrap_err().to_string();
        assert!(refused.contains("dots") || refused.contains("font"), "{refused}");
    }
}

//! Small pictures of one idea each: temperatures, tiles, a graph.

use anyhow::{Result, bail};
use attention::{Mask, Matrix, softmax_rows};
use figures::{
    Figure, TileCounts, WeightRow, average, backward_graph, tile_kinds, tile_plan,
};

use super::expect_keys;
use crate::args::Args;
use crate::scores_softmax_scale::{FLEW, pass_of};

/// What a row of scores is multiplied by.
pub const FACTORS: [f64; 3] = [0.5, 1.0, 4.0];

/// Tokens, and the side of a tile: eight rows of tiles.
pub const TILES: [usize; 2] = [1024, 128];

/// The row of “flew” in head 11 after its scores are multiplied.
///
/// # Errors
/// None; the layer and the sentence are parts of the program.
pub fn at_temperatures() -> Result<[Vec<f64>; 3]> {
    let layer = crate::trained::layer()?;
    let scores = pass_of(layer, "pilot", 11)?.scores.row(FLEW).into_owned();
    let scores = Matrix::from_row_slice(1, scores.len(), scores.as_slice());
    Ok(FACTORS.map(|factor| softmax_rows(&scores * factor).iter().copied().collect()))
}

pub(super) fn temperatures(args: &Args) -> Result<Figure> {
    expect_keys(args, &[])?;
    let names = FACTORS.map(|factor| format!("scores × {factor}"));
    let rows = names.into_iter().zip(at_temperatures()?);
    let rows: Vec<WeightRow> =
        rows.map(|(name, shares)| WeightRow { name, shares }).collect();
    let tokens = crate::trained::layer()?.sentence("pilot")?.tokens.clone();
    let title = "The same scores of “flew”, multiplied: small ones give a flat row, large \
                 ones a sharp one";
    Ok(average(title, &tokens, &rows)?)
}

pub(super) fn graph(args: &Args) -> Result<Figure> {
    expect_keys(args, &[])?;
    let title =
        "Every arrow of the forward pass has one that points back, with its own product";
    Ok(backward_graph(title))
}

/// `mask=causal|none`.
pub(super) fn tiles(args: &Args) -> Result<Figure> {
    expect_keys(args, &["mask"])?;
    let mask = match args.get("mask") {
        None | Some("causal") => Mask::Causal,
        Some("none") => Mask::None,
        Some(other) => bail!("tile-plan takes mask=causal or mask=none, not {other}"),
    };
    let [n_tokens, tile] = TILES;
    let counts = TileCounts::of(&tile_kinds(&mask, n_tokens, tile));
    let (computed, all) = (counts.computed(), counts.all());
    let title = match mask {
        Mask::None => format!("Without a mask all {all} tiles are computed"),
        _ => format!(
            "Causal: {computed} of {all} tiles of {tile} × {tile} are computed, and {} left out",
            counts.left_out
        ),
    };
    Ok(tile_plan(title, &mask, n_tokens, tile)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Larger scores, less entropy; and × 1 is the row that the head has.
    #[test]
    fn a_row_grows_sharper_with_its_scores() {
        let rows = at_temperatures().unwrap();
        let entropy = rows.clone().map(crate::numbers::entropy);
        assert!(entropy[0] > entropy[1] && entropy[1] > entropy[2], "{entropy:?}");
        let layer = crate::trained::layer().unwrap();
        let attn = pass_of(layer, "pilot", 11).unwrap().attn;
        for (j, share) in rows[1].iter().enumerate() {
            assert!((share - attn[(FLEW, j)]).abs() < 1e-12);
        }
    }

    #[test]
    fn causal_leaves_out_what_the_formula_says() {
        let title = |mask: &str| {
            tiles(&[("mask", mask)].into_iter().collect()).unwrap().title().to_owned()
        };
        insta::assert_snapshot!(title("causal"), @"Causal: 36 of 64 tiles of 128 × 128 are computed, and 28 left out");
        insta::assert_snapshot!(title("none"), @"Without a mask all 64 tiles are computed");
        let b = TILES[0] / TILES[1];
        assert!(title("causal").contains(&format!("{} of {}", b * (b + 1) / 2, b * b)));
    }
}

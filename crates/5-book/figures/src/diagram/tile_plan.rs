//! Which tiles of queries and keys a mask lets a kernel leave out.

use attention::Mask;

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::figure;
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// More tiles are too small to be told apart.
const MOST: usize = 16;

/// What has to be done for a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileKind {
    /// Every pair is allowed.
    Full,
    /// Some pairs are.
    Cut,
    /// No pair is.
    LeftOut,
}

/// How many tiles there are of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileCounts {
    /// Tiles in which every pair is allowed.
    pub full: usize,
    /// Tiles that the mask cuts.
    pub cut: usize,
    /// Tiles that are never computed.
    pub left_out: usize,
}

impl TileCounts {
    /// Counts tiles.
    pub fn of(tiles: &[Vec<TileKind>]) -> Self {
        let count = |kind| tiles.iter().flatten().filter(|&&tile| tile == kind).count();
        Self {
            full: count(TileKind::Full),
            cut: count(TileKind::Cut),
            left_out: count(TileKind::LeftOut),
        }
    }

    /// Tiles that are computed, in full or in part.
    pub fn computed(&self) -> usize {
        self.full + self.cut
    }

    /// All tiles.
    pub fn all(&self) -> usize {
        self.computed() + self.left_out
    }
}

/// What the mask makes of each tile of `tile` queries and `tile` keys, of `n_tokens` that
/// attend to themselves: rows of tiles.
pub fn tile_kinds(mask: &Mask, n_tokens: usize, tile: usize) -> Vec<Vec<TileKind>> {
    let n = n_tokens.div_ceil(tile.max(1));
    let range = |nth: usize| nth * tile..((nth + 1) * tile).min(n_tokens);
    let kind = |row: usize, column: usize| {
        let pairs = range(row).flat_map(|i| range(column).map(move |j| (i, j)));
        let allowed = pairs.map(|pair| mask.added(pair, (n_tokens, n_tokens)).is_some());
        let (mut any, mut all) = (false, true);
        for allowed in allowed {
            any |= allowed;
            all &= allowed;
        }
        match (any, all) {
            (true, true) => TileKind::Full,
            (true, false) => TileKind::Cut,
            (false, _) => TileKind::LeftOut,
        }
    };
    (0..n).map(|row| (0..n).map(|column| kind(row, column)).collect()).collect()
}

/// Queries by keys, cut in tiles: computed in full, cut by the mask, or left out, with how
/// many there are of each.
///
/// # Errors
/// [`Error::Sizes`] if a size is 0; [`Error::TooMany`] above 16 rows of tiles.
pub fn tile_plan(
    title: impl Into<String>,
    mask: &Mask,
    n_tokens: usize,
    tile: usize,
) -> Result<Figure> {
    attention::Error::expect_positive("n_tokens", n_tokens)?;
    attention::Error::expect_positive("the side of a tile", tile)?;
    Error::expect_at_most("rows of tiles", n_tokens.div_ceil(tile), MOST)?;
    let tiles = tile_kinds(mask, n_tokens, tile);
    let counts = TileCounts::of(&tiles);
    let legend = legend(&counts);
    let label = legend.iter().map(|(kind, n)| format!("{n} {}", kind.label()));
    let n = tiles.len();
    let text = Text {
        alternative: format!(
            "The scores of {n_tokens} queries by {n_tokens} keys, cut in {n} × {n} tiles of \
             {tile} × {tile}: {}. Computed: {} of {}.",
            label.collect::<Vec<_>>().join(", "),
            counts.computed(),
            counts.all(),
        ),
        sketch: sketched(&tiles, &counts),
        tables: vec![Table::new(
            format!("Tiles of {tile} × {tile}, of {n_tokens} × {n_tokens} scores"),
            ["tiles", "how many"],
            legend
                .iter()
                .map(|(kind, n)| [kind.label().to_owned(), n.to_string()])
                .chain([["all".to_owned(), counts.all().to_string()]]),
        )],
    };
    Ok(figure(title, text, [true, false].map(|is_wide| drawn(&tiles, &counts, is_wide))))
}

fn legend(counts: &TileCounts) -> [(TileKind, usize); 3] {
    [
        (TileKind::Full, counts.full),
        (TileKind::Cut, counts.cut),
        (TileKind::LeftOut, counts.left_out),
    ]
}

impl TileKind {
    fn label(self) -> &'static str {
        match self {
            Self::Full => "computed in full",
            Self::Cut => "cut by the mask",
            Self::LeftOut => "left out",
        }
    }

    fn mark(self) -> char {
        match self {
            Self::Full => '█',
            Self::Cut => '▚',
            Self::LeftOut => '·',
        }
    }

    fn draw(self, canvas: &mut Canvas, tile: &Rect) {
        let (x, y, right, bottom) = (tile.x, tile.y, tile.right(), tile.bottom());
        let lit = Ink::Head(0);
        match self {
            Self::Full => {
                canvas.filled(&[[x, y], [right, y], [right, bottom], [x, bottom]], lit)
            }
            Self::Cut => {
                canvas.filled(&[[x, y], [right, bottom], [x, bottom]], lit);
                canvas.line([x, y], [right, bottom], lit);
            }
            Self::LeftOut => {}
        }
        canvas.cell(tile, Ink::Muted);
    }
}

fn sketched(tiles: &[Vec<TileKind>], counts: &TileCounts) -> String {
    let row = |row: &Vec<TileKind>| {
        row.iter().flat_map(|tile| [tile.mark(); 2]).collect::<String>()
    };
    let rows: Vec<String> = tiles.iter().map(row).collect();
    let each =
        legend(counts).map(|(kind, n)| format!("{} {}: {n}", kind.mark(), kind.label()));
    let computed = format!("computed: {} of {}", counts.computed(), counts.all());
    format!("{}\n\n{}\n{computed}", rows.join("\n"), each.join("\n"))
}

fn drawn(tiles: &[Vec<TileKind>], counts: &TileCounts, is_wide: bool) -> Canvas {
    let n = tiles.len() as f64;
    let side = (292.0 / n).floor();
    let (left, above) = (52.0, 22.0);
    let plan = n * side;
    let list = 4.0 * 34.0;
    let (size, corner) = match is_wide {
        true => (
            [left + plan + 240.0, above + plan + 4.0],
            [left + plan + 36.0, above + 20.0],
        ),
        false => {
            ([left + plan + 4.0, above + plan + list + 16.0], [left, above + plan + 14.0])
        }
    };
    let mut canvas = Canvas::new(size[0], size[1]);
    canvas.text("keys →", [left, 10.0], Anchor::Start, Look::note());
    // The queries go down: their name stands where the first row begins.
    canvas.text(
        "queries",
        [left - 5.0, above + plan / 2.0 - 8.0],
        Anchor::End,
        Look { room: left - 6.0, ..Look::note() },
    );
    canvas.text("↓", [left - 22.0, above + plan / 2.0 + 8.0], Anchor::End, Look::note());
    for (row, tiles) in tiles.iter().enumerate() {
        for (column, tile) in tiles.iter().enumerate() {
            let (x, y) = (left + column as f64 * side, above + row as f64 * side);
            tile.draw(&mut canvas, &Rect { x, y, w: side, h: side });
        }
    }
    let look = Look { size: 13.0, ..Look::note() };
    for (nth, (kind, n)) in legend(counts).into_iter().enumerate() {
        let y = corner[1] + nth as f64 * 34.0;
        kind.draw(&mut canvas, &Rect { x: corner[0], y, w: 24.0, h: 24.0 });
        let label = format!("{n} {}", kind.label());
        canvas.text(&label, [corner[0] + 34.0, y + 12.0], Anchor::Start, look);
    }
    let label = format!("{} of {} tiles are computed", counts.computed(), counts.all());
    let at = [corner[0], corner[1] + 3.0 * 34.0 + 12.0];
    canvas.text(&label, at, Anchor::Start, Look { is_bold: true, ..look });
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn eight_by_eight_tiles_under_a_causal_mask() {
        assert_diagram!(
            tile_plan("Nearly half is left out", &Mask::Causal, 32, 4).unwrap()
        );
    }

    /// b (b + 1) / 2 of b² tiles, b of them cut.
    #[test]
    fn causal_tiles_are_counted_as_the_formula_says() {
        for b in 1..=16 {
            let counts = TileCounts::of(&tile_kinds(&Mask::Causal, 4 * b, 4));
            assert_eq!((counts.computed(), counts.all()), (b * (b + 1) / 2, b * b));
            assert_eq!(counts.cut, b);
        }
    }

    #[test]
    fn other_masks_have_other_plans() {
        let counts = |mask| TileCounts::of(&tile_kinds(&mask, 10, 4));
        let all = TileCounts { full: 9, cut: 0, left_out: 0 };
        assert_eq!(counts(Mask::None), all);
        // Six keys: a column of tiles in full, one cut, one left out.
        let three = TileCounts { full: 3, cut: 3, left_out: 3 };
        assert_eq!(counts(Mask::FirstKeys(6)), three);
    }

    #[test]
    fn a_plan_without_room_is_refused() {
        let refused = |n, tile| tile_plan("", &Mask::None, n, tile).unwrap_err();
        insta::assert_snapshot!(refused(64, 2), @"32 rows of tiles are too many for one figure: draw at most 16");
        insta::assert_snapshot!(refused(64, 0), @"the side of a tile is 0, and must be at least 1");
    }
}

//! Block diagrams: boxes with their shapes, and arrows between them.
//!
//! Charts are numbers along axes. A diagram has no axes, so it is an SVG of its own, once
//! for a wide page and once for a phone: it needs no script, takes the page's letters and
//! colours, and prints sharply. What it says stands in its alternative and its table too.

mod areas;
mod backward_graph;
mod batch;
mod canvas;
mod clocks;
mod dot_product;
mod equations;
mod flow;
mod head;
mod heads_at_once;
mod layer;
mod line;
mod markup;
mod rebased;
mod ring;
mod shape;
mod stages;
mod strided;
mod tape;
mod tile_plan;
mod tile_walk;
mod transformer;

use crate::Figure;
use crate::chart::{self, Text};
use crate::figure::Drawn;
use canvas::Canvas;

pub use areas::layer_areas;
pub use backward_graph::backward_graph;
pub use batch::batch_diagram;
pub use clocks::{ClockPair, clocks};
pub use dot_product::dot_product;
pub use equations::{Cells, Equation, equations, live_equations};
pub use head::{HeadPart, head_diagram};
pub use heads_at_once::heads_at_once;
pub use layer::{LayerForm, LayerPart, layer_diagram};
pub use line::{LINE_WORDS, Line, LineHead, LineStep, Station, Way, line, line_strip};
pub use rebased::{RebasedWord, rebased};
pub use ring::{TokenCut, ring};
pub use stages::{STAGES, Stage, StageGrid, StageOrder, stages};
pub use strided::Strided;
pub use tape::{TapeStop, tape};
pub use tile_plan::{TileCounts, TileKind, tile_kinds, tile_plan};
pub use tile_walk::{TileWalk, tile_walk};
pub use transformer::{Family, block_diagram, transformer_diagram};

/// How wide the drawing of a wide page is, in pixels.
const WIDE: f64 = 720.0;
/// How wide one is that stands beside the controls of a live figure.
const BESIDE: f64 = 592.0;
/// How wide the drawing of a phone is.
const NARROW: f64 = 350.0;

/// A figure that is drawn already, as SVG.
fn figure(title: impl Into<String>, text: Text, [wide, narrow]: [Canvas; 2]) -> Figure {
    let drawings = [wide.into_svg("wide"), narrow.into_svg("narrow")];
    chart::drawn(title, text, Drawn::Diagram(drawings))
}

/// Rows of boxes in text, an arrow from each row to the next.
fn sketch_of_rows(rows: &[Vec<String>]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| row.join("     ")).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let centred = |line: &str| {
        let line = format!("{line:^width$}");
        line.trim_end().to_owned()
    };
    let arrow = format!("\n{}\n", centred("↓"));
    lines.iter().map(|line| centred(line)).collect::<Vec<_>>().join(&arrow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::tests::{PAGES, contrast};

    /// The style sheet that pages load: a crate above this one has it.
    const CSS: &str = include_str!("../../../tools/assets/figures/figures.css");

    /// Lit text is small: it needs more contrast than a line.
    #[test]
    fn lit_text_reads_on_every_page() {
        let colours = ["#0a5cad", "#6cb2f7"];
        for (pages, colour) in [(&PAGES[..2], colours[0]), (&PAGES[2..], colours[1])] {
            assert!(CSS.contains(&format!("--lit: {colour}")), "{colour}");
            for page in pages {
                let contrast = contrast(page, colour);
                assert!(contrast >= 4.5, "{colour} on {page}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn rows_are_centred_over_one_another() {
        let rows = [vec!["Q [n, d_k]".to_owned(), "K".to_owned()], vec!["S".to_owned()]];
        insta::assert_snapshot!(sketch_of_rows(&rows), @r"
        Q [n, d_k]     K
               ↓
               S
        ");
    }
}

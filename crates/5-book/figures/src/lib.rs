//! Figures of what attention does, drawn the same in the book and in the notebooks.
//!
//! ```text
//! attention maps ─▶ Heads ─▶ head_maps, head_view ─┐
//! numbers ─▶ Axis, Mark ─▶ Panel ─▶ Chart ─────────┴▶ Figure ─▶ notebook, book, terminal
//! ```
//!
//! The one decision: **a figure is a value, not a page**. Numbers become marks on the panels
//! of a [`Chart`], which checks them and returns a [`Figure`]. That holds its marks as data,
//! a title that states what is to be seen, a sketch in text, a sentence for those who do not
//! see it, and its numbers as tables. Where it is shown is decided later, by one method a
//! place: [`Figure::evcxr_display`] in a notebook, [`Figure::to_html`] in the book, and
//! [`Display`](std::fmt::Display) in a terminal. A page draws the marks themselves; for a
//! notebook one file, `plotly.rs`, says them in plotly's fields. So a snapshot test can hold
//! the figure itself, and no place shows different numbers from another.
//!
//! A diagram has no axes: it is an SVG of its own, for a wide page and for a phone, and
//! needs no script. Everything else about it is as above.
//!
//! What a figure shows can be read without its colours: lightness alone carries a map,
//! hover text and tables carry the numbers.
//!
//! Left out: drawing along axes (plotly does that in a notebook, and in a page 30 KB of
//! scripts in `crates/tools/assets`, which read each field of the marks), the choice of page
//! (the book's builder copies the assets and places the fragments), and any computing of
//! attention.
//!
//! A new figure needs no function here. It is a chart, built where it is used:
//!
//! ```
//! use figures::{Axis, Chart, Mark, Panel};
//!
//! let heads = ["head 0", "head 1"].map(str::to_owned);
//! let panel = Panel::new("points lost", Axis::across(&heads, 12), Axis::numbers(1.0), 200.0);
//! let figure = Chart::new("Only head 1 is needed")
//!     .panel(panel, [Mark::bars([0.02, 0.75]).named("place")])
//!     .figure()?;
//! assert_eq!(
//!     figure.alternative(),
//!     "points lost: the largest of place is 0.75, at head 1."
//! );
//! # Ok::<(), figures::Error>(())
//! ```
//!
//! Its table, its sketch and its sentence follow from the marks, and a better one takes the
//! place of each. Here are the figures that notebooks and several chapters draw; read
//! [`lines()`] first, it is the pattern; for maps, [`head_maps()`]; for a diagram,
//! [`dot_product()`].

mod ablation;
mod average;
mod axis;
mod backward_pass;
mod by_hand;
mod chart;
mod costs;
mod defaults;
mod diagram;
mod error;
mod figure;
mod grid;
mod head_maps;
mod head_view;
mod heads;
mod html;
mod ladder_times;
mod layout;
mod ledger;
mod lines;
pub mod log_axis;
mod loss_curves;
mod map_over_steps;
mod marks;
mod mask_maps;
mod masked_head;
mod matrix_maps;
mod memory_order;
mod named_bars;
mod online_softmax;
pub mod palette;
mod panels;
mod plotly;
mod roofline;
pub mod share_map;
pub mod sketch;
mod spec;
mod spread;
mod tangent;
#[cfg(test)]
mod testing;

pub use ablation::{Ablations, ablation};
pub use average::{WeightRow, average, by_head, probabilities};
pub use axis::Axis;
pub use backward_pass::{BackwardPass, GradientNorm, backward_pass};
pub use chart::{Chart, legend_room};
pub use costs::{NamedCost, costs};
pub use diagram::{
    Cells, ClockPair, Equation, Family, HeadPart, LINE_WORDS, LayerForm, LayerPart, Line,
    LineHead, LineStep, RebasedWord, STAGES, Stage, StageGrid, StageOrder, Station,
    Strided, TapeStop, TileCounts, TileKind, TileWalk, TokenCut, Way, backward_graph,
    batch_diagram, block_diagram, clocks, dot_product, equations, head_diagram,
    heads_at_once, layer_areas, layer_diagram, line, line_strip, live_equations, rebased,
    ring, stages, tape, tile_kinds, tile_plan, tile_walk, transformer_diagram,
};
pub use error::{Error, Result};
pub use figure::{Figure, Table};
pub use head_maps::head_maps;
pub use head_view::head_view;
pub use heads::{Heads, Link, mean_of_others, share};
pub use ladder_times::{Timed, TimedCase, TimedRun, ladder_times};
pub use layout::{
    FAINT, NEUTRAL, Values, all_rounded, ends, escaped, formula, label_width, rounded,
    significant,
};
pub use ledger::ledger;
pub use lines::{Lines, lines};
pub use loss_curves::{LossCurve, loss_curves};
pub use map_over_steps::{MapOverSteps, map_over_steps};
pub use marks::{DASHES, Mark, by_cell};
pub use mask_maps::mask_maps;
pub use masked_head::{MaskedHead, masked_head};
pub use matrix_maps::{matrix_maps, number as entry};
pub use memory_order::memory_order;
pub use named_bars::{NamedBar, NamedBars, named_bars};
pub use online_softmax::{OnlineStep, OnlineSteps, online_softmax};
pub use panels::{NARROW, Panel, Place, WIDE};
pub use roofline::{Reached, Roof, RoofStep, Roofline, roofline};
pub use spec::Grouping;
pub use spread::{ScaleSample, spread};
pub use tangent::{Tangent, tangent, tangent_on};

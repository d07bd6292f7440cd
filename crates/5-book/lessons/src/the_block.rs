//! “The block”: what stands around attention. Each part is taken away, and what breaks is
//! measured.

pub mod agree;
pub mod before;
pub mod cost;
pub mod deep;
pub mod depth;
pub mod loudness;
pub mod places;

use crate::{Args, Entry};
use anyhow::Result;
use figures::{Figure, lines};

pub(crate) const FIGURES: &[Entry] = &[("block-gradients", gradients)];

fn gradients(_: &Args) -> Result<Figure> {
    let title = "At this initialisation: without a residual, all tokens become one, whatever \
                 the norm; without a norm, gradients vanish or explode";
    Ok(lines(title, &depth::panels(&depth::SHOWN, 0)?)?)
}

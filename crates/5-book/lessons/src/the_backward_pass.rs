//! “The backward pass”: one row of three words backwards by hand, and the gradients of the trained
//! layer.

pub mod by_hand;
pub mod drawn;
pub mod nudge;
pub mod ways;

mod wish;
pub mod wrong_starts;

use anyhow::Result;
use figures::{Figure, backward_pass};

use crate::args::{Args, Entry};

pub use wish::Wish;

pub(crate) const FIGURES: &[Entry] = &[
    ("backward-norms", norms),
    ("row-backward", by_hand::lines),
    ("product-backward", by_hand::product),
    ("softmax-row", drawn::softmax_row),
    ("score-gradients", drawn::score_gradients),
    ("wrong-backward", drawn::wrong_backward),
    ("wrong-starts", wrong_starts::figure),
];

fn norms(_: &Args) -> Result<Figure> {
    let wish = Wish::new()?;
    let layer = wish.layer();
    let (pass, loss) = wish.pass(&layer)?;
    let norms = wish::norms(&layer, &pass, &loss)?;
    let title = "Most of the gradient that reaches the tokens comes through the values";
    Ok(backward_pass(title, &norms)?)
}

//! Chapter 9: the gradients of the trained layer, and the tiny task that a layer learns.

pub mod ways;

mod task;
mod wish;

use anyhow::Result;
use figures::{Figure, LossCurve, backward_pass, loss_curves};

use crate::args::{Args, Entry};

pub use task::{
    ADAM_RATE, N_SENTENCES, N_STEPS, RATE, START, Task, fresh_layer, optimisers, train,
};
pub use wish::Wish;

pub(crate) const FIGURES: [Entry; 2] = [("way-back", back), ("loss-curves", curves)];

fn curves(_: &Args) -> Result<Figure> {
    let task = Task::new(1)?;
    let mut curves = Vec::new();
    for (name, mut optimiser) in optimisers() {
        let losses = train(&mut fresh_layer(START)?, &task, &mut *optimiser)?;
        curves.push(LossCurve { name: name.to_owned(), losses });
    }
    let title = "Two layers start from the same numbers and learn what two lenses say";
    Ok(loss_curves(title, &curves)?)
}

fn back(_: &Args) -> Result<Figure> {
    let wish = Wish::new()?;
    let layer = wish.layer();
    let (pass, loss) = wish.pass(&layer)?;
    let norms = wish::norms(&layer, &pass, &loss)?;
    let title = "Of what comes back to the tokens, most has come by way of the values";
    Ok(backward_pass(title, &norms)?)
}

//! The small model, trained once: what it loses on names that it never saw, on the way, beside
//! letters that are only counted.

use std::sync::OnceLock;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use figures::{Figure, lines};
use gpt::{Architecture, Counts, Model, NAMES, Rung, Schedule, Split, Training};

use crate::Args;
use crate::kept::kept;
use crate::numbers::lines_panel;

/// Steps between two looks at the unseen names.
const EACH: usize = 50;
const SEED: u64 = 1;

/// A trained model with its names.
pub struct Learned {
    /// What it learned from, and what was kept from it.
    pub split: Split,
    /// As it was at the end.
    pub model: Model,
    /// After how many steps, and the loss on the unseen names then.
    pub looks: Vec<[f64; 2]>,
}

/// The small model, trained with the first seed.
///
/// # Errors
/// As [`Training::step`].
pub fn first() -> Result<&'static Learned> {
    static FIRST: OnceLock<Learned> = OnceLock::new();
    kept(&FIRST, train)
}

fn train() -> Result<Learned> {
    let split = Split::of(NAMES.lines());
    let (small, rng) = (Architecture::SMALL, &mut Rng::seed_from_u64(SEED));
    let mut training = Training::new(Rung::BATCH, small, Schedule::SMALL, rng)?;
    let look = |training: &Training| -> attention::Result<[f64; 2]> {
        let model = Model::new(small, training.parameters())?;
        Ok([training.n_taken() as f64, model.loss(&split.test)?])
    };
    let mut looks = vec![look(&training)?];
    while training.step(&split.learned, rng)?.is_some() {
        if training.n_taken().is_multiple_of(EACH) {
            looks.push(look(&training)?);
        }
    }
    let model = Model::new(small, training.parameters())?;
    Ok(Learned { split, model, looks })
}

/// What is counted, letters after none, one and two others, and the loss of these counts on
/// the unseen names.
pub fn counted(split: &Split) -> [(&'static str, f64); 3] {
    [("single letters", 0), ("pairs", 1), ("triples", 2)].map(|(name, n_before)| {
        (name, Counts::of(&split.learned, n_before).loss(&split.test))
    })
}

/// The loss against steps, and the counts as level lines.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let Learned { split, looks, .. } = first()?;
    let level = |(name, loss): (&str, f64)| {
        (name.to_owned(), vec![[0.0, loss], [Schedule::SMALL.n_steps as f64, loss]])
    };
    let mut each = vec![("the model".to_owned(), looks.clone())];
    each.extend(counted(split).map(level));
    let panel = lines_panel("loss on names that it never saw", "steps", each);
    let title = "A GPT of 4,000 parameters learns more than pairs of letters, and less than triples";
    Ok(lines(title, &[panel])?)
}

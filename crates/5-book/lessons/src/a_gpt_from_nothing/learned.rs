//! The small model, trained once: what it loses on names that it never saw, on the way, beside
//! letters that are only counted.

use std::sync::OnceLock;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use figures::{Figure, Lines, lines};
use gpt::{Architecture, Counts, Model, NAMES, Rung, Schedule, Split, Training};

use crate::Args;
use crate::kept::kept;

/// Steps of the training, and between two looks at the unseen names.
pub const N_STEPS: usize = Schedule::SMALL.n_steps;
const EACH: usize = 50;
const SEED: u64 = 1;

/// What counts are called, after none, one and two letters.
pub const COUNTED: [&str; 3] = ["single letters", "pairs", "triples"];

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

/// The losses of counts on the unseen names: of single letters, pairs and triples.
pub fn counted(split: &Split) -> [f64; 3] {
    [0, 1, 2].map(|n_before| Counts::of(&split.learned, n_before).loss(&split.test))
}

/// The loss against steps, and the counts as level lines.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let Learned { split, looks, .. } = first()?;
    let level = |(name, loss): (&str, f64)| {
        (name.to_owned(), vec![[0.0, loss], [N_STEPS as f64, loss]])
    };
    let counts = COUNTED.into_iter().zip(counted(split)).map(level);
    let model = ("the model".to_owned(), looks.clone());
    let panel = Lines {
        title: "loss on names that it never saw".into(),
        x: "steps".into(),
        is_log: false,
        lines: std::iter::once(model).chain(counts).collect(),
    };
    let title = "A GPT of 4,000 parameters learns more than pairs of letters, and less than triples";
    Ok(lines(title, &[panel])?)
}

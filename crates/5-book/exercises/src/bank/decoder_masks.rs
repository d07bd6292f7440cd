//! The three masks of an encoder–decoder, from two lengths and a padding.

use std::process::ExitCode;

use attention::{Mask, Matrix};

use crate::{Answer, Case, Exercise, Place, Section};

mod mistakes;
#[cfg(test)]
mod tests;

/// A source with its padding, and a target.
pub struct Input {
    n_source: usize,
    source_length: usize,
    n_target: usize,
}

/// The masks of an encoder–decoder: true where a query may attend to a key.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreeMasks {
    /// Of the encoder, `[n_source, n_source]`.
    pub encoder: Matrix<bool>,
    /// Of the decoder's own attention, `[n_target, n_target]`.
    pub own: Matrix<bool>,
    /// Of the cross-attention, `[n_target, n_source]`.
    pub cross: Matrix<bool>,
}

/// True and false, of which neither is nearly right.
impl Answer for ThreeMasks {
    const TOLERANCE: f64 = 0.0;

    fn parts(&self) -> Vec<Matrix> {
        let numbers = |mask: &Matrix<bool>| mask.map(|may| f64::from(u8::from(may)));
        [&self.encoder, &self.own, &self.cross].map(numbers).to_vec()
    }

    fn part_name(&self, part: usize) -> String {
        NAMES[part].into()
    }
}

const NAMES: [&str; 3] =
    ["the encoder's mask", "the decoder's own mask", "the mask of the cross-attention"];

impl Input {
    fn real(&self, j: usize) -> bool {
        j < self.source_length
    }

    /// The three masks of these rules for query i and key j.
    fn masks(
        &self,
        encoder: impl Fn(usize, usize) -> bool,
        own: impl Fn(usize, usize) -> bool,
        cross: impl Fn(usize, usize) -> bool,
    ) -> ThreeMasks {
        let (n_source, n_target) = (self.n_source, self.n_target);
        ThreeMasks {
            encoder: Matrix::from_fn(n_source, n_source, encoder),
            own: Matrix::from_fn(n_target, n_target, own),
            cross: Matrix::from_fn(n_target, n_source, cross),
        }
    }

    /// By the masks of the stages.
    fn right(&self) -> ThreeMasks {
        let (n_source, n_target) = (self.n_source, self.n_target);
        let padding = Mask::FirstKeys(self.source_length);
        let may = |mask: &Mask, at, lengths| mask.added(at, lengths).is_some();
        self.masks(
            |i, j| may(&padding, (i, j), (n_source, n_source)),
            |i, j| may(&Mask::Causal, (i, j), (n_target, n_target)),
            |i, j| may(&padding, (i, j), (n_target, n_source)),
        )
    }

    fn with_encoder(&self, rule: impl Fn(usize, usize) -> bool) -> ThreeMasks {
        let ThreeMasks { encoder, .. } = self.masks(rule, |_, _| true, |_, _| true);
        ThreeMasks { encoder, ..self.right() }
    }

    fn with_own(&self, rule: impl Fn(usize, usize) -> bool) -> ThreeMasks {
        let ThreeMasks { own, .. } = self.masks(|_, _| true, rule, |_, _| true);
        ThreeMasks { own, ..self.right() }
    }

    fn with_cross(&self, rule: impl Fn(usize, usize) -> bool) -> ThreeMasks {
        let ThreeMasks { cross, .. } = self.masks(|_, _| true, |_, _| true, rule);
        ThreeMasks { cross, ..self.right() }
    }

    /// Another rule for the source, in both of the maps that read it.
    fn with_source(&self, rule: impl Fn(usize, usize) -> bool) -> ThreeMasks {
        let ThreeMasks { encoder, cross, .. } = self.masks(&rule, |_, _| true, &rule);
        ThreeMasks { encoder, cross, ..self.right() }
    }
}

/// What the reader writes: from the source's positions, how many of them are real, and the
/// target's positions, the three masks.
pub type DecoderMasks =
    fn(n_source: usize, source_length: usize, n_target: usize) -> ThreeMasks;

/// Checks an answer.
pub fn check(answer: DecoderMasks) -> ExitCode {
    EXERCISE.check(move |Input { n_source, source_length, n_target }| {
        answer(*n_source, *source_length, *n_target)
    })
}

const CHAPTER: &str = "from-one-sequence-to-another";
const THREE: Section = Section::new(CHAPTER, "Three maps, three masks");

/// The exercise.
pub static EXERCISE: Exercise<Input, ThreeMasks> = Exercise {
    name: "decoder_masks",
    title: "Three maps, three masks",
    read: THREE,
    begin: "one entry of each map: what is its query, what is its key, and from which of the \
        two sequences does each come?",
    print: "the three masks",
    passed: "Padding is blocked wherever the source is read, and the future wherever a token \
        is written: the first is a matter of the keys, the second of the target alone.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |_, Place { part, row, column }| {
        let name = NAMES[part];
        format!("{name}, query {row}, key {column} (1 is true, 0 is false)")
    },
};

/// The first has as many positions on both sides, so that each mask has the shape of each.
fn cases() -> Vec<Case<Input>> {
    let case = |n_source: usize, source_length: usize, n_target: usize| Case {
        sizes: format!(
            "{n_source} positions in the source, the first {source_length} of them real, \
             {n_target} in the target"
        ),
        square: n_source == n_target,
        input: Input { n_source, source_length, n_target },
    };
    vec![case(4, 3, 4), case(5, 3, 2), case(3, 2, 6), case(6, 1, 3), case(3, 3, 5)]
}

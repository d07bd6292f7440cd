//! The mistakes, step by step, each with the public report that it is from or nearest to.
//!
//! Where several compute the same numbers in most layers, the likelier stands first.

/// The mistakes of a file, one per line: the step, the name, what a layer needs for it, `alone`
/// if it is [tried alone](Mistake::is_alone), and the choice of the recipe that it changes.
macro_rules! mistakes {
    ($($step:ident, $id:literal, [$($need:ident),*] $($alone:ident)?, $change:expr;)*) => {
        pub(super) const MISTAKES: &[crate::Mistake] = &[$(crate::Mistake {
            id: $id,
            step: crate::Step::$step,
            needs: &[$(crate::mistake::Need::$need),*],
            is_alone: !<[&str]>::is_empty(&[$(stringify!($alone))?]),
            change: $change,
        }),*];
    };
}

mod heads;
mod inputs;
mod masks;
mod outputs;
mod packing;
mod positions;
mod projections;
mod scores;
mod softmax;

use crate::Mistake;

/// All mistakes, in the order of the steps.
pub fn bank() -> impl Iterator<Item = &'static Mistake> {
    let parts: [&'static [Mistake]; 9] = [
        inputs::MISTAKES,
        packing::MISTAKES,
        projections::MISTAKES,
        heads::MISTAKES,
        positions::MISTAKES,
        scores::MISTAKES,
        masks::MISTAKES,
        softmax::MISTAKES,
        outputs::MISTAKES,
    ];
    parts.into_iter().flatten()
}

/// The mistake of this name for programs.
pub fn mistake(id: &str) -> Option<&'static Mistake> {
    bank().find(|mistake| mistake.id == id)
}

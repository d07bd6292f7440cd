//! The mistakes, step by step: each is a way to do a step, and stands beside the right one.
//!
//! Where several compute the same numbers in most layers, the likelier stands first.

/// Mistakes at a step, one per line: the name, what a layer needs for it, `alone` if it is
/// [tried alone](Mistake::is_alone), and how it changes the recipe.
macro_rules! mistakes {
    (at $step:ident: $($id:literal, [$($need:ident),*] $($alone:ident)?, $change:expr;)*) => {
        pub(crate) const MISTAKES: &[crate::Mistake] = &[$(crate::Mistake {
            id: $id,
            step: crate::Step::$step,
            needs: &[$(crate::mistake::Need::$need),*],
            is_alone: !<[&str]>::is_empty(&[$(stringify!($alone))?]),
            change: $change,
        }),*];
    };
}

/// A choice of the recipe at a step, one way to do it per line; a way that is a mistake by
/// itself has its name, and what a layer needs for it.
macro_rules! choice {
    ($(#[$of_all:meta])* $choice:ident: $all:ident at $step:ident {
        $($(#[$of_one:meta])* $one:ident $(= $id:literal, [$($need:ident),*] $($alone:ident)?)?;)*
    }) => {
        $(#[$of_all])*
        #[allow(missing_docs)] // a way without a word is what its name says
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $all {
            $($(#[$of_one])* $one,)*
        }

        impl $all {
            mistakes! {
                at $step: $($($id, [$($need),*] $($alone)?, |r| r.$choice = $all::$one;)?)*
            }
        }
    };
}

pub mod heads;
pub mod masks;
pub mod outputs;
pub mod projections;
pub mod scores;

use crate::Mistake;

/// All mistakes, in the order of the steps.
pub fn bank() -> impl Iterator<Item = &'static Mistake> {
    let parts: [&'static [Mistake]; 22] = [
        projections::Axes::MISTAKES,
        projections::Role::MISTAKES,
        projections::Packing::MISTAKES,
        projections::MISTAKES,
        heads::Split::MISTAKES,
        heads::Norms::MISTAKES,
        heads::Sharing::MISTAKES,
        heads::Rotary::MISTAKES,
        scores::Similarity::MISTAKES,
        scores::Scale::MISTAKES,
        scores::Cap::MISTAKES,
        scores::Slopes::MISTAKES,
        masks::MISTAKES,
        masks::Causal::MISTAKES,
        masks::Window::MISTAKES,
        masks::Fill::MISTAKES,
        scores::Softmax::MISTAKES,
        scores::Sinks::MISTAKES,
        scores::Values::MISTAKES,
        outputs::Merge::MISTAKES,
        outputs::MISTAKES,
        outputs::Addition::MISTAKES,
    ];
    parts.into_iter().flatten()
}

/// The mistake of this name for programs.
pub fn mistake(id: &str) -> Option<&'static Mistake> {
    bank().find(|mistake| mistake.id == id)
}

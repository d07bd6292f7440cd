//! The exercises and their mistakes, as their files say them.
//!
//! An exercise is two files, side by side in `exercises/set`:
//!
//! ```text
//! scale.rs   the solution, with the text that says what is asked
//! scale.md   its title and hints, and a heading for each mistake: what it does, why it
//!            looks right, and the edits of the solution that make it
//! ```
//!
//! The one decision: **a mistake is an edit of a right answer**, `old → new`, and not a second
//! implementation. [`Exercise`] is what the two files say; [`Solution`] is the first, from
//! which [`Exercise::given`] makes the file that a reader starts from; and [`Exercise::source`]
//! is a whole answer with an edit applied, which others compile.
//!
//! The order of exercises is that of the book: a chapter ends with lines
//! `{{#exercise scale}}`, and `chapters/SUMMARY.md` orders chapters.
//!
//! A variant is an edit too: of the solution, and with it of the task. [`Exercise::varied`] is
//! the whole exercise that follows from it, and [`Exercise::handed_out`] an exercise whose
//! files have no answer in them.
//!
//! Left out: numbers. Nothing here computes, so that the command, the pages and the check of
//! an answer can all read this.

mod answer;
mod chapters;
mod exercise;
mod fault;
mod layer;
mod sheet;
mod solution;
mod varied;

pub use answer::{Answer, Form, tokens};
pub use chapters::{Section, root};
pub use exercise::{
    Exercise, all, asked, chosen, digest, find, find_in, folder, runs, with_numbers,
};
pub use fault::{Fault, Result};
pub use layer::{LayerMistake, layer_mistake, layer_mistakes, layer_pages};
pub use sheet::{
    Block, Elsewhere, Mistake, Other, Right, Sheet, ShownBy, Variant, blocks,
};
pub use solution::Solution;

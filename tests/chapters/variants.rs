//! What “Variants” quotes: each change counted, measured, or trained.

mod changed;
mod count;
mod places;
mod shared;
mod stretched;

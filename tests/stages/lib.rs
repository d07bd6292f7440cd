//! Random layers, inputs and masks, and the number by which stages are compared, for the
//! tests of this package and of those that read files.

// For tests, which read the names, and fail by panics.
#![allow(missing_docs, clippy::missing_panics_doc)]

pub mod cases;

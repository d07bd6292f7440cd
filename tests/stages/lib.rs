//! Random layers, inputs and masks, and the number by which stages are compared, for the
//! tests of this package and of those that read files.

#![allow(missing_docs)] // for tests, which read the names

pub mod cases;

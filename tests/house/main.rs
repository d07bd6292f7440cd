//! How the workspace is built, one file a promise.

/// How much code a folder may hold.
mod budget;
/// No circles between the files of a crate.
mod circles;
/// The page reads every field that a figure has.
mod drawn;
/// One error for the first two floors, and no second name for one.
mod errors;
/// The layers: an arrow between crates goes only down.
mod floors;
/// Where the crates are.
mod house;
/// How long a function may be.
mod lengths;
/// Cells that fit a screen, with what they change; figures; sentences for wrong numbers.
mod notebooks;
/// What is compiled for what: lessons without files, the proof without the book.
mod rooms;

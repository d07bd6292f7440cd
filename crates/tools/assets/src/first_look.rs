//! The first page: a sentence as text, and where its words look in every head.

use crate::Asset;

/// What the page loads after the explorer, in this order, with the names to load it by.
pub const LOADED: [Asset; 2] = [
    ("first-look.css", include_str!("../first-look/first-look.css")),
    ("first-look.js", include_str!("../first-look/first-look.js")),
];

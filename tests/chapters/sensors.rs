//! What “Sensors” quotes: engines, their model, its heads, and what each part is for.

mod data;
mod heads;
mod model;
mod parts;

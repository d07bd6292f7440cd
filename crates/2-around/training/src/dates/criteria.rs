//! What counts as what, fixed before any training.
//!
//! A letter of "YYYY-MM-DD" is one row of a head's map in the cross-attention: the row from
//! which that letter is predicted. Its **right part** is what it is made from: the year for
//! YYYY, the month for MM, the day for DD. A dash is made from nothing and stands between two
//! parts, so either is right: the head is still on the part that it leaves, or already on
//! the one to come.
//!
//! A letter is aligned if the part, mean over unseen dates, gets more than [`TIMES_EVEN`]
//! times what even attention would give it, mean over the same dates. Both are means before
//! they are compared: "september" is more than half of some dates, and more than twice that
//! no head could give.

/// A head aligns if so many of the ten letters, or more, are aligned.
pub const ALIGNED_LETTERS: usize = 9;

/// The right part gets more than so many times its even share.
pub const TIMES_EVEN: f64 = 2.0;

/// The least share of unseen dates that are whole, all ten letters right, with each seed.
pub const LEAST_WHOLE: f64 = 0.97;

/// The most seconds that a training may take on two cores.
pub const MOST_SECONDS: f64 = 60.0;

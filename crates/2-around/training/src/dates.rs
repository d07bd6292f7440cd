//! Dates as people write them become "2031-03-12", letter by letter.

pub mod criteria;

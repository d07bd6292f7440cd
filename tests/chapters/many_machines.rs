//! What “Many machines” quotes: one layer on many machines, compared, counted, timed, and on paper.

mod apart;
mod paper;
mod times;

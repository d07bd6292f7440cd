//! A layer by many ranks, next to the same layer on one machine.

mod backward;
mod cases;
mod faults;
mod forward;
mod numbers;

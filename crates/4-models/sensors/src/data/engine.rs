//! What is measured of an engine.

use crate::sizes::{N_SENSORS, N_SETTINGS};

/// One reading: what an engine did in one cycle, which is one flight.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// How it was operated: altitude, Mach number, throttle.
    pub settings: [f64; N_SETTINGS],
    /// What its sensors said; sensor s is `sensors[s − 1]`.
    pub sensors: [f64; N_SENSORS],
}

/// An engine with its readings, from cycle 1 on.
#[derive(Debug, Clone, PartialEq)]
pub struct Engine {
    /// Its number.
    pub unit: usize,
    /// Its readings; that of cycle c is `readings[c − 1]`.
    pub readings: Vec<Reading>,
}

impl Engine {
    /// How many cycles it has run, which is also the number of its last cycle.
    pub fn n_cycles(&self) -> usize {
        self.readings.len()
    }
}

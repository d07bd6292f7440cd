//! The sizes of readings and windows.

/// Settings of the operation in a reading.
pub const N_SETTINGS: usize = 3;

/// Sensors in a reading.
pub const N_SENSORS: usize = 21;

/// Columns of a file: the unit, the cycle, the settings, the sensors.
pub const N_COLUMNS: usize = 2 + N_SETTINGS + N_SENSORS;

/// Readings in a window.
pub const N_STEPS: usize = 30;

/// The longest life that a model is asked for: an engine that runs well says nothing of when
/// it will fail.
pub const CAP: f64 = 125.0;

/// A prediction as it is judged: at least 0 and at most [`CAP`].
pub fn capped(predicted: f64) -> f64 {
    predicted.clamp(0.0, CAP)
}

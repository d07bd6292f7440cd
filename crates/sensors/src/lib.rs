//! sensors

mod baseline;
mod data;
mod error;
mod lstm;
mod metrics;

pub use baseline::LastReading;
pub use data::{
    At, CAP, Engine, Fleet, GROUPS, Lived, N_COLUMNS, N_SENSORS, N_SETTINGS, N_STEPS,
    Prepared, Reading, Readings, Scale, Truth, Windows, parse_engines, parse_lives,
    split, write_engines,
};
pub use error::{Error, Result};
pub use lstm::{Case, Direction, Layer, Lstm, Read, State};
pub use metrics::{nasa_score, rmse};

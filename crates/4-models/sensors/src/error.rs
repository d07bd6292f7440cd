//! What can be wrong with readings and with models of them.

use std::io;
use std::path::PathBuf;

use crate::sizes::{N_COLUMNS, N_SENSORS, N_STEPS};

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why readings cannot be used, or a model cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// Sizes that do not fit together.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// A file of tensors.
    #[error(transparent)]
    File(#[from] model_files::Error),

    /// A file of tensors that cannot be read, or a tensor of another shape or kind.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),

    /// A folder that is not there, or is none.
    #[error("there is no folder {}", path.display())]
    NoFolder { path: PathBuf },

    /// The operating system did not let a file be read.
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },

    /// The operating system did not let a file be written.
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },

    /// A line with more or fewer columns.
    #[error(
        "{file}, line {line}: {found} columns, expected {N_COLUMNS}: the unit, the cycle, \
         3 settings and {N_SENSORS} sensors"
    )]
    Columns { file: String, line: usize, found: usize },

    /// A word that is no number.
    #[error("{file}, line {line}, column {column}: \"{word}\", expected {expected}")]
    Number {
        file: String,
        line: usize,
        column: usize,
        word: String,
        expected: &'static str,
    },

    /// A reading that is NaN or infinite.
    #[error("{file}, line {line}, column {column}: {number} is no reading")]
    NotFinite { file: String, line: usize, column: usize, number: f64 },

    /// A tensor of a case with NaN or infinity.
    #[error(
        "{file}: NaN or infinity in {tensor} of sequence {sequence}, row {row}, counted from \
         0: an LSTM makes NaN of every token behind it"
    )]
    NotFiniteTensor { file: String, tensor: String, sequence: usize, row: usize },

    /// Cycles that do not go up by one from 1.
    #[error("{file}, line {line}: cycle {found} of engine {unit}, expected {expected}")]
    Cycle { file: String, line: usize, unit: usize, expected: usize, found: usize },

    /// An engine whose readings are in two places.
    #[error("{file}, line {line}: engine {unit} again, after another one")]
    UnitAgain { file: String, line: usize, unit: usize },

    /// A file without a reading.
    #[error("{file}: it holds no reading")]
    NoReadings { file: String },

    /// Not one remaining life for each engine.
    #[error("{file}: {n_lives} remaining lives for {n_engines} engines")]
    Lives { file: String, n_engines: usize, n_lives: usize },

    /// No engine has enough readings for a window.
    #[error(
        "none of {n_engines} engines has a window of {N_STEPS} readings: the longest has \
         {longest}"
    )]
    AllShort { n_engines: usize, longest: usize },

    /// Too few engines to learn from some and to choose by others.
    #[error("{n_engines} engines cannot be split: it takes at least 2")]
    TooFew { n_engines: usize },

    /// Sensors that are constant, all of them.
    #[error("no sensor of {n_engines} engines says anything: all are constant")]
    NothingSaid { n_engines: usize },

    /// A sensor that no reading has.
    #[error("there is no sensor {sensor}: they count from 1 to {N_SENSORS}")]
    NoSensor { sensor: usize },

    /// A text in a file's metadata that makes no sense.
    #[error("{file}: {key} of its metadata makes no sense")]
    Text { file: String, key: String },

    /// A spread by which nothing can be divided.
    #[error("the spread of sensor {sensor} is {spread}, and must be a number above 0")]
    Spread { sensor: usize, spread: f64 },

    /// A question about heads to a model that has none.
    #[error("the model has no attention")]
    NoAttention,

    /// A question about an LSTM to a model that has none.
    #[error("the model has no LSTM")]
    NoLstm,

    /// A window that these engines do not have.
    #[error("no window of engine {engine} (from 0) ends at cycle {end}")]
    NoWindow { engine: usize, end: usize },
}

//! From the sensors of an engine to how long it will run: the system around source 003's
//! eight heads.
//!
//! The source takes its `(30, 256)` from a bidirectional LSTM over thirty readings. Here is
//! all of it, from a file of readings to one number, and the layer is one part:
//!
//! ```text
//! file or generator ──▶ engines ──▶ windows of 30 × 14 ──▶ BiLSTM ──▶ 30 × 256
//!                                                                        │
//!   remaining life ◀── one linear map ◀── mean ◀── norm(x + attention) ◀─┘
//! ```
//!
//! [`Readings`] come from files in the format of NASA's C-MAPSS set, or from a [`Fleet`] of
//! engines that were never built, of which the [`Truth`] is known: where the decline begins,
//! where spikes are. [`Prepared`] splits engines, measures the [`Scale`] and cuts
//! [`Windows`]. [`Lstm`] is the forward pass of `torch.nn.LSTM`; [`Remaining`] is the model,
//! with any stage as its attention, and keeps every step of a pass; [`Architecture`] is what
//! it is made of, and what else it is compared with; [`remaining`] is the one that comes
//! trained, and [`SEEDS`] what its parts are for, measured.
//!
//! ```
//! use sensors::{Fleet, Prepared, Windows, remaining};
//!
//! let trained = remaining()?;
//! let model = trained.fused::<f64>()?;
//! let (readings, _) = Fleet::default().readings(0);
//! let windows = Windows::of(&readings.test, &readings.lives, &trained.scale)?;
//! let last = windows.last()[0];
//! let steps = model.forward(&windows.readings(&last)?)?;
//! assert_eq!(steps.x.shape(), (30, 256));
//! println!("{:.0} cycles; in truth {}", steps.remaining, last.remaining);
//! # Ok::<(), sensors::Error>(())
//! ```
//!
//! The one decision: **training is elsewhere.** A framework trains, in a workspace of its own
//! (`crates/4-models/sensors/framework`), and writes weights under PyTorch's names; this crate opens
//! them and is held to what the framework computes. So nobody compiles a framework to read a
//! chapter, and what it made is checked by code that it did not write.
//!
//! Left out: a backward pass of the LSTM, dropout, `proj_size`.

mod architecture;
mod baseline;
mod data;
mod error;
mod lstm;
mod metrics;
mod model;
mod sizes;
pub mod study;
mod trained;

pub use architecture::{Architecture, Ledger, Pool, Reader, Slot};
pub use baseline::{Features, Plain};
pub use data::{
    At, Engine, Fleet, GROUPS, Prepared, Reading, Readings, Scale, SimulatedEngine,
    Truth, Windows, parse_engines, parse_lives, split, write_engines,
};
pub use error::{Error, Result};
pub use lstm::{Case, Direction, Layer, Lstm, LstmOutput, State};
pub use metrics::{nasa_score, rmse};
pub use model::{AttentionPass, ModelPass, Remaining, Tokens, Trained};
pub use sizes::{CAP, N_COLUMNS, N_SENSORS, N_SETTINGS, N_STEPS, capped};
pub use trained::{HEADS, REMAINING_FILE, SEEDS, remaining};

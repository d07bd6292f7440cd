//! The trained model, and windows to ask it.

use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use attention::Matrix;
use fused_heads::FusedAttention;
use sensors::{Fleet, N_STEPS, Remaining, Scale, SimulatedEngine, Trained, Windows};
use tensors::TensorFile;

use super::{group, lived};

pub use sensors::REMAINING_FILE as FILE;

/// The number of its heads: controls are made where the model is not there.
pub const N_HEADS: usize = 8;

/// The model with its scale.
pub struct SensorModel {
    /// What the file says, and the scale.
    pub trained: Trained,
    /// The model in f64, its attention by stage 3.
    pub model: Remaining<FusedAttention>,
}

static MODEL: OnceLock<SensorModel> = OnceLock::new();

impl SensorModel {
    fn new(trained: Trained) -> Result<Self> {
        Ok(Self { model: trained.fused()?, trained })
    }
}

/// The trained model. A page's module is built without its weights, and must be
/// [given](give) them first.
///
/// # Errors
/// In a page, if it was not given.
pub fn opened() -> Result<&'static SensorModel> {
    #[cfg(not(target_arch = "wasm32"))]
    if MODEL.get().is_none() {
        let embedded = SensorModel::new(sensors::remaining()?)?;
        MODEL.get_or_init(|| embedded);
    }
    MODEL.get().context("the model of engines has not been loaded")
}

/// Gives the bytes of [`FILE`] to what runs without them.
///
/// # Errors
/// If they are another file's.
pub fn give(bytes: Vec<u8>) -> Result<()> {
    let file = TensorFile::from_bytes("the file of the model of engines", bytes)?;
    let opened = SensorModel::new(Trained::read(file)?)?;
    MODEL.get_or_init(|| opened);
    Ok(())
}

/// A window of an engine that no training has seen.
pub struct Window {
    /// On the scale of the training, `[30, 14]`.
    pub readings: Matrix,
    /// How many cycles remain behind it.
    pub remaining: usize,
    /// The cycle of its first reading.
    pub first: usize,
}

/// The window of this engine behind which so many cycles remain; the first one, if the
/// engine has not run so long.
///
/// # Errors
/// None for an engine that runs at least 30 cycles, as all of the fleet do.
pub fn window(scale: &Scale, engine: usize, remaining: usize) -> Result<Window> {
    let SimulatedEngine { engine, .. } = lived(&Fleet::default(), engine);
    let windows = Windows::of(&[engine], &[0], scale)?;
    let n = windows.at.len();
    let at = windows.at[n.saturating_sub(1 + remaining)];
    let readings = windows.readings(&at)?;
    Ok(Window { readings, remaining: at.remaining as usize, first: at.end + 1 - N_STEPS })
}

impl Window {
    /// Moves the sensors of a group at one reading, by so many standard deviations of the
    /// training.
    ///
    /// # Errors
    /// An unknown group; a reading that is not there.
    pub fn spike(
        &mut self,
        scale: &Scale,
        of: &str,
        at: usize,
        height: f64,
    ) -> Result<()> {
        let n = self.readings.nrows();
        ensure!(at < n, "reading {at} of {n}, which count from 0");
        let group = group(of)?;
        for (j, sensor) in scale.sensors.iter().enumerate() {
            if group.contains(sensor) {
                self.readings[(at, j)] += height;
            }
        }
        Ok(())
    }
}

//! Where descent with wrong gradients ends, start by start.

use anyhow::Result;
use figures::{Axis, Figure, log_axis, palette};
use gradients::{Optimiser, Sgd};

use super::ways::{Way, back};
use crate::args::Args;
use crate::learning::{N_STEPS, RATE, Task, fresh_layer};
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::brief;

/// Of how many random starts the chapter trains each way, and below which loss the task is
/// learned.
pub const N_WRONG_STARTS: u64 = 6;
/// Below this loss the task is learned.
pub const ENOUGH: f64 = 0.01;

/// The loss at the end of descent with a way's gradients, start by start.
///
/// # Errors
/// None; the sizes fit.
pub fn ends_of(way: Way) -> Result<Vec<f64>> {
    let task = Task::new(1)?;
    let trained = |seed| -> Result<f64> {
        let mut layer = fresh_layer(seed)?;
        for _ in 0..N_STEPS {
            let d = back(&layer, &task, way)?;
            Sgd { lr: RATE }.step_layer(&mut layer, &d)?;
        }
        task.loss(&layer)
    };
    (0..N_WRONG_STARTS).map(trained).collect()
}

/// What [`ends_of`] came to, way by way in the order of [`Way::ALL`]: computed, it takes
/// half a minute. A test compares.
///
/// # Errors
/// If the file is another.
pub fn kept_ends() -> Result<Vec<Vec<f64>>> {
    Ok(serde_json::from_str(include_str!("../../data/wrong-starts.json"))?)
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let names = Way::ALL.map(|(_, name)| name.to_owned());
    let ends = kept_ends()?;
    let is_right = |row: usize| Way::ALL[row].0 == Way::Right;
    let list = |name: &str, colour| RowList::new(name, &ends[..], Look::Runs(colour));
    let lists = vec![
        list("right", palette::head(0)).only(is_right),
        list("wrong", palette::wrong()).only(|row| !is_right(row)),
    ];
    let x = Axis::decades([1e-6, 1.0], log_axis::power_of_ten);
    let heading = format!("loss at the end, {N_WRONG_STARTS} starts");
    let panel = RowPanel::new(heading, x, brief, lists);
    let title = "Several wrong gradients learn the task too";
    NamedRows::new(&names, 24.0, 1).figure(title, &[panel])
}

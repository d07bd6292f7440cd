//! What was measured of a split, as a row of a table and as a line of JSON.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use distributed::{Model, Split};
use serde::Serialize;

use crate::times::Timed;

/// What stands above the rows.
pub const HEAD: &str = "split                    ms computing  waiting     MB sent predicted   \
    off   speed   grown by  keys and values";

/// One split of one case: seconds, bytes, and multiply-adds a second.
#[derive(Debug, Serialize)]
pub struct Record {
    n_sequences: usize,
    n_tokens: usize,
    d_model: usize,
    n_heads: usize,
    is_causal: bool,
    processes: usize,
    split: String,
    latency: f64,
    bandwidth: f64,
    products: f64,
    attention: f64,
    one_machine: f64,
    seconds: f64,
    waiting: f64,
    sent: u64,
    predicted: f64,
    predicted_waiting: f64,
    predicted_sent: u64,
    /// From one machine.
    difference: f64,
    /// By how much a process grew, where nothing else was computed before.
    pub grown: Option<u64>,
    keys: Option<u64>,
    /// What all keys and values are, divided by the processes.
    keys_share: f64,
}

impl Record {
    /// What was predicted, and what was measured.
    ///
    /// # Errors
    /// A split that these processes cannot have.
    pub fn new(
        model: &Model,
        processes: usize,
        split: Split,
        timed: &Timed,
        one_machine: f64,
        difference: f64,
    ) -> Result<Self> {
        let predicted = model.predict(split, processes)?;
        let (dims, (n_sequences, n_tokens)) = (model.dims, model.lengths);
        let per_token = dims.n_heads() * (dims.d_k() + dims.d_v()) * model.bytes;
        Ok(Self {
            n_sequences,
            n_tokens,
            d_model: dims.d_model(),
            n_heads: dims.n_heads(),
            is_causal: model.is_causal,
            processes,
            split: split.to_string(),
            latency: model.ring.latency,
            bandwidth: model.ring.bandwidth,
            products: model.speed.products,
            attention: model.speed.attention,
            one_machine,
            seconds: timed.seconds,
            waiting: timed.waiting,
            sent: timed.bytes,
            predicted: predicted.seconds(),
            predicted_waiting: predicted.waiting,
            predicted_sent: predicted.bytes,
            difference,
            grown: timed.grown,
            keys: timed.keys,
            keys_share: (n_sequences * n_tokens * per_token) as f64 / processes as f64,
        })
    }

    /// As it stands below [`HEAD`].
    pub fn row(&self) -> String {
        let megabytes = |bytes: Option<u64>| {
            bytes.map_or(String::new(), |n| format!("{:.1} MB", n as f64 / 1e6))
        };
        let keys = self.keys.map_or(String::new(), |keys| {
            let share = keys as f64 / self.keys_share;
            format!("{}, {share:.2} × their share", megabytes(Some(keys)))
        });
        format!(
            "{:<18} {:>8.1} {:>9.1} {:>8.1} {:>11.1} {:>9.1} {:>4.0}% {:>6.2}× {:>10}  {keys}",
            self.split,
            self.seconds * 1e3,
            (self.seconds - self.waiting) * 1e3,
            self.waiting * 1e3,
            self.sent as f64 / 1e6,
            self.predicted * 1e3,
            (self.predicted / self.seconds - 1.0) * 100.0,
            self.one_machine / self.seconds,
            megabytes(self.grown),
        )
        .trim_end()
        .to_owned()
    }
}

/// Adds lines to a file: all of them at once, or none.
///
/// # Errors
/// A file that cannot be written, with its name.
pub fn append(file: &Path, records: &[Record]) -> Result<()> {
    let mut lines = String::new();
    for record in records {
        lines += &serde_json::to_string(record)?;
        lines.push('\n');
    }
    let written = OpenOptions::new().create(true).append(true).open(file);
    let written = written.and_then(|mut file| file.write_all(lines.as_bytes()));
    written.with_context(|| format!("{} cannot be written", file.display()))
}

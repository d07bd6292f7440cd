//! What `cargo learn spread` measured on the reference machine, next to what was predicted.

use crate::Args;
use crate::numbers::lines_panel;
use anyhow::{Context, Result};
use figures::{Figure, lines};
use serde_json::Value;

/// Two and four processes of one machine, whose links are its memory.
const ONE_MACHINE: &str =
    include_str!("../../../../3-fast/distributed/data/one-machine.jsonl");

/// Two processes on links that let no more than so many bits pass.
const SLOW_LINKS: &str =
    include_str!("../../../../3-fast/distributed/data/slow-links.jsonl");

/// A long sequence in a narrow layer, and a batch of shorter ones in a wide layer: sequences,
/// tokens of each, d_model, heads.
pub const CASES: [[usize; 4]; 2] = [[1, 16384, 256, 4], [8, 1024, 768, 12]];

/// One split of one case; seconds, bytes, and bytes or multiply-adds a second.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// As in [`CASES`].
    pub case: [usize; 4],
    /// How many processes.
    pub processes: usize,
    /// What was shared out: `heads`, `tokens`, `batch`.
    pub split: String,
    /// Bytes a second that a link carries.
    pub bandwidth: f64,
    /// Multiply-adds a second of a process, in projections and in attention.
    pub speed: [f64; 2],
    /// By one process with as many threads.
    pub one_machine: f64,
    /// By all processes.
    pub seconds: f64,
    /// Of it, waiting.
    pub waiting: f64,
    /// Bytes that a process sent.
    pub sent: f64,
    /// What the model says.
    pub predicted: f64,
}

impl Run {
    fn of(line: &str) -> Result<Self> {
        let record: Value = serde_json::from_str(line)?;
        let number = |name: &str| record[name].as_f64().with_context(|| name.to_owned());
        let count = |name: &str| Ok::<_, anyhow::Error>(number(name)? as usize);
        let split = record["split"].as_str().context("split")?.to_owned();
        Ok(Self {
            case: [
                count("n_sequences")?,
                count("n_tokens")?,
                count("d_model")?,
                count("n_heads")?,
            ],
            processes: count("processes")?,
            split,
            bandwidth: number("bandwidth")?,
            speed: [number("products")?, number("attention")?],
            one_machine: number("one_machine")?,
            seconds: number("seconds")?,
            waiting: number("waiting")?,
            sent: number("sent")?,
            predicted: number("predicted")?,
        })
    }

    /// How far off the prediction is, as a part of the time.
    pub fn off(&self) -> f64 {
        self.predicted / self.seconds - 1.0
    }
}

/// All runs on one machine.
///
/// # Errors
/// None for the record that is compiled in.
pub fn one_machine() -> Result<Vec<Run>> {
    ONE_MACHINE.lines().map(Run::of).collect()
}

/// All runs on slow links, the fastest first.
///
/// # Errors
/// None for the record that is compiled in.
pub fn slow_links() -> Result<Vec<Run>> {
    SLOW_LINKS.lines().map(Run::of).collect()
}

/// The time of each split by what a megabyte takes on the link: a straight line, as steep as
/// what is sent and not hidden behind computing.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let runs = slow_links()?;
    let panel = |case: [usize; 4], title: &str| {
        let of_case = || runs.iter().filter(move |run| run.case == case);
        let line = |split: &str, name: String, y: fn(&Run) -> f64| {
            let runs = of_case().filter(|run| run.split == split);
            let points = runs.map(|run| [1e9 / run.bandwidth, 1e3 * y(run)]);
            (name, points.collect::<Vec<_>>())
        };
        let mut all = Vec::new();
        for split in ["heads", "tokens", "batch"] {
            all.push(line(split, format!("{split} apart"), |run| run.seconds));
        }
        for split in ["heads", "tokens"] {
            all.push(line(split, format!("{split}, predicted"), |run| run.predicted));
        }
        all.retain(|(_, points)| !points.is_empty());
        lines_panel(format!("{title}: milliseconds"), "milliseconds for a megabyte", all)
    };
    let panels = [
        panel(CASES[0], "one long sequence"),
        panel(CASES[1], "eight shorter ones, wider"),
    ];
    let title = "Two processes on links of 10, 3, 1 and 0.3 gigabits a second: the ring hides \
                 what it sends as long as there is enough to compute, the sum hides nothing";
    Ok(lines(title, &panels)?)
}

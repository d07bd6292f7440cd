//! A layer timed: on one machine, and by every split.

use std::time::Instant;

use anyhow::Result;
use attention::{Batch, LayerParameters, Mask, Matrix};
use distributed::{
    BatchApart, Chunks, Fast, Grid, Group, HeadsApart, OnGrid, Split, Tally,
};
use ranks::Processes;

use crate::args::Args;
use crate::measure::{median, slowest};
use crate::memory;

/// What one way of computing took.
pub struct Timed {
    /// Seconds, of the slowest rank.
    pub seconds: f64,
    /// Seconds in which it waited.
    pub waiting: f64,
    /// Bytes that the rank which sent most sent.
    pub bytes: u64,
    /// By how much this process's memory grew in the first run.
    pub grown: Option<u64>,
    /// What of it is keys and values, where they go round; of the rank that has most.
    pub keys: Option<u64>,
    /// This rank's output.
    pub out: Matrix<f32>,
    /// Which rows of the whole they are.
    pub place: Place,
}

/// Which rows a rank has.
#[derive(Debug, Clone)]
pub enum Place {
    /// All.
    All,
    /// Those of some chunks.
    Chunks(Chunks, usize),
    /// Those of some sequences.
    Sequences(std::ops::Range<usize>),
}

/// The whole on rank 0, with as many threads as all ranks have together, while the others
/// rest. They have no output.
pub fn alone(
    group: &mut Processes,
    layer: &LayerParameters<f32>,
    x: &Batch<f32>,
    mask: &Mask,
    args: &Args,
) -> Result<Timed> {
    let (mut seconds, mut out) = (Vec::new(), Matrix::zeros(0, 0));
    if Group::<f32>::rank(group) == 0 {
        let n_threads = Group::<f32>::size(group) * args.threads;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?;
        let mut whole: BatchApart<f32, Fast> = BatchApart::new(layer)?;
        let masks = std::slice::from_ref(mask);
        for _ in 0..=args.repeats {
            let start = Instant::now();
            out = pool.install(|| whole.forward([x; 3], masks))?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.remove(0); // packs the weights
    } else {
        seconds.push(0.0);
    }
    group.rest();
    let seconds = slowest(group, median(seconds))?;
    Ok(Timed {
        seconds,
        waiting: 0.0,
        bytes: 0,
        grown: None,
        keys: None,
        out,
        place: Place::All,
    })
}

/// A split, timed several times; the median counts.
pub fn split(
    group: &mut Processes,
    layer: &LayerParameters<f32>,
    x: &Batch<f32>,
    mask: &Mask,
    split: Split,
    repeats: usize,
) -> Result<Timed> {
    let mut part = Part::new(group, layer, x, split)?;
    let mut runs: Vec<(f64, Tally)> = Vec::new();
    let (mut out, mut grown) = (Matrix::zeros(0, 0), None);
    for run in 0..=repeats {
        memory::forget();
        let before = memory::bytes("VmRSS");
        Group::<f32>::barrier(group)?;
        let (start, sent) = (Instant::now(), Group::<f32>::tally(group));
        out = part.forward(group, x, mask)?;
        let seconds = start.elapsed().as_secs_f64();
        let tally = Group::<f32>::tally(group).since(sent);
        if run == 0 {
            // The first run asks for all memory, and packs the weights.
            grown = memory::bytes("VmHWM").zip(before).map(|(most, was)| most - was);
        } else {
            runs.push((seconds, tally));
        }
    }
    let seconds = median(runs.iter().map(|(seconds, _)| *seconds).collect());
    let waiting = runs.iter().map(|(_, tally)| tally.waiting.as_secs_f64());
    let (waiting, bytes) = (median(waiting.collect()), runs[0].1.bytes);
    Ok(Timed {
        seconds: slowest(group, seconds)?,
        waiting: slowest(group, waiting)?,
        bytes: slowest(group, bytes as f64)? as u64,
        grown: Some(slowest(group, grown.unwrap_or(0) as f64)? as u64).filter(|n| *n > 0),
        keys: Some(slowest(group, part.keys() as f64)? as u64).filter(|n| *n > 0),
        out,
        place: part.place(),
    })
}

/// What a rank has of a split layer, and of the input.
enum Part {
    Heads(HeadsApart<f32, Fast>),
    Grid {
        grid: Grid<Processes>,
        layer: Box<OnGrid<f32, Fast>>,
        rows: Matrix<f32>,
        chunks: Chunks,
    },
    Batch {
        layer: BatchApart<f32, Fast>,
        own: Option<Batch<f32>>,
        sequences: std::ops::Range<usize>,
    },
}

impl Part {
    fn new(
        group: &mut Processes,
        layer: &LayerParameters<f32>,
        x: &Batch<f32>,
        split: Split,
    ) -> Result<Self> {
        let by_heads = match split {
            Split::Heads => return Ok(Self::Heads(HeadsApart::new(layer, group)?)),
            Split::Batch => {
                let layer = BatchApart::new(layer)?;
                let sequences = layer.sequences(x.n_sequences(), group);
                let own: Vec<_> =
                    sequences.clone().map(|s| x.sequence(s).into_owned()).collect();
                let own = if own.is_empty() { None } else { Some(Batch::stack(&own)?) };
                return Ok(Self::Batch { layer, own, sequences });
            }
            Split::Tokens => 1,
            Split::Both { by_heads } => by_heads,
        };
        let mut grid = Grid::new::<f32>(group, by_heads)?;
        let layer = Box::new(OnGrid::new(layer, &grid)?);
        let chunks = grid.chunks::<f32>(x.n_tokens());
        let rank = Group::<f32>::rank(grid.ring());
        let rows = chunks.rows(x.tokens(), x.n_sequences(), rank)?;
        Ok(Self::Grid { grid, layer, rows, chunks })
    }

    fn forward(
        &mut self,
        group: &mut Processes,
        x: &Batch<f32>,
        mask: &Mask,
    ) -> distributed::Result<Matrix<f32>> {
        let masks = std::slice::from_ref(mask);
        match self {
            Self::Heads(layer) => layer.forward(group, [x; 3], masks),
            Self::Grid { grid, layer, rows, .. } => {
                let lengths = (x.n_sequences(), x.n_tokens());
                layer.forward(grid, rows, lengths, masks)
            }
            Self::Batch { own: None, .. } => Ok(Matrix::zeros(0, x.tokens().ncols())),
            Self::Batch { layer, own: Some(own), .. } => layer.forward([&*own; 3], masks),
        }
    }

    fn keys(&self) -> usize {
        match self {
            Self::Grid { layer, .. } => layer.bytes_of_keys(),
            Self::Heads(_) | Self::Batch { .. } => 0,
        }
    }

    fn place(&mut self) -> Place {
        match self {
            Self::Heads(_) => Place::All,
            Self::Grid { grid, chunks, .. } => {
                Place::Chunks(*chunks, Group::<f32>::rank(grid.ring()))
            }
            Self::Batch { sequences, .. } => Place::Sequences(sequences.clone()),
        }
    }
}

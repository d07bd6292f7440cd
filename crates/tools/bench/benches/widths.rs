//! One wide head, eight narrow ones, eight wide ones: what the ledger says and what the
//! clock says.
//!
//! ```sh
//! cargo bench -p bench --bench widths
//! ```
//!
//! No row is printed unless its output first agreed with the per-head stage in f64 on the
//! same parameters. In each round every layer runs once, in turn, and a ratio is taken
//! within its round, so that what slows the machine slows all of them. Read the ratios;
//! the milliseconds are this machine's.
//!
//! Softmax is not in the ledger. So a layer's softmaxes are timed by themselves too, on
//! maps of the layer's size, and then in parts (`widths/parts.rs`): the exponentials alone,
//! and the passes over the maps without them.

#[path = "widths/parts.rs"]
mod parts;

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use attention::{
    Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, MultiplyAdds, Rng,
    SeedableRng, max_abs_diff, median, random_matrix, softmax_rows,
};
use clap::Parser;
use fused_heads::FusedAttention;
use parts::{HEADINGS, Parts};
use per_head::PerHeadAttention;

const D_MODEL: usize = 512;
/// Heads and their width; the first is what the others are compared with.
const LAYERS: [(usize, usize); 3] = [(1, 512), (8, 64), (8, 512)];
const TOLERANCE: f64 = 1e-4;

#[derive(Parser)]
struct Args {
    /// The lengths of the sequences.
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1000])]
    tokens: Vec<usize>,
    /// How many rounds; in each, every layer runs once.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Given by `cargo bench`, without meaning here.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    println!("d_model {D_MODEL}, f32, forward, one thread, {} rounds", args.rounds);
    for n_tokens in args.tokens {
        measure(n_tokens, args.rounds)?;
    }
    Ok(())
}

fn measure(n_tokens: usize, rounds: usize) -> Result<()> {
    let x: Matrix<f32> =
        random_matrix(n_tokens, D_MODEL, 1.0, &mut Rng::seed_from_u64(1));
    let mut rows = LAYERS
        .into_iter()
        .map(|(n_heads, width)| Row::checked(n_heads, width, &x))
        .collect::<Result<Vec<_>>>()?;
    for _ in 0..rounds {
        for row in &mut rows {
            row.run(&x)?;
        }
    }
    print(n_tokens, &rows);
    Ok(())
}

struct Row {
    name: String,
    layer: FusedAttention<f32>,
    multiply_adds: usize,
    exponentials: usize,
    difference: f64,
    /// One map a head, to time softmax on.
    scores: Vec<Matrix<f32>>,
    ms: Vec<f64>,
    softmax_ms: Vec<f64>,
    parts: Parts,
}

impl Row {
    /// A row for a layer that gave the right answer.
    fn checked(n_heads: usize, width: usize, x: &Matrix<f32>) -> Result<Self> {
        let name = format!("{n_heads} × {width}");
        let dims = Dims::with_head_sizes(D_MODEL, n_heads, width, width)?;
        let rng = &mut Rng::seed_from_u64(2);
        let parameters: LayerParameters<f32> = LayerParameters::random(dims, true, rng);
        let layer = FusedAttention::new(&parameters);

        let reference = PerHeadAttention::<f64>::new(parameters.cast());
        let reference = reference.self_attend(&x.map(f64::from), &Mask::None)?;
        let seen = layer.self_attend(x, &Mask::None)?;
        let difference = max_abs_diff(&seen.out.map(f64::from), &reference.out)?;
        ensure!(difference <= TOLERANCE, "{name}: max |Δ| = {difference:e}, not timed");

        seen.attn.iter().try_for_each(Parts::check)?;

        let n = x.nrows();
        Ok(Self {
            name,
            layer,
            multiply_adds: MultiplyAdds::count(dims, n, n)?.total() as usize,
            exponentials: n_heads * n * n,
            difference,
            scores: seen.attn,
            ms: Vec::new(),
            softmax_ms: Vec::new(),
            parts: Parts::default(),
        })
    }

    fn run(&mut self, x: &Matrix<f32>) -> Result<()> {
        let start = Instant::now();
        black_box(self.layer.self_attend(x, &Mask::None)?);
        self.ms.push(milliseconds(start));

        let scores = self.scores.clone();
        let start = Instant::now();
        for scores in scores {
            black_box(softmax_rows(scores));
        }
        self.softmax_ms.push(milliseconds(start));
        self.parts.run(&self.scores);
        Ok(())
    }

    /// The median of this row's time over the other's, round by round.
    fn times_of(&self, other: &Self) -> f64 {
        median(self.ms.iter().zip(&other.ms).map(|(ours, theirs)| ours / theirs))
    }
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn print(n_tokens: usize, rows: &[Row]) {
    let first = &rows[0];
    println!(
        "\n{:<11}  {:>13}  {:>12}  {:>7}  {:>9}  {:>10}  {:>7}",
        format!("{n_tokens} tokens"),
        "multiply-adds",
        "exponentials",
        "time",
        "median ms",
        "of softmax",
        "max |Δ|",
    );
    for row in rows {
        let times = |ours: usize, theirs| format!("× {:.2}", ours as f64 / theirs as f64);
        println!(
            "{:<11}  {:>13}  {:>12}  {:>7}  {:>9.2}  {:>10.2}  {:>7.0e}",
            row.name,
            times(row.multiply_adds, first.multiply_adds),
            times(row.exponentials, first.exponentials),
            format!("× {:.2}", row.times_of(first)),
            median(row.ms.iter().copied()),
            median(row.softmax_ms.iter().copied()),
            row.difference,
        );
    }
    print_parts(rows);
}

fn print_parts(rows: &[Row]) {
    let line = |name: &str, cells: [String; 6]| {
        let cells = cells.map(|cell| format!("  {cell:>12}")).concat();
        println!("{name:<11}{cells}");
    };
    println!();
    line("ns an entry", HEADINGS.map(str::to_owned));
    for row in rows {
        let n_entries = row.scores[0].len();
        line(&row.name, row.parts.an_entry(n_entries).map(|ns| format!("{ns:.2}")));
    }
}

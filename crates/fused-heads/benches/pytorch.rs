//! The fused layer beside PyTorch's, one thread each, in turn in one run.
//!
//! ```sh
//! cargo bench --bench pytorch -- --python PATH_TO_A_PYTHON_WITH_TORCH
//! ```
//!
//! No row is printed unless its output first agreed with the reference in f64 on the same
//! parameters. Machines are noisy: read the ratios of the medians, not the milliseconds.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use attention::{
    Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, Rng, SeedableRng,
    max_abs_diff, random_matrix,
};
use clap::Parser;
use fused_heads::{Batch, FusedAttention, pack};
use per_head::PerHeadAttention;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// The case of source 004: 32 sequences of 100 tokens, 512 wide, 8 heads.
const N_SEQUENCES: usize = 32;
const N_TOKENS: usize = 100;
const D_MODEL: usize = 512;
const N_HEADS: usize = 8;
const TOLERANCE: f64 = 1e-4;

#[derive(Parser)]
struct Args {
    /// A Python that has torch and safetensors; without it, only our own row is printed.
    #[arg(long)]
    python: Option<PathBuf>,
    /// How many rounds; in each, everyone runs once.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Given by `cargo bench`, without meaning here.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::new(D_MODEL, N_HEADS)?;
    let parameters: LayerParameters<f32> = LayerParameters::random(dims, true, rng);
    let x: Matrix<f32> = random_matrix(N_SEQUENCES * N_TOKENS, D_MODEL, 1.0, rng);
    let reference = reference(&parameters, &x)?;

    let layer = FusedAttention::new(&parameters);
    let batch = Batch::new(N_SEQUENCES, x.clone())?;
    let forward = || layer.forward_batch(&batch, &batch, &batch, &[Mask::None]);
    let mut rows =
        vec![Row::checked("fused-heads", forward()?.out.tokens(), &reference)?];

    let mut peer = match &args.python {
        Some(python) => Some(Peer::start(python, &parameters, &x)?),
        None => None,
    };
    if let Some(peer) = &mut peer {
        println!("{}, one thread", peer.version);
        for variant in peer.variants.clone() {
            rows.push(Row::checked(&variant, &peer.output(&variant)?, &reference)?);
        }
    }

    for _ in 0..args.rounds {
        let start = Instant::now();
        std::hint::black_box(forward()?);
        rows[0].ms.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(peer) = &mut peer {
            for row in &mut rows[1..] {
                row.ms.push(peer.time(&row.name)?);
            }
        }
    }
    print(rows);
    Ok(())
}

/// What every implementation must give: the per-head stage in f64.
fn reference(parameters: &LayerParameters<f32>, x: &Matrix<f32>) -> Result<Matrix> {
    let layer = PerHeadAttention::<f64>::new(parameters.cast());
    let batch = Batch::new(N_SEQUENCES, x.map(f64::from))?;
    let outputs = (0..N_SEQUENCES).map(|s| {
        let sequence = batch.sequence(s).into_owned();
        Ok(layer.self_attend(&sequence, &Mask::None)?.out)
    });
    let outputs = outputs.collect::<Result<Vec<_>>>()?;
    Ok(Batch::stack(&outputs)?.tokens().clone())
}

struct Row {
    name: String,
    difference: f64,
    ms: Vec<f64>,
}

impl Row {
    /// A row for an implementation that gave the right answer.
    fn checked(name: &str, output: &Matrix<f32>, reference: &Matrix) -> Result<Self> {
        let difference = max_abs_diff(&output.map(f64::from), reference)?;
        ensure!(difference <= TOLERANCE, "{name}: max |Δ| = {difference:e}, not timed");
        Ok(Self { name: name.into(), difference, ms: Vec::new() })
    }

    fn median(&self) -> f64 {
        let mut ms = self.ms.clone();
        ms.sort_by(f64::total_cmp);
        ms[ms.len() / 2]
    }
}

fn print(rows: Vec<Row>) {
    println!("({N_SEQUENCES}, {N_TOKENS}, {D_MODEL}), {N_HEADS} heads, f32, forward");
    println!(
        "{:<34} {:>9} {:>9} {:>9} {:>7}",
        "", "min ms", "median", "max |Δ|", "× ours"
    );
    let ours = rows[0].median();
    for row in rows {
        let min = row.ms.iter().copied().fold(f64::INFINITY, f64::min);
        let (median, Row { name, difference, .. }) = (row.median(), &row);
        let ratio = ours / median;
        println!("{name:<34} {min:>9.1} {median:>9.1} {difference:>9.1e} {ratio:>7.2}");
    }
    println!("× ours: our median divided by the row's; below 1, ours is faster.");
}

/// A Python process that holds the same layer in PyTorch.
struct Peer {
    version: String,
    variants: Vec<String>,
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Peer {
    fn start(python: &Path, p: &LayerParameters<f32>, x: &Matrix<f32>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("layer.safetensors");
        write_for_torch(&file, p, x)?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/pytorch.py");
        let mut process = Command::new(python)
            .arg(script)
            .arg(&file)
            .args([N_HEADS.to_string(), "1".into()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let stdin = process.stdin.take().context("the peer has no standard input")?;
        let stdout = process.stdout.take().context("the peer has no standard output")?;
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let mut words = line.trim().split('\t').map(String::from);
        let version = words.next().filter(|word| !word.is_empty());
        let Some(version) = version else {
            bail!("the peer stopped before it was ready")
        };
        Ok(Self { version, variants: words.collect(), process, stdin, stdout, folder })
    }

    fn ask(&mut self, line: String) -> Result<String> {
        writeln!(self.stdin, "{line}")?;
        let mut answer = String::new();
        self.stdout.read_line(&mut answer)?;
        Ok(answer.trim().into())
    }

    fn time(&mut self, variant: &str) -> Result<f64> {
        let answer = self.ask(format!("time\t{variant}"))?;
        answer.parse().with_context(|| format!("the peer said {answer:?}"))
    }

    fn output(&mut self, variant: &str) -> Result<Matrix<f32>> {
        let file = self.folder.path().join("output.safetensors");
        self.ask(format!("check\t{variant}\t{}", file.display()))?;
        let bytes = std::fs::read(file)?;
        let tensors = SafeTensors::deserialize(&bytes)?;
        let output = tensors.tensor("output")?;
        let numbers: Vec<f32> = output
            .data()
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        Ok(Matrix::from_row_slice(N_SEQUENCES * N_TOKENS, D_MODEL, &numbers))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The layer under PyTorch's names, weights turned to `[out, in]`.
fn write_for_torch(file: &Path, p: &LayerParameters<f32>, x: &Matrix<f32>) -> Result<()> {
    let fused = pack(p);
    let bytes = |numbers: &[f32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    // Columns of [in, out], one after the other, are rows of [out, in].
    let projections = [fused.w_q(), fused.w_k(), fused.w_v()];
    let weight = projections.map(|w| bytes(w.weight.as_slice())).concat();
    let bias = |w: &attention::Linear<f32>| w.bias.as_ref().map(|b| bytes(b.as_slice()));
    let biases = projections.iter().filter_map(|w| bias(w)).collect::<Vec<_>>().concat();
    let b_o = bias(fused.w_o()).unwrap_or_default();
    let tensors = [
        ("in_proj_weight", vec![3 * D_MODEL, D_MODEL], weight),
        ("in_proj_bias", vec![3 * D_MODEL], biases),
        ("out_proj.weight", vec![D_MODEL, D_MODEL], bytes(fused.w_o().weight.as_slice())),
        ("out_proj.bias", vec![D_MODEL], b_o),
        ("query", vec![N_SEQUENCES, N_TOKENS, D_MODEL], bytes(x.transpose().as_slice())),
    ];
    let views = tensors
        .iter()
        .map(|(name, shape, data)| {
            Ok((*name, TensorView::new(Dtype::F32, shape.clone(), data)?))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(std::fs::write(file, safetensors::serialize(views, None)?)?)
}

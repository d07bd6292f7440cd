//! The fused layer there and back beside PyTorch's, one thread each, in turn in one run.
//!
//! ```sh
//! cargo bench -p gradients --bench pytorch -- --python PATH_TO_A_PYTHON_WITH_TORCH
//! ```
//!
//! No row is printed unless its output and every gradient first agreed with the reference
//! in f64 on the same parameters. Machines are noisy: read the ratios of the minima, not
//! the milliseconds.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use attention::{
    Dims, LayerParameters, Linear, Mask, Matrix, Real, Rng, SeedableRng, max_abs_diff,
    random_matrix,
};
use clap::Parser;
use fused_heads::{Batch, FusedAttention, FusedParameters, pack};
use gradients::{Gradients, Pass};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// The case of source 004: 32 sequences of 100 tokens, 512 wide, 8 heads.
const N_SEQUENCES: usize = 32;
const N_TOKENS: usize = 100;
const D_MODEL: usize = 512;
const N_HEADS: usize = 8;
/// How far an output or a gradient may be from the reference, beside its largest number.
const TOLERANCE: f64 = 1e-5;

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
    let mut random = || random_matrix(N_SEQUENCES * N_TOKENS, D_MODEL, 1.0, rng);
    let (x, d_out): (Matrix<f32>, Matrix<f32>) = (random(), random());
    let reference = there_and_back(&parameters.cast(), &in_f64(&x), &in_f64(&d_out))?;

    let ours = there_and_back(&parameters, &x, &d_out)?.map(|m| in_f64(&m));
    let mut rows = vec![Row::checked("gradients", &ours, &reference)?];
    let layer = FusedAttention::new(&parameters);
    let batch = Batch::new(N_SEQUENCES, x.clone())?;

    let mut peer = match &args.python {
        Some(python) => Some(Peer::start(python, &parameters, &x, &d_out)?),
        None => None,
    };
    if let Some(peer) = &mut peer {
        println!("{}, one thread", peer.version);
        for variant in peer.variants.clone() {
            rows.push(Row::checked(&variant, &peer.results(&variant)?, &reference)?);
        }
    }

    let mut forward = Vec::new();
    for _ in 0..args.rounds {
        let start = Instant::now();
        let pass = Pass::forward_batch(&layer, &batch, &batch, &batch, &[Mask::None])?;
        forward.push(start.elapsed().as_secs_f64() * 1e3);
        let gradients = pass.backward(&d_out)?;
        std::hint::black_box((&gradients, gradients.d_x()?));
        rows[0].ms.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(peer) = &mut peer {
            for row in &mut rows[1..] {
                row.ms.push(peer.time(&row.name)?);
            }
        }
    }
    print(rows);
    println!("Our forward pass alone: {:.1} ms at best.", min(&forward));
    Ok(())
}

/// What is compared: the output, the gradient of the tokens, and those of the parameters.
const RESULTS: [&str; 6] = [
    "output",
    "grad.query",
    "grad.in_proj_weight",
    "grad.in_proj_bias",
    "grad.out_proj.weight",
    "grad.out_proj.bias",
];

fn there_and_back<T: Real>(
    parameters: &LayerParameters<T>,
    x: &Matrix<T>,
    d_out: &Matrix<T>,
) -> Result<[Matrix<T>; 6]> {
    let layer = FusedAttention::new(parameters);
    let batch = Batch::new(N_SEQUENCES, x.clone())?;
    let pass = Pass::forward_batch(&layer, &batch, &batch, &batch, &[Mask::None])?;
    let d = pass.backward(d_out)?;
    let bias = |linear: &Linear<T>| {
        let bias = linear.bias.as_ref().expect("the layer has biases");
        Matrix::from_row_slice(1, bias.len(), bias.as_slice())
    };
    let stacked = |of: &dyn Fn(&Linear<T>) -> Matrix<T>| {
        let Gradients { d_w_q, d_w_k, d_w_v, .. } = &d;
        let parts = [of(d_w_q), of(d_w_k), of(d_w_v)];
        let columns: Vec<_> = parts.iter().flat_map(|part| part.column_iter()).collect();
        Matrix::from_columns(&columns)
    };
    Ok([
        pass.out().clone(),
        d.d_x()?,
        stacked(&|linear| linear.weight.clone()),
        stacked(&bias),
        d.d_w_o.weight.clone(),
        bias(&d.d_w_o),
    ])
}

fn in_f64(matrix: &Matrix<f32>) -> Matrix {
    matrix.map(f64::from)
}

struct Row {
    name: String,
    difference: f64,
    ms: Vec<f64>,
}

impl Row {
    /// A row for an implementation that gave the right answers.
    fn checked(name: &str, found: &[Matrix; 6], reference: &[Matrix; 6]) -> Result<Self> {
        let mut largest = 0f64;
        for ((what, found), reference) in RESULTS.iter().zip(found).zip(reference) {
            let difference = max_abs_diff(found, reference)? / reference.amax();
            ensure!(
                difference <= TOLERANCE,
                "{name}, {what}: max |Δ| / max = {difference:e}, not timed"
            );
            largest = largest.max(difference);
        }
        Ok(Self { name: name.into(), difference: largest, ms: Vec::new() })
    }
}

fn min(ms: &[f64]) -> f64 {
    ms.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(ms: &[f64]) -> f64 {
    let mut ms = ms.to_vec();
    ms.sort_by(f64::total_cmp);
    ms[ms.len() / 2]
}

fn print(rows: Vec<Row>) {
    println!(
        "({N_SEQUENCES}, {N_TOKENS}, {D_MODEL}), {N_HEADS} heads, f32, there and back"
    );
    println!(
        "{:<34} {:>9} {:>9} {:>9} {:>7} {:>7}",
        "", "min ms", "median", "rel. |Δ|", "× min", "× med"
    );
    let (our_min, our_median) = (min(&rows[0].ms), median(&rows[0].ms));
    for Row { name, difference, ms } in rows {
        let (min, median) = (min(&ms), median(&ms));
        let (by_min, by_median) = (our_min / min, our_median / median);
        println!(
            "{name:<34} {min:>9.1} {median:>9.1} {difference:>9.1e} {by_min:>7.2} \
             {by_median:>7.2}"
        );
    }
    println!("×: our time divided by the row's; below 1, ours is faster.");
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
    fn start(
        python: &Path,
        p: &LayerParameters<f32>,
        x: &Matrix<f32>,
        d_out: &Matrix<f32>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("layer.safetensors");
        write_for_torch(&file, &pack(p), x, d_out)?;
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

    fn results(&mut self, variant: &str) -> Result<[Matrix; 6]> {
        let file = self.folder.path().join("results.safetensors");
        self.ask(format!("check\t{variant}\t{}", file.display()))?;
        let bytes = std::fs::read(file)?;
        let tensors = SafeTensors::deserialize(&bytes)?;
        let mut results = RESULTS.map(|_| Matrix::zeros(0, 0));
        for (result, name) in results.iter_mut().zip(RESULTS) {
            let tensor = tensors.tensor(name)?;
            let numbers: Vec<f64> = tensor
                .data()
                .chunks_exact(4)
                .map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])))
                .collect();
            *result = match name {
                // Rows of [out, in], one after the other, are columns of [in, out].
                n if n.ends_with("weight") => {
                    Matrix::from_vec(D_MODEL, numbers.len() / D_MODEL, numbers)
                }
                n if n.ends_with("bias") => Matrix::from_vec(1, numbers.len(), numbers),
                _ => Matrix::from_row_slice(N_SEQUENCES * N_TOKENS, D_MODEL, &numbers),
            };
        }
        Ok(results)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The layer under PyTorch's names, weights turned to `[out, in]`.
fn write_for_torch(
    file: &Path,
    fused: &FusedParameters<f32>,
    x: &Matrix<f32>,
    d_out: &Matrix<f32>,
) -> Result<()> {
    let bytes = |numbers: &[f32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    // Columns of [in, out], one after the other, are rows of [out, in].
    let projections = [fused.w_q(), fused.w_k(), fused.w_v()];
    let weight = projections.map(|w| bytes(w.weight.as_slice())).concat();
    let bias = |w: &Linear<f32>| w.bias.as_ref().map(|b| bytes(b.as_slice()));
    let biases = projections.iter().filter_map(|w| bias(w)).collect::<Vec<_>>().concat();
    let b_o = bias(fused.w_o()).unwrap_or_default();
    let rows = vec![N_SEQUENCES, N_TOKENS, D_MODEL];
    let tensors = [
        ("in_proj_weight", vec![3 * D_MODEL, D_MODEL], weight),
        ("in_proj_bias", vec![3 * D_MODEL], biases),
        ("out_proj.weight", vec![D_MODEL, D_MODEL], bytes(fused.w_o().weight.as_slice())),
        ("out_proj.bias", vec![D_MODEL], b_o),
        ("query", rows.clone(), bytes(x.transpose().as_slice())),
        ("d_out", rows, bytes(d_out.transpose().as_slice())),
    ];
    let views = tensors
        .iter()
        .map(|(name, shape, data)| {
            Ok((*name, TensorView::new(Dtype::F32, shape.clone(), data)?))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(std::fs::write(file, safetensors::serialize(views, None)?)?)
}

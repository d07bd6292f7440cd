//! One new token on a cache: ours beside PyTorch, on the same queries, keys and values.
//!
//! Each key and value is read once and used by three heads, so memory sets the time, unless
//! the cache is small enough to stay in the processor's own caches.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result};
use attention::{
    Mask, Matrix, Rng, SeedableRng, attend_heads, max_abs_diff, median, random_matrix,
};
use cached::{GroupedAttention, GroupedHeads, PackedCache, Scoring};
use rayon::ThreadPool;
use runs::{Case, Pass};
use tensors::{Existing, NewTensor, save};
use workshop::output::print;
use workshop::progress;

use super::ours::{AT_LEAST_MS, mean_ms};
use super::reference::TOLERANCE;
use super::results::{Results, expect_near};
use super::rounds::{self, Runner};
use super::side::{Job, Program, Side};
use super::{Common, Settings, expect_optimised, peers, table};

/// The heads of a small model that writes: SmolLM2's.
const HEADS: [usize; 2] = [9, 3];

/// The width of each.
const WIDTH: usize = 64;

/// Cached tokens, and sequences.
const CASES: [(usize, usize); 6] =
    [(512, 1), (4096, 1), (16384, 1), (512, 8), (4096, 8), (16384, 8)];

/// Checks, times and prints; beside PyTorch, if a Python is given or to be found.
///
/// # Errors
/// What keeps a case from being set up.
pub fn run(args: &Common) -> Result<()> {
    let settings = &args.settings()?;
    expect_optimised()?;
    let peer = args.beside.peer(&peers::PYTORCH, "decode.py")?;
    let machine = settings.machine()?;
    print(table::machine(&machine))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    for (n, batch) in CASES {
        let bar = progress::spinner(format!("{batch} × {n} cached tokens"));
        let given = DecodeInputs::random(n, batch);
        let expected = given.expected()?;
        let folder = tempfile::tempdir().context("no folder for temporary files")?;
        let file = folder.path().join("decode.safetensors");
        let (mut runners, mut remarks) = (Vec::new(), Vec::new());
        let mut ours = Ours::new(&given, settings, &pool)?;
        ours.run()?;
        let out = ours.out.map(f64::from);
        match difference(&out, &expected) {
            Ok(delta) => {
                runners.push(("kernels".into(), delta, Who::Ours(Box::new(ours))))
            }
            Err(why) => remarks.push(format!("kernels is left out: {why:#}")),
        }
        if let Some(program) = &peer {
            given.save(&file)?;
            let case = Case::new("", [batch, n, HEADS[0] * WIDTH, HEADS[0]], false);
            let instructions = settings.instructions.name();
            let job = Job { file: &file, case, threads: settings.threads, instructions };
            let (right, wrong) = checked(program, &job, &expected)?;
            runners.extend(right);
            remarks.extend(wrong);
        }
        bar.finish_and_clear();
        let (mut who, names): (Vec<_>, Vec<_>) =
            runners.into_iter().map(|(name, delta, who)| (who, (name, delta))).unzip();
        let peak = || runs::machine::fma_peak(settings.threads, settings.instructions);
        let rounds = rounds::run(&mut who, settings.rounds, peak, |_| ());
        let rows: Vec<_> = names
            .into_iter()
            .zip(rounds.ms)
            .filter_map(|((name, delta), ms)| Some((name, delta, ms.ok()?)))
            .collect();
        print(grid(n, batch, machine.bandwidth_gb_s, &rows, &remarks))?;
    }
    Ok(print(LEGEND)?)
}

/// A way that gave the right answer, and how far from f64.
type Right<'a> = (String, f64, Who<'a>);

/// The ways of a peer that gave the right answer, and remarks on the others.
fn checked<'a>(
    program: &Program,
    job: &Job<'_>,
    expected: &Matrix,
) -> Result<(Vec<Right<'a>>, Vec<String>)> {
    let side = Rc::new(RefCell::new(Side::start(program, job)?));
    let variants = side.borrow().variants.clone();
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for variant in variants {
        let results = job.file.with_file_name("results.safetensors");
        side.borrow_mut().check(&variant, Pass::Forward, &results)?;
        let found = Results::open(&results, false)?;
        match difference(found.out(), expected) {
            Ok(delta) => {
                let who = Who::Peer(Rc::clone(&side), variant.clone());
                right.push((variant, delta, who));
            }
            Err(why) => wrong.push(format!("{variant} is left out: {why:#}")),
        }
    }
    Ok((right, wrong))
}

/// A query per head and sequence, and the cache of each sequence.
struct DecodeInputs {
    /// `[batch, 9 · 64]`
    q: Matrix<f32>,
    /// `[n, 3 · 64]` of each sequence.
    k: Vec<Matrix<f32>>,
    v: Vec<Matrix<f32>>,
}

impl DecodeInputs {
    fn random(n: usize, batch: usize) -> Self {
        let rng = &mut Rng::seed_from_u64(1);
        let q = random_matrix(batch, HEADS[0] * WIDTH, 1.0, rng);
        let mut all =
            || (0..batch).map(|_| random_matrix(n, HEADS[1] * WIDTH, 1.0, rng)).collect();
        Self { q, k: all(), v: all() }
    }

    fn save(&self, file: &Path) -> Result<()> {
        let (batch, n) = (self.q.nrows(), self.k[0].nrows());
        let shape = [batch, n, HEADS[1], WIDTH];
        let tensors = [
            NewTensor::new("q", &[batch, HEADS[0], WIDTH], [&self.q])?,
            NewTensor::new("k", &shape, &self.k)?,
            NewTensor::new("v", &shape, &self.v)?,
        ];
        Ok(save(file, &tensors, Existing::Replace)?)
    }

    /// By the definition in f64, with keys and values copied for each head.
    fn expected(&self) -> Result<Matrix> {
        let group = HEADS[0] / HEADS[1];
        let copied = |all: &Matrix<f32>| {
            Matrix::from_fn(all.nrows(), HEADS[0] * WIDTH, |row, column| {
                let (head, feature) = (column / WIDTH, column % WIDTH);
                f64::from(all[(row, head / group * WIDTH + feature)])
            })
        };
        let mut out = Matrix::zeros(self.q.nrows(), HEADS[0] * WIDTH);
        for (row, (k, v)) in self.k.iter().zip(&self.v).enumerate() {
            let q = self.q.rows(row, 1).map(f64::from);
            let (k, v) = (copied(k), copied(v));
            let views = (q.as_view(), k.as_view(), v.as_view());
            let one =
                attend_heads(views.0, views.1, views.2, HEADS[0], None, &Mask::None)?;
            out.row_mut(row).copy_from(&one.out);
        }
        Ok(out)
    }
}

fn difference(out: &Matrix, expected: &Matrix) -> Result<f64> {
    expect_near(max_abs_diff(out, expected)?, TOLERANCE)
}

/// Ours: the caches packed as tokens came.
struct Ours<'a> {
    pool: &'a ThreadPool,
    attention: GroupedAttention,
    caches: Vec<PackedCache>,
    q: Matrix<f32>,
    out: Matrix<f32>,
}

impl<'a> Ours<'a> {
    fn new(
        given: &DecodeInputs,
        settings: &Settings,
        pool: &'a ThreadPool,
    ) -> Result<Self> {
        let heads = GroupedHeads::new(HEADS, [WIDTH, WIDTH])?;
        let (plain, instructions) = (Scoring::default(), settings.instructions);
        let cache = |(k, v)| {
            let mut cache = PackedCache::new(heads);
            cache.append(k, v).map(|()| cache)
        };
        let caches = given.k.iter().zip(&given.v).map(cache);
        Ok(Self {
            pool,
            attention: GroupedAttention::with_instructions(heads, plain, instructions)?,
            caches: caches.collect::<Result<_, _>>()?,
            q: given.q.clone(),
            out: Matrix::zeros(given.q.nrows(), HEADS[0] * WIDTH),
        })
    }

    fn run(&mut self) -> Result<()> {
        let Self { pool, attention, caches, q, out } = self;
        let caches: Vec<&PackedCache> = caches.iter().collect();
        Ok(pool.install(|| attention.one_token(q, &caches, out))?)
    }

    /// As every side does it: the mean of as many as take 20 ms, after a first.
    fn mean_ms(&mut self) -> Result<f64> {
        self.run()?;
        mean_ms(AT_LEAST_MS, || self.run())
    }
}

enum Who<'a> {
    Ours(Box<Ours<'a>>),
    Peer(Rc<RefCell<Side>>, String),
}

impl Runner for Who<'_> {
    fn time(&mut self) -> Result<f64> {
        match self {
            Self::Ours(ours) => ours.mean_ms(),
            Self::Peer(side, variant) => side.borrow_mut().time(variant, Pass::Forward),
        }
    }
}

/// What a new token of each sequence reads, in bytes.
fn bytes(n: usize, batch: usize) -> usize {
    batch * n * 2 * HEADS[1] * WIDTH * size_of::<f32>()
}

/// Names, differences and milliseconds; the first is ours.
fn grid(
    n: usize,
    batch: usize,
    bandwidth: f64,
    rows: &[(String, f64, Vec<f64>)],
    remarks: &[String],
) -> String {
    let s = if batch == 1 { "" } else { "s" };
    let read = bytes(n, batch);
    let size = table::bytes(read as u64);
    let mut text = format!("\n{n} cached tokens, {batch} sequence{s}: {size} are read\n");
    text += &format!(
        "  {:18}{:>9}{:>9}{:>8}{:>9}{:>8}{:>8}\n",
        "", "min ms", "median", "GB/s", "of mem.", "× peer", "|Δ|"
    );
    let is_peer = |name: &str| name.starts_with("PyTorch");
    let peers = rows.iter().filter(|(name, ..)| is_peer(name));
    let best = peers.map(|(_, _, ms)| median(ms.iter().copied())).reduce(f64::min);
    for (name, delta, ms) in rows {
        let (middle, least) = (
            median(ms.iter().copied()),
            ms.iter().copied().fold(f64::INFINITY, f64::min),
        );
        let rate = read as f64 / middle / 1e6;
        let share = format!("{:.0} %", 100.0 * rate / bandwidth);
        let speed = best.map_or("–".into(), |best| format!("{:.2}", best / middle));
        text += &format!(
            "  {name:18}{least:9.3}{middle:9.3}{rate:8.1}{share:>9}{speed:>8}{delta:8.0e}\n"
        );
    }
    for remark in remarks {
        text += &format!("  {remark}\n");
    }
    text
}

const LEGEND: &str = "
9 query heads on 3 heads of keys and values, each 64 wide, in f32.
GB/s: keys and values, each counted once, by the median; of mem.: of what memory was
  measured to give. Above 100 %, the cache stays in the processor's own caches.
× peer: how many times as fast as PyTorch's faster way, by the medians; above 1 is faster.
|Δ|: how far from f64, at most 1e-4.
";

#[cfg(test)]
mod tests {
    use super::*;
    use tiles::Instructions;

    #[test]
    fn ours_is_the_definition_and_is_timed() {
        let given = DecodeInputs::random(5, 2); // a test of memory runs meanwhile
        let settings =
            Settings { instructions: Instructions::best(), threads: 1, rounds: 1 };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let mut ours = Ours::new(&given, &settings, &pool).unwrap();
        assert!(ours.mean_ms().unwrap() > 0.0);
        let expected = given.expected().unwrap();
        let found = difference(&ours.out.map(f64::from), &expected).unwrap();
        assert!(found < 1e-5, "{found:e}");
        let wrong = difference(&expected.map(|x| x + 1.0), &expected).unwrap_err();
        insta::assert_snapshot!(wrong, @"wrong by 1.0e0, and 1e-4 is allowed");
    }

    #[test]
    fn a_table_of_ours_and_of_a_peer() {
        let rows = [
            ("kernels".to_string(), 3e-7, vec![0.5, 0.6, 0.7]),
            ("PyTorch sdpa".into(), 2e-7, vec![1.0, 1.2, 1.4]),
        ];
        let text =
            grid(4096, 1, 20.0, &rows, &["PyTorch textbook is left out: why".into()]);
        insta::assert_snapshot!(text, @"

        4096 cached tokens, 1 sequence: 6.0 MiB are read
                               min ms   median    GB/s  of mem.  × peer     |Δ|
          kernels               0.500    0.600    10.5     52 %    2.00    3e-7
          PyTorch sdpa          1.000    1.200     5.2     26 %    1.00    2e-7
          PyTorch textbook is left out: why
        ");
    }
}

//! How long the loss and the gradients of one step take, rung by rung, and in PyTorch.
//!
//! ```text
//! cargo run --release -p gpt --features fast --example rungs -- [PYTHON]
//! ```
//!
//! PYTHON is one that has torch; without it there is no row of PyTorch. All have the same
//! parameters and names, on one thread, and first it is checked that all give the same numbers.
//! Then each is timed in turn, and again, and the median of these rounds is what counts: a
//! machine that does something else for a while slows all of them. `data/rungs.json` keeps it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use attention::{Rng, SeedableRng};
use gpt::{Architecture, NAMES, RUNGS, scalars};
use serde_json::{Value, json};

const N_ROUNDS: usize = 101;
/// At least so many seconds each round: few enough that most rounds are not interrupted.
const LEAST: f64 = 0.001;

/// One that is timed: so many steps, and the seconds that they take.
type Timed<'a> = (&'a str, Box<dyn FnMut(usize) -> Result<f64> + 'a>);

fn main() -> Result<()> {
    let python = std::env::args().nth(1);
    let mut kept = Vec::new();
    for (model, sizes, batch) in
        [("small", Architecture::SMALL, 8), ("page", Architecture::PAGE, 32)]
    {
        let parameters = sizes.parameters(&mut Rng::seed_from_u64(1));
        let names = NAMES.lines().step_by(5163 / batch).take(batch).map(scalars::ids);
        let names: Vec<Vec<usize>> = names.collect();
        let mut peer = python.as_deref().map(Peer::start).transpose()?;
        let rungs =
            RUNGS.iter().filter(|rung| !rung.is_small || sizes == Architecture::SMALL);
        let expected = RUNGS[4].gradients(sizes, &parameters, &names)?;
        let mut timed: Vec<Timed<'_>> = Vec::new();
        for rung in rungs {
            let found = rung.gradients(sizes, &parameters, &names)?;
            check(rung.name, &found, &expected)?;
            let (parameters, names) = (&parameters, &names);
            let run = move |n| {
                let start = Instant::now();
                for _ in 0..n {
                    rung.gradients(sizes, parameters, names)?;
                }
                Ok(start.elapsed().as_secs_f64())
            };
            timed.push((rung.name, Box::new(run)));
        }
        if let Some(peer) = &mut peer {
            check("PyTorch", &peer.give(sizes, &parameters, &names)?, &expected)?;
            let run = |n| peer.ask(&json!(n))?.as_f64().context("no seconds");
            timed.push(("PyTorch", Box::new(run)));
        }
        println!("{model}: {sizes:?}, {batch} names, median of {N_ROUNDS} rounds");
        kept.extend(table(model, &mut timed)?);
    }
    let lines: Vec<String> = kept.iter().map(Value::to_string).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/rungs.json");
    fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n")))
        .with_context(|| format!("{} could not be written", file.display()))
}

/// Times all in turn, and prints the medians.
fn table(model: &str, timed: &mut [Timed<'_>]) -> Result<Vec<Value>> {
    let mut n_steps = Vec::new();
    for (_, run) in &mut *timed {
        run(1)?;
        n_steps.push((LEAST / run(1)?).ceil().max(1.0) as usize);
    }
    let mut rounds = vec![Vec::new(); timed.len()];
    for _ in 0..N_ROUNDS {
        for (((_, run), n), rounds) in timed.iter_mut().zip(&n_steps).zip(&mut rounds) {
            rounds.push(1e3 * run(*n)? / *n as f64);
        }
    }
    let medians: Vec<f64> = rounds
        .iter_mut()
        .map(|rounds| {
            rounds.sort_by(f64::total_cmp);
            rounds[N_ROUNDS / 2]
        })
        .collect();
    for (i, ((name, _), ms)) in timed.iter().zip(&medians).enumerate() {
        let (before, first) = (medians[i.saturating_sub(1)] / ms, medians[0] / ms);
        println!(
            "  {name:<10} {ms:>9.4} ms  {before:>6.2} × the one before  {first:>8.1} × the first"
        );
    }
    let row = |((name, _), ms): (&Timed<'_>, &f64)| json!({ "model": model, "rung": name, "ms": (ms * 1e4).round() / 1e4 });
    Ok(timed.iter().zip(&medians).map(row).collect())
}

/// Whether a loss and gradients are the expected ones, to the precision of f32.
fn check(name: &str, found: &gpt::Gradients, expected: &gpt::Gradients) -> Result<()> {
    let apart = found.1.iter().zip(&expected.1).map(|(a, b)| (a - b).abs());
    let furthest = apart.fold((found.0 - expected.0).abs(), f64::max);
    ensure!(found.1.len() == expected.1.len() && furthest < 1e-5, "{name}: {furthest:e}");
    Ok(())
}

/// `pytorch.py`, which answers a line with a line.
struct Peer {
    child: Child,
}

impl Peer {
    fn start(python: &str) -> Result<Self> {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rungs/pytorch.py");
        let child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{python} does not start"))?;
        Ok(Self { child })
    }

    fn ask(&mut self, question: &Value) -> Result<Value> {
        let Child { stdin, stdout, .. } = &mut self.child;
        let (stdin, stdout) = stdin.as_mut().zip(stdout.as_mut()).context("no pipes")?;
        writeln!(stdin, "{question}")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("no answer: {line:?}"))
    }

    fn give(
        &mut self,
        sizes: Architecture,
        parameters: &[f64],
        names: &[Vec<usize>],
    ) -> Result<gpt::Gradients> {
        let Architecture { d_model, n_heads, n_blocks, n_positions } = sizes;
        let of_sizes = json!({ "d_model": d_model, "n_heads": n_heads, "n_blocks": n_blocks, "n_positions": n_positions });
        let question =
            json!({ "sizes": of_sizes, "parameters": parameters, "names": names });
        let answer = self.ask(&question)?;
        println!("PyTorch {}", answer["version"]);
        let gradients = serde_json::from_value(answer["gradients"].clone())?;
        Ok((answer["loss"].as_f64().context("no loss")?, gradients))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        _ = self.child.wait();
    }
}

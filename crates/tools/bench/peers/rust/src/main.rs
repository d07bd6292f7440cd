//! candle's and burn's side of `cargo learn bench`.
//!
//! Started with `FILE HEADS THREADS CAUSAL`, it says versions and variants on one line,
//! and then answers a line of standard input with a line of standard output, words
//! separated by tabs: `needs VARIANT PASS`, `check VARIANT PASS FILE`, `time VARIANT
//! PASS`, `memory VARIANT PASS`, with a [`Pass`]'s name for PASS. What they ask is written at `learn`'s bench/side.rs. The
//! number of threads is in the environment (`RAYON_NUM_THREADS` and others).

mod in_burn;
mod in_candle;
mod layer;

use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use burn::backend::{Flex, NdArray};

use in_burn::Burn;
use in_candle::Candle;
use layer::{Layer, Results};

/// How long a measurement lasts at least: shorter passes are repeated.
const AT_LEAST_MS: f64 = 20.0;

/// From here on the first pass counts: that threads and caches are cold does not matter.
const LONG_MS: f64 = 200.0;

/// What a pass gave, still in the framework's tensors.
pub type Answer = Box<dyn FnOnce() -> Result<Results>>;

/// What is run of a layer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    Forward,
    ForwardBackward,
    /// All tokens by W^Q, and nothing else.
    Product,
}

/// The layer in one framework, or a product of it.
pub trait Variant {
    fn name(&self) -> &'static str;
    /// How many (batch, heads, n, n) tensors there are at once; `None` if there is no such
    /// pass.
    fn n_maps(&self, pass: Pass) -> Option<u64>;
    fn run(&self, pass: Pass) -> Result<Answer>;
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, file, heads, _threads, causal, ..] = &args[..] else {
        bail!("FILE HEADS THREADS CAUSAL were expected");
    };
    let layer = Layer::open(Path::new(file), heads.parse()?, causal == "1")?;
    let all = variants(&layer)?;
    let names: Vec<&str> = all.iter().map(|variant| variant.name()).collect();
    println!(
        "candle {}, burn {}\t{}",
        version("candle-core"),
        version("burn"),
        names.join("\t")
    );
    for line in io::stdin().lock().lines() {
        println!("{}", answer(&line?, &layer, &all)?);
        io::stdout().flush()?;
    }
    Ok(())
}

fn variants(layer: &Layer) -> Result<Vec<Box<dyn Variant>>> {
    Ok(vec![
        Box::new(Candle::new(layer, false)?),
        Box::new(Candle::new(layer, true)?),
        Box::new(Burn::<NdArray>::new("burn (ndarray)", layer)),
        Box::new(Burn::<Flex>::new("burn (flex)", layer)),
        Box::new(in_candle::Product::new(layer)?),
        Box::new(in_burn::Product::<NdArray>::new("burn (ndarray) product", layer)),
        Box::new(in_burn::Product::<Flex>::new("burn (flex) product", layer)),
    ])
}

fn answer(question: &str, layer: &Layer, all: &[Box<dyn Variant>]) -> Result<String> {
    let words: Vec<&str> = question.split('\t').collect();
    let [command, name, pass, ref rest @ ..] = words[..] else {
        bail!("{question:?} is no question");
    };
    let pass = match pass {
        "forward" => Pass::Forward,
        "forward + backward" => Pass::ForwardBackward,
        "product" => Pass::Product,
        _ => bail!("there is no pass {pass:?}"),
    };
    let variant = find(all, name)?;
    match (command, rest) {
        ("needs", []) => {
            let [batch, n, _] = layer.sizes();
            let one = 4 * (batch * layer.heads * n * n) as u64;
            let needs = variant.n_maps(pass).map(|n_maps| (n_maps * one).to_string());
            Ok(needs.unwrap_or("no".into()))
        }
        ("check", [file]) => {
            variant.run(pass)?()?.save(Path::new(file))?;
            Ok("written".into())
        }
        ("time", []) => time(variant, pass),
        ("memory", []) => {
            let few = variants(&layer.beginning(16))?;
            memory(variant, find(&few, name)?, pass)
        }
        _ => bail!("{question:?} is no question"),
    }
}

fn find<'a>(all: &'a [Box<dyn Variant>], name: &str) -> Result<&'a dyn Variant> {
    let found = all.iter().find(|variant| variant.name() == name);
    Ok(found.with_context(|| format!("there is no variant {name:?}"))?.as_ref())
}

/// One long pass; or the mean of as many short ones as take 20 ms, after a first.
fn time(variant: &dyn Variant, pass: Pass) -> Result<String> {
    let mean_until = |at_least_ms: f64| -> Result<f64> {
        let (start, mut n_runs) = (Instant::now(), 0);
        loop {
            drop(black_box(variant.run(pass)?));
            n_runs += 1;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            if ms >= at_least_ms {
                return Ok(ms / f64::from(n_runs));
            }
        }
    };
    let first = mean_until(0.0)?;
    let ms = if first >= LONG_MS { first } else { mean_until(AT_LEAST_MS)? };
    Ok(ms.to_string())
}

/// The peak of a pass beyond what was there, after a pass over a few tokens has in memory
/// what is only needed once.
fn memory(variant: &dyn Variant, few: &dyn Variant, pass: Pass) -> Result<String> {
    drop(few.run(pass)?);
    let before = status("VmRSS:");
    let marked = fs::write("/proc/self/clear_refs", "5");
    let answer = variant.run(pass)?;
    let (Ok(()), Some(before), Some(peak)) = (marked, before, status("VmHWM:")) else {
        return Ok("-".into());
    };
    let results = answer()?.bytes();
    Ok(peak.saturating_sub(before).saturating_sub(results).to_string())
}

fn status(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// A package's version, from the lock file that it was compiled with.
fn version(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let named = format!("name = \"{package}\"\nversion = \"");
    // Of two versions, the one that is used is the later.
    let all = lock.split(&named).skip(1).last();
    all.and_then(|rest| rest.split('"').next()).unwrap_or("of unknown version")
}

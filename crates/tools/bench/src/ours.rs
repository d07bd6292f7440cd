//! Our side: the rungs of the ladder and the readable stages, behind the questions that
//! every side answers ([`side`](super::side)).

mod products;
mod variants;

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use kernels::ladder;

use super::layer::Layer;
use super::memory;
use products::products;
use runs::{Case, Pass};
use tiles::Instructions;
use variants::{Variant, layers};
use workshop::output::print;

/// How long a measurement lasts at least: shorter passes are repeated.
pub const AT_LEAST_MS: f64 = 20.0;

/// From here on the first pass counts: that threads and caches are cold does not matter.
const LONG_MS: f64 = 200.0;

/// What every side is started with.
#[derive(Debug, clap::Args)]
pub struct Args {
    file: PathBuf,
    heads: usize,
    threads: usize,
    causal: u8,
    instructions: String,
}

/// Answers until there are no more questions.
///
/// # Errors
/// A question that is none; a layer that does not fit.
pub fn serve(args: &Args) -> Result<()> {
    let instructions = instructions(&args.instructions)?;
    let layer = Layer::open(&args.file, args.heads, args.causal != 0)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build()?;
    pool.install(|| {
        let mut server = Server::new(layer, instructions);
        let version = env!("CARGO_PKG_VERSION");
        print(format_args!("kernels {version}\t{}\n", server.names().join("\t")))?;
        for line in io::stdin().lock().lines() {
            print(server.answer(&line?)? + "\n")?;
        }
        Ok(())
    })
}

/// The names of our layers: the readable stages, and the rungs, the slowest first.
pub fn names() -> Result<Vec<&'static str>> {
    let layer = Layer::random(Case::new("", [1, 1, 1, 1], false))?;
    let mut server = Server::new(layer, Instructions::best());
    server.variants.retain(|variant| variant.pass() != Pass::Product);
    Ok(server.names())
}

/// The last rung of the ladder.
pub fn last_rung() -> Result<&'static str> {
    let layer = Layer::random(Case::new("", [1, 1, 1, 1], false))?;
    let ladder = ladder(&layer.parameters);
    Ok(ladder.last().context("the ladder has no rung")?.name())
}

/// The vector instructions with a name.
pub fn instructions(name: &str) -> Result<Instructions> {
    Instructions::named(name).with_context(|| {
        let all = Instructions::available();
        let all: Vec<&str> = all.iter().map(|set| set.name()).collect();
        format!("this processor has no {name:?}; it has {}", all.join(", "))
    })
}

/// Every variant with this layer's parameters.
fn variants(layer: &Layer, instructions: Instructions) -> Vec<Box<dyn Variant>> {
    let mut all = layers(layer, instructions);
    all.extend(products(layer, instructions));
    all
}

struct Server {
    layer: Layer,
    instructions: Instructions,
    variants: Vec<Box<dyn Variant>>,
}

impl Server {
    fn new(layer: Layer, instructions: Instructions) -> Self {
        let variants = variants(&layer, instructions);
        Self { layer, instructions, variants }
    }

    /// Each name once, though a name may have two passes.
    fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = Vec::new();
        for variant in &self.variants {
            if !names.contains(&variant.name()) {
                names.push(variant.name());
            }
        }
        names
    }

    fn answer(&mut self, question: &str) -> Result<String> {
        let words: Vec<&str> = question.split('\t').collect();
        let (command, name, pass, rest) = match words[..] {
            [command, name, pass, ref rest @ ..] => (command, name, pass, rest),
            _ => bail!("{question:?} is no question"),
        };
        let pass = Pass::named(pass)?;
        let variant = find(&mut self.variants, name, pass);
        if command == "needs" {
            let needs = variant.map(|variant| variant.needs(&self.layer.case));
            return Ok(needs.map_or("no".into(), |bytes| bytes.to_string()));
        }
        let variant =
            variant.with_context(|| format!("{name:?} has no pass {:?}", pass.name()))?;
        match (command, rest) {
            ("check", [file]) => check(variant.as_mut(), &self.layer, Path::new(file)),
            ("time", []) => time(variant.as_mut(), &self.layer),
            ("memory", []) => {
                // Anew: what a variant keeps from one pass to the next counts.
                let mut fresh = variants(&self.layer, self.instructions);
                let variant =
                    find(&mut fresh, name, pass).context("the same variants")?;
                measure_memory(variant.as_mut(), &self.layer)
            }
            _ => bail!("{question:?} is no question"),
        }
    }
}

fn find<'a>(
    variants: &'a mut [Box<dyn Variant>],
    name: &str,
    pass: Pass,
) -> Option<&'a mut Box<dyn Variant>> {
    variants.iter_mut().find(|variant| variant.name() == name && variant.pass() == pass)
}

fn check(variant: &mut dyn Variant, layer: &Layer, file: &Path) -> Result<String> {
    variant.prepare(layer)?;
    variant.run(layer, true)?;
    variant.results()?.save(file)?;
    Ok("written".into())
}

/// One long pass; or the mean of as many short ones as take 20 ms, after a first.
fn time(variant: &mut dyn Variant, layer: &Layer) -> Result<String> {
    let mut run = || variant.run(layer, false);
    let first = mean_ms(0.0, &mut run)?;
    let ms = if first >= LONG_MS { first } else { mean_ms(AT_LEAST_MS, run)? };
    Ok(ms.to_string())
}

/// The mean of as many runs as take so long.
pub fn mean_ms(at_least_ms: f64, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let (start, mut n_runs) = (Instant::now(), 0);
    loop {
        run()?;
        n_runs += 1;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        if ms >= at_least_ms {
            return Ok(ms / f64::from(n_runs));
        }
    }
}

/// A first pass over a few tokens has what is only needed once (code, threads) in memory;
/// the second is measured.
fn measure_memory(variant: &mut dyn Variant, layer: &Layer) -> Result<String> {
    let few = layer.beginning(16);
    variant.prepare(&few)?;
    variant.run(&few, false)?;
    variant.prepare(layer)?;
    let (outcome, peak) = memory::peak(|| variant.run(layer, false));
    outcome?;
    let beyond = peak.map(|peak| peak.saturating_sub(variant.new_results(layer)));
    Ok(beyond.map_or("-".into(), |bytes| bytes.to_string()))
}

#[cfg(test)]
mod tests;

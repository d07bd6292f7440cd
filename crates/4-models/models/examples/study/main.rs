//! What a real decoder's heads do, and what it loses without them: the numbers of the
//! chapter "A model that writes".
//!
//! ```text
//! cargo run --release -p models --features text --example study -- MODEL.gguf [PART]
//! ```
//!
//! measures all parts or one (`heads`, `removed`, `composed`, `paths`, `words`, `windows`,
//! `merged`, `order`, `shuffled`, `next`), prints what it finds on the way, and writes
//! `data/smollm2.json` in the crate's folder, one line per part. What is written holds no
//! times.

mod ablation;
mod composed;
mod heads;
mod merged;
mod order;
mod paths;
mod texts;
mod windows;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ::texts::Text;
use anyhow::{Context, Result, bail, ensure};
use models::decoders::{AsRead, Decoder, Files};
use serde_json::{Map, Value};

/// A head has a pattern if more than this share goes there on average. Fixed before looking.
const MOST: f64 = 0.5;

/// In f32, as it is written with.
type Model = AsRead<f32>;

/// The model, its vocabulary, and what was measured before.
struct Study {
    model: Model,
    text: Text,
    found: Map<String, Value>,
}

type Part = fn(&mut Study) -> Result<Value>;

/// Later parts ask what earlier ones found.
const PARTS: [(&str, Part); 10] = [
    ("heads", heads::measure),
    ("removed", ablation::measure),
    ("composed", composed::measure),
    ("paths", paths::measure),
    ("words", words::measure),
    ("windows", windows::measure),
    ("merged", merged::measure),
    ("order", order::measure),
    ("shuffled", order::shuffled),
    ("next", words::next),
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().context("which model? A GGUF file, or a folder")?;
    let asked = arguments.next();
    let known = |part: &String| PARTS.iter().any(|(name, _)| name == part);
    if let Some(part) = asked.as_ref().filter(|part| !known(part)) {
        bail!("there is no part {part}");
    }
    let files = Files::open(&path)?;
    let (model, text) = (Decoder::read(&files)?, files.text()?);
    let mut study = Study { model, text, found: before()? };
    for (name, measure) in PARTS {
        if asked.as_deref().is_some_and(|asked| asked != name) {
            continue;
        }
        let start = Instant::now();
        let found = measure(&mut study)?;
        println!("{name}: {:.0} s", start.elapsed().as_secs_f64());
        study.found.insert(name.to_owned(), found);
        write(&study.found)?;
    }
    Ok(())
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/smollm2.json")
}

fn before() -> Result<Map<String, Value>> {
    let text = fs::read_to_string(file())?;
    serde_json::from_str(&text).with_context(|| file().display().to_string())
}

fn write(found: &Map<String, Value>) -> Result<()> {
    let lines: Vec<String> =
        found.iter().map(|(part, value)| format!("\"{part}\": {value}")).collect();
    fs::write(file(), format!("{{\n{}\n}}\n", lines.join(",\n")))?;
    Ok(())
}

impl Study {
    /// What an earlier part found.
    fn part(&self, name: &str) -> Result<&Value> {
        self.found.get(name).with_context(|| format!("measure {name} first"))
    }

    /// All heads by one of their patterns on average, the largest share first.
    fn ranked(&self, pattern: &str) -> Result<Vec<(usize, usize)>> {
        let shares = self.shares(pattern)?;
        let mut heads: Vec<usize> = (0..shares.len()).collect();
        heads.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        Ok(heads.into_iter().map(|head| self.place(head)).collect())
    }

    /// The heads that give a pattern more than half of their shares.
    fn most_of(&self, pattern: &str) -> Result<Vec<(usize, usize)>> {
        let n = self.shares(pattern)?.iter().filter(|&&share| share > MOST).count();
        let mut heads = self.ranked(pattern)?;
        heads.truncate(n);
        Ok(heads)
    }

    fn shares(&self, pattern: &str) -> Result<Vec<f64>> {
        let shares: Vec<f64> =
            serde_json::from_value(self.part("heads")?[pattern].clone())?;
        let n_heads = self.model.config.dims().n_heads() * self.model.blocks.len();
        ensure!(shares.len() == n_heads, "{} heads, and not {n_heads}", shares.len());
        Ok(shares)
    }

    fn place(&self, head: usize) -> (usize, usize) {
        let n_heads = self.model.config.dims().n_heads();
        (head / n_heads, head % n_heads)
    }
}

/// To four decimals.
fn round(x: f64) -> f64 {
    (x * 1e4).round() / 1e4 + 0.0 // no −0
}

fn rounded(numbers: impl IntoIterator<Item = f64>) -> Vec<f64> {
    numbers.into_iter().map(round).collect()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

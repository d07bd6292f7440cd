//! A whole model that writes: its weights as floats, in the bits of its file, and llama.cpp on
//! the same file.
//!
//! A prompt is arithmetic, a token behind it is memory, first that of the weights and behind a
//! long text that of keys and values too: so each is timed by itself. Before
//! anything is timed, the logits behind the prompt and the tokens that are chosen after them
//! stand beside those of the readable model, and the loss beside that of the float weights.

mod timed;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};
use attention::{LayerParameters, Matrix, median};
use model_files::Sequence;
use models::decoders::study::PROSE;
use models::decoders::{AsRead, CachedDecoder, FastDecoder, Files, Precision};
use models::{Kind, Model, WriteOptions};
use runs::{Case, Pass};
use texts::Long;
use tiles::Instructions;
use workshop::output::print;
use workshop::progress;

use super::results::Results;
use super::rounds;
use super::side::{Job, Program, Side};
use super::{Common, Settings, expect_optimised, peers, table};

use timed::{LONG, Ours, PROMPT, Part, WRITTEN, Who};

/// Tokens that are compared.
const COMPARED: usize = 12;

/// Tokens of the book's prose whose loss is compared.
const OF_PROSE: usize = 1024;

/// Checks, times and prints; beside llama.cpp, if a Python is given or to be found.
///
/// # Errors
/// A model that is not there or does not write.
pub fn run(path: &Path, common: &Common) -> Result<()> {
    let settings = &common.settings()?;
    expect_optimised()?;
    let mut files = Files::open(path)?;
    // No end, so that as many tokens are written by any model.
    files.config.ends.clear();
    let ids = prose(&files)?;
    let machine = settings.machine()?;
    print(table::machine(&machine))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    let bar = progress::spinner("the model as floats");
    let (expected, readable) = Expected::of(AsRead::read(&files)?, &ids)?;
    let floats = FastDecoder::new(readable)?;
    bar.finish_and_clear();
    let mut ways = ways(&files, floats, settings.instructions)?;
    let (mut checks, mut who) = (Vec::new(), Vec::new());
    for (name, model) in &mut ways {
        let bar = progress::spinner((*name).to_owned());
        let check = pool.install(|| Check::of(model, &ids, &expected))?;
        bar.finish_and_clear();
        checks.push(Check { name: (*name).to_owned(), ..check });
        let decoder = model.decoder().context(NO_DECODER)?;
        let ours = Rc::new(RefCell::new(Ours::new(decoder)));
        who.extend(Part::ALL.map(|part| {
            let ours = Rc::clone(&ours);
            Who::Ours { pool: &pool, ours, ids: &ids, part }
        }));
    }
    let peer = common.beside.peer(&peers::LLAMA_CPP, "llama.py")?;
    match peer.map(|program| llama_cpp(&program, settings, path, &ids, &expected)) {
        None => {}
        Some(Ok((side, check))) => {
            let side = Rc::new(RefCell::new(side));
            who.extend(Part::ALL.map(|part| Who::Peer(Rc::clone(&side), part)));
            checks.push(check);
        }
        Some(Err(why)) => print(format_args!("llama.cpp: skipped: {why:#}\n"))?,
    }
    let peak = || runs::machine::fma_peak(settings.threads, settings.instructions);
    let rounds = rounds::run(&mut who, settings.rounds, peak, |_| ());
    let ms: Result<Vec<f64>, String> =
        rounds.ms.into_iter().map(|ms| ms.map(median)).collect();
    let ms = ms.map_err(|why| anyhow::anyhow!(why))?;
    let shown = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let title = format!(
        "{shown} ({} of {} rounds):\n{PROMPT} tokens read; {WRITTEN} written behind 2, and \
         behind {LONG}",
        rounds.n_kept,
        rounds.n_kept + rounds.n_thrown_away
    );
    Ok(print(grid(&title, machine.bandwidth_gb_s, &checks, &ms))?)
}

/// A model as floats and as its file has it, by names.
fn ways(
    files: &Files,
    floats: FastDecoder,
    instructions: Instructions,
) -> Result<[(&'static str, Fast); 5]> {
    let bits = || FastDecoder::read_files(files);
    let unrounded = |precision| -> Result<FastDecoder> {
        Ok(bits()?.in_f32().with_precision(precision))
    };
    let ways = [
        ("f32 weights", floats),
        ("its bits, f32", unrounded(Precision::F32)?),
        (" cache in f16", unrounded(Precision::F16)?),
        (" in 8 bits", unrounded(Precision::Q8)?),
        ("its bits", bits()?.with_precision(Precision::F16)),
    ];
    let model =
        |decoder: FastDecoder| Model::of_decoder(decoder.with_instructions(instructions));
    Ok(ways.map(|(name, decoder)| (name, model(decoder))))
}

/// The book's prose, again and again.
fn prose(files: &Files) -> Result<Vec<usize>> {
    let n_positions = files.config.n_positions;
    ensure!(
        LONG + WRITTEN < n_positions,
        "the model has {n_positions} positions, and {WRITTEN} tokens are written behind {LONG}",
    );
    let ids = files.text()?.pieces(PROSE, n_positions, Long::Cut)?.sequence.ids;
    ensure!(ids.len() > OF_PROSE, "the book's prose is {} tokens", ids.len());
    Ok(ids.into_iter().cycle().take(LONG.max(OF_PROSE)).collect())
}

/// What the readable model says, in f32.
struct Expected {
    /// Behind the prompt, `[n_vocabulary]`.
    logits: Vec<f32>,
    /// The tokens that it chooses then.
    ids: Vec<usize>,
    /// Of the prose.
    loss: f64,
}

impl Expected {
    /// Gives the model back too.
    fn of(model: AsRead<f32>, ids: &[usize]) -> Result<(Self, AsRead<f32>)> {
        let losses = model.losses(&ids[..OF_PROSE], &attention::Mask::Causal)?;
        let mut model = Model::of_decoder(model);
        let (logits, chosen) = first_tokens(&mut model, ids)?;
        let Kind::Decoder(model) = model.kind else { bail!(NO_DECODER) };
        Ok((Self { logits, ids: chosen, loss: mean(&losses) }, model))
    }
}

const NO_DECODER: &str = "the model does not go on with a text";

/// A model that is packed.
type Fast = Model<LayerParameters<f32>, FastDecoder>;

/// The logits behind the prompt, and the tokens that are chosen then.
fn first_tokens<D: CachedDecoder>(
    model: &mut Model<LayerParameters<f32>, D>,
    ids: &[usize],
) -> Result<(Vec<f32>, Vec<usize>)> {
    let prompt = Sequence::new(ids[..PROMPT].to_vec());
    let mut writing = model.write(&prompt, WriteOptions::greedy(COMPARED))?;
    let logits = model.step(&mut writing)?.logits;
    while !writing.draft().is_done() {
        model.step(&mut writing)?;
    }
    let logits = logits.into_iter().map(|logit| logit as f32).collect();
    Ok((logits, writing.draft().written().to_vec()))
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// How one way stands beside the readable model.
#[derive(Debug, Default)]
struct Check {
    name: String,
    /// The largest difference of a logit.
    logits: f64,
    /// How many of the compared tokens are the same, from the first on.
    same: usize,
    /// Nats above the loss of the readable model; a peer is not asked.
    loss: Option<f64>,
    /// What is read for a token.
    bytes: Option<usize>,
}

impl Check {
    fn of(model: &mut Fast, ids: &[usize], expected: &Expected) -> Result<Self> {
        let (logits, chosen) = first_tokens(model, ids)?;
        let decoder = model.decoder().context(NO_DECODER)?;
        let loss = mean(&decoder.losses(&ids[..OF_PROSE], OF_PROSE)?) - expected.loss;
        let bytes = Some(decoder.weight_bytes());
        let found = Self::beside(&logits, &chosen, expected)?;
        Ok(Self { loss: Some(loss), bytes, ..found })
    }

    fn beside(logits: &[f32], ids: &[usize], expected: &Expected) -> Result<Self> {
        let (n, found) = (expected.logits.len(), logits.len());
        ensure!(n == found, "{found} logits, and the model has {n}");
        let apart =
            logits.iter().zip(&expected.logits).map(|(a, b)| f64::from(a - b).abs());
        let logits = apart.fold(0.0, |a, b| if b.is_nan() || b > a { b } else { a });
        let same = ids.iter().zip(&expected.ids).take_while(|(a, b)| a == b).count();
        ensure!(
            logits.is_finite() && same > 0,
            "another first token than the readable model: logits are off by {logits:.1e}"
        );
        Ok(Self { logits, same, ..Self::default() })
    }
}

/// llama.cpp with this file, found right.
fn llama_cpp(
    program: &Program,
    settings: &Settings,
    path: &Path,
    ids: &[usize],
    expected: &Expected,
) -> Result<(Side, Check)> {
    let folder = tempfile::tempdir().context("no folder for temporary files")?;
    let given = folder.path().join("ids.txt");
    let lines = ids.iter().take(LONG).map(|id| format!("{id}\n")).collect::<String>();
    let head = format!("{}\n{WRITTEN}\n{PROMPT}\n", path.display());
    std::fs::write(&given, head + &lines).context("no place for the ids")?;
    let (instructions, threads) = (settings.instructions.name(), settings.threads);
    let case = Case::new("", [1, PROMPT, 1, 1], true);
    let mut side =
        Side::start(program, &Job { file: &given, case, threads, instructions })?;
    let file = folder.path().join("results.safetensors");
    side.check(Part::Prompt.name(), Pass::Forward, &file)?;
    let found = Results::open(&file, false)?;
    let out: &Matrix = found.out();
    let row = |row: usize| out.row(row).iter().copied().collect::<Vec<f64>>();
    let logits: Vec<f32> = row(0).into_iter().map(|logit| logit as f32).collect();
    let written: Vec<usize> =
        row(1).into_iter().take(COMPARED).map(|id| id as usize).collect();
    let check = Check::beside(&logits, &written, expected)?;
    let name = side.versions.iter().map(|(name, version)| format!("{name} {version}"));
    let name = name.collect::<Vec<_>>().join(", ");
    Ok((side, Check { name, ..check }))
}

/// A row for each way; of each the milliseconds of [`Part::ALL`], side by side.
fn grid(title: &str, bandwidth: f64, checks: &[Check], ms: &[f64]) -> String {
    let mut text = format!("\n{title}\n");
    text += &format!(
        "{:15}{:>6}{:>8}{:>8}{:>11}{:>8}{:>10}{:>6}{:>8}\n",
        "",
        "prompt",
        "token/s",
        "behind",
        "a token",
        "of mem.",
        "|Δ logit|",
        "same",
        "Δ loss"
    );
    for (check, ms) in checks.iter().zip(ms.chunks_exact(Part::ALL.len())) {
        let rate = check.bytes.map(|bytes| bytes as f64 / ms[1] / 1e6);
        let or = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        text += &format!(
            "{:15}{:6.0}{:8.1}{:8.1}{:>11}{:>8}{:>10.1e}{:>6}{:>8}\n",
            check.name,
            ms[0],
            1e3 / ms[1],
            1e3 / ms[2],
            or(check.bytes.map(|bytes| table::bytes(bytes as u64))),
            or(rate.map(|rate| format!("{:.0} %", 100.0 * rate / bandwidth))),
            check.logits,
            format!("{}/{COMPARED}", check.same),
            or(check.loss.map(|loss| format!("{loss:+.4}"))),
        );
    }
    text + LEGEND
}

const LEGEND: &str = "
Medians of the rounds, in turn. its bits: weights as the file has them, and
  what `cargo learn write` does: keys and values in float16, and a prompt's
  tokens rounded to 8 bits where the processor multiplies bytes, others to
  16. f32: a prompt's too are rounded to 16; cache: keys and values in fewer
  bits then.
prompt: ms; token/s: written behind 2 tokens, and behind the long text.
a token: bytes of weights that are read for each, and their part of what
  memory was measured to give.
|Δ logit|: the largest difference from the readable model in f32, behind the
  prompt; same: how many tokens are the same that are chosen then. llama.cpp
  rounds all tokens to 8 bits, and its cache is in float16.
Δ loss: nats above the readable model's, on the book's prose as one prompt.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_ours_and_of_a_peer() {
        let check = |name: &str, bytes, loss| Check {
            name: name.into(),
            logits: 0.25,
            same: 12,
            loss,
            bytes,
        };
        let checks = [
            check("as in the file", Some(93_000_000), Some(0.0012)),
            check("llama.cpp 1.2.3", None, None),
        ];
        let text = grid("m.gguf", 20.0, &checks, &[500.0, 8.0, 9.0, 480.0, 10.0, 12.5]);
        insta::assert_snapshot!(text.trim_end_matches(LEGEND));
    }

    #[test]
    fn another_first_token_is_no_answer() {
        let expected = Expected { logits: vec![0.0, 1.0], ids: vec![1, 0], loss: 0.0 };
        let beside = |logits: &[f32], ids: &[usize]| {
            Check::beside(logits, ids, &expected).map_err(|why| why.to_string())
        };
        let close = beside(&[0.0, 1.5], &[1, 1]).unwrap();
        assert_eq!((close.logits, close.same), (0.5, 1));
        insta::assert_snapshot!(beside(&[2.0, 1.0], &[0, 0]).unwrap_err(), @"another first token than the readable model: logits are off by 2.0e0");
        insta::assert_snapshot!(beside(&[f32::NAN, 1.0], &[1, 0]).unwrap_err(), @"another first token than the readable model: logits are off by NaN");
        insta::assert_snapshot!(beside(&[1.0], &[1]).unwrap_err(), @"1 logits, and the model has 2");
    }
}

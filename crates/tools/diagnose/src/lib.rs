//! `cargo learn diagnose`: what is wrong with a layer, by its numbers.

mod report;
mod separate;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use diagnosis::{
    Diagnosis, Overrides, Pairing, Precision, Reading, Verdict, diagnose_with, read,
    snippets,
};
use serde_json::json;
use tensors::{Existing, TensorFile, check_output};
use workshop::output::{print, printable};
use workshop::progress::spinner;

/// What is wrong with your attention: its numbers, and the mistake that explains them
///
/// FILE is a safetensors file with the layer's parameters, what went in (query and, if they
/// differ, key and value; masks) and what your code gave: output and, if you have them, q, k,
/// v, scores, attn and heads. --snippet prints the lines that write such a file.
///
/// The layer that was meant is computed, and compared with what your code gave. If they
/// differ by more than rounding explains, the same is done with each mistake of a bank, and
/// with every two; a scale, a base or a bound that is another number is fitted. Exit status:
/// 0 right, 1 a mistake, 2 a file or a call that cannot be read, 3 unknown, 4 right only if
/// your code computes in a way that its numbers do not show.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Parameters, inputs and outputs of the layer
    #[arg(required_unless_present_any = ["layer", "snippet"])]
    file: Option<PathBuf>,

    /// The parameters, where they stand in a file of their own
    #[arg(long, value_name = "L", requires = "tensors", conflicts_with = "file")]
    layer: Option<PathBuf>,

    /// Inputs and outputs, where they stand in a file of their own
    #[arg(long, value_name = "T", requires = "layer")]
    tensors: Option<PathBuf>,

    /// The number of heads, if the file does not say it
    #[arg(long, value_name = "H")]
    heads: Option<usize>,

    /// The number of heads of keys and values, if they are fewer
    #[arg(long, value_name = "H")]
    kv_heads: Option<usize>,

    /// A causal mask was meant
    #[arg(long)]
    causal: bool,

    /// Rotary positions were meant, by pairs of entries d_k / 2 apart or of neighbours
    #[arg(long, value_parser = one_of(ROTARY))]
    rotary: Option<Pairing>,

    /// The base of rotary positions
    #[arg(long, value_name = "B")]
    base: Option<f64>,

    /// What scores should be multiplied by, if not 1/√d_k
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    scale: Option<f64>,

    /// The bound that scores should have, cap · tanh(s / cap)
    #[arg(long, value_name = "C")]
    cap: Option<f64>,

    /// How many keys a query sees, the one where it stands among them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    window: Option<u32>,

    /// Scores should lose by distance, with the slopes of ALiBi's paper
    #[arg(long)]
    alibi: bool,

    /// The position of the first query, where the first key stands at 0: with a cache, how
    /// many keys it had
    #[arg(long, value_name = "N")]
    offset: Option<u32>,

    /// How it was computed, if coarser than its numbers show: then rounding explains more
    #[arg(long, value_parser = one_of(COMPUTED), value_name = "PRECISION")]
    computed: Option<Precision>,

    /// Which layer, where there are several: what stands before its tensors' names
    #[arg(long, value_name = "P")]
    prefix: Option<String>,

    /// A tensor under a name of your own: W_q=my.query.weight, output=result. Again for each
    #[arg(long = "name", value_name = "NAME=YOURS")]
    names: Vec<String>,

    /// Tensors are (n, batch, d), as where batch_first is False
    #[arg(long)]
    sequence_first: bool,

    /// Weights are stored [in, out], as JAX does
    #[arg(long)]
    in_out: bool,

    /// True in a mask means "may attend", as in scaled_dot_product_attention
    #[arg(long)]
    open_true: bool,

    /// Print what was found as JSON
    #[arg(long)]
    json: bool,

    /// Write an input that tells apart what these numbers cannot
    #[arg(long, value_name = "OUT")]
    write_input: Option<PathBuf>,

    /// Print the lines that write such a file from your code, and end
    #[arg(long, value_parser = one_of(SNIPPETS))]
    snippet: Option<&'static str>,
}

/// Words that may be said, what is said of each in the help, and what it stands for.
type Choices<T> = &'static [(&'static str, &'static str, T)];

const ROTARY: Choices<Pairing> =
    &[("halves", "", Pairing::Halves), ("pairs", "", Pairing::Pairs)];

const COMPUTED: Choices<Precision> = &[
    ("float32", "", Precision::F32),
    ("tf32", "float32, whose products have factors of TF32, as GPUs do", Precision::TF32),
    (
        "bfloat16-products",
        "float32, whose products have factors of bfloat16, as TPUs do",
        Precision::BrainProducts,
    ),
    ("float16", "", Precision::F16),
    ("bfloat16", "", Precision::BF16),
];

const SNIPPETS: Choices<&str> = &[
    ("torch", "PyTorch's nn.MultiheadAttention", snippets::TORCH),
    ("module", "A PyTorch module of your own", snippets::MODULE),
    ("jax", "JAX", snippets::JAX),
    ("candle", "candle", snippets::CANDLE),
];

/// Reads one of these words as what it stands for.
fn one_of<T: Clone + Send + Sync>(all: Choices<T>) -> impl TypedValueParser<Value = T> {
    let value = |(name, help, _): &(&'static str, &'static str, T)| match *help {
        "" => PossibleValue::new(*name),
        help => PossibleValue::new(*name).help(help),
    };
    PossibleValuesParser::new(all.iter().map(value)).map(move |word| {
        let found = all.iter().find(|it| it.0 == word);
        found.expect("one of the words").2.clone()
    })
}

/// Runs the command; what cannot be read is status 2.
pub fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(verdict) => status(verdict),
        Err(error) if workshop::output::was_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            workshop::tell(&error);
            ExitCode::from(2)
        }
    }
}

fn status(verdict: Verdict) -> ExitCode {
    match verdict {
        Verdict::Right => ExitCode::SUCCESS,
        Verdict::Mistake => ExitCode::from(1),
        Verdict::Unknown => ExitCode::from(3),
        Verdict::Condition => ExitCode::from(4),
    }
}

fn run(args: &Args) -> Result<Verdict> {
    if let Some(snippet) = args.snippet {
        print(snippet)?;
        return Ok(Verdict::Right);
    }
    check_place(args)?;
    let paths = [&args.file, &args.layer, &args.tensors].into_iter().flatten();
    let files: Vec<TensorFile> =
        paths.map(TensorFile::open).collect::<tensors::Result<_>>()?;
    let name = files[0].name();
    // A file's own errors name it.
    let named = |error: diagnosis::Error| match error {
        diagnosis::Error::File(_) | diagnosis::Error::Tensors(_) => error.into(),
        error => anyhow::Error::from(error).context(name.to_string()),
    };
    let all: Vec<&TensorFile> = files.iter().collect();
    let said = overrides(args)?;
    expect_named(&all, &said)?;
    let reading = read(&all, &said).map_err(named)?;
    if !args.json {
        tell(format!("{name}\n"))?;
    }
    let diagnosis = diagnosed(&reading).map_err(named)?;
    tell(match args.json {
        true => json_text(&reading, &diagnosis)?,
        false => report::diagnosis(&reading, &diagnosis)?,
    })?;
    if let Some(path) = &args.write_input {
        let written = separate::write(path, &reading, &diagnosis)?;
        match args.json {
            // The object is all that standard output has.
            true => eprintln!("{}", printable(written.trim())),
            false => tell(written)?,
        }
    }
    Ok(diagnosis.verdict)
}

/// Prints a text. Where nobody reads any more, the verdict is still how the command ends.
fn tell(text: String) -> Result<()> {
    match print(text).map_err(anyhow::Error::from) {
        Err(error) if workshop::output::was_closed(&error) => Ok(()),
        outcome => outcome,
    }
}

/// Whether there is a place for the file that is to be written, before anything is computed.
fn check_place(args: &Args) -> Result<()> {
    let Some(path) = &args.write_input else { return Ok(()) };
    let inputs = [&args.file, &args.layer, &args.tensors].into_iter().flatten();
    check_output(path, Existing::Keep, inputs.map(PathBuf::as_path)).map_err(|error| {
        match error {
            tensors::Error::OutputExists { exists } => {
                anyhow!("{exists}: name another file with --write-input")
            }
            error => anyhow!(error.to_string().replace("--output", "--write-input")),
        }
    })
}

/// Whether the files have each tensor that `--name` speaks of.
fn expect_named(files: &[&TensorFile], said: &Overrides) -> Result<()> {
    for (name, own) in &said.names {
        ensure!(
            !name.is_empty() && files.iter().any(|file| file.contains(own)),
            "--name {name}={own}: the files have no tensor of this name"
        );
    }
    Ok(())
}

fn diagnosed(reading: &Reading) -> diagnosis::Result<Diagnosis> {
    let bar = spinner("diagnose: comparing with the layer that was meant");
    let diagnosis = diagnose_with(&reading.record, &reading.intent, &mut |progress| {
        bar.set_detail(format!(
            "diagnose: {}: {} of {} pairs of mistakes",
            progress.state.name(),
            progress.tried,
            progress.total
        ));
    });
    bar.finish_and_clear();
    diagnosis
}

fn json_text(reading: &Reading, diagnosis: &Diagnosis) -> Result<String> {
    let report = json!({
        "given": reading.given,
        "assumed": reading.assumed,
        "could_not_show": diagnosis.invisible,
        "diagnosis": diagnosis,
    });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn overrides(args: &Args) -> Result<Overrides> {
    let named = |text: &String| {
        let parts = text.split_once('=').map(|(name, own)| (name.into(), own.into()));
        parts.with_context(|| format!("--name {text}: not of the form NAME=YOURS"))
    };
    Ok(Overrides {
        heads: args.heads,
        kv_heads: args.kv_heads,
        is_causal: args.causal,
        rotary: args.rotary,
        base: args.base,
        scale: args.scale,
        cap: args.cap,
        window: args.window.map(|window| window as usize),
        is_alibi: args.alibi,
        offset: args.offset.map(|offset| offset as usize),
        computed: args.computed,
        prefix: args.prefix.clone(),
        names: args.names.iter().map(named).collect::<Result<_>>()?,
        is_sequence_first: args.sequence_first,
        is_in_out: args.in_out,
        is_open_true: args.open_true,
    })
}

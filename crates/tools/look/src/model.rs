//! `cargo learn model`: a reader's own encoder on ids or a text.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use attention::Real;
use clap::ValueEnum;
use encoders::{Encoder, Folder, Long, Sequence, Text, to_tensors};
use fused_heads::FusedAttention;
use pretrained::{Existing, NewTensor, Stored, TensorFile, check_destination, save};
use workshop::output::print;

/// Run your own encoder: every hidden state and every map
///
/// FOLDER is as `save_pretrained` writes it (config.json, model.safetensors), of BERT,
/// RoBERTa, ELECTRA or DistilBERT. INPUT is a safetensors file. What comes out is written
/// to another: `hidden.0` (after the embeddings) to `hidden.L`, each (batch, n, d_model),
/// and `attn.0` to `attn.L-1`, (batch, heads, n, n). Rows of padding mean nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model
    folder: PathBuf,

    /// `input_ids`, (batch, n) or (n); where they are there, `attention_mask` (1 = real,
    /// 0 = padding) and `token_type_ids` of the same shape. All are integers
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    input: Option<PathBuf>,

    /// A text in place of INPUT, for a FOLDER with a tokenizer.json
    #[arg(long)]
    text: Option<String>,

    /// Where to write
    #[arg(long, value_name = "OUT", default_value = "layers.safetensors")]
    output: PathBuf,

    /// Cut what is longer than the model's positions: of a text the end, of ids all that
    /// is behind the last position
    #[arg(long)]
    truncate: bool,

    /// The precision to compute in, and to write
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    dtype: Precision,

    /// Write over OUT if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Precision {
    F32,
    F64,
}

/// Reads, computes, and then writes: whatever fails, nothing is written.
///
/// # Errors
/// What is wrong with the folder, the input, or the place to write to.
pub fn run(args: &Args) -> Result<()> {
    check_output(args)?;
    let folder = Folder::open(&args.folder)?;
    let sequences = sequences(args, &folder)?;
    let tensors = match args.dtype {
        Precision::F32 => compute::<f32>(&folder, &sequences)?,
        Precision::F64 => compute::<f64>(&folder, &sequences)?,
    };
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    save(&args.output, &tensors, existing)?;
    let config = &folder.config;
    let written = tensors.iter().map(|tensor| {
        format!("  {:<10} {} {}\n", tensor.name(), tensor.shape_text(), tensor.dtype())
    });
    Ok(print(format_args!(
        "{}: {}, {} layers, d_model {}, {} heads, {} positions\n{}:\n{}",
        args.folder.display(),
        config.family.name,
        config.n_layers,
        config.dims.d_model(),
        config.dims.n_heads(),
        config.longest(),
        args.output.display(),
        written.collect::<String>()
    ))?)
}

fn compute<T: Real + Stored>(
    folder: &Folder,
    sequences: &[Sequence],
) -> Result<Vec<NewTensor>> {
    let model = Encoder::<_, T>::read(&folder.config, &folder.weights, |parameters| {
        FusedAttention::new(parameters)
    })?;
    let layers = sequences.iter().enumerate().map(|(s, sequence)| {
        model.forward(sequence).with_context(|| format!("sequence {s}"))
    });
    Ok(to_tensors(&layers.collect::<Result<Vec<_>>>()?)?)
}

fn sequences(args: &Args, folder: &Folder) -> Result<Vec<Sequence>> {
    let longest = folder.config.longest();
    if let Some(text) = &args.text {
        let tokenizer = Text::open(&args.folder, folder.config.n_vocabulary)?;
        let long = if args.truncate { Long::Cut } else { Long::Refuse };
        return Ok(vec![cut_hint(tokenizer.pieces(text, longest, long))?.sequence]);
    }
    let Some(input) = &args.input else { bail!("neither INPUT nor --text was given") };
    let sequences = Sequence::read_all(&TensorFile::open(input)?, &folder.config)?;
    let n_tokens = sequences.iter().map(Sequence::n_tokens).max().unwrap_or_default();
    if n_tokens <= longest {
        return Ok(sequences);
    }
    ensure!(
        args.truncate,
        "{}: input_ids has {n_tokens} tokens a sequence, and the model has {longest} \
         positions: `--truncate` cuts what is behind them",
        input.display()
    );
    let sequences: Vec<_> = sequences.iter().map(|one| one.first(longest)).collect();
    let is_empty = |one: &Sequence| !one.is_real.contains(&true);
    if let Some(s) = sequences.iter().position(is_empty) {
        bail!(
            "{}: cut to {longest} tokens, sequence {s} is all padding",
            input.display()
        );
    }
    Ok(sequences)
}

/// Names the option that helps.
pub(crate) fn cut_hint<T>(outcome: encoders::Result<T>) -> Result<T> {
    outcome.map_err(|error| match error {
        encoders::Error::LongText { .. } => {
            anyhow::anyhow!("{error}: `--truncate` cuts its end")
        }
        error => error.into(),
    })
}

/// Before anything is read: that the place to write to is one, and is no input.
fn check_output(args: &Args) -> Result<()> {
    let same = |a: &Path| match (fs::canonicalize(a), fs::canonicalize(&args.output)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    let weights = args.folder.join("model.safetensors");
    for input in args.input.iter().chain([&weights]) {
        ensure!(
            !same(input),
            "{} is read by this command and is not written over: name another file with \
             --output",
            args.output.display()
        );
    }
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    check_destination(&args.output, existing).map_err(|error| match error {
        pretrained::Error::Exists { .. } => anyhow::anyhow!(
            "{error}: name another file with --output, or write over it with --force"
        ),
        error => error.into(),
    })
}

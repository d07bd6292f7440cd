//! `cargo learn model`: a reader's own model on ids or a text.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use attention::{LayerParameters, Real};
use clap::ValueEnum;
use fused_heads::FusedAttention;
use model_files::{Sequence, Unused, shown};
use models::encoders::Stage;
use models::{ModelFiles, translators};
use tensors::{NewTensor, Stored, TensorFile, check_output, save};
use workshop::output::print;

use crate::args::{existing, long};
use crate::sizes::{OutputSizes, cut_hint, expect_room, expect_room_of_pairs};
use crate::{fetch, translate};

/// Run your own model: every hidden state and every map
///
/// FOLDER is as `save_pretrained` writes it (config.json, model.safetensors), of BERT,
/// RoBERTa (XLM-RoBERTa and CamemBERT too), ELECTRA or DistilBERT, or of GPT-2, GPT-NeoX,
/// Llama, Mistral, Qwen2, Qwen3, Gemma 2 or Gemma 3, in one file or in several with their
/// index; a GGUF file of Llama, Qwen or Gemma; or `smollm2`; or of Marian, BART, mBART or T5,
/// which read one text and write another. INPUT is a safetensors file.
/// What comes out is written to another: `hidden.0` (after the embeddings) to `hidden.L`, each
/// (batch, n, d_model), `attn.0` to `attn.L-1`, (batch, heads, n, n), and of a model that
/// writes `logits`, (batch, n, vocabulary). Rows of padding mean nothing.
///
/// A model that reads one text and writes another gets `decoder_input_ids` and
/// `decoder_attention_mask` too, and gives `encoder.hidden.L`, `encoder.attn.L`,
/// `decoder.hidden.L`, `decoder.attn.L`, `cross.L`, (batch, heads, n_target, n_source), and
/// `logits`; of a `--text` the target is what it writes, greedily.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model: a folder, a GGUF file, or `smollm2`
    folder: PathBuf,
    /// `input_ids`, (batch, n) or (n); where they are there, `attention_mask` (1 = real,
    /// 0 = padding), `token_type_ids` and `position_ids` of the same shape. All are integers.
    /// What a model gave may stand beside them; whatever else would change the result is
    /// refused by its name
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    input: Option<PathBuf>,
    /// A text in place of INPUT, for a FOLDER with a tokenizer.json or a GGUF file
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
    /// Say what the model's files and INPUT hold and is not used, and why that changes
    /// nothing
    #[arg(long)]
    unused: bool,
    /// Write over OUT if it exists
    #[arg(long)]
    force: bool,
    /// Fetch smollm2 if it is not there, and do not ask
    #[arg(long)]
    download: bool,
}

impl Args {
    fn input(&self) -> Result<&PathBuf> {
        self.input.as_ref().context("neither INPUT nor --text was given")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Precision {
    F32,
    F64,
}

/// All that the model gives in this precision, if there is room for it.
fn computed<T: Real + Stored>(args: &Args, model: &ModelFiles) -> Result<Vec<NewTensor>> {
    if let ModelFiles::Translator(files) = model {
        let texts = text_pairs(args, files)?;
        let lengths = texts.iter().map(|pair| [0, 1].map(|it| pair[it].n_tokens()));
        expect_room_of_pairs(files, &lengths.collect::<Vec<_>>(), size_of::<T>())?;
        return Ok(translators::tensors::<T>(files, &texts)?);
    }
    let sequences = sequences(args, model)?;
    if let Some(sizes) = output_sizes(model) {
        expect_room(sizes, &sequences, size_of::<T>())?;
    }
    Ok(model.tensors::<T>(&sequences, fused)?)
}

fn fused<T: Real>(parameters: &LayerParameters<T>) -> Stage<T> {
    Box::new(FusedAttention::new(parameters))
}

/// What a model that reads one text gives.
fn output_sizes(model: &ModelFiles) -> Option<OutputSizes> {
    let (dims, n_vocabulary) = match model {
        ModelFiles::Encoder(files) => (files.config.dims, 0),
        ModelFiles::Decoder(files) => (files.config.dims(), files.config.n_vocabulary),
        ModelFiles::Translator(_) => return None,
    };
    Some(OutputSizes::new(model.n_heads(), dims.d_model(), n_vocabulary))
}

/// Reads, computes, and then writes: whatever fails, nothing is written.
pub fn run(args: &Args) -> Result<()> {
    let path = fetch::named(&args.folder, args.download)?;
    let existing = existing(args.force);
    let files = ModelFiles::files(&path);
    let inputs = args.input.iter().chain(&files).map(PathBuf::as_path);
    check_output(&args.output, existing, inputs)?;
    let model = ModelFiles::open(&path)?;
    let mut unused = String::new();
    if args.unused {
        let mut all = model.unused().to_vec();
        if let Some(input) = &args.input {
            let file = TensorFile::open(input)?;
            all.extend(match model {
                ModelFiles::Translator(_) => Sequence::unused_of_pairs(&file)?,
                _ => Sequence::unused(&file, model.is_causal())?,
            });
        }
        unused = unused_text(&all);
    }
    let tensors = match args.dtype {
        Precision::F32 => computed::<f32>(args, &model)?,
        Precision::F64 => computed::<f64>(args, &model)?,
    };
    save(&args.output, &tensors, existing)?;
    let width = tensors.iter().map(|it| it.name().len()).max().unwrap_or(0).max(10);
    let written = tensors.iter().map(|tensor| {
        let (name, shape, dtype) = (tensor.name(), tensor.shape_text(), tensor.dtype());
        format!("  {name:<width$} {shape} {dtype}\n")
    });
    let has_logits = tensors.iter().any(|it| it.name() == "logits");
    let headless = match has_logits || matches!(model, ModelFiles::Encoder(_)) {
        true => "",
        false => "  saved without its head: there are no logits\n",
    };
    let (folder, about, out) =
        (args.folder.display(), model.about(), args.output.display());
    let written: String = written.collect();
    Ok(print(format!("{folder}: {about}\n{headless}{unused}{out}:\n{written}"))?)
}

/// A line per tensor that is not used.
fn unused_text(unused: &[Unused]) -> String {
    let line = |it: &Unused| format!("  {:<22} {}\n", shown(&it.name), it.why);
    match unused.is_empty() {
        true => "not used: nothing\n".to_owned(),
        false => format!("not used:\n{}", unused.iter().map(line).collect::<String>()),
    }
}

/// The sources and targets of a model that has both.
fn text_pairs(args: &Args, files: &translators::Files) -> Result<Vec<[Sequence; 2]>> {
    if let Some(text) = &args.text {
        let pair =
            translate::text_pair(files, text, long(args.truncate), translate::MOST)?;
        return Ok(vec![pair]);
    }
    let input = args.input()?;
    let pairs = translators::sequences(&files.config, &TensorFile::open(input)?)?;
    let longest = files.config.longest();
    for (side, name) in ["input_ids", "decoder_input_ids"].into_iter().enumerate() {
        let n_tokens = pairs.iter().map(|pair| pair[side].n_tokens()).max().unwrap_or(0);
        ensure!(
            n_tokens <= longest,
            "{}: {name} has {n_tokens} tokens a sequence, and the model has {longest} \
             positions: they are not cut, since one side follows from the other",
            input.display()
        );
    }
    Ok(pairs)
}

fn sequences(args: &Args, model: &ModelFiles) -> Result<Vec<Sequence>> {
    let longest = model.longest();
    if let Some(text) = &args.text {
        let pieces = model.text()?.pieces(text, longest, long(args.truncate));
        return Ok(vec![cut_hint(pieces)?.sequence]);
    }
    let input = args.input()?;
    let sequences = model.sequences(&TensorFile::open(input)?)?;
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
        let name = input.display();
        bail!("{name}: cut to {longest} tokens, sequence {s} is all padding");
    }
    Ok(sequences)
}

//! `cargo learn look`: a reader's own sentence in all heads of a trained model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ::texts::Long;
use anyhow::{Context, Result, ensure};
use maps::TextHeads;
use model_files::{Existing, check_output};
use workshop::output::print;
use workshop::whole;

use crate::either::{Model, Ready};
use crate::model::cut_hint;
use crate::view::{HeadName, View};
use crate::{fetch, page, report, without};

/// Your own sentence in all heads of a trained model
///
/// The model is all-MiniLM-L6-v2, six layers of twelve heads (83 MB, fetched on your word);
/// with `--model smollm2` SmolLM2-135M, 30 layers of nine heads that read from left to right
/// (93 MB, in the same way); or any other of these families in files of yours.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to read, in quotes
    #[arg(required_unless_present = "download")]
    sentence: Option<String>,

    /// One head in full: its layer and its number, both from 0, as in 5.7
    #[arg(long, value_name = "L.H")]
    head: Option<HeadName>,

    /// Write one page with every head, which needs nothing but itself
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write over a file that exists
    #[arg(long)]
    force: bool,

    /// Fetch the model if it is not there, and do not ask
    #[arg(long)]
    download: bool,

    /// Another model: `smollm2`, a folder as `save_pretrained` writes it, with its
    /// tokenizer.json, or a GGUF file
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,

    /// Cut a text that is longer than the model's positions
    #[arg(long)]
    truncate: bool,

    #[command(flatten)]
    without: without::Args,
}

/// Reads the model, computes all layers, and prints what every head does.
///
/// # Errors
/// A model that is not there, or does not fit; a text that is empty or too long; a page
/// that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let folder = match &args.model {
        Some(folder) => fetch::named(folder, args.download)?,
        None => fetch::minilm(args.download)?,
    };
    let Some(sentence) = &args.sentence else { return Ok(()) };
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    if let Some(path) = &args.html {
        let files = Model::files(&folder);
        let outcome = check_output(path, existing, files.iter().map(PathBuf::as_path));
        // The flag of this command is another.
        outcome.map_err(|error| {
            anyhow::anyhow!(error.to_string().replace("--output", "--html"))
        })?;
    }
    let long = if args.truncate { Long::Cut } else { Long::Refuse };
    if args.without.is_asked() {
        print(without::answers(&args.without, &folder, sentence, long, existing)?)?;
        if args.html.is_none() && args.head.is_none() {
            return Ok(());
        }
    }
    let view = read(&folder, sentence, long)?;
    if let Some(head) = args.head {
        view.check(head)?;
    }
    if let Some(path) = &args.html {
        let page = page::of(&view)?;
        whole::write(path, page.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(report::of(&view, args.head))?;
    if let Some(path) = &args.html {
        print(format_args!("\n{} shows every head in full.\n", path.display()))?;
    }
    Ok(())
}

/// All that is shown of a sentence.
pub(crate) fn read(folder: &Path, sentence: &str, long: Long) -> Result<View> {
    let start = Instant::now();
    let files = Model::open(folder)?;
    let text = files.text()?;
    let pieces = cut_hint(text.pieces(sentence, files.longest(), long))?;
    let text_heads = match files.is_causal() {
        true => TextHeads::of_decoder,
        false => TextHeads::of_encoder,
    };
    let model = Ready::of(&files)?;
    // A hundred megabytes that are no longer needed.
    drop(files);
    let loading = start.elapsed();
    let start = Instant::now();
    let maps = model.maps(&pieces.sequence)?;
    let computing = start.elapsed();
    ensure!(!maps.is_empty(), "a model without layers has no heads");
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    Ok(View {
        model: name.to_string_lossy().into_owned(),
        sentence: sentence.to_owned(),
        n_uncut: pieces.n_uncut,
        text: text_heads(pieces.pieces, pieces.is_special, maps),
        loading,
        computing,
    })
}

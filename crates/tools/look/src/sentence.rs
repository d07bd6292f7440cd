//! `cargo learn look`: a reader's own sentence in all heads of a trained model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use encoders::{Encoder, Folder, Long, Text};
use kernels::PackedStage;
use workshop::output::print;
use workshop::whole;

use crate::model::cut_hint;
use crate::view::{HeadName, View};
use crate::{fetch, page, report};

/// Your own sentence in all heads of a trained model
///
/// The model is all-MiniLM-L6-v2, six layers of twelve heads (83 MB, fetched on your word),
/// or any other of the family in a folder of yours.
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

    /// Fetch the model if it is not there, and do not ask
    #[arg(long, conflicts_with = "model")]
    download: bool,

    /// Another model: a folder as `save_pretrained` writes it, with its tokenizer.json
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,

    /// Cut a text that is longer than the model's positions
    #[arg(long)]
    truncate: bool,
}

/// Reads the model, computes all layers, and prints what every head does.
///
/// # Errors
/// A model that is not there, or does not fit; a text that is empty or too long; a page
/// that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let folder = match &args.model {
        Some(folder) => folder.clone(),
        None => fetch::minilm(args.download)?,
    };
    let Some(sentence) = &args.sentence else { return Ok(()) };
    let long = if args.truncate { Long::Cut } else { Long::Refuse };
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
    let files = Folder::open(folder)?;
    let config = files.config.clone();
    let text = Text::open(folder, config.n_vocabulary)?;
    let pieces = cut_hint(text.pieces(sentence, config.longest(), long))?;
    let model = Encoder::read(&config, &files.weights, PackedStage::new)?;
    // A hundred megabytes that are no longer needed.
    drop(files);
    let loading = start.elapsed();
    let start = Instant::now();
    let layers = model.forward(&pieces.sequence)?;
    let computing = start.elapsed();
    ensure!(!layers.attn.is_empty(), "a model without layers has no heads");
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    Ok(View {
        model: name.to_string_lossy().into_owned(),
        sentence: sentence.to_owned(),
        n_uncut: pieces.n_uncut,
        is_special: pieces.is_special,
        pieces: pieces.pieces,
        maps: layers.attn,
        loading,
        computing,
    })
}

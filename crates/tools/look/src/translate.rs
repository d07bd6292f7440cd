//! A model that reads one text and writes another: the text that it writes, and its three
//! kinds of maps.

use std::path::Path;
use std::time::{Duration, Instant};

use ::texts::{Long, Pieces, Text};
use anyhow::{Context, Result, bail, ensure};
use attention::Matrix;
use maps::{TextHeads, Tokens};
use model_files::{Sequence, settings_in};
use models::translators::{AsRead, Config, Files, Layers, Translator};
use models::{Configuration, Draft, Part, finite};

use crate::sizes::{cut_hint, expect_maps, expect_room_of_pairs};
use crate::source::ModelSource;
use crate::view::View;

/// How many tokens are written at most, unless it is said.
pub const MOST: usize = 100;

/// What the maps of a part are.
pub fn title(part: Part) -> &'static str {
    match part {
        Part::Source => "The source: every token reads every other",
        Part::Written => "What is written: each token reads those before it",
        Part::Cross => "From what is written to the source",
    }
}

/// A source, and what was written from it, in all heads.
pub struct Translation {
    /// A view of each part, in the order of [`Part::ALL`].
    pub views: [View; 3],
    /// What was written, and what is to be said of that.
    pub notes: String,
}

/// Refuses a model that writes from a source: it has three kinds of maps.
pub fn expect_one_text(folder: &Path) -> Result<()> {
    if folder.is_file() {
        return Ok(());
    }
    match models::Config::of(&settings_in(folder)?)? {
        models::Config::Translator(config) => bail!(
            "{} is of the family {}, which reads one text and writes another: it has three kinds \
             of maps, and `cargo learn look` shows them of one sentence",
            folder.display(),
            config.family.name
        ),
        _ => Ok(()),
    }
}

/// A source and what the model writes from it, greedily, as two sequences.
pub fn text_pair(
    files: &Files,
    text: &str,
    long: Long,
    most: usize,
) -> Result<[Sequence; 2]> {
    let tokenizer = files.text()?;
    let pieces = cut_hint(tokenizer.pieces(text, files.config.longest(), long))?;
    let n_written = most.min(files.config.longest());
    let lengths = [pieces.sequence.n_tokens(), n_written];
    expect_room_of_pairs(files, &[lengths], size_of::<f32>())?;
    let model: AsRead<f32> = Translator::read(files)?;
    let source = model.read_source(&pieces.sequence)?;
    let written = model.write(&source, most)?;
    Ok([pieces.sequence, Sequence::new(read_of(written.ids()).to_vec())])
}

/// The last token that is written is never read.
fn read_of(ids: &[usize]) -> &[usize] {
    &ids[..ids.len().saturating_sub(1).max(1)]
}

/// A sentence in all heads of a model, with what it writes.
pub fn of_sentence(
    opened: &ModelSource,
    files: &Files,
    (sentence, long): (&str, Long),
    most: usize,
) -> Result<Translation> {
    let ModelSource { text: tokenizer, start, .. } = opened;
    let pieces = opened.tokens(sentence, long)?;
    expect_room(&files.config, pieces.sequence.n_tokens(), most)?;
    let model: AsRead<f32> = Translator::read(files)?;
    let loading = start.elapsed();

    let start = Instant::now();
    let source = model.read_source(&pieces.sequence)?;
    finite(source.layers.clone())?;
    let encoding = start.elapsed();
    let start = Instant::now();
    let written = model.write(&source, most)?;
    let writing = start.elapsed();
    let read = read_of(written.ids());
    let decoded = model.decode_cached(read, &source, &mut model.caches())?;
    let text = tokenizer.decode(written.written())?;
    let notes = notes(&model, &text, &written, pieces.sequence.n_tokens(), writing);

    let target = target(&files.config, tokenizer, read);
    let n_uncut = pieces.n_uncut;
    let [of_source, of_target, cross] =
        heads(pieces, target, source.layers.attn.clone(), decoded)?;
    let view = |sentence: &str, text: TextHeads, n_uncut, computing| {
        View::of_model(&files.path, sentence, n_uncut, text, [loading, computing])
    };
    let views = [
        view(sentence, of_source, n_uncut, encoding),
        view(&text, of_target, read.len(), writing),
        view(sentence, cross, n_uncut, writing),
    ];
    Ok(Translation { views, notes })
}

/// Whether there is room for the maps of so many tokens, and of the most that may be written.
fn expect_room(config: &Config, n_source: usize, most: usize) -> Result<()> {
    let heads = |half: models::translators::Half| {
        half.n_layers.saturating_mul(half.sizes.dims.n_heads())
    };
    expect_maps([n_source; 2], heads(config.encoder))?;
    let n_written = most.min(config.longest());
    let of_written = |n_keys| {
        expect_maps([n_written, n_keys], heads(config.decoder))
            .with_context(|| format!("`--write` asks for up to {n_written} tokens"))
    };
    of_written(n_source)?;
    of_written(n_written)
}

/// The tokens that were read to write the next; the start and an end are special.
fn target(config: &Config, tokenizer: &Text, read: &[usize]) -> Tokens {
    let ends = &config.writing.ends;
    let is_special = read.iter().enumerate().map(|(i, id)| i == 0 || ends.contains(id));
    Tokens { pieces: tokenizer.pieces_of(read), is_special: is_special.collect() }
}

/// The three parts, in the order of [`Part::ALL`].
fn heads(
    source: Pieces,
    target: Tokens,
    of_source: Vec<Vec<Matrix<f32>>>,
    layers: Layers<f32>,
) -> Result<[TextHeads; 3]> {
    ensure!(
        !layers.attn.is_empty() && !of_source.is_empty(),
        "a model without layers has no heads"
    );
    let Pieces { pieces, is_special, .. } = source;
    let keys = Tokens { pieces: pieces.clone(), is_special: is_special.clone() };
    let Tokens { pieces: written, is_special: is_end } = target.clone();
    Ok([
        TextHeads::of_encoder(pieces, is_special, of_source),
        TextHeads::of_decoder(written, is_end, layers.attn),
        TextHeads::between(target, keys, layers.cross),
    ])
}

/// What was written, how fast, and what it took.
fn notes(
    model: &AsRead<f32>,
    text: &str,
    written: &Draft,
    n_source: usize,
    writing: Duration,
) -> String {
    let (n, seconds) = (written.written().len(), writing.as_secs_f64());
    let end = match written.has_ended() {
        true => String::new(),
        false => format!(" (cut after {n} tokens)"),
    };
    let bytes = model.cache_bytes(n_source);
    let [token, source] =
        [&bytes.per_token, &bytes.source].map(|all| all.iter().sum::<usize>());
    let left_out = model.config.writing.left_out.join(", ");
    let greedily = match left_out.is_empty() {
        true => String::new(),
        false => format!(
            "Written greedily: the model's files ask for {left_out} too, which is not done here.\n"
        ),
    };
    format!(
        "{text}{end}\n\n{n} tokens in {seconds:.2} s, each from the one before it. Keys and \
         values: {token} bytes per token written, and {source} bytes of the source, once.\n\
         {greedily}"
    )
}

//! `cargo learn write`: a model that goes on with a reader's text.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::texts::{Growing, Long, Text};
use anyhow::Result;
use attention::LayerParameters;
use clap::ValueEnum;
use model_files::{Sequence, shown};
use models::decoders::{CachedDecoder, FastDecoder, Looks, Precision};
use models::{BeamSearch, Choice, Head, Model, Sampling, WriteOptions};
use workshop::output::print;

use crate::ablate::{self, Ablation, Replace};
use crate::args::head;
use crate::fetch;
use crate::source::decoder;
use crate::study::{self, DrawArgs, TextInDecoder, printable};
use crate::view::share;

/// A model goes on with your text
///
/// The model is SmolLM2-135M-Instruct (93 MB, fetched on your word), or any of the families
/// GPT-2, GPT-NeoX, Llama, Mistral, Qwen2, Qwen3, Gemma 2 and Gemma 3 in files of yours. What a
/// file keeps in few bits stays so in memory; before such weights, tokens are rounded to 16 bits,
/// and those of a long text to 8 where the processor multiplies bytes. Each new token is read
/// once; the keys and values of those before it are in a cache, as float16. All else is f32.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What it goes on with, in quotes
    #[arg(required_unless_present = "download")]
    text: Option<String>,
    /// How many tokens it writes at most
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    tokens: u32,
    /// Choose by chance, with a seed; without, the most likely token is chosen
    #[arg(long)]
    seed: Option<u64>,
    /// Choose by chance: 1 is what the model learned, less is nearer to the most likely
    #[arg(long)]
    temperature: Option<f64>,
    /// Choose by chance among the K most likely tokens
    #[arg(long, value_name = "K")]
    top_k: Option<usize>,
    /// Choose by chance among the most likely tokens, as few as have a chance of P together
    #[arg(long, value_name = "P")]
    top_p: Option<f64>,
    /// Search for the most likely text and not token by token: keep the best N at each token, and
    /// show them with the mean of their log-chances. Each of them is read and has a cache, so it
    /// takes N times as long; nothing is left to chance
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64),
        conflicts_with_all = ["seed", "temperature", "top_k", "top_p", "heads", "without"])]
    beams: Option<u16>,
    /// Show where each head looked for the last token
    #[arg(long, conflicts_with = "without")]
    heads: bool,
    /// In how many bits keys and values are kept: fewer are faster behind a long text
    /// [default: f16; f32 with --heads]
    #[arg(long, value_enum, conflicts_with = "without")]
    cache: Option<Cache>,
    /// Another model: a folder as `save_pretrained` writes it, with its tokenizer.json, or a
    /// GGUF file
    #[arg(long, value_name = "FOLDER", default_value = "smollm2")]
    model: PathBuf,
    /// Fetch the model if it is not there, and do not ask
    #[arg(long)]
    download: bool,
    /// Switch heads off, and write beside it what comes with all heads and without as many
    /// random heads of the same layers, as in 5.3,18.6
    #[arg(long, value_name = "L.H,...", value_delimiter = ',', value_parser = head)]
    without: Vec<Head>,
    /// What stands in their place
    #[arg(long, value_name = "WHAT", default_value = "zero", requires = "without")]
    replace: Replace,
}

/// How keys and values are kept.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Cache {
    /// As they are computed
    F32,
    /// Rounded to float16
    F16,
    /// 8 bits, and a scale for each token and head
    Q8,
}

impl Args {
    /// What is looked at is not rounded, unless that is asked for.
    fn precision(&self) -> Precision {
        let usual = if self.heads { Cache::F32 } else { Cache::F16 };
        self.cache.unwrap_or(usual).into()
    }
}

impl From<Cache> for Precision {
    fn from(cache: Cache) -> Self {
        match cache {
            Cache::F32 => Self::F32,
            Cache::F16 => Self::F16,
            Cache::Q8 => Self::Q8,
        }
    }
}

/// Reads the model and the text, and writes token by token.
pub fn run(args: &Args) -> Result<()> {
    let choice = choice(args)?;
    let path = fetch::named(&args.model, args.download)?;
    let Some(text) = &args.text else { return Ok(()) };
    let start = Instant::now();
    let files = decoder(&path)?;
    let (config, tokenizer) = (&files.config, files.text()?);
    let prompt = tokenizer.pieces(text, config.n_positions, Long::Refuse)?.sequence;
    let (n_tokens, n_positions) = (args.tokens as usize, config.n_positions);
    let n_text = prompt.n_tokens();
    if n_text + n_tokens > n_positions {
        return Err(models::Error::Room { n_text, n_new: n_tokens, n_positions }.into());
    }
    if !args.without.is_empty() {
        let text = TextInDecoder::of(&files, text, Long::Refuse)?;
        let (heads, replace) = (args.without.clone(), args.replace);
        let ablation = Ablation { heads, replace, draws: DrawArgs::default() };
        let text = ablate::going_on(text, &ablation, n_tokens, &choice)?;
        return Ok(print(text)?);
    }
    let mut page = Page { tokenizer: &tokenizer, text: Growing::default() };
    let mut model = FastDecoder::read_files(&files)?.with_precision(args.precision());
    if let Some(width) = args.beams {
        let text = beams(&mut model, &tokenizer, &prompt, width.into(), n_tokens)?;
        return Ok(print(text)?);
    }
    let model = if args.heads { model.in_f32() } else { model };
    let model = Model::of_decoder(model);
    let is_looking = args.heads;
    let options = WriteOptions { choice, is_looking, ..WriteOptions::greedy(n_tokens) };
    if let Some(looks) = page.write(model, &prompt, options, start)? {
        print(heads(&looks, &page)?)?;
    }
    Ok(())
}

fn choice(args: &Args) -> Result<Choice> {
    let Args { seed, temperature, top_k, top_p, .. } = *args;
    if (seed, temperature, top_k, top_p) == (None, None, None, None) {
        return Ok(Choice::greedy());
    }
    let sampling = Sampling::default().temperature(temperature.unwrap_or(1.0))?;
    let sampling = top_k.map_or(Ok(sampling), |k| sampling.top_k(k))?;
    let sampling = sampling.top_p(top_p.unwrap_or(1.0))?;
    Ok(Choice::by(sampling, seed.unwrap_or(0)))
}

/// What is written, printed as it comes.
struct Page<'a> {
    tokenizer: &'a Text,
    text: Growing,
}

impl Page<'_> {
    /// Prints a text and what comes behind it, and at last how fast that came; gives where the
    /// heads looked last, if that is asked for. `begun` is when the model began to be read.
    fn write(
        &mut self,
        mut model: Model<LayerParameters<f32>, FastDecoder>,
        text: &Sequence,
        options: WriteOptions,
        begun: Instant,
    ) -> Result<Option<Looks>> {
        let mut writing = model.write(text, options)?;
        let loading = begun.elapsed();
        self.show(&text.ids)?;
        let start = Instant::now();
        let (mut times, mut looks) = (Vec::new(), None);
        while !writing.draft().is_done() {
            let mut step = model.step(&mut writing)?;
            times.push(start.elapsed());
            looks = step.looks.pop();
            if let Some(id) = step.id.filter(|_| !writing.draft().has_ended()) {
                self.show(&[id])?;
            }
        }
        print(speed(&times, loading))?;
        Ok(looks)
    }

    /// Prints what these tokens complete.
    fn show(&mut self, ids: &[usize]) -> Result<()> {
        let new = self.text.add(self.tokenizer, ids)?;
        Ok(print(printable(&new))?)
    }

    /// A token as text.
    fn piece(&self, position: usize) -> Result<String> {
        study::piece(self.tokenizer, self.text.ids()[position])
    }
}

/// `times` is when each token was chosen, from when the text was given on.
fn speed(times: &[Duration], loading: Duration) -> String {
    let [first, .., last] = times else { return "\n".to_owned() };
    let seconds = (*last - *first).as_secs_f64();
    format!(
        "\n\n{:.1} tokens a second (loaded in {:.2} s, the text read in {:.2} s)\n",
        (times.len() - 1) as f64 / seconds.max(1e-9),
        loading.as_secs_f64(),
        first.as_secs_f64()
    )
}

/// Where each head looked when the last token was chosen.
fn heads(looks: &Looks, page: &Page<'_>) -> Result<String> {
    const MOST: usize = 12;
    let (mut all, mut of_first, mut n_heads, mut last) = (Vec::new(), 0.0, 0, 0);
    for (layer, shares) in looks.layers.iter().enumerate() {
        n_heads += shares.nrows();
        last = shares.ncols() - 1;
        for (head, shares) in shares.row_iter().enumerate() {
            of_first += f64::from(shares[0]);
            let others = shares.iter().enumerate().skip(1);
            all.extend(
                others.map(|(place, share)| (f64::from(*share), (layer, head), place)),
            );
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.truncate(MOST);
    let mut text = format!(
        "\nWhere the {n_heads} heads looked from {}({last}) as they chose what comes behind \
         it:\nthe first token gets {} of a head's share on average. The largest shares of \
         others,\nof which each would be {} by chance:\n\n",
        page.piece(last)?,
        share(of_first / n_heads as f64),
        share(1.0 / (last + 1) as f64),
    );
    for (of_key, head, place) in all {
        let (head, of_key, piece) =
            (study::name(head), share(of_key), page.piece(place)?);
        text += &format!("{head:<6} {of_key:>5}  {piece}({place})\n");
    }
    Ok(text)
}

/// The best `width` texts behind a prompt, the best first, each with its score.
fn beams(
    model: &mut FastDecoder,
    tokenizer: &Text,
    prompt: &Sequence,
    width: usize,
    most: usize,
) -> Result<String> {
    let ends = model.config().ends.clone();
    let search = BeamSearch { width, most, ends, alpha: 1.0 };
    let caches = model.caches(prompt.n_tokens() + most);
    let beams = search.search(&prompt.ids, caches, |caches, ids| {
        Ok(model.read_behind(ids, caches, false)?.0)
    })?;
    let mut text = Growing::default();
    let given = text.add(tokenizer, &prompt.ids)?.replace('\n', "↵");
    let mut to = format!("{}\n\nscore   tokens  what follows\n", shown(&given));
    for beam in beams {
        let n_tokens = beam.ids.len();
        let n_shown = n_tokens - usize::from(beam.has_ended);
        let new = text.clone().add(tokenizer, &beam.ids[..n_shown])?.replace('\n', "↵");
        to += &format!("{:<6.3}  {n_tokens:>6}  {}\n", beam.score, shown(&new));
    }
    to += "\nThe score is the mean of the log-chances of a text's tokens: 0 is a sure text.\n";
    Ok(to)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn caches_are_float16_unless_heads_are_shown_or_another_is_asked_for() {
        for (options, expected) in [
            (&[][..], Precision::F16),
            (&["--heads"], Precision::F32),
            (&["--cache", "f32"], Precision::F32),
            (&["--cache", "q8", "--heads"], Precision::Q8),
        ] {
            let line = Line::parse_from([&["write", "the bank"], options].concat());
            assert_eq!(line.args.precision(), expected, "{options:?}");
        }
    }
}

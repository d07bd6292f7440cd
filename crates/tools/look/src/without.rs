//! Heads switched off, and what each head adds: on a reader's own text, beside controls.
//!
//! Three questions. What changes without some heads ([`removal`], and [`encoder`] for models
//! that do not write); what each head adds to a token's logit ([`adds`]); and which heads carry
//! the difference between two texts ([`patching`]). None is answered without its control:
//! as many random heads of the same layers, random tokens, or a text that has nothing to do
//! with it.

mod adds;
mod encoder;
mod going_on;
mod patching;
mod removal;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::texts::{Long, Pieces, Text};
use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use decoders::AsRead;
use decoders::study::{Draws, Head};
use model_files::{Existing, check_output, shown};
use serde_json::Value;
use training::odds::BesideDraws;

use crate::cut::cut_hint;
use crate::either::{Model, read};
use crate::sizes::check_size;
use crate::take::write_bytes;
use crate::view::HeadName;

pub(crate) use going_on::going_on;

/// Which heads are switched off, and what they are compared with.
#[derive(Debug, Clone, clap::Args)]
pub struct Removed {
    /// Switch heads off and say what changes, beside random heads of the same layers: their
    /// layers and numbers, both from 0, as in 5.3,18.6
    #[arg(long, value_name = "L.H,...", value_delimiter = ',')]
    pub without: Vec<HeadName>,

    /// What stands in their stead
    #[arg(long, value_name = "WHAT", default_value = "zero", requires = "without")]
    pub replace: Replace,

    /// How many random draws each answer is compared with
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub draws: u16,

    /// The seed of the draws
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub draws_seed: u64,
}

impl Removed {
    fn n_draws(&self) -> usize {
        usize::from(self.draws)
    }

    fn draws(&self, heads: &[Head], n_heads: usize) -> Draws {
        Draws::new(heads, n_heads, self.n_draws(), self.draws_seed)
    }
}

/// What stands in the stead of heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Replace {
    /// Zeros
    Zero,
    /// What each head puts out on average on prose of the book
    Mean,
    /// What each head puts out, token by token, on as many tokens of that prose
    Resample,
}

/// What is asked about heads, beside what they look at.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "about_heads")]
pub struct Args {
    #[command(flatten)]
    removed: Removed,

    /// What each head adds to the logit of the next token (of a model that writes); `--html`
    /// shows it of every head, as bars
    #[arg(long)]
    adds: bool,

    /// The same as JSON: every head, for each of the most likely tokens or those of `--logits`
    #[arg(long, value_name = "FILE", group = "written")]
    adds_json: Option<PathBuf>,

    /// Which heads carry the difference between this text and yours: what each puts out on
    /// this one is put into yours
    #[arg(long, value_name = "TEXT", requires = "logits")]
    patch_from: Option<String>,

    /// Whose logits: tokens with a comma between, two for `--patch-from`, spaces counting,
    /// as in " Mary, John"
    #[arg(long, value_name = "TOKENS")]
    logits: Option<String>,
}

impl Args {
    /// Whether anything is asked.
    pub fn is_asked(&self) -> bool {
        let Self { removed, adds, adds_json, patch_from, .. } = self;
        !removed.without.is_empty()
            || *adds
            || adds_json.is_some()
            || patch_from.is_some()
    }
}

/// What is answered.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// As it is printed.
    pub text: String,
    /// What each head adds, as a page shows it.
    pub adds: Option<Value>,
    /// What changes without some heads of an encoder, as a page shows it.
    pub removed: Option<Value>,
}

/// All answers about a sentence.
///
/// # Errors
/// A model, a text, heads or tokens that do not fit: with their numbers.
pub(crate) fn answers(
    args: &Args,
    folder: &Path,
    sentence: &str,
    long: Long,
    existing: Existing,
) -> Result<Answers> {
    if let Some(path) = &args.adds_json {
        let files = Model::files(folder);
        let outcome = check_output(path, existing, files.iter().map(PathBuf::as_path));
        outcome.map_err(|error| {
            anyhow::anyhow!(error.to_string().replace("--output", "--adds-json"))
        })?;
    }
    let of_decoders = args.adds || args.adds_json.is_some() || args.patch_from.is_some();
    let (model, text) = match Model::open(folder)? {
        Model::Decoder(files) => read(&files)?,
        Model::Translator(files) => bail!(
            "{} is of the family {}: heads of a model that reads one text and writes another \
             are not switched off or patched here",
            files.path.display(),
            files.config.family.name
        ),
        Model::Encoder(folder) => {
            ensure!(
                !of_decoders,
                "a model of the family {} does not write, and has no logits of a next token: \
                 `--without` can be asked of it",
                folder.config.family.name
            );
            let (text, removed) =
                encoder::report(&folder, &args.removed, sentence, long)?;
            return Ok(Answers { text, removed: Some(removed), adds: None });
        }
    };
    let asked = Asked::new(model, text, sentence, long)?;
    let mut to = asked.tokens_line();
    // With a text to patch from, they are patched and not removed.
    if !args.removed.without.is_empty() && args.patch_from.is_none() {
        to += &removal::report(&asked, &args.removed)?;
    }
    let logits = args.logits.as_deref().map(|tokens| asked.tokens(tokens)).transpose()?;
    if args.adds {
        to += &adds::report(&asked, logits.as_deref(), &args.removed)?;
    }
    let is_wanted = args.adds || args.adds_json.is_some();
    let adds = is_wanted
        .then(|| adds::to_json(&asked, logits.as_deref(), &args.removed))
        .transpose()?;
    if let (Some(path), Some(json)) = (&args.adds_json, &adds) {
        write_bytes(path, format!("{json}\n").as_bytes(), existing)?;
        let _ = writeln!(to, "\n{} has what every head adds.", path.display());
    }
    if let Some(from) = &args.patch_from {
        let logits = logits.unwrap_or_default();
        to += &patching::report(&asked, from, &logits, &args.removed)?;
    }
    Ok(Answers { text: to, adds, removed: None })
}

/// A decoder and a text that it is asked about.
pub(crate) struct Asked {
    model: AsRead<f32>,
    text: Text,
    pieces: Pieces,
}

impl Asked {
    pub fn new(
        model: AsRead<f32>,
        text: Text,
        sentence: &str,
        long: Long,
    ) -> Result<Self> {
        let n_positions = model.config.n_positions;
        let pieces = cut_hint(text.pieces(sentence, n_positions, long))?;
        let n_heads = model.config.n_layers * model.config.dims().n_heads();
        check_size([pieces.pieces.len(); 2], n_heads)?;
        Ok(Self { model, text, pieces })
    }

    fn ids(&self) -> &[usize] {
        &self.pieces.sequence.ids
    }

    /// Its tokens as they are fit to be shown.
    fn shown_pieces(&self) -> Vec<String> {
        self.pieces.pieces.iter().map(|piece| shown(piece)).collect()
    }

    fn tokens_line(&self) -> String {
        let pieces = self.shown_pieces();
        format!("{} tokens: {}\n", pieces.len(), pieces.join(" "))
    }

    /// A token as it is printed.
    fn piece(&self, id: usize) -> Result<String> {
        Ok(shown(&self.text.decode(&[id])?.replace(' ', "_")))
    }

    /// The ids of tokens with commas between.
    fn tokens(&self, asked: &str) -> Result<Vec<usize>> {
        asked.split(',').map(|token| self.token(token)).collect()
    }

    fn token(&self, asked: &str) -> Result<usize> {
        let pieces = |asked: &str| -> Option<Vec<(usize, String)>> {
            let found = self.text.pieces(asked, usize::MAX, Long::Refuse).ok()?;
            let all = found.sequence.ids.into_iter().zip(found.pieces);
            let real = all.zip(found.is_special).filter(|(_, is_special)| !is_special);
            Some(real.map(|(piece, _)| piece).collect())
        };
        let found = pieces(asked).unwrap_or_default();
        if let [(id, _)] = found[..] {
            return Ok(id);
        }
        let names: Vec<_> = found.iter().map(|(_, piece)| shown(piece)).collect();
        let others = [format!(" {}", asked.trim()), asked.trim().to_owned()];
        let single = others.iter().find(|it| pieces(it).is_some_and(|it| it.len() == 1));
        let hint = single.map_or(String::new(), |it| format!("; {it:?} is one"));
        bail!(
            "{asked:?} is {} tokens ({}), and must be one{hint}",
            found.len(),
            names.join(" ")
        )
    }
}

/// The heads that are asked about, each once, and their draws.
fn heads_and_draws(
    removed: &Removed,
    n_layers: usize,
    n_heads: usize,
) -> Result<(Vec<Head>, Draws)> {
    let mut heads = Vec::new();
    for &HeadName { layer, head } in &removed.without {
        ensure!(
            layer < n_layers && head < n_heads,
            "there is no head {layer}.{head}: the model has layers 0 to {} and heads 0 to {}",
            n_layers.saturating_sub(1),
            n_heads.saturating_sub(1)
        );
        ensure!(!heads.contains(&(layer, head)), "head {layer}.{head} is named twice");
        heads.push((layer, head));
    }
    let draws = removed.draws(&heads, n_heads);
    Ok((heads, draws))
}

fn name((layer, head): Head) -> String {
    format!("{layer}.{head}")
}

fn names(heads: &[Head]) -> String {
    heads.iter().map(|&head| name(head)).collect::<Vec<_>>().join(", ")
}

/// What the draws are, and what they lack.
fn draws_line(draws: &Draws, asked: usize) -> String {
    let n = draws.sets.len();
    let mut text = match n {
        0 => "There is no control: the layers have no other heads.".to_owned(),
        1 if asked > 1 => {
            "Beside the only set of as many other heads of the same layers.".to_owned()
        }
        n if n < asked => {
            format!(
                "Beside {n} sets of as many other heads of the same layers: there are no more."
            )
        }
        n => format!("Beside {n} random sets of as many other heads of the same layers."),
    };
    for (layer, n_missing) in draws.missing.iter().filter(|_| n > 0) {
        let heads = if *n_missing == 1 { "head" } else { "heads" };
        let _ = write!(
            text,
            "\nLayer {layer} has too few others: each set lacks {n_missing} {heads} there, and \
             takes less away."
        );
    }
    text
}

/// A number, its draws, and where it lies among them.
fn beside(number: &BesideDraws) -> String {
    row(number, number, "above", number.p())
}

/// The same of a number whose side is not known before: it is compared on the side where it
/// lies, and p is that of both sides.
fn beside_signed(number: &BesideDraws) -> String {
    let upward = number.observed >= 0.0;
    let turned = |x: f64| if upward { x } else { -x };
    let compared = BesideDraws {
        observed: turned(number.observed),
        draws: number.draws.iter().map(|&draw| turned(draw)).collect(),
    };
    let side = if upward { "above" } else { "below" };
    row(number, &compared, side, (2.0 * compared.p()).min(1.0))
}

fn row(number: &BesideDraws, compared: &BesideDraws, side: &str, p: f64) -> String {
    let BesideDraws { observed, draws } = number;
    if draws.is_empty() {
        return format!("{:>9}  no draws", four(*observed));
    }
    let [least, most] = number.range();
    format!(
        "{:>9}  {:>9}  {:<18}  {side} {} of {}, p = {p:.2}",
        four(*observed),
        four(number.median()),
        format!("{} to {}", four(least), four(most)),
        compared.n_below(),
        draws.len()
    )
}

/// To four decimals, and no −0.
fn four(x: f64) -> String {
    format!("{:.4}", (x * 1e4).round() / 1e4 + 0.0)
}

/// What stands above columns of [`beside`].
const HEADINGS: &str = "    found     median  range of draws      among the draws";

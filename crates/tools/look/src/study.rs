//! What heads of a text are asked about, beside controls: what `ablate`, `logits` and `patch`
//! share.
//!
//! What changes without some heads ([`crate::ablate`]), what each adds to a token's logit
//! ([`crate::logits`]), and which heads carry the difference between two texts
//! ([`crate::patch`]): none is answered without its control, as many random heads of the same
//! layers, random tokens, or a text that has nothing to do with it.

use std::path::Path;

use ::texts::{Long, Pieces, Text};
use ablation::odds::BesideDraws;
use anyhow::{Result, bail, ensure};
use clap::builder::TypedValueParser as _;
use model_files::{is_shown, shown};
use models::decoders::study::{Draws, HeadOfLayer};
use models::decoders::{AsRead, Files};
use models::{Head, ModelFiles};

use crate::sizes::{check_size, cut_hint};
use crate::view::expect_head;

/// What an answer is compared with.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct DrawArgs {
    /// How many random draws each answer is compared with
    #[arg(long = "draws", value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u16).range(1..).map(usize::from))]
    pub n: usize,
    /// The seed of the draws
    #[arg(long = "draws-seed", value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
}

impl DrawArgs {
    /// As many heads of the same layers.
    pub fn of(self, heads: &[HeadOfLayer], n_heads: usize) -> Draws {
        Draws::new(heads, n_heads, self.n, self.seed)
    }
}

/// A decoder and a text that it has read.
pub struct TextInDecoder {
    pub model: AsRead<f32>,
    pub text: Text,
    pub pieces: Pieces,
}

impl TextInDecoder {
    /// A sentence, and the model in this folder, which must be one that writes; what for is
    /// said to others.
    pub fn open(folder: &Path, sentence: &str, long: Long, what: &str) -> Result<Self> {
        match ModelFiles::open(folder)? {
            ModelFiles::Decoder(files) => Self::of(&files, sentence, long),
            model => bail!(
                "a model of the family {} does not go on with a text, and has no logits of a \
                 next token: {what} is for those that do",
                model.family()
            ),
        }
    }

    /// A sentence in a model whose files are open.
    pub fn of(files: &Files, sentence: &str, long: Long) -> Result<Self> {
        let (model, text) = (AsRead::<f32>::read(files)?, files.text()?);
        let n_positions = model.config.n_positions;
        let pieces = cut_hint(text.pieces(sentence, n_positions, long))?;
        let n_heads = model.config.n_layers * model.config.dims().n_heads();
        check_size([pieces.pieces.len(); 2], n_heads)?;
        Ok(Self { model, text, pieces })
    }

    /// How many layers it has, and how many heads each.
    pub fn n_heads(&self) -> [usize; 2] {
        [self.model.blocks.len(), self.model.config.dims().n_heads()]
    }

    pub fn ids(&self) -> &[usize] {
        &self.pieces.sequence.ids
    }

    /// Its tokens as they are fit to be shown.
    pub fn shown_pieces(&self) -> Vec<String> {
        self.pieces.pieces.iter().map(|piece| shown(piece)).collect()
    }

    pub fn tokens_line(&self) -> String {
        let pieces = self.shown_pieces();
        format!("{} tokens: {}\n", pieces.len(), pieces.join(" "))
    }

    /// A token as it is printed.
    pub fn piece(&self, id: usize) -> Result<String> {
        piece(&self.text, id)
    }

    /// The ids of tokens with commas between.
    pub fn tokens(&self, asked: &str) -> Result<Vec<usize>> {
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

/// A token of a vocabulary as it is printed.
pub fn piece(text: &Text, id: usize) -> Result<String> {
    Ok(shown(&text.decode(&[id])?.replace(' ', "_")))
}

/// What may be printed of a text that a model wrote.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| is_shown(*c) || matches!(c, '\n' | '\t')).collect()
}

/// Heads of a model, each once, and their draws.
pub fn heads_and_draws(
    names: &[Head],
    draws: DrawArgs,
    [n_layers, n_heads]: [usize; 2],
) -> Result<(Vec<HeadOfLayer>, Draws)> {
    let mut heads = Vec::new();
    for (layer, head) in names.iter().map(|name| name.place()) {
        let is_there = layer < n_layers && head < n_heads;
        expect_head(is_there, (layer, head), [n_layers, n_heads])?;
        ensure!(!heads.contains(&(layer, head)), "head {layer}.{head} is named twice");
        heads.push((layer, head));
    }
    let draws = draws.of(&heads, n_heads);
    Ok((heads, draws))
}

/// As in 5.7.
pub fn name(head: HeadOfLayer) -> String {
    Head::from(head).to_string()
}

/// As in 5.7, 18.6.
pub fn names(heads: &[HeadOfLayer]) -> String {
    heads.iter().map(|&head| name(head)).collect::<Vec<_>>().join(", ")
}

/// What the draws are, and what they lack.
pub fn draws_line(draws: &Draws, asked: usize) -> String {
    let n = draws.sets.len();
    if n == 0 {
        return "There is no control: the layers have no other heads.".to_owned();
    }
    let (sets, end) = match n {
        1 if asked > 1 => ("the only set".to_owned(), "."),
        n if n < asked => (format!("{n} sets"), ": there are no more."),
        n => (format!("{n} random sets"), "."),
    };
    let mut text =
        format!("Beside {sets} of as many other heads of the same layers{end}");
    for (layer, n_missing) in &draws.missing {
        let heads = if *n_missing == 1 { "head" } else { "heads" };
        text += &format!(
            "\nLayer {layer} has too few others: each set lacks {n_missing} {heads} there, and \
             takes less away."
        );
    }
    text
}

/// A number, its draws, and where it lies among them.
pub fn beside(number: &BesideDraws) -> String {
    row(number, number, "above", number.p())
}

/// The same of a number whose side is not known before: it is compared on the side where it
/// lies, and p is that of both sides.
pub fn beside_signed(number: &BesideDraws) -> String {
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
pub const HEADINGS: &str = "    found     median  range of draws      among the draws";

impl Default for DrawArgs {
    fn default() -> Self {
        Self { n: 20, seed: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_below_0_is_compared_downward_and_on_both_sides() {
        let draws = vec![-0.1, 0.2, 0.0, 0.3];
        let of = |observed| BesideDraws { observed, draws: draws.clone() };
        assert!(beside_signed(&of(-0.5)).ends_with("below 4 of 4, p = 0.40"));
        assert!(beside_signed(&of(0.25)).ends_with("above 3 of 4, p = 0.80"));
        assert!(beside(&of(-0.5)).ends_with("above 0 of 4, p = 1.00"));
        assert!(beside(&of(0.5)).ends_with("above 4 of 4, p = 0.20"));
    }
}

//! `cargo learn patch`: which heads carry the difference between two texts.

use std::time::Instant;

use ::texts::Long;
use ablation::odds::BesideDraws;
use anyhow::{Result, bail, ensure};
use model_files::shown;
use models::decoders::study::{HeadOfLayer, Patching};
use models::{Head, finite};
use rayon::prelude::*;
use workshop::output::print;

use crate::args::{ModelArgs, head};
use crate::prose::Prose;
use crate::study::{
    DrawArgs, HEADINGS, TextInDecoder, beside_signed, draws_line, heads_and_draws, name,
    names,
};

/// Which heads carry the difference between two texts, beside random heads and other texts
///
/// Of a model that goes on with a text: what each head puts out on FROM is put into its pass
/// over TEXT, which has as many tokens.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is read, in quotes
    text: String,
    /// The text whose outputs are put in, in quotes
    from: String,
    /// The difference of whose logits: two tokens with a comma between, spaces counting, as in
    /// " Mary, John"
    #[arg(long, value_name = "TOKENS")]
    of: String,
    /// Heads to patch at once, as in 5.3,18.6; without, those that carry most
    #[arg(long, value_name = "L.H,...", value_delimiter = ',', value_parser = head)]
    heads: Vec<Head>,
    #[command(flatten)]
    draws: DrawArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// Prints what comes with each head.
pub fn run(args: &Args) -> Result<()> {
    let Args { text, from, of, heads, draws, model } = args;
    let read =
        TextInDecoder::open(&model.folder()?, text, model.long(), "`cargo learn patch`")?;
    let tokens = read.tokens(of)?;
    print(read.tokens_line())?;
    Ok(print(report(&read, from, &tokens, heads, *draws)?)?)
}

/// So many heads are shown, each beside the others of its layer and unrelated texts.
const MOST: usize = 8;
/// So many are patched at once.
const TOGETHER: usize = 4;

fn report(
    read: &TextInDecoder,
    from: &str,
    tokens: &[usize],
    heads: &[Head],
    draws: DrawArgs,
) -> Result<String> {
    let [a, b] = *tokens else {
        let n = tokens.len();
        bail!("`--of` needs two tokens, and it names {n}")
    };
    ensure!(a != b, "`--of` names the same token twice: there is no difference");
    let model = &read.model;
    let pieces = read.text.pieces(from, model.config.n_positions, Long::Refuse)?;
    let names: Vec<_> = pieces.pieces.iter().map(|piece| shown(piece)).collect();
    let (n_from, n) = (names.len(), read.ids().len());
    ensure!(
        n_from == n,
        "your text has {n} tokens and the other {n_from}: what a head puts out \
         goes from token to token, so they need as many. It is: {}",
        names.join(" ")
    );
    finite(model.pass(read.ids())?.layers)?;
    let patching = Patching::new(model, &pieces.sequence.ids, read.ids(), [a, b])?;
    let [of_from, of_own] = patching.margins();
    // Far above what f32 rounds away.
    ensure!(
        (of_from - of_own).abs() > 1e-3,
        "both texts give the same difference of logits, {of_own:.4}: there is nothing to carry"
    );
    let mut text = format!(
        "\nPatched from: {}\nlogit of {} less that of {}: {of_from:+.4} behind that text, \
         {of_own:+.4} behind yours. Each head puts out in yours what\nit put out in that one: \
         the share of the difference that comes with it; p is two-sided.\n",
        names.join(" "),
        read.piece(a)?,
        read.piece(b)?,
    );
    let start = Instant::now();
    let shares = shares(read, &patching)?;
    text += &alone(read, &patching, &shares, draws)?;
    text += &together(read, &patching, &shares, (heads, draws))?;
    Ok(text + &format!("\npatched in {:.1} s\n", start.elapsed().as_secs_f64()))
}

/// The share that each head carries, the largest first.
fn shares(
    read: &TextInDecoder,
    patching: &Patching<'_, f32>,
) -> Result<Vec<(HeadOfLayer, f64)>> {
    let [n_layers, h] = read.n_heads();
    let heads = (0..n_layers).flat_map(|layer| (0..h).map(move |head| (layer, head)));
    let share = |head: HeadOfLayer| Ok((head, patching.share(&[head])?));
    let mut all = heads.par_bridge().map(share).collect::<Result<Vec<_>>>()?;
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    Ok(all)
}

/// The heads that carry most, each beside all others of its layer, and beside itself on
/// unrelated texts.
fn alone(
    read: &TextInDecoder,
    patching: &Patching<'_, f32>,
    shares: &[(HeadOfLayer, f64)],
    draws: DrawArgs,
) -> Result<String> {
    let prose = Prose::new(&read.text)?;
    let unrelated = (0..draws.n).map(|draw| {
        let seed = draws.seed.wrapping_add(draw as u64);
        Ok(read.model.pass(&prose.like(read.ids().len(), seed)?.1)?.concats)
    });
    let unrelated = unrelated.collect::<Result<Vec<_>>>()?;
    let (n_heads, n_texts) = (shares.len(), unrelated.len());
    let mut text = format!(
        "\nThe {MOST} largest of {n_heads} heads: first beside all other heads of its layer, then \
         beside itself, put out on {n_texts} texts of\nas many tokens from the book's prose.\n\n\
         {:<22}{HEADINGS}\n",
        "head"
    );
    for &(head, observed) in shares.iter().take(MOST) {
        let others = shares.iter().filter(|(it, _)| it.0 == head.0 && it.1 != head.1);
        let draws = others.map(|it| it.1).collect();
        text += &row(&format!("{:<6} its layer", name(head)), observed, draws);
        let elsewhere =
            unrelated.par_iter().map(|other| Ok(patching.share_by(&[head], other)?));
        text += &row("       other texts", observed, elsewhere.collect::<Result<_>>()?);
    }
    let n_layers = read.model.blocks.len();
    text += &format!(
        "\nIn each of {n_layers} layers one head is above all others and one below, whatever it \
         does, and these {MOST}\nare the largest of all: what counts is how far beyond the ranges \
         they are.\n"
    );
    Ok(text)
}

/// A share beside its draws, and what it is of.
fn row(what: &str, observed: f64, draws: Vec<f64>) -> String {
    format!("{what:<22}{}\n", beside_signed(&BesideDraws { observed, draws }))
}

/// Some heads at once: those that are named, or those that carry most.
fn together(
    read: &TextInDecoder,
    patching: &Patching<'_, f32>,
    shares: &[(HeadOfLayer, f64)],
    (heads, args): (&[Head], DrawArgs),
) -> Result<String> {
    let (mut heads, mut draws) = heads_and_draws(heads, args, read.n_heads())?;
    let mut which = "The heads that were named";
    if heads.is_empty() {
        let mut all = shares.to_vec();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        heads = all.iter().take(TOGETHER).map(|(head, _)| *head).collect();
        draws = args.of(&heads, read.n_heads()[1]);
        which = "Those that carry most toward that text: chosen on these two texts, they should \
                 be\ntried on two others with `--heads`";
    }
    let of_draws = draws.sets.par_iter().map(|set| Ok(patching.share(set)?));
    let share = row("share", patching.share(&heads)?, of_draws.collect::<Result<_>>()?);
    let (heads, line) = (names(&heads), draws_line(&draws, args.n));
    Ok(format!("\n{which}: {heads}, at once. {line}\n\n{:<22}{HEADINGS}\n{share}", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::tiny;

    fn of_bank(from: &str, of: &str, heads: &[Head]) -> Result<String> {
        let folder = tiny("gpt2-1");
        let read = TextInDecoder::open(folder.path(), "the bank", Long::Refuse, "this")?;
        let draws = DrawArgs { n: 5, ..DrawArgs::default() };
        report(&read, from, &read.tokens(of)?, heads, draws)
    }

    #[test]
    fn heads_are_shown_beside_their_layers_and_other_texts() {
        let found = of_bank("bank the", "the,bank", &[]).unwrap();
        assert_eq!(found.matches("its layer").count(), 9, "{found}"); // and in the head's line
        assert_eq!(found.matches(" of 5, p = ").count(), 9, "{found}");
        let found = of_bank("bank the", "the,bank", &["0.1".parse().unwrap()]).unwrap();
        assert!(found.contains("The heads that were named: 0.1, at once"), "{found}");
        assert!(!found.contains("in their stead"), "{found}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_numbers() {
        let refused = |from, of| of_bank(from, of, &[]).unwrap_err();
        insta::assert_snapshot!(refused("the bank the", "the,bank"), @"your text has 4 tokens and the other 5: what a head puts out goes from token to token, so they need as many. It is: [CLS] the bank the [SEP]");
        insta::assert_snapshot!(refused("bank the", "the"), @"`--of` needs two tokens, and it names 1");
        insta::assert_snapshot!(refused("bank the", "the,the"), @"`--of` names the same token twice: there is no difference");
        insta::assert_snapshot!(refused("the bank", "the,bank"), @"both texts give the same difference of logits, 0.9322: there is nothing to carry");
    }
}

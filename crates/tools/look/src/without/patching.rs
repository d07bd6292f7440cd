//! Which heads carry the difference between two texts.

use std::fmt::Write as _;
use std::time::Instant;

use ::texts::Long;
use anyhow::{Result, bail, ensure};
use decoders::study::{Head, Patching};
use encoders::finite;
use model_files::shown;
use rayon::prelude::*;
use training::odds::BesideDraws;

use super::{
    Asked, HEADINGS, Removed, beside_signed, draws_line, heads_and_draws, name, names,
};
use crate::prose::Prose;

/// So many heads are shown, each beside the others of its layer and unrelated texts.
const MOST: usize = 8;
/// So many are patched at once.
const TOGETHER: usize = 4;

pub fn report(
    asked: &Asked,
    from: &str,
    tokens: &[usize],
    removed: &Removed,
) -> Result<String> {
    let [a, b] = *tokens else {
        let n = tokens.len();
        bail!("`--patch-from` needs two tokens of `--logits`, and it names {n}")
    };
    ensure!(a != b, "`--logits` names the same token twice: there is no difference");
    let Asked { model, text, .. } = asked;
    let pieces = text.pieces(from, model.config.n_positions, Long::Refuse)?;
    let names: Vec<_> = pieces.pieces.iter().map(|piece| shown(piece)).collect();
    let (n_from, n) = (names.len(), asked.ids().len());
    ensure!(
        n_from == n,
        "your text has {n} tokens and the one of `--patch-from` {n_from}: what a head puts out \
         goes from token to token, so they need as many. It is: {}",
        names.join(" ")
    );
    finite(model.pass(asked.ids())?.layers)?;
    let patching = Patching::new(model, &pieces.sequence.ids, asked.ids(), [a, b])?;
    let [of_from, of_own] = patching.margins();
    // Far above what f32 rounds away.
    ensure!(
        (of_from - of_own).abs() > 1e-3,
        "both texts give the same difference of logits, {of_own:.4}: there is nothing to carry"
    );
    let mut to = format!(
        "\nPatched from: {}\nlogit of {} less that of {}: {of_from:+.4} behind that text, \
         {of_own:+.4} behind yours. Each head puts out in yours what\nit put out in that one: \
         the share of the difference that comes with it; p is two-sided.\n",
        names.join(" "),
        asked.piece(a)?,
        asked.piece(b)?,
    );
    let start = Instant::now();
    let shares = Shares::of(asked, &patching)?;
    shares.write(&mut to, asked, &patching, removed)?;
    together(&mut to, asked, &patching, &shares, removed)?;
    let _ = writeln!(to, "\npatched in {:.1} s", start.elapsed().as_secs_f64());
    Ok(to)
}

/// The share that each head carries.
struct Shares(Vec<(Head, f64)>);

impl Shares {
    /// The largest first.
    fn of(asked: &Asked, patching: &Patching<'_, f32>) -> Result<Self> {
        let (n_layers, h) =
            (asked.model.blocks.len(), asked.model.config.dims().n_heads());
        let heads = (0..n_layers).flat_map(|layer| (0..h).map(move |head| (layer, head)));
        let share = |head: Head| Ok((head, patching.share(&[head])?));
        let mut all = heads.par_bridge().map(share).collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        Ok(Self(all))
    }

    /// The largest, beside all others of its layer, and beside itself on unrelated texts.
    fn write(
        &self,
        to: &mut String,
        asked: &Asked,
        patching: &Patching<'_, f32>,
        removed: &Removed,
    ) -> Result<()> {
        let prose = Prose::new(&asked.text)?;
        let unrelated = (0..removed.n_draws()).map(|draw| {
            let seed = removed.draws_seed.wrapping_add(draw as u64);
            Ok(asked.model.pass(&prose.like(asked.ids().len(), seed)?.1)?.concats)
        });
        let unrelated = unrelated.collect::<Result<Vec<_>>>()?;
        let _ = writeln!(
            to,
            "\nThe {MOST} largest of {} heads: first beside all other heads of its layer, then \
             beside itself, put out on {} texts of\nas many tokens from the book's prose.\n\n\
             {:<22}{HEADINGS}",
            self.0.len(),
            unrelated.len(),
            "head"
        );
        for &(head, share) in self.0.iter().take(MOST) {
            let others =
                self.0.iter().filter(|((layer, i), _)| *layer == head.0 && *i != head.1);
            let others =
                BesideDraws { observed: share, draws: others.map(|it| it.1).collect() };
            let _ = writeln!(
                to,
                "{:<22}{}",
                format!("{:<6} its layer", name(head)),
                beside_signed(&others)
            );
            let elsewhere =
                unrelated.par_iter().map(|other| Ok(patching.share_by(&[head], other)?));
            let draws = elsewhere.collect::<Result<Vec<_>>>()?;
            let texts = BesideDraws { observed: share, draws };
            let _ = writeln!(to, "{:<22}{}", "       other texts", beside_signed(&texts));
        }
        let _ = writeln!(
            to,
            "\nIn each of {} layers one head is above all others and one below, whatever it does, \
             and these {MOST}\nare the largest of all: what counts is how far beyond the ranges \
             they are.",
            asked.model.blocks.len()
        );
        Ok(())
    }
}

/// Some heads at once: those that are named, or those that carry most.
fn together(
    to: &mut String,
    asked: &Asked,
    patching: &Patching<'_, f32>,
    shares: &Shares,
    removed: &Removed,
) -> Result<()> {
    let (n_layers, h) = (asked.model.blocks.len(), asked.model.config.dims().n_heads());
    let (mut heads, mut draws) = heads_and_draws(removed, n_layers, h)?;
    let mut which = "The heads that were named";
    if heads.is_empty() {
        let mut all = shares.0.clone();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        heads = all.iter().take(TOGETHER).map(|(head, _)| *head).collect();
        draws = removed.draws(&heads, h);
        which = "Those that carry most toward that text: chosen on these two texts, they should \
                 be\nasked about two others with `--without`";
    }
    let of_draws = draws.sets.par_iter().map(|set| Ok(patching.share(set)?));
    let found = BesideDraws {
        observed: patching.share(&heads)?,
        draws: of_draws.collect::<Result<_>>()?,
    };
    let _ = writeln!(
        to,
        "\n{which}: {}, at once. {}\n\n{:<22}{HEADINGS}\n{:<22}{}",
        names(&heads),
        draws_line(&draws, removed.n_draws()),
        "",
        "share",
        beside_signed(&found)
    );
    Ok(())
}

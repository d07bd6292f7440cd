//! What changes in a decoder's pass over a text without some heads.

use std::time::Instant;

use ablation::later;
use ablation::odds::BesideDraws;
use anyhow::Result;
use models::decoders::study::{Draws, Effect, HeadOfLayer};
use models::finite;
use rayon::prelude::*;

use super::{Ablation, MOST, Replace, columns, later_maps, later_rows, row};
use crate::study::{TextInDecoder, heads_and_draws};

/// A text with some heads, without them, and without others.
struct AblationEffects {
    heads: Vec<HeadOfLayer>,
    draws: Draws,
    whole: Effect,
    without: Effect,
    of_draws: Vec<Effect>,
    /// What stands in the stead of heads, in words.
    instead: String,
}

impl AblationEffects {
    fn of(read: &TextInDecoder, ablation: &Ablation) -> Result<Self> {
        let TextInDecoder { model, text, .. } = read;
        let (heads, draws) =
            heads_and_draws(&ablation.heads, ablation.draws, read.n_heads())?;
        let pass = model.pass(read.ids())?;
        finite(pass.layers.clone())?;
        let n_positions = model.config.n_positions;
        let (texts, instead) = ablation.stand_ins(text, n_positions, pass.ids.len())?;
        let concats = match ablation.replace {
            Replace::Zero => pass.zeros(),
            Replace::Mean => pass.average(&model.mean_outputs(&texts)?),
            Replace::Resample => model.pass(&texts[0])?.concats,
        };
        let effect = |heads: &[HeadOfLayer]| model.effect(&pass, heads, &concats);
        let of_draws = draws.sets.par_iter().map(|set| effect(set));
        let of_draws = of_draws.collect::<Result<_, _>>()?;
        let (whole, without) = (effect(&[])?, effect(&heads)?);
        Ok(Self { heads, draws, whole, without, of_draws, instead })
    }

    /// A number of an effect, beside that of the draws.
    fn beside(&self, number: impl Fn(&Effect) -> f64) -> BesideDraws {
        BesideDraws {
            observed: number(&self.without),
            draws: self.of_draws.iter().map(number).collect(),
        }
    }
}

pub fn report(read: &TextInDecoder, ablation: &Ablation) -> Result<String> {
    let start = Instant::now();
    let found = AblationEffects::of(read, ablation)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut text = ablation.heading(&found.heads, &found.instead, &found.draws);
    let whole = &found.whole;
    let next_moved = found.beside(|effect| effect.next_moved(whole));
    text += &row("next token: probability moved", &next_moved);
    if !whole.losses.is_empty() {
        let loss = found.beside(|effect| effect.loss() - whole.loss());
        text += &row("loss of the text, nats a token", &loss);
    }
    text += &later_maps(&found.beside(|effect| effect.later_moved(&found.heads)));
    text += &next_tokens(read, &found)?;
    text += &later_heads(&found);
    let n = found.draws.sets.len() + 2;
    Ok(text + &format!("\n{n} passes in {seconds:.1} s\n"))
}

/// The tokens that were most likely, or have become so.
fn next_tokens(read: &TextInDecoder, found: &AblationEffects) -> Result<String> {
    let (whole, without) = (&found.whole.next, &found.without.next);
    let mut order: Vec<usize> = (0..whole.len()).collect();
    let likely = |id: usize| whole[id].max(without[id]);
    order.sort_by(|&a, &b| likely(b).total_cmp(&likely(a)));
    order.truncate(MOST);
    order.sort_by(|&a, &b| whole[b].total_cmp(&whole[a]));
    let mut text = format!(
        "\nWhat may come next: probabilities with all heads, without these, and without the \
         draws.\n\n{:<16}{:>8}  {:>8}  draws: median, range\n",
        "token", "whole", "without"
    );
    for id in order {
        let of = found.beside(|effect| effect.next[id]);
        let [least, most] = of.range();
        let draws = match of.draws.is_empty() {
            true => "none".to_owned(),
            false => format!("{:.4}, {least:.4} to {most:.4}", of.median()),
        };
        let (piece, whole, without) = (read.piece(id)?, whole[id], of.observed);
        text += &format!("{piece:<16}{whole:>8.4}  {without:>8.4}  {draws}\n");
    }
    Ok(text)
}

/// The heads that look elsewhere now.
fn later_heads(found: &AblationEffects) -> String {
    let layers = later(&found.heads, found.whole.moved.len());
    let heads = layers.flat_map(|l| (0..found.whole.moved[l].len()).map(move |i| (l, i)));
    let moved = |(l, i): HeadOfLayer| found.beside(|effect| effect.moved[l][i]);
    let mut all: Vec<_> = heads.map(|head| (head, moved(head))).collect();
    if all.is_empty() {
        return "\nNo layer comes later, so no map moves.\n".to_owned();
    }
    let mut text = format!(
        "\nLater heads: the share of its attention that each gives elsewhere, the farthest \
         first.\n\n{}{}",
        columns("head"),
        later_rows(&mut all)
    );
    let (n, n_draws) = (all.len(), found.draws.sets.len());
    if n_draws > 0 {
        let n_above = all.iter().filter(|(_, it)| it.n_below() == n_draws).count();
        let (one_in, by_chance) = (n_draws + 1, n as f64 / (n_draws + 1) as f64);
        text += &format!(
            "\n{n_above} of {n} later heads moved farther than in every draw; by chance it is \
             one in {one_in}: {by_chance:.0}.\n"
        );
    }
    text
}

//! What changes in a decoder's pass over a text without some heads.

use std::fmt::Write as _;
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
pub struct AblationEffects {
    pub heads: Vec<HeadOfLayer>,
    pub draws: Draws,
    pub whole: Effect,
    pub without: Effect,
    pub of_draws: Vec<Effect>,
    /// What stands in the stead of heads, in words.
    pub instead: String,
}

impl AblationEffects {
    pub fn of(read: &TextInDecoder, ablation: &Ablation) -> Result<Self> {
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
        Ok(Self {
            whole: effect(&[])?,
            without: effect(&heads)?,
            of_draws: draws
                .sets
                .par_iter()
                .map(|set| effect(set))
                .collect::<Result<_, _>>()?,
            heads,
            draws,
            instead,
        })
    }

    /// A number of an effect, beside that of the draws.
    pub fn beside(&self, number: impl Fn(&Effect) -> f64) -> BesideDraws {
        BesideDraws {
            observed: number(&self.without),
            draws: self.of_draws.iter().map(number).collect(),
        }
    }

    /// Each head of later layers with how far its map moved.
    fn later_heads(&self) -> Vec<(HeadOfLayer, BesideDraws)> {
        let layers = later(&self.heads, self.whole.moved.len());
        let heads =
            layers.flat_map(|l| (0..self.whole.moved[l].len()).map(move |i| (l, i)));
        heads.map(|(l, i)| ((l, i), self.beside(|effect| effect.moved[l][i]))).collect()
    }
}

pub fn report(read: &TextInDecoder, ablation: &Ablation) -> Result<String> {
    let start = Instant::now();
    let found = AblationEffects::of(read, ablation)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut to = ablation.heading(&found.heads, &found.instead, &found.draws);
    let whole = &found.whole;
    let next_moved = found.beside(|effect| effect.next_moved(whole));
    to += &row("next token: probability moved", &next_moved);
    if !whole.losses.is_empty() {
        let loss = found.beside(|effect| effect.loss() - whole.loss());
        to += &row("loss of the text, nats a token", &loss);
    }
    to += &later_maps(&found.beside(|effect| effect.later_moved(&found.heads)));
    next_tokens(&mut to, read, &found)?;
    later_heads(&mut to, &found);
    let n = found.draws.sets.len() + 2;
    let _ = writeln!(to, "\n{n} passes in {seconds:.1} s");
    Ok(to)
}

/// The tokens that were most likely, or have become so.
fn next_tokens(
    to: &mut String,
    read: &TextInDecoder,
    found: &AblationEffects,
) -> Result<()> {
    let (whole, without) = (&found.whole.next, &found.without.next);
    let mut order: Vec<usize> = (0..whole.len()).collect();
    let likely = |id: usize| whole[id].max(without[id]);
    order.sort_by(|&a, &b| likely(b).total_cmp(&likely(a)));
    order.truncate(MOST);
    order.sort_by(|&a, &b| whole[b].total_cmp(&whole[a]));
    let _ = writeln!(
        to,
        "\nWhat may come next: probabilities with all heads, without these, and without the \
         draws.\n\n{:<16}{:>8}  {:>8}  draws: median, range",
        "token", "whole", "without"
    );
    for id in order {
        let of = found.beside(|effect| effect.next[id]);
        let [least, most] = of.range();
        let draws = match of.draws.is_empty() {
            true => "none".to_owned(),
            false => format!("{:.4}, {least:.4} to {most:.4}", of.median()),
        };
        let piece = read.piece(id)?;
        let _ =
            writeln!(to, "{piece:<16}{:>8.4}  {:>8.4}  {draws}", whole[id], of.observed);
    }
    Ok(())
}

/// The heads that look elsewhere now.
fn later_heads(to: &mut String, found: &AblationEffects) {
    let mut all = found.later_heads();
    if all.is_empty() {
        let _ = writeln!(to, "\nNo layer comes later, so no map moves.");
        return;
    }
    let _ = write!(
        to,
        "\nLater heads: the share of its attention that each gives elsewhere, the farthest \
         first.\n\n{}{}",
        columns("head"),
        later_rows(&mut all)
    );
    let n_draws = found.draws.sets.len();
    if n_draws > 0 {
        let n_above = all.iter().filter(|(_, it)| it.n_below() == n_draws).count();
        let _ = writeln!(
            to,
            "\n{n_above} of {} later heads moved farther than in every draw; by chance it is \
             one in {}: {:.0}.",
            all.len(),
            n_draws + 1,
            all.len() as f64 / (n_draws + 1) as f64
        );
    }
}

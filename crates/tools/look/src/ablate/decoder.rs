//! What changes in a decoder's pass over a text without some heads.

use std::fmt::Write as _;
use std::time::Instant;

use ablation::later;
use ablation::odds::BesideDraws;
use anyhow::Result;
use attention::Matrix;
use models::decoders::Pass;
use models::decoders::study::{Draws, Effect, HeadOfLayer};
use models::finite;
use rayon::prelude::*;

use super::{Ablation, Replace};
use crate::prose::{self, Prose};
use crate::study::{
    HEADINGS, TextInDecoder, beside, draws_line, heads_and_draws, name, names,
};

/// So many tokens that may come next, and so many later heads, are shown.
const MOST: usize = 8;

/// A text with some heads, without them, and without others.
pub struct Ablated {
    pub heads: Vec<HeadOfLayer>,
    pub draws: Draws,
    pub whole: Effect,
    pub without: Effect,
    pub of_draws: Vec<Effect>,
    /// What stands in the stead of heads, in words.
    pub instead: String,
}

impl Ablated {
    pub fn of(read: &TextInDecoder, ablation: &Ablation) -> Result<Self> {
        let TextInDecoder { model, .. } = read;
        let sizes = [model.blocks.len(), model.config.dims().n_heads()];
        let (heads, draws) = heads_and_draws(&ablation.heads, ablation.draws, sizes)?;
        let pass = model.pass(read.ids())?;
        finite(pass.layers.clone())?;
        let (concats, instead) = stand_ins(read, &pass, ablation)?;
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

    /// The share of probability that goes to other next tokens.
    pub fn next_moved(&self) -> BesideDraws {
        self.beside(|effect| effect.next_moved(&self.whole))
    }

    /// What the text's mean loss rises by.
    pub fn loss(&self) -> BesideDraws {
        self.beside(|effect| effect.loss() - self.whole.loss())
    }

    /// Each head of later layers with how far its map moved, the farthest first.
    fn later_heads(&self) -> Vec<(HeadOfLayer, BesideDraws)> {
        let layers = later(&self.heads, self.whole.moved.len());
        let heads =
            layers.flat_map(|l| (0..self.whole.moved[l].len()).map(move |i| (l, i)));
        let beside =
            |(l, i): HeadOfLayer| ((l, i), self.beside(|effect| effect.moved[l][i]));
        let mut all: Vec<_> = heads.map(beside).collect();
        all.sort_by(|a, b| b.1.observed.total_cmp(&a.1.observed));
        all
    }
}

/// What stands in the stead of heads, side by side in each layer, and that in words.
pub fn stand_ins(
    read: &TextInDecoder,
    pass: &Pass<f32>,
    ablation: &Ablation,
) -> Result<(Vec<Matrix<f32>>, String)> {
    let TextInDecoder { model, text, .. } = read;
    Ok(match ablation.replace {
        Replace::Zero => (pass.zeros(), "zeros".to_owned()),
        Replace::Mean => {
            let texts = Prose::new(text)?.for_means(model.config.n_positions);
            let n: usize = texts.iter().map(Vec::len).sum();
            let means = model.mean_outputs(&texts)?;
            (pass.average(&means), prose::means_of(n))
        }
        Replace::Resample => {
            let n = pass.ids.len();
            let (start, ids) = Prose::new(text)?.like(n, ablation.draws.seed())?;
            (model.pass(&ids)?.concats, prose::outputs_on(n, start))
        }
    })
}

pub fn report(read: &TextInDecoder, ablation: &Ablation) -> Result<String> {
    let start = Instant::now();
    let found = Ablated::of(read, ablation)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut to = format!(
        "\nWithout {} (in their stead: {}).\n{}\n\n{:<34}{HEADINGS}\n",
        names(&found.heads),
        found.instead,
        draws_line(&found.draws, ablation.draws.n()),
        "",
    );
    let _ = writeln!(
        to,
        "{:<34}{}",
        "next token: probability moved",
        beside(&found.next_moved())
    );
    if !found.whole.losses.is_empty() {
        let _ = writeln!(
            to,
            "{:<34}{}",
            "loss of the text, nats a token",
            beside(&found.loss())
        );
    }
    let maps = found.beside(|effect| effect.later_moved(&found.heads));
    if maps.observed.is_finite() {
        let _ =
            writeln!(to, "{:<34}{}", "maps of later layers: share moved", beside(&maps));
    }
    next_tokens(&mut to, read, &found)?;
    later_heads(&mut to, &found);
    let n = found.draws.sets.len() + 2;
    let _ = writeln!(to, "\n{n} passes in {seconds:.1} s");
    Ok(to)
}

/// The tokens that were most likely, or have become so.
fn next_tokens(to: &mut String, read: &TextInDecoder, found: &Ablated) -> Result<()> {
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
fn later_heads(to: &mut String, found: &Ablated) {
    let all = found.later_heads();
    if all.is_empty() {
        let _ = writeln!(to, "\nNo layer comes later, so no map moves.");
        return;
    }
    let _ = writeln!(
        to,
        "\nLater heads: the share of its attention that each gives elsewhere, the farthest \
         first.\n\n{:<34}{HEADINGS}",
        "head"
    );
    for (head, moved) in all.iter().take(MOST) {
        let _ = writeln!(to, "{:<34}{}", name(*head), beside(moved));
    }
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

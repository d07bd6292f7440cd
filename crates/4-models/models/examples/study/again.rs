//! What was found, once more through what `cargo learn ablate` computes: heads replaced
//! in the pass, and not in the weights.

use ::texts::Long;
use anyhow::{Context, Result, ensure};
use attention::Matrix;
use models::decoders::Pass;
use models::decoders::study::{
    Effect, Findings, HeadOfLayer, PERIOD, others_of_same_layers,
};
use rayon::prelude::*;

use crate::ablation::{SEEDS, random_heads};
use crate::texts::{MEASURING, prose, random};
use crate::{Study, mean};

const N_HEADS: usize = 7;
/// What is kept has four decimals, and f32 sums in another order.
const MOST: f64 = 1e-4;

/// Compares, and writes nothing.
pub fn compare(study: &Study) -> Result<()> {
    let kept = Findings::smollm2()?;
    let words = words(study, &kept)?;
    println!("words: largest difference of a loss {words:.1e}");
    let removed = removed(study, &kept)?;
    let adds = adds(study)?;
    println!("what heads add: largest difference of a sum from its logit {adds:.1e}");
    println!("removed: largest difference of a loss {removed:.1e}");
    ensure!(adds <= MOST, "the parts do not sum to the logit");
    ensure!(words.max(removed) <= MOST, "not the same numbers");
    Ok(())
}

/// Every position of a text of prose, and tokens all over the vocabulary.
fn adds(study: &Study) -> Result<f64> {
    let ids = prose(study, 200, 1)?.concat();
    let pass = study.model.pass(&ids)?;
    let tokens: Vec<usize> = (0..study.model.config.n_vocabulary).step_by(1000).collect();
    let mut largest: f64 = 0.0;
    for position in (0..ids.len()).step_by(10) {
        for it in study.model.attribution(&pass, position, &tokens)? {
            largest = largest.max((it.capped() - it.logit).abs());
        }
    }
    Ok(largest)
}

/// Names whose end is copied.
fn words(study: &Study, kept: &Findings) -> Result<f64> {
    let copying = &study.ranked("copying")?[..N_HEADS];
    let mut largest: f64 = 0.0;
    for word in &kept.words {
        let text = word.pieces.concat().replace(['_', 'Ġ'], " ");
        let ids = study.text.pieces(text.trim(), usize::MAX, Long::Refuse)?.sequence.ids;
        let last = *ids.last().context("a text")?;
        let before = ids.iter().position(|&id| id == last).context("the same before")?;
        let end = ids[before + 1];
        let pass = study.model.pass(&ids)?;
        let loss = |heads: &[HeadOfLayer]| -> Result<f64> {
            Ok(-study.model.effect(&pass, heads, &pass.zeros())?.next[end].ln())
        };
        let mut compare =
            |found: f64, kept: f64| largest = largest.max((found - kept).abs());
        compare(loss(&[])?, word.whole);
        compare(loss(copying)?, word.without);
        for (seed, &kept) in SEEDS.zip(&word.random) {
            compare(loss(&random_heads(study, N_HEADS, copying, seed))?, kept);
        }
        println!("{}: {largest:.1e} so far", word.end);
    }
    Ok(largest)
}

/// Seven copying heads, by zeros and by means, and as many others of their layers.
fn removed(study: &Study, kept: &Findings) -> Result<f64> {
    let model = &study.model;
    let passes = |texts: Vec<Vec<usize>>| -> Result<Vec<Pass<f32>>> {
        Ok(texts.par_iter().map(|ids| model.pass(ids)).collect::<models::Result<_>>()?)
    };
    let prose = prose(study, 200, 4)?;
    let means = model.mean_outputs(&prose)?;
    let random = passes(random(MEASURING, model.config.n_vocabulary))?;
    let prose = passes(prose)?;
    let ranked = study.ranked("copying")?;
    let but = &ranked[..N_HEADS.max(study.most_of("copying")?.len())];
    let mut largest: f64 = 0.0;
    let asked =
        kept.removed.iter().filter(|it| it.heads == N_HEADS && it.what != "random");
    for it in asked {
        let heads = match it.what.as_str() {
            "copying" => ranked[..N_HEADS].to_vec(),
            _ => {
                let n_heads = model.config.dims().n_heads();
                others_of_same_layers(&ranked[..N_HEADS], but, n_heads, it.seed)
            }
        };
        let effects = |passes: &[Pass<f32>]| -> Result<Vec<Effect>> {
            let of = |pass: &Pass<f32>| {
                let instead: Vec<Matrix<f32>> = match it.how.as_str() {
                    "mean" => pass.average(&means),
                    _ => pass.zeros(),
                };
                model.effect(pass, &heads, &instead)
            };
            Ok(passes.par_iter().map(of).collect::<models::Result<_>>()?)
        };
        let part = |effects: &[Effect], range: fn(&[f64]) -> &[f64]| {
            let all: Vec<f64> =
                effects.iter().flat_map(|it| range(&it.losses).to_vec()).collect();
            mean(&all)
        };
        let copies = effects(&random)?;
        let first = part(&copies, |losses| &losses[..PERIOD - 1]);
        let later = part(&copies, |losses| &losses[PERIOD..]);
        let on_prose = part(&effects(&prose)?, |losses| losses);
        let kept = [it.first, it.later, it.prose.context("prose was read")?];
        let apart = [first, later, on_prose].into_iter().zip(kept);
        let apart = apart.map(|(found, kept)| (found - kept).abs()).fold(0.0, f64::max);
        println!("{} by {}, seed {}: {apart:.1e}", it.what, it.how, it.seed);
        largest = largest.max(apart);
    }
    Ok(largest)
}

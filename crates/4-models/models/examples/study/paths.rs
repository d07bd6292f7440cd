//! One path from the heads that look back to those that copy: what is left of copying if
//! they are missing in one input of the copying heads, and nowhere else.
//!
//! Fixed before the runs: a path **carries the effect** if cutting it alone takes more than half
//! of the fall in the copying share that removing the heads everywhere brings, and more than
//! half of the rise in the loss on later copies. Controls differ in one thing each, with twenty
//! draws: other heads of the same layers are missing in the same keys; the same heads are
//! missing in the keys of other heads of the copying heads' layers. A path is this one's alone
//! if neither control takes as much in any draw.

use anyhow::Result;
use block::Layers;
use model_files::Sequence;
use models::decoders::study::{
    HeadOfLayer, Input, PERIOD, Patterns, others_of_same_layers,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::ablation::with_ablated;
use crate::texts::{MEASURING, random};
use crate::{Model, Study, mean, round};

/// Seeds of the controls.
const SEEDS: std::ops::Range<u64> = 0..20;

/// A pass over each text.
type Passes = Vec<Layers<f32>>;

/// Texts, the whole model's passes over them, and the heads that copy.
struct Reading {
    texts: Vec<Vec<usize>>,
    whole: Passes,
    copying: Vec<HeadOfLayer>,
}

pub fn measure(study: &mut Study) -> Result<Value> {
    let texts = random(MEASURING, study.model.config.n_vocabulary);
    let whole = passes(&study.model, &texts)?;
    let reading = Reading { texts, whole, copying: study.most_of("copying")? };
    let previous = study.most_of("previous_random")?;
    let (copying, n_heads) = (&reading.copying, study.model.config.dims().n_heads());
    let but = [previous.clone(), copying.clone()].concat();
    let mut less = study.model.clone();
    let mut all = Vec::new();
    let mut keep =
        |what: &str, gone: &[HeadOfLayer], from: &str, seed: u64, passes: &Passes| {
            let [share, later] = reading.found(&study.model, passes)?.map(round);
            println!(
                "{what}, {} heads from {from}, seed {seed}: {share} {later}",
                gone.len()
            );
            all.push(json!({
                "what": what, "heads": gone.len(), "from": from, "seed": seed,
                "copying": share, "later": later,
            }));
            anyhow::Ok(())
        };
    keep("whole", &[], "nothing", 0, &reading.whole)?;
    let without = reading.without(&mut less, &previous)?;
    keep("previous", &previous, "everywhere", 0, &without)?;
    for (input, from) in
        [(Input::Keys, "keys"), (Input::Queries, "queries"), (Input::Values, "values")]
    {
        let cut = reading.cut(&study.model, copying, input, &without)?;
        keep("previous", &previous, from, 0, &cut)?;
    }
    for seed in SEEDS {
        let readers = others_of_same_layers(copying, &but, n_heads, seed);
        let cut = reading.cut(&study.model, &readers, Input::Keys, &without)?;
        keep("other readers", &previous, "keys", seed, &cut)?;
        let others = others_of_same_layers(&previous, &but, n_heads, seed);
        let without = reading.without(&mut less, &others)?;
        keep("same layers", &others, "everywhere", seed, &without)?;
        let cut = reading.cut(&study.model, copying, Input::Keys, &without)?;
        keep("same layers", &others, "keys", seed, &cut)?;
    }
    Ok(all.into())
}

impl Reading {
    /// The passes without some heads.
    fn without(&self, model: &mut Model, heads: &[HeadOfLayer]) -> Result<Passes> {
        let first = heads.iter().map(|(layer, _)| *layer).min().unwrap_or(0);
        with_ablated(model, heads, None, |model| {
            let resumed = |whole: &Layers<f32>| model.resumed(whole, first);
            Ok(self.whole.par_iter().map(resumed).collect::<models::Result<_>>()?)
        })
    }

    /// The passes in which some heads, and they alone, read one input from other passes.
    fn cut(
        &self,
        model: &Model,
        readers: &[HeadOfLayer],
        input: Input,
        without: &Passes,
    ) -> Result<Passes> {
        let pairs = self.whole.par_iter().zip(without);
        let patched =
            pairs.map(|(whole, other)| model.patched(whole, readers, input, other));
        Ok(patched.collect::<models::Result<_>>()?)
    }

    /// The mean copying share of the heads that copy, and the loss on the later copies.
    fn found(&self, model: &Model, passes: &Passes) -> Result<[f64; 2]> {
        let shares = passes.iter().zip(&self.texts).flat_map(|(pass, ids)| {
            let share = |&(layer, head): &HeadOfLayer| {
                Patterns::of(&pass.attn[layer][head], ids).copying
            };
            self.copying.iter().map(share).collect::<Vec<_>>()
        });
        let shares: Vec<f64> = shares.collect();
        let losses = passes.par_iter().zip(&self.texts);
        let losses = losses.map(|(pass, ids)| model.losses_of(pass, ids));
        let losses: Vec<Vec<f64>> = losses.collect::<models::Result<_>>()?;
        let later: Vec<f64> =
            losses.iter().flat_map(|losses| losses[PERIOD..].to_vec()).collect();
        Ok([mean(&shares), mean(&later)])
    }
}

fn passes(model: &Model, texts: &[Vec<usize>]) -> Result<Passes> {
    let pass = |ids: &Vec<usize>| model.forward(&Sequence::new(ids.clone()));
    Ok(texts.par_iter().map(pass).collect::<models::Result<_>>()?)
}

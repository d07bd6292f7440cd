//! Copying heads ablated, and as many others.

use anyhow::Result;
use attention::{Rng, RowVector, SeedableRng};
use models::Head;
use models::decoders::study::{HeadOfLayer, PERIOD, others_of_same_layers};
use rand::seq::SliceRandom;
use serde_json::{Value, json};

use crate::texts::{MEASURING, losses, mean_loss, prose, random};
use crate::{Model, Study, mean, round};

/// How many copying heads are ablated.
const COUNTS: [usize; 5] = [1, 3, 7, 14, 28];
/// With so many, means replace them too, and prose is read as well.
const OF_PROSE: usize = 7;
/// Seeds of the heads that are ablated as a control.
pub const SEEDS: std::ops::Range<u64> = 0..5;

type Means = Vec<Vec<RowVector<f32>>>;

pub fn measure(study: &mut Study) -> Result<Value> {
    let random = random(MEASURING, study.model.config.n_vocabulary);
    let prose = prose(study, 200, 4)?;
    let means = study.model.mean_outputs(&prose)?;
    let ranked = study.ranked("copying")?;
    let n_copying = study.most_of("copying")?.len();
    let mut all = Vec::new();
    let mut add = |study: &mut Study,
                   what: &str,
                   how: &str,
                   heads: &[HeadOfLayer],
                   seed: u64| {
        let means = (how == "mean").then_some(&means);
        let found = with_ablated(&mut study.model, heads, means, |model| {
            let is_asked = [0, OF_PROSE].contains(&heads.len());
            let prose = is_asked.then(|| mean_loss(model, &prose)).transpose()?;
            Ok((copies(model, &random)?, prose))
        })?;
        let ((first, later), prose) = found;
        println!(
            "{what}, {} heads by {how}, seed {seed}: {first:.2}, {later:.2}; {prose:.3?}",
            heads.len()
        );
        all.push(json!({
            "what": what, "heads": heads.len(), "how": how, "seed": seed,
            "first": round(first), "later": round(later), "prose": prose.map(round),
        }));
        anyhow::Ok(())
    };
    add(study, "whole", "zero", &[], 0)?;
    for n in COUNTS {
        let top = &ranked[..n];
        // No control ablates a head that copies.
        let but = &ranked[..n.max(n_copying)];
        let hows: &[&str] = if n == OF_PROSE { &["zero", "mean"] } else { &["zero"] };
        for how in hows {
            add(study, "copying", how, top, 0)?;
            for seed in SEEDS {
                add(study, "random", how, &random_heads(study, n, but, seed), seed)?;
                let n_heads = study.model.config.dims().n_heads();
                let heads = others_of_same_layers(top, but, n_heads, seed);
                add(study, "same layers", how, &heads, seed)?;
            }
        }
    }
    Ok(all.into())
}

/// The mean losses of the first copy, and of the later ones, where the text itself says
/// what comes next.
pub fn copies(model: &Model, texts: &[Vec<usize>]) -> Result<(f64, f64)> {
    // Entry i is the loss of token i + 1; token PERIOD begins the second copy, and cannot
    // be known.
    let all = losses(model, texts)?;
    let part = |range: fn(&[f64]) -> &[f64]| {
        all.iter().flat_map(|losses| range(losses).to_vec()).collect::<Vec<_>>()
    };
    let first = part(|losses| &losses[..PERIOD - 1]);
    let later = part(|losses| &losses[PERIOD..]);
    Ok((mean(&first), mean(&later)))
}

/// What is measured while some heads say nothing, or what they say on average.
pub fn with_ablated<R>(
    model: &mut Model,
    heads: &[HeadOfLayer],
    means: Option<&Means>,
    measure: impl FnOnce(&Model) -> Result<R>,
) -> Result<R> {
    let off: Vec<Head> = heads.iter().copied().map(Head::from).collect();
    let mean = |it: Head| means.map(|means| means[it.layer][it.head].clone());
    let whole = models::ablate(model, &off, mean)?;
    let found = measure(model);
    whole.put_back(model);
    found
}

/// Any heads but these.
pub fn random_heads(
    study: &Study,
    n: usize,
    but: &[HeadOfLayer],
    seed: u64,
) -> Vec<HeadOfLayer> {
    let h = study.model.config.dims().n_heads();
    let all =
        (0..study.model.blocks.len()).flat_map(|layer| (0..h).map(move |i| (layer, i)));
    let mut others: Vec<HeadOfLayer> = all.filter(|head| !but.contains(head)).collect();
    others.shuffle(&mut Rng::seed_from_u64(seed));
    others.truncate(n);
    others
}

//! Many heads taken away: in order of importance, in random orders, and in the first order
//! with its heads exchanged within layers.

use anyhow::Result;
use attention::{Rng, SeedableRng};
use models::decoders::study::{HeadOfLayer, shuffled_within_layers};
use rand::seq::SliceRandom;
use serde_json::{Value, json};

use crate::ablation::with_ablated;
use crate::texts::{mean_loss, prose};
use crate::{Study, round, rounded};

/// Tokens of a piece of prose.
const N: usize = 128;
/// The first pieces set the order, the others measure it.
const SETTING: usize = 3;
const MEASURING: usize = 8;
/// So many tenths of all heads are taken away.
const TENTHS: [usize; 5] = [1, 2, 3, 4, 5];
const SEEDS: std::ops::Range<u64> = 0..5;

pub fn measure(study: &mut Study) -> Result<Value> {
    let pieces = prose(study, N, SETTING + MEASURING)?;
    let (setting, measuring) = pieces.split_at(SETTING);
    let mut heads = study.ranked("copying")?;
    heads.sort_unstable();
    let before = mean_loss(&study.model, setting)?;
    let mut costs = Vec::new();
    for head in &heads {
        let loss = with_ablated(&mut study.model, &[*head], None, |model| {
            mean_loss(model, setting)
        })?;
        costs.push(loss - before);
    }
    let mut order: Vec<usize> = (0..heads.len()).collect();
    order.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let mut ways = vec![
        json!({"order": "importance", "losses": curve(study, &heads, &order, measuring)?}),
    ];
    for seed in SEEDS {
        order.shuffle(&mut Rng::seed_from_u64(seed));
        let losses = curve(study, &heads, &order, measuring)?;
        ways.push(json!({"order": "random", "seed": seed, "losses": losses}));
    }
    let whole = round(mean_loss(&study.model, measuring)?);
    Ok(json!({"whole": whole, "tenths": TENTHS, "costs": rounded(costs), "ways": ways}))
}

/// The control for the order of importance: what is removed is of the same layers, and other
/// heads. The order is made of the costs as they are kept.
pub fn shuffled(study: &mut Study) -> Result<Value> {
    let pieces = prose(study, N, SETTING + MEASURING)?;
    let costs: Vec<f64> = serde_json::from_value(study.part("order")?["costs"].clone())?;
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let order: Vec<HeadOfLayer> =
        order.into_iter().map(|head| study.place(head)).collect();
    let in_turn: Vec<usize> = (0..order.len()).collect();
    let mut ways = Vec::new();
    for seed in SEEDS {
        let heads = shuffled_within_layers(&order, seed);
        let losses = curve(study, &heads, &in_turn, &pieces[SETTING..])?;
        ways.push(json!({"order": "within layers", "seed": seed, "losses": losses}));
    }
    Ok(ways.into())
}

/// The loss without the first tenths of an order.
fn curve(
    study: &mut Study,
    heads: &[(usize, usize)],
    order: &[usize],
    texts: &[Vec<usize>],
) -> Result<Vec<f64>> {
    let mut losses = Vec::new();
    for tenths in TENTHS {
        let n = heads.len() * tenths / 10;
        let gone: Vec<_> = order[..n].iter().map(|&i| heads[i]).collect();
        let loss =
            with_ablated(&mut study.model, &gone, None, |model| mean_loss(model, texts))?;
        losses.push(round(loss));
    }
    println!("{losses:.3?}");
    Ok(losses)
}

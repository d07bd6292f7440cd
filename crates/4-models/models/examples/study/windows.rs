//! A window over a model that was trained without one.

use anyhow::Result;
use attention::Mask;
use models::decoders::study::window_with_others;
use rayon::prelude::*;
use serde_json::{Value, json};
use variants::{Positions, Window};

use crate::texts::prose;
use crate::{Model, Study, mean, round};

/// Tokens of a text.
const N: usize = 1024;
const N_TEXTS: usize = 4;
/// Losses count from this token on: by then every window has left the first ones.
const FROM: usize = 512;
const WIDTHS: [usize; 2] = [64, 256];
/// How many of the first tokens are kept.
const KEPT: [usize; 3] = [0, 1, 4];
const SEEDS: std::ops::Range<u64> = 0..5;

pub fn measure(study: &mut Study) -> Result<Value> {
    let texts = prose(study, N, N_TEXTS)?;
    let mut all = Vec::new();
    let mut add = |what: &str, width: usize, kept: usize, seed: u64, mask: &Mask| {
        let loss = loss(&study.model, &texts, mask)?;
        println!("{what}, {width}, {kept} kept, seed {seed}: {:.2}", loss.exp());
        all.push(json!({
            "what": what, "width": width, "kept": kept, "seed": seed, "loss": round(loss),
        }));
        anyhow::Ok(())
    };
    add("whole", N, 0, 0, &Mask::Causal)?;
    for width in WIDTHS {
        for n_sinks in KEPT {
            let window = Window { right: Some(0), n_sinks, ..Window::last(width)? };
            add("first", width, n_sinks, 0, &window.mask(&Positions::new(N, N)))?;
        }
    }
    // The control: as many tokens, kept from elsewhere in the first window.
    for width in WIDTHS {
        for seed in SEEDS {
            let mask = window_with_others(width, KEPT[2], N, seed)?;
            add("elsewhere", width, KEPT[2], seed, &mask)?;
        }
    }
    Ok(all.into())
}

fn loss(model: &Model, texts: &[Vec<usize>], mask: &Mask) -> Result<f64> {
    let late = |ids: &Vec<usize>| Ok(model.losses(ids, mask)?.split_off(FROM - 1));
    let late: Vec<Vec<f64>> =
        texts.par_iter().map(late).collect::<models::Result<_>>()?;
    Ok(mean(&late.concat()))
}

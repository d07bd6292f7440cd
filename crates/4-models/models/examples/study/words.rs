//! Names that the text has said before, and what may come next.

use ::texts::Long;
use anyhow::{Context, Result, ensure};
use attention::{Mask, Matrix};
use model_files::Sequence;
use serde_json::{Value, json};

use crate::ablation::{SEEDS, random_heads, with_ablated};
use crate::{Model, Study, round, rounded};

/// The first is in a book that models have read, the others are in none.
const NAMES: [&str; 4] = ["Dursley", "Dursnip", "Dursbox", "Dursland"];
const N_HEADS: usize = 7;
/// So many logits of a prompt are kept.
const KEPT: usize = 50;
const PROMPTS: [&str; 3] = [
    "The animal didn't cross the street because it was too",
    "Mr Dursley was thin. Mr Durs",
    "Once upon a time there was a",
];

/// The loss of the end of each name, with all heads and without some; and where the head
/// that copies most looks.
pub fn measure(study: &mut Study) -> Result<Value> {
    let names = NAMES.map(|name| of_name(study, name));
    Ok(names.into_iter().collect::<Result<Vec<_>>>()?.into())
}

fn of_name(study: &mut Study, name: &str) -> Result<Value> {
    let text = format!("Mr {name} was thin. Mrs {name} was tall. Mr Durs");
    let pieces = study.text.pieces(&text, usize::MAX, Long::Refuse)?;
    let ids = pieces.sequence.ids;
    let last = *ids.last().context("a text")?;
    let before = ids.iter().position(|&id| id == last).context("the same before")?;
    ensure!(before + 1 < ids.len(), "{name} is cut elsewhere: {:?}", pieces.pieces);
    let end = ids[before + 1];
    let copying = study.ranked("copying")?[..N_HEADS].to_vec();
    let loss = |model: &Model| Ok(-softmax(&logits(model, &ids)?)[end].ln());
    let never = study.text.pieces("Mr Durs", usize::MAX, Long::Refuse)?.sequence.ids;
    let alone = -softmax(&logits(&study.model, &never)?)[end].ln();
    let whole = loss(&study.model)?;
    let without = with_ablated(&mut study.model, &copying, None, loss)?;
    let mut random = Vec::new();
    for seed in SEEDS {
        let heads = random_heads(study, N_HEADS, &copying, seed);
        random.push(with_ablated(&mut study.model, &heads, None, loss)?);
    }
    println!(
        "{:?}: alone {alone:.2}, {whole:.3}, without {without:.2}, random {random:.3?}",
        pieces.pieces
    );
    let layers = study.model.forward(&Sequence::new(ids.clone()))?;
    let (layer, head) = copying[0];
    let map = &layers.attn[layer][head];
    let rows = (0..map.nrows()).map(|i| rounded(map.row(i).iter().map(|&x| x.into())));
    Ok(json!({
        "pieces": pieces.pieces,
        "end": study.text.decode(&[end])?,
        "alone": round(alone),
        "whole": round(whole), "without": round(without), "random": rounded(random),
        "layer": layer, "head": head,
        "map": rows.collect::<Vec<_>>(),
    }))
}

/// The most likely tokens after some prompts, with their logits.
pub fn next(study: &mut Study) -> Result<Value> {
    let of_prompt = |prompt: &str| -> Result<Value> {
        let ids = study.text.pieces(prompt, usize::MAX, Long::Refuse)?.sequence.ids;
        let logits = logits(&study.model, &ids)?;
        let mut order: Vec<usize> = (0..logits.len()).collect();
        order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
        order.truncate(KEPT);
        let share: f64 = order.iter().map(|&id| softmax(&logits)[id]).sum();
        let pieces: Vec<String> = order
            .iter()
            .map(|&id| study.text.decode(&[id]))
            .collect::<::texts::Result<_>>()?;
        Ok(json!({
            "prompt": prompt,
            "pieces": pieces,
            "logits": rounded(order.iter().map(|&id| logits[id])),
            "share": round(share),
        }))
    };
    Ok(PROMPTS.into_iter().map(of_prompt).collect::<Result<Vec<_>>>()?.into())
}

/// After the last token.
fn logits(model: &Model, ids: &[usize]) -> Result<Vec<f64>> {
    let layers = model.forward(&Sequence::new(ids.to_vec()))?;
    let last: Matrix<f32> = layers.out().rows(ids.len() - 1, 1).into_owned();
    Ok(model.logits(&last)?.iter().map(|&x| x.into()).collect())
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let row = Matrix::from_row_slice(1, logits.len(), logits);
    attention::softmax_rows(Mask::None.apply(row)).iter().copied().collect()
}

//! What changes in an encoder's pass over a text without some heads.

use ::texts::{Long, Text};
use anyhow::Result;
use attention::{LayerParameters, Matrix};
use model_files::{Sequence, shown};
use models::encoders::{Encoder, Files, Pass, Way};
use serde_json::Value;

use super::{Ablation, Replace, columns, later_maps, later_rows, row};
use crate::sizes::{check_size, cut_hint};
use crate::source::packed as stage;
use crate::study::heads_and_draws;

type Parameters = Encoder<LayerParameters<f32>, f32>;

/// What stands in the stead of heads, side by side in each layer, and that in words.
fn stand_ins(
    model: &Parameters,
    text: &Text,
    pass: &Pass<f32>,
    ablation: &Ablation,
) -> Result<(Vec<Matrix<f32>>, String)> {
    let n = pass.sequence.ids.len();
    let (texts, words) = ablation.stand_ins(text, model.config.longest(), n)?;
    let n_tokens: usize = texts.iter().map(Vec::len).sum();
    let concats = |ids| anyhow::Ok(model.pass(&Sequence::new(ids), stage)?.concats);
    let mut all = texts.into_iter().map(concats).collect::<Result<Vec<_>>>()?;
    let mean = |layer: usize| {
        let sums = all.iter().map(|of| of[layer].row_sum());
        let sum = sums.reduce(|sum, one| sum + one);
        let mean = sum.unwrap_or_else(|| pass.concats[layer].row_sum() * 0.0);
        Matrix::from_rows(&vec![mean / n_tokens.max(1) as f32; n])
    };
    let instead = match ablation.replace {
        Replace::Zero => pass.zeros(),
        Replace::Mean => (0..pass.concats.len()).map(mean).collect(),
        Replace::Resample => all.swap_remove(0),
    };
    Ok((instead, words))
}

/// What changes in a sentence without the heads that are asked about: as it is printed, and
/// as a page shows it.
pub fn report(
    files: &Files,
    ablation: &Ablation,
    sentence: &str,
    long: Long,
) -> Result<(String, Value)> {
    let model: Parameters = Encoder::read(files, LayerParameters::clone)?;
    let text = files.text()?;
    let pieces = cut_hint(text.pieces(sentence, files.config.longest(), long))?;
    let sizes = [model.stack.blocks.len(), files.config.dims.n_heads()];
    check_size([pieces.pieces.len(); 2], sizes[0] * sizes[1])?;
    let (heads, draws) = heads_and_draws(&ablation.heads, ablation.draws, sizes)?;
    let pass = model.pass(&pieces.sequence, stage)?;
    let (instead, words) = stand_ins(&model, &text, &pass, ablation)?;
    let way = Way { model: &model, pass: &pass, instead: &instead, stage };
    let (mut found, _) = models::encoders::Ablation::begin(&way, heads, draws)?;
    while found.draw(&way)? {}

    let shown: Vec<_> = pieces.pieces.iter().map(|piece| shown(piece)).collect();
    let mut to = format!("{} tokens: {}\n", shown.len(), shown.join(" "));
    to += &ablation.heading(&found.heads, &words, &found.draws);
    to += &row("1 − cosine of the embedding", &found.embedding_moved());
    to += &later_maps(&found.later_moved());
    let mut later = found.later_heads();
    if !later.is_empty() {
        to += &format!("\n{}", columns("later heads, share moved"));
    }
    to += &later_rows(&mut later);
    Ok((to, found.to_json(&words)))
}

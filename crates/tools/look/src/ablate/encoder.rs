//! What changes in an encoder's pass over a text without some heads.

use std::fmt::Write as _;

use ::texts::{Long, Text};
use anyhow::Result;
use attention::{LayerParameters, Matrix};
use model_files::{Sequence, shown};
use models::encoders::{Encoder, Files, Pass, Way};
use serde_json::Value;

use super::{Ablation, Replace};
use crate::prose::{self, Prose};
use crate::sizes::{check_size, cut_hint};
use crate::source::packed as stage;
use crate::study::{HEADINGS, beside, draws_line, heads_and_draws, name, names};

const MOST: usize = 8;

type Parameters = Encoder<LayerParameters<f32>, f32>;

/// What stands in the stead of heads, and that in words.
fn stand_ins(
    model: &Parameters,
    text: &Text,
    pass: &Pass<f32>,
    ablation: &Ablation,
) -> Result<(Vec<Matrix<f32>>, String)> {
    let concats = |ids| anyhow::Ok(model.pass(&Sequence::new(ids), stage)?.concats);
    let n = pass.sequence.ids.len();
    Ok(match ablation.replace {
        Replace::Zero => (pass.zeros(), "zeros".into()),
        Replace::Mean => {
            let texts = Prose::new(text)?.for_means(model.config.longest());
            let n_tokens: usize = texts.iter().map(Vec::len).sum();
            let all = texts.into_iter().map(concats).collect::<Result<Vec<_>>>()?;
            let mean = |layer: usize| {
                let sums = all.iter().map(|of| of[layer].row_sum());
                let sum = sums.reduce(|sum, one| sum + one);
                let mean = sum.unwrap_or_else(|| pass.concats[layer].row_sum() * 0.0);
                Matrix::from_rows(&vec![mean / n_tokens.max(1) as f32; n])
            };
            ((0..pass.concats.len()).map(mean).collect(), prose::means_of(n_tokens))
        }
        Replace::Resample => {
            let (start, ids) = Prose::new(text)?.like(n, ablation.draws.seed())?;
            (concats(ids)?, prose::outputs_on(n, start))
        }
    })
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
    let mut to = format!(
        "{} tokens: {}\n\nWithout {} (in their stead: {words}).\n{}\n\n{:<34}{HEADINGS}\n",
        shown.len(),
        shown.join(" "),
        names(&found.heads),
        draws_line(&found.draws, ablation.draws.n()),
        ""
    );
    let moved = found.embedding_moved();
    let _ = writeln!(to, "{:<34}{}", "1 − cosine of the embedding", beside(&moved));
    let maps = found.later_moved();
    if maps.observed.is_finite() {
        let _ =
            writeln!(to, "{:<34}{}", "maps of later layers: share moved", beside(&maps));
    }
    let mut later = found.later_heads();
    later.sort_by(|a, b| b.1.observed.total_cmp(&a.1.observed));
    if !later.is_empty() {
        let _ = writeln!(to, "\n{:<34}{HEADINGS}", "later heads, share moved");
    }
    for (head, moved) in later.iter().take(MOST) {
        let _ = writeln!(to, "{:<34}{}", name(*head), beside(moved));
    }
    Ok((to, found.to_json(&words)))
}

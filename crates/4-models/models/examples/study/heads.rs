//! Three patterns of every head.

use anyhow::Result;
use model_files::Sequence;
use models::decoders::study::Patterns;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::texts::{CHOOSING, prose, random};
use crate::{Model, Study, rounded};

/// So many tokens of prose, four times.
const PROSE: usize = 200;

/// Head by head, layer by layer: `copying` on repeated random tokens, the other two on prose.
pub fn measure(study: &mut Study) -> Result<Value> {
    let random = random(CHOOSING, study.model.config.n_vocabulary);
    let random = patterns(&study.model, &random)?;
    let prose = patterns(&study.model, &prose(study, PROSE, 4)?)?;
    let copying = |it: &Patterns| it.copying;
    Ok(json!({
        "copying": rounded(random.iter().map(copying)),
        "copying_prose": rounded(prose.iter().map(copying)),
        "previous": rounded(prose.iter().map(|it| it.previous)),
        "previous_random": rounded(random.iter().map(|it| it.previous)),
        "first": rounded(prose.iter().map(|it| it.first)),
    }))
}

/// Of every head, means over the texts.
pub fn patterns(model: &Model, texts: &[Vec<usize>]) -> Result<Vec<Patterns>> {
    let of_text = |ids: &Vec<usize>| -> Result<Vec<Patterns>> {
        let layers = model.forward(&Sequence::new(ids.clone()))?;
        Ok(layers.attn.iter().flatten().map(|map| Patterns::of(map, ids)).collect())
    };
    let found: Vec<Vec<Patterns>> =
        texts.par_iter().map(of_text).collect::<Result<_>>()?;
    let of_head = |head: usize| {
        let of_texts: Vec<Patterns> = found.iter().map(|text| text[head]).collect();
        Patterns::mean(&of_texts)
    };
    Ok((0..found[0].len()).map(of_head).collect())
}

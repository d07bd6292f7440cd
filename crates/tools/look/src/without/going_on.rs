//! How a model goes on with a text without some heads.

use anyhow::{Result, ensure};
use attention::RowVector;
use decoders::study::{Head, without};
use decoders::{Choice, Reader, Writer};
use model_files::is_shown;

use super::{Asked, Removed, Replace, heads_and_draws, names, removal};
use crate::prose::Prose;

/// The removal, and what the model writes with all heads, without these, and without as many
/// others of the same layers.
///
/// # Errors
/// Heads that are not there; [`Replace::Resample`], since what is not written yet has no
/// other text; what the model refuses.
pub(crate) fn going_on(
    mut asked: Asked,
    removed: &Removed,
    n_tokens: usize,
    choice: &Choice,
) -> Result<String> {
    ensure!(
        removed.replace != Replace::Resample,
        "a token that is still to be written has no counterpart in another text: \
         `cargo learn look` has `--replace resample`"
    );
    let n_heads = asked.model.config.dims().n_heads();
    let (heads, draws) = heads_and_draws(removed, asked.model.blocks.len(), n_heads)?;
    let mut to = asked.tokens_line() + &removal::report(&asked, removed)?;
    let means = match removed.replace {
        Replace::Mean => {
            let texts =
                Prose::new(&asked.text)?.for_means(asked.model.config.n_positions);
            Some(asked.model.mean_outputs(&texts)?)
        }
        _ => None,
    };
    let mut of = |what: String, heads: &[Head]| -> Result<()> {
        let text = written(&mut asked, heads, means.as_deref(), n_tokens, choice)?;
        to += &format!("\n{what}:\n{text}\n");
        Ok(())
    };
    of("With all heads".to_owned(), &[])?;
    of(format!("Without {}", names(&heads)), &heads)?;
    for set in draws.sets.iter().take(2) {
        of(format!("The control, without {}", names(set)), set)?;
    }
    Ok(to)
}

/// The text and what comes behind it.
fn written(
    asked: &mut Asked,
    heads: &[Head],
    means: Option<&[Vec<RowVector<f32>>]>,
    n_tokens: usize,
    choice: &Choice,
) -> Result<String> {
    let Asked { model, text, pieces } = asked;
    let whole = model.blocks.iter().map(|block| block.attention.clone());
    let whole: Vec<_> = whole.collect();
    for &(layer, head) in heads {
        let mean = means.map(|means| means[layer][head].clone());
        let attention = &mut model.blocks[layer].attention;
        *attention = without(attention, &[(head, mean)])?;
    }
    let mut ids = pieces.sequence.ids.clone();
    let writer = Writer::new(Reader::new(model), &ids, choice.clone());
    let new: Vec<usize> = writer.take(n_tokens).collect::<decoders::Result<_>>()?;
    let is_end = |id: &usize| model.config.ends.contains(id);
    ids.extend(new.iter().copied().take_while(|id| !is_end(id)));
    for (block, attention) in model.blocks.iter_mut().zip(whole) {
        block.attention = attention;
    }
    let printable = |c: &char| is_shown(*c) || matches!(c, '\n' | '\t');
    Ok(text.decode(&ids)?.chars().filter(printable).collect())
}

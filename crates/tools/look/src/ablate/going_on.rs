//! How a model goes on with a text without some heads.

use anyhow::{Result, ensure};
use attention::RowVector;
use models::decoders::Reader;
use models::decoders::study::HeadOfLayer;
use models::{Choice, Draft, Generation, Head, Writer};

use super::{Ablation, Replace, decoder};
use crate::prose::Prose;
use crate::study::{TextInDecoder, heads_and_draws, names, printable};

/// The ablation, and what the model writes with all heads, without these, and without as many
/// others of the same layers.
pub fn going_on(
    mut read: TextInDecoder,
    ablation: &Ablation,
    n_tokens: usize,
    choice: &Choice,
) -> Result<String> {
    ensure!(
        ablation.replace != Replace::Resample,
        "a token that is still to be written has no counterpart in another text: \
         `cargo learn ablate` has `--replace resample`"
    );
    let (heads, draws) =
        heads_and_draws(&ablation.heads, ablation.draws, read.n_heads())?;
    let mut to = read.tokens_line() + &decoder::report(&read, ablation)?;
    let means = match ablation.replace {
        Replace::Mean => {
            let texts = Prose::new(&read.text)?.for_means(read.model.config.n_positions);
            Some(read.model.mean_outputs(&texts)?)
        }
        _ => None,
    };
    let mut of = |what: String, heads: &[HeadOfLayer]| -> Result<()> {
        let text = written(&mut read, heads, means.as_deref(), n_tokens, choice)?;
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
    read: &mut TextInDecoder,
    heads: &[HeadOfLayer],
    means: Option<&[Vec<RowVector<f32>>]>,
    n_tokens: usize,
    choice: &Choice,
) -> Result<String> {
    let TextInDecoder { model, text, pieces } = read;
    let mean = |head: Head| means.map(|means| means[head.layer][head.head].clone());
    let off: Vec<Head> = heads.iter().copied().map(Head::from).collect();
    let whole = models::ablate(model, &off, mean)?;
    let ends = model.config.ends.clone();
    let draft = Draft::new(&pieces.sequence.ids, choice.clone()).up_to(n_tokens);
    let draft = draft.keeping_to(Generation { ends, ..Generation::default() });
    let written = Writer::of(Reader::new(model), draft).finish();
    whole.put_back(model);
    let written = written?;
    let ids = written.ids();
    let n = ids.len() - usize::from(written.has_ended());
    Ok(printable(&text.decode(&ids[..n])?))
}

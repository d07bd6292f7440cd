//! How far the maps of all-MiniLM-L6-v2 are from its own where its weights are in 8 bits and in
//! 4, on fifty sentences: `cargo run --release -p look --example few_bits`.

use ::texts::{Long, Text};
use anyhow::{Context, Result};
use fused_heads::FusedAttention;
use look::texts;
use maps::TextHeads;
use maps::agreement::Agreement;
use models::encoders::Encoder;
use models::finite;
use tensors::Bits;
use workshop::paths;

fn main() -> Result<()> {
    let (model, few) = (paths::minilm(), tempfile::tempdir()?);
    let whole = Encoder::<_, f32>::load(&model, FusedAttention::new)
        .context("`cargo learn fetch minilm` brings the model")?;
    let text = Text::open(&model, whole.config.n_vocabulary)?;
    let sentences = std::fs::read_to_string(texts::models().join("few-bits.txt"))?;
    println!("bits       MB   largest    median  other labels");
    for bits in [Bits::Eight, Bits::Four] {
        let folder = few.path().join(bits.to_string());
        let n_bytes = look::few_bits::copy(&model, &folder, bits)?;
        let other = Encoder::<_, f32>::load(&folder, FusedAttention::new)?;
        let mut found = Agreement::default();
        for sentence in sentences.lines() {
            let pieces = text.pieces(sentence, whole.config.longest(), Long::Refuse)?;
            let heads = |model: &Encoder<_, f32>| -> Result<TextHeads> {
                let attn = finite(model.forward(&pieces.sequence)?)?.attn;
                let (tokens, special) = (&pieces.pieces, &pieces.is_special);
                Ok(TextHeads::of_encoder(tokens.clone(), special.clone(), attn))
            };
            found.add(&heads(&whole)?, &heads(&other)?);
        }
        let others = found.relabelled();
        let megabytes = n_bytes as f64 / 1e6;
        let [largest, median] = [found.largest(), found.median()];
        println!(
            "{bits:>4} {megabytes:8.1} {largest:9.4} {median:9.6}  {}",
            others.len()
        );
        for it in others {
            let ([layer, head], [from, to]) = (it.head, it.labels);
            println!("     {layer}.{head}: {from}, and then {to}");
        }
    }
    Ok(())
}

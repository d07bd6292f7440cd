//! Weights in few bits, as the book's pages load them: how far the maps are from the model's
//! own, and which heads change their label.

use attention::LayerParameters;
use fused_heads::FusedAttention;
use maps::TextHeads;
use maps::agreement::Agreement;
use model_files::weights_in;
use models::Tensors;
use models::encoders::{Encoder, Files};
use tensors::{Bits, TensorFile, in_bits, to_bytes};
use workshop::paths;

use super::{Parameters, Text, is_special, minilm, texts};
use crate::quote::{assert_quote, kept_quote, values};

#[test]
fn maps_of_weights_in_few_bits() {
    let Some(parameters) = minilm() else {
        return kept_quote!("minilm_few_bits");
    };
    let (texts, mut found) = (texts("varied"), Vec::<(String, String)>::new());
    let files = Files::open(paths::minilm()).unwrap();
    let weights = weights_in(&paths::minilm()).unwrap();
    let bytes = to_bytes(&in_bits(&weights, Bits::Four).unwrap()).unwrap();
    let tensors = TensorFile::from_bytes("model.safetensors", bytes).unwrap();
    let few = Files { tensors: Tensors::Safetensors(tensors), ..files };
    let few = Encoder::read(&few, LayerParameters::clone).unwrap();
    let agreement = agreement(parameters, &few, &texts);
    // What the copy for pages has.
    let changed = agreement.relabelled();
    assert!(changed.is_empty(), "{changed:?}");
    found.push(("few_4_largest".into(), format!("{:.2}", agreement.largest())));
    found.push(("few_4_median".into(), format!("{:.4}", agreement.median())));
    found.push(("few_sentences".into(), texts.len().to_string()));
    assert_quote!("minilm_few_bits", values(&found));
}

fn agreement(one: &Parameters, other: &Parameters, texts: &[Text]) -> Agreement {
    let [one, other] =
        [one, other].map(|it| it.with_attention(|_, layer| FusedAttention::new(layer)));
    let mut found = Agreement::default();
    for text in texts {
        let n = text.sequence.n_tokens();
        let [one, other] = [&one, &other].map(|model| {
            let attn = model.forward(&text.sequence).unwrap().attn;
            TextHeads::of_encoder(vec![String::new(); n], is_special(n), attn)
        });
        found.add(&one, &other);
    }
    found
}

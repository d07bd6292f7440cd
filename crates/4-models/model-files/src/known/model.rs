//! What the metadata of a model's weights says beside its settings.

use serde_json::Value;
use tensors::TensorFile;

use super::facts::Fact;
use super::metadata::{Claim, expect_metadata};
use super::{Unused, says_no};
use crate::{Result, Settings};

/// Asks of what a model's weights say in their metadata whether its settings say the
/// same, and it is of this family; gives what is a note.
///
/// # Errors
/// [`Error::Metadata`](crate::Error::Metadata) for what is not so.
pub fn expect_settings(
    file: &TensorFile,
    settings: &Settings,
    family: &str,
    is_causal: bool,
) -> Result<Vec<Unused>> {
    expect_metadata(file, |claim| {
        Some(match claim.fact {
            Fact::Architecture => is_of_family(&claim.plain(), family),
            Fact::Causal => claim.is_flag(is_causal),
            Fact::Bidirectional => claim.is_flag(!is_causal),
            Fact::Cell | Fact::Projection | Fact::PaddingSide => return None,
            _ => claim.is_usual() || is_set(claim, settings),
        })
    })
}

/// Whether the settings have that, by this key or by another for the same.
fn is_set(claim: &Claim<'_>, settings: &Settings) -> bool {
    let last = claim.key.rsplit('.').next().unwrap_or(claim.key);
    let heads = ["num_attention_heads", "n_head", "n_heads"];
    let keys: &[&str] = match claim.fact {
        Fact::Heads => &heads,
        Fact::KeyValueHeads => {
            &["num_key_value_heads", "num_attention_heads", "n_head", "n_heads"]
        }
        Fact::Layers => &["num_hidden_layers", "n_layer", "n_layers"],
        Fact::Width => &["hidden_size", "n_embd", "dim"],
        Fact::Activation => {
            &["hidden_act", "hidden_activation", "activation_function", "activation"]
        }
        _ => &[],
    };
    let found = [last].iter().chain(keys).find_map(|key| settings.get(key));
    found.is_some_and(|value| match value {
        Value::String(text) => text.eq_ignore_ascii_case(claim.text.trim()),
        Value::Number(number) => {
            number.as_f64() == claim.text.trim().parse().ok() && number.as_f64().is_some()
        }
        Value::Bool(flag) => claim.is_flag(*flag),
        value => serde_json::from_str(claim.text).is_ok_and(|text: Value| text == *value),
    })
}

/// Whether a text names this family, or a model of it: `bert`, `BertForMaskedLM`; also the
/// library that saved it.
fn is_of_family(text: &str, family: &str) -> bool {
    const LIBRARIES: [&str; 7] =
        ["pt", "pytorch", "torch", "transformers", "mlx", "flax", "tf"];
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).collect()
    };
    let family = plain(family);
    let short = family.trim_end_matches("text");
    let is_model = |rest: &str| {
        rest.is_empty() || rest.starts_with("for") || rest.ends_with("model")
    };
    let rests = [family.as_str(), short].map(|family| text.strip_prefix(family));
    says_no(text)
        || LIBRARIES.contains(&text)
        || rests.into_iter().flatten().any(is_model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tensor_file;

    #[test]
    fn a_models_weights_say_what_its_settings_say() {
        let json =
            br#"{"num_attention_heads": 4, "rope_theta": 1e4, "hidden_act": "silu"}"#;
        let settings = Settings::read("config.json", json).unwrap();
        let told = |texts: &[(&str, &str)]| {
            let file = tensor_file(&[("lm_head.weight", &[1])], texts);
            match expect_settings(&file, &settings, "llama", true) {
                Ok(notes) => {
                    notes.iter().map(|it| format!("{}: {}", it.name, it.why)).collect()
                }
                Err(error) => error.to_string(),
            }
        };
        let same = [
            ("nhead", "4"),
            ("rope_theta", "10000.0"),
            ("activation", "SiLU"),
            ("model_type", "llama"),
            ("architectures", "LlamaForCausalLM"),
            ("is_causal", "true"),
        ];
        insta::assert_snapshot!(told(&same), @"");
        insta::assert_snapshot!(told(&[("format", "pt")]), @"format: a note in the file's metadata");
        insta::assert_snapshot!(told(&[("model.embed_tokens.weight", "lm_head.weight")]), @"model.embed_tokens.weight: another name of a tensor, in the file's metadata");
        insta::assert_snapshot!(told(&[("quantization", "int8")]), @"some.file: its metadata has quantization: int8, and weights are read as they are");
        insta::assert_snapshot!(told(&[("n_heads", "8")]), @"some.file: its metadata has n_heads: 8, and the number of heads here is another");
        insta::assert_snapshot!(told(&[("model_type", "llama4")]), @"some.file: its metadata has model_type: llama4, and another one is computed here");
        insta::assert_snapshot!(told(&[("rope_theta", "500000")]), @"some.file: its metadata has rope_theta: 500000, and such positions are not computed here");
        insta::assert_snapshot!(told(&[("alibi", "true")]), @"some.file: its metadata has alibi: true, and such positions are not computed here");
    }
}

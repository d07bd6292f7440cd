//! BART and mBART: a learned table of positions that begins at row 2, a norm of what enters.

use crate::NormKind;
use model_files::Settings;

use super::{Places, common, refuse_old};
use crate::Result;
use crate::translators::config::Config;
use crate::translators::family::{Family, Names};

const ENCODER: Names = Names {
    tokens: "encoder.embed_tokens",
    positions: Some("encoder.embed_positions"),
    entry_norm: Some("encoder.layernorm_embedding"),
    block: "encoder.layers.",
    attention: [
        "self_attn.q_proj",
        "self_attn.k_proj",
        "self_attn.v_proj",
        "self_attn.out_proj",
    ],
    attention_norm: "self_attn_layer_norm",
    relative: None,
    cross: None,
    cross_norm: "encoder_attn_layer_norm",
    feed_forward: ["fc1", "fc2"],
    gated: [""; 3],
    feed_forward_norm: "final_layer_norm",
    last_norm: None,
};

/// # Source
/// Lewis et al. 2020; `BartForConditionalGeneration` of Hugging Face.
pub(super) const BART: Family = Family {
    name: "bart",
    prefix: "model.",
    shared: "shared",
    encoder: ENCODER,
    decoder: Names {
        tokens: "decoder.embed_tokens",
        positions: Some("decoder.embed_positions"),
        entry_norm: Some("decoder.layernorm_embedding"),
        block: "decoder.layers.",
        cross: Some([
            "encoder_attn.q_proj",
            "encoder_attn.k_proj",
            "encoder_attn.v_proj",
            "encoder_attn.out_proj",
        ]),
        ..ENCODER
    },
    norm: NormKind::Layer,
    is_norm_before: false,
    has_biases: true,
    defaults: &[
        ("encoder_attention_heads", 16),
        ("decoder_attention_heads", 16),
        ("max_position_embeddings", 1024),
        ("decoder_start_token_id", 2),
        ("eos_token_id", 2),
    ],
    other_names: &[
        ("hidden_size", "d_model"),
        ("num_attention_heads", "encoder_attention_heads"),
        ("num_hidden_layers", "encoder_layers"),
    ],
};

/// # Source
/// Liu et al. 2020; `MBartForConditionalGeneration` of Hugging Face. A text begins with the
/// id of its language, which `decoder_start_token_id` or `forced_bos_token_id` says.
pub(super) const MBART: Family = Family {
    name: "mbart",
    encoder: Names { last_norm: Some("encoder.layer_norm"), ..BART.encoder },
    decoder: Names { last_norm: Some("decoder.layer_norm"), ..BART.decoder },
    is_norm_before: true,
    defaults: &[
        ("encoder_attention_heads", 16),
        ("decoder_attention_heads", 16),
        ("max_position_embeddings", 1024),
        ("eos_token_id", 2),
    ],
    ..BART
};

/// The rows of the table before that of the first token.
const OFFSET: usize = 2;

pub(super) fn read(settings: &Settings) -> Result<Config> {
    refuse_old(settings, [("normalize_before", false), ("add_final_layer_norm", false)])?;
    read_as(settings, &BART)
}

pub(super) fn read_mbart(settings: &Settings) -> Result<Config> {
    refuse_old(settings, [("normalize_before", true), ("add_final_layer_norm", true)])?;
    read_as(settings, &MBART)
}

fn read_as(settings: &Settings, family: &'static Family) -> Result<Config> {
    refuse_old(
        settings,
        [("normalize_embedding", true), ("static_position_embeddings", false)],
    )?;
    settings.refuse_unless(
        "extra_pos_embeddings",
        OFFSET,
        "2, the rows before the first token",
    )?;
    common(settings, family, Places::Learned { offset: OFFSET })
}

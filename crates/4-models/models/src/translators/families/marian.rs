//! Marian: sines and cosines as positions, and the paper's norms behind each layer.

use model_files::Settings;

use super::bart::BART;
use super::{Places, common, refuse_old};
use crate::Result;
use crate::translators::config::Config;
use crate::translators::family::{Family, Names};

/// # Source
/// Junczys-Dowmunt et al. 2018; Tiedemann and Thottingal 2020 (OPUS-MT); `MarianMTModel` of
/// Hugging Face.
pub(super) const MARIAN: Family = Family {
    name: "marian",
    encoder: Names { entry_norm: None, ..BART.encoder },
    decoder: Names { entry_norm: None, ..BART.decoder },
    defaults: &[
        ("encoder_attention_heads", 16),
        ("decoder_attention_heads", 16),
        ("max_position_embeddings", 1024),
        ("decoder_start_token_id", 58_100),
        ("eos_token_id", 0),
    ],
    ..BART
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    refuse_old(settings, [("normalize_before", false), ("add_final_layer_norm", false)])?;
    refuse_old(
        settings,
        [("normalize_embedding", false), ("static_position_embeddings", true)],
    )?;
    let config = common(settings, &MARIAN, Places::Sinusoidal)?;
    let is_shared = settings.flag("share_encoder_decoder_embeddings", true)?;
    const TARGET: &str = "decoder_vocab_size";
    let n_target = match settings.get(TARGET) {
        None => config.n_vocabulary,
        Some(_) => settings.positive(TARGET)?,
    };
    if is_shared && n_target != config.n_vocabulary {
        let expected = "vocab_size, since share_encoder_decoder_embeddings is true";
        return Err(settings.wrong(TARGET, expected).into());
    }
    Ok(Config { is_shared, n_target_vocabulary: n_target, ..config })
}

//! From a `config.json` to what the model computes, family by family.

mod t5;

use attention::Dims;
use block::Activation;
use model_files::{Settings, SmallFiles, Unused};
use tensors::TensorFile;
use variants::Sizes;

use crate::files::{Configuration, activation, family_of};
use crate::translators::config::{Config, Half, Places};
use crate::translators::family::{Family, TABLE};
use crate::translators::weights::unused_tensors;
use crate::writing::Generation;
use crate::{Error, Result};

type Read = fn(&Settings, &'static Family) -> Result<Config>;

/// How the settings of each family are read.
const READ: [(&str, Read); 4] =
    [("marian", marian), ("bart", bart), ("mbart", bart), ("t5", t5::read)];

/// The families that are known.
pub fn families() -> impl Iterator<Item = &'static Family> {
    TABLE.families.iter()
}

impl Configuration for Config {
    fn of(settings: &Settings) -> Result<Self> {
        let (_, read) = family_of(settings, &READ, |(name, _)| name)?;
        let family = family_of(settings, &TABLE.families, |family| family.name)?;
        let settings = &settings.with_own_names(&family.other_names)?;
        let settings = &settings.with_defaults(&family.defaults);
        settings.refuse_unless("is_encoder_decoder", true, "true")?;
        settings.refuse_unless("is_decoder", false, "false: both sides are read")?;
        for &(key, value) in &family.fixed {
            let expected = match value {
                true => "true, as this family is computed",
                false => "false, as this family is computed",
            };
            settings.refuse_unless(key, value, expected)?;
        }
        let config = read(settings, family)?;
        config.unused_settings(settings)?;
        Ok(config)
    }

    fn with_generation(self, files: &SmallFiles) -> Result<Self> {
        let writing = self.writing.clone().with_generation(files)?;
        Ok(Self { writing, ..self })
    }

    fn expect_one_tokenizer(&self, files: &SmallFiles) -> Result<()> {
        let refuse = |file: &str, found: String, why| {
            let file = match files {
                SmallFiles::Folder(folder) => folder.display().to_string(),
                SmallFiles::Here(_) => file.to_string(),
            };
            Err(model_files::Error::Unsupported { file, found, why }.into())
        };
        if files.contains("source.spm") && !files.contains("tokenizer.json") {
            let found = "it has source.spm and no tokenizer.json".to_string();
            let why = "SentencePiece's own files are not read here, and save_pretrained of \
                       Marian's tokenizer writes no other. With `cargo learn model` ids of \
                       any tokenizer are read: input_ids and decoder_input_ids";
            return refuse("what was chosen", found, why);
        }
        let (source, target) = (self.n_vocabulary, self.n_target_vocabulary);
        if !self.is_shared && source != target {
            let found = format!(
                "source and target have vocabularies of their own, {source} and {target} \
                 tokens, and tokenizer.json has one"
            );
            return refuse("config.json", found, "`cargo learn model` reads ids");
        }
        Ok(())
    }

    fn family(&self) -> &'static str {
        self.family.name
    }

    fn n_vocabulary(&self) -> usize {
        self.n_vocabulary
    }

    fn unused_settings(&self, settings: &Settings) -> Result<Vec<Unused>> {
        Ok(settings.leftovers(&TABLE.keys)?)
    }

    fn unused_tensors(&self, file: &TensorFile) -> Vec<Unused> {
        unused_tensors(self, file)
    }
}

/// The most that memory is asked for before a file of weights could say otherwise.
const WIDEST: usize = 1 << 17;

/// The rows of BART's table of positions before that of the first token.
const OFFSET: usize = 2;

/// A learned table of positions, and a norm of what enters.
fn bart(settings: &Settings, family: &'static Family) -> Result<Config> {
    let expected = "2, the rows before the first token";
    settings.refuse_unless("extra_pos_embeddings", OFFSET, expected)?;
    common(settings, family, Places::Learned { offset: OFFSET })
}

/// Sines and cosines as positions, and the paper's norms behind each layer.
fn marian(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = common(settings, family, Places::Sinusoidal)?;
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

/// What BART and its relatives have alike.
fn common(
    settings: &Settings,
    family: &'static Family,
    places: Places,
) -> Result<Config> {
    let d_model = settings.at_most("d_model", WIDEST)?;
    let half = |[heads, layers, width]: [&str; 3]| -> Result<Half> {
        let n_heads = settings.positive(heads)?;
        let sizes = Dims::new(d_model, n_heads);
        let sizes = sizes.and_then(|dims| Sizes::new(dims, n_heads));
        Ok(Half {
            sizes: sizes.map_err(Error::config(settings.file()))?,
            n_layers: settings.n_layers(layers)?,
            d_ff: settings.positive(width)?,
        })
    };
    let n_vocabulary = settings.positive("vocab_size")?;
    let is_scaled = settings.flag("scale_embedding", false)?;
    Ok(Config {
        family,
        encoder: half(["encoder_attention_heads", "encoder_layers", "encoder_ffn_dim"])?,
        decoder: half(["decoder_attention_heads", "decoder_layers", "decoder_ffn_dim"])?,
        n_vocabulary,
        n_target_vocabulary: n_vocabulary,
        places,
        n_positions: Some(settings.at_most("max_position_embeddings", WIDEST)?),
        activation: activation(settings, "activation_function", Activation::Gelu)?,
        is_gated: false,
        eps: 1e-5,
        scale: None,
        embedding_scale: if is_scaled { (d_model as f64).sqrt() } else { 1.0 },
        logits_scale: 1.0,
        is_shared: true,
        is_tied: settings.flag("tie_word_embeddings", true)?,
        writing: Generation::of(settings)?,
    })
}

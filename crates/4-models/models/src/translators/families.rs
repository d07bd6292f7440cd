//! From a `config.json` to what the model computes, family by family.

mod bart;
mod marian;
mod t5;

use attention::Dims;
use block::Activation;
use model_files::Use::Harmless;
use model_files::{Rule, Settings, SmallFiles, Unused};
use tensors::TensorFile;
use variants::Sizes;

use crate::files::{Configuration, family_of};
pub(crate) use crate::translators::config::Places;
use crate::translators::config::{Config, Half};
use crate::translators::family::Family;
use crate::translators::weights::unused_tensors;
use crate::writing::Generation;
use crate::{Error, Result};

type Read = fn(&Settings) -> Result<Config>;

/// Every family, and how its settings are read: the only list of them.
const FAMILIES: &[(&Family, Read)] = &[
    (&marian::MARIAN, marian::read),
    (&bart::BART, bart::read),
    (&bart::MBART, bart::read_mbart),
    (&t5::T5, t5::read),
];

/// Keys of a `config.json` that change nothing in any of them.
const KEYS: &[Rule] = &[
    Rule("init_std", Harmless("for training alone")),
    Rule("n_positions", Harmless("relative positions have no last one")),
    Rule(
        "extra_pos_embeddings",
        Harmless("the table of positions follows from its kind"),
    ),
    Rule(
        "force_bos_token_to_be_generated",
        Harmless("an older name of forced_bos_token_id"),
    ),
    Rule("add_bias_logits", Harmless("a bias that is in the file is added")),
    Rule("save_step", Harmless("a note on the training")),
];

/// The families that are known.
pub fn families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().map(|(family, _)| *family)
}

impl Configuration for Config {
    fn of(settings: &Settings) -> Result<Self> {
        let (family, read) = family_of(settings, FAMILIES, |(family, _)| family.name)?;
        let settings = &settings.with_own_names(family.other_names)?;
        let settings = &settings.with_defaults(family.defaults);
        settings.refuse_unless("is_encoder_decoder", true, "true")?;
        settings.refuse_unless("is_decoder", false, "false: both sides are read")?;
        let config = read(settings)?;
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
        Ok(settings.leftovers(KEYS)?)
    }

    fn unused_tensors(&self, file: &TensorFile) -> Vec<Unused> {
        unused_tensors(self, file)
    }
}

/// The most that memory is asked for before a file of weights could say otherwise.
const WIDEST: usize = 1 << 17;

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
    let named = Activation::named;
    Ok(Config {
        family,
        encoder: half(["encoder_attention_heads", "encoder_layers", "encoder_ffn_dim"])?,
        decoder: half(["decoder_attention_heads", "decoder_layers", "decoder_ffn_dim"])?,
        n_vocabulary,
        n_target_vocabulary: n_vocabulary,
        places,
        n_positions: Some(settings.at_most("max_position_embeddings", WIDEST)?),
        activation: settings.one_of(
            "activation_function",
            Activation::Gelu,
            named,
            Activation::NAMES,
        )?,
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

/// Keys of files before transformers 4, which say what the family does anyway.
fn refuse_old(settings: &Settings, keys: [(&str, bool); 2]) -> Result<()> {
    for (key, value) in keys {
        let expected = if value {
            "true, as this family is computed"
        } else {
            "false, as this family is computed"
        };
        settings.refuse_unless(key, value, expected)?;
    }
    Ok(())
}

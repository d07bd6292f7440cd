//! The class that AutoTokenizer makes of a folder's tokenizer.
//!
//! # Source
//! `AutoTokenizer.from_pretrained` in `models/auto/tokenization_auto.py` of Hugging Face's
//! transformers 5.24.

use super::companions::Companions;

/// Who builds the parts of a tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// `TokenizersBackend`: they are what `tokenizer.json` says.
    AsItIs,
    Bert,
    Roberta,
    XlmRoberta,
    Camembert,
    Gpt2,
    NeoX,
    Qwen2,
    Llama,
    Gemma,
    T5,
}

use Class::{
    AsItIs, Bert, Camembert, Gemma, Gpt2, Llama, NeoX, Qwen2, Roberta, T5, XlmRoberta,
};

/// What `tokenizer_class` says for each, without `Tokenizer` or `TokenizerFast` behind it.
const NAMES: [(Class, &[&str]); 11] = [
    (Bert, &["Bert", "DistilBert", "Electra", "MobileBert", "SqueezeBert", "Lxmert"]),
    (Roberta, &["Roberta", "Bart", "LED", "Mvp"]),
    (XlmRoberta, &["XLMRoberta"]),
    (Camembert, &["Camembert"]),
    (Gpt2, &["GPT2"]),
    (NeoX, &["GPTNeoX"]),
    (Qwen2, &["Qwen2"]),
    (Llama, &["Llama"]),
    (Gemma, &["Gemma"]),
    (T5, &["T5"]),
    // Marian's class reads no tokenizer.json: one that is there is read as it is.
    (AsItIs, &["PreTrained", "Bloom", "Marian"]),
];

/// What a `model_type` means where no class is named. `llama` means none.
const MODELS: [(&str, Class); 15] = [
    ("bert", Bert),
    ("distilbert", Bert),
    ("electra", Bert),
    ("roberta", Roberta),
    ("xlm-roberta", XlmRoberta),
    ("camembert", Camembert),
    ("gpt2", Gpt2),
    ("gpt_neox", NeoX),
    ("mistral", AsItIs),
    ("qwen2", Qwen2),
    ("qwen3", Qwen2),
    ("gemma2", Gemma),
    ("gemma3_text", Gemma),
    ("bart", Roberta),
    ("t5", T5),
];

impl Class {
    /// The class, and the file that says so, for a `tokenizer.json` that has a part of the
    /// kind `ByteLevel` or not.
    ///
    /// # Errors
    /// The file, and why its class is not one that is known here.
    pub fn of(
        beside: &Companions,
        is_byte_level: bool,
    ) -> Result<(Self, &str), (&str, String)> {
        let files = [&beside.config, &beside.model];
        let map = beside.config.keys.get("auto_map");
        if map.is_some_and(|map| map.is_array() || map.get("AutoTokenizer").is_some()) {
            let why =
                "auto_map names a tokenizer in Python, which is not run here".into();
            return Err((&beside.config.name, why));
        }
        let named = files.into_iter().find_map(|file| {
            Some((file.text("tokenizer_class").filter(|name| !name.is_empty())?, file))
        });
        let model_type = beside.model.text("model_type").unwrap_or_default();
        let of_model = MODELS.into_iter().find(|(name, _)| *name == model_type);
        let of_model = of_model.map(|(_, class)| class);
        let Some((name, file)) = named else {
            return Ok((of_model.unwrap_or(AsItIs), &beside.model.name));
        };
        let is_llama = name.trim_end_matches("Fast") == "LlamaTokenizer";
        Ok(match of_model {
            // The class that is named for these models is known to be wrong at times.
            Some(AsItIs) => (AsItIs, &beside.model.name),
            Some(Qwen2) if model_type == "qwen2" => (Qwen2, &beside.model.name),
            _ if is_llama && is_byte_level => (AsItIs, &file.name),
            _ => match Self::named(name) {
                Some(class) => (class, &file.name),
                None => {
                    let why =
                        format!("tokenizer_class is {name}, which is not known here");
                    return Err((&file.name, why));
                }
            },
        })
    }

    fn named(name: &str) -> Option<Self> {
        if ["TokenizersBackend", "PythonBackend"].contains(&name) {
            return Some(AsItIs);
        }
        let short =
            name.strip_suffix("Fast").unwrap_or(name).strip_suffix("Tokenizer")?;
        let found = NAMES.into_iter().find(|(_, names)| names.contains(&short));
        found.map(|(class, _)| class)
    }

    /// Its name in transformers.
    pub fn name(self) -> String {
        match NAMES.into_iter().find(|(class, _)| *class == self) {
            Some((_, names)) if self != AsItIs => format!("{}Tokenizer", names[0]),
            _ => "TokenizersBackend".into(),
        }
    }
}

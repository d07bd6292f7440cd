//! The parts that each class builds anew, whatever `tokenizer.json` says of them: its
//! vocabulary, its merges and its added tokens are taken, and little else.
//!
//! # Source
//! The `__init__` of each class in `models/*/tokenization_*.py` of transformers 5.24, and
//! `TokenizersBackend.convert_to_native_format` in `tokenization_utils_tokenizers.py`.

use serde_json::{Value, json};

use super::class::Class;
use super::companions::Companions;
use super::guard::each_object;
use super::special::token;

/// What the files beside a tokenizer say to its class.
struct Settings<'a> {
    class: Class,
    beside: &'a Companions,
}

/// Writes the parts that the class builds into a tokenizer. What it puts around a text is
/// left out where the class builds that too: see [`around`].
///
/// # Errors
/// What the class would leave out, or cannot take.
pub(super) fn build(
    class: Class,
    tokenizer: &mut Value,
    beside: &Companions,
) -> Result<(), String> {
    if class == Class::AsItIs {
        return match tokenizer["model"]["dropout"].as_f64() {
            Some(share) if share > 0. => Err(format!(
                "the model's dropout is {share}, which gives other tokens each time"
            )),
            _ => Ok(()),
        };
    }
    let settings = Settings { class, beside };
    settings.expect_kind(&tokenizer["model"])?;
    settings.expect_steps(tokenizer)?;
    settings.expect_case(tokenizer)?;
    let (normalizer, pre_tokenizer, decoder) = settings.steps(tokenizer)?;
    let model = settings.model(&mut tokenizer["model"])?;
    tokenizer["model"] = model;
    tokenizer["normalizer"] = normalizer;
    tokenizer["pre_tokenizer"] = pre_tokenizer;
    tokenizer["decoder"] = decoder;
    if class == Class::T5 {
        tokenizer["post_processor"] = settings.end(&tokenizer["added_tokens"])?;
    }
    if ends(class).is_some() || class == Class::NeoX {
        tokenizer["post_processor"] = Value::Null;
    }
    Ok(())
}

/// The tokens that a class puts in front of a text and behind it; none where that is what
/// `tokenizer.json` says.
pub(super) fn around(
    class: Class,
    beside: &Companions,
) -> Result<Option<[&str; 2]>, String> {
    let Some(keys) = ends(class) else { return Ok(None) };
    let [first, last] = keys.map(|key| needed(class, beside, key));
    Ok(Some([first?, last?]))
}

fn ends(class: Class) -> Option<[&'static str; 2]> {
    match class {
        Class::Bert | Class::Roberta => Some(["cls_token", "sep_token"]),
        Class::XlmRoberta | Class::Camembert => Some(["bos_token", "eos_token"]),
        _ => None,
    }
}

fn needed<'a>(
    class: Class,
    beside: &'a Companions,
    key: &str,
) -> Result<&'a str, String> {
    token(class, beside, key)
        .ok_or_else(|| format!("{key} is no token, and {} needs one", class.name()))
}

impl Settings<'_> {
    fn expect_kind(&self, model: &Value) -> Result<(), String> {
        let expected = match self.class {
            Class::Bert => "WordPiece",
            Class::XlmRoberta | Class::Camembert | Class::T5 => "Unigram",
            _ => "BPE",
        };
        // Older files do not name their kind.
        let found = match model["type"].as_str() {
            Some(kind) => kind,
            None if model["vocab"].is_array() => "Unigram",
            None if model["merges"].is_array() => "BPE",
            None => "WordPiece",
        };
        match found == expected {
            true => Ok(()),
            false => {
                Err(self.other(&format!("needs a {expected} model, and it is {found}")))
            }
        }
    }

    /// Whether each step of a normalizer or pre-tokenizer is one for which the class has its
    /// own.
    fn expect_steps(&self, tokenizer: &Value) -> Result<(), String> {
        let known: &[&str] = match self.class {
            Class::Bert => &["BertNormalizer", "BertPreTokenizer"],
            Class::Roberta | Class::Gpt2 => &["ByteLevel"],
            Class::NeoX => &["NFC", "ByteLevel"],
            Class::Qwen2 => &["NFC", "Split", "ByteLevel"],
            Class::Llama => &["Prepend", "Replace", "Metaspace"],
            Class::Gemma => &["Replace", "Split"],
            _ => &["Precompiled", "Replace", "WhitespaceSplit", "Metaspace"],
        };
        let patterns =
            [json!({"String": " "}), json!({"Regex": " {2,}"}), json!({"Regex": QWEN2})];
        for part in ["normalizer", "pre_tokenizer"] {
            each_object(&tokenizer[part], &mut |step| {
                let kind = step.get("type").and_then(Value::as_str);
                let is_known = |kind| kind == "Sequence" || known.contains(&kind);
                let other = step.get("pattern").filter(|it| !patterns.contains(it));
                match (kind, other) {
                    (Some(kind), None) if is_known(kind) => Ok(()),
                    (None, _) => Ok(()),
                    (Some(kind), _) => {
                        Err(self.other(&format!("has no such {kind} as its {part}")))
                    }
                }
            })?;
        }
        Ok(())
    }

    /// The end behind a text, and behind each of two.
    fn end(&self, added: &Value) -> Result<Value, String> {
        let end = needed(self.class, self.beside, "eos_token")?;
        let mut added = added.as_array().into_iter().flatten();
        let id = added.find(|token| token["content"] == end).map(|token| &token["id"]);
        let id =
            id.ok_or_else(|| self.other(&format!("needs {end} as an added token")))?;
        let text = |id| json!({"Sequence": {"id": id, "type_id": 0}});
        let end = json!({"SpecialToken": {"id": "</s>", "type_id": 0}});
        Ok(json!({
            "type": "TemplateProcessing", "single": [text("A"), end],
            "pair": [text("A"), end, text("B"), end],
            "special_tokens": {"</s>": {"id": "</s>", "ids": [id], "tokens": ["</s>"]}},
        }))
    }

    fn other(&self, why: &str) -> String {
        let hint = match self.class {
            // With another class, it is Qwen2's all the same.
            Class::Qwen2 => "save the tokenizer anew with save_pretrained",
            _ => {
                "with \"tokenizer_class\": \"PreTrainedTokenizerFast\" in \
                 tokenizer_config.json it is read as it is"
            }
        };
        format!("{} {why}; {hint}", self.class.name())
    }

    /// Whether a tokenizer that keeps capitals is lowercased only because no file says that
    /// it is not.
    fn expect_case(&self, tokenizer: &Value) -> Result<(), String> {
        let is_cased = tokenizer["normalizer"]["lowercase"] == false;
        match is_cased && self.beside.setting("do_lower_case").is_none() {
            true => Err("no do_lower_case says that capitals are kept: write it into \
                         tokenizer_config.json, false or true"
                .into()),
            false => Ok(()),
        }
    }

    /// The normalizer, the pre-tokenizer and the decoder.
    fn steps(&self, tokenizer: &Value) -> Result<(Value, Value, Value), String> {
        Ok(match self.class {
            Class::Bert => (
                self.bert()?,
                json!({"type": "BertPreTokenizer"}),
                json!({"type": "WordPiece", "prefix": "##", "cleanup": true}),
            ),
            Class::Roberta | Class::Gpt2 | Class::NeoX => {
                let bytes = bytes(self.flag("add_prefix_space", false)?, true);
                let is_neox = self.class == Class::NeoX;
                let normalizer =
                    if is_neox { json!({"type": "NFC"}) } else { Value::Null };
                (normalizer, bytes, self::bytes(true, true))
            }
            Class::Qwen2 => {
                let split = json!({
                    "type": "Split", "pattern": {"Regex": QWEN2}, "behavior": "Isolated",
                    "invert": false,
                });
                let bytes = bytes(self.flag_or_null("add_prefix_space", false)?, false);
                let both = json!({"type": "Sequence", "pretokenizers": [split, bytes]});
                (json!({"type": "NFC"}), both, self::bytes(true, true))
            }
            Class::Llama => self.llama()?,
            Class::Gemma => (
                json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"}),
                json!({
                    "type": "Split", "pattern": {"String": " "},
                    "behavior": "MergedWithPrevious", "invert": false,
                }),
                pieces_joined(false),
            ),
            _ => {
                let is_always = self.class == Class::T5;
                let scheme =
                    match is_always || self.flag_or_null("add_prefix_space", true)? {
                        true => "always",
                        false => "never",
                    };
                let space = metaspace(scheme, true);
                let words = json!({"type": "WhitespaceSplit"});
                let cuts = sequence("pretokenizers", &[words, space.clone()]);
                (precompiled(&tokenizer["normalizer"]), cuts, space)
            }
        })
    }

    fn bert(&self) -> Result<Value, String> {
        let strips = match self.beside.setting("strip_accents") {
            None => &Value::Null,
            Some((value, _)) if value.is_null() || value.is_boolean() => value,
            Some((value, _)) => return Err(no_flag("strip_accents", value)),
        };
        Ok(json!({
            "type": "BertNormalizer", "clean_text": true, "strip_accents": strips,
            "handle_chinese_chars": self.flag("tokenize_chinese_chars", true)?,
            "lowercase": self.flag("do_lower_case", true)?,
        }))
    }

    fn llama(&self) -> Result<(Value, Value, Value), String> {
        let prefixed = self.flag_or_null("add_prefix_space", true)?;
        let scheme = match (prefixed, self.flag_or_null("legacy", false)?) {
            (false, _) => "never",
            (true, true) => "always",
            (true, false) => "first",
        };
        Ok((Value::Null, metaspace(scheme, false), pieces_joined(prefixed)))
    }

    /// The model: its vocabulary and its merges, and the class's way with them.
    fn model(&self, found: &mut Value) -> Result<Value, String> {
        let (vocabulary, merges) = (found["vocab"].take(), found["merges"].take());
        let is_sentence_piece = matches!(self.class, Class::Llama | Class::Gemma);
        let unknown = |key| needed(self.class, self.beside, key);
        Ok(match self.class {
            Class::Bert => json!({
                "type": "WordPiece", "unk_token": unknown("unk_token")?,
                "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                "vocab": vocabulary,
            }),
            Class::XlmRoberta | Class::T5 => json!({
                "type": "Unigram", "unk_id": if self.class == Class::T5 { 2 } else { 3 }, "vocab": vocabulary, "byte_fallback": false,
            }),
            Class::Camembert => {
                let unknown = unknown("unk_token")?;
                let pieces = vocabulary.as_array().map(Vec::as_slice).unwrap_or_default();
                let id = pieces.iter().position(|piece| piece[0] == unknown);
                json!({
                    "type": "Unigram", "unk_id": id.unwrap_or(0), "vocab": vocabulary,
                    "byte_fallback": false,
                })
            }
            _ => json!({
                "type": "BPE", "dropout": null, "vocab": vocabulary, "merges": merges,
                "unk_token": match self.class {
                    Class::Gemma => Some(unknown("unk_token")?),
                    _ => None,
                },
                "fuse_unk": is_sentence_piece, "byte_fallback": is_sentence_piece,
                "ignore_merges": false,
            }),
        })
    }

    fn flag(&self, key: &'static str, default: bool) -> Result<bool, String> {
        match self.beside.setting(key) {
            None => Ok(default),
            Some((value, _)) => value.as_bool().ok_or_else(|| no_flag(key, value)),
        }
    }

    fn flag_or_null(&self, key: &'static str, default: bool) -> Result<bool, String> {
        match self.beside.setting(key) {
            Some((Value::Null, _)) => Ok(default),
            _ => self.flag(key, default),
        }
    }
}

/// `PRETOKENIZE_REGEX` of `models/qwen2/tokenization_qwen2.py`.
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn no_flag(key: &str, value: &Value) -> String {
    format!("{key} is {value}, expected true or false")
}

fn bytes(add_prefix_space: bool, use_regex: bool) -> Value {
    json!({
        "type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": true,
        "use_regex": use_regex,
    })
}

fn metaspace(scheme: &str, split: bool) -> Value {
    json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split})
}

fn sequence(of: &str, steps: &[Value]) -> Value {
    json!({"type": "Sequence", of: steps})
}

/// The decoder by which pieces with `▁` become a text, without the space that was put in
/// front if it was `prefixed`.
pub(crate) fn pieces_joined(prefixed: bool) -> Value {
    let mut steps = vec![
        json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if prefixed {
        steps.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    sequence("decoders", &steps)
}

/// The first step with a table of characters, which is all that is taken of a normalizer.
fn precompiled(normalizer: &Value) -> Value {
    let all = std::slice::from_ref(normalizer);
    let steps = normalizer["normalizers"].as_array().map_or(all, Vec::as_slice);
    let found = steps.iter().find(|step| step["type"] == "Precompiled");
    found.cloned().unwrap_or_default()
}

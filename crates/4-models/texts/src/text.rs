//! Text becomes ids.

mod class;
mod companions;
mod config;
mod fragments;
mod guard;
mod parts;
mod scored;
mod special;

use std::path::Path;

use model_files::{Sequence, SmallFiles};
use serde_json::{Value, json};
use tokenizers::{
    AddedToken, Encoding, PostProcessorWrapper, Tokenizer, TruncationDirection,
    TruncationParams,
};

use self::class::Class;
use self::companions::Companions;
pub(crate) use self::fragments::Fragments;
pub(crate) use self::parts::pieces_joined;
pub(crate) use self::scored::Scored;
use crate::{Error, Result};

/// A tokenizer, as `tokenizer.json` describes it.
#[derive(Debug, Clone)]
pub struct Text {
    tokenizer: Tokenizer,
    /// What errors call its file.
    name: String,
    n_vocabulary: usize,
    /// Whether a text that is too long loses its start.
    cuts_left: bool,
    /// How a text is cut first, where that is not the tokenizer's way.
    fragments: Option<Fragments>,
}

/// A text in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// The ids, as the model takes them.
    pub sequence: Sequence,
    /// What each id stands for; in BERT's way, one that goes on with a word begins with
    /// `##`.
    pub pieces: Vec<String>,
    /// Whether a piece was put there by the tokenizer, such as `[CLS]`.
    pub is_special: Vec<bool>,
    /// How many tokens the text had before it was cut.
    pub n_uncut: usize,
}

/// What to do with a text that is longer than the model's positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Long {
    /// Refuse it.
    #[default]
    Refuse,
    /// Take its start, and the last special token.
    Cut,
}

impl Text {
    /// The tokenizer in a model's folder, for a model with embeddings for `n_vocabulary`
    /// tokens, as AutoTokenizer of Hugging Face's transformers 5 reads it: `config.json` and
    /// `tokenizer_config.json` name a class, which builds parts of it whatever
    /// `tokenizer.json` says.
    ///
    /// # Errors
    /// [`Error::Files`] for a file that cannot be read; [`Error::TokenizerConfig`] where
    /// two of the folder's files contradict each other; as [`read`](Self::read).
    pub fn open(folder: &Path, n_vocabulary: usize) -> Result<Self> {
        Self::of(&SmallFiles::Folder(folder), n_vocabulary)
    }

    /// The same from a folder's files, wherever they are.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of(files: &SmallFiles, n_vocabulary: usize) -> Result<Self> {
        const FILE: &str = "tokenizer.json";
        let (bytes, name) = (files.expect(FILE)?, files.name(FILE));
        let beside = Companions::read(files)?;
        let contradiction = |(file, why): (&str, String)| Error::TokenizerConfig {
            file: file.to_string(),
            other: name.clone(),
            why,
        };
        let is_byte_level = String::from_utf8_lossy(&bytes).contains("\"ByteLevel\"");
        let mut tokenizer = parsed(&name, &bytes)?;
        if !tokenizer["model"].is_object() {
            let why = "its model is no object".to_string();
            return Err(Error::Tokenizer { file: name, why });
        }
        let (class, said) = Class::of(&beside, is_byte_level).map_err(contradiction)?;
        let settings = beside.config.name.as_str();
        config::check(class, &tokenizer, &beside.config.keys)
            .map_err(|why| contradiction((settings, why)))?;
        special::check(&tokenizer, &beside).map_err(contradiction)?;
        parts::build(class, &mut tokenizer, &beside)
            .map_err(|why| contradiction((said, why)))?;
        let around =
            parts::around(class, &beside).map_err(|why| contradiction((said, why)))?;
        let wrong = |why| Error::Tokenizer { file: name.clone(), why };
        guard::check_sizes(&tokenizer).map_err(wrong)?;
        let json = tokenizer.to_string();
        drop(tokenizer);
        let mut text = Self::of_checked(&name, json.as_bytes(), n_vocabulary)?;
        let outcome = text
            .add(special::added_by(class, &beside), class == Class::Qwen2)
            .and_then(|()| around.map_or(Ok(()), |around| text.put_around(around)));
        outcome.map_err(|why| text.wrong(why))?;
        let config = &beside.config.keys;
        text.cuts_left = config.get("truncation_side").is_some_and(|side| side == "left");
        let ends = ["add_bos_token", "add_eos_token"];
        if ends.iter().any(|key| config.get(*key).is_some_and(Value::is_boolean)) {
            let around = text.encode(&text.tokenizer, "a")?.get_tokens().to_vec();
            config::check_ends(config, &around)
                .map_err(|why| contradiction((settings, why)))?;
        }
        Ok(text)
    }

    /// The tokenizer from what its file holds; `name` is what errors call it.
    ///
    /// What it says of padding and of the length of texts is left aside: here a text is
    /// alone, and how long it may be is the model's to say.
    ///
    /// # Errors
    /// [`Error::Tokenizer`]; [`Error::Vocabulary`] if its vocabulary, added tokens aside, has
    /// ids that the model has not.
    pub fn read(name: &str, json: &[u8], n_vocabulary: usize) -> Result<Self> {
        let wrong = |why| Error::Tokenizer { file: name.to_string(), why };
        guard::check_sizes(&parsed(name, json)?).map_err(wrong)?;
        Self::of_checked(name, json, n_vocabulary)
    }

    /// The same from sizes that are checked already.
    fn of_checked(name: &str, json: &[u8], n_vocabulary: usize) -> Result<Self> {
        let wrong = |why| Error::Tokenizer { file: name.to_string(), why };
        let tokenizer = guard::call(|| -> Result<Tokenizer, String> {
            let tokenizer = Tokenizer::from_bytes(json);
            let mut tokenizer = tokenizer.map_err(|why| why.to_string())?;
            tokenizer.with_padding(None);
            without_limit(&mut tokenizer)?;
            Ok(tokenizer)
        });
        let tokenizer = tokenizer.and_then(|outcome| outcome).map_err(wrong)?;
        let largest =
            tokenizer.get_vocab(false).into_values().max().unwrap_or(0) as usize;
        match largest < n_vocabulary {
            true => Ok(Self {
                tokenizer,
                name: name.to_string(),
                n_vocabulary,
                cuts_left: false,
                fragments: None,
            }),
            false => {
                Err(Error::Vocabulary { file: name.to_string(), largest, n_vocabulary })
            }
        }
    }

    /// Adds special tokens; those that were added already, only if they are added `anew`,
    /// with nothing said of how they are matched.
    fn add(&mut self, tokens: Vec<&str>, anew: bool) -> Result<(), String> {
        let added = self.tokenizer.get_added_vocabulary().get_vocab();
        let is_to_add = |token: &&str| anew || !added.contains_key(*token);
        let tokens: Vec<_> = tokens
            .into_iter()
            .filter(is_to_add)
            .map(|token| AddedToken::from(token, true))
            .collect();
        let added = guard::call(|| self.tokenizer.add_special_tokens(tokens));
        added?.map(|_| ()).map_err(|why| why.to_string())
    }

    /// Puts a token in front of each text and one behind it.
    fn put_around(&mut self, around: [&str; 2]) -> Result<(), String> {
        let tokenizer = &mut self.tokenizer;
        let ids = around.map(|token| Some((token, tokenizer.token_to_id(token)?)));
        let [Some(first), Some(last)] = ids else {
            return Err("its vocabulary has no token to put around a text".into());
        };
        let end = |(token, _)| json!({"SpecialToken": {"id": token, "type_id": 0}});
        let text = json!({"Sequence": {"id": "A", "type_id": 0}});
        let special = [first, last].map(|(token, id)| {
            (token.to_string(), json!({"id": token, "ids": [id], "tokens": [token]}))
        });
        let template = json!({
            "type": "TemplateProcessing",
            "single": [end(first), text, end(last)],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": special.into_iter().collect::<serde_json::Map<_, _>>(),
        });
        let template = serde_json::from_value::<PostProcessorWrapper>(template);
        tokenizer.with_post_processor(Some(template.map_err(|why| why.to_string())?));
        Ok(())
    }

    /// The same for texts that are cut in another way first.
    pub(crate) fn cut_into(self, fragments: Fragments) -> Self {
        Self { fragments: Some(fragments), ..self }
    }

    /// The pieces of a text, at most `n_positions`.
    ///
    /// # Errors
    /// [`Error::EmptyText`]; [`Error::LongText`] with both numbers; [`Error::Token`] for an
    /// added token that the model has no embedding for.
    pub fn pieces(&self, text: &str, n_positions: usize, long: Long) -> Result<Pieces> {
        let mut encoding = self.encode(&self.tokenizer, text)?;
        if encoding.get_special_tokens_mask().iter().all(|&is_special| is_special == 1) {
            return Err(Error::EmptyText);
        }
        let n_uncut = encoding.len();
        if n_uncut > n_positions {
            // Cut to less than its special tokens, the library would panic.
            let special = encoding.get_special_tokens_mask();
            let n_special = special.iter().filter(|&&is_special| is_special == 1).count();
            if long == Long::Refuse || n_positions <= n_special {
                return Err(Error::LongText { n_tokens: n_uncut, n_positions });
            }
            let mut tokenizer = self.tokenizer.clone();
            let direction = match self.cuts_left {
                true => TruncationDirection::Left,
                false => TruncationDirection::Right,
            };
            let max_length = n_positions;
            let cut = TruncationParams { max_length, direction, ..Default::default() };
            let cut = tokenizer.with_truncation(Some(cut)).map(|_| ());
            cut.map_err(|_| Error::LongText { n_tokens: n_uncut, n_positions })?;
            encoding = self.encode(&tokenizer, text)?;
        }
        self.expect_embedded(&encoding)?;
        Ok(pieces(&encoding, n_uncut))
    }

    fn encode(&self, tokenizer: &Tokenizer, text: &str) -> Result<Encoding> {
        let encoded = guard::call(|| {
            let encoding = match &self.fragments {
                None => tokenizer.encode(text, true),
                Some(way) => way.encode(text, &self.tokenizer, tokenizer),
            };
            encoding.map_err(|why| why.to_string())
        });
        encoded.and_then(|outcome| outcome).map_err(|why| {
            let is_unknown = why.contains(NO_UNKNOWN);
            match is_unknown.then(|| without_token(tokenizer, text)).flatten() {
                Some(character) => Error::NoToken { file: self.name.clone(), character },
                None => self.wrong(why),
            }
        })
    }

    fn expect_embedded(&self, encoding: &Encoding) -> Result<()> {
        let n_vocabulary = self.n_vocabulary;
        let mut tokens = encoding.get_ids().iter().zip(encoding.get_tokens());
        match tokens.find(|(id, _)| **id as usize >= n_vocabulary) {
            None => Ok(()),
            Some((&id, token)) => Err(Error::Token {
                file: self.name.clone(),
                token: token.clone(),
                id: id as usize,
                n_vocabulary,
            }),
        }
    }

    fn wrong(&self, why: String) -> Error {
        Error::Tokenizer { file: self.name.clone(), why }
    }
}

impl Text {
    /// The text of some ids, special ones among them.
    ///
    /// Where a character is of several tokens, some of them alone give `\u{fffd}`.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if it cannot decode; an id that it does not know gives nothing.
    pub fn decode(&self, ids: &[usize]) -> Result<String> {
        let ids: Vec<u32> = ids.iter().filter_map(|&id| id.try_into().ok()).collect();
        let decoded = guard::call(|| {
            self.tokenizer.decode(&ids, false).map_err(|why| why.to_string())
        });
        decoded.and_then(|outcome| outcome).map_err(|why| self.wrong(why))
    }
}

impl Text {
    /// What each of some ids stands for, as [`pieces`](Self::pieces) has it; of one that the
    /// tokenizer does not know, its number in brackets.
    pub fn pieces_of(&self, ids: &[usize]) -> Vec<String> {
        let piece = |&id: &usize| {
            let known = id.try_into().ok().and_then(|id| self.tokenizer.id_to_token(id));
            known.unwrap_or_else(|| format!("[{id}]"))
        };
        ids.iter().map(piece).collect()
    }
}

/// What the library says of a text with a character that has no token.
const NO_UNKNOWN: &str = "Missing [UNK] token";

/// The first character that cannot be encoded alone.
fn without_token(tokenizer: &Tokenizer, text: &str) -> Option<char> {
    text.chars().find(|character| tokenizer.encode(character.to_string(), false).is_err())
}

fn parsed(name: &str, json: &[u8]) -> Result<Value> {
    serde_json::from_slice(json).map_err(|why| Error::Tokenizer {
        file: name.to_string(),
        why: format!("no JSON: {why}"),
    })
}

fn without_limit(tokenizer: &mut Tokenizer) -> Result<(), String> {
    tokenizer.with_truncation(None).map(|_| ()).map_err(|why| why.to_string())
}

fn pieces(encoding: &Encoding, n_uncut: usize) -> Pieces {
    let whole = |ids: &[u32]| ids.iter().map(|&id| id as usize).collect();
    let ids: Vec<usize> = whole(encoding.get_ids());
    let is_special = encoding.get_special_tokens_mask().iter().map(|&is| is == 1);
    Pieces {
        sequence: Sequence {
            types: whole(encoding.get_type_ids()),
            is_real: vec![true; ids.len()],
            positions: None,
            ids,
        },
        pieces: encoding.get_tokens().to_vec(),
        is_special: is_special.collect(),
        n_uncut,
    }
}

#[cfg(test)]
mod tests;

//! What the files' metadata can say of a layer: each thing once, with its keys; and notes of
//! what it and the reader say, and of what neither says.

use super::Files;
use crate::{Error, NormKind, Pairing, Result};

/// The keys of one thing that metadata can say, what is expected there, and how it is read.
pub struct Setting<T>(&'static str, &'static str, fn(&str) -> Option<T>);

/// What was meant, and whose word it is.
pub type Meant<T> = Option<(T, &'static str)>;

const COUNT: &str = "a count";
const FLAG: &str = "true or false";
const ABOVE_0: &str = "a finite number above 0";
const FROM_0: &str = "a finite number from 0 on";
const NO_0: &str = "a finite number, and not 0";

macro_rules! settings {
    ($($name:ident: $kind:ty = $keys:literal, $expected:expr, $known:expr;)*) => {
        $(pub const $name: Setting<$kind> = Setting($keys, $expected, $known);)*

        const ALL_KEYS: &[&str] = &[$($keys),*];
    };
}

settings! {
    HEADS: usize = "heads num_heads n_heads num_attention_heads n_head", COUNT, number;
    KV_HEADS: usize = "kv_heads num_kv_heads n_kv_heads num_key_value_heads", COUNT, number;
    CAUSAL: bool = "causal is_causal", FLAG, flag;
    ROTARY: Option<Pairing> = "rotary", "halves, pairs or false", pairing;
    BASE: f64 = "base rope_theta", ABOVE_0, number;
    SCALE: f64 = "scale", NO_0, number;
    CAP: f64 = "cap softcap", ABOVE_0, number;
    WINDOW: Option<usize> = "window sliding_window window_size", COUNT, window;
    ALIBI: bool = "alibi use_alibi", FLAG, flag;
    OFFSET: usize = "offset past_length past_key_values_length", "a count of tokens", number;
    NORM: Option<NormKind> = "qk_norm use_qk_norm", "rms or layer", norm;
    EPS: f64 = "qk_norm_eps norm_eps rms_norm_eps layer_norm_eps eps", FROM_0, eps;
    IS_GEMMA: bool = "model_type", "a name", |word| Some(word.starts_with("gemma"));
    IS_SEQUENCE_FIRST: bool = "layout", "(batch, n, d) or (n, batch, d)", layout;
    BATCH_FIRST: bool = "batch_first", FLAG, flag;
}

/// Whether what metadata says under this key is read.
pub fn is_read(key: &str) -> bool {
    ALL_KEYS.iter().any(|keys| keys.split(' ').any(|it| it == key))
}

fn number<T: std::str::FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

/// What stands beside a word, in a list of words.
fn listed<T: Copy>(word: &str, list: &[(&str, T)]) -> Option<T> {
    let found = list.iter().find(|(words, _)| words.split(' ').any(|it| it == word));
    found.map(|(_, it)| *it)
}

fn flag(word: &str) -> Option<bool> {
    listed(word, &[("true 1", true), ("false 0", false)])
}

/// How positions are rotated, or that they are not.
fn pairing(word: &str) -> Option<Option<Pairing>> {
    let halves = ("halves half neox", Some(Pairing::Halves));
    let pairs = ("pairs interleaved gptj", Some(Pairing::Pairs));
    listed(word, &[halves, pairs, ("false 0", None)])
}

/// How many keys, or that all are seen.
fn window(word: &str) -> Option<Option<usize>> {
    listed(word, &[("false 0 -1", None)]).or_else(|| number(word).map(Some))
}

/// Which kind, or only that there is a norm.
fn norm(word: &str) -> Option<Option<NormKind>> {
    let word = word.replace(['_', ' ', '-'], "");
    let root = ("rms rmsnorm", Some(NormKind::RootMeanSquare));
    listed(&word, &[root, ("layer layernorm", Some(NormKind::Layer)), ("true 1", None)])
}

fn eps(word: &str) -> Option<f64> {
    number(word).filter(|eps: &f64| eps.is_finite() && *eps >= 0.0)
}

/// Whether an order of axes begins with the tokens.
fn layout(word: &str) -> Option<bool> {
    match word.trim_start_matches(['(', '[']).chars().next()? {
        'b' => Some(false),
        'n' => Some(true),
        _ => None,
    }
}

/// How files are read, in lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    /// Who says what was meant, and what.
    said: Vec<(&'static str, String)>,
    /// Each tensor that is read: its name, its shape in parentheses, and as what.
    tensors: Vec<String>,
    /// The same of the parameters.
    parameters: Vec<String>,
    /// What nothing says.
    pub assumed: Vec<String>,
}

/// Who says what was meant.
pub const YOU: &str = "you say";
pub const FILE: &str = "the file says";

impl Files<'_> {
    /// What the files' metadata says; `None` and nothing say nothing.
    pub fn setting<T>(&self, setting: &Setting<T>) -> Result<Option<T>> {
        let Setting(keys, expected, known) = *setting;
        let is_key = |key: &str| keys.split(' ').any(|it| it == key);
        let mut texts = self.files.iter().flat_map(|file| file.texts());
        let Some((key, text)) = texts.find(|(key, _)| is_key(key)) else {
            return Ok(None);
        };
        let word = text.trim().to_ascii_lowercase();
        if ["", "none", "null"].contains(&word.as_str()) {
            return Ok(None);
        }
        let unknown =
            || Error::Metadata { key: key.to_owned(), text: text.to_owned(), expected };
        known(&word).ok_or_else(unknown).map(Some)
    }

    /// What the reader says, or else what the files do, which is refused only if it is asked.
    pub fn meant<T>(&self, said: Option<T>, setting: &Setting<T>) -> Result<Meant<T>> {
        match said {
            Some(said) => Ok(Some((said, YOU))),
            None => Ok(self.setting(setting)?.map(|it| (it, FILE))),
        }
    }

    /// The same of a number that has to be in its range.
    pub fn real(&self, said: Option<f64>, setting: &Setting<f64>) -> Result<Meant<f64>> {
        let Setting(keys, expected, _) = *setting;
        let number = self.meant(said, setting)?;
        let is_meant = |x: f64| {
            x.is_finite() && if expected == ABOVE_0 { x > 0.0 } else { x != 0.0 }
        };
        match number.filter(|(x, _)| !is_meant(*x)) {
            Some((found, _)) => {
                let what = keys.split(' ').next().unwrap_or(keys);
                Err(Error::Number { what, found, expected })
            }
            None => Ok(number),
        }
    }

    /// A tensor that is read.
    pub fn note(&self, line: String) {
        self.notes.borrow_mut().tensors.push(line);
    }

    /// A parameter that is read.
    pub fn parameter(&self, line: String) {
        self.notes.borrow_mut().parameters.push(line);
    }

    /// What was meant, and who says so.
    pub fn say(&self, by: &'static str, words: impl Into<String>) {
        self.notes.borrow_mut().said.push((by, words.into()));
    }

    /// What nothing says, once.
    pub fn assume(&self, line: impl Into<String>) {
        let (line, assumed) = (line.into(), &mut self.notes.borrow_mut().assumed);
        if !assumed.contains(&line) {
            assumed.push(line);
        }
    }

    /// What somebody says, or what is assumed where nobody does; both in words.
    pub fn choice<T: Copy, W: Into<String>>(
        &self,
        choice: Meant<T>,
        otherwise: T,
        words: impl Fn(T) -> W,
    ) -> T {
        match choice {
            Some((chosen, by)) => self.say(by, words(chosen)),
            None => self.assume(words(otherwise)),
        }
        choice.map_or(otherwise, |(chosen, _)| chosen)
    }
}

impl Notes {
    /// What was meant, a line for each who says something, and then each tensor.
    pub fn given(&self) -> Vec<String> {
        let mut lines: Vec<(&str, String)> = Vec::new();
        for (by, words) in &self.said {
            match lines.iter_mut().find(|(of, _)| of == by) {
                Some((_, line)) => *line += &format!(", {words}"),
                None => lines.push((by, format!("{by}: {words}"))),
            }
        }
        let said = lines.into_iter().map(|(_, line)| line);
        said.chain(self.tensors.clone()).chain(self.parameters.clone()).collect()
    }
}

/// So many heads, in words.
pub fn heads_in_words(n: usize, of_keys: usize) -> String {
    let heads = |n| if n == 1 { "1 head".to_string() } else { format!("{n} heads") };
    match of_keys == n {
        true => heads(n),
        false => format!("{} on {of_keys} of keys", heads(n)),
    }
}

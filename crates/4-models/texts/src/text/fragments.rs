//! A text in fragments, as llama.cpp cuts it before anything else: the tokens that are taken
//! whole, the longest first wherever they stand, and what is between them.
//!
//! # Source
//! `tokenizer_st_partition` in `llama-vocab.cpp` of <https://github.com/ggml-org/llama.cpp>.

use tokenizers::{Encoding, Result, Token, Tokenizer};

use super::scored::Scored;

/// How a text of a GGUF file's vocabulary is cut and merged.
#[derive(Debug, Clone)]
pub(crate) struct Fragments {
    /// With their ids, the longest first.
    whole: Vec<(String, u32)>,
    /// How what is between them becomes tokens; the tokenizer's way if none.
    scored: Option<Scored>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fragment<'a> {
    Token(&'a str, u32),
    Text(&'a str),
}

impl Fragments {
    pub fn new(mut whole: Vec<(String, u32)>, scored: Option<Scored>) -> Self {
        whole.retain(|(token, _)| !token.is_empty());
        whole.sort_by_key(|(token, _)| std::cmp::Reverse(token.len()));
        Self { whole, scored }
    }

    /// The tokens of a text, and what the tokenizer puts around them; cut as `cuts` does.
    pub fn encode(
        &self,
        text: &str,
        tokenizer: &Tokenizer,
        cuts: &Tokenizer,
    ) -> Result<Encoding> {
        let mut all = Encoding::default();
        for fragment in self.split(text) {
            let part = match (fragment, &self.scored) {
                (Fragment::Token(token, id), _) => {
                    let token = Token::new(id, token.to_string(), (0, token.len()));
                    Encoding::from_tokens(vec![token], 0)
                }
                (Fragment::Text(text), None) => tokenizer.encode(text, false)?,
                (Fragment::Text(text), Some(scored)) => {
                    Encoding::from_tokens(scored.tokens(text)?, 0)
                }
            };
            all.merge_with(part, true);
        }
        cuts.post_process(all, None, true)
    }

    fn split<'a>(&'a self, text: &'a str) -> Vec<Fragment<'a>> {
        let mut fragments = Vec::new();
        if !text.is_empty() {
            fragments.push(Fragment::Text(text));
        }
        for (token, id) in &self.whole {
            if !text.contains(token.as_str()) {
                continue;
            }
            let cut = |fragment| match fragment {
                Fragment::Text(text) => between(text, token, *id),
                token => vec![token],
            };
            fragments = fragments.into_iter().flat_map(cut).collect();
        }
        fragments
    }
}

/// A text cut at each occurrence of a token.
fn between<'a>(text: &'a str, token: &'a str, id: u32) -> Vec<Fragment<'a>> {
    let parts = text.split(token).map(Fragment::Text);
    let mut fragments = Vec::new();
    for part in parts {
        fragments.extend([part, Fragment::Token(token, id)]);
    }
    fragments.pop();
    fragments.retain(|fragment| *fragment != Fragment::Text(""));
    fragments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_token_goes_before_the_first() {
        let tokens = ["ab>", ">cdef", "b"].map(str::to_string);
        let fragments = Fragments::new(tokens.into_iter().zip(0..).collect(), None);
        let token = Fragment::Token;
        let expected = [Fragment::Text("a"), token("b", 2), token(">cdef", 1)];
        assert_eq!(fragments.split("ab>cdef"), expected);
        let both = [token("ab>", 0), token("ab>", 0), Fragment::Text("c")];
        assert_eq!(fragments.split("ab>ab>c"), both);
    }
}

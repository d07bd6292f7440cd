//! SentencePiece's way to merge: of all neighbours that are a piece together, those whose
//! piece has the highest score, and of equal ones the leftmost.
//!
//! # Source
//! `llm_tokenizer_spm_session` in `llama-vocab.cpp` of
//! <https://github.com/ggml-org/llama.cpp>.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use tokenizers::{Result, Token};

/// Pieces with their scores.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    ids: BTreeMap<String, usize>,
    /// Of each id.
    scores: Vec<f64>,
    /// Whether each text begins with a space that it does not have.
    is_prefixed: bool,
}

/// Two neighbours that are a piece together.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Merge {
    score: Score,
    left: Reverse<usize>,
    right: usize,
    /// Where the right one ends.
    end: usize,
}

#[derive(Debug, Clone, Copy)]
struct Score(f64);

impl Scored {
    pub fn new(
        ids: BTreeMap<String, usize>,
        scores: Vec<f64>,
        is_prefixed: bool,
    ) -> Self {
        // As one number: to compare with each other, -0 is less than 0.
        let scores = scores.into_iter().map(|score| score + 0.).collect();
        Self { ids, scores, is_prefixed }
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// A byte that no token stands for.
    pub fn tokens(&self, text: &str) -> Result<Vec<Token>> {
        let prefix = if self.is_prefixed { "▁" } else { "" };
        let text = prefix.to_string() + &text.replace(' ', "▁");
        let mut tokens = Vec::new();
        for range in self.merged(&text) {
            let piece = &text[range.clone()];
            let offsets = (range.start, range.end);
            match self.ids.get(piece) {
                Some(&id) => {
                    tokens.push(Token::new(u32::try_from(id)?, piece.into(), offsets));
                }
                None => {
                    for byte in piece.bytes() {
                        let (token, id) = self.byte(byte)?;
                        tokens.push(Token::new(id, token, offsets));
                    }
                }
            }
        }
        Ok(tokens)
    }

    fn byte(&self, byte: u8) -> Result<(String, u32)> {
        let token = format!("<0x{byte:02X}>");
        match self.ids.get(&token) {
            Some(&id) => Ok((token, u32::try_from(id)?)),
            None => {
                Err(format!("a text has the byte {byte:#04x}, and no token is {token}")
                    .into())
            }
        }
    }

    /// Where the pieces of a text are, merged as far as they can be.
    fn merged(&self, text: &str) -> Vec<Range<usize>> {
        // The pieces by their first byte's place; one that was merged into another is empty.
        let places = text.char_indices();
        let mut pieces: BTreeMap<usize, usize> =
            places.map(|(at, c)| (at, at + c.len_utf8())).collect();
        let starts: Vec<usize> = pieces.keys().copied().collect();
        let mut queue: BinaryHeap<Merge> = starts
            .windows(2)
            .filter_map(|two| self.merge(text, two[0], two[1], pieces[&two[1]]))
            .collect();
        while let Some(Merge { left: Reverse(left), right, end, .. }) = queue.pop() {
            let is_as_it_was =
                pieces.get(&left) == Some(&right) && pieces.get(&right) == Some(&end);
            if !is_as_it_was {
                continue;
            }
            pieces.remove(&right);
            pieces.insert(left, end);
            let before = pieces.range(..left).next_back();
            queue.extend(before.and_then(|(&at, _)| self.merge(text, at, left, end)));
            let after = pieces.get(&end);
            queue.extend(after.and_then(|&last| self.merge(text, left, end, last)));
        }
        pieces.into_iter().map(|(start, end)| start..end).collect()
    }

    fn merge(&self, text: &str, left: usize, right: usize, end: usize) -> Option<Merge> {
        let id = *self.ids.get(&text[left..end])?;
        Some(Merge { score: Score(self.scores[id]), left: Reverse(left), right, end })
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

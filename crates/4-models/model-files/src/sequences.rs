//! What goes into a model: ids, which of them are real, and of which type they are.

use attention::Mask;

use crate::{Error, Result, Tensor, TensorFile};

/// One text as ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// One per token.
    pub ids: Vec<usize>,
    /// Of which type each is; 0 but for the second of two texts.
    pub types: Vec<usize>,
    /// Whether a token may be attended to: false for padding.
    pub is_real: Vec<bool>,
}

impl Sequence {
    /// A text without padding.
    pub fn new(ids: Vec<usize>) -> Self {
        let n = ids.len();
        Self { ids, types: vec![0; n], is_real: vec![true; n] }
    }

    /// The number of tokens, padding among them.
    pub fn n_tokens(&self) -> usize {
        self.ids.len()
    }

    /// Its first `n` tokens.
    pub fn first(&self, n: usize) -> Self {
        Self {
            ids: self.ids.iter().copied().take(n).collect(),
            types: self.types.iter().copied().take(n).collect(),
            is_real: self.is_real.iter().copied().take(n).collect(),
        }
    }

    /// Every token may attend to the real ones.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one flag per token.
    pub fn mask(&self) -> Result<Mask> {
        self.expect_one_each(
            "the list of real tokens",
            self.is_real.len(),
            self.n_tokens(),
        )?;
        Ok(match self.is_real.iter().all(|&is_real| is_real) {
            true => Mask::None,
            false => Mask::Keys(self.is_real.clone()),
        })
    }

    /// Refuses a list that has not one entry per token.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn expect_one_each(
        &self,
        what: &'static str,
        found: usize,
        n_tokens: usize,
    ) -> Result<()> {
        match found == n_tokens {
            true => Ok(()),
            false => Err(Error::Length { what, found, n_tokens }),
        }
    }

    /// The sequences of a file: `input_ids`, and where they are there `attention_mask` (1
    /// for a real token, 0 for padding) and `token_type_ids`, all of one shape, for a model
    /// that knows so many tokens, of so many types.
    ///
    /// # Shapes
    /// `(n_sequences, n_tokens)`, or `(n_tokens)` for one; integers of any width, flags for
    /// the mask too.
    ///
    /// # Errors
    /// As [`TensorFile::tensor`] for a tensor that is missing, of another shape or kind;
    /// [`Error::Entry`] for an id that the model does not have, or a mask of other numbers
    /// than 0 and 1; [`Error::AllPadding`].
    pub fn read(
        file: &TensorFile,
        n_vocabulary: usize,
        n_types: usize,
    ) -> Result<Vec<Self>> {
        let ids = file.tensor("input_ids")?;
        let ([n_tokens] | [_, n_tokens]) = *ids.shape() else {
            return Err(ids.shape_error("(n_sequences, n_tokens) or (n_tokens)"));
        };
        let read = |name: &'static str, n: usize| -> Result<Option<Vec<usize>>> {
            if !file.contains(name) {
                return Ok(None);
            }
            let tensor = file.tensor(name)?;
            tensor.expect_shape(ids.shape())?;
            entries(file.name(), name, &tensor, n_tokens, n).map(Some)
        };
        let mask = read("attention_mask", 2)?;
        let types = read("token_type_ids", n_types)?;
        let ids = read("input_ids", n_vocabulary)?.unwrap_or_default();
        let part = |all: &[usize], s: usize| all[s * n_tokens..][..n_tokens].to_vec();
        let sequence = |s: usize| {
            let is_real = mask.as_ref().map(|mask| part(mask, s));
            let is_real =
                is_real.map(|mask| mask.iter().map(|&real| real == 1).collect());
            let types = types.as_ref().map(|types| part(types, s));
            let mut sequence = Self::new(part(&ids, s));
            sequence.is_real = is_real.unwrap_or(sequence.is_real);
            sequence.types = types.unwrap_or(sequence.types);
            match sequence.is_real.contains(&true) {
                true => Ok(sequence),
                false => {
                    let file = file.name().to_string();
                    Err(Error::AllPadding { file, sequence: s, n_tokens })
                }
            }
        };
        (0..ids.len() / n_tokens).map(sequence).collect()
    }
}

/// Integers from 0 that are less than `n`.
fn entries(
    file: &str,
    name: &'static str,
    tensor: &Tensor<'_>,
    n_tokens: usize,
    n: usize,
) -> Result<Vec<usize>> {
    let entry = |(i, found): (usize, i128)| {
        let entry = usize::try_from(found).ok().filter(|entry| *entry < n);
        entry.ok_or_else(|| Error::Entry {
            file: file.to_string(),
            tensor: name,
            sequence: i / n_tokens,
            position: i % n_tokens,
            found,
            expected: match n {
                1 => "0".to_string(),
                2 => "0 or 1".to_string(),
                n => format!("an id from 0 to {}", n - 1),
            },
        })
    };
    tensor.integers()?.into_iter().enumerate().map(entry).collect()
}

//! What goes into a model: ids, which of them are real, and of which type they are.

mod names;

use attention::Mask;
use tensors::{Tensor, TensorFile};

use crate::{Error, Result, Unused, expect_known, expect_metadata, first_rule};

/// One text as ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// One per token.
    pub ids: Vec<usize>,
    /// Of which type each is; 0 but for the second of two texts.
    pub types: Vec<usize>,
    /// Whether a token may be attended to: false for padding.
    pub is_real: Vec<bool>,
    /// Where each stands, if the file says so; else the model counts.
    pub positions: Option<Vec<usize>>,
}

impl Sequence {
    /// A text without padding.
    pub fn new(ids: Vec<usize>) -> Self {
        let n = ids.len();
        Self { ids, types: vec![0; n], is_real: vec![true; n], positions: None }
    }

    /// The number of tokens, padding among them.
    pub fn n_tokens(&self) -> usize {
        self.ids.len()
    }

    /// Its first `n` tokens.
    pub fn first(&self, n: usize) -> Self {
        let first = |all: &[usize]| all.iter().copied().take(n).collect();
        Self {
            ids: first(&self.ids),
            types: first(&self.types),
            is_real: self.is_real.iter().copied().take(n).collect(),
            positions: self.positions.as_ref().map(|all| first(all)),
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
    /// for a real token, 0 for padding, also as floats), `token_type_ids` and
    /// `position_ids`, all of one shape, for a model that knows so many tokens, of so many
    /// types, causal or not. How many positions there are is for
    /// [`expect_positions`](Self::expect_positions) to ask.
    ///
    /// # Shapes
    /// `(n_sequences, n_tokens)`, or `(n_tokens)` for one; integers of any width, flags for
    /// the mask too. `position_ids` may be `(1, n_tokens)` for all.
    ///
    /// # Errors
    /// As [`TensorFile::tensor`] for a tensor that is missing, of another shape or kind;
    /// [`Error::Entry`] for an id that the model does not have, or a mask of other numbers
    /// than 0 and 1; [`Error::AllPadding`]; as [`unused`](Self::unused).
    pub fn read(
        file: &TensorFile,
        n_vocabulary: usize,
        n_types: usize,
        is_causal: bool,
    ) -> Result<Vec<Self>> {
        Self::unused(file, is_causal)?;
        Self::read_as(file, SOURCE, n_vocabulary, n_types)
    }

    /// The texts of a file for a model that reads one and writes another: of each the source,
    /// `input_ids` and `attention_mask`, and the target, `decoder_input_ids` and
    /// `decoder_attention_mask`, the masks where they are there. `vocabularies` is how many
    /// tokens each side knows.
    ///
    /// # Shapes
    /// Each as [`read`](Self::read), with as many sequences on either side.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`unused_of_pairs`](Self::unused_of_pairs); [`Error::Tensors`]
    /// for another number of targets.
    pub fn read_pairs(
        file: &TensorFile,
        vocabularies: [usize; 2],
    ) -> Result<Vec<[Self; 2]>> {
        Self::unused_of_pairs(file)?;
        let [sources, targets] = [(SOURCE, vocabularies[0]), (TARGET, vocabularies[1])]
            .map(|(names, n)| Self::read_as(file, names, n, 1));
        let (sources, targets) = (sources?, targets?);
        if sources.len() != targets.len() {
            let ids = file.tensor(TARGET[0])?;
            return Err(ids
                .shape_error(&format!("{} sequences, as {}", sources.len(), SOURCE[0]))
                .into());
        }
        Ok(sources
            .into_iter()
            .zip(targets)
            .map(|(source, target)| [source, target])
            .collect())
    }

    /// The sequences under these names of ids and mask.
    fn read_as(
        file: &TensorFile,
        [ids_name, mask_name]: [&'static str; 2],
        n_vocabulary: usize,
        n_types: usize,
    ) -> Result<Vec<Self>> {
        let ids = file.tensor(ids_name)?;
        let ([n_tokens] | [_, n_tokens]) = *ids.shape() else {
            return Err(ids.shape_error("(n_sequences, n_tokens) or (n_tokens)").into());
        };
        if ids.n_entries() > MOST_TOKENS {
            let expected = format!("{MOST_TOKENS} tokens at most, of all sequences");
            return Err(ids.shape_error(&expected).into());
        }
        let read = |name: &'static str, n: usize| -> Result<Option<Vec<usize>>> {
            if !file.contains(name) {
                return Ok(None);
            }
            let tensor = file.tensor(name)?;
            if name == mask_name {
                return flags(file, name, &tensor, ids.shape()).map(Some);
            }
            if name != POSITIONS || *tensor.shape() != [1, n_tokens] {
                tensor.expect_shape(ids.shape())?;
            }
            entries(file.name(), name, &tensor, n_tokens, n).map(Some)
        };
        let mask = read(mask_name, 2)?;
        let types = read("token_type_ids", n_types)?;
        let positions = read(POSITIONS, usize::MAX)?;
        let ids = read(ids_name, n_vocabulary)?.unwrap_or_default();
        let part = |all: &[usize], s: usize| all[s * n_tokens..][..n_tokens].to_vec();
        let sequence = |s: usize| {
            let is_real = mask.as_ref().map(|mask| part(mask, s));
            let is_real =
                is_real.map(|mask| mask.iter().map(|&real| real == 1).collect());
            let types = types.as_ref().map(|types| part(types, s));
            let mut sequence = Self::new(part(&ids, s));
            sequence.is_real = is_real.unwrap_or(sequence.is_real);
            sequence.types = types.unwrap_or(sequence.types);
            // One row for all stands for each.
            let row = |all: &Vec<usize>| part(all, s % (all.len() / n_tokens));
            sequence.positions = positions.as_ref().map(row);
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

    /// What a file for a model holds and no model reads: outputs, labels, and the like;
    /// `is_causal` is whether a token of that model sees no later ones.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a tensor that would change the result and is not read;
    /// [`Error::Unknown`] for one of which nothing is known; [`Error::Metadata`].
    pub fn unused(file: &TensorFile, is_causal: bool) -> Result<Vec<Unused>> {
        let mut unused =
            expect_known(file, "a model's INPUT", |name| first_rule(names::RULES, name))?;
        unused.extend(expect_metadata(file, |claim| names::is_so(claim, is_causal))?);
        Ok(unused)
    }

    /// As [`unused`](Self::unused), of a file for a model that reads one text and writes another.
    ///
    /// # Errors
    /// As [`unused`](Self::unused).
    pub fn unused_of_pairs(file: &TensorFile) -> Result<Vec<Unused>> {
        let of = |name: &str| {
            first_rule(names::PAIRS, name).or(first_rule(names::RULES, name))
        };
        let mut unused = expect_known(file, "a model's INPUT", of)?;
        unused.extend(expect_metadata(file, |claim| names::is_so(claim, false))?);
        Ok(unused)
    }

    /// Refuses positions that a model with so many does not have.
    ///
    /// # Errors
    /// [`Error::Entry`].
    pub fn expect_positions(
        sequences: &[Self],
        file: &TensorFile,
        n_positions: usize,
    ) -> Result<()> {
        for (sequence, one) in sequences.iter().enumerate() {
            let mut all = one.positions.iter().flatten().enumerate();
            if let Some((position, &found)) =
                all.find(|(_, found)| **found >= n_positions)
            {
                return Err(Error::Entry {
                    file: file.name().to_string(),
                    tensor: POSITIONS,
                    sequence,
                    position,
                    found: found as i128,
                    expected: format!(
                        "a position from 0 to {}",
                        n_positions.saturating_sub(1)
                    ),
                });
            }
        }
        Ok(())
    }
}

/// So many tokens are read, and no more.
const MOST_TOKENS: u128 = 1 << 24;

const POSITIONS: &str = "position_ids";
/// The ids and the mask of what is read.
const SOURCE: [&str; 2] = ["input_ids", "attention_mask"];
/// Those of what is written.
const TARGET: [&str; 2] = ["decoder_input_ids", "decoder_attention_mask"];

/// A mask of padding, 1 for a real token: integers, flags, or floats that are 0 and 1.
fn flags(
    file: &TensorFile,
    name: &'static str,
    mask: &Tensor<'_>,
    ids: &[usize],
) -> Result<Vec<usize>> {
    if mask.shape().len() > 2 {
        return Err(mask.shape_error(
            "(n_sequences, n_tokens), 1 = real and 0 = padding: a mask of queries and keys, \
             or one that is added to scores, is not read",
        ).into());
    }
    mask.expect_shape(ids)?;
    let n_tokens = ids.last().copied().unwrap_or(1);
    let Ok(numbers) = mask.numbers() else {
        return entries(file.name(), name, mask, n_tokens, 2);
    };
    let flag = |number: f64| match number {
        0.0 => Ok(0),
        1.0 => Ok(1),
        _ => Err(Error::Unsupported {
            file: file.name().to_string(),
            found: name.to_string(),
            why: "floats that are not all 0 and 1, as of a mask that is added to scores: \
                  give 1 = real and 0 = padding",
        }),
    };
    numbers.into_iter().map(flag).collect()
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
                usize::MAX => "a position of 0 or more".to_string(),
                n => format!("an id from 0 to {}", n - 1),
            },
        })
    };
    tensor.integers()?.into_iter().enumerate().map(entry).collect()
}

#[cfg(test)]
mod tests;

//! Which axis is which.

use attention::Matrix;
use tensors::Tensor;

use super::Files;
use super::names::{INPUTS, of};
use super::settings::{BATCH_FIRST, IS_SEQUENCE_FIRST};
use crate::rows::exchanged;
use crate::{Error, Result, State};

/// The order of the axes of inputs and outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// (batch, n, d), or (n, d).
    BatchFirst,
    /// (n, batch, d).
    SequenceFirst,
}

impl Layout {
    /// The layout that other tensors' shapes ask for, or (batch, n, d).
    pub fn of(files: &Files<'_>) -> Result<Self> {
        let (name, query) = files.first(INPUTS[0]).ok_or(Error::NoInput)?;
        let said = files.setting(&IS_SEQUENCE_FIRST)?;
        let batch_first = files.setting(&BATCH_FIRST)?;
        let is_said = said == Some(true) || batch_first == Some(false);
        if files.said.is_sequence_first || is_said {
            files.note(format!("{name} {}, read as (n, batch, d)", query.shape_text()));
            return Ok(Self::SequenceFirst);
        }
        let [a, b, _] = *query.shape() else {
            files.note(format!("{name} {}", query.shape_text()));
            return Ok(Self::BatchFirst);
        };
        // Tensors that have the batch, or the queries, on an axis of their own.
        let mut says = Vec::new();
        let key = files.first(INPUTS[1]).map(|(_, key)| key.shape().to_vec());
        if let Some(mask) = files.tensor("key_padding_mask") {
            let [batch, n] = match key.as_deref() {
                Some([batch, n, ..]) => [*batch, *n],
                _ => [a, b],
            };
            says.push((mask.shape() == [batch, n], mask.shape() == [n, batch]));
        }
        for state in [State::Attn, State::Scores, State::Heads] {
            if let Some((_, tensor)) = files.first(of(state))
                && let [batch, _, n, _] = *tensor.shape()
            {
                says.push(((batch, n) == (a, b), (batch, n) == (b, a)));
            }
        }
        let is_turned =
            a != b && says.iter().any(|it| it.1) && !says.iter().any(|it| it.0);
        let layout = if is_turned { Self::SequenceFirst } else { Self::BatchFirst };
        let is_clear = is_turned || says.iter().any(|it| it.0 && !it.1);
        if said.is_none() && batch_first.is_none() && !is_clear {
            files.assume(format!("{name} is {}", layout.name()));
        }
        files.note(format!("{name} {}, read as {}", query.shape_text(), layout.name()));
        Ok(layout)
    }

    fn name(self) -> &'static str {
        match self {
            Self::BatchFirst => "(batch, n, d)",
            Self::SequenceFirst => "(n, batch, d)",
        }
    }

    /// A matrix a sequence, rows are tokens.
    pub fn sequences(self, tensor: &Tensor<'_>) -> Result<Vec<Matrix>> {
        match (tensor.shape(), self) {
            ([_, _], _) | ([_, _, _], Self::BatchFirst) => Ok(tensor.matrices()?),
            ([_, _, _], Self::SequenceFirst) => Ok(exchanged(&tensor.matrices()?)),
            _ => Err(tensor.shape_error(&format!("(n, d) or {}", self.name())).into()),
        }
    }
}

/// The inputs for queries, keys and values.
pub fn inputs(files: &Files<'_>) -> Result<[Vec<Matrix>; 3]> {
    let (_, query) = files.first(INPUTS[0]).ok_or(Error::NoInput)?;
    let query = files.layout.sequences(&query)?;
    let own = |role: usize| {
        let (name, input) = files.first(INPUTS[role])?;
        files.note(format!("{name} {}", input.shape_text()));
        Some(files.layout.sequences(&input))
    };
    let key = own(1).transpose()?.unwrap_or_else(|| query.clone());
    let value = own(2).transpose()?.unwrap_or_else(|| key.clone());
    for (name, other) in [("key", &key), ("value", &value)] {
        let lengths = (other.len(), other[0].nrows());
        if other.len() != query.len() || lengths.1 != key[0].nrows() {
            return Err(Error::Lengths { name, found: lengths, batch: query.len() });
        }
    }
    Ok([query, key, value])
}

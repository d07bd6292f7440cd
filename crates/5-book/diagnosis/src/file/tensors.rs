//! Inputs, what the code gave, and which of their axes is which.

use attention::Matrix;
use tensors::Tensor;

use super::Files;
use super::settings::{BATCH_FIRST, IS_SEQUENCE_FIRST};
use crate::rows::{column_blocks, exchanged, view};
use crate::{Error, Intent, Record, Result, State};

/// Names of the inputs for queries, keys and values.
const INPUTS: [&[&str]; 3] =
    [&["query", "x", "input", "inputs", "hidden_states"], &["key", "memory"], &["value"]];

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
            if let Some((_, tensor)) = files.first(names_of(state))
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

/// Reads what the code gave: the output, and the tensors on the way to it that there are.
pub fn read(files: &Files<'_>, record: &mut Record, intent: &Intent) -> Result<()> {
    let layout = files.layout;
    let (name, output) = files.first(names_of(State::Output)).ok_or(Error::NoOutput)?;
    let (dtype, shape) = (output.dtype(), output.shape_text());
    files.note(format!("{name} {dtype} {shape}: what the code gave"));
    record.tensors.insert(State::Output, layout.sequences(&output)?);
    let flat = [State::Query, State::Key, State::Value];
    let of_heads = [State::HeadQuery, State::HeadKey, State::HeadValue];
    for (role, (flat, of_heads)) in flat.into_iter().zip(of_heads).enumerate() {
        let Some((name, tensor)) = files.first(names_of(flat)) else { continue };
        let heads = if role == 0 { intent.n_heads } else { intent.n_kv_heads };
        let n = record.inputs[role][0].nrows();
        let (state, matrices, words) = match *tensor.shape() {
            [_, a, b, _] if (a, b) == (heads, n) => {
                let each = intent.n_heads / heads;
                let all = tensor.matrices()?;
                let repeated = all.iter().flat_map(|m| vec![m.clone(); each]).collect();
                (of_heads, repeated, "of each head")
            }
            [_, a, b, width] if (a, b) == (n, heads) => {
                let sequences = view(&tensor.numbers()?, n, heads * width);
                (flat, sequences, "before heads are apart")
            }
            _ => (flat, layout.sequences(&tensor)?, "before the split"),
        };
        files.note(format!("{name} {}: {words}", tensor.shape_text()));
        record.tensors.insert(state, matrices);
    }
    for state in [State::Scores, State::Attn, State::Heads] {
        read_of_heads(files, record, intent, state)?;
    }
    if let Some((name, concat)) = files.first(names_of(State::Concat)) {
        files.note(format!("{name} {}: heads side by side", concat.shape_text()));
        record.tensors.insert(State::Concat, layout.sequences(&concat)?);
    }
    Ok(())
}

fn read_of_heads(
    files: &Files<'_>,
    record: &mut Record,
    intent: &Intent,
    state: State,
) -> Result<()> {
    let Some((name, tensor)) = files.first(names_of(state)) else { return Ok(()) };
    let (batch, h) = (record.batch(), intent.n_heads);
    let (n_q, n_kv) = record.lengths();
    let text = tensor.shape_text();
    let matrices = match *tensor.shape() {
        [a, b, c]
            if state != State::Heads && h > 1 && [a, b, c] == [batch, n_q, n_kv] =>
        {
            files.assume(format!("{name} is the mean of all heads, and is not used"));
            return Ok(());
        }
        [a, b, c, width]
            if state == State::Heads && [a, b, c] == [batch, n_q, h] && n_q != h =>
        {
            let sequences = view(&tensor.numbers()?, n_q, h * width);
            sequences.iter().flat_map(|m| column_blocks(m, width)).collect()
        }
        [..] if tensor.shape().len() >= 2 => tensor.matrices()?,
        _ => return Err(tensor.shape_error("two dimensions or more").into()),
    };
    files.note(format!("{name} {text}: of each head"));
    record.tensors.insert(state, matrices);
    Ok(())
}

/// Names of a tensor that the code gave.
pub fn names_of(state: State) -> &'static [&'static str] {
    match state {
        State::Query | State::HeadQuery => &["q"],
        State::Key | State::HeadKey => &["k"],
        State::Value | State::HeadValue => &["v"],
        State::Scores => &["scores", "attn_scores", "logits"],
        State::Attn => {
            &["attn", "attn_weights", "attn_heads", "attention_probs", "weights"]
        }
        State::Heads => &["heads", "context"],
        State::Concat => &["concat", "merged"],
        State::Output => &["output", "out", "attn_output", "y"],
    }
}

//! What the code gave: the output, and tensors on the way to it.

use super::Files;
use super::names::of;
use crate::rows::{column_blocks, view};
use crate::{Error, Intent, Record, Result, State};

/// Reads the tensors that there are.
pub fn read(files: &Files<'_>, record: &mut Record, intent: &Intent) -> Result<()> {
    let layout = files.layout;
    let (name, output) = files.first(of(State::Output)).ok_or(Error::NoOutput)?;
    let (dtype, shape) = (output.dtype(), output.shape_text());
    files.note(format!("{name} {dtype} {shape}: what the code gave"));
    record.tensors.insert(State::Output, layout.sequences(&output)?);
    let flat = [State::Query, State::Key, State::Value];
    let of_heads = [State::HeadQuery, State::HeadKey, State::HeadValue];
    for (role, (flat, of_heads)) in flat.into_iter().zip(of_heads).enumerate() {
        let Some((name, tensor)) = files.first(of(flat)) else { continue };
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
    if let Some((name, concat)) = files.first(of(State::Concat)) {
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
    let Some((name, tensor)) = files.first(of(state)) else { return Ok(()) };
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

//! The operator: sequences one by one, through [`variants::attend`].

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use attention::{Mask, Matrix, Real};
use safetensors::Dtype;
use variants::{Changes, Groups, Positions, SoftCap, VariantHeadPass, attend};

use crate::attributes::MatmulOutput;
use crate::file::Case;
use crate::masks::{self, Extent};
use crate::tensor::{Heads, Tensor};

/// Computes the outputs, by name.
///
/// # Errors
/// Inputs that do not fit, with their numbers.
pub fn run(case: &Case) -> Result<BTreeMap<String, Tensor>> {
    match case.input("Q")?.dtype {
        Dtype::F64 => run_in::<f64>(case),
        Dtype::F32 | Dtype::F16 | Dtype::BF16 => run_in::<f32>(case),
        other => bail!("Q holds numbers of kind {other:?}"),
    }
}

fn run_in<T: Real>(case: &Case) -> Result<BTreeMap<String, Tensor>> {
    let [of_q, of_k, of_v] = [case.input("Q")?, case.input("K")?, case.input("V")?];
    let attributes = &case.attributes;
    let q = Heads::new("Q", of_q, attributes.q_num_heads)?;
    let k = Heads::new("K", of_k, attributes.kv_num_heads)?;
    let v = Heads::new("V", of_v, attributes.kv_num_heads)?;
    ensure!(
        [k.n_sequences, v.n_sequences] == [q.n_sequences; 2],
        "Q has {} sequences, K {} and V {}",
        q.n_sequences,
        k.n_sequences,
        v.n_sequences
    );
    ensure!(v.n_heads == k.n_heads, "K has {} heads, and V {}", k.n_heads, v.n_heads);
    let [present_key, present_value] = present(case, &k, &v)?;
    let (all_k, all_v) = ("present_key", "present_value");
    let (all_k, all_v) = (
        Heads::new(all_k, &present_key, None)?,
        Heads::new(all_v, &present_value, None)?,
    );

    let (n_heads, n_q, n_kv) = (q.n_heads, q.n_tokens, all_k.n_tokens);
    let extent = Extent { n_sequences: q.n_sequences, n_heads, n_q, n_kv };
    let shape = match of_q.shape.len() {
        3 => vec![q.n_sequences, n_q, n_heads * v.width],
        _ => vec![q.n_sequences, n_heads, n_q, v.width],
    };
    let mut y = Tensor::zeros(of_q.dtype, &shape);
    let mut shown = Tensor::zeros(of_q.dtype, &[q.n_sequences, n_heads, n_q, n_kv]);
    let groups = Groups::new(n_heads, k.n_heads)?;
    let soft_cap = attributes.soft_cap.map(SoftCap::new).transpose()?;
    let changes = Changes { scale: attributes.scale, soft_cap, ..Changes::default() };
    for b in 0..q.n_sequences {
        let n_real = n_real(case, b, &q)?;
        let offset = match n_real {
            Some(n_real) => n_real as i64 - n_q as i64,
            None => n_kv as i64 - k.n_tokens as i64,
        };
        let positions = Positions::from_offset(n_q, n_kv, offset);
        let given = case.tensors.get("attn_mask");
        let mask = masks::of_sequence(b, extent, &positions, attributes, n_real, given)?;
        let [q, k, v] = [&q, &all_k, &all_v].map(|heads| side_by_side::<T>(heads, b));
        let views = [q.as_view(), k.as_view(), v.as_view()];
        let heads = attend(views, groups, &positions, &changes, &mask)?;
        for (h, head) in heads.iter().enumerate() {
            put(&mut y, [b, h], &head.out, n_heads);
            let matrix = step(head, h, &mask, attributes.matmul_output);
            put(&mut shown, [b, h], &matrix, n_heads);
        }
    }
    let named = [
        ("Y", y),
        ("present_key", present_key),
        ("present_value", present_value),
        ("qk_matmul_output", shown),
    ];
    Ok(named.map(|(name, tensor)| (name.to_owned(), tensor)).into())
}

/// What is cached, and behind it what is new, `[batch, heads, tokens, width]`.
fn present(case: &Case, k: &Heads, v: &Heads) -> Result<[Tensor; 2]> {
    let past = |name: &str| case.tensors.get(name);
    ensure!(
        past("past_key").is_some() == past("past_value").is_some(),
        "past_key and past_value come together, and one is missing"
    );
    let of = |new: &Heads, name: &str, dtype| -> Result<Tensor> {
        let past = past(name).map(|past| Heads::new(name, past, None)).transpose()?;
        if let Some(past) = &past {
            let found = [past.n_sequences, past.n_heads, past.width];
            let expected = [new.n_sequences, new.n_heads, new.width];
            ensure!(
                found == expected,
                "{name} has batch, heads and width {found:?}, expected {expected:?}"
            );
        }
        let n_past = past.as_ref().map_or(0, |past| past.n_tokens);
        let n = n_past + new.n_tokens;
        let mut all = Tensor::zeros(dtype, &[new.n_sequences, new.n_heads, n, new.width]);
        let mut numbers = all.numbers.iter_mut();
        for b in 0..new.n_sequences {
            for h in 0..new.n_heads {
                for token in 0..n {
                    for (entry, number) in numbers.by_ref().take(new.width).enumerate() {
                        *number = match &past {
                            Some(past) if token < n_past => past.at([b, h, token, entry]),
                            _ => new.at([b, h, token - n_past, entry]),
                        };
                    }
                }
            }
        }
        Ok(all)
    };
    let [present_key, present_value] = [
        of(k, "past_key", case.input("K")?.dtype)?,
        of(v, "past_value", case.input("V")?.dtype)?,
    ];
    let [n_keys, n_values] = [&present_key, &present_value].map(|all| all.shape[2]);
    ensure!(n_keys == n_values, "there are {n_keys} keys and {n_values} values");
    Ok([present_key, present_value])
}

/// How many keys of a sequence are no padding, where the case says so.
fn n_real(case: &Case, sequence: usize, q: &Heads) -> Result<Option<f64>> {
    let Some(lengths) = case.tensors.get("nonpad_kv_seqlen") else { return Ok(None) };
    ensure!(
        !case.tensors.contains_key("past_key"),
        "nonpad_kv_seqlen and past_key cannot both be given"
    );
    let n = lengths.numbers.len();
    ensure!(
        n == q.n_sequences,
        "nonpad_kv_seqlen has {n} entries for {} sequences",
        q.n_sequences
    );
    let length = lengths.numbers.get(sequence);
    Ok(Some(*length.context("a length per sequence")?))
}

/// The heads of a sequence side by side, `[tokens, heads · width]`.
fn side_by_side<T: Real>(heads: &Heads, sequence: usize) -> Matrix<T> {
    let width = heads.width;
    Matrix::from_fn(heads.n_tokens, heads.n_heads * width, |token, column| {
        T::of(heads.at([sequence, column / width, token, column % width]))
    })
}

/// The step that the fourth output shows.
fn step<T: Real>(
    head: &VariantHeadPass<T>,
    nth: usize,
    mask: &Mask,
    shows: MatmulOutput,
) -> Matrix<T> {
    match shows {
        MatmulOutput::Scores => head.scores.clone(),
        MatmulOutput::Capped => head.capped.clone(),
        MatmulOutput::Shares => head.attn.clone(),
        // As it is added, and not less the largest of its row.
        MatmulOutput::Masked => {
            let (mask, shape) = (mask.of_head(nth), head.capped.shape());
            Matrix::from_fn(shape.0, shape.1, |i, j| {
                let added = mask.added((i, j), shape);
                added.map_or(T::of(f64::NEG_INFINITY), |added| {
                    head.capped[(i, j)] + T::of(added)
                })
            })
        }
    }
}

/// Puts a head's matrix where it belongs, in four axes or in three.
fn put<T: Real>(
    into: &mut Tensor,
    [b, h]: [usize; 2],
    matrix: &Matrix<T>,
    n_heads: usize,
) {
    let (n, width) = matrix.shape();
    for (token, row) in matrix.row_iter().enumerate() {
        let first = match into.shape.len() {
            4 => ((b * n_heads + h) * n + token) * width,
            _ => ((b * n + token) * n_heads + h) * width,
        };
        for (number, x) in into.numbers[first..].iter_mut().zip(row.iter()) {
            *number = x.to_f64();
        }
    }
}
